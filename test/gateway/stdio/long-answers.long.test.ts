/** Answers of a wrapped server at the limit of a message, and over it. Each reaches its request, as itself or as an error. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { MAX_MESSAGE } from '../../../gateway/stdio/frames.ts'
import { isJsonObject } from '../../../gateway/json/strict-json.ts'
import { initialize, LINE_SERVER, startDesk, startLineClient } from '../../fakes/desk.ts'
import { listening } from '../../fakes/listening.ts'
import { at } from '../../json.ts'

const BIG = { name: 'big', inputSchema: { type: 'object', properties: { size: { type: 'number' } } } }
const answerOf = (id: unknown, value: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: value }] } })

test('the longest line of a server is an answer like others', async (t) => {
  const desk = startDesk(t)
  const file = join(desk.home, 'tools.json')
  writeFileSync(file, JSON.stringify([BIG]))
  const client = startLineClient(desk, ['--name', 'lines'], [process.execPath, LINE_SERVER, file])
  await initialize(client)
  const size = MAX_MESSAGE - answerOf('1', '').length
  const answer = await client.ask('1', 'tools/call', { name: 'big', arguments: { size } })
  assert.equal(String(at(answer, 'result', 'content', 0, 'text')).length, size)
  assert.doesNotMatch(client.stderr(), /Error|Warning/)
})

test('an answer over HTTP that is longer than a message is an error, and the next call is answered', async (t) => {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const message: unknown = JSON.parse(body)
      const [id, method, size] = [at(message, 'id'), at(message, 'method'), at(message, 'params', 'arguments', 'size')]
      if (id === undefined) return response.writeHead(202).end()
      const serverInfo = { name: 'over-http', version: '1.0.0' }
      const result =
        isJsonObject(message) && method === 'initialize'
          ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
          : { tools: [BIG] }
      response.setHeader('content-type', 'application/json')
      return response.end(
        method === 'tools/call'
          ? answerOf(id, 'x'.repeat(Number(size)))
          : JSON.stringify({ jsonrpc: '2.0', id, result }),
      )
    })
  })
  const url = await listening(t, server)
  const client = startLineClient(startDesk(t), ['--name', 'over-http', '--url', url], [])
  await initialize(client)
  const call = (id: string, size: number) => client.ask(id, 'tools/call', { name: 'big', arguments: { size } })
  assert.match(String(at(await call('long', MAX_MESSAGE), 'error', 'message')), /is longer than 67108864 bytes/)
  assert.equal(at(await call('short', 3), 'result', 'content', 0, 'text'), 'xxx')
})
