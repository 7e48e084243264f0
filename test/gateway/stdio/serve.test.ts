/** `preflight mcp serve`: published servers behind one address, spoken to by official clients of both generations. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { Client as SecondClient, StreamableHTTPClientTransport as SecondTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { LINE_SERVER, PREFLIGHT, startDesk, type Desk } from '../../fakes/desk.ts'
import { startEverythingServer } from '../../fakes/everything-server.ts'
import { runProgram } from '../../fakes/programs.ts'
import { startOldServer } from '../../fakes/sse-server.ts'
import { until } from '../../fakes/until.ts'

const require = createRequire(import.meta.url)
const published = (name: string): string => require.resolve(`@modelcontextprotocol/${name}/dist/index.js`)

interface Served {
  readonly url: string
  readonly stderr: () => string
}

async function serveServers(desk: Desk, servers: object, options: readonly string[] = []): Promise<Served> {
  const file = join(desk.home, 'editor.json')
  writeFileSync(file, `// as an editor has it\n${JSON.stringify({ mcpServers: servers })}`)
  const args = ['--disable-warning=ExperimentalWarning', PREFLIGHT, 'mcp', 'serve', file, '--port', '0', ...options]
  const child = spawn(process.execPath, args, { env: { ...desk.environment }, stdio: ['ignore', 'pipe', 'pipe'] })
  let noted = ''
  child.stderr.on('data', (chunk: Buffer) => (noted += chunk.toString('utf8')))
  desk.add(async () => {
    const closed = once(child, 'exit')
    child.kill('SIGTERM')
    await closed
  })
  const [url] = await once(createInterface({ input: child.stdout }), 'line')
  return { url: String(url), stderr: () => noted }
}

async function groupClient(desk: Desk, url: string): Promise<Client> {
  const client = new Client(
    { name: 'editor', version: '1.0.0' },
    { capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } } },
  )
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: 'assistant' as const,
    model: 'm',
    content: { type: 'text' as const, text: 'sampled by the editor' },
  }))
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept' as const, content: { name: 'Ada' } }))
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///project', name: 'project' }] }))
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  desk.add(() => client.close())
  return client
}

const EVERYTHING = { command: process.execPath, args: [published('server-everything'), 'stdio'] }
const memory = (desk: Desk): object => ({
  command: process.execPath,
  args: [published('server-memory')],
  env: { MEMORY_FILE_PATH: join(desk.home, 'memory.json') },
})

function toolServer(desk: Desk): {
  readonly server: object
  readonly offer: (required: readonly string[]) => void
} {
  const file = join(desk.home, 'tools.json')
  const offer = (required: readonly string[]): void =>
    writeFileSync(
      file,
      JSON.stringify(
        ['echo', 'crash', 'noise'].map((name) => ({
          name,
          description: `The tool ${name}.`,
          inputSchema: {
            type: 'object',
            properties: { a: { type: 'string' }, size: { type: 'number' } },
            required: name === 'echo' ? required : [],
          },
        })),
      ),
    )
  offer([])
  return { server: { command: process.execPath, args: [LINE_SERVER, file] }, offer }
}

test('two published servers are one to a client: tools, prompts and resources have the name of their server', async (t) => {
  const desk = startDesk(t)
  const { url } = await serveServers(desk, { Everything: EVERYTHING, memory: memory(desk) })
  const client = await groupClient(desk, url)
  const names = (await client.listTools()).tools.map(({ name }) => name)
  assert.ok(names.includes('everything__echo') && names.includes('memory__create_entities'), names.join(' '))
  assert.ok(names.every((name) => /^(?:everything|memory)__/.test(name)))
  const echoed = await client.callTool({ name: 'everything__echo', arguments: { message: 'hello' } })
  assert.match(JSON.stringify(echoed), /hello/)
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }]
  await client.callTool({ name: 'memory__create_entities', arguments: { entities } })
  const graph = await client.callTool({ name: 'memory__read_graph', arguments: {} })
  assert.match(JSON.stringify(graph.structuredContent), /writes programs/)

  const { prompts } = await client.listPrompts()
  assert.ok(prompts.length > 0 && prompts.every(({ name }) => name.startsWith('everything__')))
  assert.ok((await client.getPrompt({ name: 'everything__simple-prompt' })).messages.length > 0)

  const { resources } = await client.listResources()
  const [resource] = resources.filter(({ uri }) => uri.startsWith('everything+'))
  assert.ok(resource !== undefined && resources.every(({ uri }) => /^(?:everything|memory)\+/.test(uri)))
  const read = await client.readResource({ uri: resource.uri })
  assert.deepEqual(
    read.contents.map(({ uri }) => uri),
    [resource.uri],
  )
  const { resourceTemplates } = await client.listResourceTemplates()
  assert.ok(resourceTemplates.every(({ uriTemplate }) => uriTemplate.startsWith('everything+')))
})

test('what a server asks of its client reaches it, and the answer reaches the server that asked', async (t) => {
  const desk = startDesk(t)
  const { url } = await serveServers(desk, { one: EVERYTHING, two: EVERYTHING })
  const client = await groupClient(desk, url)
  const prompt = { prompt: 'go', maxTokens: 10 }
  const answers = await Promise.all(
    ['one', 'two'].map((server) => client.callTool({ name: `${server}__trigger-sampling-request`, arguments: prompt })),
  )
  for (const answer of answers) assert.match(JSON.stringify(answer), /sampled by the editor/)
  const elicited = await client.callTool({ name: 'two__trigger-elicitation-request', arguments: {} })
  assert.match(JSON.stringify(elicited), /Ada/)
  const roots = await client.callTool({ name: 'one__get-roots-list', arguments: {} })
  assert.match(JSON.stringify(roots), /file:\/\/\/project/)

  const progress: number[] = []
  const slow = { name: 'one__trigger-long-running-operation', arguments: { duration: 0.2, steps: 4 } }
  await client.callTool(slow, undefined, { onprogress: (one) => void progress.push(one.progress) })
  assert.deepEqual(progress, [1, 2, 3, 4])

  const updated: string[] = []
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri))
  const uri = 'two+demo://resource/dynamic/text/1'
  await client.subscribeResource({ uri })
  await client.callTool({ name: 'two__toggle-subscriber-updates', arguments: {} })
  await until(() => updated.includes(uri), 'the subscriber is notified of an update', 30_000)
})

test('a client of the second generation begins a session as well', async (t) => {
  const desk = startDesk(t)
  const { url } = await serveServers(desk, { everything: EVERYTHING })
  for (const mode of ['legacy', 'auto'] as const) {
    const client = new SecondClient({ name: 'editor', version: '1.0.0' }, { versionNegotiation: { mode } })
    await client.connect(new SecondTransport(new URL(url)))
    desk.add(() => client.close())
    const answer = await client.callTool({ name: 'everything__echo', arguments: { message: mode } })
    assert.match(JSON.stringify(answer), new RegExp(mode))
  }
})

test('each server is judged with its own baseline, and the refusal is one that a model reads', async (t) => {
  const desk = startDesk(t, 'routes:\n  - name: lines\n    contract: { refresh: 0 }\n')
  const { server, offer } = toolServer(desk)
  const { url } = await serveServers(desk, { lines: server, everything: EVERYTHING })
  const client = await groupClient(desk, url)
  const call = (name: string) => client.callTool({ name, arguments: name.endsWith('echo') ? { message: 'hello' } : {} })
  assert.doesNotMatch(JSON.stringify(await call('lines__echo')), /isError/)
  offer(['a'])
  const refused = await call('lines__echo')
  assert.equal(refused.isError, true)
  assert.match(JSON.stringify(refused), /Preflight stopped/)
  assert.doesNotMatch(JSON.stringify(await call('lines__noise')), /isError/)
  assert.doesNotMatch(JSON.stringify(await call('everything__echo')), /isError/)
  const listed = await runProgram(process.execPath, [...desk.wrapped([], []), 'list'], desk.environment)
  assert.match(listed.stdout, /everything +unchanged/)
  assert.match(listed.stdout, /lines +changed/)
})

test('a server over HTTP and one of the transport of 2024 are behind the same address', async (t) => {
  const desk = startDesk(t)
  const { origin, fields } = await startOldServer(t)
  const { url } = await serveServers(desk, {
    far: { url: await startEverythingServer(t) },
    old: { type: 'sse', url: `${origin}/sse`, headers: { 'X-Token': '${PREFLIGHT_HOME}' } },
  })
  const client = await groupClient(desk, url)
  const far = await client.callTool({ name: 'far__echo', arguments: { message: 'far away' } })
  assert.match(JSON.stringify(far), /far away/)
  const prompt = { prompt: 'go', maxTokens: 10 }
  const sampled = await client.callTool({ name: 'far__trigger-sampling-request', arguments: prompt })
  assert.match(JSON.stringify(sampled), /sampled by the editor/)
  assert.match(JSON.stringify(await client.callTool({ name: 'old__old-echo' })), /an old answer/)
  assert.ok(fields.length > 2 && fields.every((value) => value === desk.home))
})

test('a server that crashes fails its calls, starts again with the next one, and the others go on', async (t) => {
  const desk = startDesk(t)
  const { server } = toolServer(desk)
  const { url } = await serveServers(desk, {
    lines: server,
    everything: EVERYTHING,
    absent: { command: '/no/such/program' },
  })
  const client = await groupClient(desk, url)
  assert.match(client.getInstructions() ?? '', /absent: .*there is no such program/)
  await assert.rejects(client.callTool({ name: 'lines__crash' }), /exit code 7/)
  const echoed = await client.callTool({ name: 'everything__echo', arguments: { message: 'still here' } })
  assert.match(JSON.stringify(echoed), /still here/)
  assert.match(JSON.stringify(await client.callTool({ name: 'lines__noise' })), /done/)
  await assert.rejects(client.callTool({ name: 'nobody__echo' }), /names begin with that of their server/)
  await assert.rejects(client.callTool({ name: 'echo' }), /lines, everything/)
})

test('only who knows the address can call the servers, and no web page', async (t) => {
  const desk = startDesk(t)
  const { server } = toolServer(desk)
  const { url } = await serveServers(desk, { lines: server })
  const { origin, pathname } = new URL(url)
  const secret = pathname.split('/')[1] ?? ''
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  })
  const CASES: readonly (readonly [string, Record<string, string>, number])[] = [
    [`${origin}/mcp`, {}, 401],
    [`${origin}/${'0'.repeat(secret.length)}/mcp`, {}, 401],
    [`${origin}/mcp`, { authorization: `Bearer ${secret}` }, 200],
    [url, {}, 200],
    [url, { origin: 'https://attacker.example' }, 403],
    [url, { 'mcp-session-id': 'unknown' }, 404],
    [`${origin}/`, {}, 404],
  ]
  for (const [address, headers, status] of CASES) {
    const accepted = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
    const answer = await fetch(address, { method: 'POST', body, headers: { ...accepted, ...headers } })
    assert.equal(answer.status, status, `${address} ${JSON.stringify(headers)}: ${await answer.text()}`)
  }
  const early = await fetch(url, { method: 'POST', body: '{"jsonrpc":"2.0","id":7,"method":"tools/list"}' })
  assert.equal(early.status, 400)
  assert.match(await early.text(), /"id":7.*begin with initialize/)
})

test('a message that is nested too deeply ends no other call, and its request gets an error', async (t) => {
  const desk = startDesk(t)
  const file = join(desk.home, 'tools.json')
  const inputSchema = { type: 'object', properties: { as: { type: 'string' } } }
  writeFileSync(file, JSON.stringify(['nested', 'echo'].map((name) => ({ name, inputSchema }))))
  const served = await serveServers(desk, { deep: { command: process.execPath, args: [LINE_SERVER, file] } })
  const client = await groupClient(desk, served.url)
  const nested = (as: string) => client.callTool({ name: 'deep__nested', arguments: { as } })
  await assert.rejects(nested('result'), /the answer of the server deep cannot be read: it is nested too deeply/)
  for (const as of ['notification', 'request']) assert.match(JSON.stringify(await nested(as)), /done/)
  assert.match(JSON.stringify(await client.callTool({ name: 'deep__echo', arguments: { as: 'before' } })), /before/)
  assert.equal(served.stderr().split('a message of the server is not forwarded').length, 4)
})

const MISTAKES: readonly (readonly [text: string, says: RegExp])[] = [
  ['{}', /lists no servers/],
  ['{"mcpServers": {"a": }}', /line 1/],
  ['{"mcpServers": {"a": 1}}', /a: it is not an object/],
  ['{"mcpServers": {"a": {"args": []}}}', /a: it needs a command, or a url/],
  ['{"mcpServers": {"a": {"url": "ftp://x"}}}', /a: url "ftp:\/\/x" is not an address/],
  ['{"mcpServers": {"a": {"url": "http://x", "headers": {"t": "${NOT_SET}"}}}}', /variable NOT_SET is not set/],
  ['{"mcpServers": {"1a": {"command": "x"}}}', /1a: a name begins with a letter/],
  ['{"mcpServers": {"A b": {"command": "x"}, "a-b": {"command": "y"}}}', /two servers have the name a-b/],
]

for (const [text, says] of MISTAKES)
  test(`the file ${text} is refused with what is wrong`, async (t) => {
    const desk = startDesk(t)
    const file = join(desk.home, 'editor.json')
    writeFileSync(file, text)
    const { code, stderr } = await runProgram(
      process.execPath,
      [...desk.wrapped([], []), 'serve', file, '--port', '0'],
      desk.environment,
    )
    assert.equal(code, 2)
    assert.match(stderr, says)
    assert.ok(stderr.includes(file))
  })
