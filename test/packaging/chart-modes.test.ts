/** The chart's modes and overlays, as helm renders them: webhooks, certificates, replicas, hooks, and what cannot work. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { openSettings } from '../../gateway/config/live-settings.ts'
import { testAuthority } from '../fakes/certificates.ts'
import { run as runCommand } from '../fakes/command-io.ts'
import { checkedByMinor } from '../fakes/kubernetes-minor.ts'
import { olderModels, typeFaults } from '../fakes/kubernetes-types.ts'
import { listening } from '../fakes/listening.ts'
import { fetchedTool } from '../fakes/programs.ts'
import { at, listAt, textAt, textsAt } from '../json.ts'

const run = promisify(execFile)
const CHART = join(import.meta.dirname, '../../charts/preflight-gateway')
const OVERLAYS = readdirSync(join(CHART, 'ci')).map((file) => file.replace('-values.yaml', ''))

/** API groups that operators bring. */
const OPERATORS = /^(?:cert-manager\.io|gateway\.networking\.k8s\.io|monitoring\.coreos\.com)\//

async function render(helm: string, ...settings: readonly string[]): Promise<readonly unknown[]> {
  const { stdout } = await run(helm, ['template', 'trial', CHART, '--namespace', 'preflight', ...settings])
  return parseAllDocuments(stdout)
    .map((document): unknown => document.toJS())
    .filter((object) => object !== null)
}

const overlay = (name: string): readonly string[] => ['--values', join(CHART, `ci/${name}-values.yaml`)]
const ofKind = (objects: readonly unknown[], kind: string): readonly unknown[] =>
  objects.filter((object) => at(object, 'kind') === kind)
const named = (objects: readonly unknown[], kind: string, suffix: string): unknown =>
  ofKind(objects, kind).find((object) => textAt(object, 'metadata', 'name').endsWith(suffix))

/** The pod of every workload, with the kind and name of the workload. */
function podsOf(objects: readonly unknown[]): readonly (readonly [string, unknown])[] {
  return objects.flatMap((object) => {
    const kind = textAt(object, 'kind')
    const work = kind === 'CronJob' ? at(object, 'spec', 'jobTemplate') : object
    const pod = kind === 'Pod' ? at(object, 'spec') : at(work, 'spec', 'template', 'spec')
    return pod === undefined ? [] : [[`${kind}/${textAt(object, 'metadata', 'name')}`, pod] as const]
  })
}

for (const name of OVERLAYS)
  test(`overlay ${name}: lint accepts it, and API servers of three minors take every object`, async (t) => {
    const helm = fetchedTool(t, 'helm')
    if (helm === null) return
    const { stdout } = await run(helm, ['lint', '--strict', CHART, ...overlay(name)])
    assert.doesNotMatch(stdout, /\[(?:WARNING|ERROR)\]/)
    const objects = await render(helm, ...overlay(name))
    // 1.30 is the oldest minor that the chart runs on: before it, policies of admission were not stable.
    const { checked, faults } = await checkedByMinor(objects, 'kubernetes-types')
    assert.ok(checked >= 8, `${checked} objects are checked`)
    assert.equal(faults, '')
    for (const [minor, models] of [
      ['1.34', await olderModels('kubernetes-client-1-34')],
      ['1.36', undefined],
    ] as const) {
      const judged = objects.map((object) => ({ object, faults: typeFaults(object, models) }))
      assert.deepEqual(
        judged.flatMap((one) => one.faults ?? []),
        [],
        minor,
      )
      const unknown = judged.filter((one) => one.faults === null).map(({ object }) => textAt(object, 'apiVersion'))
      assert.ok(
        unknown.every((version) => OPERATORS.test(version)),
        `${minor}: ${unknown.join(', ')}`,
      )
    }
  })

test('the check by a minor finds an unknown member', async () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', imagee: 'x' }] },
  }
  assert.match((await checkedByMinor([pod], 'kubernetes-types')).faults, /imagee/)
  assert.match(String(typeFaults(pod, await olderModels('kubernetes-client-1-34'))), /imagee/)
})

test('every pod keeps to the restricted level, and has a token only where it needs one', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  for (const name of OVERLAYS)
    for (const [place, pod] of podsOf(await render(helm, ...overlay(name)))) {
      assert.equal(at(pod, 'automountServiceAccountToken'), false, place)
      assert.equal(at(pod, 'securityContext', 'runAsNonRoot'), true, place)
      assert.deepEqual(at(pod, 'securityContext', 'seccompProfile'), { type: 'RuntimeDefault' }, place)
      for (const container of listAt(pod, 'containers')) {
        assert.equal(at(container, 'securityContext', 'allowPrivilegeEscalation'), false, place)
        assert.equal(at(container, 'securityContext', 'readOnlyRootFilesystem'), true, place)
        assert.deepEqual(at(container, 'securityContext', 'capabilities'), { drop: ['ALL'] }, place)
      }
      const mounts = listAt(pod, 'containers').flatMap((one) =>
        at(one, 'volumeMounts') === undefined ? [] : textsAt(listAt(one, 'volumeMounts'), 'name'),
      )
      const volumes = at(pod, 'volumes') === undefined ? [] : textsAt(listAt(pod, 'volumes'), 'name')
      assert.deepEqual([...new Set(mounts)].toSorted(), [...volumes].toSorted(), place)
    }
})

test('webhooks fail closed in labelled namespaces only, and never in those of the cluster and of the release', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const objects = await render(helm, ...overlay('injector'))
  const injector = at(ofKind(objects, 'MutatingWebhookConfiguration')[0], 'webhooks', 0)
  const admission = at(ofKind(objects, 'ValidatingWebhookConfiguration')[0], 'webhooks', 0)
  for (const webhook of [injector, admission]) {
    assert.equal(at(webhook, 'failurePolicy'), 'Fail')
    assert.equal(at(webhook, 'timeoutSeconds'), 5)
    assert.ok(Object.keys(Object(at(webhook, 'namespaceSelector', 'matchLabels'))).length > 0)
    const [exclusion] = listAt(webhook, 'namespaceSelector', 'matchExpressions')
    assert.deepEqual(at(exclusion, 'values'), ['kube-system', 'kube-public', 'kube-node-lease', 'preflight'])
  }
  assert.equal(at(injector, 'reinvocationPolicy'), 'IfNeeded')
  assert.equal(at(injector, 'clientConfig', 'service', 'path'), '/injector')
  assert.equal(at(admission, 'sideEffects'), 'NoneOnDryRun')
  assert.equal(at(admission, 'clientConfig', 'service', 'path'), '/admission/cluster')
  const services = textsAt(ofKind(objects, 'Service'), 'metadata', 'name')
  for (const webhook of [injector, admission])
    assert.ok(services.includes(textAt(webhook, 'clientConfig', 'service', 'name')))
  const policy = ofKind(objects, 'ValidatingAdmissionPolicy')[0]
  const [binding] = ofKind(objects, 'ValidatingAdmissionPolicyBinding')
  assert.equal(at(binding, 'spec', 'policyName'), at(policy, 'metadata', 'name'))
  assert.match(textAt(policy, 'spec', 'validations', 0, 'expression'), /preflight-gateway/)
})

test('the configurations in the ConfigMaps are ones that the gateway starts with', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const authority = await testAuthority()
  const directory = mkdtempSync(join(tmpdir(), 'preflight-chart-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const { cert, key } = await authority.leaf('localhost')
  writeFileSync(join(directory, 'tls.crt'), cert)
  writeFileSync(join(directory, 'tls.key'), key)
  for (const name of OVERLAYS)
    for (const map of ofKind(await render(helm, ...overlay(name)), 'ConfigMap')) {
      const text = textAt(map, 'data', 'preflight.yaml').replaceAll('/etc/preflight/webhooks', directory)
      const [value] = parseAllDocuments(text).map((document): unknown => document.toJS())
      const environment: Record<string, string> = {}
      for (const listener of ['webhooks', 'hub'])
        if (at(value, 'tls', 'listeners', listener) !== undefined)
          environment[`PREFLIGHT_LISTEN_${listener.toUpperCase()}`] = '127.0.0.1:0'
      assert.doesNotThrow(() => openSettings({ value, environment }), textAt(map, 'metadata', 'name'))
    }
})

test('several gateways roll without a gap, spread over nodes, and share nothing on disk', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const objects = await render(helm, ...overlay('ha'))
  const [deployment] = ofKind(objects, 'Deployment')
  assert.equal(at(deployment, 'spec', 'replicas'), undefined, 'the autoscaler decides')
  assert.deepEqual(at(deployment, 'spec', 'strategy', 'rollingUpdate'), { maxSurge: 1, maxUnavailable: 0 })
  const pod = at(deployment, 'spec', 'template', 'spec')
  assert.deepEqual(
    listAt(pod, 'topologySpreadConstraints').map((one) => at(one, 'topologyKey')),
    ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'],
  )
  const store = listAt(pod, 'containers', 0, 'env').find((one) => at(one, 'name') === 'PREFLIGHT_STORE_URL')
  assert.deepEqual(at(store, 'valueFrom', 'secretKeyRef'), { name: 'preflight-store', key: 'url' })
  assert.equal(ofKind(objects, 'PersistentVolumeClaim').length, 0)
  const metrics = listAt(ofKind(objects, 'HorizontalPodAutoscaler')[0], 'spec', 'metrics')
  assert.deepEqual(
    metrics.map((one) => at(one, 'type')),
    ['Resource', 'Pods'],
  )
})

test('a hub is reached by sidecars with tokens of their namespaces, over TLS, and by nobody else', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const objects = await render(helm, ...overlay('hub'))
  const service = named(objects, 'Service', '-hub')
  assert.equal(at(service, 'spec', 'ports', 0, 'targetPort'), 'hub')
  const pod = at(ofKind(objects, 'Deployment')[0], 'spec', 'template', 'spec')
  const container = at(pod, 'containers', 0)
  const listens = listAt(container, 'env').find((one) => at(one, 'name') === 'PREFLIGHT_LISTEN_HUB')
  const port = listAt(container, 'ports').find((one) => at(one, 'name') === 'hub')
  assert.equal(textAt(listens, 'value'), `0.0.0.0:${String(at(port, 'containerPort'))}`)
  assert.equal(at(pod, 'automountServiceAccountToken'), false, 'only the token for the keys of the cluster')
  const map = ofKind(objects, 'ConfigMap').find((one) => !textAt(one, 'metadata', 'name').endsWith('-config-check'))
  const config: unknown = parseAllDocuments(textAt(map, 'data', 'preflight.yaml'))[0]?.toJS()
  assert.equal(at(config, 'hub', 'tokens', 'audience'), 'preflight-hub')
  assert.equal(listAt(config, 'hub', 'identities').length, 2, 'what the values state stays')
  for (const file of ['ca_file', 'token_file'].map((name) => textAt(config, 'hub', 'tokens', name)))
    assert.ok(
      listAt(container, 'volumeMounts').some((mount) => file.startsWith(`${textAt(mount, 'mountPath')}/`)),
      file,
    )
  const job = named(objects, 'Job', '-make-certificate')
  const host = `${textAt(service, 'metadata', 'name')}.preflight.svc`
  const args = listAt(job, 'spec', 'template', 'spec', 'containers', 0, 'args')
  assert.ok(args.includes(`--host=${host}`))
  assert.deepEqual(ofKind(objects, 'ClusterRole'), [], 'there is no webhook to change')
  const rules = listAt(ofKind(objects, 'NetworkPolicy')[0], 'spec', 'ingress')
  const rule = rules.find((one) => listAt(one, 'ports').some((named) => at(named, 'port') === 'hub'))
  assert.deepEqual(at(rule, 'from', 0, 'namespaceSelector', 'matchLabels'), { 'preflight.dev/inject': 'enabled' })
  const other = await render(helm, ...overlay('hub'), '--set', 'hub.audience=other')
  assert.match(JSON.stringify(ofKind(other, 'ConfigMap')), /audience: other/)
})

test('several gateways need a store, and no external signer', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const settings = 'replicas=2,store.existingSecret=s,persistence.enabled=false'
  const [deployment] = ofKind(await render(helm, '--set', settings), 'Deployment')
  assert.equal(at(deployment, 'spec', 'replicas'), 2)
  const text = JSON.stringify(await render(helm, ...overlay('hub')))
  assert.doesNotMatch(text, /signer/)
})

const lifecycle = (value: object): readonly string[] => ['--set-json', `lifecycle=${JSON.stringify(value)}`]

test('the lifecycle of the container is the chart’s own until a value replaces it', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const lifecycleOf = async (...settings: readonly string[]): Promise<unknown> =>
    at(
      ofKind(await render(helm, ...settings), 'Deployment')[0],
      'spec',
      'template',
      'spec',
      'containers',
      0,
      'lifecycle',
    )
  assert.deepEqual(await lifecycleOf(), { preStop: { sleep: { seconds: 5 } } })
  const preStop = { exec: { command: ['sleep', '9'] } }
  const postStart = { exec: { command: ['true'] } }
  assert.deepEqual(await lifecycleOf(...lifecycle({ preStop })), { preStop })
  assert.deepEqual(await lifecycleOf(...lifecycle({ postStart })), { postStart, preStop: { sleep: { seconds: 5 } } })
  await assert.rejects(lifecycleOf(...lifecycle({ preStop: { sleep: { second: 1 } } })), /second/)
})

test('combinations that cannot work end the rendering with the value to change', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const cases: readonly (readonly [string, RegExp])[] = [
    ['modes.gateway=false', /no mode is on/],
    ['replicas=2', /set store\.existingSecret/],
    ['replicas=2,store.existingSecret=s', /set persistence\.enabled=false/],
    ['monitoring.podMonitor=true,monitoring.serviceMonitor=true', /set one of them/],
    ['modes.admission=true', /needs a route with protocol: kubernetes and name: cluster/],
    ['modes.injector=true,webhooks.certificate.source=secret', /needs existingSecret and caBundle/],
    ['ingress.enabled=true', /needs ingress\.host/],
    ['httpRoute.enabled=true', /needs httpRoute\.parentRefs/],
    ['resources.limit.memory=1Gi', /additional properties 'limit'/],
    ['securityContext.readOnlyRootFileSystem=true', /readOnlyRootFileSystem/],
    ['probes.liveness.period=3', /additional properties 'period'/],
    ['injector.settings.image=other', /additional properties 'image'/],
    ['modes.gatway=true', /gatway/],
  ]
  for (const [setting, expected] of cases) await assert.rejects(render(helm, '--set', setting), expected, setting)
})

test('names and labels can be replaced everywhere', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const objects = await render(helm, ...overlay('injector'), '--set', 'fullnameOverride=guard')
  assert.ok(textsAt(objects, 'metadata', 'name').every((name) => name.startsWith('guard')))
  for (const object of objects.filter((one) => !textAt(one, 'metadata', 'name').endsWith('-test')))
    assert.equal(at(object, 'metadata', 'labels', 'team'), 'platform', textAt(object, 'metadata', 'name'))
})

test('a Job checks the configuration before an install, with the command that it names', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const job = named(await render(helm, ...overlay('trial')), 'Job', '-config-check')
  assert.equal(at(job, 'metadata', 'annotations', 'helm.sh/hook'), 'pre-install,pre-upgrade')
  const args = listAt(job, 'spec', 'template', 'spec', 'containers', 0, 'args').map(String)
  const ran = await runCommand([...args, '--help'])
  assert.equal(ran.code, 0)
  const off = await render(helm, ...overlay('trial'), '--set', 'configCheck.enabled=false')
  assert.deepEqual(ofKind(off, 'Job'), [])
})

test('webhooks are removed before the release, with a role for exactly that', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const objects = await render(helm, ...overlay('injector'))
  const job = named(objects, 'Job', '-remove-webhooks')
  const args = listAt(job, 'spec', 'template', 'spec', 'containers', 0, 'args').map(String)
  const rules = listAt(named(objects, 'ClusterRole', '-remove-webhooks'), 'rules')
  assert.deepEqual(
    rules.map((rule) => at(rule, 'verbs')),
    [['delete'], ['delete']],
  )

  const authority = await testAuthority()
  const seen: string[] = []
  const server = createServer(await authority.leaf('127.0.0.1'), (request, response) => {
    seen.push(`${request.method ?? ''} ${request.url ?? ''} ${request.headers.authorization ?? ''}`)
    response.writeHead(request.url?.includes('mutating') === true ? 200 : 404).end('{}')
  })
  const { port } = new URL(await listening(t, server))
  const folder = mkdtempSync(join(tmpdir(), 'preflight-account-'))
  t.after(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'ca.crt'), authority.certificate)
  writeFileSync(join(folder, 'token'), 'the-token\n')
  const environment = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: port }
  const ran = await runCommand([...args, '--service-account', folder], { environment })
  assert.equal(ran.code, 0, ran.stderr)
  const [mutating, validating] = rules.map((rule) => textAt(rule, 'resourceNames', 0))
  const base = '/apis/admissionregistration.k8s.io/v1'
  assert.deepEqual(seen, [
    `DELETE ${base}/mutatingwebhookconfigurations/${mutating ?? ''} Bearer the-token`,
    `DELETE ${base}/validatingwebhookconfigurations/${validating ?? ''} Bearer the-token`,
  ])
  assert.equal((await runCommand(['webhooks', 'remove', 'other/a'], { environment })).code, 2)
  assert.equal((await runCommand([...args, '--service-account', '/nonexistent'], { environment })).code, 2)
})

test('a release of the injector alone has no gateway, and its notes say what to do next', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const settings = ['--set', 'modes.gateway=false,modes.injector=true']
  const objects = await render(helm, ...settings)
  assert.deepEqual(textsAt(ofKind(objects, 'Deployment'), 'metadata', 'name'), ['trial-preflight-gateway-injector'])
  assert.equal(ofKind(objects, 'PersistentVolumeClaim').length, 0)
  const { stdout } = await run(helm, [
    'install',
    'trial',
    CHART,
    '--namespace',
    'preflight',
    '--dry-run=client',
    ...settings,
  ])
  assert.match(stdout, /needs a preflight\.yaml/)
  assert.doesNotMatch(stdout, /agents call this/)
})

/** Without a cluster. */
async function notes(helm: string, ...settings: readonly string[]): Promise<string> {
  const { stdout } = await run(helm, ['install', 'trial', CHART, '-n', 'preflight', '--dry-run=client', ...settings])
  return stdout.slice(stdout.lastIndexOf('\nNOTES:'))
}

test('the notes of a release name the addresses and warnings of its modes only', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const gateway = await notes(helm)
  assert.match(gateway, /\n\n  proxy  http:\/\/trial-preflight-gateway\.preflight\.svc:15080 /)
  assert.match(gateway, /No route is configured yet/)
  assert.match(gateway, /does not lock the agents' egress/)
  assert.doesNotMatch(gateway, /store copy/)
  assert.match(
    await notes(helm, ...overlay('ha')),
    /database of the Secret \S+\. If this release [^]*\npreflight store copy/,
  )
  const hub = await notes(helm, ...overlay('hub'))
  assert.match(hub, /\n\n  hub    https:\/\/trial-preflight-gateway-hub\.preflight\.svc:15444 /)
  assert.doesNotMatch(hub, /proxy  |No route is configured|egress|Persistence is off/)
  const tls = ['proxy', 'api'].flatMap((name) => [
    '--set',
    `config.tls.listeners.${name}.certificate=tls.crt,config.tls.listeners.${name}.key=tls.key`,
  ])
  const encrypted = await notes(helm, ...tls, '--set', 'persistence.enabled=false')
  assert.match(encrypted, /proxy  https:\/\/[^]*API    https:\/\/[^]*Persistence is off/)
})
