/** Ids with more digits than a double keeps: a refusal carries the id that its client looks for, in every form of an answer. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { failureOf, readReceived, readSent } from '../../../gateway/stdio/messages.ts'
import { listening } from '../../fakes/listening.ts'
import { startProxy } from '../../fakes/proxy-under-test.ts'

const IDS = [
  '9007199254740993',
  '-9007199254740993',
  '99999999999999999999',
  '0.1234567890123456789',
  '1.5',
  '7',
  '"7"',
]

const call = (id: string, params: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`

/** What makes the gateway answer by itself, and the media type that is asked for. */
const BODIES: Readonly<Record<string, readonly [body: (id: string) => string, accept?: string]>> = {
  'a call that cannot be judged': [(id) => call(id, '{"name":"echo"}')],
  'the same as a stream': [(id) => call(id, '{"name":"echo"}'), 'text/event-stream'],
  'a call that asks for a task': [(id) => call(id, '{"name":"echo","task":{}}')],
  'a call without a name': [(id) => call(id, '{}')],
  'a batch': [(id) => `[${call(id, '{"name":"echo"}')},${call('8', '{"name":"echo"}')}]`],
}

for (const [what, [bodyOf, accept = 'application/json']] of Object.entries(BODIES))
  test(`${what} is refused with the digits of its id`, async (t) => {
    const upstream = await listening(
      t,
      createServer((_, response) => response.writeHead(500).end()),
    )
    const proxy = await startProxy({ routes: [{ name: 'tools', match: { path: '/mcp' }, upstream, protocol: 'mcp' }] })
    t.after(() => proxy.close())
    for (const id of IDS) {
      const headers = { 'content-type': 'application/json', accept }
      const answer = await (await fetch(`${proxy.url}/mcp`, { method: 'POST', headers, body: bodyOf(id) })).text()
      assert.ok(answer.includes(`"id":${id},`), answer)
    }
  })

test('messages of stdio keep the digits of ids and values', () => {
  for (const id of IDS) {
    assert.deepEqual(
      readSent(call(id, '{}')).requests.map((one) => one.id),
      [id],
    )
    const cancelled = `{"method":"notifications/cancelled","params":{"requestId":${id}}}`
    assert.deepEqual(readSent(cancelled).cancelled, [id])
    const [received] = readReceived(`[{"id":${id},"result":{"total":12345678901234567890}}]`) ?? []
    assert.equal(received?.answers, id)
    assert.equal(JSON.stringify(received?.value), `{"id":${id},"result":{"total":12345678901234567890}}`)
    assert.ok(failureOf(id, 'a reason').includes(`"id":${id},`))
  }
  assert.deepEqual(readSent('12345678901234567890 and no JSON').requests, [])
})
