/** The first generation of the SDK on both sides, its client and a server that it publishes: notifications, elicitation, tasks. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test, type TestContext } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { startPublishedServer } from '../fakes/everything-server.ts'
import { startTestGateway } from '../fakes/gateway.ts'

const PROGRAM = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/sdk/examples/server/simpleStreamableHttp.js',
)

interface Agent {
  readonly client: Client
  /** What the server has logged to the client, without its times. */
  readonly logged: readonly string[]
  readonly asked: readonly string[]
}

async function connect(t: TestContext, url: string): Promise<Agent> {
  const client = new Client(
    { name: 'agent', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} }, tasks: { requests: { elicitation: { create: {} } } } } },
  )
  const logged: string[] = []
  const asked: string[] = []
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    logged.push(String(params.data).replace(/ at .*$/, ''))
  })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: { name: 'Ada', email: 'ada@example.org', phone: '1' } }
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  t.after(() => client.close())
  return { client, logged, asked }
}

/** Both ways to the same server: without the gateway, and with it. */
async function bothWays(t: TestContext, play: (url: string) => Promise<unknown>): Promise<void> {
  const upstream = await startPublishedServer(t, PROGRAM, [], 'MCP_PORT')
  const route = { name: 'first', match: { path: '/mcp' }, upstream, protocol: 'mcp' }
  const gateway = await startTestGateway(t, { routes: [route] })
  const direct = await play(upstream)
  assert.deepEqual(await play(`${gateway.addresses.proxy}/mcp`), direct)
}

test('lists, calls, notifications on the way and elicitation are as without the gateway', async (t) => {
  await bothWays(t, async (url) => {
    const { client, logged, asked } = await connect(t, url)
    const seen = {
      tools: await client.listTools(),
      prompt: await client.getPrompt({ name: 'greeting-template', arguments: { name: 'Ada' } }),
      resource: await client.readResource({ uri: 'file:///example/file1.txt' }),
      links: await client.callTool({ name: 'list-files', arguments: {} }),
      greeted: await client.callTool({ name: 'multi-greet', arguments: { name: 'Ada' } }),
      reported: await client.callTool({ name: 'collect-user-info', arguments: { infoType: 'contact' } }),
    }
    assert.equal(asked.length, 1)
    assert.ok(logged.length > 0)
    return { ...seen, logged, asked }
  })
})

test('a call that runs as a task is created, asked for and ends as without the gateway', async (t) => {
  await bothWays(t, async (url) => {
    const { client } = await connect(t, url)
    const call = { name: 'delay', arguments: { duration: 50 } }
    const stream = client.experimental.tasks.callToolStream(call, CallToolResultSchema, { task: { ttl: 60_000 } })
    const seen: unknown[] = []
    for await (const message of stream) {
      if (message.type === 'result') seen.push(message.result.content)
      else if (message.type !== 'taskStatus') seen.push(message.type)
    }
    assert.deepEqual(seen, ['taskCreated', [{ type: 'text', text: 'Completed 50ms delay' }]])
    return seen
  })
})
