/** Tools that change contract files: official clients, a published server of files, the real engine. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import { startAgent, textOf, type Agent } from '../../fakes/agent.ts'
import { startTestGateway } from '../../fakes/gateway.ts'
import { startMcpUpstream, type Generation, type McpUpstream } from '../../fakes/mcp-upstream.ts'
import { startStdioServer } from '../../fakes/stdio-bridge.ts'

const API = `openapi: 3.0.3
info: { title: pets, version: 1.0.0 }
paths:
  /pets:
    get:
      operationId: listPets
      responses: { '200': { description: The pets. } }
  /owners:
    get:
      operationId: listOwners
      responses: { '200': { description: The owners. } }
`
const OWNERS = API.slice(API.indexOf('  /owners:'))
const WITHOUT_OWNERS = API.replace(OWNERS, '')

interface Files {
  readonly agent: Agent
  readonly path: (name: string) => string
  readonly text: (name: string) => string
}

/** The published server on a folder that holds one contract and one other file. */
async function files(t: TestContext, edits: object = {}, config: object = {}): Promise<Files> {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-edits-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'openapi.yaml'), API)
  writeFileSync(join(folder, 'settings.json'), '{"colour":"red"}')
  const upstream = await startStdioServer(t, '@modelcontextprotocol/server-filesystem/dist/index.js', [folder])
  const agent = await startAgent(await routeTo(t, upstream, edits, config))
  t.after(() => agent.close())
  return { agent, path: (name) => join(folder, name), text: (name) => readFileSync(join(folder, name), 'utf8') }
}

async function routeTo(t: TestContext, upstream: string, edits: object, config: object = {}): Promise<string> {
  const route = { name: 'files', match: { path: '/files' }, upstream, protocol: 'mcp', edits }
  const gateway = await startTestGateway(t, { routes: [route], ...config })
  return `${gateway.addresses.proxy}/files`
}

const isStopped = (result: { readonly isError?: boolean | undefined }): boolean => result.isError === true

test('an edit that takes an operation away is stopped with the finding, and the file stays', async (t) => {
  const { agent, path, text } = await files(t)
  const edits = [{ oldText: OWNERS, newText: '' }]
  const result = await agent.client.callTool({ name: 'edit_file', arguments: { path: path('openapi.yaml'), edits } })
  assert.match(textOf(result), /REMOVED_WITHOUT_DEPRECATION/)
  assert.equal(text('openapi.yaml'), API)
})

test('a glob from the root of a repository selects a file by its absolute path', async (t) => {
  const { agent, path, text } = await files(t, {}, { scm: { contracts: { globs: ['openapi.yaml'] } } })
  const edits = [{ oldText: OWNERS, newText: '' }]
  const result = await agent.client.callTool({ name: 'edit_file', arguments: { path: path('openapi.yaml'), edits } })
  assert.match(textOf(result), /REMOVED_WITHOUT_DEPRECATION/)
  assert.equal(text('openapi.yaml'), API)
})

test('an edit that breaks nothing is made', async (t) => {
  const { agent, path, text } = await files(t)
  const edits = [{ oldText: 'title: pets', newText: 'title: Pets' }]
  const result = await agent.client.callTool({ name: 'edit_file', arguments: { path: path('openapi.yaml'), edits } })
  assert.equal(isStopped(result), false, textOf(result))
  assert.match(text('openapi.yaml'), /title: Pets/)
})

test('a whole new content is compared with the file that the server holds', async (t) => {
  const { agent, path, text } = await files(t)
  const write = (content: string) =>
    agent.client.callTool({ name: 'write_file', arguments: { path: path('openapi.yaml'), content } })
  assert.match(textOf(await write(WITHOUT_OWNERS)), /PREFLIGHT_STOP|REMOVED/)
  assert.match(textOf(await write('')), /REMOVED/)
  assert.match(textOf(await write('hello: [')), /Preflight/i)
  assert.equal(text('openapi.yaml'), API)
  assert.equal(isStopped(await write(API.replace('1.0.0', '1.0.1'))), false)
  assert.match(text('openapi.yaml'), /1\.0\.1/)
})

test('a path that some readers take for the contract is not a new file', async (t) => {
  const { agent, path, text } = await files(t)
  for (const name of ['openapi.yaml#L1', 'openapi.yaml:3:1', 'openapi%2eyaml', 'openapi.yaml.', 'openapi.yaml?raw=1']) {
    const written = { path: path(name), content: WITHOUT_OWNERS }
    const result = await agent.client.callTool({ name: 'write_file', arguments: written })
    assert.match(textOf(result), /GUARD_CALL_UNRECOGNISED/, name)
    assert.throws(() => text(name))
  }
})

test('a file that takes the place of the contract is judged as its new content, and the file stays', async (t) => {
  const { agent, path, text } = await files(t)
  const run = (name: string, args: object) => agent.client.callTool({ name, arguments: { ...args } })
  await run('write_file', { path: path('draft.txt'), content: WITHOUT_OWNERS })
  const moved = await run('move_file', { source: path('draft.txt'), destination: path('openapi.yaml') })
  assert.match(textOf(moved), /REMOVED_WITHOUT_DEPRECATION/)
  assert.equal(text('openapi.yaml'), API)
})

test('a contract that is moved away is judged as removed; other files are moved', async (t) => {
  const { agent, path, text } = await files(t)
  const move = (source: string, destination: string) =>
    agent.client.callTool({ name: 'move_file', arguments: { source: path(source), destination: path(destination) } })
  assert.match(textOf(await move('openapi.yaml', 'gone.txt')), /REMOVED/)
  assert.equal(text('openapi.yaml'), API)
  assert.equal(isStopped(await move('settings.json', 'colours.json')), false)
  assert.equal(text('colours.json'), '{"colour":"red"}')
})

test('a folder is moved unless a contract in it goes, at any depth', async (t) => {
  const { agent, path, text } = await files(t)
  const call = (name: string, args: object) => agent.client.callTool({ name, arguments: { ...args } })
  const move = (source: string, destination: string) =>
    call('move_file', { source: path(source), destination: path(destination) })
  for (const folder of ['docs', 'services', 'services/v1.2', 'services/v1.2/api'])
    await call('create_directory', { path: path(folder) })
  await call('write_file', { path: path('docs/read-me.txt'), content: 'read me' })
  await call('write_file', { path: path('services/v1.2/api/openapi.yaml'), content: API })
  for (const [from, to] of [
    ['services', 'gone'],
    ['services/', 'gone'],
    ['services/v1.2', 'gone'],
    ['services/v1.2/api', 'services/v1.2/other.d'],
  ] as const) {
    assert.match(textOf(await move(from, to)), /REMOVED/, from)
    assert.equal(text('services/v1.2/api/openapi.yaml'), API)
  }
  const moved = await move('docs', 'guides')
  assert.equal(isStopped(moved), false, textOf(moved))
  assert.equal(text('guides/read-me.txt'), 'read me')
})

test('files that are no contract, and contracts that are new, are written', async (t) => {
  const { agent, path, text } = await files(t)
  for (const [name, content] of [
    ['settings.json', '{"colour":"blue"}'],
    ['notes.txt', 'a note'],
    ['new.yaml', API],
  ] as const) {
    const result = await agent.client.callTool({ name: 'write_file', arguments: { path: path(name), content } })
    assert.equal(isStopped(result), false, textOf(result))
    assert.equal(text(name), content)
  }
})

test('an edit of a text that is not there in one place is stopped: nobody can tell what would come of it', async (t) => {
  const { agent, path } = await files(t)
  const edits = [{ oldText: 'responses:', newText: 'answers:' }]
  const result = await agent.client.callTool({ name: 'edit_file', arguments: { path: path('openapi.yaml'), edits } })
  assert.match(textOf(result), /GUARD_CALL_UNRECOGNISED/)
})

test('arguments that a tool does not declare cannot lead the reading astray', async (t) => {
  const { agent, path, text } = await files(t)
  const disguised = { path: path('openapi.yaml'), content: WITHOUT_OWNERS, insert_line: 0 }
  const result = await agent.client.callTool({ name: 'write_file', arguments: disguised })
  assert.match(textOf(result), /GUARD_CALL_UNRECOGNISED/)
  assert.equal(text('openapi.yaml'), API)
})

test('changes by tools are left alone where the route says so', async (t) => {
  const { agent, path, text } = await files(t, { judge: false })
  await agent.client.callTool({ name: 'write_file', arguments: { path: path('openapi.yaml'), content: '' } })
  assert.equal(text('openapi.yaml'), '')
})

/** A server whose tools keep one file in memory. */
async function editor(
  t: TestContext,
  generation: Generation,
  options: { readonly reader?: string; readonly areFolders?: boolean; readonly edits?: object } = {},
): Promise<{ readonly agent: Agent; readonly upstream: McpUpstream }> {
  const answer = (name: string): CallToolResult => {
    if (name !== options.reader) return { content: [{ type: 'text', text: 'done' }] }
    const text = options.areFolders === true ? 'EISDIR: illegal operation on a directory, read' : API
    return { isError: options.areFolders === true, content: [{ type: 'text', text }] }
  }
  const upstream = await startMcpUpstream({ generation, answer })
  t.after(() => upstream.close())
  const words = { type: 'string' } as const
  const plain = (name: string, ...members: readonly string[]): Tool => ({
    name,
    inputSchema: { type: 'object', properties: Object.fromEntries(members.map((member) => [member, words])) },
  })
  upstream.tools = [
    plain('str_replace_based_edit_tool', 'command', 'path', 'old_str', 'new_str', 'file_text', 'insert_line'),
    plain('apply_patch', 'patch'),
    plain('push_files', 'owner', 'repo', 'branch', 'files', 'message'),
    plain('save', 'where', 'what'),
    plain('delete_file', 'owner', 'repo', 'path', 'message'),
    plain('modify_file', 'path', 'find', 'replace'),
    plain('append_file', 'path', 'content', 'mode'),
    plain('copy_file', 'source', 'destination'),
    plain('delete_directory', 'path'),
    plain('move_card', 'source', 'destination'),
    ...(options.reader === undefined ? [] : [plain(options.reader, 'path')]),
  ]
  const url = await routeTo(t, upstream.url, options.edits ?? {})
  const agent = await startAgent(url, generation === '2026-07-28' ? { pin: '2026-07-28' } : 'legacy')
  t.after(() => agent.close())
  return { agent, upstream }
}

const PATCH = `--- a/api/openapi.yaml
+++ b/api/openapi.yaml
@@ -6,6 +6,2 @@
       operationId: listPets
       responses: { '200': { description: The pets. } }
-  /owners:
-    get:
-      operationId: listOwners
-      responses: { '200': { description: The owners. } }
`

const CHANGES: Readonly<Record<string, readonly [tool: string, args: Readonly<Record<string, unknown>>]>> = {
  'a replacement by a text editor': [
    'str_replace_based_edit_tool',
    { command: 'str_replace', path: '/repo/openapi.yaml', old_str: OWNERS, new_str: '' },
  ],
  'a file made anew by a text editor': [
    'str_replace_based_edit_tool',
    { command: 'create', path: '/repo/openapi.yaml', file_text: WITHOUT_OWNERS },
  ],
  'a unified diff': ['apply_patch', { patch: PATCH }],
  'one of several files': [
    'push_files',
    {
      owner: 'o',
      repo: 'r',
      branch: 'main',
      message: 'm',
      files: [
        { path: 'README.md', content: 'read me' },
        { path: 'openapi.yaml', content: WITHOUT_OWNERS },
      ],
    },
  ],
}

for (const generation of ['sessions', '2026-07-28'] as const) {
  for (const [what, [name, args]] of Object.entries(CHANGES)) {
    test(`${what} that takes an operation away is stopped (${generation})`, async (t) => {
      const { agent, upstream } = await editor(t, generation, { reader: 'read_file' })
      const result = await agent.client.callTool({ name, arguments: { ...args } })
      assert.match(textOf(result), /REMOVED_WITHOUT_DEPRECATION/)
      assert.ok(upstream.calls.every((call) => call.tool === 'read_file'))
    })

    test(`${what} is stopped for want of the prior content where the server cannot be asked for it (${generation})`, async (t) => {
      const { agent, upstream } = await editor(t, generation)
      const result = await agent.client.callTool({ name, arguments: { ...args } })
      assert.match(textOf(result), /MISSING_PRIOR_CONTENT/)
      assert.deepEqual(upstream.calls, [])
    })
  }
}

test('a contract that a tool removes is judged as removed; other files and copies go on', async (t) => {
  const { agent, upstream } = await editor(t, 'sessions', { reader: 'read_file' })
  const run = async (name: string, args: object) =>
    textOf(await agent.client.callTool({ name, arguments: { ...args } }))
  assert.match(await run('delete_file', { owner: 'o', repo: 'r', path: 'api/openapi.yaml', message: 'm' }), /REMOVED/)
  assert.ok(upstream.calls.every((call) => call.tool === 'read_file'))
  assert.equal(await run('delete_file', { path: 'README.md' }), 'done')
  assert.equal(await run('copy_file', { source: 'openapi.yaml', destination: 'copy.md' }), 'done')
})

test('a change of a part that is not followed is stopped in a contract, and goes on elsewhere', async (t) => {
  const { agent } = await editor(t, 'sessions', { reader: 'read_file' })
  for (const [name, args] of [
    ['modify_file', { find: 'owners', replace: 'people' }],
    ['append_file', { content: API, mode: 'append' }],
  ] as const) {
    const run = async (path: string) => textOf(await agent.client.callTool({ name, arguments: { path, ...args } }))
    assert.match(await run('openapi.yaml'), /GUARD_CALL_UNRECOGNISED/)
    assert.equal(await run('README.md'), 'done')
  }
})

test('a text put in at a line goes on when it breaks nothing', async (t) => {
  const { agent, upstream } = await editor(t, 'sessions', { reader: 'read_file' })
  const args = { command: 'insert', path: 'openapi.yaml', insert_line: 0, new_str: '# pets\n' }
  const result = await agent.client.callTool({ name: 'str_replace_based_edit_tool', arguments: args })
  assert.equal(textOf(result), 'done')
  assert.equal(upstream.calls.at(-1)?.tool, 'str_replace_based_edit_tool')
})

test('a tool that is named as one that reads is asked, and one that is named as one that writes must be understood', async (t) => {
  const edits = { read: ['look'], write: ['save'] }
  const { agent } = await editor(t, 'sessions', { reader: 'look', edits })
  const [name, args] = CHANGES['a unified diff'] ?? ['', {}]
  assert.match(textOf(await agent.client.callTool({ name, arguments: { ...args } })), /REMOVED_WITHOUT_DEPRECATION/)
  const saved = await agent.client.callTool({ name: 'save', arguments: { where: 'openapi.yaml', what: API } })
  assert.match(textOf(saved), /GUARD_CALL_UNRECOGNISED/)
})

test('a tool of which the route says nothing is called as before with arguments that concern no file', async (t) => {
  const { agent } = await editor(t, 'sessions')
  const saved = await agent.client.callTool({ name: 'save', arguments: { where: 'openapi.yaml', what: API } })
  assert.equal(textOf(saved), 'done')
})

test('a folder whose files nobody shows is not removed, and what is not a folder goes on', async (t) => {
  const { agent } = await editor(t, 'sessions', { reader: 'read_file', areFolders: true })
  const run = async (name: string, args: object) =>
    textOf(await agent.client.callTool({ name, arguments: { ...args } }))
  assert.match(await run('delete_directory', { path: 'services' }), /GUARD_CALL_UNRECOGNISED/)
  assert.match(await run('copy_file', { source: 'services', destination: 'gone' }), /GUARD_CALL_UNRECOGNISED/)
  assert.equal(await run('delete_file', { path: 'picture.png' }), 'done')
  const { agent: other } = await editor(t, 'sessions')
  const card = await other.client.callTool({ name: 'move_card', arguments: { source: 'open', destination: 'done' } })
  assert.equal(textOf(card), 'done')
})
