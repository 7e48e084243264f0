/**
 * Runs inside its own network namespace: a server on port 443, a gateway with a transparent listener, and an agent of
 * another user. The iptables commands of the chart's example redirect the agent's connections to the gateway. Prints the
 * responses that the agent got as one line of JSON.
 */
import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { testAuthority } from './certificates.ts'
import { petContract } from './http-upstream.ts'
import { textAt } from '../json.ts'
import { startProxy } from './proxy-under-test.ts'

const EXAMPLE = join(import.meta.dirname, '../../charts/preflight-gateway/examples/transparent-sidecar-pod.yaml')

/** `nobody`: its connections are turned, and the gateway's own reach the server. */
const AGENT = 65_534

const trusted = await testAuthority()
const seen: string[] = []
const server = createServer(await trusted.leaf('localhost'), (request, response) => {
  seen.push(request.url ?? '')
  response.end('good')
})
await new Promise<void>((resolve) => server.listen(443, '127.0.0.1', resolve))

const proxy = await startProxy({
  routes: [
    {
      name: 'pets',
      match: { host: 'localhost', path: '/v1' },
      protocol: 'http',
      contract: { current: { file: petContract() } },
      tls: { upstream_ca: trusted.file },
    },
  ],
  config: { egress: { allow: ['127.0.0.0/8', '::1'] } },
})
const { port } = await proxy.listener.transparent.listen('127.0.0.1', 0)
const [, pod] = parseAllDocuments(readFileSync(EXAMPLE, 'utf8')).map((document): unknown => document.toJS())
const script = textAt(pod, 'spec', 'initContainers', 0, 'args', 0)
// Here the gateway runs as this user, and so does the server.
const settings = { GATEWAY_UID: String(process.getuid?.()), GATEWAY_PORT: String(port) }
execFileSync('sh', ['-euc', script], { env: { PATH: process.env['PATH'], ...settings } })
const directory = mkdtempSync(join(tmpdir(), 'preflight-agent-'))
const bundle = join(directory, 'ca.pem')
writeFileSync(bundle, await proxy.authorities.bundle())
chmodSync(directory, 0o755)

const curl = async (url: string): Promise<string> => {
  const argv = ['--silent', '--show-error', '--include', '--ipv4', '--max-time', '10', '--cacert', bundle, url]
  const ran = await promisify(execFile)('curl', argv, { uid: AGENT, env: { PATH: process.env['PATH'] } }).catch(
    (error: unknown) => ({ stdout: String(error) }),
  )
  return ran.stdout
}
/** Neighbours that never answer, on a link of this namespace: what iptables lets pass is sent, and lost. */
const [OUTSIDE, OUTSIDE_6] = ['10.98.0.7', 'fd98::7']
for (const command of [
  'link add out0 type veth peer name out1',
  'link set out0 up',
  'link set out1 up',
  'address add 10.98.0.1/24 dev out0',
  'address add fd98::1/64 dev out0 nodad',
  `neighbour add ${OUTSIDE} lladdr 02:00:00:00:00:07 dev out0`,
  `neighbour add ${OUTSIDE_6} lladdr 02:00:00:00:00:07 dev out0`,
  'route add default dev out0',
])
  execFileSync('ip', command.split(' '))

/** What a user gets who connects or sends: `passed` also for a packet that nobody answers. */
const probe = async (uid: number, protocol: 'tcp' | 'udp', host: string, to: number): Promise<string> => {
  const argv = ['-c', `echo x > /dev/${protocol}/${host}/${to}`]
  try {
    await promisify(execFile)('bash', argv, { uid, timeout: 3000 })
    return 'passed'
  } catch (error) {
    // Killed when the time was over: the packet was lost, not rejected.
    return error instanceof Error && 'killed' in error && error.killed === true ? 'passed' : 'rejected'
  }
}
const [, resolver = OUTSIDE] = /^nameserver\s+([\d.]+)$/m.exec(readFileSync('/etc/resolv.conf', 'utf8')) ?? []
const GATEWAY = process.getuid?.() ?? 0
const reached = {
  'tcp to another port': await probe(AGENT, 'tcp', OUTSIDE, 8443),
  'udp to 443': await probe(AGENT, 'udp', OUTSIDE, 443),
  'udp to another resolver': await probe(AGENT, 'udp', OUTSIDE, 53),
  'tcp over IPv6 to 443': await probe(AGENT, 'tcp', OUTSIDE_6, 443),
  'tcp over IPv6 to another port': await probe(AGENT, 'tcp', OUTSIDE_6, 8443),
  'udp over IPv6 to 443': await probe(AGENT, 'udp', OUTSIDE_6, 443),
  'name resolution': resolver === OUTSIDE ? 'passed' : await probe(AGENT, 'udp', resolver, 53),
  loopback: await probe(AGENT, 'tcp', '127.0.0.1', port),
  'udp of the gateway': await probe(GATEWAY, 'udp', OUTSIDE, 443),
  'tcp of the gateway': await probe(GATEWAY, 'tcp', OUTSIDE, 8443),
  'udp over IPv6 of the gateway': await probe(GATEWAY, 'udp', OUTSIDE_6, 443),
}
const judged = await curl('https://localhost/v1/pets')
const denied = await curl('https://localhost/elsewhere')
process.stdout.write(`${JSON.stringify({ judged, denied, seen, reached })}\n`)
await proxy.close()
server.closeAllConnections()
server.close()
