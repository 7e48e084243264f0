/** A server that primes its event streams (an id and no data, MCP 2025-11-25) could not be listed, so calls that were fine were not sent. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { ECHO } from '../fakes/mcp-upstream.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { at } from '../json.ts'

const RESULTS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'primed', version: '1' },
  },
  'tools/list': { tools: [ECHO] },
  'tools/call': { content: [{ type: 'text', text: 'hello' }] },
}

async function answerPrimed(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const message: unknown = JSON.parse(await text(request))
  const id = at(message, 'id')
  if (id === undefined) {
    response.writeHead(202).end()
    return
  }
  const reply = { jsonrpc: '2.0', id, result: RESULTS[String(at(message, 'method'))] }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`id: 1\ndata: \n\nid: 2\nevent: message\ndata: ${JSON.stringify(reply)}\n\n`)
}

test('a manifest that comes in a primed event stream is read, and the call goes on', async (t) => {
  const upstream = createServer((request, response) => {
    answerPrimed(request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    )
  })
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const address = upstream.address()
  assert.ok(address !== null && typeof address === 'object')
  const url = `http://127.0.0.1:${address.port}/`
  const proxy = await startProxy({ routes: [{ name: 'tools', match: { path: '/' }, upstream: url, protocol: 'mcp' }] })
  t.after(async () => {
    await proxy.close()
    upstream.closeAllConnections()
    upstream.close()
  })
  const answer = await fetch(proxy.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}',
  })
  assert.equal(answer.headers.get('preflight-action'), 'CONTINUE')
  assert.match(await answer.text(), /"text":"hello"/)
})
