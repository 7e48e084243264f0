/**
 * A real MCP server that the demo controls. It offers the manifest recorded from server-everything, forwards every call to
 * that server, and can release a "new version": tools whose contract changed. Nothing announces the release to anyone.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Client, Tool } from '@modelcontextprotocol/client'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import { Server } from '@modelcontextprotocol/server'

/** Edits one tool of the manifest. */
export type Release = Readonly<Record<string, (tool: Tool) => Tool>>

export interface ControlledServer {
  readonly url: string
  /** From now on the manifest is the recorded one with these edits. */
  release(edits: Release): void
  /** Calls that reached this server, by tool. */
  readonly reached: ReadonlyMap<string, number>
  /** The Preflight-Receipt that came with the last call; null before the first. */
  lastReceipt(): string | null
  stop(): Promise<void>
}

function applyRelease(recorded: readonly Tool[], edits: Release): Tool[] {
  return recorded.map((tool) => edits[tool.name]?.(structuredClone(tool)) ?? tool)
}

/** What the real server answers, cut to the members that the offered result schema still names. */
function asOffered(structured: Record<string, unknown>, tool: Tool | undefined): Record<string, unknown> {
  const properties = tool?.outputSchema?.['properties']
  if (typeof properties !== 'object' || properties === null) return structured
  return Object.fromEntries(Object.entries(structured).filter(([name]) => Object.hasOwn(properties, name)))
}

export async function startControlledServer(recorded: readonly Tool[], real: Client): Promise<ControlledServer> {
  let offered = [...recorded]
  let lastReceipt: string | null = null
  const reached = new Map<string, number>()
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>()

  const openSession = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const server = new Server({ name: 'everything-mirror', version: '1.0.0' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', () => ({ tools: offered }))
    server.setRequestHandler('tools/call', async ({ params }) => {
      reached.set(params.name, (reached.get(params.name) ?? 0) + 1)
      const result = await real.callTool({ name: params.name, arguments: params.arguments ?? {} })
      const { structuredContent } = result
      if (typeof structuredContent !== 'object' || structuredContent === null) return result
      const tool = offered.find(({ name }) => name === params.name)
      const kept = asOffered(Object.fromEntries(Object.entries(structuredContent)), tool)
      return { ...result, structuredContent: kept, content: [{ type: 'text', text: JSON.stringify(kept) }] }
    })
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id: string) => void sessions.set(id, transport),
      onsessionclosed: (id: string) => void sessions.delete(id),
    })
    await server.connect(transport)
    return transport
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = request.headers['mcp-session-id']
    const receipt = request.headers['preflight-receipt']
    if (typeof receipt === 'string') lastReceipt = receipt
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (typeof id === 'string' && known === undefined) response.writeHead(404).end()
    else await (known ?? (await openSession())).handleRequest(request, response)
  }

  const http = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const address = http.address()
  if (address === null || typeof address === 'string') throw new Error('the controlled server has no port')
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    reached,
    lastReceipt: () => lastReceipt,
    release: (edits) => {
      offered = applyRelease(recorded, edits)
    },
    stop: async () => {
      await Promise.all([...sessions.values()].map((transport) => transport.close()))
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
}
