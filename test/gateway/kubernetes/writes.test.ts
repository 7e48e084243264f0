/** Writes to the Kubernetes API that need a receipt, rehearsals that need none, connections, and what cannot be read with one meaning. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../../gateway/config/load.ts'
import { startFakeCluster } from '../../fakes/kubernetes-api.ts'
import { scene, CRDS, DEPLOYMENTS, widgetCrd, deployment } from '../../fakes/kubernetes-scene.ts'
import { startProxy } from '../../fakes/proxy-under-test.ts'
import { at } from '../../json.ts'

for (const [method, path, body, name, target] of [
  ['POST', DEPLOYMENTS, deployment(), 'create deployments shop/web', 'k8s:Deployment:shop/web'],
  ['PUT', `${DEPLOYMENTS}/web`, deployment(), 'update deployments shop/web', 'k8s:Deployment:shop/web'],
  [
    'PATCH',
    `${DEPLOYMENTS}/web/scale`,
    { spec: { replicas: 3 } },
    'patch deployments/scale shop/web',
    'k8s:Deployment:shop/web',
  ],
  [
    'PATCH',
    `${DEPLOYMENTS}/web/status`,
    { status: {} },
    'patch deployments/status shop/web',
    'k8s:Deployment:shop/web',
  ],
  ['DELETE', `${DEPLOYMENTS}/web`, undefined, 'delete deployments shop/web', 'k8s:Deployment:shop/web'],
  ['DELETE', DEPLOYMENTS, undefined, 'deletecollection deployments shop/*', 'k8s:Deployment:shop/*'],
  [
    'POST',
    '/api/v1/namespaces/shop/pods',
    { metadata: { generateName: 'job-' } },
    'create pods shop/job-*',
    'k8s:Pod:shop/job-*',
  ],
  [
    'POST',
    '/api/v1/namespaces/shop/pods/web-1/eviction',
    { metadata: { name: 'web-1', namespace: 'shop' } },
    'create pods/eviction shop/web-1',
    'k8s:Pod:shop/web-1',
  ],
  ['POST', '/api/v1/namespaces', { metadata: { name: 'shop' } }, 'create namespaces shop', 'k8s:Namespace:/shop'],
  ['DELETE', '/api/v1/namespaces/shop', undefined, 'delete namespaces shop', 'k8s:Namespace:/shop'],
  [
    'POST',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    { metadata: { name: 'system:x' } },
    'create clusterroles system:x',
    'k8s:ClusterRole:/system:x',
  ],
  [
    'DELETE',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Ax',
    undefined,
    'delete clusterroles system:x',
    'k8s:ClusterRole:/system:x',
  ],
  [
    'PATCH',
    '/apis/example.com/v1/namespaces/shop/widgets/w',
    { spec: {} },
    'patch widgets shop/w',
    'k8s:Widget:shop/w',
  ],
] as const) {
  test(`${name} needs a receipt for ${target}`, async (t) => {
    const { cluster, proxy, send } = await scene(t)
    const { status, body: answer } = await send(method, path, body)
    assert.equal(status, 403)
    assert.deepEqual(cluster.writes(), [])
    assert.equal(proxy.interceptions[0]?.action, name)
    assert.match(String(at(answer, 'message')), new RegExp(`"target_id":"${target.replaceAll('*', '\\*')}"`))
    const operation = /^(?:delete|create pods\/eviction)/.test(name) ? 'delete' : 'deploy'
    assert.equal(String(at(answer, 'message')).includes(`"operation":"${operation}"`), true)
  })
}

for (const path of ['/api/v1/namespaces/shop/events', '/apis/coordination.k8s.io/v1/namespaces/shop/leases']) {
  test(`bookkeeping at ${path} passes`, async (t) => {
    const { cluster, send, proxy } = await scene(t)
    await send('POST', path, { metadata: { name: 'x' } })
    assert.equal(cluster.writes().length, 1)
    assert.equal(proxy.interceptions.length, 0)
  })
}

test('a route may ask for receipts of some classes, kinds and custom resources only', async (t) => {
  const { cluster, send } = await scene(t, { receipts: ['network', 'DaemonSet', 'widgets.example.com'] })
  assert.equal((await send('POST', '/api/v1/namespaces/shop/services', { metadata: { name: 'x' } })).status, 403)
  assert.equal(
    (await send('POST', '/apis/apps/v1/namespaces/shop/daemonsets', { metadata: { name: 'x' } })).status,
    403,
  )
  assert.equal(
    (await send('POST', '/apis/example.com/v1/namespaces/shop/widgets', { metadata: { name: 'x' } })).status,
    403,
  )
  assert.equal((await send('POST', DEPLOYMENTS, deployment())).status, 201)
  assert.equal(cluster.writes().length, 1)
})

for (const [method, path, body] of [
  ['POST', `${DEPLOYMENTS}?dryRun=All`, deployment()],
  ['PATCH', `${DEPLOYMENTS}/web?fieldManager=a&dryRun=All`, { spec: {} }],
  ['POST', `${CRDS}?dryRun=All`, widgetCrd()],
  ['DELETE', `${DEPLOYMENTS}/web?dryRun=All`, undefined],
  ['DELETE', `${DEPLOYMENTS}/web`, { kind: 'DeleteOptions', dryRun: ['All'] }],
  ['POST', '/api/v1/namespaces/shop/pods/p/eviction', { metadata: { name: 'p' }, deleteOptions: { dryRun: ['All'] } }],
] as const) {
  test(`the dry run ${method} ${path} passes: it changes nothing`, async (t) => {
    const { cluster, send, proxy } = await scene(t)
    await send(method, path, body)
    assert.equal(cluster.requests.length, 1)
    assert.equal(proxy.interceptions.length, 0)
  })
}

for (const [why, method, path, body] of [
  [
    'a body of DeleteOptions takes the place of the query',
    'DELETE',
    `${DEPLOYMENTS}/web?dryRun=All`,
    { kind: 'DeleteOptions' },
  ],
  ['another value', 'POST', `${DEPLOYMENTS}?dryRun=all`, deployment()],
  ['another spelling', 'POST', `${DEPLOYMENTS}?dryrun=All`, deployment()],
  ['two values', 'POST', `${DEPLOYMENTS}?dryRun=All&dryRun=`, deployment()],
  ['an encoded value', 'POST', `${DEPLOYMENTS}?dryRun=%41ll`, deployment()],
  ['a semicolon, at which Go drops the parameter', 'POST', `${DEPLOYMENTS}?dryRun=All;a=b`, deployment()],
  [
    'a token is issued all the same',
    'POST',
    '/api/v1/namespaces/shop/serviceaccounts/sa/token?dryRun=All',
    { spec: {} },
  ],
] as const) {
  test(`no dry run: ${why}`, async (t) => {
    const { cluster, send } = await scene(t)
    assert.equal((await send(method, path, body)).status, 403)
    assert.deepEqual(cluster.writes(), [])
  })
}

for (const [path, operation] of [
  ['/api/v1/namespaces/shop/pods/web/exec?command=sh', 'exec'],
  ['/api/v1/namespaces/shop/pods/web/attach', 'attach'],
  ['/api/v1/namespaces/shop/pods/web/portforward', 'portforward'],
  ['/api/v1/namespaces/shop/services/http:web:80/proxy/a//b', 'proxy'],
  ['/api/v1/nodes/n1/proxy/pods', 'proxy'],
  ['/api/v1/namespaces/shop/pods/web/%65xec', 'exec'],
] as const) {
  test(`GET ${path} is ${operation}, and no read`, async (t) => {
    const { cluster, send } = await scene(t)
    const { status, body } = await send('GET', path)
    assert.equal(status, 403)
    assert.match(String(at(body, 'message')), new RegExp(`"operation":"${operation}"`))
    assert.equal(
      cluster.requests.some(({ url }) => url === path),
      false,
    )
  })
}

test('connections are refused or let through as the route says', async (t) => {
  const denying = await scene(t, { streams: 'deny' })
  const denied = await denying.send('POST', '/api/v1/namespaces/shop/pods/web/exec')
  assert.equal(denied.status, 403)
  assert.match(String(at(denied.body, 'message')), /lets no exec through/)
  const passing = await scene(t, { streams: 'pass' })
  await passing.send('GET', '/api/v1/namespaces/shop/pods/web/exec')
  assert.equal(passing.cluster.requests.length, 1)
})

test('an observing route denies no connection, and records what it would have stopped', async (t) => {
  const { cluster, proxy, send } = await scene(t, { streams: 'deny' }, { mode: 'observe' })
  await send('GET', '/api/v1/namespaces/shop/pods/web/proxy')
  assert.equal(cluster.requests.at(-1)?.url, '/api/v1/namespaces/shop/pods/web/proxy')
  assert.equal(proxy.interceptions[0]?.executionAction, 'STOP')
})

for (const [why, method, path, body, headers, status, message] of [
  [
    'protobuf that is none',
    'POST',
    DEPLOYMENTS,
    'k8s',
    { 'content-type': 'application/vnd.kubernetes.protobuf' },
    400,
    /does not begin/,
  ],
  [
    'CBOR',
    'PATCH',
    `${DEPLOYMENTS}/web`,
    'x',
    { 'content-type': 'application/apply-patch+cbor' },
    415,
    /apply-patch\+cbor/,
  ],
  ['a compressed body', 'POST', DEPLOYMENTS, 'x', { 'content-encoding': 'gzip' }, 415, /gzip/],
  [
    'an unknown form of patch',
    'PATCH',
    `${DEPLOYMENTS}/web`,
    '{}',
    { 'content-type': 'application/json' },
    415,
    /merge-patch/,
  ],
  ['broken JSON', 'POST', DEPLOYMENTS, '{', {}, 400, /./],
  ['a member twice', 'POST', DEPLOYMENTS, '{"metadata":{"name":"a","name":"b"}}', {}, 400, /name/],
  [
    'YAML with a key twice',
    'PATCH',
    `${DEPLOYMENTS}/web`,
    'metadata:\n  name: web\n  name: w\n',
    { 'content-type': 'application/apply-patch+yaml' },
    400,
    /duplicated/,
  ],
  ['no body', 'POST', DEPLOYMENTS, undefined, {}, 400, /no body/],
  ['no object', 'POST', DEPLOYMENTS, '[]', {}, 400, /not an object/],
  [
    'a JSON patch that is not a list',
    'PATCH',
    `${DEPLOYMENTS}/web`,
    '{}',
    { 'content-type': 'application/json-patch+json' },
    400,
    /RFC 6902/,
  ],
  ['an object without a name', 'POST', DEPLOYMENTS, '{}', {}, 400, /generateName/],
  [
    'an object of another kind than the path',
    'POST',
    DEPLOYMENTS,
    '{"kind":"Pod","metadata":{"name":"x"}}',
    {},
    400,
    /of a Deployment/,
  ],
  [
    'an object of another name than the path',
    'PUT',
    `${DEPLOYMENTS}/web`,
    '{"metadata":{"name":"x"}}',
    {},
    400,
    /names web/,
  ],
  [
    'an object of another namespace than the path',
    'POST',
    DEPLOYMENTS,
    '{"metadata":{"name":"x","namespace":"bank"}}',
    {},
    400,
    /namespace shop/,
  ],
  ['an empty segment', 'DELETE', '/apis/apps/v1/namespaces//deployments/web', undefined, {}, 400, /empty segment/],
  [
    'an empty segment in a read, which may be an exec',
    'GET',
    '/api/v1/namespaces/shop//pods/web/exec',
    undefined,
    {},
    400,
    /empty segment/,
  ],
  ['a path behind a subresource', 'PUT', `${DEPLOYMENTS}/web/scale/x`, '{}', {}, 400, /subresource/],
  [
    'the path form of proxies that was taken out of the API',
    'GET',
    '/api/v1/proxy/namespaces/shop/services/web/',
    undefined,
    {},
    400,
    /taken out/,
  ],
  ['a watch that is not a GET', 'DELETE', '/api/v1/watch/namespaces/shop/pods', undefined, {}, 405, /watch is a GET/],
  ['a write to what is not a resource', 'POST', '/openid/v1/jwks', '{}', {}, 405, /judge/],
  ['an update without a name', 'PUT', DEPLOYMENTS, '{}', {}, 405, /needs the name/],
  ['an unknown method', 'PROPFIND', DEPLOYMENTS, undefined, {}, 405, /PROPFIND/],
  ['a collection of definitions deleted at once', 'DELETE', CRDS, undefined, {}, 405, /one by one/],
] as const) {
  test(`${why} is refused with a Status`, async (t) => {
    const { cluster, proxy, send } = await scene(t)
    const sent = await send(method, path, body, headers)
    assert.equal(sent.status, status)
    assert.equal(at(sent.body, 'kind'), 'Status')
    assert.equal(at(sent.body, 'code'), status)
    assert.match(String(at(sent.body, 'message')), message)
    assert.deepEqual(cluster.requests, [])
    assert.equal(proxy.interceptions.length, 0)
  })
}

test('a kind that does not exist is a mistake in the configuration, with the one that was meant', () => {
  const route = { name: 'cluster', match: {}, upstream: 'http://127.0.0.1:1', protocol: 'kubernetes' }
  const value = {
    routes: [{ ...route, kubernetes: { receipts: ['workloads', 'Deploymnt'], contracts: ['x.example.com'] } }],
  }
  const loaded = loadConfig({ environment: {}, value })
  assert.ok(!loaded.ok)
  assert.deepEqual(
    loaded.problem.map(({ path }) => path),
    ['routes[0].kubernetes.receipts[1]'],
  )
  assert.match(loaded.problem[0]?.fix ?? '', /did you mean Deployment\?/)
})

test('the API may stand below a path of the upstream', async (t) => {
  const cluster = await startFakeCluster()
  const route = {
    name: 'cluster',
    match: { path: '/one' },
    upstream: `${cluster.origin}/k8s/c-1/`,
    protocol: 'kubernetes',
  }
  const proxy = await startProxy({ routes: [route] })
  t.after(async () => {
    await proxy.close()
    await cluster.close()
  })
  const answer = await fetch(`${proxy.url}/one${DEPLOYMENTS}`, {
    method: 'POST',
    body: JSON.stringify(deployment()),
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(answer.status, 403)
  assert.equal(proxy.interceptions[0]?.action, 'create deployments shop/web')
})
