/** Calls of services that a protobuf contract describes, by the clients of gRPC, gRPC-Web and Connect: judged by the rpc that they call. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { suite, test, type TestContext } from 'node:test'
import { Code, ConnectError, type Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { status, type Client } from '@grpc/grpc-js'
import { countBy, echoBy, startConnectService, type ConnectService } from '../../fakes/connect-service.ts'
import { startTestGateway, type TestGateway } from '../../fakes/gateway.ts'
import { grpcClient, grpcMethod, startGrpcService, type GrpcService } from '../../fakes/grpc-service.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'
import { until } from '../../fakes/until.ts'
import { at, textAt } from '../../json.ts'

const PINNED = `syntax = "proto3";
package test.echo.v1;
message Note { string text = 1; bytes load = 2; }
message Order { string text = 1; string lang = 2; }
message Tally { string text = 1; }
message Loose { string text = 1; }
service Echo {
  rpc Say(Note) returns (Note);
  rpc Count(Order) returns (stream Tally);
  rpc Gather(stream Note) returns (Note);
  rpc Talk(stream Note) returns (stream Note);
}`

/** What Count answers loses a field, which breaks whoever reads it. */
const WITHOUT_TALLY = PINNED.replace('Tally { string text = 1; }', 'Tally { }')

function protoFile(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-proto-')), 'echo.proto')
  writeFileSync(file, text)
  return file
}

const contract = (current = PINNED, baseline = PINNED) => ({
  baseline: { file: protoFile(baseline) },
  current: { file: protoFile(current) },
})

interface End {
  readonly code: unknown
  readonly details: string
  readonly texts: readonly string[]
}

function streamOf(value: unknown): Readable {
  if (value instanceof Readable) return value
  throw new TypeError('a call that is answered by a stream is one')
}

function echo(client: Client, text: string): Promise<End> {
  return new Promise((resolve) => {
    grpcMethod(client, 'Say')({ text }, (error: unknown, note: unknown) =>
      resolve({
        code: at(error, 'code') ?? status.OK,
        details: error === null ? '' : textAt(error, 'details'),
        texts: error === null ? [textAt(note, 'text')] : [],
      }),
    )
  })
}

async function count(client: Client): Promise<End> {
  const texts: string[] = []
  try {
    for await (const note of streamOf(grpcMethod(client, 'Count')({ text: 'go' }))) texts.push(textAt(note, 'text'))
    return { code: status.OK, details: '', texts }
  } catch (error) {
    return { code: at(error, 'code'), details: textAt(error, 'details'), texts }
  }
}

interface Scene {
  readonly gateway: TestGateway
  readonly service: GrpcService
  readonly client: Client
}

async function scene(t: TestContext, current: string, route: object = {}): Promise<Scene> {
  const service = await startGrpcService()
  t.after(() => service.close())
  const gateway = await startTestGateway(t, {
    routes: [
      {
        name: 'echo',
        match: { path: '/' },
        upstream: service.origin,
        protocol: 'grpc',
        contract: contract(current),
        ...route,
      },
    ],
  })
  const client = grpcClient(new URL(gateway.addresses.proxy).host)
  t.after(() => client.close())
  return { gateway, service, client }
}

suite('by gRPC', () => {
  test('calls go on while nothing has changed, with their receipts', async (t) => {
    const { client, service } = await scene(t, PINNED)
    assert.deepEqual((await echo(client, 'hello')).texts, ['hello'])
    assert.equal((await count(client)).texts.length, 100)
    assert.match(String(service.calls[0]?.metadata.get('preflight-receipt')[0]), /^[\w-]+\.[\w-]+\.[\w-]+$/)
  })

  test('a change stops the rpc that it reaches, and no other one', async (t) => {
    const { client, service } = await scene(t, WITHOUT_TALLY)
    assert.equal((await echo(client, 'hello')).code, status.OK)
    const { code, details, texts } = await count(client)
    assert.equal(code, status.PERMISSION_DENIED)
    assert.match(details, /Preflight stopped test\.echo\.v1\.Echo\/Count: /)
    assert.deepEqual(texts, [])
    assert.deepEqual(
      service.calls.map(({ path }) => path),
      ['/test.echo.v1.Echo/Say'],
    )
  })

  test('a change of a type that no rpc sends stops nothing', async (t) => {
    const { client } = await scene(t, PINNED.replace('Loose { string', 'Loose { int32'))
    assert.equal((await echo(client, 'hello')).code, status.OK)
  })

  test('what needs an approval is FAILED_PRECONDITION, and what cannot be judged UNAVAILABLE', async (t) => {
    const held = await scene(t, PINNED.replace('Note { string text = 1;', 'Note { optional string text = 1;'))
    const waiting = await echo(held.client, 'hello')
    assert.equal(waiting.code, status.FAILED_PRECONDITION)
    assert.match(waiting.details, /holds test\.echo\.v1\.Echo\/Say/)
    const broken = await scene(t, 'service {')
    assert.equal((await echo(broken.client, 'hello')).code, status.UNAVAILABLE)
    assert.equal(broken.service.calls.length, 0)
  })

  test('an rpc that is gone is judged by its removal, and one that nobody described by the whole contract', async (t) => {
    const { client } = await scene(t, PINNED.replace('rpc Say(Note) returns (Note);', ''))
    const gone = await echo(client, 'hello')
    assert.equal(gone.code, status.PERMISSION_DENIED)
    assert.match(gone.details, /Echo\/Say/)
    const unknown = await scene(t, WITHOUT_TALLY.replaceAll('rpc Say', 'rpc Spell'), {
      contract: contract(WITHOUT_TALLY.replaceAll('rpc Say', 'rpc Spell'), PINNED.replaceAll('rpc Say', 'rpc Spell')),
    })
    assert.equal((await echo(unknown.client, 'hello')).code, status.PERMISSION_DENIED)
  })
})

async function connectScene(t: TestContext, current: string): Promise<ConnectService & { readonly url: string }> {
  const service = await startConnectService(t)
  const gateway = await startTestGateway(t, {
    routes: [
      {
        name: 'echo',
        match: { path: '/rpc' },
        upstream: service.origin,
        protocol: 'grpc',
        contract: contract(current),
      },
    ],
  })
  return { ...service, url: `${gateway.addresses.proxy}/rpc` }
}

const TRANSPORTS: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  'Connect, in bytes': (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1' }),
  'Connect, in JSON': (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: false }),
  'Connect, by HTTP/2': (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '2' }),
  'Connect, with GET': (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1', useHttpGet: true }),
  'gRPC-Web': (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }),
}

for (const [name, transportTo] of Object.entries(TRANSPORTS)) {
  test(`by ${name}: calls go on, and a stopped one says so as the client expects it`, async (t) => {
    const { url, calls } = await connectScene(t, WITHOUT_TALLY)
    const transport = transportTo(url)
    assert.deepEqual(await echoBy(transport, 'hello'), ['hello'])
    await assert.rejects(countBy(transport, 'hello'), (error) => {
      assert.ok(error instanceof ConnectError)
      assert.equal(error.code, Code.PermissionDenied)
      assert.match(error.rawMessage, /^Preflight stopped test\.echo\.v1\.Echo\/Count: /)
      return true
    })
    assert.deepEqual(calls, [`${name.endsWith('GET') ? 'GET' : 'POST'} /test.echo.v1.Echo/Say`])
    const other = await connectScene(t, PINNED)
    assert.deepEqual(await countBy(transportTo(other.url), 'hello'), ['hello', 'hello'])
    other.stop()
    await assert.rejects(echoBy(transportTo(other.url), 'x'), { code: Code.Unavailable })
    const gone = await connectScene(t, PINNED.replace('rpc Say(Note) returns (Note);', ''))
    await assert.rejects(echoBy(transportTo(gone.url), 'x'), { code: Code.PermissionDenied })
  })
}

test('a check by another proxy is answered with an HTTP status, for every protocol of its client', async (t) => {
  const { gateway } = await scene(t, WITHOUT_TALLY)
  for (const type of [
    'application/grpc',
    'application/grpc-web+proto',
    'application/connect+proto',
    'application/proto',
  ]) {
    const asked = await fetch(`${gateway.addresses.api}/authz/test.echo.v1.Echo/Count`, {
      method: 'POST',
      headers: { 'content-type': type },
    })
    assert.equal(asked.status, 403)
    const reported: unknown = await asked.json()
    assert.deepEqual([at(reported, 'error'), at(reported, 'code')], ['PREFLIGHT_STOP', 'permission_denied'])
  }
})

test('a contract that is watched is pinned, and its change is a candidate, before a call comes', async (t) => {
  const sides = contract()
  const { gateway } = await scene(t, PINNED, { contract: { ...sides, watch: 1 } })
  writeFileSync(sides.current.file, WITHOUT_TALLY)
  const pending = /preflight_baseline_candidate_pending\{route="echo"\} 1/
  await until(async () => pending.test(await gateway.metrics.text()), 'the change is a candidate')
})

async function proxy(t: TestContext, route: object = {}): Promise<ProxyUnderTest> {
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  const started = await startProxy({
    routes: [
      {
        name: 'echo',
        match: { path: '/' },
        upstream: `${upstream.origin}/api`,
        protocol: 'grpc',
        contract: contract(),
        ...route,
      },
    ],
  })
  t.after(async () => {
    await started.close()
    await upstream.close()
  })
  return started
}

for (const [path, scope] of [
  ['/test.echo.v1.Echo/Say', { method: 'RPC', path: '/test.echo.v1.Echo/Say', carriesAny: false, files: [''] }],
  ['/test.echo.v1.Echo/Say?x=1', { method: 'RPC', path: '/test.echo.v1.Echo/Say', carriesAny: false, files: [''] }],
  [
    '/test.echo.v1.Echo/Talk',
    { method: 'BIDI_STREAM', path: '/test.echo.v1.Echo/Talk', carriesAny: false, files: [''] },
  ],
  ['/test.echo.v1.Echo/say', null],
  ['/test.echo.v1.Echo/S%61y', null],
  ['/test.echo.v1.Echo/Say/', null],
  ['/elsewhere/test.echo.v1.Echo/Say', null],
  ['/', null],
] as const) {
  test(`POST ${path} is judged by ${scope === null ? 'the whole contract' : scope.path}`, async (t) => {
    const { url, flow } = await proxy(t)
    await fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/proto' } })
    assert.deepEqual(flow.asked[0]?.scope, scope)
    assert.equal(flow.asked[0]?.artifacts[0]?.type, 'protobuf')
    assert.equal(flow.asked[0]?.context.target_id, scope === null ? 'echo' : `echo${scope.path}`)
  })
}

const post = (url: string, path: string): Promise<Response> => fetch(url + path, { method: 'POST' })

test('health and reflection pass unjudged, unless the route says otherwise', async (t) => {
  const byDefault = await proxy(t)
  for (const service of ['grpc.health.v1.Health/Check', 'grpc.reflection.v1.ServerReflection/ServerReflectionInfo'])
    assert.equal((await post(byDefault.url, `/${service}`)).status, 200)
  assert.deepEqual(byDefault.flow.asked, [])
  const stricter = await proxy(t, { grpc: { pass: ['test.echo.v1.Echo'] } })
  await post(stricter.url, '/grpc.health.v1.Health/Check')
  await post(stricter.url, '/test.echo.v1.Echo/Say')
  assert.deepEqual(
    stricter.flow.asked.map(({ scope }) => scope),
    [null],
  )
})

test('imports that are not part of the contract are reported', async (t) => {
  const started = await proxy(t, { contract: contract(`syntax = "proto3"; import "other.proto"; package a;`) })
  await fetch(started.url, { method: 'POST' })
  assert.ok(started.log.some((line) => line.includes('"other.proto"') && line.includes('contract.imports_missing')))
})
