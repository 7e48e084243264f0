/** An MCP server that is its own authorization server, on one route with it: clients register, are authorized and call tools through the gateway. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { startTestGateway, type TestGateway } from '../fakes/gateway.ts'
import { agreeingUser } from '../fakes/oauth-provider.ts'

interface Scene {
  readonly server: AuthorizedMcpServer
  readonly gateway: TestGateway
}

async function scene(t: TestContext): Promise<Scene> {
  const server = await startAuthorizedMcpServer()
  t.after(() => server.close())
  const gateway = await startTestGateway(t, {
    routes: [{ name: 'tools', match: { path: '/' }, upstream: server.origin, protocol: 'mcp' }],
  })
  server.publish(gateway.addresses.proxy)
  return { server, gateway }
}

test('a client finds the authorization server, registers, gets its token and calls a tool, all by the gateway', async (t) => {
  const { server, gateway } = await scene(t)
  const user = agreeingUser()
  const connect = async (): Promise<Client> => {
    const url = new URL(`${gateway.addresses.proxy}/mcp`)
    const transport = new StreamableHTTPClientTransport(url, { authProvider: user.provider })
    const client = new Client({ name: 'agent', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } })
    try {
      await client.connect(transport)
      return client
    } catch (error) {
      const answer = user.takeAnswer()
      if (!(error instanceof UnauthorizedError) || answer === null) throw error
      await transport.finishAuth(answer)
      return connect()
    }
  }
  const client = await connect()
  t.after(() => client.close())
  const { content } = await client.callTool({ name: 'echo', arguments: {} })
  assert.deepEqual(content, [{ type: 'text', text: 'hi' }])
  for (const request of ['GET /.well-known/oauth-protected-resource/mcp', 'POST /register', 'POST /token'])
    assert.ok(server.requests.includes(request), `${request} in ${server.requests.join(', ')}`)
})

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

for (const [what, type, body, status] of [
  ['a message under the type of a form', FORM, '{"jsonrpc":"2.0","id":1,"method":"tools/call","grant_type":"x"}', 415],
  ['a form with a message in its first name', FORM, '{"jsonrpc":"2.0","id":1,"method":"x"}=&grant_type=x', 415],
  ['a form of something else', FORM, 'name=echo', 415],
  ['a registration that is a message too', JSON_TYPE, '{"redirect_uris":[],"jsonrpc":"2.0","id":1,"method":1}', 400],
  ['a registration with a method in other letters', JSON_TYPE, '{"redirect_uris":[],"METHOD":"tools/call"}', 400],
  ['an object of something else', JSON_TYPE, '{"tool":"echo"}', 400],
  ['a registration in a batch', JSON_TYPE, '[{"redirect_uris":[]}]', 400],
] as const) {
  test(`${what} does not pass for a part of an authorization`, async (t) => {
    const { server, gateway } = await scene(t)
    const answer = await fetch(`${gateway.addresses.proxy}/token`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    })
    assert.equal(answer.status, status)
    assert.deepEqual(server.requests, [])
  })
}

interface AuthorizedMcpServer {
  readonly origin: string
  /** Methods and paths of requests, in the order received. */
  readonly requests: readonly string[]
  /** @param address origin at which clients reach it; before this it answers nobody */
  publish(address: string): void
  close(): Promise<void>
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void

function nobody(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(503).end()
}

async function startAuthorizedMcpServer(): Promise<AuthorizedMcpServer> {
  const requests: string[] = []
  let listener: Listener = nobody
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.split('?', 1)[0]}`)
    listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    origin: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    requests,
    publish(place) {
      listener = application(place)
    },
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** The parts of the SDK's application that are used here; its framework brings no types along. */
interface Application extends Listener {
  set(name: string, value: string): unknown
  use(handler: unknown): unknown
  post(path: string, guard: unknown, handler: (request: ParsedRequest, response: ServerResponse) => void): unknown
}

type ParsedRequest = IncomingMessage & { readonly body: unknown }

function application(place: string): Listener {
  const provider = new DemoInMemoryAuthProvider()
  const app: Application = createMcpExpressApp()
  // Its limits of rates count clients by what the proxy says of them.
  app.set('trust proxy', 'loopback')
  app.use(
    mcpAuthRouter({
      provider,
      issuerUrl: new URL(place),
      resourceServerUrl: new URL(`${place}/mcp`),
      scopesSupported: ['mcp:tools'],
    }),
  )
  const resourceMetadataUrl = `${place}/.well-known/oauth-protected-resource/mcp`
  const guard = requireBearerAuth({ verifier: provider, resourceMetadataUrl })
  app.post('/mcp', guard, (request, response) => void answer(request, response))
  return app
}

async function answer(request: ParsedRequest, response: ServerResponse): Promise<void> {
  const server = new McpServer({ name: 'authorized', version: '1.0.0' })
  server.registerTool('echo', { description: 'Says it again.' }, () => ({ content: [{ type: 'text', text: 'hi' }] }))
  const transport = new StreamableHTTPServerTransport({})
  await server.connect(transport)
  await transport.handleRequest(request, response, request.body)
}
