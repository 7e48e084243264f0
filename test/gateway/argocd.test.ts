/** Argo CD through the proxy, by REST and by gRPC-Web: which calls need a receipt for which application, and which pass. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import protobuf from 'protobufjs'
import { issuedReceipt } from '../fakes/issued-receipt.ts'
import { startTestGateway } from '../fakes/gateway.ts'
import { startHttpUpstream, type HttpUpstream } from '../fakes/http-upstream.ts'
import { startRoad, type Road } from '../fakes/road.ts'
import { at } from '../json.ts'

interface Scene {
  readonly upstream: HttpUpstream
  readonly road: Road
  readonly send: (
    method: string,
    path: string,
    body?: Body,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Response>
}

type Body = object | Uint8Array<ArrayBuffer> | string

async function scene(t: TestContext, route: object = {}): Promise<Scene> {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  const road = await startRoad({
    routes: [{ name: 'argocd', match: { path: '/' }, upstream: upstream.origin, protocol: 'argocd', ...route }],
  })
  t.after(async () => {
    await road.close()
    await upstream.close()
  })
  return {
    upstream,
    road,
    send: (method, path, body, headers = { 'content-type': 'application/json' }) =>
      fetch(`${road.url}${path}`, {
        method,
        headers,
        ...(body === undefined
          ? {}
          : { body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body) }),
      }),
  }
}

const APP = { metadata: { name: 'shop', namespace: 'team' }, spec: {} }

for (const [method, path, body, action, context] of [
  [
    'POST',
    '/api/v1/applications/shop/sync',
    { revision: 'abc' },
    'sync argocd/shop',
    { operation: 'deploy', target_id: 'argocd:argocd/shop' },
  ],
  [
    'POST',
    '/api/v1/applications/shop/sync',
    { appNamespace: 'team', dryRun: false },
    'sync team/shop',
    { operation: 'deploy', target_id: 'argocd:team/shop' },
  ],
  [
    'POST',
    '/api/v1/applications/shop/rollback',
    { id: 3 },
    'rollback argocd/shop',
    { operation: 'deploy', target_id: 'argocd:argocd/shop' },
  ],
  [
    'POST',
    '/api/v1/applications?upsert=true',
    APP,
    'create team/shop',
    { operation: 'deploy', target_id: 'argocd:team/shop' },
  ],
  ['PUT', '/api/v1/applications/shop', APP, 'update team/shop', { operation: 'deploy', target_id: 'argocd:team/shop' }],
  [
    'PUT',
    '/api/v1/applications/shop/spec?appNamespace=team',
    {},
    'update spec of team/shop',
    { operation: 'deploy', target_id: 'argocd:team/shop' },
  ],
  [
    'PATCH',
    '/api/v1/applications/shop',
    { patch: '{}', patchType: 'merge' },
    'patch argocd/shop',
    { operation: 'deploy', target_id: 'argocd:argocd/shop' },
  ],
  [
    'DELETE',
    '/api/v1/applications/shop?cascade=true&appNamespace=team',
    undefined,
    'delete team/shop',
    { operation: 'delete', target_id: 'argocd:team/shop' },
  ],
  [
    'DELETE',
    '/api/v1/applications/shop/operation',
    undefined,
    'terminate operation of argocd/shop',
    { operation: 'deploy', target_id: 'argocd:argocd/shop' },
  ],
  [
    'POST',
    '/api/v1/applications/shop/resource/actions',
    '"restart"',
    'run action on argocd/shop',
    { operation: 'deploy', target_id: 'argocd:argocd/shop' },
  ],
  [
    'POST',
    '/api/v1/applications/shop/resource/actions/v2',
    { action: 'restart', appNamespace: 'team' },
    'run action on team/shop',
    { operation: 'deploy', target_id: 'argocd:team/shop' },
  ],
  [
    'DELETE',
    '/api/v1/applications/shop/resource?kind=Pod&appNamespace=team',
    undefined,
    'delete resource of team/shop',
    { operation: 'delete', target_id: 'argocd:team/shop' },
  ],
  [
    'POST',
    '/api/v1/projects',
    {},
    'POST /api/v1/projects',
    { operation: 'deploy', target_id: 'argocd:/api/v1/projects' },
  ],
  [
    'DELETE',
    '/api/v1/clusters/c1',
    undefined,
    'DELETE /api/v1/clusters/c1',
    { operation: 'delete', target_id: 'argocd:/api/v1/clusters/c1' },
  ],
] as const) {
  test(`${method} ${path} needs a receipt: ${action}`, async (t) => {
    const { upstream, road, send } = await scene(t)
    const answer = await send(method, path, body)
    assert.equal(answer.status, 403)
    const told: unknown = await answer.json()
    assert.equal(at(told, 'receipt_required', 'context', 'operation'), context.operation)
    assert.equal(at(told, 'receipt_required', 'context', 'target_id'), context.target_id)
    assert.equal(road.interceptions[0]?.action, action)
    assert.equal(upstream.requests.length, 0)
  })
}

test('the revision that is synced is bound as the head', async (t) => {
  const { road, send } = await scene(t)
  const one: unknown = await (await send('POST', '/api/v1/applications/shop/sync', { revision: 'abc' })).json()
  assert.equal(at(one, 'receipt_required', 'context', 'head'), 'abc')
  const two: unknown = await (await send('POST', '/api/v1/applications/shop/sync', { revisions: ['a', 'b'] })).json()
  assert.equal(at(two, 'receipt_required', 'context', 'head'), 'a,b')
  assert.equal(road.interceptions.length, 2)
})

for (const [method, path, body] of [
  ['GET', '/api/v1/applications/shop', undefined],
  ['GET', '/api/v1/stream/applications', undefined],
  ['POST', '/api/v1/session', { username: 'a', password: 'b' }],
  ['POST', '/api/v1/applications/shop/sync', { dryRun: true }],
  ['POST', '/api/v1/applications/shop/rollback', { dryRun: true, id: 1 }],
] as const) {
  test(`${method} ${path} ${JSON.stringify(body ?? null)} passes`, async (t) => {
    const { upstream, road, send } = await scene(t)
    assert.equal((await send(method, path, body)).status, 200)
    assert.equal(upstream.requests.length, 1)
    assert.equal(road.interceptions.length, 0)
  })
}

for (const [why, method, path, body, message] of [
  [
    'a member in another case, which Go takes for the same',
    'POST',
    '/api/v1/applications/shop/sync',
    '{"DryRun":false,"dryRun":true}',
    /DryRun/,
  ],
  ['a member twice', 'POST', '/api/v1/applications/shop/sync', '{"dryRun":true,"dryRun":false}', /dryRun/],
  [
    'another application in the body',
    'POST',
    '/api/v1/applications/shop/sync',
    '{"name":"bank"}',
    /another application/,
  ],
  ['another application than the path', 'PUT', '/api/v1/applications/shop', '{"metadata":{"name":"bank"}}', /bank/],
  [
    'metadata in another case',
    'POST',
    '/api/v1/applications',
    '{"metadata":{"name":"a","NAMESPACE":"b"}}',
    /NAMESPACE/,
  ],
  [
    'the namespace twice',
    'DELETE',
    '/api/v1/applications/shop?appNamespace=a&appNamespace=b',
    undefined,
    /more than once/,
  ],
  ['no application', 'POST', '/api/v1/applications', '{}', /no application/],
] as const) {
  test(`refused: ${why}`, async (t) => {
    const { upstream, send } = await scene(t)
    const answer = await send(method, path, body)
    assert.equal(answer.status, 400)
    assert.match(String(at(await answer.json(), 'message')), message)
    assert.equal(upstream.requests.length, 0)
  })
}

for (const [why, method, path, headers] of [
  // grpc-gateway takes it for the method of a form.
  ['a method in a header', 'POST', '/api/v1/applications/shop/resource', { 'x-http-method-override': 'DELETE' }],
  // Only POST with exactly this type is gRPC to the server; all else it has by REST.
  ['REST that calls itself gRPC-Web', 'DELETE', '/api/v1/clusters/ListAll', { 'content-type': 'application/grpc-web' }],
  ['REST in the letters of gRPC', 'POST', '/api/v1/clusters/ListAll', { 'content-type': 'Application/grpc-web' }],
  ['gRPC outside of every package', 'POST', '/api/v1/clusters/ListAll', { 'content-type': 'application/grpc-web' }],
] as const) {
  test(`${why} does not pass for a read`, async (t) => {
    const { upstream, send } = await scene(t)
    await send(method, path, new Uint8Array(5), headers)
    assert.equal(upstream.requests.length, 0)
  })
}

/** As Argo CD's own .proto file has them, of fields as many as the tests need. */
const FORMS = protobuf.parse(`
  syntax = "proto2";
  message Sync { required string name = 1; optional string revision = 2; optional bool dryRun = 3; optional bool prune = 4; repeated string manifests = 8; optional string appNamespace = 12; optional string project = 13; repeated string revisions = 15; }
  message Rollback { required string name = 1; required int64 id = 2; optional bool dryRun = 3; optional string appNamespace = 6; }
  message Delete { required string name = 1; optional bool cascade = 2; optional string appNamespace = 4; }
  message Patch { required string name = 1; required string patch = 2; optional string appNamespace = 5; }
  message UpdateSpec { required string name = 1; optional bool validate = 3; optional string appNamespace = 4; }
  message TerminateOperation { required string name = 1; optional string appNamespace = 2; }
  message PatchResource { required string name = 1; optional string namespace = 2; required string kind = 6; required string patchType = 8; optional string appNamespace = 9; }
  message DeleteResource { required string name = 1; optional string namespace = 2; optional bool orphan = 8; optional string appNamespace = 9; }
  message RunResourceAction { required string name = 1; optional string namespace = 2; required string action = 7; optional string appNamespace = 8; }
  message RunResourceActionV2 { required string name = 1; optional string namespace = 2; required string action = 7; optional string appNamespace = 8; optional string project = 9; }
  message Create { required Application application = 1; optional bool upsert = 2; }
  message Application { optional ObjectMeta metadata = 1; }
  message ObjectMeta { optional string name = 1; optional string namespace = 3; }
`).root

const GRPC_WEB = { 'content-type': 'application/grpc-web+proto' }
const SERVICE = '/application.ApplicationService'

function framed(form: string, value: object, flag = 0): Uint8Array<ArrayBuffer> {
  const message = FORMS.lookupType(form).encode(value).finish()
  const bytes = new Uint8Array(5 + message.length)
  new DataView(bytes.buffer).setUint32(1, message.length)
  bytes[0] = flag
  bytes.set(message, 5)
  return bytes
}

for (const [method, value, action, target] of [
  ['Sync', { name: 'shop', revision: 'abc', prune: true, project: 'p' }, 'sync argocd/shop', 'argocd:argocd/shop'],
  ['Sync', { name: 'shop', appNamespace: 'team', manifests: ['a', 'b'] }, 'sync team/shop', 'argocd:team/shop'],
  ['Rollback', { name: 'shop', id: 4, appNamespace: 'team' }, 'rollback team/shop', 'argocd:team/shop'],
  ['Delete', { name: 'shop', cascade: true }, 'delete argocd/shop', 'argocd:argocd/shop'],
  ['Patch', { name: 'shop', patch: '{}', appNamespace: 'team' }, 'patch team/shop', 'argocd:team/shop'],
  [
    'UpdateSpec',
    { name: 'shop', validate: true, appNamespace: 'team' },
    'update spec of team/shop',
    'argocd:team/shop',
  ],
  [
    'TerminateOperation',
    { name: 'shop', appNamespace: 'team' },
    'terminate operation of team/shop',
    'argocd:team/shop',
  ],
  [
    'PatchResource',
    { name: 'shop', namespace: 'web', kind: 'Pod', patchType: 'json', appNamespace: 'team' },
    'patch resource of team/shop',
    'argocd:team/shop',
  ],
  [
    'DeleteResource',
    { name: 'shop', namespace: 'web', orphan: true, appNamespace: 'team' },
    'delete resource of team/shop',
    'argocd:team/shop',
  ],
  [
    'RunResourceAction',
    { name: 'shop', namespace: 'web', action: 'restart', appNamespace: 'team' },
    'run action on team/shop',
    'argocd:team/shop',
  ],
  [
    'RunResourceActionV2',
    { name: 'shop', action: 'restart', appNamespace: 'team', project: 'p' },
    'run action on team/shop',
    'argocd:team/shop',
  ],
  ['Create', { application: APP, upsert: true }, 'create team/shop', 'argocd:team/shop'],
] as const) {
  test(`${method} by gRPC-Web needs a receipt: ${action}`, async (t) => {
    const { upstream, road, send } = await scene(t)
    const answer = await send('POST', `${SERVICE}/${method}`, framed(method, value), GRPC_WEB)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('grpc-status'), '7')
    assert.equal(answer.headers.get('content-type'), 'application/grpc-web+proto')
    const message = decodeURIComponent(answer.headers.get('grpc-message') ?? '')
    assert.match(message, new RegExp(`"target_id":"${target}"`))
    assert.equal(road.interceptions[0]?.action, action)
    assert.equal(upstream.requests.length, 0)
  })
}

test('a method of another service needs a receipt for its path', async (t) => {
  const { road, send } = await scene(t)
  await send('POST', '/project.ProjectService/Delete', framed('Delete', { name: 'p' }), GRPC_WEB)
  assert.equal(road.interceptions[0]?.action, 'call /project.ProjectService/Delete')
})

for (const [path, body] of [
  [`${SERVICE}/List`, new Uint8Array(5)],
  [`${SERVICE}/GetManifests`, new Uint8Array(5)],
  [`${SERVICE}/PodLogs`, new Uint8Array(5)],
  ['/session.SessionService/Create', new Uint8Array(5)],
  [`${SERVICE}/Sync`, framed('Sync', { name: 'shop', dryRun: true })],
  [`${SERVICE}/Rollback`, framed('Rollback', { name: 'shop', id: 1, dryRun: true })],
] as const) {
  test(`${path} passes by gRPC-Web: it changes nothing`, async (t) => {
    const { upstream, road, send } = await scene(t)
    await send('POST', path, body, GRPC_WEB)
    assert.equal(upstream.requests.length, 1)
    assert.equal(road.interceptions.length, 0)
  })
}

const SYNC = framed('Sync', { name: 'shop' })
for (const [why, body, type] of [
  ['a compressed message', framed('Sync', { name: 'shop' }, 1), 'application/grpc-web+proto'],
  ['two messages', new Uint8Array([...SYNC, ...SYNC]), 'application/grpc-web+proto'],
  ['half a message', SYNC.subarray(0, 7), 'application/grpc-web+proto'],
  ['a name twice', twice(), 'application/grpc-web+proto'],
  ['the text form', SYNC, 'application/grpc-web-text'],
  ['no application', framed('Sync', { name: '' }), 'application/grpc-web+proto'],
] as const) {
  test(`refused by gRPC-Web: ${why}`, async (t) => {
    const { upstream, send } = await scene(t)
    const answer = await send('POST', `${SERVICE}/Sync`, body, { 'content-type': type })
    assert.equal(answer.headers.get('grpc-status'), '3')
    assert.equal(upstream.requests.length, 0)
  })
}

function twice(): Uint8Array<ArrayBuffer> {
  const message = SYNC.subarray(5)
  const bytes = new Uint8Array([...SYNC, ...message])
  new DataView(bytes.buffer).setUint32(1, 2 * message.length)
  return bytes
}

test('applications without a namespace are in that of the server, and the server may stand below a path', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  const route = {
    name: 'argocd',
    match: { path: '/cd' },
    upstream: `${upstream.origin}/argo`,
    protocol: 'argocd',
    argocd: { namespace: 'gitops' },
  }
  const road = await startRoad({ routes: [route] })
  t.after(async () => {
    await road.close()
    await upstream.close()
  })
  const answer = await fetch(`${road.url}/cd/api/v1/applications/shop/sync`, { method: 'POST' })
  assert.equal(answer.status, 403)
  assert.equal(road.interceptions[0]?.action, 'sync gitops/shop')
})

test('a receipt for this application and this revision lets the sync go on, one for another revision does not', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const routes = [{ name: 'argocd', match: { path: '/' }, upstream: upstream.origin, protocol: 'argocd' }]
  const gateway = await startTestGateway(t, { routes })
  const token = await issuedReceipt(gateway, { operation: 'deploy', target_id: 'argocd:argocd/shop', head: 'abc' })
  const sync = (revision: string): Promise<Response> =>
    fetch(`${gateway.addresses.proxy}/api/v1/applications/shop/sync`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'preflight-receipt': token },
      body: JSON.stringify({ revision }),
    })
  const other = await sync('def')
  assert.equal(other.status, 403)
  assert.equal(at(await other.json(), 'receipt_required', 'reason'), 'source_mismatch')
  assert.equal((await sync('abc')).status, 200)
  assert.equal(upstream.requests.length, 1)
})
