/** The public MCP conformance suite: every scenario ends the same with the gateway in between as without it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { test, type TestContext } from 'node:test'
import { startConformanceServer } from '../../fakes/conformance-server.ts'
import { startEverythingServer } from '../../fakes/everything-server.ts'
import { startTestGateway } from '../../fakes/gateway.ts'
import { listAt, textAt } from '../../json.ts'

const SUITE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js')

const CLIENT = fileURLToPath(new URL('../../fakes/conformance-client.ts', import.meta.url))

/** Scenario → how each of its checks ended, in order. */
type Results = Readonly<Record<string, readonly string[]>>

/** Runs the suite and reads what it has written. */
async function suite(t: TestContext, args: readonly string[]): Promise<Results> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-conformance-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const run = spawn(process.execPath, [SUITE, ...args, '--output-dir', directory], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => run.kill())
  await Promise.all([text(run.stdout), once(run, 'close')])
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('checks.json'),
  )
  return Object.fromEntries(
    files
      .map((file) => [scenarioOf(dirname(file)), checksIn(join(directory, file))] as const)
      .sort(([a], [b]) => a.localeCompare(b)),
  )
}

/** Folders are `server-SCENARIO-TIME`, of clients without the first word. */
function scenarioOf(folder: string): string {
  return folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '')
}

function checksIn(file: string): readonly string[] {
  const checks: unknown = JSON.parse(readFileSync(file, 'utf8'))
  return listAt(checks).map((check) => `${textAt(check, 'id')} ${textAt(check, 'status')}`)
}

async function bothWays(t: TestContext, upstream: string): Promise<readonly [direct: Results, judged: Results]> {
  const route = { name: 'conformance', match: { path: '/mcp' }, upstream, protocol: 'mcp' }
  const gateway = await startTestGateway(t, { routes: [route] })
  const direct = await suite(t, ['server', '--suite', 'all', '--url', upstream])
  const judged = await suite(t, ['server', '--suite', 'all', '--url', `${gateway.addresses.proxy}/mcp`])
  assert.ok(Object.keys(direct).length >= 30, `the suite ran ${Object.keys(direct).length} scenarios`)
  return [direct, judged]
}

test('a server that passes every scenario passes them through the gateway', async (t) => {
  const server = await startConformanceServer()
  t.after(() => server.close())
  const [direct, judged] = await bothWays(t, server.url)
  assert.deepEqual(judged, direct)
  const failures = Object.entries(direct).filter(([, checks]) => checks.some((check) => check.endsWith(' FAILURE')))
  assert.deepEqual(failures, [])
})

/** Scenarios that this server fails and the gateway answers in its place: a tool that nobody lists, a page of a stranger. */
const ANSWERED_HERE = {
  'server-sse-polling': 'incoming-sse-event FAILURE',
  'dns-rebinding-protection': 'localhost-host-rebinding-rejected FAILURE',
} as const

function withoutThose(results: Results): Results {
  return Object.fromEntries(Object.entries(results).filter(([scenario]) => !Object.hasOwn(ANSWERED_HERE, scenario)))
}

test('a published server passes and fails the same scenarios through the gateway', async (t) => {
  const url = await startEverythingServer(t)
  const [direct, judged] = await bothWays(t, url)
  for (const [scenario, failure] of Object.entries(ANSWERED_HERE)) {
    assert.ok(direct[scenario]?.includes(failure))
    assert.ok(!judged[scenario]?.some((check) => check.endsWith(' FAILURE')))
  }
  assert.deepEqual(withoutThose(judged), withoutThose(direct))
})

/** How long a client waited, which a busy machine makes longer. */
const MEASURED = 'client-sse-retry-timing'

for (const scenario of ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry']) {
  test(`an official client does all that the scenario ${scenario} asks of clients, with the gateway in between as without`, async (t) => {
    const checked = async (way: 'direct' | 'judged'): Promise<readonly string[]> => {
      const command = `${process.execPath} --disable-warning=ExperimentalWarning ${CLIENT} ${way}`
      const results = await suite(t, ['client', '--scenario', scenario, '--command', command])
      const checks = Object.values(results).flat()
      return checks.filter((check) => !check.startsWith(MEASURED) && !check.endsWith(' INFO'))
    }
    const direct = await checked('direct')
    assert.ok(direct.length > 0 && direct.every((check) => check.endsWith(' SUCCESS')), direct.join(', '))
    assert.deepEqual(await checked('judged'), direct)
  })
}

/**
 * Scenarios of authorization, one of each kind; the token is for the address that the server names itself, so the gateway is
 * the client's proxy. `2025-03-26-oauth-metadata-backcompat` is not among them: the client fails it by itself.
 */
const AUTHORIZATIONS = [
  'metadata-default',
  'metadata-var2',
  'basic-cimd',
  'scope-step-up',
  'scope-retry-limit',
  'token-endpoint-auth-basic',
  'pre-registration',
  '2025-03-26-oauth-endpoint-fallback',
  'resource-mismatch',
  'client-credentials-jwt',
] as const

for (const scenario of AUTHORIZATIONS) {
  test(`a client is authorized through the gateway as without it: ${scenario}`, async (t) => {
    const checked = async (way: 'direct' | 'proxied'): Promise<readonly string[]> => {
      const command = `${process.execPath} --disable-warning=ExperimentalWarning ${CLIENT} ${way}`
      const results = await suite(t, ['client', '--scenario', `auth/${scenario}`, '--command', command])
      return Object.values(results).flat()
    }
    const [direct, proxied] = await Promise.all([checked('direct'), checked('proxied')])
    assert.ok(direct.length > 0 && !direct.some((check) => check.endsWith(' FAILURE')), direct.join(', '))
    assert.deepEqual(proxied, direct)
  })
}
