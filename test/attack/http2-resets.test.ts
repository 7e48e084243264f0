/** A client of HTTP/2 that resets a stream in the middle of its upload, with any code: half a body is no body, and the gateway serves on. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { constants } from 'node:http2'
import { test, type TestContext } from 'node:test'
import { data, FLAG, FRAME, frame, headers, openFrames, type FramesClient } from '../fakes/http2-frames.ts'
import { listening } from '../fakes/listening.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { until } from '../fakes/until.ts'

const PIECE = 'x'.repeat(16_000)
const POST = headers(
  [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':authority', 'a'],
    [':path', '/'],
  ],
  FLAG.endHeaders,
)

/** Sends pieces until nobody has taken one for a while, or `most` are sent. */
async function upload(client: FramesClient, most: number): Promise<void> {
  let sent = 0
  for (let idle = 0; idle < 20; idle += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    for (; sent < most && client.windowOf(1, sent * PIECE.length) >= PIECE.length; sent += 1) {
      client.send(data(PIECE))
      idle = 0
    }
  }
}

interface Scene {
  readonly client: FramesClient
  readonly request: IncomingMessage
  readonly answer: ServerResponse
  readonly openCalls: () => number
  readonly get: () => Promise<string>
}

/** An upload that has begun. @param reads the upstream takes it */
async function uploading(t: TestContext, reads: boolean): Promise<Scene> {
  const begun: (readonly [IncomingMessage, ServerResponse])[] = []
  const upstream = createServer((request, response) => {
    request.on('error', () => {})
    if (reads) request.resume()
    if (request.method === 'GET') response.end('good')
    else begun.push([request, response])
  })
  const origin = await listening(t, upstream)
  const route = { name: 'plain', match: { path: '/' }, protocol: 'mapped', map: [{ action: 'pass' }], upstream: origin }
  const proxy = await startProxy({ routes: [route] })
  const client = openFrames(proxy.url)
  t.after(async () => {
    client.socket.destroy()
    await proxy.close()
  })
  client.send(POST)
  await upload(client, reads ? 4 : Infinity)
  const [first] = begun
  assert.ok(first !== undefined, 'the upload has begun')
  const get = async (): Promise<string> => (await fetch(proxy.url)).text()
  return { client, request: first[0], answer: first[1], openCalls: () => proxy.listener.openCalls(), get }
}

const { NGHTTP2_NO_ERROR: NO_ERROR, NGHTTP2_CANCEL: CANCEL } = constants

for (const [what, code, reads, hasHints] of [
  ['NO_ERROR, all that was sent is read', NO_ERROR, true, false],
  ['NO_ERROR, nobody reads what was sent', NO_ERROR, false, false],
  ['NO_ERROR, nobody reads what was sent, and an early hint comes', NO_ERROR, false, true],
  ['CANCEL, all that was sent is read', CANCEL, true, false],
  ['CANCEL, nobody reads what was sent', CANCEL, false, false],
] as const) {
  test(what, async (t) => {
    const { client, request, answer, openCalls, get } = await uploading(t, reads)
    client.send(frame(FRAME.rstStream, 0, 1, Buffer.from([0, 0, 0, code])))
    if (hasHints) answer.writeEarlyHints({ link: '</a>; rel=preload' })
    // The gateway may receive it before it knows of the reset, or after.
    answer.end('late')
    await until(() => openCalls() === 0, 'no call is left')
    await until(() => request.socket.destroyed || !reads, 'the upstream is told')
    assert.equal(request.complete, false, 'half an upload is not whole')
    assert.equal(await get(), 'good')
  })
}
