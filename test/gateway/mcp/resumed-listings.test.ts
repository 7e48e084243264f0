/** Servers that close the stream of an answer and go on with it where they are asked for the last event (MCP 2025-11-25). */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ECHO } from '../../fakes/mcp-upstream.ts'
import { listening } from '../../fakes/listening.ts'
import { startProxy } from '../../fakes/proxy-under-test.ts'
import { at } from '../../json.ts'

const STREAM = { 'content-type': 'text/event-stream' }
const primed = (id: string, retry = 20): string => `id: ${id}\nretry: ${retry}\ndata: \n\n`

/** How the server answers a POST, and each GET after that; the answer is owed until it is given. */
interface Way {
  readonly post: (response: ServerResponse, owed: string) => unknown
  readonly get?: (response: ServerResponse, owed: string, count: number) => unknown
  /** What a call of the gateway's own listing comes to. */
  readonly isListed: boolean
  /** The official client reads such answers too. */
  readonly isForClients?: boolean
}

const eventOf = (data: string): string => `event: message\nid: last\ndata: ${data}\n\n`
const rest = (response: ServerResponse, owed: string) => response.writeHead(200, STREAM).end(eventOf(owed))

const WAYS: Readonly<Record<string, Way>> = {
  immediately: { post: rest, isListed: true, isForClients: true },
  'after the stream was closed': {
    post: (response) => response.writeHead(200, STREAM).end(primed('e0')),
    get: rest,
    isListed: true,
    isForClients: true,
  },
  'after the connection broke': {
    post: (response) => response.writeHead(200, STREAM).write(primed('e0'), () => response.destroy()),
    get: rest,
    isListed: true,
    isForClients: true,
  },
  'after several polls': {
    post: (response) => response.writeHead(200, STREAM).end(primed('e0')),
    get: (response, owed, count) =>
      count < 4 ? response.writeHead(200, STREAM).end(primed(`e${count}`)) : rest(response, owed),
    isListed: true,
    isForClients: true,
  },
  'after a stream without an event': { post: (response) => response.writeHead(200, STREAM).end(), isListed: false },
  'after an event without an id': {
    post: (response) => response.writeHead(200, STREAM).end('data: \n\n'),
    get: rest,
    isListed: false,
  },
  'on a stream that cannot be resumed': {
    post: (response) => response.writeHead(200, STREAM).end(primed('e0')),
    get: (response) => response.writeHead(405).end(),
    isListed: false,
  },
  'on a stream that has no end of polls': {
    post: (response) => response.writeHead(200, STREAM).end(primed('e0', 0)),
    get: (response) => response.writeHead(200, STREAM).end(primed('e0', 0)),
    isListed: false,
  },
  'later than the gateway waits': {
    post: (response) => response.writeHead(200, STREAM).end(primed('e0', 600_000)),
    get: rest,
    isListed: false,
  },
  'later than a timer can wait': {
    post: (response) => response.writeHead(200, STREAM).end(primed('e0', 2 ** 40)),
    get: rest,
    isListed: false,
  },
}

/** @param polled methods that are answered so; others are answered immediately */
async function scene(t: TestContext, { post, get }: Way, polled: readonly string[]) {
  const owed = new Map<string, string>()
  const asked: (string | undefined)[] = []
  const state = { gets: 0, called: 0 }
  const answer = (request: IncomingMessage, response: ServerResponse, body: string): unknown => {
    if (request.method === 'GET') {
      const last = request.headers['last-event-id']
      if (last === undefined) return response.writeHead(405).end()
      asked.push(`${String(last)} ${String(request.headers['mcp-session-id'])}`)
      state.gets += 1
      return get === undefined ? response.writeHead(405).end() : get(response, owed.get('one') ?? '', state.gets)
    }
    const message: unknown = JSON.parse(body)
    const id = at(message, 'id')
    if (id === undefined) return response.writeHead(202).end()
    const method = String(at(message, 'method'))
    if (method === 'tools/call') state.called += 1
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'polled', version: '1' },
      },
      'tools/list': { tools: [{ ...ECHO, outputSchema: undefined }] },
      'tools/call': { content: [{ type: 'text', text: 'the answer' }] },
    }
    const reply = JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} })
    if (method === 'initialize') response.setHeader('mcp-session-id', 'session-1')
    if (!polled.includes(method)) return response.setHeader('content-type', 'application/json').end(reply)
    owed.set('one', reply)
    state.gets = 0
    return post(response, reply)
  }
  const upstream = await listening(
    t,
    createServer((request, response) => {
      void text(request).then((body) => answer(request, response, body))
    }),
  )
  const proxy = await startProxy({
    routes: [{ name: 'tools', match: { path: '/mcp' }, upstream, protocol: 'mcp', timeout: { headers: 3 } }],
  })
  t.after(() => proxy.close())
  return { proxy, state, asked }
}

for (const [when, way] of Object.entries(WAYS))
  test(`a listing of the gateway that is answered ${when} ${way.isListed ? 'lets the call go on' : 'lets no call go on'}`, async (t) => {
    const { proxy, state, asked } = await scene(t, way, ['tools/list'])
    const answer = await fetch(`${proxy.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'mcp-session-id': 'session-1', 'last-event-id': 'of the call' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } }),
    })
    const result: unknown = await answer.json()
    assert.equal(at(result, 'result', 'isError') !== true, way.isListed, JSON.stringify(result))
    assert.equal(state.called, way.isListed ? 1 : 0)
    assert.ok(asked.every((one) => /^(?:e\d) session-1$/.test(String(one))))
    assert.ok(asked.length <= 20)
  })

for (const [when, way] of Object.entries(WAYS).filter(([, one]) => one.isForClients === true))
  test(`the official client reads listings and calls that are answered ${when} through the gateway`, async (t) => {
    const { proxy } = await scene(t, way, ['tools/list', 'tools/call'])
    const client = new Client({ name: 'client', version: '1' })
    t.after(() => client.close())
    await client.connect(new StreamableHTTPClientTransport(new URL(`${proxy.url}/mcp`)))
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['echo'],
    )
    const result = await client.callTool({ name: 'echo', arguments: {} })
    assert.match(JSON.stringify(result), /the answer/)
  })
