/** An MCP server of the first SDK that is its own authorization server, as the SDK puts the two together; it tells everybody where its public address is. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

export interface AuthorizedMcpServer {
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

export async function startAuthorizedMcpServer(): Promise<AuthorizedMcpServer> {
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
