/**
 * The transport of MCP of 2024 (HTTP+SSE) through a route: the server names the address of messages, and answers on
 * another stream, which the gateway does not read. So its calls cannot be judged.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { startProxy } from '../../fakes/proxy-under-test.ts'
import { startOldServer } from '../../fakes/sse-server.ts'

test(
  'a client of the old transport lists tools, and its calls fail with the reason',
  { timeout: 30_000 },
  async (t) => {
    const { origin } = await startOldServer(t)
    const proxy = await startProxy({
      routes: [{ name: 'old', match: { path: '/' }, upstream: origin, protocol: 'mcp' }],
    })
    t.after(() => proxy.close())
    const client = new Client({ name: 'old', version: '1' })
    await client.connect(new SSEClientTransport(new URL(`${proxy.url}/sse`)))
    t.after(() => client.close())
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['old-echo'],
    )
    await assert.rejects(
      client.callTool({ name: 'old-echo', arguments: {} }),
      /HTTP 503.*could not be judged.*preflight mcp --sse/s,
    )
  },
)
