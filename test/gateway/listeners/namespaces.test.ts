/**
 * The tiers in real network namespaces: a pod with agent and sidecar, a gateway between agent and upstream, and the attempts to
 * go around each. Needs root and iptables; else it is skipped.
 */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { testAuthority, type TestAuthority } from '../../fakes/certificates.ts'
import {
  attempt,
  link,
  namespaces,
  resolve,
  route,
  type Inside,
  type Namespace,
  type Running,
} from '../../fakes/network-namespaces.ts'
import { hasProgram } from '../../fakes/programs.ts'
import { until } from '../../fakes/until.ts'

const PROGRAM = [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  join(import.meta.dirname, '../../../gateway/preflight.js'),
]
const UPSTREAM = join(import.meta.dirname, '../../fakes/namespace-upstream.ts')
const RAW_PACKET = join(import.meta.dirname, '../../fakes/raw-packet.py')
const GATEWAY_USER = 61_337
/** `nobody` */
const AGENT = 65_534
const HOST = 'cluster.example'

interface Place {
  readonly directory: string
  readonly authority: TestAuthority
}

async function place(t: TestContext): Promise<Place | null> {
  for (const program of ['ip', 'iptables', 'ip6tables', 'setpriv', 'curl'])
    if (!hasProgram(t, program, '-V')) return null
  const directory = mkdtempSync(join(tmpdir(), 'preflight-namespaces-'))
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 9 }))
  chmodSync(directory, 0o755)
  return { directory, authority: await testAuthority() }
}

async function startUpstream(namespace: Namespace, { directory, authority }: Place): Promise<Running> {
  const { cert, key } = await authority.leaf(HOST)
  const files = [join(directory, 'upstream.crt'), join(directory, 'upstream.key')] as const
  writeFileSync(files[0], cert)
  writeFileSync(files[1], key)
  return namespace.start([process.execPath, '--disable-warning=ExperimentalWarning', UPSTREAM, ...files], /^ready$/)
}

/** A gateway that judges calls to the upstream, and lets nothing else through. */
function gatewayFiles(
  { directory, authority }: Place,
  config: object,
): { readonly config: string; readonly bundle: string } {
  const own = join(directory, 'gateway')
  mkdirSync(own, { recursive: true })
  chmodSync(own, 0o777)
  const upstreamCa = join(directory, 'upstream-ca.pem')
  writeFileSync(upstreamCa, authority.certificate)
  const file = join(own, 'preflight.json')
  const bundle = join(own, 'bundle.pem')
  const cluster = { name: 'cluster', match: { host: HOST }, protocol: 'kubernetes', tls: { upstream_ca: upstreamCa } }
  const settings = {
    data_dir: join(own, 'data'),
    log: { level: 'error' },
    egress: { allow: ['10.98.0.0/16', 'fd98::/16'] },
    tls: { bundle_file: bundle },
    routes: [cluster],
    ...config,
  }
  writeFileSync(file, JSON.stringify(settings))
  return { config: file, bundle }
}

const curl = (from: Namespace, uid: number, ...argv: readonly string[]): Promise<Inside> =>
  from.run(['curl', '--silent', '--show-error', '--include', '--max-time', '60', ...argv], { uid })

/** The link-layer address of a device. */
const macOf = async (namespace: Namespace, device: string): Promise<string> =>
  (await namespace.run(['cat', `/sys/class/net/${device}/address`])).stdout.trim()

/** A packet on a socket of the link layer, which no packet filter of the namespace sees; root with NET_RAW may open one. */
function sendRaw(from: Namespace, device: string, mac: string, source: string, target: string): Promise<Inside> {
  return from.run(['/usr/bin/python3', RAW_PACKET, device, mac, source, target, '443', 'raw'])
}

test('sidecar: the pod’s connections are judged, other ways are closed, and the gateway’s own user goes around', async (t) => {
  const here = await place(t)
  const made = here === null ? null : namespaces(t, ['pod', 'up'])
  if (here === null || made === null) return
  const [pod, up] = made
  assert.ok(pod !== undefined && up !== undefined)
  const [podLink, upLink] = link(pod, ['10.98.0.2/24', 'fd98::2/64'], up, ['10.98.0.1/24', 'fd98::1/64'])
  route(pod, 'route', 'add', 'default', 'via', '10.98.0.1')
  route(pod, '-6', 'route', 'add', 'default', 'via', 'fd98::1')
  resolve(pod, `127.0.0.1 localhost\n10.98.0.1 ${HOST}\nfd98::1 ${HOST}\n`, '10.98.0.1')
  const upstream = await startUpstream(up, here)
  t.after(() => upstream.stop())

  const listen = {
    proxy: '127.0.0.1:15080',
    api: '127.0.0.1:15081',
    admin: '127.0.0.1:15090',
    transparent: '[::]:15001',
  }
  const { config, bundle } = gatewayFiles(here, { tier: 'sidecar', listen })
  const serve = () => pod.start([...PROGRAM, 'serve', '--config', config], /"event":"ready"/, { uid: GATEWAY_USER })
  let gateway = await serve()
  t.after(() => gateway.stop())
  const check = [...PROGRAM, 'redirect', 'check', '--ipv6', 'redirect', '--timeout', '1']

  const before = await pod.run(check, { uid: AGENT })
  assert.equal(before.code, 1, 'the validator fails where nothing is redirected')
  assert.match(before.stderr, /is not redirected/)
  const apply = [...PROGRAM, 'redirect', 'apply', '--user', String(GATEWAY_USER), '--ipv6', 'redirect']
  for (let time = 0; time < 2; time++) {
    const applied = await pod.run(apply)
    assert.equal(applied.code, 0, applied.stderr)
  }
  const after = await pod.run(check, { uid: AGENT })
  assert.equal(after.code, 0, after.stderr)

  const read = (family: '--ipv4' | '--ipv6') =>
    curl(pod, AGENT, family, '--cacert', bundle, `https://${HOST}/api/v1/pods`)
  for (const family of ['--ipv4', '--ipv6'] as const) {
    const { stdout, stderr } = await read(family)
    assert.match(stdout, /^HTTP\/[\d.]+ 200[^]*x-correlation-id/i, `${family}: ${stderr}`)
  }
  const write = await curl(
    pod,
    AGENT,
    '--cacert',
    bundle,
    '-X',
    'DELETE',
    `https://${HOST}/api/v1/namespaces/shop/pods/a`,
  )
  assert.match(write.stdout, /^HTTP\/[\d.]+ 403[^]*"kind":"Status"/)

  const around = {
    'another port': await attempt(pod, AGENT, 'tcp', '10.98.0.1', 8080),
    'another port over IPv6': await attempt(pod, AGENT, 'tcp', 'fd98::1', 8080),
    'UDP (QUIC)': await attempt(pod, AGENT, 'udp', '10.98.0.1', 443),
    'UDP over IPv6': await attempt(pod, AGENT, 'udp', 'fd98::1', 443),
    'another resolver': await attempt(pod, AGENT, 'udp', '10.98.0.9', 53),
    'another port, by name': await attempt(pod, AGENT, 'tcp', HOST, 8080),
    'UDP (QUIC), by name': await attempt(pod, AGENT, 'udp', HOST, 443),
  }
  assert.deepEqual([...new Set(Object.values(around))], ['rejected'], JSON.stringify(around))
  const direct = await curl(pod, AGENT, '--insecure', 'https://10.98.0.1/direct')
  assert.notEqual(direct.code, 0, 'TLS without a server name is closed')
  const plain = await curl(
    pod,
    AGENT,
    '-X',
    'DELETE',
    '-H',
    `Host: ${HOST}`,
    'http://10.98.0.1/api/v1/namespaces/shop/pods/a',
  )
  assert.doesNotMatch(plain.stdout, /^HTTP\/[\d.]+ 200/, 'another address with the name of a route')
  assert.ok(
    upstream.lines.every((line) => !/DELETE|direct|around/.test(line)),
    upstream.lines.join('\n'),
  )

  // Possible in this tier, as docs/threat-model.md states it: the gateway's user, and raw packets of root with NET_RAW.
  assert.equal(await attempt(pod, GATEWAY_USER, 'tcp', '10.98.0.1', 8080), 'passed')
  const raw = await sendRaw(pod, podLink, await macOf(up, upLink), '10.98.0.2', '10.98.0.1')
  assert.equal(raw.code, 0, raw.stderr)
  await until(() => upstream.lines.includes('udp raw'), 'a raw packet leaves the pod')
  for (const way of [`user ${GATEWAY_USER}`, 'raw packets with NET_RAW'])
    t.diagnostic(`tier sidecar, possible around the gateway: ${way}`)

  const trusted = readFileSync(bundle, 'utf8')
  await gateway.stop()
  assert.notEqual((await read('--ipv4')).code, 0, 'without the sidecar nothing leaves')
  gateway = await serve()
  await until(async () => /^HTTP\/[\d.]+ 200/.test((await read('--ipv4')).stdout), 'it serves again', 60_000)
  assert.equal(readFileSync(bundle, 'utf8'), trusted, 'agents trust the same authority after a restart')
})

test('gateway: an agent whose network ends at the gateway reaches nothing around it', async (t) => {
  const here = await place(t)
  const made = here === null ? null : namespaces(t, ['ag', 'gw', 'up'])
  if (here === null || made === null) return
  const [agent, middle, up] = made
  assert.ok(agent !== undefined && middle !== undefined && up !== undefined)
  const [agentLink, middleLink] = link(agent, ['10.98.1.2/24', 'fd98:1::2/64'], middle, [
    '10.98.1.1/24',
    'fd98:1::1/64',
  ])
  link(middle, ['10.98.2.1/24', 'fd98:2::1/64'], up, ['10.98.2.2/24', 'fd98:2::2/64'])
  // As a NetworkPolicy: the agent has a way to the gateway only, which forwards no packets.
  route(agent, 'route', 'add', 'default', 'via', '10.98.1.1')
  route(agent, '-6', 'route', 'add', 'default', 'via', 'fd98:1::1')
  route(up, 'route', 'add', 'default', 'via', '10.98.2.1')
  resolve(middle, `127.0.0.1 localhost\n10.98.2.2 ${HOST}\n`, '10.98.2.2')
  resolve(agent, `127.0.0.1 localhost\n10.98.2.2 ${HOST}\n`, '10.98.1.1')
  const upstream = await startUpstream(up, here)
  t.after(() => upstream.stop())
  const listen = { proxy: '10.98.1.1:15080', api: '127.0.0.1:15081', admin: '127.0.0.1:15090' }
  const { config, bundle } = gatewayFiles(here, { tier: 'gateway', listen })
  const gateway = await middle.start([...PROGRAM, 'serve', '--config', config], /"event":"ready"/, {
    uid: GATEWAY_USER,
  })
  t.after(() => gateway.stop())

  const proxied = ['--proxy', 'http://10.98.1.1:15080', '--cacert', bundle] as const
  const read = await curl(agent, AGENT, ...proxied, `https://${HOST}/api/v1/pods`)
  assert.match(read.stdout, /HTTP\/[\d.]+ 200[^]*x-correlation-id/i, read.stderr)
  const reached = upstream.lines.length
  const ways = [
    ['tcp', '10.98.2.2', 443],
    ['tcp', '10.98.2.2', 8080],
    ['tcp', 'fd98:2::2', 443],
    ['tcp', HOST, 443],
    ['tcp', HOST, 8080],
    ['udp', HOST, 443],
    ['udp', '10.98.2.2', 443],
    ['udp', 'fd98:2::2', 443],
  ] as const
  // Whoever the agent is, root too.
  await Promise.all(
    [AGENT, 0].flatMap((uid) => ways.map(([protocol, host, port]) => attempt(agent, uid, protocol, host, port))),
  )
  assert.notEqual((await curl(agent, AGENT, '--insecure', '--max-time', '3', `https://${HOST}/direct`)).code, 0)
  const raw = await sendRaw(agent, agentLink, await macOf(middle, middleLink), '10.98.1.2', '10.98.2.2')
  assert.equal(raw.code, 0, raw.stderr)
  const tunnel = await curl(agent, AGENT, ...proxied, '--proxytunnel', 'http://10.98.2.2:8080/api/v1/namespaces/a/pods')
  assert.match(tunnel.stdout, /./)
  assert.deepEqual(
    upstream.lines.slice(reached).filter((line) => /around|direct|raw/.test(line)),
    [],
  )
  const inside = await agent.run(['curl', '--silent', '--max-time', '3', 'http://10.98.1.1:15081/livez'], {
    uid: AGENT,
  })
  assert.notEqual(inside.code, 0, 'the API is not on the agents’ side')
})
