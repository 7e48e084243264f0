/** HTTP/2 between gateway and upstream, frame by frame: half an answer is no answer, and trailers do not change what was judged. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:http2'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { block, data, FLAG, FRAME, frame, headers } from '../fakes/http2-frames.ts'
import { endOf, monitoredProxyTo, proxyTo, upstreamOf } from '../fakes/http2-upstream.ts'
import { listening } from '../fakes/listening.ts'

/** 200 in the static table. */
const GOOD = Buffer.from([0x88])
const LENGTH = block([['content-length', '10']])
const head = (...fields: readonly Buffer[]) =>
  frame(FRAME.headers, FLAG.endHeaders, 1, Buffer.concat([GOOD, ...fields]))
const reset = (code: number) => frame(FRAME.rstStream, 0, 1, Buffer.from([0, 0, 0, code]))
const END = FLAG.endStream

/** A server that answers the first request of a connection with these frames. */
async function answering(t: TestContext, frames: readonly Buffer[]): Promise<string> {
  const server = createServer((socket) => {
    let isAnswered = false
    socket.write(frame(FRAME.settings, 0, 0))
    socket.on('data', (bytes: Buffer) => {
      // Only the body of the request is readable.
      if (isAnswered || !bytes.includes(Buffer.from('hello'))) return
      isAnswered = true
      socket.write(Buffer.concat([...frames]))
    })
  })
  return listening(t, server)
}

for (const [what, frames, isWhole] of [
  ['an end', [head(), data('good', END)], true],
  ['an end and a reset', [head(), data('good', END), reset(0)], true],
  ['trailers', [head(), data('good'), headers([['x', 'y']])], true],
  ['a reset without an error', [head(), data('good'), reset(0)], false],
  ['a reset without an error before its body', [head(), reset(0)], false],
  ['a reset without an error, shorter than it said', [head(LENGTH), data('good'), reset(0)], false],
  ['a reset with an error', [head(), data('good'), reset(8)], false],
  ['an end, shorter than it said', [head(LENGTH), data('good', END)], false],
  ['trailers that are a head', [head(), data('good'), headers([[':status', '200']])], false],
  ['a second head', [head(), head(), data('good', END)], false],
] as const) {
  test(`an answer with ${what} is ${isWhole ? 'whole' : 'broken off'}`, async (t) => {
    const proxy = await monitoredProxyTo(t, await answering(t, frames), { headers: 5, idle: 2 })
    const read = fetch(`${proxy.url}/pets`, { method: 'POST', body: 'hello' }).then(async (answer) => answer.text())
    if (isWhole) assert.equal(await read, 'good')
    else await assert.rejects(read)
    assert.equal((await endOf(proxy)).outcome === 'SUCCEEDED', isWhole)
  })
}

const TRAILERS = `
  host forwarded x-forwarded-for x-forwarded-host x-original-url x-rewrite-url preflight-receipt
  preflight-decision x-correlation-id proxy-authorization expect x-dry-run authorization x-http-method-override
  cookie content-type content-encoding grpc-timeout grpc-encoding mcp-session-id early-data
  if-match range x-sum
`
  .trim()
  .split(/\s+/)

for (const version of ['1.1', '2']) {
  for (const type of ['text/plain', 'application/grpc', 'application/grpc-web', 'application/connect+proto']) {
    test(`trailers of a request add no field to what was judged: HTTP/${version}, ${type}`, async (t) => {
      let arrived: readonly string[] | null = null
      let body = ''
      const upstream = await upstreamOf(t, (stream) => {
        stream.on('trailers', (trailers) => (arrived = Object.keys(trailers)))
        stream.on('data', (bytes: Buffer) => (body += String(bytes)))
        stream.on('end', () => {
          stream.respond({ ':status': 200 })
          stream.end('good')
        })
      })
      const proxy = await proxyTo(t, upstream.origin)
      const trailers = Object.fromEntries(TRAILERS.map((name) => [name, 'other']))
      const asked = version === '2' ? streamed(t, proxy.url, type, trailers) : chunked(proxy.url, type, trailers)
      assert.equal(await asked, 'good')
      assert.equal(body.length, 40_003)
      assert.equal(arrived, null)
    })
  }
}

type Trailers = Readonly<Record<string, string>>

async function chunked(url: string, type: string, trailers: Trailers): Promise<string> {
  const headers = { te: 'trailers', 'content-type': type, 'transfer-encoding': 'chunked' }
  const asked = httpRequest(url, { method: 'POST', headers })
  asked.addTrailers(trailers)
  asked.write('x'.repeat(40_000))
  asked.end('end')
  const [answer]: IncomingMessage[] = await once(asked, 'response')
  assert.ok(answer !== undefined)
  return text(answer)
}

async function streamed(t: TestContext, url: string, type: string, trailers: Trailers): Promise<string> {
  const session = connect(url)
  t.after(() => session.destroy())
  const head = { ':method': 'POST', ':path': '/', te: 'trailers', trailer: 'x-sum', 'content-type': type }
  const stream = session.request(head, { waitForTrailers: true })
  // Node.js sends no fields of a connection after a body.
  const { host: _host, ...sent } = trailers
  stream.on('wantTrailers', () => stream.sendTrailers(sent))
  stream.write('x'.repeat(40_000))
  stream.end('end')
  return text(stream)
}
