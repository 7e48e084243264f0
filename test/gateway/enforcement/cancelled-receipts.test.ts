/** A call that its client cancels while it is judged uses up no receipt, and is not forwarded, whoever forwards it. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect, constants } from 'node:http2'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { grpcAsker } from '../../fakes/ext-authz-client.ts'
import { FREE_PORTS, startTestGateway } from '../../fakes/gateway.ts'
import { grpcClient } from '../../fakes/grpc-client.ts'
import { petContract, startHttpUpstream } from '../../fakes/http-upstream.ts'
import { listening } from '../../fakes/listening.ts'
import { ECHO } from '../../fakes/mcp-upstream.ts'
import { startPetRoute, type PetRoute } from '../../fakes/pet-route.ts'
import { until } from '../../fakes/until.ts'
import { at } from '../../json.ts'
import { readFileSync } from 'node:fs'

const LISTEN = { listen: { ...FREE_PORTS, ext_authz: '127.0.0.1:0' } }
const GONE = /preflight_client_aborts_total\{[^}]*\} 1\b/

/** A route for single-use receipts, whose contract is fetched for each call. */
async function scene(t: TestContext) {
  const contract = petContract()
  const held: (() => void)[] = []
  const source = { isHeld: false }
  const files = await startHttpUpstream((_, response) => {
    const send = (): void => void response.end(readFileSync(contract))
    if (source.isHeld) held.push(send)
    else send()
  })
  t.after(() => files.close())
  const pets = await startPetRoute(
    t,
    {
      receipts: { require: true, consume: true },
      contract: { baseline: { file: contract }, current: { url: `${files.origin}/openapi.json` }, refresh: 0 },
    },
    LISTEN,
  )
  return { ...pets, held, source }
}

const PETS = { method: 'GET', path: '/pets', host: 'pets.example', scheme: 'http', size: 0 }
const HEAD = { ':method': 'GET', ':path': '/pets', ':authority': 'pets.example', ':scheme': 'http' }

/** Begins a call with a receipt, and returns what ends it. */
type Way = (pets: PetRoute, token: string) => () => void

const WAYS: Readonly<Record<string, Way>> = {
  'the proxy': ({ call }, token) => {
    const leaving = new AbortController()
    void call({ headers: { 'preflight-receipt': token }, signal: leaving.signal }).catch(() => {})
    return () => leaving.abort()
  },
  'the proxy over HTTP/2': ({ gateway }, token) => {
    const session = connect(gateway.addresses.proxy)
    session.on('error', () => {})
    const stream = session.request({ ':path': '/pets', 'preflight-receipt': token })
    stream.on('error', () => {})
    return () => {
      stream.close(constants.NGHTTP2_CANCEL)
      stream.on('close', () => session.close())
    }
  },
  'ext_authz over HTTP': ({ gateway }, token) => {
    const leaving = new AbortController()
    const headers = { 'preflight-receipt': token }
    void fetch(`${gateway.addresses.api}/authz/pets`, { headers, signal: leaving.signal }).catch(() => {})
    return () => leaving.abort()
  },
  'ext_authz over gRPC': ({ gateway }, token) => {
    const grpc = grpcAsker((gateway.addresses.ext_authz ?? '').replace('http://', ''))
    const leaving = new AbortController()
    void grpc.check({ ...PETS, headers: { 'preflight-receipt': token } }, leaving.signal).catch(() => {})
    return () => {
      leaving.abort()
      grpc.close()
    }
  },
  ext_proc: ({ gateway }, token) => {
    const address = (gateway.addresses.ext_authz ?? '').replace('http://', '')
    const client = grpcClient('ext-proc.proto', 'envoy.service.ext_proc.v3.ExternalProcessor', address)
    const stream = Object(client.stream('Process'))
    stream.on('error', () => {})
    const fields = Object.entries({ ...HEAD, 'preflight-receipt': token })
    const headers = fields.map(([key, value]) => ({ key, raw_value: Buffer.from(value) }))
    stream.write({ request_headers: { headers: { headers }, end_of_stream: true } })
    return () => {
      stream.cancel()
      client.close()
    }
  },
}

for (const [how, begin] of Object.entries(WAYS))
  test(`a receipt is still good after a call by ${how} whose client went away while it was judged`, async (t) => {
    const pets = await scene(t)
    const token = await pets.receipt()
    pets.source.isHeld = true
    const leave = begin(pets, token)
    await until(() => pets.held.length > 0, 'the call is judged')
    leave()
    // The end of a connection has no sign that could be waited for.
    await new Promise((resolve) => setTimeout(resolve, 200))
    pets.source.isHeld = false
    for (const send of pets.held) send()
    await until(async () => GONE.test(await pets.gateway.metrics.text()), 'the call has ended')
    assert.equal(pets.upstream.requests.length, 0)
    const headers = { 'preflight-receipt': token }
    assert.equal((await pets.call({ headers })).status, 200)
    assert.equal((await pets.call({ headers })).status, 403)
  })

const CALL = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'echo' } }

/** What another request of the same session says, and whether the call is allowed. */
const CANCELLATIONS: Readonly<Record<string, readonly [requestId: unknown, isAllowed: boolean]>> = {
  'its id': [7, false],
  'another id': [8, true],
}

for (const transport of ['HTTP', 'gRPC'] as const)
  for (const [what, [requestId, isAllowed]] of Object.entries(CANCELLATIONS))
    test(`an MCP call by ext_authz over ${transport} is ${isAllowed ? 'allowed' : 'denied'} after a cancellation of ${what}`, async (t) => {
      const listings: (() => void)[] = []
      const upstream = await listening(
        t,
        createServer((request, response) => {
          void text(request).then((body) => {
            const message = { jsonrpc: '2.0', id: at(JSON.parse(body), 'id'), result: { tools: [ECHO] } }
            return listings.push(
              () => void response.setHeader('content-type', 'application/json').end(JSON.stringify(message)),
            )
          })
        }),
      )
      const route = { name: 'tools', match: { path: '/' }, upstream, protocol: 'mcp' }
      const gateway = await startTestGateway(t, { ...LISTEN, routes: [route] })
      const grpc = grpcAsker((gateway.addresses.ext_authz ?? '').replace('http://', ''))
      t.after(() => grpc.close())
      const headers = { 'content-type': 'application/json', 'mcp-session-id': 'one' }
      const check = async (message: object): Promise<boolean> => {
        const body = JSON.stringify(message)
        if (transport === 'HTTP')
          return (await fetch(`${gateway.addresses.api}/authz/`, { method: 'POST', headers, body })).ok
        const post = { ...PETS, method: 'POST', path: '/', headers, size: body.length, body }
        return (at(await grpc.check(post), 'status', 'code') ?? 0) === 0
      }
      const checked = check(CALL)
      await until(() => listings.length === 1, 'the call is judged')
      const params = { requestId }
      assert.ok(await check({ jsonrpc: '2.0', method: 'notifications/cancelled', params }), 'the server gets it too')
      for (const send of listings) send()
      assert.equal(await checked, isAllowed)
    })
