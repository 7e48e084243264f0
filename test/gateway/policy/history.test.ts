/** The past through the whole gateway: decisions that look back at the ledger, a ledger that cannot be read, test cases of packs, grants by group. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { compilePolicy, type CompiledPolicy } from '../../../engine/internal.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { run } from '../../fakes/command-io.ts'
import { pets, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { at, listAt, textAt } from '../../json.ts'

const HEAD = { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'p' } }
const RETRIED = {
  id: 'retried',
  for: 'change_set',
  when: 'history.block >= 2 && history.same_input >= 2',
  then: 'BLOCK',
  reason: { code: 'SAME_CHANGE_AGAIN', message: 'The same change was blocked twice' },
}
const BREAKING = { id: 'breaking', when: "finding.level == 'breaking'", then: 'BLOCK' }

function policyOf(pack: object): CompiledPolicy {
  const compiled = compilePolicy({ ...HEAD, rules: [BREAKING], ...pack }, sha256Hex)
  assert.ok(compiled.ok)
  return compiled.value
}

async function started(t: TestContext, pack: object, options: Parameters<typeof startApi>[0] = {}): Promise<ApiFake> {
  const api = await startApi({ policy: policyOf(pack), ...options })
  t.after(() => api.close())
  return api
}

const request = (after = PETS_WITHOUT_DELETE, context: object = { operation: 'merge' }, mode = 'authorize') => ({
  preflight_mode: mode,
  artifacts: [pets(after)],
  context,
})

function idIn(body: unknown): string {
  const row = listAt(body, 'decision_result', 'evidence').find((evidence) => at(evidence, 'type') === 'APPROVAL')
  return textAt(row, 'source')
}

const codes = (body: unknown) => listAt(body, 'decision_result', 'blocking_reasons').map((row) => at(row, 'code'))

test('a decision looks back at its own scope only', async (t) => {
  const api = await started(t, { rules: [BREAKING, RETRIED] })
  const ask = async (body: object = request()) => (await api.post('/api/v1/preflight', body)).body
  assert.deepEqual(codes(await ask()), ['API_REMOVED_WITHOUT_DEPRECATION'])
  await ask(request(PETS_WITHOUT_DELETE, { operation: 'deploy' }))
  assert.deepEqual(codes(await ask()), ['API_REMOVED_WITHOUT_DEPRECATION'])
  assert.deepEqual(codes(await ask()), ['SAME_CHANGE_AGAIN', 'API_REMOVED_WITHOUT_DEPRECATION'])
  assert.deepEqual(codes(await ask(request(PETS_WITHOUT_DELETE, { operation: 'deploy' }))), [
    'API_REMOVED_WITHOUT_DEPRECATION',
  ])
  assert.equal(at(await ask(request(PETS_WITH_POST)), 'decision'), 'ALLOW')
})

test('an analysis sees the same past as the decision would', async (t) => {
  const api = await started(t, { rules: [BREAKING, RETRIED] })
  for (let count = 0; count < 2; count += 1) await api.post('/api/v1/preflight', request())
  const { body } = await api.post('/api/v1/preflight', request(PETS_WITHOUT_DELETE, { operation: 'merge' }, 'analyze'))
  assert.ok(listAt(body, 'evidence').some((row) => textAt(row, 'source') === 'p/retried'))
})

test('a past that cannot be read is not a decision', async (t) => {
  const api = await started(
    t,
    { rules: [BREAKING, RETRIED] },
    {
      storeFaults: () => ({ decisions: { history: () => Promise.reject(new Error('the disk is gone')) } }),
    },
  )
  const { status, body } = await api.post('/api/v1/preflight', request(PETS_WITH_POST))
  assert.ok(status >= 500)
  assert.equal(at(body, 'decision_result'), undefined)
})

test('cases of a pack state their own past, versions and consumers', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-cases-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const pack = {
    ...HEAD,
    rules: [{ ...RETRIED, when: "history.block >= 2 && history.last == 'BLOCK' && history.same_input == 1" }],
    minimum_bump: { then: 'REQUIRE_APPROVAL', approvers: ['api'] },
    protected_consumers: { names: ['billing'], then: 'REQUIRE_APPROVAL' },
  }
  const context = { operation: 'merge' }
  const breaking = [{ rule: 'api-removed-without-deprecation', level: 'breaking' }]
  const versions = { base: '1.0.0', head: '2.0.0' }
  const cases = [
    { description: 'no past', context, want: { decision: 'ALLOW' } },
    {
      description: 'twice blocked',
      context,
      history: [
        { decision: 'BLOCK', ago: 60 },
        { decision: 'BLOCK', ago: 5, same_input: true },
      ],
      want: { decision: 'BLOCK', reason: 'SAME_CHANGE_AGAIN', rule: 'retried' },
    },
    { description: 'raised', context, findings: breaking, versions, want: { decision: 'ALLOW' } },
    {
      description: 'not raised',
      context,
      findings: breaking,
      versions: { ...versions, head: '1.1.0' },
      want: { decision: 'REQUIRE_APPROVAL', reason: 'VERSION_BUMP_TOO_SMALL' },
    },
    {
      description: 'published with a patch',
      context,
      findings: breaking,
      versions,
      release: { base: '1.0.0', head: '1.0.1' },
      want: { decision: 'REQUIRE_APPROVAL', reason: 'VERSION_BUMP_TOO_SMALL' },
    },
    {
      description: 'protected',
      context,
      findings: breaking,
      versions,
      consumers: ['billing'],
      want: { decision: 'REQUIRE_APPROVAL', reason: 'PROTECTED_CONSUMER' },
    },
  ]
  writeFileSync(join(folder, 'pack.yaml'), JSON.stringify(pack))
  writeFileSync(join(folder, 'cases.yaml'), JSON.stringify({ cases }))
  const { code, stdout, stderr } = await run(['policy', 'test', join(folder, 'pack.yaml')])
  assert.equal(code, 0, stdout + stderr)
  assert.match(stdout, /6 passed, 0 failed/)
})

test('a version that is not raised is found by the real comparison', async (t) => {
  const api = await started(t, { minimum_bump: { then: 'BLOCK' }, rules: [{ ...BREAKING, then: 'WARN' }] })
  const { body } = await api.post('/api/v1/preflight', request())
  assert.deepEqual(codes(body), ['VERSION_BUMP_TOO_SMALL'])
  const raised = JSON.parse(PETS_WITHOUT_DELETE)
  raised.info.version = '2.0.0'
  const { body: good } = await api.post('/api/v1/preflight', request(JSON.stringify(raised)))
  assert.equal(at(good, 'decision'), 'WARN')
})

test('only an approver of a group that the rule names may grant; any may deny', async (t) => {
  const asks = { rules: [{ ...BREAKING, then: 'REQUIRE_APPROVAL', approvers: ['payments', 'security'] }] }
  const api = await started(t, asks)
  const [plain, member] = [await api.newKey('approver'), await api.newKey('approver', { groups: ['security'] })]
  const ask = async (repository: string) =>
    (await api.post('/api/v1/preflight', request(PETS_WITHOUT_DELETE, { operation: 'merge', repository }))).body
  const decide = (id: string, word: string, key: string) =>
    api.post(`/api/v1/approvals/${id}/${word}`, { comment: 'c' }, { authorization: `Bearer ${key}` })
  const asked = await ask('acme/one')
  assert.match(textAt(asked, 'decision_result', 'required_action'), /an approver of the group payments or security/)
  const id = idIn(asked)
  assert.deepEqual(at((await api.get(`/api/v1/approvals/${id}`)).body, 'approval', 'approver_groups'), [
    ['payments', 'security'],
  ])
  const refused = await decide(id, 'grant', plain)
  assert.equal(refused.status, 403)
  assert.match(textAt(refused.body, 'message'), /group payments or security/)
  assert.equal(at(await ask('acme/one'), 'decision'), 'REQUIRE_APPROVAL')
  assert.equal((await decide(id, 'grant', member)).status, 200)
  assert.equal(at(await ask('acme/one'), 'decision'), 'WARN')
  assert.equal((await decide(idIn(await ask('acme/two')), 'deny', plain)).status, 200)
})

test('what observing would have decided is counted, and only where something observes', async (t) => {
  const counted = /^preflight_observed_decisions_total\{(.*)\} 1$/m
  const observing = await started(t, { mode: 'observe' })
  assert.equal(at((await observing.post('/api/v1/preflight', request())).body, 'decision'), 'WARN')
  assert.equal(counted.exec(await observing.metrics.text())?.[1], 'would="BLOCK",route="api",operation="merge"')
  const enforcing = await started(t, {})
  await enforcing.post('/api/v1/preflight', request())
  assert.doesNotMatch(await enforcing.metrics.text(), counted)
})
