/** The pods of `helm test`: their programs, run against a gateway and an injector, and against ones that are not theirs. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { rotatedPair } from '../../gateway/kubernetes/webhook-pair.ts'
import { FREE_PORTS, startTestGateway } from '../fakes/gateway.ts'
import { fetchedTool, runProgram, type RanProgram } from '../fakes/programs.ts'
import { at, listAt, textAt } from '../json.ts'

const CHART = join(import.meta.dirname, '../../charts/preflight-gateway')

/** Program of a test pod by the end of its name. */
async function programsOf(t: TestContext): Promise<ReadonlyMap<string, string> | null> {
  const helm = fetchedTool(t, 'helm')
  if (helm === null) return null
  const argv = ['template', 'trial', CHART, '--namespace', 'preflight', '--set', 'modes.injector=true']
  const { stdout } = await promisify(execFile)(helm, argv)
  const pods = parseAllDocuments(stdout)
    .map((document): unknown => document.toJS())
    .filter((object) => at(object, 'metadata', 'annotations', 'helm.sh/hook') === 'test')
  return new Map(
    pods.map((pod) => {
      const container = at(pod, 'spec', 'containers', 0)
      assert.deepEqual(listAt(container, 'command'), ['node', '-e'])
      return [
        textAt(pod, 'metadata', 'name').replace('trial-preflight-gateway-', ''),
        textAt(container, 'args', 0),
      ] as const
    }),
  )
}

/** The program with addresses of this machine in the place of those of the Services. */
function ran(program: string, addresses: Readonly<Record<string, string>>, env = {}): Promise<RanProgram> {
  let text = program
  for (const [service, address] of Object.entries(addresses)) {
    assert.ok(text.includes(service), service)
    text = text.replace(service, address)
  }
  return runProgram(process.execPath, ['-e', text], env)
}

test('the test pods pass where gateway and injector answer, and fail where something else does', async (t) => {
  const programs = await programsOf(t)
  if (programs === null) return
  assert.deepEqual([...programs.keys()].toSorted(), ['injector-test', 'test'])
  const folder = mkdtempSync(join(tmpdir(), 'preflight-helm-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { texts } = await rotatedPair({}, { hosts: ['localhost'], days: 1, now: Date.now() })
  const files = { certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key') }
  writeFileSync(files.certificate, texts['tls.crt'] ?? '')
  writeFileSync(files.key, texts['tls.key'] ?? '')
  const { addresses } = await startTestGateway(t, {
    listen: { ...FREE_PORTS, webhooks: '127.0.0.1:0' },
    tls: { listeners: { webhooks: files } },
    injector: { image: 'preflight-gateway:1' },
  })
  const [api, proxy] = [
    'http://trial-preflight-gateway.preflight.svc:15081',
    'http://trial-preflight-gateway.preflight.svc:15080',
  ]
  const connection = programs.get('test') ?? ''
  const good = await ran(connection, { [api]: addresses.api, [proxy]: addresses.proxy })
  assert.equal(good.code, 0, good.stderr)
  assert.notEqual((await ran(connection, { [api]: addresses.admin, [proxy]: addresses.proxy })).code, 0)
  assert.notEqual((await ran(connection, { [api]: addresses.api, [proxy]: 'http://127.0.0.1:1' })).code, 0)

  const injector = programs.get('injector-test') ?? ''
  const service = 'https://trial-preflight-gateway-injector.preflight.svc:443'
  const webhooks = (addresses.webhooks ?? '').replace('127.0.0.1', 'localhost')
  const injected = await ran(injector, { [service]: webhooks }, { AUTHORITY: texts['ca.crt'] })
  assert.equal(injected.code, 0, injected.stderr)
  const other = await rotatedPair({}, { hosts: ['localhost'], days: 1, now: Date.now() })
  const untrusted = await ran(injector, { [service]: webhooks }, { AUTHORITY: other.texts['ca.crt'] })
  assert.notEqual(untrusted.code, 0, 'a certificate of somebody else')
})
