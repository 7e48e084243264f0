/** gRPC-Web and streams of Connect: the outcome stands in the last frame of the body, in bytes or in base64, however the pieces fall. */
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import { petContract } from '../../fakes/http-upstream.ts'
import { listening } from '../../fakes/listening.ts'
import { startProxy } from '../../fakes/proxy-under-test.ts'
import { until } from '../../fakes/until.ts'

function frame(flags: number, payload: string | Buffer): Buffer {
  const bytes = Buffer.from(payload)
  const prefix = Buffer.alloc(5)
  prefix.writeUInt8(flags, 0)
  prefix.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([prefix, bytes])
}

const MESSAGE = frame(0, Buffer.from([0x0a, 3, 0x80, 1, 2]))
const good = (extra = ''): Buffer => frame(0x80, `${extra}grpc-status: 0\r\ngrpc-message: \r\n`)
const bad = frame(0x80, 'grpc-status:7\r\ngrpc-message:no\r\n')

/** One at a time. */
function bytewise(bytes: Buffer): readonly Buffer[] {
  return Array.from(bytes, (byte) => Buffer.from([byte]))
}

function base64(...parts: readonly Buffer[]): Buffer {
  return Buffer.from(parts.map((part) => part.toString('base64')).join(''), 'latin1')
}

const BINARY = { 'content-type': 'application/grpc-web+proto' }
const TEXT = { 'content-type': 'application/grpc-web-text+proto' }
const CONNECT = { 'content-type': 'application/connect+json' }
const connectBad = frame(2, '{"error":{"code":"internal"}}')

/** Each part by itself. */
function sendAll(response: ServerResponse, [part, ...rest]: readonly Buffer[]): void {
  if (part === undefined) response.end()
  else response.write(part, () => sendAll(response, rest))
}

async function outcomeOf(t: TestContext, head: Record<string, string>, parts: readonly Buffer[]): Promise<unknown> {
  const server = createServer((_request, response) => {
    response.writeHead(200, head)
    sendAll(response, parts)
  })
  const upstream = await listening(t, server)
  const contract = { current: { file: petContract() } }
  const proxy = await startProxy({
    routes: [{ name: 'pets', match: { path: '/' }, upstream, protocol: 'http', contract }],
    decide: () => 'WARN',
  })
  t.after(() => proxy.close())
  const answer = await fetch(`${proxy.url}/pets`)
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), Buffer.concat([...parts]))
  const closed = (): unknown => proxy.events.find(({ type }) => type === 'preflight.monitoring.closed')?.data['outcome']
  await until(() => closed() !== undefined, 'the window is closed')
  return closed()
}

for (const [what, head, parts, outcome] of [
  ['a good end', BINARY, [MESSAGE, good()], 'SUCCEEDED'],
  ['a bad end', BINARY, [MESSAGE, bad], 'FAILED'],
  ['a bad end byte by byte', BINARY, bytewise(Buffer.concat([MESSAGE, MESSAGE, bad])), 'FAILED'],
  ['a good end among other fields', BINARY, [MESSAGE, good('x-a: 1\r\nX-Grpc-Status: 9\r\n')], 'SUCCEEDED'],
  ['no end', BINARY, [MESSAGE], 'UNKNOWN'],
  ['half an end', BINARY, [MESSAGE, good().subarray(0, 12)], 'UNKNOWN'],
  ['a message that looks like an end', BINARY, [frame(0, 'grpc-status: 0\r\n')], 'UNKNOWN'],
  ['an end that is compressed', BINARY, [MESSAGE, frame(0x81, 'grpc-status: 0\r\n')], 'UNKNOWN'],
  ['an end without a status', BINARY, [MESSAGE, frame(0x80, 'grpc-message: hm\r\n')], 'UNKNOWN'],
  ['an end of many bytes', BINARY, [MESSAGE, good(`x: ${'y'.repeat(40_000)}\r\n`)], 'UNKNOWN'],
  ['a head alone', { ...BINARY, 'grpc-status': '5' }, [], 'FAILED'],
  ['a body that is compressed as a whole', { ...BINARY, 'content-encoding': 'x-other' }, [good()], 'UNKNOWN'],
  ['a good end in base64', TEXT, [base64(Buffer.concat([MESSAGE, good()]))], 'SUCCEEDED'],
  ['a bad end in base64, each part padded', TEXT, [base64(MESSAGE, bad)], 'FAILED'],
  ['a bad end in base64 letter by letter', TEXT, bytewise(base64(MESSAGE, MESSAGE, bad)), 'FAILED'],
  ['an end in base64 that is cut off', TEXT, [base64(MESSAGE, bad).subarray(0, 20)], 'UNKNOWN'],
  ['a good end of Connect', CONNECT, [MESSAGE, frame(2, '{}')], 'SUCCEEDED'],
  ['a good end of Connect with metadata', CONNECT, [MESSAGE, frame(2, '{"metadata":{"error":["x"]}}')], 'SUCCEEDED'],
  ['a bad end of Connect', { 'content-type': 'application/connect+proto' }, [MESSAGE, connectBad], 'FAILED'],
  ['a bad end of Connect byte by byte', CONNECT, bytewise(Buffer.concat([MESSAGE, connectBad])), 'FAILED'],
  ['no end of Connect', CONNECT, [MESSAGE], 'UNKNOWN'],
  ['a message of Connect that looks like an end', CONNECT, [frame(0, '{}')], 'UNKNOWN'],
  ['an end of Connect that is compressed', CONNECT, [frame(3, '{}')], 'UNKNOWN'],
  ['an end of Connect that is no object', CONNECT, [frame(2, '[]')], 'UNKNOWN'],
  ['one message of Connect', { 'content-type': 'application/proto' }, [MESSAGE], 'SUCCEEDED'],
] as const) {
  test(`${what}: ${outcome}, and the answer passes byte for byte`, async (t) => {
    assert.equal(await outcomeOf(t, head, parts), outcome)
  })
}
