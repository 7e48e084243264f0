/**
 * Runs inside a network namespace of its own: a server on port 443, a gateway with a transparent listener, and an agent of
 * another user whose connections iptables turns to it, by the commands of the chart's example. Prints what the agent saw as one
 * line of JSON.
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
import { startRoad } from './road.ts'

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

const road = await startRoad({
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
const { port } = await road.proxy.transparent.listen('127.0.0.1', 0)
const [, pod] = parseAllDocuments(readFileSync(EXAMPLE, 'utf8')).map((document): unknown => document.toJS())
const script = textAt(pod, 'spec', 'initContainers', 0, 'args', 0)
// Here the gateway runs as this user, and so does the server.
const settings = { GATEWAY_UID: String(process.getuid?.()), GATEWAY_PORT: String(port) }
execFileSync('sh', ['-euc', script], { env: { PATH: process.env['PATH'], ...settings } })
const directory = mkdtempSync(join(tmpdir(), 'preflight-agent-'))
const bundle = join(directory, 'ca.pem')
writeFileSync(bundle, await road.authorities.bundle())
chmodSync(directory, 0o755)

const curl = async (url: string): Promise<string> => {
  const argv = ['--silent', '--show-error', '--include', '--ipv4', '--max-time', '10', '--cacert', bundle, url]
  const ran = await promisify(execFile)('curl', argv, { uid: AGENT, env: { PATH: process.env['PATH'] } }).catch(
    (error: unknown) => ({ stdout: String(error) }),
  )
  return ran.stdout
}
const judged = await curl('https://localhost/v1/pets')
const denied = await curl('https://localhost/elsewhere')
process.stdout.write(`${JSON.stringify({ judged, denied, seen })}\n`)
await road.close()
server.closeAllConnections()
server.close()
