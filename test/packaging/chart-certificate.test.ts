/**
 * The Jobs that make, spread and rotate the certificate of the webhooks: their commands, run with the roles that the chart gives
 * them against a stand-in API server.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { request, createServer } from 'node:https'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { run as runCommand } from '../fakes/command-io.ts'
import { startFakeCluster, type FakeCluster, type ClusterRequest } from '../fakes/kubernetes-api.ts'
import { typeFaults } from '../fakes/kubernetes-types.ts'
import { listening } from '../fakes/listening.ts'
import { fetchedTool } from '../fakes/programs.ts'
import { at, listAt, textAt } from '../json.ts'
import { testAuthority } from '../fakes/certificates.ts'

const CHART = join(import.meta.dirname, '../../charts/preflight-gateway')
const INJECTOR = ['--values', join(CHART, 'ci/injector-values.yaml'), '--set', 'webhooks.certificate.source=job']
const NAME = 'trial-preflight-gateway'

async function render(helm: string, ...settings: readonly string[]): Promise<readonly unknown[]> {
  const argv = ['template', 'trial', CHART, '--namespace', 'preflight', ...settings]
  const { stdout } = await promisify(execFile)(helm, argv)
  return parseAllDocuments(stdout)
    .map((document): unknown => document.toJS())
    .filter((object) => object !== null)
}

const find = (objects: readonly unknown[], kind: string, name: string): unknown =>
  objects.find((object) => at(object, 'kind') === kind && at(object, 'metadata', 'name') === name)

const argsOf = (pod: unknown): readonly string[] => listAt(pod, 'spec', 'containers', 0, 'args').map(String)

/** Names of the Services that webhooks and sidecars call, as their certificate must have them. */
const hostsOf = (objects: readonly unknown[]): readonly string[] =>
  configurationsOf(objects).flatMap((one) =>
    listAt(one, 'webhooks').map((webhook) => {
      const service = at(webhook, 'clientConfig', 'service')
      return `${textAt(service, 'name')}.${textAt(service, 'namespace')}.svc`
    }),
  )

const configurationsOf = (objects: readonly unknown[]): readonly unknown[] =>
  objects.filter((object) => /^(?:Mutating|Validating)WebhookConfiguration$/.test(textAt(object, 'kind')))

async function standIn(t: TestContext): Promise<FakeCluster> {
  const cluster = await startFakeCluster()
  t.after(() => cluster.close())
  return cluster
}

const pem = (secret: unknown, member: string): string =>
  Buffer.from(textAt(secret, 'data', member), 'base64').toString('utf8')

/** Resolves with the status, as an API server that calls the Service gets it. */
async function callAs(t: TestContext, host: string, secret: unknown, ca: string): Promise<number> {
  const server = createServer({ cert: pem(secret, 'tls.crt'), key: pem(secret, 'tls.key') }, (_request, response) =>
    response.end(),
  )
  const { port } = new URL(await listening(t, server))
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, servername: host, headers: { host }, ca, agent: false }
    request(options, (answer) => resolve(answer.resume().statusCode ?? 0))
      .on('error', reject)
      .end()
  })
}

test('Jobs make the certificate before the pods, and have the webhooks trust it after them, with no right too many', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const objects = await render(helm, ...INJECTOR)
  const cluster = await standIn(t)
  const account = await serviceAccount(t, cluster)
  const run = (args: readonly string[]) =>
    runCommand([...args, '--service-account', account.folder], { environment: account.environment })

  const make = find(objects, 'Job', `${NAME}-make-certificate`)
  assert.equal(at(make, 'metadata', 'annotations', 'helm.sh/hook'), 'pre-install,pre-upgrade')
  const makes = authorizerOf([find(objects, 'Role', `${NAME}-make-certificate`)])
  cluster.intervene = makes.intervene
  const made = await run(argsOf(at(make, 'spec', 'template')))
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /made, valid until/)
  const secret = cluster.object(`secrets/preflight/${NAME}-webhooks`)
  assert.deepEqual(typeFaults(secret), [])
  assert.equal(at(secret, 'type'), 'kubernetes.io/tls')
  const hosts = hostsOf(objects)
  assert.ok(hosts.length >= 3)
  for (const host of [...hosts, `${NAME}-hub.preflight.svc`])
    assert.equal(await callAs(t, host, secret, pem(secret, 'ca.crt')), 200, host)
  for (const pod of [NAME, `${NAME}-injector`]) {
    const volumes = listAt(find(objects, 'Deployment', pod), 'spec', 'template', 'spec', 'volumes')
    assert.ok(
      volumes.some((volume) => at(volume, 'secret', 'secretName') === `${NAME}-webhooks`),
      pod,
    )
  }

  for (const configuration of configurationsOf(objects)) {
    const resource = `${textAt(configuration, 'kind').toLowerCase()}s`
    cluster.put(resource, Object(configuration))
    for (const webhook of listAt(configuration, 'webhooks'))
      assert.equal(at(webhook, 'clientConfig', 'caBundle'), undefined, 'an upgrade leaves what the Job wrote')
  }
  const trust = find(objects, 'Job', `${NAME}-trust-certificate`)
  assert.equal(at(trust, 'metadata', 'annotations', 'helm.sh/hook'), 'post-install,post-upgrade')
  const roles = ['Role', 'ClusterRole'].map((kind) => find(objects, kind, `${NAME}-certificate`))
  const trusts = authorizerOf(roles)
  cluster.intervene = trusts.intervene
  const args = argsOf(at(trust, 'spec', 'template'))
  const trusted = await run(args)
  assert.equal(trusted.code, 0, trusted.stderr)
  for (const key of [
    `mutatingwebhookconfigurations//${NAME}-injector`,
    `validatingwebhookconfigurations//${NAME}-admission`,
  ])
    for (const webhook of listAt(cluster.object(key), 'webhooks'))
      assert.equal(at(webhook, 'clientConfig', 'caBundle'), at(secret, 'data', 'ca.crt'), key)

  const before = cluster.writes().length
  const again = await run(args)
  assert.match(again.stdout, /kept[^]*trusts it already[^]*trusts it already/)
  assert.equal(cluster.writes().length, before, 'nothing is written where nothing is due')

  const cron = find(objects, 'CronJob', `${NAME}-certificate`)
  const rotate = argsOf(at(cron, 'spec', 'jobTemplate', 'spec', 'template'))
  assert.deepEqual(rotate, args)
  // So long a life that the pair of 365 days is in its last third: the next one is prepared, and trusted.
  const later = rotate.map((word) => word.replace('--days=365', '--days=1200'))
  const rotated = await run(later)
  assert.match(rotated.stdout, /prepared[^]*trusts it now[^]*trusts it now/)
  const next = cluster.object(`secrets/preflight/${NAME}-webhooks`)
  assert.equal(at(next, 'data', 'tls.crt'), at(secret, 'data', 'tls.crt'), 'the one in use stays')
  // The next upgrade may make a certificate too, when the names of the release change.
  cluster.intervene = makes.intervene
  assert.match((await run([...argsOf(at(make, 'spec', 'template')), '--host', 'other.svc'])).stdout, /made/)
  assert.deepEqual(makes.unused(), [])
  // Should the Secret be deleted, the CronJob makes it.
  cluster.intervene = () => null
  await fetch(`${cluster.origin}/api/v1/namespaces/preflight/secrets/${NAME}-webhooks`, { method: 'DELETE' })
  cluster.intervene = trusts.intervene
  assert.match((await run(rotate)).stdout, /made/)
  assert.deepEqual(trusts.unused(), [])
})

test('a refusal, another writer and a mistyped operand end the command with the reason', async (t) => {
  const cluster = await standIn(t)
  const { folder, environment } = await serviceAccount(t, cluster)
  const run = (...args: readonly string[]) =>
    runCommand(['webhooks', 'certify', '--host', 'a.svc', '--service-account', folder, ...args], { environment })
  for (const [args, expected] of [
    [['--secret', 'name-only'], /is not NAMESPACE\/NAME/],
    [['--secret', '../kube-system'], /is not NAMESPACE\/NAME/],
    [['--secret', 'a/b', 'mutating/../x'], /is not mutating\/NAME/],
    [['--secret', 'a/b', '--days', '0'], /positive whole number/],
  ] as const) {
    const { code, stderr } = await run(...args)
    assert.equal(code, 2)
    assert.match(stderr, expected)
  }
  assert.deepEqual(cluster.requests, [])

  cluster.intervene = () => ({ code: 403, message: 'secrets is forbidden' })
  const refused = await run('--secret', 'preflight/pair')
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /403 to the reading of secrets\/pair: secrets is forbidden/)

  cluster.put('secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pair', namespace: 'preflight' } })
  cluster.intervene = ({ method }) => {
    // Somebody writes between the reading and the writing.
    if (method === 'PUT') cluster.put('secrets', { metadata: { name: 'pair', namespace: 'preflight' } })
    return null
  }
  const raced = await run('--secret', 'preflight/pair')
  assert.equal(raced.code, 2)
  assert.match(raced.stderr, /409 to the writing of secrets\/pair/)
})

test('a release with a long name has names that the API server takes', async (t) => {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return
  const objects = await render(helm, ...INJECTOR, '--set', `fullnameOverride=${'n'.repeat(63)}`)
  for (const object of objects) {
    const name = textAt(object, 'metadata', 'name')
    assert.ok(name.length <= (at(object, 'kind') === 'CronJob' ? 52 : 63), name)
  }
})

interface ServiceAccount {
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

async function serviceAccount(t: TestContext, cluster: FakeCluster): Promise<ServiceAccount> {
  const authority = await testAuthority()
  const server = createServer(await authority.leaf('127.0.0.1'), (incoming, response) => {
    const { method, url = '', headers } = incoming
    const onward = httpRequest(`${cluster.origin}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(onward)
  })
  const { port } = new URL(await listening(t, server))
  const folder = mkdtempSync(join(tmpdir(), 'preflight-account-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'ca.crt'), authority.certificate)
  writeFileSync(join(folder, 'token'), 'the-token\n')
  return { folder, environment: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: port } }
}

const VERBS = new Map([
  ['GET', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])

interface Authorizer {
  /** For `FakeCluster.intervene`: what no rule allows is refused. */
  readonly intervene: FakeCluster['intervene']
  /** Verbs of rules that no request used, as `RESOURCE VERB`. */
  unused(): readonly string[]
}

/** @param roles Role and ClusterRole objects that are bound to the account */
function authorizerOf(roles: readonly unknown[]): Authorizer {
  const rules = roles.flatMap((role) => listAt(role, 'rules'))
  const wanted = rules.flatMap((rule) =>
    listAt(rule, 'verbs').map((verb) => ({
      rule,
      verb: String(verb),
      label: `${String(at(rule, 'resources', 0))} ${String(verb)}`,
    })),
  )
  const used = new Set<object>()
  return {
    intervene(request) {
      const asked = askedBy(request)
      const granting = wanted.filter(({ rule, verb }) => verb === asked.verb && covers(rule, asked))
      for (const one of granting) used.add(one)
      const message = `cannot ${asked.verb} ${asked.resource} ${asked.name ?? ''}`
      return granting.length > 0 ? null : { code: 403, message }
    },
    unused: () => wanted.filter((one) => !used.has(one)).map(({ label }) => label),
  }
}

interface Asked {
  readonly verb: string
  readonly group: string
  readonly resource: string
  /** Null: of a collection. */
  readonly name: string | null
}

function askedBy({ method, url }: ClusterRequest): Asked {
  const [path = ''] = url.split('?', 1)
  const [, group = '', rest = ''] = /^\/api(?:s\/([^/]+))?\/v1\/(?:namespaces\/[^/]+\/)?(.+)$/.exec(path) ?? []
  const [resource = '', name = null] = rest.split('/')
  return { verb: VERBS.get(method) ?? method, group, resource, name }
}

function covers(rule: unknown, { group, resource, name }: Asked): boolean {
  const names = at(rule, 'resourceNames')
  const isNamed = !Array.isArray(names) || (name !== null && names.includes(name))
  return isNamed && listAt(rule, 'apiGroups').includes(group) && listAt(rule, 'resources').includes(resource)
}
