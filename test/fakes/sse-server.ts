/** An MCP server of the transport of 2024 (HTTP+SSE), made with the official library. */
import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { listening } from './listening.ts'

interface OldServer {
  readonly origin: string
  /** The field `X-Token` of each request. */
  readonly fields: readonly unknown[]
}

export async function startOldServer(t: TestContext): Promise<OldServer> {
  const sessions = new Map<string, SSEServerTransport>()
  const fields: unknown[] = []
  const upstream = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://server')
    fields.push(request.headers['x-token'])
    if (request.method === 'POST') {
      void sessions.get(url.searchParams.get('sessionId') ?? '')?.handlePostMessage(request, response)
      return
    }
    const transport = new SSEServerTransport('/messages', response)
    sessions.set(transport.sessionId, transport)
    const server = new McpServer({ name: 'old', version: '1.0.0' })
    server.registerTool('old-echo', { description: 'Repeats.' }, () => ({
      content: [{ type: 'text', text: 'an old answer' }],
    }))
    void server.connect(transport)
  })
  return { origin: await listening(t, upstream), fields }
}
