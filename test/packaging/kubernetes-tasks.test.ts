/**
 * The commands of docs/kubernetes.md, in their order, by the real kubectl and openssl against a stand-in API server. What no
 * stand-in can do is listed with its reason.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { kubeconfig } from '../fakes/kubectl.ts'
import { startFakeCluster, type FakeCluster } from '../fakes/kubernetes-api.ts'
import { fetchedTool, hasProgram } from '../fakes/programs.ts'
import { at, textAt } from '../json.ts'

const GUIDE = join(import.meta.dirname, '../../docs/kubernetes.md')

/** Beginnings of commands that are not run here, and why. */
const ELSEWHERE = [
  ['docker ', 'the image is built by .ci/image'],
  ['helm install ', 'rendered and linted in chart.test.ts'],
  ['helm upgrade ', 'rendered and linted in chart.test.ts'],
  ['helm test ', 'its pod is rendered in chart.test.ts'],
  ['helm uninstall ', 'its Job runs in chart-modes.test.ts'],
  ['kubectl -n agents exec ', 'the stand-in runs no pods'],
] as const

const RELEASE = 'preflight-preflight-gateway'

/** What is in the cluster before the first task: what the release made. */
const EXISTING: readonly (readonly [resource: string, object: object])[] = [
  ['namespaces', { metadata: { name: 'shop' } }],
  [
    'secrets',
    {
      metadata: { name: `${RELEASE}-webhooks`, namespace: 'preflight' },
      data: { 'ca.crt': Buffer.from('the authority').toString('base64') },
    },
  ],
  [
    'deployments',
    {
      metadata: { name: 'agent', namespace: 'agents' },
      spec: { selector: { matchLabels: { app: 'agent' } }, template: { metadata: { labels: { app: 'agent' } } } },
    },
  ],
  [
    'pods',
    {
      metadata: {
        name: 'agent-1',
        namespace: 'agents',
        annotations: { 'preflight.dev/status': '{"mode":"explicit"}' },
      },
    },
  ],
  [
    'cronjobs',
    {
      metadata: { name: `${RELEASE}-certificate`, namespace: 'preflight', uid: 'u-2' },
      spec: { jobTemplate: { spec: { template: { spec: { containers: [{ name: 'webhooks' }] } } } } },
    },
  ],
  ['validatingwebhookconfigurations', { metadata: { name: `${RELEASE}-admission` }, webhooks: [] }],
]

/** Commands of the fenced blocks without a language, continued lines joined. */
function commandsIn(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].flatMap(([, language, block = '']) =>
    language === '' ? [block.replaceAll(/\\\n\s*/g, '')] : [],
  )
  return blocks.flatMap((block) => block.split('\n')).filter((line) => line !== '')
}

function run(command: string, folder: string): Promise<{ readonly output: string; readonly isGood: boolean }> {
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
    HOME: folder,
    KUBECONFIG: join(folder, 'config'),
  }
  return new Promise((resolve) => {
    execFile(
      'bash',
      ['-o', 'pipefail', '-c', command],
      { cwd: folder, env, timeout: 60_000 },
      (error, stdout, stderr) => resolve({ output: `${stdout}${stderr}`, isGood: error === null }),
    )
  })
}

function checkCluster(cluster: FakeCluster, folder: string, outputs: ReadonlyMap<string, string>): void {
  const labels = (name: string): unknown => at(cluster.object(`namespaces//${name}`), 'metadata', 'labels')
  for (const name of ['agents', 'shop'])
    assert.deepEqual(labels(name), {}, 'what a task sets, the task Remove takes away')
  assert.match([...outputs].find(([command]) => command.endsWith('admission=enabled'))?.[1] ?? '', /shop labeled/)
  assert.equal(readFileSync(join(folder, 'hub-ca.crt'), 'utf8'), 'the authority')
  const map = cluster.object('configmaps/agents/preflight-sidecar')
  assert.match(textAt(map, 'data', 'preflight.yaml'), /routes/)
  const admin = cluster.object('secrets/agents/preflight-admin')
  assert.match(Buffer.from(textAt(admin, 'data', 'key'), 'base64').toString('utf8'), /^pf_live_[0-9a-f]{48}$/)
  assert.equal(at(cluster.object('secrets/agents/preflight-authority'), 'type'), 'kubernetes.io/tls')
  const agent = cluster.object('deployments/agents/agent')
  assert.ok(at(agent, 'spec', 'template', 'metadata', 'annotations', 'kubectl.kubernetes.io/restartedAt') !== undefined)
  assert.match([...outputs].find(([command]) => command.includes('custom-columns'))?.[1] ?? '', /agent-1\s+\{"mode"/)
  assert.equal(
    at(cluster.object('jobs/preflight/rotate-certificate'), 'spec', 'template', 'spec', 'containers', 0, 'name'),
    'webhooks',
  )
  assert.equal(cluster.object(`secrets/preflight/${RELEASE}-webhooks`), undefined)
  assert.equal(cluster.object(`validatingwebhookconfigurations//${RELEASE}-admission`), undefined)
}

test('the commands of the guide do what the guide says', async (t) => {
  const kubectl = fetchedTool(t, 'kubectl')
  if (kubectl === null || !hasProgram(t, 'openssl', 'version')) return
  const cluster = await startFakeCluster()
  t.after(() => cluster.close())
  for (const [resource, object] of EXISTING) cluster.put(resource, Object(object))
  const folder = mkdtempSync(join(tmpdir(), 'preflight-tasks-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'bin'))
  symlinkSync(kubectl, join(folder, 'bin/kubectl'))
  writeFileSync(join(folder, 'config'), kubeconfig(cluster.origin))
  // What the reader has: a configuration of the sidecars, and a contract of the shop.
  writeFileSync(join(folder, 'preflight.yaml'), 'routes: []\n')
  for (const name of ['openapi.yaml', 'tools.json']) writeFileSync(join(folder, name), '{}\n')

  const commands = commandsIn(readFileSync(GUIDE, 'utf8'))
  const unused = new Set(ELSEWHERE.map(([beginning]) => beginning))
  const outputs = new Map<string, string>()
  for (const command of commands) {
    const elsewhere = ELSEWHERE.find(([beginning]) => command.startsWith(beginning))
    if (elsewhere !== undefined) {
      unused.delete(elsewhere[0])
      continue
    }
    // The ConfigMap of the sidecars is made by two tasks; a reader follows one of them.
    if (command.includes('create configmap preflight-sidecar'))
      await fetch(`${cluster.origin}/api/v1/namespaces/agents/configmaps/preflight-sidecar`, { method: 'DELETE' })
    const { output, isGood } = await run(command, folder)
    assert.ok(isGood, `${command}\n${output}`)
    outputs.set(command, output)
  }
  assert.ok(outputs.size >= 14, `${outputs.size} commands are run`)
  assert.deepEqual([...unused], [], 'reasons for commands that are gone')
  checkCluster(cluster, folder, outputs)
})
