/** The chart as helm renders it: lint, the objects for the usual choices, and values that the gateway would refuse. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { fetchedTool } from '../fakes/programs.ts'
import { typeFaults } from '../fakes/kubernetes-types.ts'
import { at, listAt, numberAt, textAt, textsAt } from '../json.ts'

const run = promisify(execFile)
const CHART = join(import.meta.dirname, '../../charts/preflight-gateway')
const POD = ['spec', 'template', 'spec'] as const

function readObjects(text: string): readonly unknown[] {
  return parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter((object) => object !== null)
}

async function render(helm: string, ...settings: readonly string[]): Promise<readonly unknown[]> {
  const { stdout } = await run(helm, ['template', 'trial', CHART, '--namespace', 'agents', ...settings])
  return readObjects(stdout)
}

function byKind(objects: readonly unknown[], kind: string): readonly unknown[] {
  return objects.filter((object) => at(object, 'kind') === kind)
}

function named(objects: readonly unknown[], suffix: string): unknown {
  return objects.find((object) => textAt(object, 'metadata', 'name').endsWith(suffix))
}

function podOf(objects: readonly unknown[]): unknown {
  return at(byKind(objects, 'Deployment')[0], ...POD)
}

function variableOf(pod: unknown, name: string): unknown {
  return listAt(pod, 'containers', 0, 'env').find((entry) => at(entry, 'name') === name)
}

const HARDENED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}

test('helm lint accepts the chart without a warning', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const { stdout } = await run(helm, ['lint', '--strict', CHART])
  assert.match(stdout, /1 chart\(s\) linted, 0 chart\(s\) failed/)
  assert.doesNotMatch(stdout, /\[(?:WARNING|ERROR)\]/)
})

test('the default values give one hardened pod with a kept volume and no secret', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const objects = await render(helm)
  const kinds = ['ConfigMap', 'Deployment', 'PersistentVolumeClaim', 'Service', 'Service', 'ServiceAccount']
  const kept = objects.filter((object) => at(object, 'metadata', 'annotations', 'helm.sh/hook') === undefined)
  assert.deepEqual(textsAt(kept, 'kind'), kinds)
  const pod = podOf(objects)
  assert.equal(at(pod, 'automountServiceAccountToken'), false)
  assert.equal(at(pod, 'securityContext', 'runAsNonRoot'), true)
  assert.deepEqual(at(pod, 'securityContext', 'seccompProfile'), { type: 'RuntimeDefault' })
  assert.deepEqual(at(pod, 'containers', 0, 'securityContext'), HARDENED)
  assert.deepEqual(
    textsAt(listAt(pod, 'containers', 0, 'volumeMounts'), 'name'),
    textsAt(listAt(pod, 'volumes'), 'name'),
    'every volume is mounted, every mount has one',
  )
})

test('the configuration in the ConfigMap is the one in the values', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const route = { name: 'tools', match: { path: '/tools' }, upstream: 'http://tools:8080/mcp', protocol: 'mcp' }
  const objects = await render(
    helm,
    '--set-json',
    `config.routes=${JSON.stringify([route])}`,
    '--set-json',
    'config.limits={"request_body":67108864}',
    '--set',
    'config.shutdown.drain=45',
  )
  const text = textAt(byKind(objects, 'ConfigMap')[0], 'data', 'preflight.yaml')
  assert.deepEqual(readObjects(text)[0], {
    tier: 'gateway',
    policy: 'default',
    routes: [route],
    limits: { request_body: 67108864 },
    shutdown: { drain: 45 },
  })
  assert.ok(numberAt(podOf(objects), 'terminationGracePeriodSeconds') > 45, 'the pod outlives its drain')
})

test('a configuration mistake fails at install, not in the pod', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const mistakes = [
    'config.tier=fortress',
    'config.polcy=default',
    'config.routes[0].name=NotAName',
    'config.listen.api=0.0.0.0:1',
    'ports.proxy=99999',
    'replicas=0',
    'bootstrapKey.value=short',
  ]
  for (const mistake of mistakes) {
    await assert.rejects(render(helm, '--set', mistake), /schema/i, mistake)
  }
})

test('an API server would take every object, with every choice made and with none', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const choices = [
    'ports.extAuthz=15091,ports.transparent=15001,interceptionAuthority.existingSecret=authority',
    'networkPolicy.enabled=true,networkPolicy.lockAgents.app=agent,networkPolicy.egress[0].ports[0].port=443',
    'networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus',
    'monitoring.alerts=true,monitoring.dashboard=true,monitoring.podMonitor=true',
    'podDisruptionBudget.enabled=true,bootstrapKey.value=a-trial-key-of-enough-characters',
    'tolerations[0].operator=Exists,nodeSelector.pool=agents,priorityClassName=high,imagePullSecrets[0].name=pull',
    'extraVolumes[0].name=more,extraVolumes[0].secret.secretName=more,extraVolumeMounts[0].name=more',
    'extraVolumeMounts[0].mountPath=/more,extraContainers[0].name=signer,extraContainers[0].image=example/signer',
    'env[0].name=PREFLIGHT_LOG_LEVEL,env[0].value=debug,podAnnotations.a=b,service.annotations.a=b',
    'topologySpreadConstraints[0].maxSkew=1,topologySpreadConstraints[0].topologyKey=zone',
    'topologySpreadConstraints[0].whenUnsatisfiable=ScheduleAnyway,persistence.storageClass=fast',
  ]
  const examples = ['sidecar-pod', 'transparent-sidecar-pod'].flatMap((name) =>
    readObjects(readFileSync(join(CHART, `examples/${name}.yaml`), 'utf8')),
  )
  const all = [
    ...(await render(helm)),
    ...(await render(helm, ...choices.flatMap((one) => ['--set', one]))),
    ...examples,
  ]
  const judged = all.map((object) => typeFaults(object)).filter((faults) => faults !== null)
  assert.ok(judged.length >= 20, `${judged.length} objects are of kinds that are known`)
  assert.deepEqual(judged.flat(), [])
})

test('the types of the API tell an unknown member and a value of another type', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', imagee: 'x', ports: [{ containerPort: '80' }] }] },
  }
  assert.deepEqual(typeFaults(pod), [
    'Pod/p.spec.containers[0].imagee: unknown',
    'Pod/p.spec.containers[0].ports[0].containerPort: not a number',
  ])
})

test('the values that the guide shows are values of the chart', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const guide = readFileSync(join(CHART, '../../docs/kubernetes.md'), 'utf8')
  const blocks = [...guide.matchAll(/^```yaml\n(# values\.yaml\n[^]*?)^```/gm)].map(([, block = '']) => block)
  assert.equal(blocks.length, 4)
  const folder = mkdtempSync(join(tmpdir(), 'preflight-values-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'values.yaml')
  for (const block of blocks) {
    writeFileSync(file, block)
    const objects = await render(helm, '--values', file)
    const pod = podOf(objects)
    assert.deepEqual(
      textsAt(listAt(pod, 'containers', 0, 'volumeMounts'), 'name'),
      textsAt(listAt(pod, 'volumes'), 'name'),
    )
  }
})

test('the helm commands that the guide shows are ones that helm takes, with the values beside them', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const guide = readFileSync(join(CHART, '../../docs/kubernetes.md'), 'utf8').replaceAll(/\\\n\s*/g, '')
  const commands = [
    ...guide.matchAll(/^helm (?:upgrade|install)(?: --install)? (\S+) charts\/preflight-gateway (.+)$/gm),
  ]
  assert.equal(commands.length, 4)
  for (const [line, release = '', options = ''] of commands) {
    const words = options
      .split(' ')
      .filter((word) => word !== '--create-namespace')
      .map((word) => (word === 'values.yaml' ? join(CHART, 'ci/injector-values.yaml') : word))
    const { stdout } = await run(helm, ['template', release, CHART, ...words])
    assert.match(stdout, /kind: Deployment/, line)
  }
})

test('a bootstrap key comes from a Secret, ours or theirs, and never as plain text in the pod', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const key = 'a-trial-key-of-enough-characters'
  const own = await render(helm, '--set', `bootstrapKey.value=${key}`)
  assert.equal(atob(textAt(byKind(own, 'Secret')[0], 'data', 'key')), key)
  assert.ok(!JSON.stringify(podOf(own)).includes(key))

  const theirs = await render(helm, '--set', 'bootstrapKey.existingSecret=kept', '--set', `bootstrapKey.value=${key}`)
  assert.equal(byKind(theirs, 'Secret').length, 0)
  const variable = variableOf(podOf(theirs), 'PREFLIGHT_BOOTSTRAP_KEY')
  assert.deepEqual(at(variable, 'valueFrom'), { secretKeyRef: { name: 'kept', key: 'key' } })
})

test('network policies hold the gateway and lock the agents to it when asked', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const settings = ['--set', 'networkPolicy.enabled=true', '--set', 'networkPolicy.lockAgents.app=agent']
  const policies = byKind(await render(helm, ...settings), 'NetworkPolicy')
  assert.equal(policies.length, 2)
  const lock = named(policies, '-agents')
  assert.deepEqual(at(lock, 'spec', 'podSelector'), { matchLabels: { app: 'agent' } })
  assert.deepEqual(at(lock, 'spec', 'policyTypes'), ['Egress'])
  const ports = listAt(lock, 'spec', 'egress').map((rule) => listAt(rule, 'ports').map((port) => at(port, 'port')))
  assert.deepEqual(ports, [
    [15080, 15081],
    [53, 53],
  ])
})

test('alerts and dashboard are those of the files, with a link to the runbook of each alert if its address is set', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  assert.deepEqual(byKind(await render(helm), 'PrometheusRule'), [])
  const settings = [
    'monitoring.alerts=true',
    'monitoring.dashboard=true',
    'monitoring.runbookUrl=https://wiki.example/r',
  ]
  const objects = await render(helm, '--set', settings.join(','))
  const [rule] = byKind(objects, 'PrometheusRule')
  const rules = listAt(rule, 'spec', 'groups', 0, 'rules')
  const [file] = readObjects(readFileSync(join(CHART, 'rules/alerts.yaml'), 'utf8'))
  assert.deepEqual(textsAt(rules, 'alert'), textsAt(listAt(file, 'groups', 0, 'rules'), 'alert'))
  for (const one of rules) {
    const anchor = textAt(one, 'alert').toLowerCase()
    assert.equal(at(one, 'annotations', 'runbook_url'), `https://wiki.example/r#${anchor}`)
  }
  const dashboard = named(objects, '-dashboard')
  assert.equal(at(dashboard, 'metadata', 'labels', 'grafana_dashboard'), '1')
  assert.deepEqual(
    JSON.parse(textAt(dashboard, 'data', 'preflight-gateway.json')),
    JSON.parse(readFileSync(join(CHART, 'dashboards/preflight-gateway.json'), 'utf8')),
  )
})

test('files of a Secret, a container beside the gateway and a disruption budget are there when asked for', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const objects = await render(
    helm,
    '--set-json',
    'extraVolumes=[{"name":"app-key","secret":{"secretName":"github-app"}}]',
    '--set-json',
    'extraVolumeMounts=[{"name":"app-key","mountPath":"/etc/preflight/app","readOnly":true}]',
    '--set-json',
    'extraContainers=[{"name":"signer","image":"example/signer:1"}]',
    '--set',
    'podDisruptionBudget.enabled=true,listenAddress=[::],podSecurityContext.runAsUser=null',
  )
  const pod = podOf(objects)
  assert.ok(textsAt(listAt(pod, 'volumes'), 'name').includes('app-key'))
  assert.deepEqual(textsAt(listAt(pod, 'containers'), 'name'), ['gateway', 'signer'])
  assert.ok(textsAt(listAt(pod, 'containers', 0, 'volumeMounts'), 'mountPath').includes('/etc/preflight/app'))
  assert.equal(at(pod, 'securityContext', 'runAsUser'), undefined)
  assert.equal(at(pod, 'securityContext', 'runAsNonRoot'), true)
  assert.equal(at(variableOf(pod, 'PREFLIGHT_PROXY_LISTEN'), 'value'), '[::]:15080')
  const [budget] = byKind(objects, 'PodDisruptionBudget')
  assert.equal(at(budget, 'spec', 'maxUnavailable'), 0)
  assert.deepEqual(
    at(budget, 'spec', 'selector'),
    at(byKind(objects, 'Deployment')[0], 'spec', 'selector'),
    'the budget is about the pods of the release',
  )
})

test('commands that are run in the pod see the settings of the gateway, and no Service adds to them', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const pod = podOf(await render(helm))
  assert.equal(at(variableOf(pod, 'PREFLIGHT_CONFIG'), 'value'), '/etc/preflight/config/preflight.yaml')
  assert.deepEqual(at(pod, 'containers', 0, 'args'), ['serve'])
  assert.equal(at(pod, 'enableServiceLinks'), false)
})

test('the notes say where the calls of a route go that names a host and no upstream', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const route = { name: 'shop', match: { host: 'shop.example' }, protocol: 'mcp' }
  const settings = ['--set-json', `config.routes=${JSON.stringify([route])}`, '--dry-run=client']
  const { stdout } = await run(helm, ['install', 'trial', CHART, '--namespace', 'agents', ...settings])
  assert.match(stdout, /shop\.example\/\s+→\s+the host in the request\s+\(mcp, enforce\)/)
})

test('monitors are rendered when asked and select what the chart labels', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const objects = [
    ...(await render(helm, '--set', 'monitoring.podMonitor=true')),
    ...(await render(helm, '--set', 'monitoring.serviceMonitor=true')),
  ]
  const labelled = {
    PodMonitor: at(byKind(objects, 'Deployment')[0], 'spec', 'template', 'metadata', 'labels'),
    ServiceMonitor: at(named(byKind(objects, 'Service'), '-metrics'), 'metadata', 'labels'),
  }
  for (const [kind, labels] of Object.entries(labelled)) {
    const selector = at(byKind(objects, kind)[0], 'spec', 'selector', 'matchLabels')
    assert.ok(typeof selector === 'object' && selector !== null && Object.keys(selector).length > 1, kind)
    for (const [name, value] of Object.entries(selector)) assert.equal(at(labels, name), value, `${kind} ${name}`)
  }
})

test('without persistence the data directory is an emptyDir and no claim is made', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const objects = await render(helm, '--set', 'persistence.enabled=false')
  assert.equal(byKind(objects, 'PersistentVolumeClaim').length, 0)
  const data = listAt(podOf(objects), 'volumes').find((volume) => at(volume, 'name') === 'data')
  assert.deepEqual(data, { name: 'data', emptyDir: {} })
})

for (const name of ['sidecar-pod', 'transparent-sidecar-pod'])
  test(`the example ${name} is a native sidecar, hardened like the gateway, with every mount backed by a volume`, () => {
    const [config, pod] = readObjects(readFileSync(join(CHART, `examples/${name}.yaml`), 'utf8'))
    const sidecar = listAt(pod, 'spec', 'initContainers').find((container) => at(container, 'name') === 'preflight')
    assert.equal(at(sidecar, 'restartPolicy'), 'Always')
    assert.deepEqual(listAt(sidecar, 'args'), ['serve'])
    for (const [member, value] of Object.entries(HARDENED)) {
      assert.deepEqual(at(sidecar, 'securityContext', member), value, member)
    }
    const volumes = listAt(pod, 'spec', 'volumes')
    const mounts = [sidecar, ...listAt(pod, 'spec', 'containers')].flatMap((container) =>
      at(container, 'volumeMounts') === undefined ? [] : textsAt(listAt(container, 'volumeMounts'), 'name'),
    )
    assert.deepEqual([...new Set(mounts)].toSorted(), textsAt(volumes, 'name').toSorted())
    const configVolume = volumes.find((volume) => at(volume, 'name') === 'preflight-config')
    assert.equal(at(configVolume, 'configMap', 'name'), at(config, 'metadata', 'name'))
  })

test('further listeners and an authority of your own are there when asked for, and only then', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const objects = await render(
    helm,
    '--set',
    'ports.extAuthz=15091,ports.transparent=15001,interceptionAuthority.existingSecret=authority,networkPolicy.enabled=true',
  )
  const pod = podOf(objects)
  const ports = ['admin', 'api', 'ext-authz', 'proxy', 'transparent']
  assert.deepEqual(textsAt(listAt(pod, 'containers', 0, 'ports'), 'name'), ports)
  const variables = new Map(
    listAt(pod, 'containers', 0, 'env').map((entry) => [at(entry, 'name'), at(entry, 'value')] as const),
  )
  assert.equal(variables.get('PREFLIGHT_LISTEN_EXT_AUTHZ'), '0.0.0.0:15091')
  assert.equal(variables.get('PREFLIGHT_LISTEN_TRANSPARENT'), '0.0.0.0:15001')
  assert.equal(variables.get('PREFLIGHT_TLS_CA_KEY'), '/etc/preflight/authority/tls.key')
  assert.deepEqual(
    textsAt(listAt(pod, 'containers', 0, 'volumeMounts'), 'name'),
    textsAt(listAt(pod, 'volumes'), 'name'),
  )
  const [service] = byKind(objects, 'Service')
  assert.deepEqual(textsAt(listAt(service, 'spec', 'ports'), 'targetPort'), [
    'api',
    'ext-authz',
    'proxy',
    'transparent',
  ])
  const [policy] = byKind(objects, 'NetworkPolicy')
  assert.deepEqual(
    listAt(policy, 'spec', 'ingress', 0, 'ports').map((entry) => at(entry, 'port')),
    ['proxy', 'api', 'ext-authz', 'transparent'],
  )
  const plain = textsAt(listAt(podOf(await render(helm)), 'containers', 0, 'ports'), 'name')
  assert.deepEqual(plain, ['admin', 'api', 'proxy'])
})
