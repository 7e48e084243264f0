/** A merge that waits on the wire for an approval is shown at its head commit, and so is what people decide. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { loadConfig } from '../../../gateway/config/load.ts'
import { noteHeldMerges } from '../../../gateway/merge-checks/held-merges.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { startBitbucket } from '../../fakes/bitbucket-server.ts'
import type { ShownReport } from '../../fakes/commit-reports.ts'
import { startTestGateway, TEST_KEY } from '../../fakes/gateway.ts'
import { startGithub, appKey } from '../../fakes/github-server.ts'
import { startGitlab } from '../../fakes/gitlab-server.ts'
import { openapi } from '../../fakes/scm-client.ts'
import { FakeRepository } from '../../fakes/scm-repository.ts'
import { SCM_TOKEN } from '../../fakes/scm-server.ts'
import { until } from '../../fakes/until.ts'
import { at, textAt } from '../../json.ts'

const PLATFORMS = [
  { id: 'scm_a', name: 'github', prefix: '', start: startGithub, merge: ['PUT', '/repos/acme/pets/pulls/7/merge'] },
  {
    id: 'scm_b',
    name: 'gitlab',
    prefix: '/api/v4',
    start: startGitlab,
    merge: ['PUT', '/api/v4/projects/acme%2Fpets/merge_requests/7/merge'],
  },
  {
    id: 'scm_c',
    name: 'bitbucket',
    prefix: '/2.0',
    start: startBitbucket,
    merge: ['POST', '/2.0/repositories/acme/pets/pullrequests/7/merge'],
  },
] as const
type Platform = (typeof PLATFORMS)[number]

interface SceneOptions {
  readonly isApp?: boolean
  readonly mode?: 'enforce' | 'observe'
}

async function scene(t: TestContext, platform: Platform, { isApp = false, mode = 'enforce' }: SceneOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-held-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const token = join(directory, 'token')
  writeFileSync(token, SCM_TOKEN)
  const repository = new FakeRepository('acme/pets', { 'openapi.yaml': openapi('/pets', '/toys') })
  const server = await platform.start(repository)
  t.after(() => server.close())
  if (isApp)
    server.fault = ({ path }) => {
      if (path.endsWith('/installation')) return { body: { id: 99 } }
      if (path !== '/app/installations/99/access_tokens') return null
      const end = new Date(Date.now() + 3_600_000).toISOString()
      return { status: 201, body: { token: SCM_TOKEN, expires_at: end } }
    }
  const credential = isApp ? { app: { id: 'Iv1.app', key_file: appKey(directory) } } : { token_file: token }
  const gateway = await startTestGateway(t, {
    public_url: 'https://preflight.test',
    monitoring: { sinks: [{ type: 'log' }] },
    policy: join(import.meta.dirname, '../../fakes/asking-pack.yaml'),
    scm: { [platform.name]: { api: server.origin + platform.prefix, ...credential } },
    routes: [{ name: 'scm', match: { path: '/' }, upstream: server.origin, protocol: platform.name, mode }],
  })
  const api = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(gateway.addresses.api + path, {
      method,
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return answer.json()
  }
  const opened = await api('POST', '/api/v1/bindings/challenge', { platform: platform.id, repository: 'acme/pets' })
  repository.commit('main', { '.preflight-bind': textAt(opened, 'marker_content') })
  await api('POST', '/api/v1/bindings/prove', { challenge_id: textAt(opened, 'challenge_id') })
  const head = repository.commit('feature', { 'openapi.yaml': openapi('/pets') }, 'main')
  repository.open(7, 'feature')
  const [method, path] = platform.merge
  const merge = () =>
    fetch(gateway.addresses.proxy + path, { method, headers: { authorization: `Bearer ${SCM_TOKEN}` } })
  /** The statuses of the commit, oldest first. */
  const statuses = () =>
    server.shown.filter(({ kind, commit }) => commit === head && (kind === 'status' || kind.startsWith('check-run')))
  return { gateway, server, api, merge, statuses }
}

const stateOf = ({ body }: ShownReport) => String(at(body, 'conclusion') ?? at(body, 'state') ?? at(body, 'status'))
const lineOf = ({ body }: ShownReport) => String(at(body, 'description') ?? at(body, 'output', 'title'))
const linkOf = ({ body }: ShownReport) => at(body, 'details_url') ?? at(body, 'target_url') ?? at(body, 'url')
const requestIn = (answer: Response) =>
  /apr_[0-9a-f]{32}/.exec(answer.headers.get('location') ?? '')?.[0] ?? assert.fail()

const HELD = /^(?:pending|action_required|INPROGRESS)$/
const GOOD = /^success(?:ful)?$/i

for (const platform of PLATFORMS)
  for (const isApp of platform.name === 'github' ? [false, true] : [false])
    test(`${platform.name}${isApp ? ' app' : ''}: a held merge is shown once as waiting, and then as approved`, async (t) => {
      const { merge, statuses, api } = await scene(t, platform, { isApp })
      const held = await merge()
      assert.equal(held.status, 428, await held.clone().text())
      const id = requestIn(held)
      assert.equal((await merge()).status, 428)
      await until(() => statuses().length === 1, 'the commit shows that it waits')
      const [waits] = statuses()
      assert.ok(waits)
      assert.match(stateOf(waits), HELD)
      assert.match(lineOf(waits), /^Approval required: /)
      assert.equal(linkOf(waits), `https://preflight.test/console/approvals/${id}`)
      await api('POST', `/api/v1/approvals/${id}/grant`, { comment: 'agreed <b>' })
      await until(() => statuses().length === 2, 'the commit shows the grant')
      const granted = statuses()[1]
      assert.ok(granted)
      assert.match(stateOf(granted), GOOD)
      assert.equal(lineOf(granted), 'Approved: agreed <b>')
      if (isApp) assert.equal(waits.kind, granted.kind, 'the check run is updated, not repeated')
    })

test('a denial is shown with its comment', async (t) => {
  const { merge, statuses, api } = await scene(t, PLATFORMS[0])
  const id = requestIn(await merge())
  await until(() => statuses().length === 1, 'the commit shows that it waits')
  await api('POST', `/api/v1/approvals/${id}/deny`, { comment: 'not before the freeze' })
  await until(() => statuses().length === 2, 'the commit shows the denial')
  assert.deepEqual(statuses().map(stateOf), ['pending', 'failure'])
  assert.equal(statuses().map(lineOf)[1], 'Denied: not before the freeze')
})

test('only held merges of a known commit become a task, each once, and a failing store may be asked again', async () => {
  const accepted: string[] = []
  let isDown = true
  const config = loadConfig({ environment: {}, value: { scm: { github: { token_file: import.meta.filename } } } })
  assert.ok(config.ok)
  const { scm } = config.value.config
  let url: string | null = null
  const note = noteHeldMerges({
    settings: () => ({ config: { scm, store: url === null ? {} : { url } } }),
    store: {
      webhooks: {
        accept: ({ task }) => {
          if (isDown) return Promise.reject(new Error('down'))
          accepted.push(task)
          return Promise.resolve(true)
        },
      },
    },
    logger: createLogger('silent'),
    now: () => 1,
  })
  const head = 'a'.repeat(40)
  const merge = { operation: 'merge', place: { repository: 'acme/pets', pull_request: '7' } }
  const derivation = (platform: 'scm_a' | 'scm_b') => ({
    source: 'scm_a_compare' as const,
    platform,
    base_sha: head,
    head_sha: head,
  })
  const held = { tenant: 'local', resource: merge, envelope: { derivation: derivation('scm_a') }, approvalId: 'apr_1' }
  await note(held)
  isDown = false
  await note(held)
  await note(held)
  assert.equal(accepted.length, 1)
  await note({ ...held, approvalId: 'apr_2', envelope: {} })
  await note({ ...held, approvalId: 'apr_3', resource: { ...merge, operation: 'deploy' } })
  await note({ ...held, approvalId: 'apr_4', envelope: { derivation: derivation('scm_b') } })
  url = 'https://hub.test'
  await note({ ...held, approvalId: 'apr_5' })
  assert.equal(accepted.length, 1, accepted.join())
})

test('a route that only observes holds nothing, and shows nothing', async (t) => {
  const { merge, server } = await scene(t, PLATFORMS[0], { mode: 'observe' })
  const answer = await merge()
  assert.notEqual(answer.status, 428)
  assert.deepEqual(server.shown, [])
})
