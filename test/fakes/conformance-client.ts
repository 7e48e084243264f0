/**
 * The client that the conformance suite runs: the official SDK's, doing what the scenario asks for. Usage:
 * `node conformance-client.ts direct|judged URL`; judged: a gateway of its own stands between.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { startGateway } from '../../gateway/main.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { FREE_PORTS, TEST_KEY } from './gateway.ts'

type Scenario = (client: Client) => Promise<unknown>

const callFirst =
  (args: Readonly<Record<string, unknown>>): Scenario =>
  async (client) => {
    const { tools } = await client.listTools()
    return client.callTool({ name: tools[0]?.name ?? '', arguments: args })
  }

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  initialize: (client) => client.listTools(),
  tools_call: callFirst({ a: 5, b: 3 }),
  'elicitation-sep1034-client-defaults': callFirst({}),
  'sse-retry': callFirst({}),
}

async function run(url: string): Promise<void> {
  const scenario = SCENARIOS[process.env['MCP_CONFORMANCE_SCENARIO'] ?? '']
  if (scenario === undefined) throw new Error('the scenario is unknown')
  const client = new Client(
    { name: 'conformance-client', version: '1.0.0' },
    { capabilities: { elicitation: { form: { applyDefaults: true } } }, versionNegotiation: { mode: 'legacy' } },
  )
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }))
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  await scenario(client)
  await client.close()
}

async function throughGateway(upstream: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-conformance-'))
  const route = { name: 'conformance', match: { path: '/mcp' }, upstream, protocol: 'mcp' }
  const gateway = await startGateway(
    {
      value: { listen: FREE_PORTS, data_dir: directory, routes: [route] },
      environment: { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY },
    },
    {
      output: new Writable({ write: (_chunk, _encoding, done) => done() }),
      logger: createLogger('error', process.stderr),
    },
  )
  try {
    await run(`${gateway.addresses.proxy}/mcp`)
  } finally {
    await gateway.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

const [way, url = ''] = process.argv.slice(2)
await (way === 'judged' ? throughGateway(url) : run(url))
