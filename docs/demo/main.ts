/**
 * `npm run demo`: a real MCP server, the gateway before it, an agent of the official SDK. Calls go through with receipts; then
 * a server changes two tools without notice, and the next calls of those two are stopped. Ends with 0 only when all of it happened.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client'
import { startGatewayProcess, type GatewayProcess } from '../../bench/gateway.ts'
import { connectAgent, type Agent, type CallReport } from './agent.ts'
import { startControlledServer, type ControlledServer, type Release } from './controlled-server.ts'
import { memberOf, moved, readMetrics, verifyOffline, type Samples } from './evidence.ts'
import { startEverything, type EverythingServer } from './everything.ts'
import { createNarration, MARGIN, paint, type Narration } from './narration.ts'

/** How often the gateway reads an upstream's manifest again, seconds: the longest that a change stays unseen. */
const REFRESH_SECONDS = 1

const COUNTERS = [
  'preflight_calls_total',
  'preflight_decisions_total',
  'preflight_findings_total',
  'preflight_contract_refreshes_total',
]

interface Stage {
  readonly narration: Narration
  readonly everything: EverythingServer
  readonly recorded: readonly Tool[]
  readonly controlled: ControlledServer
  readonly gateway: GatewayProcess
  /** Path of the saved key set. */
  readonly keys: string
}

/** A schema of the manifest, as far as the release edits it. */
interface ObjectSchema {
  readonly [keyword: string]: unknown
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
}

function isObjectSchema(value: unknown): value is ObjectSchema {
  return typeof value === 'object' && value !== null
}

/** The release that nobody announces: a member of a result goes, an optional parameter becomes required. */
const RELEASE: Release = {
  'get-structured-content': (tool) => {
    if (!isObjectSchema(tool.outputSchema)) return tool
    const { properties = {}, required = [], ...rest } = tool.outputSchema
    const { humidity: _, ...kept } = properties
    return {
      ...tool,
      outputSchema: { ...rest, properties: kept, required: required.filter((name) => name !== 'humidity') },
    }
  },
  'get-annotated-message': (tool) => ({
    ...tool,
    inputSchema: { ...tool.inputSchema, required: [...(tool.inputSchema.required ?? []), 'includeImage'] },
  }),
}

function routeTo(name: string, upstream: string): unknown {
  return { name, match: { path: `/${name}` }, upstream, protocol: 'mcp', contract: { refresh: REFRESH_SECONDS } }
}

function configOf(everything: EverythingServer, controlled: ControlledServer): unknown {
  return {
    routes: [routeTo('everything', everything.url), routeTo('mirror', controlled.url)],
    log: { level: 'warn' },
  }
}

function reportCall(narration: Narration, report: CallReport): void {
  const word = report.action === 'CONTINUE' ? paint('green', report.action) : paint('red', report.action ?? 'nothing')
  narration.fact(report.tool, `${word}  ${paint('dim', report.decisionId ?? '')}`)
  narration.fact('', report.text.split('\n').slice(0, 6).join(`\n${MARGIN}`))
}

async function pinAndCall(stage: Stage, real: Agent, mirror: Agent): Promise<void> {
  const { narration, controlled, recorded, keys } = stage
  narration.step('First run: the manifests are pinned as baselines, calls go through with receipts')
  narration.expect((await real.listTools()).length === recorded.length, 'the agent sees every tool of the real server')
  await mirror.listTools()
  const calls = [
    await real.call('get-sum', { a: 20, b: 22 }),
    await mirror.call('echo', { message: 'hello' }),
    await mirror.call('get-structured-content', { location: 'Chicago' }),
    await mirror.call('get-annotated-message', { messageType: 'success' }),
  ]
  for (const call of calls) {
    reportCall(narration, call)
    narration.expect(call.action === 'CONTINUE' && !call.isError, `${call.tool} was decided, recorded and forwarded`)
  }
  const token = controlled.lastReceipt()
  narration.expect(token !== null, 'the upstream received a receipt with the call')
  const intended = ['--operation', 'tool_call', '--target-id', 'mirror/get-annotated-message']
  const verified = verifyOffline(token ?? '', keys, ...intended)
  narration.fact('preflight', `verify TOKEN --keys jwks.json ${intended.join(' ')}`)
  narration.fact('', verified.output.split('\n').slice(0, 8).join(`\n${MARGIN}`))
  narration.expect(verified.exitCode === 0, 'the receipt verifies offline, with the saved key set and no gateway')
  const elsewhere = verifyOffline(token ?? '', keys, '--operation', 'deploy', '--target-id', 'mirror/echo')
  narration.expect(elsewhere.exitCode === 1, 'the same receipt authorizes no other operation and no other tool')
}

function receiptOf(report: CallReport): string {
  const token = memberOf(report.structured, 'decision_result', 'receipt', 'token')
  return typeof token === 'string' ? token : ''
}

async function changeAndStop(stage: Stage, real: Agent, mirror: Agent): Promise<void> {
  const { narration, controlled, keys } = stage
  narration.step('The server changes under the agent: no announcement, and the agent lists nothing again')
  const before = new Map(controlled.reached)
  controlled.release(RELEASE)
  narration.fact('released', 'get-structured-content no longer returns `humidity`')
  narration.fact('', 'get-annotated-message now requires `includeImage`')
  await sleep(REFRESH_SECONDS * 1000 + 200)

  narration.step('The next calls of the changed tools are stopped; untouched tools go on')
  const stopped = [
    await mirror.call('get-structured-content', { location: 'Chicago' }),
    await mirror.call('get-annotated-message', { messageType: 'success' }),
  ]
  for (const call of stopped) {
    reportCall(narration, call)
    narration.expect(call.action === 'STOP' && call.isError, `${call.tool} was stopped, and the model gets the reason`)
    narration.expect(controlled.reached.get(call.tool) === before.get(call.tool), `nothing of it reached the server`)
  }
  const going = [await mirror.call('echo', { message: 'still here' }), await real.call('get-sum', { a: 1, b: 2 })]
  for (const call of going) {
    reportCall(narration, call)
    narration.expect(call.action === 'CONTINUE' && !call.isError, `${call.tool} is untouched and goes on`)
  }
  const [first] = stopped
  const intended = ['--operation', 'tool_call', '--target-id', 'mirror/get-structured-content']
  const verified = verifyOffline(first === undefined ? '' : receiptOf(first), keys, ...intended)
  narration.fact('preflight', `verify TOKEN-OF-THE-STOP --keys jwks.json ${intended.join(' ')}`)
  narration.fact('', verified.output.split('\n').slice(0, 8).join(`\n${MARGIN}`))
  const isGenuine = verified.exitCode === 1 && verified.output.includes('decision_not_allow')
  narration.expect(isGenuine, 'the receipt of the stop is genuine and authorizes nothing')
}

async function showLedger({ narration, gateway }: Stage, before: Samples): Promise<void> {
  narration.step('What is left of it')
  const counters = moved(before, await readMetrics(gateway.addresses.admin), COUNTERS)
  for (const [sample, difference] of counters) narration.fact(`+${difference}`, sample)
  const isStopCounted = counters.some(([sample]) => sample.includes('route="mirror"') && sample.includes('stopped'))
  narration.expect(isStopCounted, 'the stops are counted on their route')
  const response = await fetch(`${gateway.addresses.api}/.well-known/preflight.json`)
  narration.expect(response.ok, 'the decision contract is published for other consumers')
}

async function play(stage: Stage): Promise<void> {
  const { gateway } = stage
  const before = await readMetrics(gateway.addresses.admin)
  const real = await connectAgent(`${gateway.addresses.proxy}/everything`)
  const mirror = await connectAgent(`${gateway.addresses.proxy}/mirror`)
  try {
    await pinAndCall(stage, real, mirror)
    await changeAndStop(stage, real, mirror)
    await showLedger(stage, before)
  } finally {
    await Promise.all([real.close(), mirror.close()])
  }
}

async function setUp(narration: Narration, closers: (() => Promise<unknown>)[]): Promise<Stage> {
  narration.step('A real MCP server, a server that the demo controls, and the gateway before both')
  const everything = await startEverything()
  closers.push(() => everything.stop())
  const recorder = new Client({ name: 'demo-recorder', version: '1.0.0' })
  await recorder.connect(new StreamableHTTPClientTransport(new URL(everything.url)))
  closers.push(() => recorder.close())
  const { tools: recorded } = await recorder.listTools()
  const controlled = await startControlledServer(recorded, recorder)
  closers.push(() => controlled.stop())
  const gateway = await startGatewayProcess(configOf(everything, controlled))
  closers.push(() => gateway.stop())
  const folder = await mkdtemp(join(tmpdir(), 'preflight-demo-'))
  closers.push(() => rm(folder, { recursive: true, force: true }))
  const keys = join(folder, 'jwks.json')
  await writeFile(keys, await (await fetch(`${gateway.addresses.api}/.well-known/jwks.json`)).text())
  narration.fact('real server', `server-everything ${everything.version}, ${recorded.length} tools, ${everything.url}`)
  narration.fact('controlled', `its recorded manifest, calls forwarded to it, ${controlled.url}`)
  narration.fact('gateway', `${gateway.addresses.proxy}  routes /everything and /mirror, policy default`)
  return { narration, everything, recorded, controlled, gateway, keys }
}

async function main(): Promise<number> {
  const narration = createNarration((text) => process.stdout.write(text))
  const closers: (() => Promise<unknown>)[] = []
  try {
    await play(await setUp(narration, closers))
    process.stdout.write(
      `\n${paint('green', 'Everything happened as expected.')} Start your own: npm start, then the README.\n`,
    )
    return 0
  } catch (error) {
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}

process.exitCode = await main()
