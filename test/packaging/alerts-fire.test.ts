/**
 * Every alert is provoked at real gateways, and Debian's Prometheus with the chart's rules shows it firing. What a test must not
 * do to a machine is fed as a page of metrics, and named here.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Agent, fetch as undiciFetch } from 'undici'
import { parse } from 'yaml'
import { testAuthority } from '../fakes/certificates.ts'
import { FREE_PORTS, startTestGateway, TEST_KEY } from '../fakes/gateway.ts'
import { petContract, startHttpUpstream } from '../fakes/http-upstream.ts'
import { startHubCluster } from '../fakes/hub-scene.ts'
import { CRDS, scene as kubernetesScene, widgetCrd } from '../fakes/kubernetes-scene.ts'
import { startGithub } from '../fakes/github-server.ts'
import { FakeRepository } from '../fakes/scm-repository.ts'
import { SCM_TOKEN } from '../fakes/scm-server.ts'
import { breakListing, startPetRoute } from '../fakes/pet-route.ts'
import { startPrometheus, type Prometheus } from '../fakes/prometheus.ts'
import { openConnect, startTls } from '../fakes/through-proxy.ts'
import { until } from '../fakes/until.ts'
import { github, githubPayload, SECRET } from '../fakes/webhooks.ts'
import { listAt, textAt } from '../json.ts'

const RULES = join(import.meta.dirname, '../../charts/preflight-gateway/rules/alerts.yaml')
const ALERTS = listAt(parse(readFileSync(RULES, 'utf8')), 'groups', 0, 'rules').map((rule) => textAt(rule, 'alert'))

/**
 * A test fills no volume, leaves itself descriptors and a log, and does not block the thread of the gateway, which is its own. A
 * hub takes every record of a sidecar of its version.
 */
const FED = [
  'PreflightVolumeFull',
  'PreflightVolumeFilling',
  'PreflightOverloaded',
  'PreflightCallRecordsRefused',
  'PreflightDescriptorsUsedUp',
  'PreflightLogLost',
]

const DEAD = 'http://127.0.0.1:9'
const HOUR = 3_600_000
const DAY = 86_400_000

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'preflight-alerts-'))
  t.after(() => rmSync(made, { recursive: true, force: true, maxRetries: 9 }))
  return made
}

/** A page of metrics that is made anew for each scrape. */
async function page(t: TestContext, text: () => string | Promise<string>): Promise<string> {
  const server = createServer((_request, response) => {
    void Promise.resolve(text()).then((body) =>
      response.setHeader('content-type', 'text/plain; version=0.0.4').end(body),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

/** A volume that fills by 10 MB a second, a thread that always works, and a record and a log line that are lost every second. */
function fedPage(t: TestContext): Promise<string> {
  const begin = Date.now()
  return page(t, () => {
    const seconds = (Date.now() - begin) / 1000
    return [
      `preflight_data_dir_free_bytes ${Math.max(0, 99e6 - seconds * 1e7)}`,
      `preflight_event_loop_busy_seconds_total ${seconds * 100}`,
      `preflight_call_records_refused_total{route="shop"} ${Math.floor(seconds)}`,
      `preflight_log_lines_lost_total ${Math.floor(seconds)}`,
      'process_open_fds 95',
      'process_max_fds 100',
      '',
    ].join('\n')
  })
}

/** Provokes alerts again and again, since what is counted before the first scrape is no increase. */
interface Source {
  readonly job: string
  /** HOST:PORT of its metrics. */
  readonly target: string
  readonly act: (fired: ReadonlySet<string>) => Promise<unknown>
}

const hostOf = (address: string): string => new URL(address).host
const quietly = (work: Promise<unknown>): Promise<unknown> => work.catch(() => null)

function approvalPack(file: string): string {
  const rules = [{ id: 'breaking-asks', when: "finding.level == 'breaking'", then: 'REQUIRE_APPROVAL' }]
  const metadata = { name: 'asks' }
  writeFileSync(file, JSON.stringify({ apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata, rules }))
  return file
}

/** A changed contract, an exception, settings with mistakes, a decision log that cannot be written, a receiver that rejects. */
async function changedContract(t: TestContext): Promise<Source> {
  const directory = folder(t)
  const policy = approvalPack(join(directory, 'pack.yaml'))
  const receiver = await startHttpUpstream((_request, response) =>
    response.end(JSON.stringify({ partialSuccess: { rejectedLogRecords: '1', errorMessage: 'too old' } })),
  )
  t.after(() => receiver.close())
  const scene = await startPetRoute(
    t,
    { hold: 600 },
    {
      policy,
      decision_log: { sinks: [{ type: 'file', path: directory }] },
      monitoring: { sinks: [{ type: 'otlp', endpoint: receiver.origin, interval: 0.01 }] },
    },
  )
  await scene.call()
  scene.change(breakListing)
  void quietly(scene.call())
  let turn = 0
  let isOpen = false
  return {
    job: 'changed-contract',
    target: hostOf(scene.gateway.addresses.admin),
    async act(fired) {
      turn += 1
      // An exception lets go of the calls that wait.
      if (fired.has('PreflightCallsHeld') && !isOpen) {
        isOpen = true
        writeFileSync(policy, 'kind: Nothing')
        await scene.api('POST', '/api/v1/break-glass', { route: 'pets', reason: 'an incident', duration: 600 })
      }
      // Each changed contract is announced once, so that the receiver has something to reject.
      scene.change((paths) => {
        breakListing(paths)
        paths[`/turn-${turn}`] = { get: { responses: { 200: { description: 'good' } } } }
      })
      void quietly(scene.call({ signal: AbortSignal.timeout(5000) }))
    },
  }
}

type Authority = Awaited<ReturnType<typeof testAuthority>>

/** A certificate for a listener, and its key. */
async function leafFiles(authority: Authority, directory: string) {
  const { cert, key } = await authority.leaf('127.0.0.1')
  const files = { certificate: join(directory, 'tls.crt'), key: join(directory, 'tls.key') }
  writeFileSync(files.certificate, cert)
  writeFileSync(files.key, key)
  return files
}

/** Calls that cannot be judged, upstreams that fail, answers that drift, forged receipts, a metadata address, certificates that end. */
async function failingCalls(t: TestContext): Promise<Source> {
  const upstream = await startHttpUpstream((_request, response) =>
    response.setHeader('content-type', 'application/json').end('{"id":"text"}'),
  )
  const slow = await startHttpUpstream((_request, response) => {
    setTimeout(() => response.end(readFileSync(contract, 'utf8')), 1500)
  })
  t.after(() => Promise.all([upstream.close(), slow.close()]))
  const directory = folder(t)
  const schema = { type: 'object', properties: { id: { type: 'integer' } } }
  const answers = { 200: { description: 'good', content: { 'application/json': { schema } } } }
  const contract = petContract((paths) => {
    paths['/pets'] = { get: { operationId: 'listPets', responses: answers } }
  })
  const route = (name: string, members: object = {}) => ({
    name,
    match: { path: `/${name}` },
    upstream: `${upstream.origin}/v1`,
    protocol: 'http',
    contract: { current: { file: contract }, refresh: 0 },
    ...members,
  })
  const unreadable = { contract: { current: { url: `${DEAD}/openapi.json` }, refresh: 0 } }
  const authority = await testAuthority()
  const ending = await testAuthority(Date.now() - 725 * DAY)
  const files = await leafFiles(authority, directory)
  const gateway = await startTestGateway(t, {
    listen: { ...FREE_PORTS, ext_authz: '127.0.0.1:0' },
    tls: { listeners: { ext_authz: files }, ca: { certificate: ending.file, key: ending.keyFile } },
    egress: { allow: ['127.0.0.0/8'] },
    routes: [
      route('undecided', unreadable),
      route('open', { ...unreadable, failure: 'open' }),
      route('away', { upstream: DEAD }),
      route('drifting', { validate: 'observe' }),
      route('guarded', { receipts: { require: true } }),
      route('slow', { contract: { current: { url: `${slow.origin}/openapi.json` }, refresh: 0 } }),
      { ...route('intercepted'), match: { host: 'localhost', path: '/' } },
    ],
  })
  const { proxy, api, admin } = gateway.addresses
  const decided = await fetch(`${api}/api/v1/preflight`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      preflight_mode: 'authorize',
      artifacts: [{ id: 'a', type: 'json_schema', before: '{}', after: '{}' }],
      context: { operation: 'tool_call' },
    }),
  })
  const token = textAt(await decided.json(), 'chain_receipt')
  const forged = `${token.slice(0, token.lastIndexOf('.') + 1)}${'A'.repeat(86)}`
  const { socket } = await openConnect(proxy, 'localhost:443')
  ;(await startTls(socket, { servername: 'localhost', ca: ending.certificate, rejectUnauthorized: false })).destroy()
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    quietly(fetch(`${proxy}/${path}/pets`, { headers }))
  return {
    job: 'failing-calls',
    target: hostOf(admin),
    act: async () => {
      for (let more = 0; more < 3; more += 1) void get('slow')
      const denied = await openConnect(proxy, '169.254.169.254:80')
      denied.socket.destroy()
      await Promise.all([
        get('undecided'),
        get('open'),
        get('away'),
        get('drifting'),
        get('guarded', { 'preflight-receipt': forged }),
      ])
    },
  }
}

/** What waits for hours, seen by a gateway whose clock is behind: an approval, a checkpoint, messages, deliveries, telemetry. */
async function waiting(t: TestContext): Promise<Source> {
  const directory = folder(t)
  const files = { secret: join(directory, 'secret'), token: join(directory, 'token') }
  writeFileSync(files.secret, `${SECRET}\n`)
  writeFileSync(files.token, SCM_TOKEN)
  const repository = new FakeRepository('acme/pets', { 'README.md': 'pets' })
  const platform = await startGithub(repository)
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  t.after(() => upstream.close())
  const [baseline, current] = [petContract(), petContract(breakListing)]
  let behind = 3 * HOUR
  const gateway = await startTestGateway(
    t,
    {
      policy: approvalPack(join(directory, 'pack.yaml')),
      notifications: { channels: [{ type: 'slack', name: 'people', url: DEAD }] },
      monitoring: { sinks: [{ type: 'http', url: DEAD, interval: 0.01 }], spool: 1 },
      ledger: { checkpoint: 86_400 },
      scm: { github: { api: platform.origin, token_file: files.token, webhook: { secret_file: files.secret } } },
      routes: [
        {
          name: 'pets',
          match: { path: '/' },
          upstream: `${upstream.origin}/v1`,
          protocol: 'http',
          contract: { baseline: { file: baseline }, current: { file: current }, refresh: 0 },
        },
      ],
    },
    { now: () => Date.now() - behind },
  )
  const { proxy, api, admin } = gateway.addresses
  const asked = async (path: string, body: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' }
    return (await fetch(api + path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  }
  const opened = await asked('/api/v1/bindings/challenge', { platform: 'scm_a', repository: 'acme/pets' })
  repository.commit('main', { '.preflight-bind': textAt(opened, 'marker_content') })
  await asked('/api/v1/bindings/prove', { challenge_id: textAt(opened, 'challenge_id') })
  await platform.close()
  const pull = githubPayload('pull_request', 'opened', { number: 7, pull_request: { number: 7 } })
  let isBegun = false
  return {
    job: 'waiting',
    target: hostOf(admin),
    act: async () => {
      await fetch(`${proxy}/pets`)
      if (isBegun) return
      isBegun = true
      const delivery = github('pull_request', pull)
      const answer = await fetch(`${api}/webhooks/github`, { method: 'POST', ...delivery })
      assert.equal(answer.status, 202)
      // What waits has waited for half an hour from now on.
      behind -= HOUR / 2
    },
  }
}

/** A signer that is away, a clock that is set back, and requests to a webhook that are no reviews. */
async function unreadyGateway(t: TestContext): Promise<Source> {
  let back = 0
  const authority = await testAuthority()
  const gateway = await startTestGateway(
    t,
    {
      listen: { ...FREE_PORTS, webhooks: '127.0.0.1:0' },
      tls: { listeners: { webhooks: await leafFiles(authority, folder(t)) } },
      injector: { image: 'preflight:1' },
      signer: { url: `${DEAD}/sign`, public_key: 'A'.repeat(43) },
    },
    { now: () => Date.now() - back },
  )
  const { webhooks = '', admin } = gateway.addresses
  const dispatcher = new Agent({ connect: { ca: authority.certificate } })
  t.after(() => dispatcher.close())
  return {
    job: 'unready',
    target: hostOf(admin),
    act: async () => {
      back = HOUR
      await undiciFetch(`${webhooks}/injector`, { method: 'POST', body: 'no review', dispatcher })
    },
  }
}

/** A sidecar without its hub. */
async function lostHub(t: TestContext): Promise<readonly Source[]> {
  const cluster = await startHubCluster()
  t.after(() => cluster.close())
  const hub = await cluster.startHub(t)
  const sidecar = await cluster.startSidecar(t, hub.url)
  await sidecar.call()
  let turn = 0
  const gone: Source = {
    job: 'hub',
    target: hostOf(hub.gateway.addresses.admin),
    act: async () => {
      turn += 1
      if (turn === 1) await hub.gateway.close()
    },
  }
  const target = hostOf(sidecar.gateway.addresses.admin)
  return [gone, { job: 'sidecar', target, act: () => quietly(sidecar.call(`/pets/${turn}`)) }]
}

/** Objects that somebody else changes between the check and the write. */
async function meddledWrites(t: TestContext): Promise<Source> {
  const { cluster, proxy, send } = await kubernetesScene(t)
  proxy.metrics.count('preflight_written_objects_total', { route: 'cluster', result: 'differs' }, 0)
  cluster.intervene = ({ method, isDryRun }) => {
    if (method === 'PATCH' && !isDryRun)
      cluster.put('customresourcedefinitions', widgetCrd({ colour: { type: 'string' } }))
    return null
  }
  return {
    job: 'cluster',
    target: await page(t, () => proxy.metrics.text()),
    async act() {
      cluster.put('customresourcedefinitions', widgetCrd())
      await send('PATCH', `${CRDS}/widgets.example.com`, { metadata: { labels: { a: 'b' } } })
    },
  }
}

async function firingSoon(prometheus: Prometheus, sources: readonly Source[]): Promise<readonly string[]> {
  const seen = new Set<string>()
  const timers = sources.map(({ act }) => setInterval(() => void quietly(act(seen)), 1500))
  try {
    await until(
      async () => {
        for (const name of await prometheus.firing()) seen.add(name)
        return ALERTS.every((name) => seen.has(name))
      },
      'every alert fires',
      120_000,
    ).catch(() => {})
  } finally {
    for (const timer of timers) clearInterval(timer)
  }
  return ALERTS.filter((name) => !seen.has(name))
}

test('every alert fires when what it is about happens', async (t) => {
  assert.deepEqual(
    FED.filter((name) => !ALERTS.includes(name)),
    [],
  )
  const sources = [
    await changedContract(t),
    await failingCalls(t),
    await waiting(t),
    ...(await lostHub(t)),
    await meddledWrites(t),
    await unreadyGateway(t),
  ]
  const jobs = Object.fromEntries(sources.map(({ job, target }) => [job, target]))
  const prometheus = await startPrometheus(t, { ...jobs, fed: await fedPage(t) })
  if (prometheus === null) {
    t.skip('prometheus is not installed (Debian: prometheus); PREFLIGHT_PROMETHEUS names one')
    return
  }
  const seen = async () => (await prometheus.query('count(preflight_build_info) == 6')).length
  await until(async () => (await seen()) === 1, 'every gateway is scraped', 120_000)
  assert.deepEqual(await firingSoon(prometheus, sources), [])
})
