/** Values of the chart by class: what is refused, what reaches every pod, and what an upgrade between sets of values may change. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { fetchedTool } from '../fakes/programs.ts'
import { at, listAt, textAt } from '../json.ts'

const CHART = join(import.meta.dirname, '../../charts/preflight-gateway')
const EVERY_MODE = ['modes.injector=true', 'modes.hub=true', 'modes.admission=true', 'config.routes[0].name=cluster']
  .concat(['config.routes[0].protocol=kubernetes', 'config.routes[0].match.path=/', 'monitoring.podMonitor=true'])
  .flatMap((setting) => ['--set', setting])

async function render(helm: string, settings: readonly string[]): Promise<readonly unknown[]> {
  const { stdout } = await promisify(execFile)(helm, ['template', 'trial', CHART, ...EVERY_MODE, ...settings], {
    maxBuffer: 16 * 1024 * 1024,
  })
  return parseAllDocuments(stdout)
    .map((document): unknown => document.toJS())
    .filter((object) => object !== null)
}

/** The pod of every workload, hook and test, by kind and name. */
function podsOf(objects: readonly unknown[]): ReadonlyMap<string, unknown> {
  const pods = objects.flatMap((object): (readonly [string, unknown])[] => {
    const kind = textAt(object, 'kind')
    const work = kind === 'CronJob' ? at(object, 'spec', 'jobTemplate') : object
    const pod = kind === 'Pod' ? at(object, 'spec') : at(work, 'spec', 'template', 'spec')
    return at(pod, 'containers') === undefined ? [] : [[`${kind}/${textAt(object, 'metadata', 'name')}`, pod]]
  })
  return new Map(pods)
}

const REFUSED: readonly (readonly [setting: string, message: RegExp])[] = [
  ['config=null', /missing property 'config'/],
  ['networkPolicy=null', /missing property 'networkPolicy'/],
  ['image=null', /missing property 'image'/],
  ['persistence.size=null', /'\/persistence': missing property 'size'/],
  ['webhooks.certificate.days=null', /'\/webhooks\/certificate': missing property 'days'/],
  ['fullnameOverride=Bad_Name', /'\/fullnameOverride': 'Bad_Name' does not match/],
  ['nameOverride=1st', /'\/nameOverride': '1st' does not match/],
  ['commonLabels.app\\.kubernetes\\.io/instance=other', /invalid propertyName 'app\.kubernetes\.io\/instance'/],
  ['podLabels.app\\.kubernetes\\.io/name=other', /invalid propertyName 'app\.kubernetes\.io\/name'/],
  ['ports.proxy=15081', /ports\.api and ports\.proxy are both 15081: set different ports/],
  ['hub.port=15443', /hub\.port and webhooks\.port are both 15443/],
  ['ports.transparent=15090', /ports\.admin and ports\.transparent are both 15090/],
  // On one line, whatever the number of choices.
  ['config.tier=none', /'\/config\/tier': value must be one of 'sidecar', 'gateway', 'verifier'/],
  ['injector.settings.mode=none', /'\/injector\/settings\/mode': value must be one of '/],
  ['lifecycle.preStop.sleep.seconds=0', /\/lifecycle\/preStop\/sleep\/seconds/],
]

test('an emptied section, a name that objects cannot have, a label of the chart and a shared port are refused by name', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  for (const [setting, message] of REFUSED) await assert.rejects(render(helm, ['--set', setting]), message, setting)
  const several = ['store.existingSecret=store', 'persistence.enabled=false', 'autoscaling.enabled=true']
  const bounds = [...several, 'autoscaling.minReplicas=9'].flatMap((setting) => ['--set', setting])
  await assert.rejects(render(helm, bounds), /autoscaling\.minReplicas is more than autoscaling\.maxReplicas/)
})

test('every pod of the release runs where the values say, and only the gateway’s own keeps to rules about other pods', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } }
  const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [] }
  const tolerations = [{ key: 'agents', operator: 'Exists' }]
  const pods = podsOf(
    await render(helm, [
      '--set-json',
      `affinity=${JSON.stringify({ nodeAffinity, podAntiAffinity })}`,
      '--set-json',
      `tolerations=${JSON.stringify(tolerations)}`,
      '--set',
      'nodeSelector.pool=agents,priorityClassName=high',
    ]),
  )
  assert.equal(pods.size, 9)
  for (const [name, pod] of pods) {
    assert.deepEqual(at(pod, 'nodeSelector'), { pool: 'agents' }, name)
    assert.deepEqual(at(pod, 'tolerations'), tolerations, name)
    assert.equal(at(pod, 'priorityClassName'), 'high', name)
    const isGateway = name === 'Deployment/trial-preflight-gateway'
    assert.deepEqual(at(pod, 'affinity'), isGateway ? { nodeAffinity, podAntiAffinity } : { nodeAffinity }, name)
  }
})

test('a pause of 0 seconds is none, and a long one is within the grace period', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  for (const [name, pod] of podsOf(await render(helm, ['--set', 'preStopSeconds=0'])))
    assert.equal(at(pod, 'containers', 0, 'lifecycle', 'preStop'), undefined, name)
  for (const [name, pod] of podsOf(await render(helm, ['--set', 'preStopSeconds=60'])))
    if (name.startsWith('Deployment/')) assert.ok(Number(at(pod, 'terminationGracePeriodSeconds')) > 60, name)
})

test('a file in the values reaches the pod as it was written', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const folder = mkdtempSync(join(tmpdir(), 'preflight-values-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const texts = ['  indented: first\nthen: not\n', 'no line end', '\n\nlines before', 'a: "<\u2028é"\r\n', '---\n...\n']
  const settings = texts.flatMap((text, index) => {
    writeFileSync(join(folder, `${index}`), text)
    return ['--set-file', `files.file-${index}=${join(folder, String(index))}`]
  })
  const maps = (await render(helm, settings)).filter((object) => textAt(object, 'metadata', 'name').endsWith('-files'))
  assert.equal(maps.length, 2, 'of the check and of the pod')
  for (const map of maps)
    assert.deepEqual(
      texts.map((_, index) => at(map, 'data', `file-${index}`)),
      texts,
    )
})

test('probes and monitors follow the admin listener to TLS', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const files = { certificate: '/etc/preflight/tls/tls.crt', key: '/etc/preflight/tls/tls.key' }
  const tls = JSON.stringify({ listeners: { admin: files } })
  const objects = await render(helm, [
    '--set-json',
    `config.tls=${tls}`,
    '--set',
    'monitoring.tlsConfig.insecureSkipVerify=true',
  ])
  const container = at(podsOf(objects).get('Deployment/trial-preflight-gateway'), 'containers', 0)
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
    assert.equal(at(container, probe, 'httpGet', 'scheme'), 'HTTPS', probe)
  const monitor = objects.find((object) => at(object, 'kind') === 'PodMonitor')
  const [endpoint] = listAt(monitor, 'spec', 'podMetricsEndpoints')
  assert.deepEqual([at(endpoint, 'scheme'), at(endpoint, 'tlsConfig')], ['https', { insecureSkipVerify: true }])
})

/** What an API server refuses to change in an object that is there. Hooks are made anew, and the size of a claim may grow. */
const IMMUTABLE: Readonly<Record<string, readonly (readonly string[])[]>> = {
  Deployment: [['spec', 'selector']],
  PersistentVolumeClaim: [
    ['spec', 'accessModes'],
    ['spec', 'storageClassName'],
  ],
  RoleBinding: [['roleRef']],
  ClusterRoleBinding: [['roleRef']],
  Secret: [['type']],
}

function immutableOf(objects: readonly unknown[]): ReadonlyMap<string, unknown> {
  return new Map(
    objects.flatMap((object) =>
      (IMMUTABLE[textAt(object, 'kind')] ?? []).map(
        (path) =>
          [
            `${textAt(object, 'kind')}/${textAt(object, 'metadata', 'name')} ${path.join('.')}`,
            at(object, ...path),
          ] as const,
      ),
    ),
  )
}

const CHANGES: readonly string[] = [
  'modes.gateway=false',
  'modes.injector=false',
  'commonLabels.team=platform,podLabels.team=platform',
  'image.tag=0.2.0',
  'persistence.size=9Gi',
  'persistence.existingClaim=mine',
  'replicas=3,store.existingSecret=store,persistence.enabled=false',
  'autoscaling.enabled=true,store.existingSecret=store,persistence.enabled=false',
  'service.type=LoadBalancer,ports.proxy=8080,ports.extAuthz=15091',
  'serviceAccount.create=false',
  'webhooks.certificate.source=certManager',
  'networkPolicy.enabled=true,networkPolicy.lockAgents.app=agent,podDisruptionBudget.enabled=true',
  'bootstrapKey.value=a-trial-key-of-enough-characters',
]

test('no value but the documented ones changes what an API server refuses to change', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const before = immutableOf(await render(helm, []))
  const changed = async (setting: string): Promise<readonly string[]> => {
    const after = immutableOf(await render(helm, ['--set', setting]))
    const kept = [...before].filter(([name]) => after.has(name))
    return kept
      .filter(([name, value]) => JSON.stringify(after.get(name)) !== JSON.stringify(value))
      .map(([name]) => name)
  }
  for (const setting of CHANGES) assert.deepEqual(await changed(setting), [], setting)
  assert.notDeepEqual(await changed('nameOverride=guard,fullnameOverride=trial-preflight-gateway'), [])
  assert.notDeepEqual(await changed('persistence.storageClass=fast'), [])
})
