/** Approvals over HTTP: opened and joined by decisions, decided once by another person, used by the next preflight, in the API and the proxy. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, test } from 'node:test'
import { compilePolicy, type CompiledPolicy } from '../../../engine/internal.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { openSqliteStore } from '../../../gateway/store/sqlite/store.ts'
import type { ApprovalOpening } from '../../../gateway/store/approvals.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { run } from '../../fakes/command-io.ts'
import { pets, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { startTestGateway, TEST_KEY } from '../../fakes/gateway.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { at, listAt, textAt, textsAt } from '../../json.ts'

const PACK = {
  apiVersion: 'preflight.dev/v1',
  kind: 'Policy',
  metadata: { name: 'asks' },
  rules: [
    {
      id: 'breaking-asks',
      when: "finding.level == 'breaking' && context.environment != 'locked'",
      then: 'REQUIRE_APPROVAL',
    },
    { id: 'locked-blocks', when: "finding.level == 'breaking' && context.environment == 'locked'", then: 'BLOCK' },
  ],
}

const as = (key: string) => ({ authorization: `Bearer ${key}` })
const lost = () => Promise.reject(new Error('the disk is gone'))

function approvalPack(): CompiledPolicy {
  const compiled = compilePolicy(PACK, sha256Hex)
  assert.ok(compiled.ok)
  return compiled.value
}

/** The approval that a decision names. */
function idIn(body: unknown): string {
  const row = listAt(body, 'decision_result', 'evidence').find((evidence) => at(evidence, 'type') === 'APPROVAL')
  return textAt(row, 'source')
}

describe('an approval', () => {
  let api: ApiFake
  let approver: string
  // Later than the key that signs was made, whenever this runs.
  let now = Date.parse('2126-11-21T10:00:00.400Z')
  before(async () => {
    api = await startApi({ policy: approvalPack(), now: () => now, config: { rate: { per_minute: 10_000 } } })
    approver = await api.newKey('approver')
  })
  after(() => api.close())

  let count = 0
  const freshPlace = () => ({ operation: 'deploy', environment: 'prod', repository: `acme/pets-${(count += 1)}` })
  const authorize = async (context: object, headers = {}, text = PETS_WITHOUT_DELETE) => {
    const request = { preflight_mode: 'authorize', artifacts: [pets(text)], context }
    return (await api.post('/api/v1/preflight', request, headers)).body
  }
  const grant = (id: string, body: object = { comment: 'seen' }, key = approver) =>
    api.post(`/api/v1/approvals/${id}/grant`, body, as(key))
  const deny = (id: string) => api.post(`/api/v1/approvals/${id}/deny`, { comment: 'no' }, as(approver))

  it('is opened by the first decision that needs one and joined by the next', async () => {
    const place = freshPlace()
    const first = await authorize(place)
    assert.equal(at(first, 'execution_action'), 'REQUEST_APPROVAL')
    const second = await authorize(place)
    assert.equal(idIn(second), idIn(first))
    const other = await authorize({ ...place, environment: 'staging' })
    assert.notEqual(idIn(other), idIn(first))
    const target = textAt(first, 'decision_result', 'next_actions', 0, 'target')
    assert.equal(target, `/api/v1/approvals/${idIn(first)}`)
    const { body } = await api.get(target)
    assert.equal(at(body, 'approval', 'state'), 'pending')
    assert.equal(at(body, 'approval', 'decision_id'), at(first, 'decision_result', 'decision_id'))
    assert.deepEqual(at(body, 'approval', 'blocking_reasons'), at(first, 'decision_result', 'blocking_reasons'))
    assert.equal(at(body, 'approval', 'approver'), null)
  })

  it('granted, lets the next preflight continue with monitoring, and never changes the decision that asked', async () => {
    const place = freshPlace()
    const asked = await authorize(place)
    const id = idIn(asked)
    const { status, body } = await grant(id, { comment: 'reviewed with the owner' })
    assert.equal(status, 200)
    assert.equal(at(body, 'approval', 'state'), 'granted')
    assert.equal(at(body, 'approval', 'in_force'), true)
    assert.equal(at(body, 'approval', 'comment'), 'reviewed with the owner')
    assert.equal(at(body, 'approval', 'valid_until'), '2126-11-21T14:00:00.000Z')
    assert.match(textAt(body, 'approval', 'approver'), /^v:[0-9a-f]{12}$/)
    const old = await api.get(`/api/v1/decisions/${textAt(asked, 'decision_result', 'decision_id')}`)
    assert.equal(at(old.body, 'execution_action'), 'REQUEST_APPROVAL')
    assert.equal(at(old.body, 'control_envelope', 'receipt_view', 'currently_authorized'), false)
    const next = await authorize(place)
    assert.equal(at(next, 'decision'), 'WARN')
    assert.equal(at(next, 'control_envelope', 'receipt_view', 'currently_authorized'), true)
    assert.equal(at(next, 'decision_result', 'warnings', 0, 'code'), 'APPROVED_EXCEPTION')
    assert.equal(idIn(next), id)
    const verified = await api.post('/api/v1/verify-receipt', { token: textAt(next, 'chain_receipt'), context: place })
    assert.equal(at(verified.body, 'currently_authorized'), true)
  })

  it('is about one change set in one place under one policy, and nothing near it', async () => {
    const place = freshPlace()
    await grant(idIn(await authorize(place)))
    assert.equal(at(await authorize(place), 'decision'), 'WARN')
    for (const change of [
      { operation: 'merge' },
      { environment: 'staging' },
      { repository: 'acme/other' },
      { branch: 'b' },
    ]) {
      assert.equal(at(await authorize({ ...place, ...change }), 'decision'), 'REQUIRE_APPROVAL', JSON.stringify(change))
    }
    const further = JSON.stringify({ ...JSON.parse(PETS_WITHOUT_DELETE), paths: {} })
    assert.equal(at(await authorize(place, {}, further), 'decision'), 'REQUIRE_APPROVAL')
  })

  it('does not reach a BLOCK', async () => {
    const place = { ...freshPlace(), environment: 'locked' }
    const blocked = await authorize(place)
    assert.equal(at(blocked, 'decision'), 'BLOCK')
    assert.ok(!listAt(blocked, 'decision_result', 'evidence').some((row) => at(row, 'type') === 'APPROVAL'))
  })

  it('holds for its validity, and the decision that rests on it no longer', async () => {
    const place = freshPlace()
    const id = idIn(await authorize(place))
    await grant(id, { comment: 'briefly', validity: 60 })
    const next = await authorize(place)
    assert.equal(at(next, 'decision_result', 'expires_at'), '2126-11-21T10:01:00Z')
    now += 60_000
    const after = await authorize(place)
    assert.equal(at(after, 'decision'), 'REQUIRE_APPROVAL')
    assert.notEqual(idIn(after), id)
    const { body } = await api.get(`/api/v1/approvals/${id}`)
    assert.deepEqual([at(body, 'approval', 'state'), at(body, 'approval', 'in_force')], ['granted', false])
  })

  it('cannot be made longer than the configuration says', async () => {
    const id = idIn(await authorize(freshPlace()))
    const { body } = await grant(id, { validity: 999_999 })
    assert.equal(Date.parse(textAt(body, 'approval', 'valid_until')), now - 400 + 14_400_000)
  })

  it('denied, stays so for whoever asks again, and cannot be granted any more', async () => {
    const place = freshPlace()
    const id = idIn(await authorize(place))
    assert.equal((await deny(id)).status, 200)
    const again = await authorize(place)
    assert.equal(at(again, 'decision'), 'REQUIRE_APPROVAL')
    assert.equal(idIn(again), id)
    const { status, body } = await grant(id)
    assert.deepEqual([status, at(body, 'error')], [409, 'APPROVAL_CONFLICT'])
  })

  it('that nobody decided expires: it cannot be granted, and the next preflight asks anew', async () => {
    const place = freshPlace()
    const id = idIn(await authorize(place))
    now += 86_400_000
    assert.equal(at((await api.get(`/api/v1/approvals/${id}`)).body, 'approval', 'state'), 'expired')
    assert.equal((await grant(id)).status, 409)
    assert.notEqual(idIn(await authorize(place)), id)
  })

  it('is decided by exactly one of many', async () => {
    const id = idIn(await authorize(freshPlace()))
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? grant(id) : deny(id))))
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
    assert.deepEqual([count(200), count(409)], [1, 11])
  })

  it('is not given by the key that asked, not even when it only joined', async () => {
    const place = freshPlace()
    const id = idIn(await authorize(place))
    assert.equal(idIn(await authorize(place, as(approver))), id)
    const own = await grant(id)
    assert.deepEqual([own.status, at(own.body, 'error')], [403, 'FORBIDDEN'])
    assert.match(textAt(own.body, 'message'), /four eyes/)
    assert.equal((await grant(id, {}, await api.newKey('admin'))).status, 200)
  })

  it('needs an approver, and is not there for another tenant', async () => {
    const id = idIn(await authorize(freshPlace()))
    assert.equal((await grant(id, {}, api.key)).status, 403)
    const stranger = await api.newKey('approver', { tenant: 'other' })
    assert.equal((await grant(id, {}, stranger)).status, 404)
    assert.equal((await api.get(`/api/v1/approvals/${id}`, as(stranger))).status, 404)
    assert.deepEqual(listAt((await api.get('/api/v1/approvals', as(stranger))).body, 'approvals'), [])
    assert.equal((await api.get('/api/v1/approvals', { authorization: '' })).status, 401)
    assert.equal((await api.post(`/api/v1/approvals/${id}/grant`, '', as(approver))).status, 200)
  })

  it('is listed by state, newest first, page by page', async () => {
    const ids: string[] = []
    for (let n = 0; n < 3; n += 1) ids.unshift(idIn(await authorize(freshPlace())))
    await deny(ids[1] ?? '')
    const list = async (query: string) => (await api.get(`/api/v1/approvals${query}`)).body
    assert.deepEqual(
      listAt(await list('?limit=3'), 'approvals').map((row) => at(row, 'id')),
      ids,
    )
    const page = await list('?state=pending&limit=1')
    assert.deepEqual(textsAt(listAt(page, 'approvals'), 'id'), [ids[0]])
    const next = await list(`?state=pending&limit=1&cursor=${textAt(page, 'next_cursor')}`)
    assert.deepEqual(textsAt(listAt(next, 'approvals'), 'id'), [ids[2]])
    for (const state of ['granted', 'denied', 'expired']) {
      const states = textsAt(listAt(await list(`?state=${state}&limit=200`), 'approvals'), 'state')
      assert.ok(states.length > 0 && states.every((one) => one === state), state)
    }
    assert.equal((await api.get('/api/v1/approvals?state=open')).status, 400)
  })

  it('is counted, and its decision is logged', async () => {
    const text = await api.metrics.text()
    for (const event of ['opened', 'joined', 'granted', 'denied', 'used']) {
      assert.match(text, new RegExp(`preflight_approvals_total\\{event="${event}"\\} [1-9]`))
    }
    assert.ok(api.log.some((line) => line.includes('approval.decided') && line.includes('apr_')))
  })
})

test('when the request for approval cannot be kept there is no decision and no receipt', async (t) => {
  const api = await startApi({ policy: approvalPack(), storeFaults: () => ({ approvals: { open: lost } }) })
  t.after(() => api.close())
  const request = {
    preflight_mode: 'authorize',
    artifacts: [pets(PETS_WITHOUT_DELETE)],
    context: { operation: 'merge' },
  }
  const { status, text } = await api.post('/api/v1/preflight', request)
  assert.ok(status >= 500)
  assert.doesNotMatch(text, /chain_receipt|CONTINUE/)
  assert.deepEqual(listAt((await api.get('/api/v1/ledger')).body, 'entries'), [])
  assert.equal((await api.post('/api/v1/preflight', { ...request, artifacts: [pets(PETS_WITH_POST)] })).status, 200)
})

test('without four eyes the key that asked may grant', async (t) => {
  const api = await startApi({ policy: approvalPack(), config: { approvals: { four_eyes: false } } })
  t.after(() => api.close())
  const headers = { authorization: `Bearer ${await api.newKey('approver')}` }
  const request = {
    preflight_mode: 'authorize',
    artifacts: [pets(PETS_WITHOUT_DELETE)],
    context: { operation: 'merge' },
  }
  const target = textAt(
    (await api.post('/api/v1/preflight', request, headers)).body,
    'decision_result',
    'next_actions',
    0,
    'target',
  )
  assert.equal((await api.post(`${target}/grant`, {}, headers)).status, 200)
})

test('a pending call in the proxy names its approval, and continues once it is granted', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-approvals-'))
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  t.after(async () => {
    await upstream.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  const { before: offered } = pets(PETS_WITHOUT_DELETE)
  const contract = {
    baseline: { file: file('baseline.json', offered) },
    current: { file: file('current.json', PETS_WITHOUT_DELETE) },
  }
  const route = { name: 'pets', match: { path: '/' }, upstream: upstream.origin, protocol: 'http', contract }
  const policy = file('pack.yaml', JSON.stringify(PACK))
  const gateway = await startTestGateway(t, { policy, routes: [route], public_url: 'https://preflight.test/base' })
  const call = () => fetch(`${gateway.addresses.proxy}/pets`, { method: 'DELETE' })

  const held = await call()
  assert.equal(held.status, 428)
  const location = new URL(held.headers.get('location') ?? '')
  assert.equal(location.origin, 'https://preflight.test')
  assert.match(location.pathname, /^\/base\/api\/v1\/approvals\/apr_[0-9a-f]{32}$/)
  assert.equal(upstream.requests.length, 0)

  const path = location.pathname.replace('/base', '')
  const finished = await fetch(`${gateway.addresses.api}${path}/grant`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: '{"comment":"agreed"}',
  })
  assert.equal(finished.status, 200)
  let answer = await call()
  while (answer.status === 428) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    answer = await call()
  }
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('preflight-action'), 'CONTINUE_WITH_MONITORING')
  assert.equal(upstream.requests.length, 1)
})

const OPENING: ApprovalOpening = {
  approvalId: 'apr_1',
  key: 'sha256:k',
  tenant: 'local',
  requester: 'v:000000000001',
  decisionId: 'dec_1',
  route: null,
  operation: 'merge',
  environment: null,
  repository: 'acme/pets',
  branch: null,
  pullRequest: null,
  targetId: null,
  inputFingerprint: 'sha256:i',
  policyHash: 'sha256:p',
  summary: 'REQUIRE_APPROVAL: 1 dangerous',
  riskScore: 40,
  reasons: '[]',
  openedAt: Date.now(),
  expiresAt: Date.now() + 86_400_000,
  approvers: [],
}

test('the command line lists, grants and denies where the data lies', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'preflight-approvals-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 9 }))
  const store = await openSqliteStore({ file: join(dataDir, 'ledger.db'), calls: 'durable', flushMilliseconds: 5 })
  await store.approvals.open(OPENING)
  await store.approvals.open({ ...OPENING, approvalId: 'apr_2', key: 'sha256:l' })
  await store.approvals.open({
    ...OPENING,
    approvalId: 'apr_3',
    key: 'sha256:m',
    approvers: [{ count: 1, groups: ['payments', 'security'] }],
  })
  await store.close()
  const cli = (...words: readonly string[]) => run(['approvals', ...words, '--data-dir', dataDir])

  const listed = await cli('list')
  assert.match(listed.stdout, /apr_2 +pending.*\n.*apr_1 +pending/)
  const granted = await cli('grant', 'apr_1', '--comment', 'agreed', '--validity', '60')
  assert.equal(granted.code, 0)
  assert.match(granted.stdout, /^granted apr_1, valid until /)
  assert.equal((await cli('deny', 'apr_2')).code, 0)
  const again = await cli('grant', 'apr_2')
  assert.equal(again.code, 1)
  assert.match(again.stderr, /already been granted or denied/)
  assert.equal((await cli('grant', 'apr_9')).code, 1)
  const foreign = await cli('grant', 'apr_3', '--groups', 'release')
  assert.equal(foreign.code, 1)
  assert.match(foreign.stderr, /an approver of the group payments or security/)
  assert.equal((await cli('grant', 'apr_3', '--groups', 'Not a group')).code, 2)
  assert.equal((await cli('grant', 'apr_3', '--groups', 'release,security')).code, 0)
  const [finished, row] = listAt(JSON.parse((await cli('list', '--state', 'granted', '--format', 'json')).stdout))
  assert.deepEqual(at(finished, 'approver_groups'), [['payments', 'security']])
  assert.equal(at(row, 'id'), 'apr_1')
  assert.equal(at(row, 'comment'), 'agreed')
  assert.match(textAt(row, 'approver'), /^cli:./)
  for (const word of ['list', 'grant', 'deny']) assert.equal((await cli(word, '--help')).code, 0)
})
