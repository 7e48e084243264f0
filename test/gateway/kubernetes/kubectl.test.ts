/** The real kubectl, told that the gateway is its cluster: every way to write, what it prints when it is stopped, and what gets through. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startTestGateway, type TestGateway } from '../../fakes/gateway.ts'
import { issuedReceipt } from '../../fakes/issued-receipt.ts'
import { kubectlOrSkip, type Kubectl } from '../../fakes/kubectl.ts'
import { startFakeCluster, type FakeCluster } from '../../fakes/kubernetes-api.ts'
import { configMap, deployment, OPENAPI, widgetCrd } from '../../fakes/kubernetes-scene.ts'
import { until } from '../../fakes/until.ts'
import { at } from '../../json.ts'

interface Scene {
  readonly cluster: FakeCluster
  readonly gateway: TestGateway
  readonly kubectl: Kubectl
}

async function scene(t: TestContext, kubernetes: object = {}): Promise<Scene | null> {
  const cluster = await startFakeCluster()
  t.after(() => cluster.close())
  const route = { name: 'cluster', match: { path: '/' }, upstream: cluster.origin, protocol: 'kubernetes', kubernetes }
  const gateway = await startTestGateway(t, { routes: [route] })
  const kubectl = kubectlOrSkip(t, gateway.addresses.proxy)
  return kubectl === null ? null : { cluster, gateway, kubectl }
}

function receipt({ gateway }: Scene, target: string, operation = 'deploy'): Promise<string> {
  return issuedReceipt(gateway, { operation, target_id: target })
}

const WEB = 'k8s:Deployment:shop/web'
const DEPLOYMENT = 'deployments/shop/web'

test('what only reads works as without a gateway: get, describe of types, watch', async (t) => {
  const it = await scene(t)
  if (it === null) return
  it.cluster.put('deployments', deployment())
  const got = await it.kubectl.run('get deployments')
  assert.match(got.stdout, /^NAME\s*\nweb\s*\n$/)
  const resources = await it.kubectl.run('api-resources --api-group=apps')
  assert.match(resources.stdout, /deployments\s+apps\/v1\s+true\s+Deployment/)
  const can = await it.kubectl.run('auth can-i create deployments')
  assert.equal(can.stdout, 'yes\n', can.stderr)
})

test('a watch streams through, and ends with its client', async (t) => {
  const it = await scene(t)
  if (it === null) return
  const watching = it.kubectl.start('get configmaps -w -o name')
  let seen = ''
  watching.stdout?.on('data', (chunk: Buffer) => (seen += chunk.toString('utf8')))
  await until(() => it.cluster.requests.some(({ url }) => url.includes('watch=true')), 'the watch is open')
  it.cluster.put('configmaps', configMap({ a: 'b' }))
  await until(() => seen.includes('configmap/api'), 'the new object is shown')
  watching.kill()
})

test('apply of a definition that breaks its objects is stopped, and kubectl says by what', async (t) => {
  const it = await scene(t)
  if (it === null) return
  const first = await it.kubectl.run('apply -f FILE', widgetCrd())
  assert.equal(first.code, 0, first.stderr)
  const breaking = await it.kubectl.run('apply -f FILE', widgetCrd({ size: { type: 'string' } }))
  assert.equal(breaking.code, 1)
  assert.match(breaking.stderr, /\(Forbidden\)/)
  assert.match(breaking.stderr, /Preflight stopped patch customresourcedefinitions widgets\.example\.com/)
  assert.match(breaking.stderr, /CRD_/)
  const stored = JSON.stringify(it.cluster.object('customresourcedefinitions//widgets.example.com'))
  assert.match(stored, /"size":\{"type":"integer"\}/)
  const serverSide = await it.kubectl.run('apply --server-side -f FILE', widgetCrd({ size: { type: 'string' } }))
  assert.match(serverSide.stderr, /Preflight stopped apply customresourcedefinitions/)
})

for (const [how, command, manifest] of [
  [
    'JSON',
    'patch customresourcedefinition widgets.example.com --type=json -p [{"op":"remove","path":"/spec/versions/0/schema/openAPIV3Schema/properties/size"}]',
    undefined,
  ],
  [
    'merge',
    'patch customresourcedefinition widgets.example.com --type=merge -p {"spec":{"scope":"Cluster"}}',
    undefined,
  ],
  ['replacing', 'replace -f FILE', widgetCrd({})],
  ['deleting', 'delete customresourcedefinition widgets.example.com', undefined],
] as const) {
  test(`${how} a definition into something that breaks is stopped`, async (t) => {
    const it = await scene(t)
    if (it === null) return
    it.cluster.put('customresourcedefinitions', widgetCrd())
    const { code, stderr } = await it.kubectl.run(command, manifest)
    assert.equal(code, 1, stderr)
    assert.match(stderr, /\(Forbidden\).*Preflight stopped/)
    assert.deepEqual(it.cluster.writes(), [])
  })
}

test('diff and --dry-run=server answer as the cluster does, and need nothing', async (t) => {
  const it = await scene(t)
  if (it === null) return
  it.cluster.put('deployments', deployment())
  const rehearsed = await it.kubectl.run('apply --server-side --dry-run=server --force-conflicts -f FILE', deployment())
  assert.equal(rehearsed.code, 0, rehearsed.stderr)
  const compared = await it.kubectl.run('diff --server-side -f FILE', { ...deployment(), spec: { replicas: 4 } })
  assert.equal(compared.code, 1, compared.stderr)
  assert.match(compared.stdout, /\+ +replicas: 4/)
  assert.deepEqual(it.cluster.writes(), [])
})

test('a deployment goes on with a receipt in its annotation, and not without or with another’s', async (t) => {
  const it = await scene(t)
  if (it === null) return
  const bare = await it.kubectl.run('create -f FILE', deployment())
  assert.equal(bare.code, 1)
  assert.match(bare.stderr, /\(Forbidden\).*needs a receipt/)
  assert.match(bare.stderr, /annotation preflight\.dev\/receipt/)
  const foreign = await receipt(it, 'k8s:Deployment:shop/other')
  const wrong = await it.kubectl.run('create -f FILE', deployment({ 'preflight.dev/receipt': foreign }))
  assert.match(wrong.stderr, /target_mismatch/)
  assert.deepEqual(it.cluster.writes(), [])
  const token = await receipt(it, WEB)
  const right = await it.kubectl.run('apply -f FILE', deployment({ 'preflight.dev/receipt': token }))
  assert.equal(right.code, 0, right.stderr)
  assert.match(right.stdout, /deployment\.apps\/web created/)
  assert.ok(it.cluster.object(DEPLOYMENT))
})

test('a deployment that kubectl makes up itself, in protobuf, needs a receipt too', async (t) => {
  const it = await scene(t)
  if (it === null) return
  const { code, stderr } = await it.kubectl.run('create deployment web --image=nginx')
  assert.equal(code, 1)
  assert.match(stderr, /Preflight stopped create deployments shop\/web: it needs a receipt/)
  assert.deepEqual(it.cluster.writes(), [])
})

test('what changes a deployment later rests on the receipt that stands in it', async (t) => {
  const it = await scene(t)
  if (it === null) return
  const token = await receipt(it, WEB)
  it.cluster.put('deployments', deployment({ 'preflight.dev/receipt': token }))
  const scaled = await it.kubectl.run('scale deployment web --replicas=3')
  assert.equal(scaled.code, 0, scaled.stderr)
  assert.equal(at(it.cluster.object(DEPLOYMENT), 'spec', 'replicas'), 3)
  const patched = await it.kubectl.run('patch deployment web -p {"spec":{"paused":true}}')
  assert.equal(patched.code, 0, patched.stderr)
  const deleted = await it.kubectl.run('delete deployment web')
  assert.equal(deleted.code, 1)
  assert.match(deleted.stderr, /operation_mismatch/)
  assert.ok(it.cluster.object(DEPLOYMENT))
})

test('a deletion needs a receipt for the deletion', async (t) => {
  const it = await scene(t)
  if (it === null) return
  const receipts = [await receipt(it, WEB), await receipt(it, WEB, 'delete')].join(',')
  it.cluster.put('deployments', deployment({ 'preflight.dev/receipt': receipts }))
  const deleted = await it.kubectl.run('delete deployment web --wait=false')
  assert.equal(deleted.code, 0, deleted.stderr)
  assert.equal(it.cluster.object(DEPLOYMENT), undefined)
})

/** Of a controller, so that drain takes it. */
function pod(name: string, annotations: object): Record<string, unknown> {
  return {
    metadata: {
      name,
      namespace: 'shop',
      annotations,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u', controller: true }],
    },
    spec: { nodeName: 'n1', containers: [] },
  }
}

test('exec is stopped before anything runs, and kubectl says why', async (t) => {
  const it = await scene(t)
  if (it === null) return
  it.cluster.put('pods', { ...pod('web', {}), spec: { containers: [{ name: 'web', image: 'x' }] } })
  const { code, stderr } = await it.kubectl.run('exec web -- rm -rf /')
  assert.equal(code, 1)
  assert.match(stderr, /Preflight stopped connect pods\/exec shop\/web/)
  assert.equal(
    it.cluster.requests.some(({ url }) => url.includes('/exec')),
    false,
  )
})

test('drain evicts the pods that may go, and says which may not', async (t) => {
  const it = await scene(t)
  if (it === null) return
  const token = await receipt(it, 'k8s:Pod:shop/free', 'delete')
  it.cluster.put('nodes', { metadata: { name: 'n1' }, spec: { unschedulable: true } })
  it.cluster.put('pods', pod('free', { 'preflight.dev/receipt': token }))
  it.cluster.put('pods', pod('kept', {}))
  const { code, stderr, stdout } = await it.kubectl.run('drain n1 --ignore-daemonsets --timeout=15s')
  assert.equal(code, 1)
  assert.match(stderr, /"kept".*(?:\n.*)*Preflight stopped create pods\/eviction shop\/kept/)
  assert.match(stdout, /evicting pod shop\/free|pod\/free evicted/)
  assert.equal(it.cluster.object('pods/shop/free'), undefined)
  assert.ok(it.cluster.object('pods/shop/kept'))
})

function offered(paths: string): string {
  return OPENAPI.replace('paths: {}', paths)
}

test('a contract in a ConfigMap that breaks its callers is stopped', async (t) => {
  const it = await scene(t)
  if (it === null) return
  const pets = 'paths: { /pets: { get: { responses: { "200": { description: ok } } } } }'
  it.cluster.put('configmaps', configMap({ 'openapi.yaml': offered(pets) }))
  const broken = await it.kubectl.run('replace -f FILE', configMap({ 'openapi.yaml': offered('paths: {}') }))
  assert.equal(broken.code, 1)
  assert.match(broken.stderr, /API_PATH_REMOVED|API_REMOVED/)
  const grown = pets.replace('get:', 'post: { responses: { "200": { description: ok } } }, get:')
  const good = await it.kubectl.run('replace -f FILE', configMap({ 'openapi.yaml': offered(grown) }))
  assert.equal(good.code, 0, good.stderr)
})

test('a ConfigMap without contracts is written where the route asks for no receipt', async (t) => {
  const it = await scene(t, { receipts: ['workloads'] })
  if (it === null) return
  for (const text of ['hello', 'goodbye']) {
    const { code, stderr } = await it.kubectl.run('apply -f FILE', configMap({ motd: text }))
    assert.equal(code, 0, stderr)
  }
  assert.equal(at(it.cluster.object('configmaps/shop/api'), 'data', 'motd'), 'goodbye')
  const removed = await it.kubectl.run('delete configmap api')
  assert.equal(removed.code, 0, removed.stderr)
})

test('an API server that is away: kubectl prints that, and the id by which the log is searched', async (t) => {
  const it = await scene(t)
  if (it === null) return
  await it.cluster.close()
  const { code, stderr } = await it.kubectl.run('get --raw /version')
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^Error from server \(InternalError\): The upstream cannot be reached\. \(correlation id [\w-]+\)/,
  )
})
