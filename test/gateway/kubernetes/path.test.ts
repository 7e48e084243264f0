/** Paths of the Kubernetes API: each as the API server reads it, and no arrangement of segments by which a write or a shell goes through unjudged. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Call } from '../../../gateway/calls/call.ts'
import { objectPath, readApiPath } from '../../../gateway/protocols/kubernetes/path.ts'
import type { KubernetesRoute } from '../../../gateway/protocols/kubernetes/settings.ts'
import { createKubernetesRecogniser } from '../../../gateway/protocols/kubernetes/recogniser.ts'
import { Observation } from '../../../gateway/telemetry/observation.ts'
import { loadConfig } from '../../../gateway/config/load.ts'

for (const [path, group, version, namespace, resource, name, subresource] of [
  ['/api/v1/pods', '', 'v1', null, 'pods', null, null],
  ['/api/v1/namespaces', '', 'v1', null, 'namespaces', null, null],
  ['/api/v1/namespaces/shop', '', 'v1', null, 'namespaces', 'shop', null],
  ['/api/v1/namespaces/shop/finalize', '', 'v1', null, 'namespaces', 'shop', 'finalize'],
  ['/api/v1/namespaces/shop/status', '', 'v1', null, 'namespaces', 'shop', 'status'],
  ['/api/v1/namespaces/shop/pods', '', 'v1', 'shop', 'pods', null, null],
  ['/api/v1/namespaces/shop/pods/', '', 'v1', 'shop', 'pods', null, null],
  ['/api/v1/watch/namespaces/shop/pods/p', '', 'v1', 'shop', 'pods', 'p', null],
  ['/apis/apps/v1/namespaces/shop/deployments/web/scale?x=1', 'apps', 'v1', 'shop', 'deployments', 'web', 'scale'],
  [
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode',
    'rbac.authorization.k8s.io',
    'v1',
    null,
    'clusterroles',
    'system:node',
    null,
  ],
  ['/api/v1/namespaces/shop/services/web:80/proxy/a//b', '', 'v1', 'shop', 'services', 'web:80', 'proxy'],
] as const) {
  test(`${path} names ${resource} ${name ?? '(all)'}`, () => {
    const read = readApiPath(path, '/')
    assert.equal(read.kind, 'resource')
    if (read.kind !== 'resource') return
    assert.deepEqual(read.path, { group, version, namespace, resource, name, subresource })
  })
}

for (const path of [
  '/',
  '/api',
  '/apis/',
  '/api/v1',
  '/apis/apps/v1',
  '/openapi/v3/apis/apps/v1',
  '/healthz',
  '/apiserver/x/y/z',
]) {
  test(`${path} names no object`, () => assert.equal(readApiPath(path, '/').kind, 'other'))
}

test('the path of an object is the one that its parts came from', () => {
  const path = '/apis/apps/v1/namespaces/shop/deployments/web'
  const read = readApiPath(`/k8s${path}/scale`, '/k8s/')
  assert.ok(read.kind === 'resource')
  assert.equal(objectPath(read.path, '/k8s/'), `/k8s${path}`)
})

const segment = fc.constantFrom(
  'api',
  'apis',
  'v1',
  'apps',
  'example.com',
  'namespaces',
  'shop',
  'deployments',
  'pods',
  'widgets',
  'web',
  'scale',
  'status',
  'exec',
  'attach',
  'portforward',
  'proxy',
  '%65xec',
  'watch',
  'log',
  '',
  'api%73',
  'Pods',
  'finalize',
)
const loaded = loadConfig({
  environment: {},
  value: { routes: [{ name: 'cluster', match: {}, upstream: 'http://127.0.0.1:1', protocol: 'kubernetes' }] },
})
assert.ok(loaded.ok)
const { routes } = loaded.value.config

const recogniser = createKubernetesRecogniser({
  cluster: { read: () => Promise.reject(new Error('unasked')), rehearse: () => Promise.reject(new Error('unasked')) },
  sniff: () => Promise.resolve(null),
  onWritten: () => {},
})

function callOf(method: string, upstreamPath: string, body: string | null, type: string): Call<KubernetesRoute> {
  const [route] = routes
  assert.ok(route?.protocol === 'kubernetes')
  return {
    correlationId: 'c',
    observation: new Observation({ correlationId: 'c', method: 'POST', trace: null }),
    caller: { tenant: 'local', audience: null },
    trafficPath: 'reverse',
    route,
    origin: 'http://127.0.0.1:1',
    method,
    headers: { 'content-type': type },
    rawHeaders: [],
    received: { headers: {}, rawHeaders: [] },
    upstreamPath,
    body: body === null ? null : Buffer.from(body),
  }
}

const paths = fc.array(segment, { minLength: 1, maxLength: 9 }).map((segments) => `/${segments.join('/')}`)

test('whatever the segments, a write is judged or refused', async () => {
  const method = fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE')
  const type = fc.constantFrom('application/json', 'application/merge-patch+json', 'application/apply-patch+yaml', '')
  const body = fc.constantFrom('{}', '{"metadata":{"name":"web"}}', '{"metadata":{"generateName":"w-"}}', '[]', '')
  const property = fc.asyncProperty(method, paths, type, body, async (verb, path, media, text) => {
    const action = await recogniser.recognise(callOf(verb, path, text, media))
    assert.notEqual(action.kind, 'pass')
  })
  await fc.assert(property, { numRuns: 3000 })
})

test('whatever the segments, a read that passes enters nothing', async () => {
  const property = fc.asyncProperty(paths, async (path) => {
    const action = await recogniser.recognise(callOf('GET', path, null, ''))
    if (action.kind !== 'pass') return
    // The API server’s own way to find the subresource: trim, split, skip the namespace.
    const parts = decodeURIComponent(path)
      .replace(/^\/+|\/+$/g, '')
      .split('/')
    const behind = parts[0] === 'api' ? parts.slice(2) : parts[0] === 'apis' ? parts.slice(3) : []
    const own = behind[0] === 'watch' ? behind.slice(1) : behind
    const rest =
      own[0] === 'namespaces' && own.length > 2 && own[2] !== 'status' && own[2] !== 'finalize' ? own.slice(2) : own
    assert.ok(!['exec', 'attach', 'portforward', 'proxy'].includes(rest[2] ?? ''), path)
  })
  await fc.assert(property, { numRuns: 3000 })
})
