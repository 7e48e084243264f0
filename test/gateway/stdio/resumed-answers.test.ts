/** A server over HTTP that closes the stream of an answer, and goes on with it where it is asked for the last event (MCP 2025-11-25). */
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { initialize, startDesk, startLineClient } from '../../fakes/desk.ts'
import { listening } from '../../fakes/listening.ts'
import { ECHO } from '../../fakes/mcp-upstream.ts'
import { at } from '../../json.ts'

const STREAM = { 'content-type': 'text/event-stream' }
const primed = (id: string): string => `id: ${id}\nretry: 10\ndata: \n\n`

/** How the answer to a call is given, by the argument of the call. */
const WAYS: Readonly<Record<string, (response: ServerResponse, owed: string, count: number) => unknown>> = {
  immediately: (response, owed) => response.writeHead(200, STREAM).end(`id: last\ndata: ${owed}\n\n`),
  'after three polls': (response, owed, count) =>
    response.writeHead(200, STREAM).end(count < 3 ? primed(`e${count}`) : `data: ${owed}\n\n`),
  'after the connection broke': (response, owed, count) =>
    count === 0
      ? response.writeHead(200, STREAM).write(primed('e0'), () => response.destroy())
      : response.writeHead(200, STREAM).end(`data: ${owed}\n\n`),
  'not, as the stream is lost': (response, _owed, count) =>
    count === 0 ? response.writeHead(200, STREAM).end(primed('e0')) : response.writeHead(404).end(),
  'not, as no event has an id': (response) => response.writeHead(200, STREAM).end(': open\n\n'),
}

test('answers whose stream was closed reach the client', async (t) => {
  const owed = { reply: '', way: 'immediately', count: 0 }
  const url = await listening(
    t,
    createServer((request, response) => {
      void text(request).then((body) => {
        if (request.method === 'GET') {
          if (request.headers['last-event-id'] === undefined) return response.writeHead(405).end()
          owed.count += 1
          return WAYS[owed.way]?.(response, owed.reply, owed.count)
        }
        const message: unknown = JSON.parse(body)
        const [id, method] = [at(message, 'id'), at(message, 'method')]
        if (id === undefined) return response.writeHead(202).end()
        const results: Readonly<Record<string, object>> = {
          initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'polled' } },
          'tools/list': { tools: [ECHO] },
        }
        const result = results[String(method)] ?? { content: [{ type: 'text', text: 'the answer' }] }
        const reply = JSON.stringify({ jsonrpc: '2.0', id, result })
        if (method === 'initialize') response.setHeader('mcp-session-id', 's1')
        if (method !== 'tools/call') return response.setHeader('content-type', 'application/json').end(reply)
        Object.assign(owed, { reply, way: String(at(message, 'params', 'arguments', 'text')), count: 0 })
        return WAYS[owed.way]?.(response, reply, 0)
      })
    }),
  )
  const client = startLineClient(startDesk(t), ['--name', 'polled', '--url', url], [])
  await initialize(client)
  for (const way of Object.keys(WAYS)) {
    const answer = await client.ask(way, 'tools/call', { name: 'echo', arguments: { text: way } })
    const expected = way.startsWith('not') ? /ended its answer without a reply/ : /the answer/
    assert.match(JSON.stringify(answer), expected, way)
  }
})
