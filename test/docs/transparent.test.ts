/** The iptables commands of docs/transparent.md, in a network namespace: what leaves, and what does not. Needs root and iptables. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attempt, link, namespaces, route } from '../fakes/network-namespaces.ts'
import { hasProgram } from '../fakes/programs.ts'
import { blockBelow } from './page.ts'

/** `nobody` */
const AGENT = 65_534
const OTHER = 61_337
const RESOLVER = '10.98.0.1'

test('the rules by hand redirect the agent, reject its other connections, and leave other users alone', async (t) => {
  for (const program of ['ip', 'iptables', 'ip6tables']) if (!hasProgram(t, program, '-V')) return
  const made = namespaces(t, ['host', 'out'])
  if (made === null) return
  const [host, out] = made
  assert.ok(host !== undefined && out !== undefined)
  link(host, ['10.98.0.2/24', 'fd98::2/64'], out, [`${RESOLVER}/24`, 'fd98::1/64'])
  route(host, 'route', 'add', 'default', 'via', RESOLVER)
  const script = ['set -e', `AGENT=${AGENT} RESOLVER=${RESOLVER}`, blockBelow('transparent.md', 'Rules by hand')].join(
    '\n',
  )
  const ran = await host.run(['bash', '-c', script])
  assert.equal(ran.code, 0, ran.stderr)

  const listener =
    "require('node:net').createServer((s) => s.end('redirected')).listen(15001, '127.0.0.1', () => console.log('ready'))"
  const gateway = await host.start([process.execPath, '-e', listener], /^ready$/, { uid: OTHER })
  t.after(() => gateway.stop())
  const read = (address: string, port: number, uid: number) =>
    host.run(['timeout', '3', 'bash', '-c', `cat < /dev/tcp/${address}/${port}`], { uid })
  for (const [address, port] of [
    ['10.98.0.1', 80],
    ['192.0.2.7', 443],
    ['127.0.0.1', 80],
  ] as const)
    assert.equal((await read(address, port, AGENT)).stdout, 'redirected', `${address}:${port}`)
  assert.notEqual((await read('10.98.0.1', 80, OTHER)).stdout, 'redirected', 'another user is left alone')

  const rows: readonly (readonly [protocol: 'tcp' | 'udp', address: string, port: number, expected: string])[] = [
    ['tcp', '192.0.2.7', 8443, 'rejected'],
    ['udp', '192.0.2.7', 443, 'rejected'],
    ['udp', '192.0.2.7', 53, 'rejected'],
    ['tcp', 'fd98::1', 443, 'rejected'],
    ['udp', 'fd98::1', 443, 'rejected'],
    ['udp', RESOLVER, 53, 'passed'],
    ['tcp', '127.0.0.1', 15_001, 'passed'],
  ]
  for (const [protocol, address, port, expected] of rows)
    assert.equal(await attempt(host, AGENT, protocol, address, port), expected, `${protocol} ${address}:${port}`)
  assert.equal(await attempt(host, OTHER, 'udp', '192.0.2.7', 443), 'passed')
})
