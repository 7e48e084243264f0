/** The Kubernetes API through the proxy: what passes, and what is compared with the cluster before it is written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scene, CRDS, CONFIG_MAPS, DEPLOYMENTS, widgetCrd, configMap, OPENAPI } from '../../fakes/kubernetes-scene.ts'
import { at } from '../../json.ts'

for (const [method, path] of [
  ['GET', '/'],
  ['GET', '/version'],
  ['GET', '/apis'],
  ['GET', '/openapi/v3'],
  ['GET', '/api/v1/namespaces/shop/pods?limit=500'],
  ['GET', '/api/v1/pods'],
  ['GET', `${DEPLOYMENTS}/web/scale`],
  ['HEAD', '/api/v1/namespaces/shop'],
] as const) {
  test(`${method} ${path} passes unjudged`, async (t) => {
    const { cluster, proxy } = await scene(t)
    await fetch(`${proxy.url}${path}`, { method })
    assert.equal(cluster.requests.at(-1)?.url, path)
    assert.equal(proxy.flow.asked.length, 0)
    assert.equal(proxy.interceptions.length, 0)
  })
}

test('a review of access passes: it asks and changes nothing', async (t) => {
  const { send, proxy } = await scene(t)
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: {} }
  const { status, body } = await send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review)
  assert.equal(status, 201)
  assert.equal(at(body, 'status', 'allowed'), true)
  assert.equal(proxy.interceptions.length, 0)
})

test('the definition that is written is compared with the one in the cluster, without what the server adds', async (t) => {
  const { cluster, proxy, send } = await scene(t)
  cluster.put('customresourcedefinitions', widgetCrd())
  const stored = cluster.object('customresourcedefinitions//widgets.example.com')
  const resourceVersion = at(stored, 'metadata', 'resourceVersion')
  const next = widgetCrd({ size: { type: 'string' } })
  const { status } = await send('PUT', `${CRDS}/widgets.example.com`, {
    ...next,
    metadata: { name: 'widgets.example.com', resourceVersion },
  })
  assert.equal(status, 200)
  const [asked] = proxy.flow.asked
  assert.deepEqual(
    asked?.artifacts.map(({ id, type }) => [id, type]),
    [['k8s:CustomResourceDefinition:/widgets.example.com', 'k8s_crd']],
  )
  assert.deepEqual(JSON.parse(asked?.artifacts[0]?.before ?? ''), widgetCrd())
  assert.deepEqual(JSON.parse(asked?.artifacts[0]?.after ?? ''), next)
  assert.equal(asked?.context.operation, 'deploy')
  assert.equal(asked?.context.target_id, 'k8s:CustomResourceDefinition:/widgets.example.com')
})

for (const [form, type, patch] of [
  [
    'a JSON patch',
    'application/json-patch+json',
    [{ op: 'remove', path: '/spec/versions/0/schema/openAPIV3Schema/properties/size' }],
  ],
  [
    'a merge patch',
    'application/merge-patch+json',
    {
      spec: {
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: {} } } },
        ],
      },
    },
  ],
  [
    'a strategic merge patch',
    'application/strategic-merge-patch+json',
    { spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: { properties: { size: null } } } }] } },
  ],
  ['server-side apply', 'application/apply-patch+yaml', widgetCrd({ size: null })],
] as const) {
  test(`${form} to a definition is judged by what the cluster would make of it`, async (t) => {
    const { cluster, proxy, send } = await scene(t)
    cluster.put('customresourcedefinitions', widgetCrd())
    const { status } = await send('PATCH', `${CRDS}/widgets.example.com?fieldManager=me`, patch, {
      'content-type': type,
    })
    assert.equal(status, 200)
    const after: unknown = JSON.parse(proxy.flow.asked[0]?.artifacts[0]?.after ?? '')
    assert.deepEqual(after, widgetCrd({}))
    assert.deepEqual(
      cluster.requests.map(({ method, isDryRun }) => [method, isDryRun]),
      [
        ['PATCH', true],
        ['GET', false],
        ['PATCH', false],
      ],
    )
    assert.match(cluster.requests[0]?.url ?? '', /\?fieldManager=me&dryRun=All$/)
  })
}

test('a definition that server-side apply creates has nothing before it', async (t) => {
  const { cluster, proxy, send } = await scene(t)
  const type = { 'content-type': 'application/apply-patch+yaml' }
  const { status } = await send('PATCH', `${CRDS}/widgets.example.com?fieldManager=me`, widgetCrd(), type)
  assert.equal(status, 201)
  assert.equal(proxy.flow.asked[0]?.artifacts[0]?.before, '')
  assert.ok(cluster.object('customresourcedefinitions//widgets.example.com'))
})

test('a new definition has nothing before it, a deleted one nothing after it', async (t) => {
  const { proxy, send } = await scene(t)
  await send('POST', CRDS, widgetCrd())
  await send('DELETE', `${CRDS}/widgets.example.com`)
  const sides = proxy.flow.asked.map(({ artifacts: [artifact] }) => [artifact?.before === '', artifact?.after === ''])
  assert.deepEqual(sides, [
    [true, false],
    [false, true],
  ])
})

test('a stopped definition is not written, and the answer is a Status that kubectl prints', async (t) => {
  const { cluster, send } = await scene(t, {}, { decide: () => 'BLOCK' })
  const { status, headers, body } = await send('POST', CRDS, widgetCrd())
  assert.equal(status, 403)
  assert.deepEqual(cluster.writes(), [])
  assert.equal(headers.get('preflight-action'), 'STOP')
  assert.deepEqual(
    ['kind', 'apiVersion', 'status', 'reason', 'code'].map((member) => at(body, member)),
    ['Status', 'v1', 'Failure', 'Forbidden', 403],
  )
  assert.match(String(at(body, 'message')), /stopped create customresourcedefinitions widgets\.example\.com/)
  assert.equal(at(body, 'details', 'kind'), 'CustomResourceDefinition')
  assert.equal(at(body, 'details', 'causes', 0, 'reason'), 'PREFLIGHT_STOP')
})

test('one that waits for an approval is Forbidden too: no client takes it for something to try again', async (t) => {
  const { send } = await scene(t, {}, { decide: () => 'REQUIRE_APPROVAL' })
  const { status, headers, body } = await send('POST', CRDS, widgetCrd())
  assert.equal(status, 403)
  assert.equal(headers.get('preflight-action'), 'REQUEST_APPROVAL')
  assert.equal(at(body, 'details', 'causes', 0, 'reason'), 'PREFLIGHT_APPROVAL_REQUIRED')
})

test('the questions to the cluster carry the credentials of the call and go nowhere else', async (t) => {
  const { cluster, send } = await scene(t)
  cluster.put('customresourcedefinitions', widgetCrd())
  const headers = { authorization: 'Bearer caller', 'impersonate-user': 'jane' }
  await send('PATCH', `${CRDS}/widgets.example.com`, { metadata: { labels: { a: 'b' } } }, headers)
  assert.equal(cluster.requests.length, 3)
  for (const request of cluster.requests) {
    assert.equal(request.headers.authorization, 'Bearer caller')
    assert.equal(request.headers['impersonate-user'], 'jane')
  }
})

test('what the API server refuses to rehearse is answered in its own words', async (t) => {
  const { cluster, proxy, send } = await scene(t)
  cluster.intervene = ({ isDryRun }) => (isDryRun ? { code: 422, message: 'spec.scope: Required value' } : null)
  const { status, body } = await send('POST', CRDS, widgetCrd())
  assert.equal(status, 422)
  assert.equal(at(body, 'message'), 'spec.scope: Required value')
  assert.equal(proxy.flow.asked.length, 0)
  assert.deepEqual(cluster.writes(), [])
})

test('an API server that fails leaves the write undecided', async (t) => {
  const { cluster, send } = await scene(t)
  cluster.intervene = ({ isDryRun }) => (isDryRun ? { code: 500, message: 'etcd is away' } : null)
  const { status, body } = await send('POST', CRDS, widgetCrd())
  assert.equal(status, 503)
  assert.equal(at(body, 'reason'), 'ServiceUnavailable')
  assert.deepEqual(cluster.writes(), [])
})

test('an object that changes between the two questions is looked at again', async (t) => {
  const { cluster, proxy, send } = await scene(t)
  cluster.put('customresourcedefinitions', widgetCrd())
  let isMeddling = true
  cluster.intervene = ({ method }) => {
    if (method === 'GET' && isMeddling) {
      isMeddling = false
      cluster.put('customresourcedefinitions', widgetCrd({ colour: { type: 'string' } }))
    }
    return null
  }
  await send('PATCH', `${CRDS}/widgets.example.com`, { metadata: { labels: { a: 'b' } } })
  const { before = '', after = '' } = proxy.flow.asked[0]?.artifacts[0] ?? {}
  assert.match(before, /colour/)
  assert.match(after, /colour/)
})

test('an object that never holds still is not judged at all', async (t) => {
  const { cluster, proxy, send } = await scene(t)
  cluster.put('customresourcedefinitions', widgetCrd())
  cluster.intervene = ({ method }) => {
    if (method === 'GET') cluster.put('customresourcedefinitions', widgetCrd())
    return null
  }
  const { status } = await send('PATCH', `${CRDS}/widgets.example.com`, { metadata: { labels: { a: 'b' } } })
  assert.equal(status, 503)
  assert.equal(proxy.flow.asked.length, 0)
})

for (const [what, isMeddled, result] of [
  ['as it was judged', false, 'as_judged'],
  ['upon somebody else’s change', true, 'differs'],
] as const) {
  test(`a patch that is applied ${what} is counted ${result}`, async (t) => {
    const { cluster, proxy, send } = await scene(t)
    cluster.put('customresourcedefinitions', widgetCrd())
    cluster.intervene = ({ method, isDryRun }) => {
      if (isMeddled && method === 'PATCH' && !isDryRun)
        cluster.put('customresourcedefinitions', widgetCrd({ colour: { type: 'string' } }))
      return null
    }
    await send('PATCH', `${CRDS}/widgets.example.com`, { metadata: { labels: { a: 'b' } } })
    const metrics = await proxy.metrics.text()
    assert.match(metrics, new RegExp(`preflight_written_objects_total{route="cluster",result="${result}"} 1`))
    assert.equal(
      proxy.log.some((line) => line.includes('kubernetes.concurrent_change')),
      isMeddled,
    )
  })
}

test('a contract in a ConfigMap is compared key by key', async (t) => {
  const { cluster, proxy, send } = await scene(t)
  cluster.put('configmaps', configMap({ 'openapi.yaml': OPENAPI, 'app.proto': 'syntax = "proto3";', motd: 'hello' }))
  const next = OPENAPI.replace('title: t', 'title: u')
  const { status } = await send('PATCH', `${CONFIG_MAPS}/api`, { data: { 'openapi.yaml': next } })
  assert.equal(status, 200)
  assert.deepEqual(proxy.flow.asked[0]?.artifacts, [
    {
      id: 'k8s:ConfigMap:shop/api#/data/openapi.yaml',
      type: 'openapi',
      before: OPENAPI,
      after: next,
      path: '/data/openapi.yaml',
    },
  ])
  assert.equal(proxy.flow.asked.length, 1)
})

test('a contract that is replaced by something unreadable is still judged as the contract that it was', async (t) => {
  const { cluster, proxy, send } = await scene(t)
  cluster.put('configmaps', configMap({ api: OPENAPI }))
  await send('PATCH', `${CONFIG_MAPS}/api`, { data: { api: '{{{' } })
  assert.deepEqual(
    proxy.flow.asked[0]?.artifacts.map(({ type, after }) => [type, after]),
    [['openapi', '{{{']],
  )
})

test('an unreadable text under the name of a contract is one', async (t) => {
  const { proxy, send } = await scene(t)
  await send('POST', CONFIG_MAPS, configMap({ 'schema.graphql': 'type {' }))
  assert.deepEqual(
    proxy.flow.asked[0]?.artifacts.map(({ type }) => type),
    ['graphql'],
  )
})

test('whatever else changes in a ConfigMap needs a receipt, unless the route does not ask for one', async (t) => {
  const strict = await scene(t)
  const { status } = await strict.send('POST', CONFIG_MAPS, configMap({ motd: 'hello' }))
  assert.equal(status, 403)
  const lenient = await scene(t, { receipts: ['workloads'] })
  assert.equal((await lenient.send('POST', CONFIG_MAPS, configMap({ motd: 'hello' }))).status, 201)
  assert.equal(lenient.proxy.flow.asked.length, 0)
  assert.equal(lenient.proxy.interceptions.length, 0)
  assert.match(await lenient.proxy.metrics.text(), /preflight_calls_total{route="cluster",outcome="passed"} 1/)
})
