/** The official Kubernetes client for Node.js and helm, in front of the stand-in for the API server: every way to write, and what they show when it is stopped. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test, type TestContext } from 'node:test'
import {
  ApiException,
  ApiextensionsV1Api,
  AppsV1Api,
  CoreV1Api,
  Exec,
  KubeConfig,
  KubernetesObjectApi,
  PatchStrategy,
  setHeaderOptions,
  Watch,
} from '@kubernetes/client-node'
import { startTestGateway, type TestGateway } from '../fakes/gateway.ts'
import { issuedReceipt } from '../fakes/issued-receipt.ts'
import { kubeconfig } from '../fakes/kubectl.ts'
import { startFakeCluster, type FakeCluster } from '../fakes/kubernetes-api.ts'
import { deployment, widgetCrd } from '../fakes/kubernetes-scene.ts'
import { fetchedTool, runProgram, type RanProgram } from '../fakes/programs.ts'
import { until } from '../fakes/until.ts'
import { at } from '../json.ts'

interface Scene {
  readonly cluster: FakeCluster
  readonly gateway: TestGateway
  /** A receipt that lets the deployment `shop/web` be written. */
  readonly receipt: () => Promise<string>
}

async function scene(t: TestContext, route: object): Promise<Scene> {
  const cluster = await startFakeCluster()
  t.after(() => cluster.close())
  const gateway = await startTestGateway(t, {
    routes: [{ name: 'cluster', upstream: cluster.origin, protocol: 'kubernetes', ...route }],
  })
  const context = { operation: 'deploy', target_id: 'k8s:Deployment:shop/web' }
  return { cluster, gateway, receipt: () => issuedReceipt(gateway, context) }
}

/** The client at the cluster's own address, with the gateway as its proxy: `proxy-url` and `certificate-authority-data` of a kubeconfig. */
async function byProxy(t: TestContext): Promise<Scene & { readonly config: KubeConfig }> {
  const made = await scene(t, { match: { host: 'kubernetes.example' } })
  const { api, proxy } = made.gateway.addresses
  const bundle = await (await fetch(`${api}/.well-known/preflight-ca.pem`)).text()
  const server = 'https://kubernetes.example'
  const caData = Buffer.from(bundle).toString('base64')
  const config = new KubeConfig()
  config.loadFromOptions({
    clusters: [{ name: 'cluster', server, caData, proxyUrl: proxy, skipTLSVerify: false }],
    users: [{ name: 'agent', token: 'agent-token' }],
    contexts: [{ name: 'agent', cluster: 'cluster', user: 'agent', namespace: 'shop' }],
    currentContext: 'agent',
  })
  return { ...made, config }
}

/** What the client throws: the Status of the API server is its body. */
async function refusalOf(call: Promise<unknown>): Promise<{ readonly code: number; readonly message: string }> {
  return call.then(
    () => assert.fail('the call went through'),
    (error: unknown) => {
      assert.ok(error instanceof ApiException)
      const body: unknown = JSON.parse(String(error.body))
      assert.deepEqual([at(body, 'kind'), at(body, 'reason')], ['Status', 'Forbidden'])
      return { code: error.code, message: String(at(body, 'message')) }
    },
  )
}

test('a definition is created and read, and an update that breaks its objects is refused as a Status', async (t) => {
  const { cluster, config } = await byProxy(t)
  const definitions = config.makeApiClient(ApiextensionsV1Api)
  const name = 'widgets.example.com'
  const own = KubernetesObjectApi.makeApiClient(config)
  const made = { ...widgetCrd(), metadata: { name } }
  await own.create(made)
  const read = await definitions.readCustomResourceDefinition({ name })
  const schema = read.spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['size']
  assert.equal(schema?.type, 'integer')
  schema.type = 'string'
  const { code, message } = await refusalOf(definitions.replaceCustomResourceDefinition({ name, body: read }))
  assert.equal(code, 403)
  assert.match(message, /^Preflight stopped update customresourcedefinitions widgets\.example\.com: BLOCK.*CRD_/)
  assert.equal(cluster.writes().length, 1)
})

test('a deployment is created, patched and applied with the receipt that stands in it', async (t) => {
  const { cluster, config, receipt } = await byProxy(t)
  const apps = config.makeApiClient(AppsV1Api)
  const own = KubernetesObjectApi.makeApiClient(config)
  const web = { namespace: 'shop', name: 'web' }
  const object = (annotations: Readonly<Record<string, string>> = {}) => ({
    ...deployment(annotations),
    metadata: { ...web, annotations },
  })
  const { message } = await refusalOf(own.create(object()))
  assert.match(message, /annotation preflight\.dev\/receipt of the object/)
  await own.create(object({ 'preflight.dev/receipt': await receipt() }))
  const patch = { spec: { replicas: 3 } }
  for (const strategy of [PatchStrategy.StrategicMergePatch, PatchStrategy.MergePatch]) {
    const options = setHeaderOptions('Content-Type', strategy)
    const patched = await apps.patchNamespacedDeployment({ ...web, body: patch }, options)
    assert.equal(patched.spec?.replicas, 3)
  }
  const applied = { ...object(), spec: { replicas: 5 } }
  await own.patch(applied, undefined, undefined, 'agent', true, PatchStrategy.ServerSideApply)
  assert.equal((await apps.readNamespacedDeployment(web)).spec?.replicas, 5)
  assert.deepEqual(
    cluster.writes().map(({ method, type }) => `${method} ${type}`),
    [
      'POST application/json',
      'PATCH application/strategic-merge-patch+json',
      'PATCH application/merge-patch+json',
      'PATCH application/apply-patch+yaml',
    ],
  )
})

test('a watch streams through, and exec is refused before anything is switched', async (t) => {
  const { cluster, config } = await byProxy(t)
  const seen: string[] = []
  const watch = await new Watch(config).watch(
    '/api/v1/namespaces/shop/configmaps',
    {},
    (type, object: unknown) => void seen.push(`${type} ${String(at(object, 'metadata', 'name'))}`),
    () => {},
  )
  await until(() => cluster.requests.some(({ url }) => url.includes('watch=true')), 'the watch is open')
  cluster.put('configmaps', { metadata: { name: 'api', namespace: 'shop' }, data: {} })
  await until(() => seen.includes('ADDED api'), 'the new object is seen')
  watch.abort()
  const exec = new Exec(config).exec('shop', 'web', 'main', ['ls'], new PassThrough(), new PassThrough(), null, false)
  // It is an event of the WebSocket that is thrown, not an error.
  await assert.rejects(exec, (thrown: unknown) => /response: 403/.test(String(Reflect.get(Object(thrown), 'message'))))
  assert.equal((await config.makeApiClient(CoreV1Api).listNamespacedConfigMap({ namespace: 'shop' })).items.length, 1)
})

interface HelmScene extends Scene {
  readonly helm: (...argv: readonly string[]) => Promise<RanProgram>
}

const TEMPLATE = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  {{- with .Values.receipt }}
  annotations: { preflight.dev/receipt: {{ . | quote }} }
  {{- end }}
spec:
  replicas: {{ .Values.replicas }}
`

async function helmScene(t: TestContext): Promise<HelmScene | null> {
  const binary = fetchedTool(t, 'helm')
  if (binary === null) return null
  const made = await scene(t, { match: { path: '/' }, kubernetes: { receipts: ['workloads'] } })
  const directory = mkdtempSync(join(tmpdir(), 'preflight-helm-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const chart = join(directory, 'web')
  mkdirSync(join(chart, 'templates'), { recursive: true })
  writeFileSync(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: web\nversion: 1.0.0\n')
  writeFileSync(join(chart, 'values.yaml'), 'receipt: ""\nreplicas: 1\n')
  writeFileSync(join(chart, 'templates', 'deployment.yaml'), TEMPLATE)
  const config = join(directory, 'config')
  writeFileSync(config, kubeconfig(made.gateway.addresses.proxy))
  const environment = { HOME: directory, KUBECONFIG: config }
  return { ...made, helm: (verb = '', ...argv) => runProgram(binary, [verb, 'web', chart, ...argv], environment) }
}

test('helm says which receipt an installation needs, and installs and upgrades with it', async (t) => {
  const it = await helmScene(t)
  if (it === null) return
  const { helm, cluster, receipt } = it
  const replicas = (): unknown => at(cluster.object('deployments/shop/web'), 'spec', 'replicas')
  const stopped = await helm('install')
  assert.equal(stopped.code, 1)
  assert.match(stopped.stderr, /INSTALLATION FAILED: .*Preflight stopped apply deployments shop\/web/)
  assert.match(stopped.stderr, /"target_id":"k8s:Deployment:shop\/web"/)
  assert.equal(replicas(), undefined)
  const set = ['--set', `receipt=${await receipt()}`]
  const installed = await helm('upgrade', '--install', ...set)
  assert.equal(installed.code, 0, installed.stderr)
  assert.equal(replicas(), 1)
  const upgraded = await helm('upgrade', ...set, '--set', 'replicas=2')
  assert.equal(upgraded.code, 0, upgraded.stderr)
  assert.equal(replicas(), 2)
})
