/** A protobuf contract of many files: a folder on disk or in a repository, as one text. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { isNewer, readContractSource } from '../../../gateway/documents/contract-source.ts'
import { loadConfig } from '../../../gateway/config/load.ts'
import { INLINE_TEXTS } from '../../fakes/contract-texts.ts'

const FILES = {
  'notes/v1/notes.proto': 'syntax = "proto3"; import "notes/v1/tags.proto";',
  'notes/v1/tags.proto': 'syntax = "proto3";',
}

function folder(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'preflight-protos-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

const TERMS = { repository: undefined, texts: INLINE_TEXTS }
const read = async (file: string): Promise<unknown> => JSON.parse(await readContractSource({ file }, TERMS))

test('a folder is its .proto files by the paths that imports have, in one order', async (t) => {
  const root = folder(t, { ...FILES, 'README.md': '', '.git/x.proto': '' })
  assert.deepEqual(await read(root), FILES)
  const other = folder(t, Object.fromEntries(Object.entries(FILES).toReversed()))
  assert.equal(await readContractSource({ file: root }, TERMS), await readContractSource({ file: other }, TERMS))
})

test('links to files are followed, as a ConfigMap is mounted', async (t) => {
  const root = folder(t, { '..2026_11_21/a.proto': 'syntax = "proto3";' })
  symlinkSync('..2026_11_21', join(root, '..data'))
  symlinkSync('..data/a.proto', join(root, 'a.proto'))
  assert.deepEqual(await read(root), { 'a.proto': 'syntax = "proto3";' })
})

test('a folder is as new as its newest file', async (t) => {
  const root = folder(t, FILES)
  const old = new Date(1_000_000)
  for (const path of [root, ...Object.keys(FILES).map((name) => join(root, name))]) utimesSync(path, old, old)
  assert.equal(await isNewer({ file: root }, 2_000_000, TERMS), false)
  utimesSync(join(root, 'notes/v1/tags.proto'), old, new Date(3_000_000))
  assert.equal(await isNewer({ file: root }, 2_000_000, TERMS), true)
})

test('a folder without such files is no contract', async (t) => {
  const root = folder(t, { 'README.md': '' })
  await assert.rejects(readContractSource({ file: root }, TERMS), /could not be read from .+; the log has the cause\.$/)
})

test('a folder at a ref of the repository', async (t) => {
  const repository = folder(t, {
    ...Object.fromEntries(Object.entries(FILES).map(([path, text]) => [`protos/${path}`, text])),
    'protos/README.md': '',
    'other/x.proto': '',
  })
  const as = ['-c', 'user.name=a', '-c', 'user.email=a@b']
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '.'],
    [...as, 'commit', '-q', '-m', 'all'],
  ])
    execFileSync('git', args, { cwd: repository })
  for (const path of ['protos', 'protos/'])
    assert.deepEqual(JSON.parse(await readContractSource({ git: `main:${path}` }, { ...TERMS, repository })), FILES)
  await assert.rejects(readContractSource({ git: 'main:nowhere' }, { ...TERMS, repository }), /could not be read from/)
})

test('only a grpc route can name a folder', (t) => {
  const root = folder(t, FILES)
  const problems = (protocol: string): string => {
    const contract = { current: { file: root } }
    const routes = [{ name: 'a', match: { path: '/' }, upstream: 'http://up.example', protocol, contract }]
    const loaded = loadConfig({ environment: {}, value: { routes } })
    return loaded.ok ? '' : loaded.problem.map(({ message }) => message).join('\n')
  }
  assert.equal(problems('grpc'), '')
  assert.match(problems('http'), /is not a file/)
})

test('a grpc route without a contract could not be judged', () => {
  const routes = [{ name: 'a', match: { path: '/' }, upstream: 'http://up.example', protocol: 'grpc' }]
  const loaded = loadConfig({ environment: {}, value: { routes } })
  assert.equal(loaded.ok, false)
  assert.match(JSON.stringify(loaded), /the grpc route \\"a\\" has no contract\.current/)
})
