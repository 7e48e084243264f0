/**
 * Arguments of calls that name very many files, or very long ones. Each name is read in many ways, so such a call is
 * refused before that. Without a bound each of these takes minutes or all memory.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, test } from 'node:test'
import { applyFileChange, guardTools, namedFiles, readFileChanges } from '../../engine/internal.ts'
import { startAgent, textOf } from '../fakes/agent.ts'
import { startTestGateway } from '../fakes/gateway.ts'
import { startStdioServer } from '../fakes/stdio-bridge.ts'

const LETTERS = 400_000
const many = (piece: string): string => piece.repeat(Math.ceil(LETTERS / piece.length))
const list = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `a/${index}`)

const EXCESSIVE: Readonly<Record<string, object>> = {
  'a path of folders': { path: `${many('a/')}x`, content: 'x' },
  'a path of slashes': { path: `${many('/')}x`, content: 'x' },
  'a path of escapes': { path: `${'%2f'.repeat(1300)}x`, content: 'x' },
  'a padded path': { path: `${many('./')}openapi.yaml`, old_string: 'a', new_string: 'b' },
  'the head of a patch': { patch: `--- ${many('a/')}x\n+++ ${many('a/')}x\n@@ -1 +1 @@\n-a\n+b\n`, content: 'x' },
  'heads of patches': { patch: Array.from({ length: 9000 }, (_, index) => `--- a/${index}\n`).join(''), text: '' },
  'a patch beside a content': { patch: list(LETTERS / 10).join(' '), path: 'a', content: 'x' },
  'very many files': { files: list(9000).map((path) => ({ path, content: '' })) },
  'paths in a list': { paths: list(9000), content: '' },
  'moves of each to each': { source: list(900), destination: list(900) },
  'moves by several names': { from: list(90), to: list(90), source: list(90), destination: list(90) },
  'a move of a long path': { source: `/${many('a/')}x`, destination: 'b' },
  'a patch of very many files': {
    patch: list(9000)
      .map((path) => `--- ${path}\n+++ ${path}\n@@ -1 +1 @@\n-a\n+b\n`)
      .join(''),
  },
}

describe('arguments with', { timeout: 60_000 }, () => {
  for (const [what, args] of Object.entries(EXCESSIVE)) {
    it(`${what} are more than can be looked at`, () => {
      assert.equal(readFileChanges(args, null).kind, 'excessive')
      void namedFiles(args)
    })

    it(`${what} run no guarded tool`, async () => {
      const { write } = guardTools(
        { write: (_args: object) => 'ran' },
        {
          operation: 'merge',
          readFile: () => Promise.resolve('openapi: 3.0.0'),
          preflight: () => Promise.reject(new Error('asked')),
          verify: () => Promise.reject(new Error('asked')),
          sha256: () => '',
          now: () => 0,
        },
      )
      assert.equal((await write(args)).executed, false)
    })
  }

  it('a patch of code that names few files are looked at', () => {
    const code = `${'x = y / z;'.repeat(40)}\n`.repeat(500) + Buffer.alloc(30_000, 'abcdefghij/').toString('base64')
    const read = readFileChanges({ patch: `*** Begin Patch\n*** Update File: src/a.ts\n${code}\n*** End Patch` }, null)
    assert.ok(read.kind === 'unclear' && read.paths.includes('src/a.ts'), read.kind)
  })

  it('a word in a patch that is padded with folders names its file', () => {
    const read = readFileChanges({ patch: `update ${'./'.repeat(9000)}openapi.yaml` }, null)
    assert.ok(read.kind === 'unclear' && read.paths.includes('openapi.yaml'), read.kind)
  })
})

test('a long patch of a long file is not followed', { timeout: 60_000 }, () => {
  const hunk = `@@ -1,20001 +1,20000 @@\n${' a\n'.repeat(20_000)}-b\n`
  const read = readFileChanges({ path: 'a', patch: `--- a\n+++ a\n${hunk}` }, null)
  const [change] = read.kind === 'changes' ? read.changes : []
  assert.ok(change)
  const applied = applyFileChange('a\n'.repeat(500_000), change)
  assert.match(applied.ok ? '' : applied.problem.message, /too long for a file of this length/)
})

test('a call whose names cannot be looked at is stopped', { timeout: 60_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-names-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const upstream = await startStdioServer(t, '@modelcontextprotocol/server-filesystem/dist/index.js', [folder])
  const route = { name: 'files', match: { path: '/files' }, upstream, protocol: 'mcp' }
  const gateway = await startTestGateway(t, { routes: [route] })
  const agent = await startAgent(`${gateway.addresses.proxy}/files`)
  t.after(() => agent.close())
  for (const [name, args] of [
    ['write_file', { path: `${folder}/${'./'.repeat(9000)}openapi.yaml`, content: 'x' }],
    ['move_file', { source: `${'/'.repeat(LETTERS)}x`, destination: 'b' }],
    ['move_file', { source: list(900), destination: list(900) }],
  ] as const)
    assert.match(textOf(await agent.client.callTool({ name, arguments: { ...args } })), /Preflight/, name)
})
