/** Reports at commits: the form of each platform, the credential that writes them, and what is updated in place. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { DEFAULT_DOCUMENT_LIMITS, readJson } from '../../../engine/internal.ts'
import { loadConfig } from '../../../gateway/config/load.ts'
import { createScmAccess, type ScmAccess } from '../../../gateway/scm/access.ts'
import type { CommitReport } from '../../../gateway/scm/commit-report.ts'
import { startBitbucket } from '../../fakes/bitbucket-server.ts'
import { startGithub } from '../../fakes/github-server.ts'
import { startGitlab } from '../../fakes/gitlab-server.ts'
import { openapi } from '../../fakes/scm-client.ts'
import { FakeRepository } from '../../fakes/scm-repository.ts'
import { SCM_TOKEN, type ScmServer } from '../../fakes/scm-server.ts'
import { at } from '../../json.ts'

const PLATFORMS = [
  { platform: 'scm_a', name: 'github', prefix: '', start: (one: FakeRepository) => startGithub(one) },
  { platform: 'scm_b', name: 'gitlab', prefix: '/api/v4', start: (one: FakeRepository) => startGitlab(one) },
  { platform: 'scm_c', name: 'bitbucket', prefix: '/2.0', start: startBitbucket },
] as const

function accessOf(scm: object): ScmAccess {
  const loaded = loadConfig({ environment: {}, value: { scm } })
  assert.ok(loaded.ok)
  const { config } = loaded.value
  const flow = {
    readJson: (bytes: Uint8Array) =>
      Promise.resolve(readJson(Buffer.from(bytes).toString('utf8'), DEFAULT_DOCUMENT_LIMITS)),
  }
  return createScmAccess({ settings: () => ({ config }), flow, now: Date.now })
}

const REPORT: CommitReport = {
  name: 'preflight/merge',
  state: 'failure',
  title: 'Blocked: GET /toys was removed',
  summary: 'One breaking change.',
  url: 'https://preflight.test/console/decisions/dec_1',
  annotations: [
    { path: 'openapi.yaml', line: 3, level: 'failure', title: 'path-removed', message: 'GET /toys was removed' },
  ],
}

interface Scene {
  readonly access: ScmAccess
  readonly server: ScmServer
  readonly head: string
}

function folder(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-report-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

async function scene(t: TestContext, { name, prefix, start }: (typeof PLATFORMS)[number]): Promise<Scene> {
  const file = join(folder(t), 'token')
  writeFileSync(file, `${SCM_TOKEN}\n`)
  const repository = new FakeRepository('acme/pets', { 'openapi.yaml': openapi('/pets') })
  const server = await start(repository)
  t.after(() => server.close())
  const access = accessOf({ [name]: { api: server.origin + prefix, token_file: file } })
  return { access, server, head: repository.tip('main') }
}

const placeOf = (commit: string, shown: string | null = null) => ({
  commit,
  page: 'https://forge.test/acme/pets/7',
  pipeline: null,
  shown,
})

const STATES = {
  github: { pending: 'pending', held: 'pending', success: 'success', failure: 'failure' },
  gitlab: { pending: 'pending', held: 'pending', success: 'success', failure: 'failed' },
  bitbucket: { pending: 'INPROGRESS', held: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED' },
} as const

for (const platform of PLATFORMS) {
  const address = { platform: platform.platform, repository: 'acme/pets' }

  test(`${platform.name}: a configured token shows a status in each state, with a link`, async (t) => {
    const { access, server, head } = await scene(t, platform)
    for (const state of ['pending', 'success', 'failure', 'held'] as const)
      assert.equal(await access.publish(address, placeOf(head), { ...REPORT, state }), null)
    const statuses = server.shown.filter(({ kind }) => kind === 'status')
    const states = STATES[platform.name]
    assert.deepEqual(
      statuses.map(({ commit, body }) => [commit, at(body, 'state')]),
      [states.pending, states.success, states.failure, states.held].map((state) => [head, state]),
    )
    const [{ body } = { body: null }] = statuses
    assert.equal(at(body, 'target_url') ?? at(body, 'url'), REPORT.url)
    assert.equal(at(body, 'description'), REPORT.title)
  })

  test(`${platform.name}: the same report twice is not an error, and a long title is cut`, async (t) => {
    const { access, server, head } = await scene(t, platform)
    const report = { ...REPORT, title: 'x'.repeat(500), url: null }
    await access.publish(address, placeOf(head), report)
    await access.publish(address, placeOf(head), report)
    const status = server.shown.find(({ kind }) => kind === 'status')
    assert.match(String(at(status?.body, 'description')), /^x+…$/)
  })

  test(`${platform.name}: a credential that may not write is reported in the platform's words`, async (t) => {
    const { access, server, head } = await scene(t, platform)
    server.fault = () => ({ status: 403, body: { message: 'Resource not accessible', error: { message: 'no' } } })
    await assert.rejects(access.publish(address, placeOf(head), REPORT), /answered 403: /)
  })
}

test('Bitbucket gets a report with its annotations beside the status', async (t) => {
  const [, , bitbucket] = PLATFORMS
  const { access, server, head } = await scene(t, bitbucket)
  await access.publish({ platform: 'scm_c', repository: 'acme/pets' }, placeOf(head), { ...REPORT, url: null })
  assert.deepEqual(
    server.shown.map(({ kind }) => kind),
    ['report', 'annotations', 'status'],
  )
  const [report, annotations, status] = server.shown
  assert.match(String(at(report?.body, 'details')), /^Blocked: GET \/toys was removed\n\nOne breaking change\.$/)
  assert.deepEqual([at(annotations?.body, 0, 'path'), at(annotations?.body, 0, 'line')], ['openapi.yaml', 3])
  assert.equal(at(status?.body, 'url'), 'https://forge.test/acme/pets/7', 'a status needs an address')
})

test('a GitHub App writes check runs with a token for checks only, updates them, and sends annotations in batches', async (t) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const file = join(folder(t), 'app.pem')
  writeFileSync(file, privateKey.export({ type: 'pkcs1', format: 'pem' }))
  const repository = new FakeRepository('acme/pets', { 'openapi.yaml': openapi('/pets') })
  const server = await startGithub(repository, { tokens: ['Bearer installation-token'] })
  t.after(() => server.close())
  const asked: unknown[] = []
  server.fault = ({ method, path, body }) => {
    if (path.endsWith('/installation')) return { body: { id: 99 } }
    if (method !== 'POST' || path !== '/app/installations/99/access_tokens') return null
    asked.push(JSON.parse(body))
    const end = new Date(Date.now() + 3_600_000).toISOString()
    return { status: 201, body: { token: 'installation-token', expires_at: end } }
  }
  const app = { id: 'Iv1.app', key_file: file }
  const access = accessOf({ github: { api: server.origin, app } })
  const address = { platform: 'scm_a', repository: 'acme/pets' } as const
  const head = repository.tip('main')
  const shown = await access.publish(address, placeOf(head), { ...REPORT, state: 'pending', annotations: [] })
  assert.equal(shown, '1')
  const annotations = Array.from({ length: 120 }, (_, index) => ({
    path: 'openapi.yaml',
    line: index + 1,
    level: 'failure' as const,
    title: 'path-removed',
    message: `path ${index} was removed`,
  }))
  assert.equal(await access.publish(address, placeOf(head, shown), { ...REPORT, state: 'held', annotations }), '1')
  assert.deepEqual(asked, [{ repositories: ['pets'], permissions: { checks: 'write' } }])
  assert.deepEqual(
    server.shown.map(({ kind, body }) => [kind, at(body, 'status') ?? null, at(body, 'conclusion') ?? null]),
    [
      ['check-run 1', 'in_progress', null],
      ['check-run 1', 'completed', 'action_required'],
      ['check-run 1', null, null],
      ['check-run 1', null, null],
    ],
  )
  const counts = server.shown.map(({ body }) => Object(at(body, 'output', 'annotations')).length)
  assert.deepEqual(counts, [0, 50, 50, 20])
})
