/** Calls that name a contract in another way than plainly: the guard and the proxy judge or refuse them, and never let them run unjudged. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  filePathReadings,
  furtherPaths,
  guardTools,
  readFileChanges,
  type GuardOptions,
} from '../../../engine/internal.ts'

const SPELLINGS = [
  'contracts/openapi.yaml',
  './contracts/openapi.yaml',
  'docs/../contracts/openapi.yaml',
  'contracts//openapi.yaml',
  'contracts/./openapi.yaml',
  'node_modules/../contracts/openapi.yaml',
  '/repo/contracts/openapi.yaml',
  '/repo/node_modules/../contracts/openapi.yaml',
  'file:///repo/contracts/openapi.yaml',
  'FILE:///repo/contracts/openapi.yaml',
  'File://localhost/repo/contracts/openapi.yaml',
  'contracts\\openapi.yaml',
  'docs\\..\\contracts\\openapi.yaml',
  'contracts/%6fpenapi.yaml',
  'docs/%2e%2e/contracts/openapi.yaml',
  'contracts/openapi.yaml ',
  'contracts/openapi.yaml.',
  'contracts/openapi.yaml::$DATA',
  'contracts/%256fpenapi.yaml',
  'C:contracts\\openapi.yaml',
  '~/contracts/openapi.yaml',
  '$PWD/contracts/openapi.yaml',
  '${workspaceFolder}/contracts/openapi.yaml',
  '%CD%\\contracts\\openapi.yaml',
  'contracts /openapi.yaml',
  'contracts./openapi.yaml.. .',
  '"contracts/openapi.yaml"',
  "'contracts/openapi.yaml'",
  '`contracts/openapi.yaml`',
  'contracts/openapi.yaml?raw=1',
  'file:///repo/contracts/openapi.yaml?version=1#L1',
  'contracts/openapi.yaml#L1',
  'contracts/openapi.yaml:1',
  'contracts/openapi.yaml:1:5',
  'contracts/op\u200Benapi.yaml',
  'contracts/\u202Eopenapi.yaml',
  'contracts/\uFF4Fpenapi.yaml',
  'contracts\uFF0Fopenapi.yaml',
  'contracts\u2215openapi.yaml',
  '\uFEFFcontracts/openapi.yaml',
  '\\\\?\\C:\\repo\\contracts\\openapi.yaml',
] as const

type Call = (path: string) => object
const CALLS: Readonly<Record<string, Call>> = {
  'a content': (path) => ({ path, content: 'x' }),
  'an edit': (path) => ({ path, old_string: 'a', new_string: 'b' }),
  'an insertion': (path) => ({ path, insert_line: 0, insert_text: 'x' }),
  'one of several files': (path) => ({
    files: [
      { path: 'README.md', content: '' },
      { path, content: 'x' },
    ],
  }),
  'a patch beside a path': (path) => ({ path, patch: '@@ -1 +1 @@\n-a\n+b\n' }),
  'a path in a list': (path) => ({ path: [path], content: 'x' }),
  'a list of paths': (path) => ({ paths: [path], content: 'x' }),
  'a second member': (path) => ({ path: 'README.md', file_path: path, content: 'x' }),
  'arguments around harmless ones': (path) => ({ args: { query: 'x' }, path, content: 'x' }),
  'arguments around those of another file': (path) => ({
    args: { path: 'README.md', content: '' },
    path,
    content: 'x',
  }),
  'arguments within harmless ones': (path) => ({ path: 'README.md', content: '', args: { path, content: 'x' } }),
  'a path within and a content around': (path) => ({ input: { path }, content: 'x' }),
  'arguments in a text': (path) => ({
    path: 'README.md',
    content: '',
    arguments: JSON.stringify({ path, content: 'x' }),
  }),
  'a content at a line': (path) => ({ path, content: 'x', start_line: 1, end_line: 2 }),
  'a content at the end': (path) => ({ path, content: 'x', mode: 'append' }),
  'a content that is appended': (path) => ({ path, content: 'x', append: true }),
  'an expression': (path) => ({ relative_path: path, regex: 'a.*', repl: 'b' }),
  'a text to find': (path) => ({ path, find: 'a', replace: 'b', all_occurrences: true }),
  'an edit by other names in a list': (path) => ({ files: [{ path, search: 'a', replace: 'b' }] }),
  'the target of a move': (path) => ({ source: 'README.md', destination: path }),
  'the source of a move': (path) => ({ source: path, destination: 'README.md' }),
  'a new name': (path) => ({ path: 'README.md', new_path: path }),
  'the target of a move by addresses': (path) => ({ oldUri: 'file:///README.md', newUri: path }),
  'a patch that names another file': (path) => ({
    path: 'README.md',
    patch: `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`,
  }),
  'a call around another one': (path) => ({
    type: 'tool_call',
    args: { path: 'README.md', content: '' },
    path,
    content: 'x',
  }),
}

const isContract = (path: string) => filePathReadings(path).some((one) => /(?:^|\/)contracts\/openapi\.yaml$/.test(one))

/** As the example of docs/guard.md has it. */
function options(judged: string[]): GuardOptions {
  return {
    operation: 'merge',
    root: '/repo',
    typeOf: (path) => (path.startsWith('contracts/') ? null : 'none'),
    readFile: (path) => {
      judged.push(path)
      return Promise.resolve('openapi: 3.0.0')
    },
    preflight: () => Promise.reject(new Error('asked')),
    verify: () => Promise.reject(new Error('asked')),
    sha256: () => '',
    now: () => 0,
  }
}

function namedIn(read: ReturnType<typeof readFileChanges>): readonly string[] {
  if (read.kind === 'none' || read.kind === 'excessive') return []
  if (read.kind === 'moved') return [read.from, read.to]
  return read.kind === 'unclear' ? read.paths : read.changes.map((one) => one.path)
}

for (const [what, call] of Object.entries(CALLS))
  describe(`a call with ${what}`, () => {
    for (const path of SPELLINGS) {
      it(`does not run for ${path} in the guard`, async () => {
        const { write } = guardTools({ write: (_args: object) => 'ran' }, options([]))
        assert.equal((await write(call(path))).executed, false)
      })

      it(`is looked at for ${path} by the proxy`, () => {
        const read = readFileChanges(call(path), null)
        const named = namedIn(read)
        assert.ok(named.some(isContract), JSON.stringify(read))
      })
    }
  })

const PATCHES: Readonly<Record<string, string>> = {
  'a folder that a tool takes off':
    '--- vendor/contracts/openapi.yaml\n+++ vendor/contracts/openapi.yaml\n@@ -1 +1 @@\n-a\n+b\n',
  'an index line': 'Index: contracts/openapi.yaml\n--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-a\n+b\n',
  'a move': 'rename to contracts/openapi.yaml\n--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-a\n+b\n',
}

describe('a patch', () => {
  for (const [what, patch] of Object.entries(PATCHES))
    it(`with ${what} has no single reading, and names the contract`, () => {
      const read = readFileChanges({ patch }, null)
      assert.equal(read.kind, 'unclear')
      assert.ok(read.kind === 'unclear' && read.paths.some(isContract))
    })
})

/** Calls that name the contract by a member that no list of members has, or from another folder. */
const FURTHER: Readonly<Record<string, (folder: string, name: string, path: string) => object>> = {
  'a working folder': (cwd, path) => ({ path, cwd, content: 'x' }),
  'a folder by an unknown name': (project, path) => ({ path, project, content: 'x' }),
  'a name in a folder': (path, name) => ({ path, name, content: 'x' }),
  'a second target': (_folder, _name, path) => ({ path: 'docs/a.md', output_path: path, content: 'x' }),
  'a member in capitals': (_folder, _name, path) => ({ path: 'docs/a.md', Path: path, content: 'x' }),
  'a member with a hyphen': (_folder, _name, path) => ({ path: 'docs/a.md', 'file-path': path, content: 'x' }),
  'a member of any name': (_folder, _name, path) => ({ path: 'docs/a.md', also: path, content: 'x' }),
  'a member in options': (_folder, _name, path) => ({ path: 'docs/a.md', options: { path }, content: 'x' }),
  'options in a text': (_folder, _name, path) => ({
    path: 'docs/a.md',
    options: JSON.stringify({ to: path }),
    content: 'x',
  }),
  'a list of changes': (_folder, _name, path) => ({ path: 'docs/a.md', content: 'x', changes: [{ path, to: 'y' }] }),
  'a table of files': (_folder, _name, path) => ({ path: 'docs/a.md', content: 'x', more: { [path]: 'y' } }),
  'a link': (_folder, _name, path) => ({ path: 'docs/a', link_target: `../${path}`, content: 'x' }),
  'an ending': (folder, name) => ({
    path: `${folder}/${name.split('.')[0]}`,
    suffix: `.${name.split('.')[1]}`,
    content: 'x',
  }),
  'a prototype': (_folder, _name, path) =>
    JSON.parse(`{"path":"docs/a.md","content":"x","__proto__":${JSON.stringify({ path })}}`),
}

/** Paths that lead into the root by what the process or a shell makes of them. */
const INTO_THE_ROOT: readonly string[] = [
  '/REPO/contracts/openapi.yaml',
  '../repo/contracts/openapi.yaml',
  'file:contracts/openapi.yaml',
  'file:/repo/contracts/openapi.yaml',
  'vscode-file://host/repo/contracts/openapi.yaml',
  '/proc/self/cwd/contracts/openapi.yaml',
  '/proc/1/root/repo/contracts/openapi.yaml',
  '/proc/self/task/1/cwd/contracts/openapi.yaml',
  '/proc/self/fd/3/contracts/openapi.yaml',
  '/proc/self/fd/3',
  '/dev/fd/3',
  '/private/repo/contracts/openapi.yaml',
  '/System/Volumes/Data/repo/contracts/openapi.yaml',
  '/mnt/c/repo/contracts/openapi.yaml',
  '/home/alice/link-to-repo/contracts/openapi.yaml',
  '../link-to-repo/contracts/openapi.yaml',
  '${HOME:-/repo}/contracts/openapi.yaml',
  '$(pwd)/contracts/openapi.yaml',
  '`pwd`/contracts/openapi.yaml',
]

function run(args: object) {
  return guardTools({ write: (_args: object) => 'ran' }, options([])).write(args)
}

describe('a call that names the contract besides its path', () => {
  for (const [what, call] of Object.entries(FURTHER))
    it(`does not run with ${what}`, async () => {
      assert.equal((await run(call('contracts', 'openapi.yaml', 'contracts/openapi.yaml'))).executed, false)
      assert.equal((await run(call('notes', 'today.yaml', 'notes/today.yaml'))).executed, true)
    })

  for (const path of INTO_THE_ROOT)
    it(`does not run for ${path}`, async () => {
      assert.equal((await run({ path, content: 'x' })).executed, false)
    })

  it('does not run with more texts than are looked at, nor with a place that is too long', async () => {
    const tags = Array.from({ length: 2000 }, (_, index) => `tag/${index}`)
    assert.equal((await run({ path: 'docs/a.md', content: 'x', tags })).executed, false)
    assert.equal((await run({ path: 'docs/a.md', content: 'x', target: 'a/'.repeat(100_000) })).executed, false)
    assert.equal((await run({ path: 'docs/a.md', content: 'x', note: 'a/'.repeat(100_000) })).executed, true)
  })

  it('finds no place in media types, versions, times, dates and addresses of people', () => {
    const texts = { mimeType: 'text/markdown', since: '1.2', at: '2026-01-01T00:00:00.000Z', on: '01/02/2026' }
    const args = { path: 'docs/a.md', content: 'x', ...texts, by: 'a@b.example' }
    assert.deepEqual(furtherPaths(args, ['docs/a.md'])?.named, [])
    assert.deepEqual(furtherPaths({ ...args, on: 'b.md' }, ['docs/a.md'])?.named, ['b.md'])
  })

  it('runs with members that say how', async () => {
    const how = { encoding: 'utf-8', mode: 'overwrite', create_dirs: true, description: 'see contracts/openapi.yaml' }
    assert.equal((await run({ path: 'docs/a.md', content: 'contracts/openapi.yaml', ...how })).executed, true)
    assert.equal((await run({ path: 'docs/a.md', content: 'x', cwd: '/repo' })).executed, true)
    assert.equal((await run({ path: '/tmp/notes.md', content: 'x' })).executed, true)
    assert.equal(
      (await run({ path: '/repo/docs/a.md', content: 'x', url: 'https://a.example/contracts/openapi.yaml' })).executed,
      true,
    )
  })
})

function rawTool() {
  const ran: unknown[] = []
  const run = (args: unknown) => ran.push(args)
  return {
    ran,
    tool: {
      name: 'write',
      execute: run,
      lc_kwargs: { func: run },
      inner: { deep: { invoke: run } },
      list: [{ run }],
    },
  }
}

describe('a guarded tool', () => {
  const bad = { path: 'contracts/openapi.yaml', content: 'x' }

  it('shows what runs it in no other way', async () => {
    const { ran, tool } = rawTool()
    const { write } = guardTools({ write: tool }, options([]))
    const ways: readonly unknown[] = [
      Object.getOwnPropertyDescriptor(write, 'execute')?.value,
      Object.values(write)[1],
      { ...write }.execute,
      write.lc_kwargs.func,
      Object.getOwnPropertyDescriptor(write.lc_kwargs, 'func')?.value,
      write.inner.deep.invoke,
      write.list[0]?.run,
    ]
    for (const way of ways) {
      assert.equal(typeof way, 'function')
      if (typeof way === 'function') await Reflect.apply(way, write, [bad])
    }
    assert.deepEqual(ran, [])
  })

  it('takes no other member in its place', () => {
    const { tool } = rawTool()
    const tools = guardTools({ write: tool }, options([]))
    assert.ok(Object.isFrozen(tools))
    for (const change of [
      () => Reflect.set(tools.write, 'execute', () => 'ran'),
      () => Reflect.defineProperty(tools.write, 'execute', { value: () => 'ran' }),
      () => Reflect.deleteProperty(tools.write, 'execute'),
      () => Reflect.setPrototypeOf(tools.write, null),
    ])
      assert.equal(change(), false)
  })

  it('runs with a copy of the judged arguments', async () => {
    const ran: unknown[] = []
    const given = { path: 'README.md', content: 'x' }
    const { write } = guardTools({ write: (args: object) => ran.push(args) }, options([]))
    const running = write(given)
    given.path = 'contracts/openapi.yaml'
    await running
    assert.deepEqual(ran, [{ path: 'README.md', content: 'x' }])
  })

  it('reads each member once, and accepts only plain data', async () => {
    const ran: unknown[] = []
    const { write } = guardTools({ write: (args: object) => ran.push(args) }, options([]))
    let reads = 0
    const turning = {
      content: 'x',
      get path() {
        reads += 1
        return reads === 1 ? 'README.md' : 'contracts/openapi.yaml'
      },
    }
    await write(turning)
    assert.deepEqual(ran, [{ content: 'x', path: 'README.md' }])
    class Odd {
      readonly path = 'README.md'
      readonly content = 'x'
    }
    assert.equal((await write(new Odd())).executed, false)
  })
})
