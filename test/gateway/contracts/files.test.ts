/** A contract of several files as the source of a route: whole, from one state, and never from outside of where it may lead. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { contractOnDisk } from '../../../gateway/documents/contract-files.ts'
import { isNewer, readContractSource } from '../../../gateway/documents/contract-source.ts'
import { loadConfig } from '../../../gateway/config/load.ts'
import { GatewayError } from '../../../gateway/errors/errors.ts'
import { INLINE_TEXTS } from '../../fakes/contract-texts.ts'
import { startTestGateway } from '../../fakes/gateway.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { at, textAt } from '../../json.ts'

const ROOT = `openapi: 3.0.3
info: { title: shop, version: '1' }
paths:
  /pets: { $ref: 'parts/pets.yaml' }
  /toys:
    get: { responses: { '200': { description: good } } }
`
const PETS = `get:
  responses:
    '200':
      description: good
      content: { application/json: { schema: { $ref: '../schemas/pet%20all.yaml#/Pet' } } }
`
const pet = (...members: readonly string[]): string =>
  `Pet: { type: object, required: [${members.join(', ')}], properties: { ${members.map((name) => `${name}: { type: string }`).join(', ')} } }\n`

const FILES = {
  'api/openapi.yaml': ROOT,
  'api/parts/pets.yaml': PETS,
  'api/schemas/pet all.yaml': pet('id', 'name'),
}

function folder(t: TestContext, files: Readonly<Record<string, string>> = FILES): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'preflight-contract-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

function commit(root: string, tag: string): void {
  const git = (...args: readonly string[]): void => {
    const who = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' }
    const times = { GIT_AUTHOR_DATE: '2026-01-31T12:00:00Z', GIT_COMMITTER_DATE: '2026-01-31T12:00:00Z' }
    execFileSync('git', [...args], { cwd: root, env: { ...process.env, ...who, ...times } })
  }
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-q', '-m', 'contract')
  git('tag', tag)
}

const TERMS = { repository: undefined, texts: INLINE_TEXTS }

/** Why it could not be read, as the log says. */
async function reasonOf(reading: Promise<unknown>): Promise<string> {
  const [finished] = await Promise.allSettled([reading])
  assert.ok(finished.status === 'rejected' && finished.reason instanceof GatewayError)
  assert.equal(finished.reason.code, 'PREFLIGHT_UNDECIDED')
  return finished.reason.cause instanceof Error ? finished.reason.cause.message : ''
}

test('files that a contract names are part of it, on disk as at a ref, and the same files are the same text', async (t) => {
  const root = folder(t)
  commit(root, 'v1')
  const onDisk = await readContractSource({ file: join(root, 'api/openapi.yaml') }, TERMS)
  const inGit = await readContractSource({ git: 'v1:api/openapi.yaml' }, { ...TERMS, repository: root })
  const whole: unknown = JSON.parse(inGit)
  const files = at(whole, 'x-preflight-files')
  assert.deepEqual(Object.keys(files ?? {}), ['parts/pets.yaml', 'schemas/pet all.yaml'])
  assert.deepEqual(at(files, 'schemas/pet all.yaml', 'Pet', 'required'), ['id', 'name'])
  assert.equal(textAt(whole, 'paths', '/pets', '$ref'), `#/x-preflight-files/${encodeURIComponent('parts~1pets.yaml')}`)
  assert.equal(onDisk, inGit)
  const other = folder(t)
  assert.equal(await readContractSource({ file: join(other, 'api/openapi.yaml') }, TERMS), onDisk)
})

test('a contract of one file stays as it is, byte for byte', async (t) => {
  const text = 'openapi: 3.0.3\ninfo: {title: a, version: "1"}   # kept\npaths: {}\n'
  const root = folder(t, { 'openapi.yaml': text })
  assert.equal(await readContractSource({ file: join(root, 'openapi.yaml') }, TERMS), text)
})

test('references lead no further than the folder of the file, or the one that root names', async (t) => {
  const root = folder(t, {
    'api/openapi.yaml': ROOT.replace('parts/pets.yaml', '../shared/pets.yaml'),
    'shared/pets.yaml': "get: { responses: { '200': { description: good } } }\n",
  })
  const file = join(root, 'api/openapi.yaml')
  assert.match(
    await reasonOf(readContractSource({ file }, TERMS)),
    /shared\/pets\.yaml, outside of .*\/api: .* as root/,
  )
  const wider: unknown = JSON.parse(await readContractSource({ file, root }, TERMS))
  assert.deepEqual(Object.keys(at(wider, 'x-preflight-files') ?? {}), ['../shared/pets.yaml'])
  commit(root, 'v1')
  const inGit = await readContractSource({ git: 'v1:api/openapi.yaml' }, { ...TERMS, repository: root })
  assert.deepEqual(JSON.parse(inGit), wider)
  const above = folder(t, { 'openapi.yaml': ROOT.replace('parts/pets.yaml', '../pets.yaml') })
  commit(above, 'v1')
  assert.match(
    await reasonOf(readContractSource({ git: 'v1:openapi.yaml' }, { ...TERMS, repository: above })),
    /"\.\.\/pets\.yaml" is not a path inside the repository/,
  )
})

test('a document that names itself by its file is what it names', async (t) => {
  const text = ROOT.replace('parts/pets.yaml', 'openapi.yaml#/paths/~1toys')
  const whole: unknown = JSON.parse(
    await readContractSource({ file: join(folder(t, { 'openapi.yaml': text }), 'openapi.yaml') }, TERMS),
  )
  assert.equal(at(whole, 'paths', '/pets', '$ref'), '#/paths/~1toys')
})

test('files are not more together than is read of one contract', async (t) => {
  const root = folder(t)
  const file = join(root, 'api/openapi.yaml')
  const read = (maxBytes: number) => contractOnDisk({ file }, { texts: INLINE_TEXTS, maxBytes })
  assert.equal((await read(10_000)).ok, true)
  for (const maxBytes of [50, Buffer.byteLength(ROOT)]) {
    const cut = await read(maxBytes)
    assert.ok(!cut.ok)
    assert.equal(cut.problem.code, 'ARTIFACT_OVER_LIMIT')
  }
})

test('links are followed within the folder, as a ConfigMap is mounted, and not out of it', async (t) => {
  const root = folder(t, {
    'api/..data/openapi.yaml': ROOT,
    'api/..data/pets.yaml': "get: { responses: { '200': { description: good } } }\n",
    'secret.yaml': 'password: x\n',
  })
  symlinkSync('..data/openapi.yaml', join(root, 'api/openapi.yaml'))
  mkdirSync(join(root, 'api/parts'))
  symlinkSync('../..data/pets.yaml', join(root, 'api/parts/pets.yaml'))
  const file = join(root, 'api/openapi.yaml')
  assert.match(await readContractSource({ file }, TERMS), /x-preflight-files/)
  rmSync(join(root, 'api/parts/pets.yaml'))
  symlinkSync('../../secret.yaml', join(root, 'api/parts/pets.yaml'))
  assert.match(await reasonOf(readContractSource({ file }, TERMS)), /outside of/)
})

test('a part that is not there is left dangling, and one that cannot be read leaves no contract', async (t) => {
  const { 'api/schemas/pet all.yaml': _, ...without } = FILES
  const root = folder(t, without)
  const file = join(root, 'api/openapi.yaml')
  assert.match(await readContractSource({ file }, TERMS), /\.\.\/schemas\/pet%20all\.yaml#\/Pet/)
  writeFileSync(join(root, 'api/parts/pets.yaml'), 'get: [')
  assert.match(await reasonOf(readContractSource({ file }, TERMS)), /^parts\/pets\.yaml: /)
})

test('a contract is newer when any of its files is', async (t) => {
  const root = folder(t)
  commit(root, 'v1')
  const source = { file: join(root, 'api/openapi.yaml') }
  for (const path of Object.keys(FILES)) utimesSync(join(root, path), 1000, 1000)
  assert.equal(await isNewer(source, 1_500_000, TERMS), false)
  utimesSync(join(root, 'api/schemas/pet all.yaml'), 2000, 2000)
  assert.equal(await isNewer(source, 1_500_000, TERMS), true)
  const git = { git: 'main:api/openapi.yaml' }
  const committed = Date.parse('2026-01-31T12:00:00Z')
  assert.equal(await isNewer(git, committed - 1, { ...TERMS, repository: root }), true)
  assert.equal(await isNewer(git, committed, { ...TERMS, repository: root }), false)
})

const route = (contract: object) => ({
  name: 'shop',
  match: { path: '/' },
  upstream: 'http://127.0.0.1:9',
  protocol: 'http',
  contract,
})

const load = (source: object) => {
  const loaded = loadConfig({ environment: {}, value: { routes: [route({ baseline: source, current: source })] } })
  return loaded.ok ? [] : loaded.problem.map(({ path, message }) => `${path}: ${message}`)
}

test('a configuration whose root does not hold the file is refused', (t) => {
  const root = folder(t)
  assert.deepEqual(load({ file: join(root, 'api/openapi.yaml'), root }), [])
  assert.match(
    load({ file: join(root, 'api/openapi.yaml'), root: join(root, 'api/parts') }).join(),
    /root: .* is not in /,
  )
  assert.match(
    load({ file: join(root, 'api/openapi.yaml'), root: join(root, 'none') }).join(),
    /root: .* is not a folder/,
  )
})

test('what goes from a part stops the calls of the operation that it belongs to, and no others', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const root = folder(t)
  commit(root, 'v1')
  const gateway = await startTestGateway(t, {
    diff: { repository: root },
    routes: [
      {
        name: 'shop',
        match: { path: '/' },
        upstream: upstream.origin,
        protocol: 'http',
        contract: {
          baseline: { git: 'v1:api/openapi.yaml' },
          current: { file: join(root, 'api/openapi.yaml') },
          refresh: 0,
        },
      },
    ],
    monitoring: { sinks: [{ type: 'log' }] },
  })
  const status = async (path: string): Promise<number> => (await fetch(gateway.addresses.proxy + path)).status
  assert.equal(await status('/pets'), 200)
  writeFileSync(join(root, 'api/schemas/pet all.yaml'), pet('id'))
  assert.equal(await status('/pets'), 403)
  assert.equal(await status('/toys'), 200)
})
