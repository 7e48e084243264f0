/** A published MCP server that speaks over its standard streams, behind Streamable HTTP: one process for each session, the SDK's transports on both sides. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'

const require = createRequire(import.meta.url)

/** @param program specifier of the server's program. Resolves with the address of the MCP endpoint. */
export async function startStdioServer(
  t: TestContext,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>()
  const processes: StdioClientTransport[] = []
  const begin = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const inner = new StdioClientTransport({
      command: process.execPath,
      args: [require.resolve(program), ...args],
      env: { ...env },
      stderr: 'ignore',
    })
    processes.push(inner)
    const outer = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void sessions.set(session, outer),
    })
    // Transports have a member for their one listener, and no events.
    Object.assign(outer, { onmessage: (message: JSONRPCMessage) => void inner.send(message) })
    Object.assign(inner, { onmessage: (message: JSONRPCMessage) => void outer.send(message) })
    await Promise.all([inner.start(), outer.start()])
    return outer
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    await (known ?? (await begin())).handleRequest(request, response)
  }
  const http = createServer((request, response) => void answer(request, response))
  const port = await new Promise<number>((resolve) => {
    http.listen(0, '127.0.0.1', () => {
      const address = http.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
  t.after(async () => {
    http.closeAllConnections()
    await Promise.all([
      new Promise<void>((resolve) => http.close(() => resolve())),
      ...processes.map((one) => one.close()),
    ])
  })
  return `http://127.0.0.1:${port}/mcp`
}
