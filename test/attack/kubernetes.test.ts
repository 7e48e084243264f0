/** Writes to the Kubernetes API that are judged for one object and meant for another. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { listening } from '../fakes/listening.ts'
import { CONFIG_MAPS, CRDS, DEPLOYMENTS, deployment, scene, widgetCrd } from '../fakes/kubernetes-scene.ts'
import { startRoad } from '../fakes/road.ts'
import { at } from '../json.ts'

const YAML = { 'content-type': 'application/yaml' }
const written = (requests: readonly { readonly method: string }[]) => requests.filter(({ method }) => method !== 'GET')

for (const [what, breaks] of [
  ['a next line', '\u0085'],
  ['a line separator', '\u2028'],
  ['a paragraph separator', '\u2029'],
] as const) {
  test(`an object that ${what} gives another name to readers of YAML 1.1 is refused`, async (t) => {
    const { send, cluster } = await scene(t)
    const body = `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  # ${breaks}  name: other\n`
    assert.equal((await send('POST', DEPLOYMENTS, body, YAML)).status, 400)
    const options = `kind: DeleteOptions\n# ${breaks}dryRun: []\ndryRun: [All]\n`
    assert.equal((await send('DELETE', `${DEPLOYMENTS}/web`, options, YAML)).status, 400)
    assert.deepEqual(written(cluster.requests), [])
  })
}

for (const [what, method, path, body, headers] of [
  ['a tag that decodes the name', 'POST', DEPLOYMENTS, 'kind: Deployment\nmetadata: {name: !!binary emdh}\n', YAML],
  [
    'two documents',
    'POST',
    DEPLOYMENTS,
    'kind: Deployment\nmetadata: {name: web}\n---\nkind: Deployment\nmetadata: {name: other}\n',
    YAML,
  ],
  ['a name twice', 'POST', DEPLOYMENTS, '{"kind":"Deployment","metadata":{"name":"web","n\\u0061me":"other"}}', {}],
  ['the name of another object', 'PUT', `${DEPLOYMENTS}/web`, { ...deployment(), metadata: { name: 'other' } }, {}],
  [
    'another namespace',
    'POST',
    DEPLOYMENTS,
    { ...deployment(), metadata: { name: 'web', namespace: 'kube-system' } },
    {},
  ],
  ['another kind', 'POST', CONFIG_MAPS, { ...deployment(), kind: 'Secret' }, {}],
  ['a list of objects', 'POST', DEPLOYMENTS, [deployment()], {}],
  ['no name', 'POST', DEPLOYMENTS, { kind: 'Deployment', metadata: {} }, {}],
  ['an encoded body', 'POST', DEPLOYMENTS, deployment(), { 'content-encoding': 'gzip' }],
  ['a body of no known form', 'POST', DEPLOYMENTS, 'x', { 'content-type': 'application/cbor' }],
  ['a segment too many', 'PUT', `${DEPLOYMENTS}/web/status/more`, deployment(), {}],
  ['an empty segment', 'PUT', '/apis/apps/v1/namespaces//deployments/web', deployment(), {}],
  ['the old form of a proxy', 'POST', '/api/v1/proxy/namespaces/shop/pods/web-1/run', {}, {}],
  ['a write outside of any resource', 'POST', '/logs', {}, {}],
] as const) {
  test(`a write with ${what} is refused`, async (t) => {
    const { send, cluster } = await scene(t)
    const answer = await send(method, path, body, headers)
    assert.ok(answer.status >= 400 && answer.status < 500, String(answer.status))
    assert.deepEqual(written(cluster.requests), [])
  })
}

for (const query of [
  'dryRun=All&dryRun=',
  'dryrun=All',
  '%64ryRun=All',
  'dryRun=all',
  'dryRun=All%00',
  'dryRun[]=All',
  'fieldManager=x;dryRun=All',
  'dryRun=None&dryRun=All',
  'dryRun=%41ll',
]) {
  test(`${query} is no rehearsal that passes by itself`, async (t) => {
    const { send, cluster } = await scene(t)
    assert.equal((await send('PUT', `${DEPLOYMENTS}/web?${query}`, deployment())).status, 403)
    assert.deepEqual(written(cluster.requests), [])
  })
}

for (const [what, method, path] of [
  ['exec by GET', 'GET', '/api/v1/namespaces/shop/pods/web-1/exec?command=sh'],
  ['exec by POST', 'POST', '/api/v1/namespaces/shop/pods/web-1/exec?command=sh'],
  ['exec in other escapes', 'GET', '/api/v1/namespaces/shop/pods/web-1/%65xec?command=sh'],
  ['exec with a slash at the end', 'GET', '/api/v1/namespaces/shop/pods/web-1/exec/'],
  ['the proxy of a node', 'GET', '/api/v1/nodes/n1/proxy/run/shop/web-1/app?cmd=id'],
  ['the proxy of a service', 'GET', '/api/v1/namespaces/shop/services/https:web:443/proxy/'],
  ['a port of a pod', 'GET', '/api/v1/namespaces/shop/pods/web-1/portforward'],
] as const) {
  test(`${what} is a connection that needs a receipt`, async (t) => {
    const { send, cluster } = await scene(t)
    assert.equal((await send(method, path)).status, 403)
    assert.ok(cluster.requests.every(({ url: asked }) => !/exec|proxy|portforward/.test(asked)))
  })
}

test('a definition that the API server takes for another one is not judged for the first', async (t) => {
  const arrived: string[] = []
  const origin = await listening(
    t,
    createServer((request, response) => {
      void text(request).then(() => {
        arrived.push(`${request.method} ${request.url}`)
        const other = { ...widgetCrd(), metadata: { name: 'gadgets.example.com', resourceVersion: '1' } }
        return response.setHeader('content-type', 'application/json').end(JSON.stringify(other))
      })
    }),
  )
  const road = await startRoad({
    routes: [{ name: 'cluster', match: { path: '/' }, upstream: origin, protocol: 'kubernetes' }],
  })
  t.after(() => road.close())
  const answer = await fetch(`${road.url}${CRDS}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(widgetCrd()),
  })
  assert.equal(answer.status, 503)
  assert.match(String(at(await answer.json(), 'message')), /gadgets\.example\.com/)
  assert.deepEqual(arrived, [`POST ${CRDS}?dryRun=All`])
})

for (const field of [
  'Impersonate-User',
  'impersonate-group',
  'Impersonate-Uid',
  'Impersonate-Extra-Scopes',
  'X-Remote-User',
  'X-Remote-Group',
  'X-Remote-Extra-Role',
])
  test(`a receipt is worth nothing for a request that acts as another by ${field}`, async (t) => {
    const { send, cluster } = await scene(t)
    const headers = { [field]: 'root', 'preflight-receipt': 'any' }
    for (const [method, path, body] of [
      ['POST', DEPLOYMENTS, deployment()],
      ['DELETE', `${DEPLOYMENTS}/web`, {}],
      ['POST', CRDS, widgetCrd()],
      ['POST', '/api/v1/namespaces/shop/pods/web-1/exec?command=id', {}],
    ] as const) {
      const answer = await send(method, path, body, headers)
      assert.equal(answer.status, 403, `${method} ${path}`)
      assert.match(String(at(answer.body, 'message')), /acts as another user/)
    }
    assert.deepEqual(cluster.requests, [])
  })

test('an object whose YAML merges is refused', async (t) => {
  const { send, cluster } = await scene(t)
  const body = 'kind: DeleteOptions\ndryRun: [All]\n<<: {dryRun: []}\n'
  assert.equal((await send('DELETE', `${DEPLOYMENTS}/web`, body, YAML)).status, 400)
  const object = 'kind: Deployment\nmetadata: {name: web, <<: {name: other}}\n'
  assert.equal((await send('POST', DEPLOYMENTS, object, YAML)).status, 400)
  assert.deepEqual(written(cluster.requests), [])
})
