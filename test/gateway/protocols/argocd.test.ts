/** Argo CD through the proxy, by REST: which calls need a receipt for which application, and which pass. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { APP, argocdScene } from '../../fakes/argocd-scene.ts'
import { issuedReceipt } from '../../fakes/issued-receipt.ts'
import { startTestGateway } from '../../fakes/gateway.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { startProxy } from '../../fakes/proxy-under-test.ts'
import { at } from '../../json.ts'
import { recordIn } from '../../../gateway/json/unchecked-json.ts'

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
    { operation: 'deploy', target_id: 'argocd:argocd/shop/rollback#[0-9a-f]{64}' },
  ],
  [
    'POST',
    '/api/v1/applications?upsert=true',
    APP,
    'create team/shop',
    { operation: 'deploy', target_id: 'argocd:team/shop/create#[0-9a-f]{64}' },
  ],
  [
    'PUT',
    '/api/v1/applications/shop',
    APP,
    'update team/shop',
    { operation: 'deploy', target_id: 'argocd:team/shop/update#[0-9a-f]{64}' },
  ],
  [
    'PUT',
    '/api/v1/applications/shop/spec?appNamespace=team',
    {},
    'update spec of team/shop',
    { operation: 'deploy', target_id: 'argocd:team/shop/spec#[0-9a-f]{64}' },
  ],
  [
    'PATCH',
    '/api/v1/applications/shop',
    { patch: '{}', patchType: 'merge' },
    'patch argocd/shop',
    { operation: 'deploy', target_id: 'argocd:argocd/shop/patch#[0-9a-f]{64}' },
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
    { operation: 'deploy', target_id: 'argocd:argocd/shop/operation' },
  ],
  [
    'POST',
    '/api/v1/applications/shop/resource/actions',
    '"restart"',
    'run action on argocd/shop',
    { operation: 'deploy', target_id: 'argocd:argocd/shop/resource/actions#[0-9a-f]{64}' },
  ],
  [
    'POST',
    '/api/v1/applications/shop/resource/actions/v2',
    { action: 'restart', appNamespace: 'team' },
    'run action on team/shop',
    { operation: 'deploy', target_id: 'argocd:team/shop/resource/actions/v2#[0-9a-f]{64}' },
  ],
  [
    'DELETE',
    '/api/v1/applications/shop/resource?kind=Pod&appNamespace=team',
    undefined,
    'delete resource of team/shop',
    { operation: 'delete', target_id: 'argocd:team/shop/resource#[0-9a-f]{64}' },
  ],
  [
    'POST',
    '/api/v1/projects',
    {},
    'POST /api/v1/projects',
    { operation: 'deploy', target_id: 'argocd:/api/v1/projects#[0-9a-f]{64}' },
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
    const { upstream, proxy, send } = await argocdScene(t)
    const answer = await send(method, path, body)
    assert.equal(answer.status, 403)
    const reported: unknown = await answer.json()
    assert.equal(at(reported, 'receipt_required', 'context', 'operation'), context.operation)
    const target = String(at(reported, 'receipt_required', 'context', 'target_id'))
    assert.match(target, new RegExp(`^${context.target_id}$`))
    assert.equal(proxy.interceptions[0]?.action, action)
    assert.equal(upstream.requests.length, 0)
  })
}

test('the revision that is synced is bound as the head', async (t) => {
  const { proxy, send } = await argocdScene(t)
  const one: unknown = await (await send('POST', '/api/v1/applications/shop/sync', { revision: 'abc' })).json()
  assert.equal(at(one, 'receipt_required', 'context', 'head'), 'abc')
  const two: unknown = await (
    await send('POST', '/api/v1/applications/shop/sync', { revisions: ['a', 'b'], sourcePositions: [1, 2] })
  ).json()
  assert.equal(at(two, 'receipt_required', 'context', 'head'), 'a,b')
  assert.equal(proxy.interceptions.length, 2)
})

for (const [method, path, body] of [
  ['GET', '/api/v1/applications/shop', undefined],
  ['GET', '/api/v1/stream/applications', undefined],
  ['POST', '/api/v1/session', { username: 'a', password: 'b' }],
  ['POST', '/api/v1/applications/shop/sync', { dryRun: true }],
  ['POST', '/api/v1/applications/shop/rollback', { dryRun: true, id: 1 }],
] as const) {
  test(`${method} ${path} ${JSON.stringify(body ?? null)} passes`, async (t) => {
    const { upstream, proxy, send } = await argocdScene(t)
    assert.equal((await send(method, path, body)).status, 200)
    assert.equal(upstream.requests.length, 1)
    assert.equal(proxy.interceptions.length, 0)
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
  // grpc-gateway reads appNamespace[other] as the namespace "other", whatever its value is.
  ...['AppNamespace', 'appnamespace', 'APPNAMESPACE', 'app%4eamespacE', 'appNamespace[other]', 'appNamespace%5Bb%5D']
    .flatMap((name) => [
      ['DELETE', `/api/v1/applications/shop?${name}=other`],
      ['DELETE', `/api/v1/applications/shop/operation?${name}=other`],
      ['DELETE', `/api/v1/applications/shop/resource?kind=Pod&${name}=`],
      ['PUT', `/api/v1/applications/shop/spec?${name}`],
      ['POST', `/api/v1/applications/shop/resource?kind=Pod&${name}=argocd`],
      ['POST', `/api/v1/applications/shop/resource/actions?${name}=argocd`],
    ])
    .map(
      ([method = '', path = '']) =>
        [`the namespace in ${method} ${path}`, method, path, undefined, /Argo CD reads the parameter/] as const,
    ),
  [
    'the namespace beside a second one in brackets',
    'DELETE',
    '/api/v1/applications/shop?appNamespace=argocd&appNamespace[other]=x',
    undefined,
    /more than once/,
  ],
] as const) {
  test(`refused: ${why}`, async (t) => {
    const { upstream, send } = await argocdScene(t)
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
    const { upstream, send } = await argocdScene(t)
    await send(method, path, new Uint8Array(5), headers)
    assert.equal(upstream.requests.length, 0)
  })
}

/** As Argo CD's own .proto file has them, of fields as many as the tests need. */
test('applications without a namespace are in that of the server, and the server may stand below a path', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  const route = {
    name: 'argocd',
    match: { path: '/cd' },
    upstream: `${upstream.origin}/argo`,
    protocol: 'argocd',
    argocd: { namespace: 'gitops' },
  }
  const proxy = await startProxy({ routes: [route] })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const answer = await fetch(`${proxy.url}/cd/api/v1/applications/shop/sync`, { method: 'POST' })
  assert.equal(answer.status, 403)
  assert.equal(proxy.interceptions[0]?.action, 'sync gitops/shop')
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

/** What a receipt for a sync of the revision abc does not cover. */
const OTHERWISE: readonly (readonly [what: string, body: object])[] = [
  ['another revision beside that of sources', { revision: 'def', revisions: ['abc'], sourcePositions: [1] }],
  ['that of sources beside another revision', { revision: 'abc', revisions: ['def'], sourcePositions: [1] }],
  ['the revision of one source of several', { revisions: ['abc'], sourcePositions: [2] }],
  ['the revision of a source without its position', { revisions: ['abc'] }],
  ['manifests of the caller', { revision: 'abc', manifests: ['{"kind":"Pod"}'] }],
  ['no manifest in place of the revision', { revision: 'abc', manifests: [] }],
  ['manifests in other letters', { revision: 'abc', Manifests: ['{}'] }],
]

/** Calls that name no revision: what they deploy is not known, so a receipt for one revision is not for them. */
const UNNAMED: readonly object[] = [
  {},
  { revision: '' },
  { revisions: [] },
  { name: 'shop', project: 'p', prune: false, strategy: { hook: { force: false } }, infos: [], retryStrategy: null },
]

/** What a receipt for a sync does not cover, nor one of these for another of them. */
const OTHER_WRITES: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['POST', '/shop/sync', { prune: true }],
  ['POST', '/shop/sync', { strategy: { hook: { force: true } } }],
  ['POST', '/shop/sync', { strategy: { apply: {} } }],
  ['POST', '/shop/sync', { resources: [{ kind: 'Job', name: 'migrate' }] }],
  ['POST', '/shop/sync', { syncOptions: { items: ['Replace=true'] } }],
  ['POST', '/shop/rollback', { id: 3 }],
  ['POST', '/shop/rollback', { id: 4 }],
  ['PATCH', '/shop', { patch: '{}', patchType: 'merge' }],
  ['PATCH', '/shop', { patch: '{"spec":{}}', patchType: 'merge' }],
  ['PUT', '/shop/spec', {}],
  ['PUT', '/shop/spec?validate=false', {}],
  ['PUT', '/shop', { metadata: { name: 'shop' } }],
  ['POST', '', { metadata: { name: 'shop' } }],
  ['POST', '?upsert=true', { metadata: { name: 'shop' } }],
  ['POST', '/shop/resource?kind=Pod', {}],
  ['POST', '/shop/resource?kind=Secret', {}],
  ['POST', '/shop/resource/actions/v2', { action: 'restart' }],
  ['POST', '/shop/resource/actions/v2', { action: 'pause' }],
  ['DELETE', '/shop/operation'],
  ['DELETE', '/shop/resource?kind=Pod'],
  ['DELETE', '/shop/resource?kind=Deployment'],
  ['DELETE', '/shop'],
]

async function receivingGateway(t: TestContext) {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const routes = [{ name: 'argocd', match: { path: '/' }, upstream: upstream.origin, protocol: 'argocd' }]
  const gateway = await startTestGateway(t, { routes })
  const send = (token: string, [method, path, body]: (typeof OTHER_WRITES)[number]): Promise<Response> =>
    fetch(`${gateway.addresses.proxy}/api/v1/applications${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token !== '' && { 'preflight-receipt': token }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return { upstream, gateway, send }
}

test('a receipt for a revision serves no call that names none, and one without a revision does', async (t) => {
  const { upstream, gateway, send } = await receivingGateway(t)
  const act = { operation: 'deploy', target_id: 'argocd:argocd/shop' }
  const bound = await issuedReceipt(gateway, { ...act, head: 'abc' })
  for (const body of UNNAMED) {
    const refused = await send(bound, ['POST', '/shop/sync', body])
    const reported: unknown = await refused.json()
    assert.deepEqual(
      [refused.status, at(reported, 'receipt_required', 'reason'), at(reported, 'receipt_required', 'mismatches')],
      [403, 'context_incomplete', [{ member: 'head', expected: 'abc', stated: null }]],
      JSON.stringify(body),
    )
  }
  const unbound = await issuedReceipt(gateway, act)
  for (const body of UNNAMED)
    assert.equal((await send(unbound, ['POST', '/shop/sync', body])).status, 200, JSON.stringify(body))
  assert.equal(upstream.requests.length, UNNAMED.length)
})

test('each other write needs a receipt of its own, which the refusal names', async (t) => {
  const { upstream, gateway, send } = await receivingGateway(t)
  const tokens: string[] = [await issuedReceipt(gateway, { operation: 'deploy', target_id: 'argocd:argocd/shop' })]
  for (const write of OTHER_WRITES) {
    const refused: unknown = await (await send('', write)).json()
    const context = recordIn(at(refused, 'receipt_required', 'context'))
    tokens.push(
      await issuedReceipt(gateway, { operation: String(context.operation), target_id: String(context.target_id) }),
    )
  }
  for (const [index, write] of OTHER_WRITES.entries())
    for (const [other, token] of tokens.entries()) {
      const isOwn = other === index + 1
      assert.equal((await send(token, write)).status, isOwn ? 200 : 403, `${JSON.stringify(write)} with ${other}`)
    }
  assert.equal(upstream.requests.length, OTHER_WRITES.length)
})

test('a receipt for a revision serves no sync that deploys something else', async (t) => {
  const { upstream, gateway, send } = await receivingGateway(t)
  const token = await issuedReceipt(gateway, { operation: 'deploy', target_id: 'argocd:argocd/shop', head: 'abc' })
  for (const [what, body] of OTHERWISE) {
    const answer = await send(token, ['POST', '/shop/sync', body])
    assert.match(String(answer.status), /^40[03]$/, what)
  }
  assert.equal(upstream.requests.length, 0)
})
