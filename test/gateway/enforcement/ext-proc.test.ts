/** Envoy's ext_proc: one stream for each request. Nothing goes on that was not judged, and answers close monitoring windows. */
import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { Duplex } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { FREE_PORTS, startTestGateway, type TestGateway } from '../../fakes/gateway.ts'
import { grpcClient, type GrpcClient } from '../../fakes/grpc-client.ts'
import { startMcpUpstream } from '../../fakes/mcp-upstream.ts'
import { breakListing, startPetRoute } from '../../fakes/pet-route.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

const LISTEN = { listen: { ...FREE_PORTS, ext_authz: '127.0.0.1:0' } }

function clientOf(t: TestContext, { addresses }: TestGateway): GrpcClient {
  const address = (addresses.ext_authz ?? '').replace('http://', '')
  const client = grpcClient('ext-proc.proto', 'envoy.service.ext_proc.v3.ExternalProcessor', address)
  t.after(() => client.close())
  return client
}

interface Exchange {
  /** Sends a message and resolves with the answer to it, or with the status that ends the stream. */
  send(message: object): Promise<unknown>
  end(): void
}

function exchange(client: GrpcClient): Exchange {
  const stream = client.stream('Process')
  assert.ok(stream instanceof Duplex)
  const answers: unknown[] = []
  stream.on('data', (answer: unknown) => answers.push(answer))
  stream.on('error', (error) => answers.push({ status: at(error, 'code') }))
  return {
    async send(message) {
      stream.write(message)
      await until(() => answers.length > 0, 'the message is answered')
      return answers.shift()
    },
    end: () => void stream.end(),
  }
}

const BUFFERED = { protocol_config: { request_body_mode: 2 } }

function head(fields: Readonly<Record<string, string>>, isBodiless: boolean): object {
  const headers = Object.entries(fields).map(([key, value]) => ({ key, raw_value: Buffer.from(value) }))
  return { headers: { headers }, end_of_stream: isBodiless }
}

const PETS = {
  ':method': 'GET',
  ':path': '/pets?limit=1',
  ':authority': 'pets.example',
  ':scheme': 'http',
  'x-correlation-id': 'cor-proc',
  'x-original-url': '/admin',
}

function mutationOf(answer: unknown, part: string) {
  const path = [part, 'response', 'header_mutation'] as const
  const set = listAt(answer, ...path, 'set_headers').map((one) => [
    textAt(one, 'header', 'key'),
    textAt(one, 'header', 'value'),
  ])
  return {
    set: new Map(set.map(([name = '', value = '']) => [name, value])),
    removed: listAt(answer, ...path, 'remove_headers'),
  }
}

test('a request without a body is judged at its head, and its answer closes the window', async (t) => {
  const scene = await startPetRoute(t, {}, { ...LISTEN, policy: 'test/fakes/warn-pack.yaml' })
  scene.change(breakListing)
  const it = exchange(clientOf(t, scene.gateway))
  const answer = await it.send({ request_headers: head(PETS, true), ...BUFFERED })
  assert.equal(at(answer, 'response'), 'request_headers', JSON.stringify(answer))
  const { set, removed } = mutationOf(answer, 'request_headers')
  assert.equal(set.get('X-Correlation-ID'), 'cor-proc')
  assert.match(set.get('Preflight-Receipt') ?? '', /^[\w-]+\.[\w-]+\.[\w-]+$/)
  assert.ok(removed.includes('x-original-url'))
  assert.match(await scene.gateway.metrics.text(), /preflight_monitoring_windows_open 1/)
  const answered = await it.send({ response_headers: head({ ':status': '200' }, false) })
  assert.equal(at(answered, 'response'), 'response_headers')
  it.end()
  await until(
    async () => /windows_closed_total{outcome="(?:SUCCEEDED|UNKNOWN)"} 1/.test(await scene.gateway.metrics.text()),
    'the window is closed',
  )
})

test('a refused request gets the refusal as its answer', async (t) => {
  const scene = await startPetRoute(t, {}, LISTEN)
  await fetch(`${scene.gateway.addresses.api}/authz/pets`)
  scene.change(breakListing)
  const it = exchange(clientOf(t, scene.gateway))
  const answer = await it.send({ request_headers: head(PETS, true) })
  assert.equal(at(answer, 'immediate_response', 'status', 'code'), 403, JSON.stringify(answer))
  const body: unknown = JSON.parse(Buffer.from(Object(at(answer, 'immediate_response', 'body'))).toString('utf8'))
  assert.equal(at(body, 'error'), 'PREFLIGHT_STOP')
})

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'hi' } } }
const POST = {
  ':method': 'POST',
  ':path': '/mcp',
  ':authority': 'tools.example',
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

async function tools(t: TestContext): Promise<Exchange & { readonly another: () => Exchange }> {
  const mcp = await startMcpUpstream({ generation: 'stateless' })
  t.after(() => mcp.close())
  const route = { name: 'tools', match: { path: '/mcp' }, upstream: mcp.url, protocol: 'mcp' }
  const client = clientOf(t, await startTestGateway(t, { ...LISTEN, routes: [route] }))
  return { ...exchange(client), another: () => exchange(client) }
}

test('a body that must be read is judged where Envoy holds it back', async (t) => {
  const it = await tools(t)
  const waiting = await it.send({ request_headers: head(POST, false), ...BUFFERED })
  assert.deepEqual(at(waiting, 'request_headers', 'response', 'header_mutation') ?? null, null)
  const body = Buffer.from(JSON.stringify(CALL))
  const judged = await it.send({ request_body: { body, end_of_stream: true } })
  assert.ok(mutationOf(judged, 'request_body').set.get('Preflight-Receipt'), JSON.stringify(judged))
  const trailers = ['x-dry-run', 'authorization', 'x-dry-run'].map((key) => ({ key, raw_value: Buffer.from('1') }))
  const removal = await it.send({ request_trailers: { trailers: { headers: trailers } } })
  assert.deepEqual(listAt(removal, 'request_trailers', 'header_mutation', 'remove_headers'), [
    'x-dry-run',
    'authorization',
  ])
  assert.equal(at(await it.send({ request_trailers: {} }), 'response'), 'request_trailers')
  const answered = { body: Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'), end_of_stream: true }
  await it.send({ response_headers: head({ ':status': '200', 'content-type': 'application/json' }, false) })
  assert.equal(at(await it.send({ response_body: answered }), 'response'), 'response_body')
  it.end()
  const unlisted = it.another()
  await unlisted.send({ request_headers: head(POST, false), ...BUFFERED })
  const other = Buffer.from(JSON.stringify({ ...CALL, params: { name: 'unknown' } }))
  const refused = await unlisted.send({ request_body: { body: other, end_of_stream: true } })
  assert.equal(at(refused, 'response'), 'immediate_response')
})

test('a body that is not held back, or not complete, is undecided', async (t) => {
  const it = await tools(t)
  const body = Buffer.from(JSON.stringify(CALL))
  for (const mode of [
    {},
    { protocol_config: {} },
    { protocol_config: { request_body_mode: 1 } },
    { protocol_config: { request_body_mode: 4 } },
  ]) {
    const answer = await it.another().send({ request_headers: head(POST, false), ...mode })
    assert.equal(at(answer, 'immediate_response', 'status', 'code'), 503, JSON.stringify(mode))
    assert.match(Buffer.from(Object(at(answer, 'immediate_response', 'body'))).toString('utf8'), /BUFFERED/)
  }
  await it.send({ request_headers: head(POST, false), ...BUFFERED })
  const cut = await it.send({ request_body: { body, end_of_stream: false } })
  assert.equal(at(cut, 'immediate_response', 'status', 'code'), 503)
})

for (const [what, messages] of [
  ['the answer before the request', [{ response_headers: head({ ':status': '200' }, true) }]],
  ['a body before the head', [{ request_body: { body: Buffer.from('{}'), end_of_stream: true } }]],
  ['trailers before the head', [{ request_trailers: {} }]],
  ['two heads', [{ request_headers: head(POST, false), ...BUFFERED }, { request_headers: head(POST, false) }]],
  ['no part of a request', [{}]],
  ['observability_mode', [{ request_headers: head(PETS, true), observability_mode: true }]],
] as const)
  test(`${what}: the stream ends with an error, which Envoy answers with 500`, async (t) => {
    const it = await tools(t)
    let last: unknown = null
    for (const message of messages) last = await it.send(message)
    assert.equal(at(last, 'status'), 13, JSON.stringify(last))
  })

/** Status that ends a call whose bytes are sent piece by piece. */
async function statusOf(address: string, pieces: readonly Buffer[]): Promise<unknown> {
  const session = connect(address)
  const stream = session.request({
    ':method': 'POST',
    ':path': '/envoy.service.ext_proc.v3.ExternalProcessor/Process',
    'content-type': 'application/grpc',
  })
  let status: unknown = null
  stream.on('trailers', (trailers) => (status = trailers['grpc-status']))
  stream.resume()
  for (const piece of pieces) {
    stream.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  stream.end()
  await new Promise((resolve) => stream.once('close', resolve))
  session.close()
  return status
}

test('frames are read however they are cut, and bounded', async (t) => {
  const { gateway } = await startPetRoute(t, {}, LISTEN)
  const address = gateway.addresses.ext_authz ?? ''
  // request_headers with end_of_stream, and no field.
  const message = Buffer.from([0, 0, 0, 0, 4, 0x12, 2, 0x18, 1])
  const bytes = [...message].map((byte) => Buffer.from([byte]))
  assert.equal(await statusOf(address, [message]), '0')
  assert.equal(await statusOf(address, bytes), '0', 'byte by byte')
  assert.equal(await statusOf(address, []), '0', 'no message')
  assert.equal(await statusOf(address, bytes.slice(0, 3)), '13', 'cut in the length')
  assert.equal(await statusOf(address, bytes.slice(0, 7)), '13', 'cut in the message')
  assert.equal(await statusOf(address, [Buffer.from([1, ...message.subarray(1)])]), '12', 'compressed')
  assert.equal(await statusOf(address, [Buffer.from([0, 255, 255, 255, 255])]), '8', 'longer than the limit')
  assert.equal(await statusOf(address, [Buffer.from([0, 0, 0, 0, 2, 0xff, 0xff])]), '13', 'no protobuf')
})
