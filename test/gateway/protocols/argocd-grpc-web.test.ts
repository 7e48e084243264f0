/** Argo CD through the proxy, by gRPC-Web as its command line speaks it: which calls need a receipt for which application, and which pass. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import protobuf from 'protobufjs'
import { readGrpcCall } from '../../../gateway/protocols/argocd/grpc.ts'
import { APP, argocdScene } from '../../fakes/argocd-scene.ts'

const FORMS = protobuf.parse(`
  syntax = "proto2";
  message Sync { required string name = 1; optional string revision = 2; optional bool dryRun = 3; optional bool prune = 4; repeated string manifests = 8; optional string appNamespace = 12; optional string project = 13; repeated int64 sourcePositions = 14; repeated string revisions = 15; }
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
  ['Sync', { name: 'shop', revision: 'abc', project: 'p' }, 'sync argocd/shop', 'argocd:argocd/shop'],
  ['Sync', { name: 'shop', revision: 'abc', prune: true }, 'sync argocd/shop', 'argocd:argocd/shop#[0-9a-f]{64}'],
  ['Sync', { name: 'shop', appNamespace: 'team', manifests: ['a', 'b'] }, 'sync team/shop', 'argocd:team/shop'],
  [
    'Rollback',
    { name: 'shop', id: 4, appNamespace: 'team' },
    'rollback team/shop',
    'argocd:team/shop/Rollback#[0-9a-f]{64}',
  ],
  ['Delete', { name: 'shop', cascade: true }, 'delete argocd/shop', 'argocd:argocd/shop'],
  [
    'Patch',
    { name: 'shop', patch: '{}', appNamespace: 'team' },
    'patch team/shop',
    'argocd:team/shop/Patch#[0-9a-f]{64}',
  ],
  [
    'UpdateSpec',
    { name: 'shop', validate: true, appNamespace: 'team' },
    'update spec of team/shop',
    'argocd:team/shop/UpdateSpec#[0-9a-f]{64}',
  ],
  [
    'TerminateOperation',
    { name: 'shop', appNamespace: 'team' },
    'terminate operation of team/shop',
    'argocd:team/shop/TerminateOperation#[0-9a-f]{64}',
  ],
  [
    'PatchResource',
    { name: 'shop', namespace: 'web', kind: 'Pod', patchType: 'json', appNamespace: 'team' },
    'patch resource of team/shop',
    'argocd:team/shop/PatchResource#[0-9a-f]{64}',
  ],
  [
    'DeleteResource',
    { name: 'shop', namespace: 'web', orphan: true, appNamespace: 'team' },
    'delete resource of team/shop',
    'argocd:team/shop/DeleteResource#[0-9a-f]{64}',
  ],
  [
    'RunResourceAction',
    { name: 'shop', namespace: 'web', action: 'restart', appNamespace: 'team' },
    'run action on team/shop',
    'argocd:team/shop/RunResourceAction#[0-9a-f]{64}',
  ],
  [
    'RunResourceActionV2',
    { name: 'shop', action: 'restart', appNamespace: 'team', project: 'p' },
    'run action on team/shop',
    'argocd:team/shop/RunResourceActionV2#[0-9a-f]{64}',
  ],
  ['Create', { application: APP, upsert: true }, 'create team/shop', 'argocd:team/shop/Create#[0-9a-f]{64}'],
] as const) {
  test(`${method} by gRPC-Web needs a receipt: ${action}`, async (t) => {
    const { upstream, proxy, send } = await argocdScene(t)
    const answer = await send('POST', `${SERVICE}/${method}`, framed(method, value), GRPC_WEB)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('grpc-status'), '7')
    assert.equal(answer.headers.get('content-type'), 'application/grpc-web+proto')
    const message = decodeURIComponent(answer.headers.get('grpc-message') ?? '')
    assert.match(message, new RegExp(`"target_id":"${target}"`))
    assert.equal(proxy.interceptions[0]?.action, action)
    assert.equal(upstream.requests.length, 0)
  })
}

test('a method of another service needs a receipt for its path', async (t) => {
  const { proxy, send } = await argocdScene(t)
  await send('POST', '/project.ProjectService/Delete', framed('Delete', { name: 'p' }), GRPC_WEB)
  assert.equal(proxy.interceptions[0]?.action, 'call /project.ProjectService/Delete')
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
    const { upstream, proxy, send } = await argocdScene(t)
    await send('POST', path, body, GRPC_WEB)
    assert.equal(upstream.requests.length, 1)
    assert.equal(proxy.interceptions.length, 0)
  })
}

function headOf(value: object): string | null {
  const body = Buffer.from(framed('Sync', { name: 'shop', ...value }))
  const path = `${SERVICE}/Sync`
  const read = readGrpcCall({ method: 'POST', headers: GRPC_WEB, body, upstreamPath: path }, path, 'argocd')
  return read.kind === 'write' ? read.revision : read.kind
}

test('what a sync by gRPC-Web deploys is bound as the head', () => {
  assert.equal(headOf({ revision: 'abc' }), 'abc')
  assert.equal(headOf({ revisions: ['a', 'b'], sourcePositions: [1, 2] }), 'a,b')
  assert.equal(headOf({ revisions: ['a', 'b'], sourcePositions: [2, 1] }), '2:a,1:b')
  assert.match(headOf({ revision: 'abc', manifests: ['{}'] }) ?? '', /^manifests:/)
})

const SYNC = framed('Sync', { name: 'shop' })
for (const [why, body, type] of [
  ['a compressed message', framed('Sync', { name: 'shop' }, 1), 'application/grpc-web+proto'],
  ['two messages', new Uint8Array([...SYNC, ...SYNC]), 'application/grpc-web+proto'],
  ['half a message', SYNC.subarray(0, 7), 'application/grpc-web+proto'],
  ['a name twice', twice(), 'application/grpc-web+proto'],
  ['the text form', SYNC, 'application/grpc-web-text'],
  [
    'a revision beside those of sources',
    framed('Sync', { name: 'shop', revision: 'a', revisions: ['b'], sourcePositions: [1] }),
    'application/grpc-web+proto',
  ],
  ['no application', framed('Sync', { name: '' }), 'application/grpc-web+proto'],
] as const) {
  test(`refused by gRPC-Web: ${why}`, async (t) => {
    const { upstream, send } = await argocdScene(t)
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
