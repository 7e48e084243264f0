/** The transparent listener behind a real iptables REDIRECT, in a network namespace of its own. Needs root; else it is skipped. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const NAMESPACE = `preflight-${process.pid}`
const CHILD = join(import.meta.dirname, '..', '..', 'fakes', 'redirected.ts')

function run(command: string, ...argv: string[]): boolean {
  return spawnSync(command, argv, { stdio: 'ignore' }).status === 0
}

test('an agent whose connections iptables turns to the gateway is judged without knowing of it', async (t) => {
  for (const tool of ['ip', 'iptables', 'ip6tables', 'curl']) {
    if (spawnSync(tool, ['-V']).error === undefined) continue
    assert.notEqual(process.env['CI'], 'true', `${tool} is missing; .ci/run installs it`)
    return t.skip(`${tool} is not installed`)
  }
  if (!run('ip', 'netns', 'add', NAMESPACE)) return t.skip('this user may not make a network namespace')
  t.after(() => void run('ip', 'netns', 'del', NAMESPACE))
  const inside = ['netns', 'exec', NAMESPACE]
  if (!run('ip', ...inside, 'ip', 'link', 'set', 'lo', 'up') || !run('ip', ...inside, 'iptables', '-t', 'nat', '-L'))
    return t.skip('iptables does not work in a network namespace here')
  const { stdout } = await promisify(execFile)(
    'ip',
    [...inside, process.execPath, '--disable-warning=ExperimentalWarning', CHILD],
    { timeout: 60_000 },
  )
  const { judged, denied, seen, reached } = JSON.parse(stdout)
  assert.match(judged, /^HTTP\/[\d.]+ 200[^]*preflight-action: CONTINUE[^]*good$/i)
  assert.match(denied, /^HTTP\/[\d.]+ 403[^]*EGRESS_DENIED/)
  assert.deepEqual(seen, ['/v1/pets'])
  assert.deepEqual(reached, {
    'tcp to another port': 'rejected',
    'udp to 443': 'rejected',
    'udp to another resolver': 'rejected',
    'tcp over IPv6 to 443': 'rejected',
    'tcp over IPv6 to another port': 'rejected',
    'udp over IPv6 to 443': 'rejected',
    'name resolution': 'passed',
    loopback: 'passed',
    'udp of the gateway': 'passed',
    'tcp of the gateway': 'passed',
    'udp over IPv6 of the gateway': 'passed',
  })
})
