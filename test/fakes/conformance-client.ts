/**
 * The client that the conformance suite runs: the official SDK's, doing what the scenario asks for. Usage:
 * `node conformance-client.ts direct|judged|proxied URL`; its own gateway is in between.
 * With `judged` it is a reverse proxy. With `proxied` it is the client's forward proxy, so that all addresses of an
 * authorization stay the same.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import {
  Client,
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client'
import { ProxyAgent, setGlobalDispatcher } from 'undici'
import { startGateway, type Gateway } from '../../gateway/main.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { at } from '../json.ts'
import { FREE_PORTS, TEST_KEY } from './gateway.ts'
import { agreeingUser, type AgreeingUser } from './oauth-provider.ts'

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

/** What the scenario says of the client: its id and its secret or key, where the server knows it beforehand. */
const CONTEXT: unknown = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}')

function contextText(name: string): string {
  const value = at(CONTEXT, name)
  return typeof value === 'string' ? value : ''
}

/** Of a document that the scenario with ids of this kind expects; nobody reads it. */
const DOCUMENT = 'https://conformance-test.local/client-metadata.json'

function userOf(): AgreeingUser {
  const [client_id, client_secret] = [contextText('client_id'), contextText('client_secret')]
  return agreeingUser({ document: DOCUMENT, ...(client_id === '' ? {} : { registered: { client_id, client_secret } }) })
}

/** Clients that act for nobody; null: there is a user. */
function machineOf(scenario: string): OAuthClientProvider | null {
  const clientId = contextText('client_id')
  if (scenario === 'auth/client-credentials-basic')
    return new ClientCredentialsProvider({ clientId, clientSecret: contextText('client_secret') })
  if (scenario !== 'auth/client-credentials-jwt') return null
  const privateKey = contextText('private_key_pem')
  return new PrivateKeyJwtProvider({ clientId, privateKey, algorithm: contextText('signing_algorithm') })
}

/** A scope more than the first is asked for once; a server that goes on asking is left. */
const MAX_AUTHORIZATIONS = 2

async function run(url: string): Promise<void> {
  const name = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
  const scenario = name.startsWith('auth/') ? callFirst({}) : SCENARIOS[name]
  if (scenario === undefined) throw new Error('the scenario is unknown')
  const user = userOf()
  const machine = machineOf(name)
  for (let times = 0; times <= MAX_AUTHORIZATIONS; times += 1) {
    const authProvider = machine ?? user.provider
    const transport = new StreamableHTTPClientTransport(new URL(url), name.startsWith('auth/') ? { authProvider } : {})
    try {
      return await play(scenario, transport)
    } catch (error) {
      const answer = user.takeAnswer()
      if (!(error instanceof UnauthorizedError) || answer === null) throw error
      await transport.finishAuth(answer)
    }
  }
}

async function play(scenario: Scenario, transport: StreamableHTTPClientTransport): Promise<void> {
  const client = new Client(
    { name: 'conformance-client', version: '1.0.0' },
    { capabilities: { elicitation: { form: { applyDefaults: true } } }, versionNegotiation: { mode: 'legacy' } },
  )
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }))
  await client.connect(transport)
  await scenario(client)
  await client.close()
}

async function withGateway(config: object, act: (gateway: Gateway) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-conformance-'))
  const gateway = await startGateway(
    {
      value: { listen: FREE_PORTS, data_dir: directory, ...config },
      environment: { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY },
    },
    {
      output: new Writable({ write: (_chunk, _encoding, done) => done() }),
      logger: createLogger('error', process.stderr),
    },
  )
  try {
    await act(gateway)
  } finally {
    await gateway.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

const WAYS: Readonly<Record<string, (url: string) => Promise<void>>> = {
  direct: run,
  judged: (upstream) => {
    const routes = [{ name: 'conformance', match: { path: '/mcp' }, upstream, protocol: 'mcp' }]
    return withGateway({ routes }, (gateway) => run(`${gateway.addresses.proxy}/mcp`))
  },
  proxied: (url) => {
    const { hostname: host, pathname: path } = new URL(url)
    const routes = [{ name: 'conformance', match: { host, path }, protocol: 'mcp' }]
    return withGateway({ routes, egress: { allow: ['localhost', '127.0.0.0/8', '::1'] } }, async (gateway) => {
      const proxy = new ProxyAgent(gateway.addresses.proxy)
      setGlobalDispatcher(proxy)
      await run(url)
      await proxy.close()
    })
  },
}

const [way = '', url = ''] = process.argv.slice(2)
await WAYS[way]?.(url)
