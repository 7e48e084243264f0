/**
 * Webhooks of three platforms: signatures, replays, decisions with their commit, what is shown, and what callers attested before.
 * It is one file, since all of its tests share one scene.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startBitbucket } from '../../fakes/bitbucket-server.ts'
import type { ShownReport } from '../../fakes/commit-reports.ts'
import { startTestGateway, TEST_KEY, type TestGateway } from '../../fakes/gateway.ts'
import { startGithub, appKey } from '../../fakes/github-server.ts'
import { startGitlab } from '../../fakes/gitlab-server.ts'
import { openapi } from '../../fakes/scm-client.ts'
import { FakeRepository } from '../../fakes/scm-repository.ts'
import { SCM_TOKEN, type ScmReply, type ScmServer } from '../../fakes/scm-server.ts'
import { until } from '../../fakes/until.ts'
import {
  bitbucket,
  bitbucketPayload,
  github,
  githubPayload,
  gitlab,
  gitlabPayload,
  gitlabTrainPayload,
  SECRET,
  signedGitlab,
  SIGNING_TOKEN,
  type Delivery,
} from '../../fakes/webhooks.ts'
import { at, listAt } from '../../json.ts'

const BEFORE = openapi('/pets', '/toys')
const BREAKING = openapi('/pets')
const GROWN = openapi('/pets', '/toys', '/food')

interface Platform {
  readonly id: 'scm_a' | 'scm_b' | 'scm_c'
  readonly name: 'github' | 'gitlab' | 'bitbucket'
  readonly prefix: string
  readonly start: (repository: FakeRepository) => Promise<ScmServer>
  readonly opened: (pullRequest: number) => Delivery
  readonly pushed: (pullRequest: number) => Delivery
}

const pull = (action: string, number: number, members: object = {}) =>
  githubPayload('pull_request', action, {
    number,
    pull_request: { number, html_url: `https://github.test/acme/pets/pull/${number}` },
    ...members,
  })

const GITHUB: Platform = {
  id: 'scm_a',
  name: 'github',
  prefix: '',
  start: (repository) => startGithub(repository),
  opened: (number) => github('pull_request', pull('opened', number)),
  pushed: (number) => github('pull_request', pull('synchronize', number)),
}

const GITLAB: Platform = {
  id: 'scm_b',
  name: 'gitlab',
  prefix: '/api/v4',
  start: (repository) => startGitlab(repository),
  opened: (iid) => gitlab(gitlabPayload('open', iid)),
  pushed: (iid) => gitlab(gitlabPayload('update', iid, { oldrev: 'a'.repeat(40) })),
}

const BITBUCKET: Platform = {
  id: 'scm_c',
  name: 'bitbucket',
  prefix: '/2.0',
  start: startBitbucket,
  opened: (id) => bitbucket('pullrequest:created', bitbucketPayload(id)),
  pushed: (id) => bitbucket('pullrequest:updated', bitbucketPayload(id)),
}

const PLATFORMS = [GITHUB, GITLAB, BITBUCKET]

interface Scene {
  readonly gateway: TestGateway
  readonly server: ScmServer
  readonly repository: FakeRepository
  readonly platform: Platform
  send(delivery: Delivery): Promise<{ readonly status: number; readonly body: unknown }>
  api(method: string, path: string, body?: unknown): Promise<unknown>
}

interface SceneOptions {
  /** Answers of the platform for the GitHub App, which is configured in place of a token. */
  readonly isApp?: boolean
  readonly secrets?: string
  readonly config?: object
  readonly isBound?: boolean
}

async function scene(t: TestContext, platform: Platform, options: SceneOptions = {}): Promise<Scene> {
  const { secrets = SECRET, config = {}, isBound = true, isApp = false } = options
  const directory = mkdtempSync(join(tmpdir(), 'preflight-webhook-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const files = { token: join(directory, 'token'), secret: join(directory, 'secret') }
  writeFileSync(files.token, SCM_TOKEN)
  writeFileSync(files.secret, `${secrets}\n`)
  const repository = new FakeRepository('acme/pets', { 'openapi.yaml': BEFORE, 'README.md': 'pets' })
  const server = await platform.start(repository)
  t.after(() => server.close())
  const app = isApp ? { app: { id: 'Iv1.app', key_file: appKey(directory) } } : null
  if (isApp) server.fault = issueTokens
  const gateway = await startTestGateway(t, {
    public_url: 'https://preflight.test',
    monitoring: { sinks: [{ type: 'log' }] },
    ...config,
    scm: {
      [platform.name]: {
        api: server.origin + platform.prefix,
        ...(app ?? { token_file: files.token }),
        webhook: { secret_file: files.secret },
      },
    },
  })
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(gateway.addresses.api + path, {
      method,
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer: unknown = await response.json()
    assert.ok(response.ok, JSON.stringify(answer))
    return answer
  }
  if (isBound) {
    const opened = await ask('POST', '/api/v1/bindings/challenge', { platform: platform.id, repository: 'acme/pets' })
    repository.commit('main', { '.preflight-bind': String(at(opened, 'marker_content')) })
    await ask('POST', '/api/v1/bindings/prove', { challenge_id: at(opened, 'challenge_id') })
  }
  return {
    gateway,
    server,
    repository,
    platform,
    api: ask,
    async send({ headers, body }) {
      const response = await fetch(`${gateway.addresses.api}/webhooks/${platform.name}`, {
        method: 'POST',
        headers,
        body,
      })
      return { status: response.status, body: await response.json() }
    },
  }
}

/** Installation tokens of a GitHub App. */
function issueTokens({ path }: { readonly path: string }): ScmReply | null {
  if (path.endsWith('/installation')) return { body: { id: 99 } }
  if (path !== '/app/installations/99/access_tokens') return null
  const end = new Date(Date.now() + 3_600_000).toISOString()
  return { status: 201, body: { token: SCM_TOKEN, expires_at: end } }
}

function opens(one: Scene, number: number, branch: string, files: Readonly<Record<string, string | null>>): string {
  const head = one.repository.commit(branch, files, 'main')
  one.repository.open(number, branch)
  return head
}

const ENDED: ReadonlySet<string> = new Set(['success', 'failure', 'failed', 'SUCCESSFUL', 'FAILED'])
const isStatus = ({ kind }: ShownReport): boolean => kind === 'status' || kind.startsWith('check-run')
const stateOf = ({ body }: ShownReport): string =>
  String(at(body, 'conclusion') ?? at(body, 'state') ?? at(body, 'status'))
const textOf = ({ body }: ShownReport): string => String(at(body, 'description') ?? at(body, 'output', 'title'))

async function ended({ server }: Scene, commit: string, count = 1): Promise<ShownReport> {
  const all = () => server.shown.filter((one) => isStatus(one) && one.commit === commit && ENDED.has(stateOf(one)))
  await until(() => all().length >= count, `a status of ${commit} ends`)
  const last = all().at(-1)
  assert.ok(last)
  return last
}

async function judgedTasks({ gateway }: Scene): Promise<number> {
  const counts = (await gateway.metrics.text()).matchAll(
    /^preflight_merge_checks_total\{.*result="(?:success|failure)"\} (\d+)$/gm,
  )
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

async function decisions(one: Scene): Promise<readonly unknown[]> {
  return listAt(await one.api('GET', '/api/v1/ledger?limit=50'), 'entries')
}

async function envelopeOf(one: Scene, row: unknown): Promise<unknown> {
  const answer = await one.api('GET', `/api/v1/decisions/${String(at(row, 'decision_id'))}`)
  return at(answer, 'decision_result')
}

for (const platform of PLATFORMS) {
  test(`${platform.name}: an opened pull request that breaks is decided, recorded with its commit and shown as failed`, async (t) => {
    const one = await scene(t, platform)
    const head = opens(one, 7, 'feature', { 'openapi.yaml': BREAKING })
    const answer = await one.send(platform.opened(7))
    assert.deepEqual([answer.status, at(answer.body, 'status')], [202, 'accepted'])
    const shown = await ended(one, head)
    assert.match(stateOf(shown), /^fail/i)
    assert.match(textOf(shown), /^Blocked: /)
    const [row] = await decisions(one)
    const envelope = await envelopeOf(one, row)
    assert.deepEqual(
      ['operation', 'repository', 'branch', 'pull_request', 'commit_sha', 'audience', 'completeness_mode'].map((name) =>
        at(envelope, name),
      ),
      ['merge', 'acme/pets', 'main', '7', head, null, 'SERVER_DERIVED'],
    )
    assert.equal(at(envelope, 'derivation', 'head_sha'), head)
    assert.equal(
      at(shown.body, 'target_url') ?? at(shown.body, 'url'),
      `https://preflight.test/console/decisions/${String(at(row, 'decision_id'))}`,
    )
  })

  test(`${platform.name}: a delivery and what it leads to are one trace`, async (t) => {
    const one = await scene(t, platform)
    const head = opens(one, 7, 'feature', { 'openapi.yaml': GROWN })
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const delivery = platform.opened(7)
    const headers = { ...delivery.headers, traceparent: `00-${trace}-00f067aa0ba902b7-01` }
    const { body } = await one.send({ ...delivery, headers })
    assert.equal(at(body, 'trace_id'), trace)
    await ended(one, head)
    const named = listAt(await one.api('GET', `/api/v1/ledger?trace_id=${trace}`), 'items')
    assert.deepEqual(
      named.map((row) => at(row, 'operation')),
      ['merge'],
    )
    one.repository.commit('feature', { 'README.md': 'other' })
    await one.send(platform.pushed(7))
    await until(async () => (await decisions(one)).length === 2, 'the push is decided')
    assert.equal(listAt(await one.api('GET', `/api/v1/ledger?trace_id=${trace}`), 'items').length, 1)
  })

  test(`${platform.name}: a push that repairs the pull request is shown as passed at the new commit`, async (t) => {
    const one = await scene(t, platform)
    const first = opens(one, 7, 'feature', { 'openapi.yaml': BREAKING })
    await one.send(platform.opened(7))
    await ended(one, first)
    const second = one.repository.commit('feature', { 'openapi.yaml': GROWN })
    assert.equal((await one.send(platform.pushed(7))).status, 202)
    assert.match(stateOf(await ended(one, second)), /^success/i)
  })

  test(`${platform.name}: a delivery without a good signature is refused, and nothing is asked`, async (t) => {
    const one = await scene(t, platform)
    const asked = one.server.requests.length
    const good = platform.opened(7)
    const names = Object.keys(good.headers).filter((name) => /signature|token/.test(name))
    for (const name of names) {
      const { [name]: _, ...without } = good.headers
      for (const headers of [
        without,
        { ...without, [name]: `${good.headers[name] ?? ''}0` },
        { ...without, [name]: '' },
      ]) {
        const answer = await one.send({ ...good, headers })
        assert.deepEqual([answer.status, at(answer.body, 'error')], [401, 'UNAUTHENTICATED'])
      }
    }
    assert.equal(one.server.requests.length, asked)
    assert.deepEqual(await decisions(one), [])
  })

  test(`${platform.name}: the same delivery twice, and its body under another id, are one`, async (t) => {
    const one = await scene(t, platform)
    const head = opens(one, 7, 'feature', { 'openapi.yaml': GROWN })
    const delivery = platform.opened(7)
    const idName = Object.keys(delivery.headers).find((name) => /delivery|idempotency|request-uuid/.test(name)) ?? ''
    const replay = { ...delivery, headers: { ...delivery.headers, [idName]: 'another-id' } }
    const answers = [await one.send(delivery), await one.send(delivery), await one.send(replay)]
    assert.deepEqual(
      answers.map(({ status, body }) => [status, at(body, 'status')]),
      [
        [202, 'accepted'],
        [200, 'duplicate'],
        [200, 'duplicate'],
      ],
    )
    await ended(one, head)
    assert.equal((await decisions(one)).length, 1)
  })

  test(`${platform.name}: a repository without a proven binding gets neither a decision nor a status`, async (t) => {
    const one = await scene(t, platform, { isBound: false })
    opens(one, 7, 'feature', { 'openapi.yaml': BREAKING })
    assert.equal((await one.send(platform.opened(7))).status, 202)
    await until(() => one.gateway.log.some(({ event }) => event === 'webhook.unbound'), 'it is dropped')
    assert.deepEqual([await decisions(one), one.server.shown], [[], []])
  })

  test(`${platform.name}: a decision that was attested for the same commits is verified by what the platform has`, async (t) => {
    const one = await scene(t, platform)
    const head = opens(one, 7, 'feature', { 'openapi.yaml': GROWN })
    const attested = await attest(one, head, [{ id: 'api', type: 'openapi', before: BEFORE, after: GROWN }])
    await one.send(platform.opened(7))
    await ended(one, head)
    const [row] = await decisions(one)
    assert.equal(at(await envelopeOf(one, row), 'completeness_mode'), 'CROSS_VERIFIED')
    assert.equal(await receiptState(one, attested), 'current')
  })

  test(`${platform.name}: an attestation that leaves a changed contract out diverges, and its receipt is superseded`, async (t) => {
    const one = await scene(t, platform)
    const added = { 'openapi.yaml': GROWN, 'orders/openapi.yaml': openapi('/orders') }
    const head = opens(one, 7, 'feature', added)
    const attested = await attest(one, head, [{ id: 'api', type: 'openapi', before: BEFORE, after: GROWN }])
    await one.send(platform.opened(7))
    await ended(one, head)
    const [row] = await decisions(one)
    const envelope = await envelopeOf(one, row)
    assert.equal(at(envelope, 'completeness_mode'), 'DIVERGED')
    assert.equal(at(envelope, 'decision'), 'WARN')
    assert.equal(at(envelope, 'warnings', 0, 'code'), 'CHANGE_SET_DIVERGED')
    assert.match(String(at(envelope, 'warnings', 0, 'message')), /orders\/openapi\.yaml changed and is not in it/)
    assert.equal(await receiptState(one, attested), 'superseded')
  })
}

async function attest(one: Scene, head: string, artifacts: readonly object[]): Promise<string> {
  const context = { operation: 'merge', repository: 'acme/pets', pull_request: '7', head }
  const answer = await one.api('POST', '/api/v1/preflight', { preflight_mode: 'authorize', artifacts, context })
  return String(at(answer, 'decision_result', 'decision_id'))
}

async function receiptState(one: Scene, id: string): Promise<unknown> {
  return at(await one.api('GET', `/api/v1/decisions/${id}`), 'meta', 'receipt_state')
}

const approvalsOf = async (one: Scene): Promise<readonly unknown[]> =>
  listAt(await one.api('GET', '/api/v1/approvals'), 'approvals')

async function held(one: Scene, head: string): Promise<string> {
  const isHeld = (report: ShownReport) =>
    isStatus(report) && report.commit === head && /Approval required/.test(textOf(report))
  await until(() => one.server.shown.some(isHeld), 'the check waits for an approval')
  const [approval] = await approvalsOf(one)
  return String(at(approval, 'approval_id') ?? at(approval, 'id'))
}

/** Breaking changes need an approval. */
const APPROVAL_POLICY = { policy: join(import.meta.dirname, '../../fakes/asking-pack.yaml') }

test('a granted approval turns the check into a success, without a new event of the platform', async (t) => {
  const one = await scene(t, GITHUB, { config: APPROVAL_POLICY })
  const head = opens(one, 7, 'feature', { 'openapi.yaml': BREAKING })
  await one.send(GITHUB.opened(7))
  const id = await held(one, head)
  const waiting = one.server.shown.findLast(isStatus)
  assert.equal(at(waiting?.body, 'target_url'), `https://preflight.test/console/approvals/${id}`)
  assert.equal(at(waiting?.body, 'state'), 'pending')
  await one.api('POST', `/api/v1/approvals/${id}/grant`, { comment: 'agreed with the consumers' })
  const shown = await ended(one, head)
  assert.deepEqual([stateOf(shown), textOf(shown).startsWith('Allowed with warnings: ')], ['success', true])
})

test('a denied approval turns the check into a failure with the comment, and asks nobody again', async (t) => {
  const one = await scene(t, GITHUB, { config: APPROVAL_POLICY })
  const head = opens(one, 7, 'feature', { 'openapi.yaml': BREAKING })
  await one.send(GITHUB.opened(7))
  const id = await held(one, head)
  await one.api('POST', `/api/v1/approvals/${id}/deny`, { comment: 'ask the payments team' })
  const shown = await ended(one, head)
  assert.deepEqual([stateOf(shown), textOf(shown)], ['failure', 'Denied: ask the payments team'])
  assert.equal((await approvalsOf(one)).length, 1)
})

test('a request that nobody answers says so, and how to ask again', async (t) => {
  const one = await scene(t, GITHUB, { config: { ...APPROVAL_POLICY, approvals: { pending: 1 } } })
  const head = opens(one, 7, 'feature', { 'openapi.yaml': BREAKING })
  await one.send(GITHUB.opened(7))
  await held(one, head)
  await until(() => one.server.shown.some((report) => textOf(report).startsWith('Approval expired')), 'it expires')
  assert.equal((await decisions(one)).length, 1)
})

test('a merge queue group is judged as what the branch becomes', async (t) => {
  const one = await scene(t, GITHUB)
  const base = one.repository.tip('main')
  one.repository.commit('queued', { 'openapi.yaml': GROWN }, 'main')
  const head = one.repository.commit('queued', { 'orders/openapi.yaml': openapi('/orders') })
  const group = { head_sha: head, base_sha: base, base_ref: 'refs/heads/main' }
  const delivery = github('merge_group', githubPayload('merge_group', 'checks_requested', { merge_group: group }))
  assert.equal((await one.send(delivery)).status, 202)
  assert.equal(stateOf(await ended(one, head)), 'success')
  const [row] = await decisions(one)
  const envelope = await envelopeOf(one, row)
  assert.deepEqual(
    [
      at(envelope, 'branch'),
      at(envelope, 'pull_request'),
      at(envelope, 'commit_sha'),
      at(envelope, 'completeness_count'),
    ],
    ['main', null, head, 2],
  )
})

for (const isMergeCommit of [true, false])
  test(`a merge train of GitLab is judged as what it merges, ${isMergeCommit ? 'from the commit before it' : 'without a merge commit from the tip of the branch'}`, async (t) => {
    const one = await scene(t, GITLAB)
    // The merge request before it on the train is not merged yet.
    const before = one.repository.commit('train-6', { 'openapi.yaml': GROWN }, 'main')
    const source = one.repository.commit('feature', { 'orders/openapi.yaml': openapi('/orders') }, 'train-6')
    const head = isMergeCommit
      ? one.repository.mergeCommit(before, source, { 'orders/openapi.yaml': openapi('/orders') })
      : source
    assert.equal((await one.send(gitlab(gitlabTrainPayload(7, head)))).status, 202)
    const shown = await ended(one, head)
    assert.deepEqual([stateOf(shown), at(shown.body, 'pipeline_id')], ['success', 31])
    const [row] = await decisions(one)
    const envelope = await envelopeOf(one, row)
    assert.deepEqual(
      ['branch', 'pull_request', 'commit_sha', 'base', 'completeness_count'].map((member) => at(envelope, member)),
      ['main', null, head, isMergeCommit ? before : one.repository.tip('main'), isMergeCommit ? 1 : 2],
    )
  })

test('other pipelines of GitLab ask for nothing', async (t) => {
  const one = await scene(t, GITLAB)
  const head = one.repository.tip('main')
  const train = gitlabTrainPayload(7, head)
  const branch = { ...Object(train), object_attributes: { ...Object(at(train, 'object_attributes')), ref: 'main' } }
  for (const payload of [branch, gitlabTrainPayload(7, head, 'success')])
    assert.equal(at((await one.send(gitlab(payload))).body, 'status'), 'ignored')
  assert.deepEqual(await decisions(one), [])
})

test('a GitHub App shows one check run that goes from in progress to its result, with the changes at their lines', async (t) => {
  const one = await scene(t, GITHUB, { isApp: true })
  const narrowed = BEFORE.replace("'200': { description: good }", "'204': { description: good }")
  const head = opens(one, 7, 'feature', { 'openapi.yaml': narrowed })
  await one.send(GITHUB.opened(7))
  await ended(one, head)
  assert.deepEqual(
    one.server.shown.map(({ kind, body }) => [kind, at(body, 'status'), at(body, 'conclusion') ?? null]),
    [
      ['check-run 1', 'in_progress', null],
      ['check-run 1', 'completed', 'failure'],
    ],
  )
  const output = at(one.server.shown[1]?.body, 'output')
  const annotations = listAt(output, 'annotations')
  assert.ok(annotations.length > 0)
  for (const annotation of annotations) assert.equal(at(annotation, 'path'), 'openapi.yaml')
  assert.ok(annotations.some((annotation) => at(annotation, 'annotation_level') === 'failure'))
  assert.ok(
    annotations.some((annotation) => Number(at(annotation, 'start_line')) > 1),
    'a line of the head',
  )
  const summary = String(at(output, 'summary'))
  assert.match(summary, /^\*\*Blocked\.\*\* /)
  assert.match(summary, /\| `openapi\.yaml` \| openapi \| BLOCK \| \d+ \|/)
})

test('a check that is run again is decided again', async (t) => {
  const one = await scene(t, GITHUB)
  const head = opens(one, 7, 'feature', { 'openapi.yaml': GROWN })
  await one.send(GITHUB.opened(7))
  await ended(one, head)
  const run = { head_sha: head, name: 'preflight/merge', pull_requests: [] }
  const again = github('check_run', githubPayload('check_run', 'rerequested', { check_run: run }))
  assert.equal((await one.send(again)).status, 202)
  await ended(one, head, 2)
  assert.equal((await decisions(one)).length, 2)
  const foreign = { ...run, name: 'lint' }
  const other = github('check_run', githubPayload('check_run', 'rerequested', { check_run: foreign }))
  const answer = await one.send(other)
  assert.deepEqual([answer.status, at(answer.body, 'status')], [200, 'ignored'])
})

test('one commit in two pull requests shows the stricter decision, until that one is closed', async (t) => {
  const one = await scene(t, GITHUB)
  // For main the change breaks; the other base has it already.
  const head = opens(one, 7, 'feature', { 'openapi.yaml': BREAKING })
  one.repository.commit('next', { 'openapi.yaml': BREAKING }, 'main')
  one.repository.open(8, 'feature', 'next')
  await one.send(GITHUB.opened(7))
  assert.equal(stateOf(await ended(one, head)), 'failure')
  await one.send(GITHUB.opened(8))
  await until(async () => (await decisions(one)).length === 2, 'the other one is decided')
  await until(() => one.server.shown.filter(isStatus).length >= 4, 'it is shown')
  assert.equal(stateOf(one.server.shown.findLast(isStatus) ?? assert.fail()), 'failure')
  Object.assign(one.repository.mergeRequests.get(7) ?? {}, { state: 'closed' })
  await one.send(github('pull_request', pull('closed', 7)))
  const shown = () => one.server.shown.findLast(isStatus)
  await until(() => stateOf(shown() ?? assert.fail()) === 'success', 'the other one counts alone')
})

for (const [platform, closed] of [
  [GITHUB, github('pull_request', pull('closed', 7))],
  [GITLAB, gitlab(gitlabPayload('close', 7))],
  [BITBUCKET, bitbucket('pullrequest:rejected', bitbucketPayload(7, 'DECLINED'))],
] as const)
  test(`${platform.name}: a delivery of a close that comes after the reopening leaves the check of the pull request`, async (t) => {
    const one = await scene(t, platform)
    const head = opens(one, 7, 'feature', { 'openapi.yaml': BREAKING })
    one.repository.commit('next', { 'openapi.yaml': BREAKING }, 'main')
    one.repository.open(8, 'feature', 'next')
    await one.send(platform.opened(7))
    const breaking = stateOf(await ended(one, head))
    assert.equal((await one.send(closed)).status, 202)
    await until(async () => (await judgedTasks(one)) === 2, 'it is decided again')
    await one.send(platform.opened(8))
    await until(async () => (await judgedTasks(one)) === 3, 'all is shown')
    assert.equal(stateOf(one.server.shown.findLast(isStatus) ?? assert.fail()), breaking)
  })

test('a platform that fails is tried again, and the commit says why nothing is decided', async (t) => {
  const one = await scene(t, GITHUB)
  const head = opens(one, 7, 'feature', { 'openapi.yaml': GROWN })
  one.server.fault = ({ path }) =>
    path.includes('/compare/') ? { status: 503, body: { message: 'be back soon' } } : null
  await one.send(GITHUB.opened(7))
  const failed = await ended(one, head)
  assert.deepEqual([stateOf(failed), /be back soon\. It is tried again\./.test(textOf(failed))], ['failure', true])
  one.server.fault = null
  await until(() => one.server.shown.some((report) => stateOf(report) === 'success'), 'it is decided', 20_000)
  assert.ok(one.gateway.log.some(({ event }) => event === 'webhook.retried'))
})

test('events that ask for nothing are answered, and kept nowhere', async (t) => {
  const one = await scene(t, GITHUB)
  const events = [
    github('ping', { zen: 'Keep it logically awesome.', hook_id: 1 }),
    github('pull_request', pull('labeled', 7)),
    github('pull_request_review', githubPayload('pull_request_review', 'submitted', {})),
  ]
  for (const event of events) {
    const answer = await one.send(event)
    assert.deepEqual([answer.status, at(answer.body, 'status')], [200, 'ignored'])
  }
  assert.deepEqual(await decisions(one), [])
})

test('what is not a delivery is refused with the reason', async (t) => {
  const one = await scene(t, GITHUB)
  const good = GITHUB.opened(7)
  const form = { ...good, headers: { ...good.headers, 'content-type': 'application/x-www-form-urlencoded' } }
  const named = github('pull_request', pull('opened', 7, { repository: { full_name: '../..' } }))
  const huge = github('pull_request', { padding: 'x'.repeat(5 * 1024 * 1024) })
  const twice = '{"action":"opened","action":"closed"}'
  const refusals: readonly (readonly [Delivery, number, string])[] = [
    [form, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [named, 400, 'INVALID_INPUT'],
    [huge, 413, 'PAYLOAD_TOO_LARGE'],
    [{ ...github('pull_request', JSON.parse(twice)), body: twice }, 401, 'UNAUTHENTICATED'],
  ]
  for (const [delivery, status, error] of refusals) {
    const answer = await one.send(delivery)
    assert.deepEqual([answer.status, at(answer.body, 'error')], [status, error])
  }
  const get = await fetch(`${one.gateway.addresses.api}/webhooks/github`)
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST'])
  await get.body?.cancel()
  const other = await fetch(`${one.gateway.addresses.api}/webhooks/gitlab`, { method: 'POST', body: '{}' })
  assert.equal(other.status, 404)
  await other.body?.cancel()
})

test('a GitLab signing token is required once it is configured, and an old signature is refused', async (t) => {
  const one = await scene(t, GITLAB, { secrets: `${SIGNING_TOKEN}\n${SECRET}` })
  const head = opens(one, 7, 'feature', { 'openapi.yaml': GROWN })
  assert.equal((await one.send(GITLAB.opened(7))).status, 401, 'the secret token does not count any more')
  const old = signedGitlab(gitlabPayload('open', 7), new Date(Date.now() - 600_000))
  assert.equal((await one.send(old)).status, 401)
  const good = signedGitlab(gitlabPayload('open', 7))
  assert.equal((await one.send({ ...good, headers: { ...good.headers, 'webhook-id': 'another' } })).status, 401)
  assert.equal((await one.send(good)).status, 202)
  assert.equal(stateOf(await ended(one, head)), 'success')
})

const labeledWith = (secret: string) => github('pull_request', pull('labeled', 7), secret)

test('either of two secrets counts while one replaces the other', async (t) => {
  const next = 'the-next-secret-of-the-webhook-987'
  const one = await scene(t, GITHUB, { secrets: `${SECRET}\n${next}` })
  const answers = await Promise.all([SECRET, next, `${next}x`].map((secret) => one.send(labeledWith(secret))))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 401],
  )
})
