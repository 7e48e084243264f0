/** Calls that ask for a task (2025-11-25): the client reads why one was stopped, and what the server gives is forwarded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { startEverythingServer } from '../../fakes/everything-server.ts'
import { startProxy } from '../../fakes/proxy-under-test.ts'

const TOOL = 'simulate-research-query'
const ROWS = [
  ['ALLOW', TOOL, ['taskCreated', 'result'], /# Research Report/],
  ['BLOCK', TOOL, ['error'], /-32001.*Preflight stopped tools\/call simulate-research-query/s],
  ['REQUIRE_APPROVAL', TOOL, ['error'], /-32001.*approv/s],
  ['ALLOW', 'unknown', ['error'], /-32001.*not listed|-32001.*unknown/s],
] as const

for (const [decision, name, kinds, said] of ROWS)
  test(`a task of the tool ${name} under ${decision} ends in ${kinds.join(', ')}`, { timeout: 30_000 }, async (t) => {
    const upstream = await startEverythingServer(t)
    const proxy = await startProxy({
      routes: [{ name: 'tools', match: { path: '/mcp' }, upstream, protocol: 'mcp' }],
      decide: () => decision,
    })
    t.after(() => proxy.close())
    const client = new Client({ name: 'client', version: '1' })
    t.after(() => client.close())
    await client.connect(new StreamableHTTPClientTransport(new URL(`${proxy.url}/mcp`)))
    await client.listTools()
    const call = { name, arguments: { topic: 'water', ambiguous: false } }
    const seen: { readonly type: string; readonly text: string }[] = []
    for await (const message of client.experimental.tasks.callToolStream(call, CallToolResultSchema, {
      task: { ttl: 60_000 },
    }))
      seen.push({
        type: message.type,
        text: message.type === 'error' ? message.error.message : JSON.stringify(message),
      })
    assert.deepEqual(
      [...new Set(seen.map(({ type }) => type))].filter((type) => type !== 'taskStatus'),
      kinds,
    )
    assert.match(seen.at(-1)?.text ?? '', said)
  })
