/** Files beside a document, by the API and the command line: judged, part of the identity, kept for a replay, and named in what is refused. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { changeSetDigests, compilePolicy, type Artifact } from '../../../engine/internal.ts'
import { replay } from '../../../gateway/flow/replay.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { run } from '../../fakes/command-io.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { at, listAt, numberAt, textAt } from '../../json.ts'

const ROOT = JSON.stringify({
  openapi: '3.0.3',
  info: { title: 'shop', version: '1' },
  paths: { '/pets': { $ref: './parts/pets.yaml' } },
})
const PETS =
  "get: { responses: { '200': { description: all } } }\npost: { responses: { '201': { description: made } } }\n"
const WITHOUT_POST = "get: { responses: { '200': { description: all } } }\n"
const FILES = { 'parts/pets.yaml': { before: PETS, after: WITHOUT_POST } }

const ARTIFACT = { id: 'shop', type: 'openapi', before: ROOT, after: ROOT }

async function started(t: TestContext, options: Parameters<typeof startApi>[0] = {}): Promise<ApiFake> {
  const api = await startApi(options)
  t.after(() => api.close())
  return api
}

const authorize = (api: ApiFake, artifact: object, more: object = {}) =>
  api.post('/api/v1/preflight', {
    preflight_mode: 'authorize',
    artifacts: [artifact],
    context: { operation: 'merge' },
    ...more,
  })

test('a preflight judges the files, and without them it is not complete', async (t) => {
  const api = await started(t)
  const missing = await authorize(api, ARTIFACT)
  assert.equal(at(missing.body, 'decision_result', 'analysis_complete'), false)
  assert.notEqual(at(missing.body, 'decision'), 'ALLOW')
  const same = await authorize(api, { ...ARTIFACT, files: { 'parts/pets.yaml': PETS } })
  assert.equal(at(same.body, 'decision_result', 'analysis_complete'), true)
  assert.equal(at(same.body, 'decision'), 'ALLOW')
  const broken = await authorize(api, { ...ARTIFACT, files: FILES })
  assert.ok(numberAt(broken.body, 'breaking_changes') > 0)
  assert.deepEqual(at(broken.body, 'ignored') ?? [], [])
})

test('the fingerprint and the digest of a decision are those of the whole request', async (t) => {
  const api = await started(t)
  for (const files of [FILES, { 'parts/pets.yaml': PETS }]) {
    const { body } = await authorize(api, { ...ARTIFACT, files })
    const own: Artifact = { id: 'shop', type: 'openapi', before: ROOT, after: ROOT, files }
    const digests = changeSetDigests([own], sha256Hex)
    assert.equal(at(body, 'decision_result', 'input_fingerprint'), digests.inputFingerprint)
    assert.equal(at(body, 'decision_result', 'artifact_digest'), digests.artifactDigest)
  }
})

test('another file under the same idempotency key is another request', async (t) => {
  const api = await started(t)
  const key = { idempotency_key: 'one' }
  assert.equal((await authorize(api, { ...ARTIFACT, files: FILES }, key)).status, 200)
  assert.equal((await authorize(api, { ...ARTIFACT, files: FILES }, key)).status, 200)
  assert.equal((await authorize(api, { ...ARTIFACT, files: { 'parts/pets.yaml': PETS } }, key)).status, 409)
})

test('a decision about files can be made again from what was kept', async (t) => {
  const api = await started(t)
  const { body } = await authorize(api, {
    ...ARTIFACT,
    path: 'api/shop.json',
    files: { './parts/pets.yaml': FILES['parts/pets.yaml'] },
  })
  await api.inputs.close()
  const row = await api.store.decisions.byId('local', textAt(body, 'decision_result', 'decision_id'))
  assert.ok(row !== null)
  const policy = compilePolicy(
    {
      apiVersion: 'preflight.dev/v1',
      kind: 'Policy',
      metadata: { name: 'p' },
      rules: [{ id: 'b', when: "finding.level == 'breaking'", then: 'BLOCK' }],
    },
    sha256Hex,
  )
  assert.ok(policy.ok)
  const again = await replay({ ...row, policyHash: null }, { policy: policy.value, flow: api.flow, store: api.store })
  assert.ok(again.ok, again.ok ? '' : again.problem)
  assert.equal(again.value.decision, 'BLOCK')
  assert.equal(again.value.breaking_changes, numberAt(body, 'breaking_changes'))
})

const REFUSED: readonly {
  readonly what: string
  readonly artifact: object
  readonly pointer: string
  readonly message: RegExp
}[] = [
  { what: 'a list', artifact: { files: [] }, pointer: '/artifacts/0/files', message: /must be object/ },
  { what: 'a number for a text', artifact: { files: { a: 1 } }, pointer: '/artifacts/0/files/a', message: /must be/ },
  {
    what: 'a number behind a line break',
    artifact: { files: { 'a\u2028b': 1 } },
    pointer: '/artifacts/0/files/a\u2028b',
    message: /must be/,
  },
  {
    what: 'an absolute path',
    artifact: { files: { '/a': '' } },
    pointer: '/artifacts/0/files/~1a',
    message: /not a name of a file/,
  },
  { what: 'no text', artifact: { files: { a: {} } }, pointer: '/artifacts/0/files/a', message: /has no text/ },
  {
    what: 'a misspelt side',
    artifact: { files: { a: { befor: 'x', after: '' } } },
    pointer: '/artifacts/0/files/a/befor',
    message: /did you mean "before"/,
  },
  {
    what: 'one file twice',
    artifact: { files: { 'a.yaml': 'x', './a.yaml': 'y' } },
    pointer: '/artifacts/0/files/.~1a.yaml',
    message: /is the same file as "a\.yaml"/,
  },
  {
    what: 'a type without references',
    artifact: { type: 'graphql', files: { a: 'x' } },
    pointer: '/artifacts/0/files',
    message: /not taken for the type graphql/,
  },
  {
    what: 'too many',
    artifact: { files: Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`f${index}`, ''])) },
    pointer: '/artifacts/0/files',
    message: /1000/,
  },
]

for (const { what, artifact, pointer, message: says } of REFUSED)
  test(`files are refused at their place: ${what}`, async (t) => {
    const api = await started(t)
    const { status, body } = await authorize(api, { ...ARTIFACT, ...artifact })
    assert.equal(status, 400, JSON.stringify(body))
    const detail = listAt(body, 'details').find((one) => at(one, 'pointer') === pointer)
    assert.match(textAt(detail ?? {}, 'message'), says, JSON.stringify(body))
  })

test('a diff takes files of inline documents', async (t) => {
  const api = await started(t)
  const missing = await api.post('/api/diff', { base: ROOT, head: ROOT })
  assert.equal(at(missing.body, 'summary', 'analysis_complete'), false)
  const { status, body } = await api.post('/api/diff', { base: ROOT, head: ROOT, files: FILES })
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(at(body, 'summary', 'analysis_complete'), true)
  assert.ok(numberAt(body, 'summary', 'breaking') > 0)
  const bad = await api.post('/api/diff', { base: ROOT, head: ROOT, files: { '/x': 'y' } })
  assert.equal(bad.status, 400)
  assert.equal(textAt(bad.body, 'details', 0, 'pointer'), '/files/~1x')
})

test('the command line sends the files that a document names, from a folder and from an address', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-files-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [side, pets] of [
    ['old', PETS],
    ['new', WITHOUT_POST],
  ] as const) {
    mkdirSync(join(folder, side, 'parts'), { recursive: true })
    writeFileSync(join(folder, side, 'shop.json'), ROOT)
    writeFileSync(join(folder, side, 'parts/pets.yaml'), pets)
  }
  const [before, after] = [join(folder, 'old/shop.json'), join(folder, 'new/shop.json')]
  const local = await run(['preflight', before, after, '--mode', 'analyze', '--local', '--format', 'json'])
  assert.equal(local.code, 1, local.stderr)
  const answer: unknown = JSON.parse(local.stdout)
  assert.equal(at(answer, 'analysis_complete'), true)
  assert.ok(numberAt(answer, 'breaking_changes') > 0)
  const site = await startHttpUpstream((request, response) => {
    const texts: Readonly<Record<string, string>> = {
      '/v1/shop.json': ROOT,
      '/v1/parts/pets.yaml': PETS,
      '/v2/shop.json': ROOT,
      '/v2/parts/pets.yaml': WITHOUT_POST,
    }
    const text = texts[request.url ?? '']
    if (request.url === '/latest') response.writeHead(302, { location: '/v2/shop.json' }).end()
    else response.writeHead(text === undefined ? 404 : 200).end(text)
  })
  t.after(() => site.close())
  for (const head of ['v2/shop.json', 'latest']) {
    const compared = await run(['diff', `${site.origin}/v1/shop.json`, `${site.origin}/${head}`, '--format', 'json'])
    assert.equal(compared.code, 1, compared.stderr)
    assert.equal(at(JSON.parse(compared.stdout), 'summary', 'analysis_complete'), true)
  }
})
