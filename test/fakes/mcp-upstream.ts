/** Real MCP servers (official SDK) whose tools a test can change while they run: with sessions, without, or without any protocol state (2026-07-28). */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  Server,
  type CallToolResult,
  type Prompt,
  type Resource,
  type Tool,
} from '@modelcontextprotocol/server'

export interface ToolCallSeen {
  readonly tool: string
  readonly headers: IncomingMessage['headers']
}

export interface McpUpstream {
  /** Address of the MCP endpoint. */
  readonly url: string
  /** What `tools/list` answers from now on. */
  tools: readonly Tool[]
  /** What else is offered from now on; null: the server has no prompts and resources, and no capability for them. */
  offers: Offers | null
  /** Told at the start of each session from now on. */
  instructions: string | null
  /** Prompts and resources that were asked for, by name and address. */
  readonly reads: string[]
  /** Tools on one page of the list. */
  pageSize: number
  /** Tool calls that arrived here. */
  readonly calls: ToolCallSeen[]
  /** How often the tools were listed. */
  lists: number
  /** Tells every open session that its tools changed. */
  announceChange(): Promise<void>
  /** Sessions known. */
  sessions(): number
  endSessions(): void
  close(): Promise<void>
}

export type Generation = 'sessions' | 'stateless' | '2026-07-28'

export const ECHO: Tool = tool('echo', { text: { type: 'string' } }, { text: { type: 'string' } })
export const ADD: Tool = tool('add', { a: { type: 'number' }, b: { type: 'number' } }, { sum: { type: 'number' } })

type Properties = Readonly<Record<string, { readonly type: string }>>

export function tool(name: string, input: Properties, output: Properties): Tool {
  return {
    name,
    description: `The ${name} tool.`,
    inputSchema: { type: 'object', properties: { ...input } },
    outputSchema: { type: 'object', properties: { ...output } },
  }
}

export interface Offers {
  readonly prompts: readonly Prompt[]
  readonly resources: readonly Resource[]
  /** Null: it does not know the method. */
  readonly resourceTemplates:
    | readonly {
        readonly uriTemplate: string
        readonly name: string
        readonly mimeType: string
      }[]
    | null
}

interface UpstreamOptions {
  readonly generation?: Generation
  /** Answer with JSON bodies instead of event streams. */
  readonly json?: boolean
  readonly answer?: (name: string, args: unknown) => CallToolResult
  readonly offers?: Offers
}

export async function startMcpUpstream(options: UpstreamOptions = {}): Promise<McpUpstream> {
  const generation = options.generation ?? 'sessions'
  const sessions = new Map<string, { readonly transport: NodeStreamableHTTPServerTransport; readonly server: Server }>()
  const state = {
    tools: [ECHO, ADD] as readonly Tool[],
    offers: options.offers ?? null,
    instructions: null as string | null,
    reads: [] as string[],
    pageSize: 100,
    calls: [] as ToolCallSeen[],
    lists: 0,
  }
  let seenHeaders: IncomingMessage['headers'] = {}

  const newServer = (): Server => {
    const server = new Server(
      { name: 'upstream', version: '1.0.0' },
      {
        capabilities: {
          tools: { listChanged: true },
          ...(state.offers !== null && { prompts: { listChanged: true }, resources: { listChanged: true } }),
        },
        ...(state.instructions !== null && { instructions: state.instructions }),
      },
    )
    if (state.offers !== null) offer(server, state)
    server.setRequestHandler('tools/list', (request) => {
      state.lists += 1
      const start = Number(request.params?.cursor ?? 0)
      const end = start + state.pageSize
      return { tools: state.tools.slice(start, end), ...(end < state.tools.length ? { nextCursor: String(end) } : {}) }
    })
    server.setRequestHandler('tools/call', (request) => {
      const { name, arguments: args } = request.params
      state.calls.push({ tool: name, headers: seenHeaders })
      return (options.answer ?? echoAnswer)(name, args)
    })
    return server
  }
  const handlers: Readonly<Record<Generation, () => RequestListener>> = {
    sessions: () => sessionHandler(sessions, newServer, options.json === true),
    stateless: () => statelessHandler(newServer, options.json === true),
    '2026-07-28': () => modernHandler(newServer, options.json === true),
  }
  const handle = handlers[generation]()
  const http = createServer((request, response) => {
    if (request.headers['preflight-receipt'] !== undefined) seenHeaders = request.headers
    handle(request, response)
  })
  const port = await new Promise<number>((resolve) => {
    http.listen(0, '127.0.0.1', () => {
      const address = http.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}/mcp`,
    sessions: () => sessions.size,
    endSessions: () => sessions.clear(),
    async announceChange() {
      for (const { server } of sessions.values()) {
        await server.sendToolListChanged()
        if (state.offers !== null) await server.sendPromptListChanged()
      }
    },
    async close() {
      http.closeAllConnections()
      await new Promise<void>((resolve) => http.close(() => resolve()))
    },
  })
}

function offer(server: Server, state: { readonly offers: Offers | null; readonly reads: string[] }): void {
  server.setRequestHandler('prompts/list', () => ({ prompts: [...(state.offers?.prompts ?? [])] }))
  server.setRequestHandler('resources/list', () => ({ resources: [...(state.offers?.resources ?? [])] }))
  // Many servers have resources and no templates at all.
  if (state.offers?.resourceTemplates !== null)
    server.setRequestHandler('resources/templates/list', () => ({
      resourceTemplates: [...(state.offers?.resourceTemplates ?? [])],
    }))
  server.setRequestHandler('prompts/get', ({ params: { name } }) => {
    state.reads.push(name)
    return { messages: [{ role: 'user', content: { type: 'text', text: `${name}!` } }] }
  })
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    state.reads.push(uri)
    return { contents: [{ uri, text: 'text' }] }
  })
}

function echoAnswer(name: string, args: unknown): CallToolResult {
  return { content: [{ type: 'text', text: `${name}: ${JSON.stringify(args)}` }], structuredContent: {} }
}

function sessionHandler(
  sessions: Map<string, { readonly transport: NodeStreamableHTTPServerTransport; readonly server: Server }>,
  newServer: () => Server,
  enableJsonResponse: boolean,
): RequestListener {
  return (request, response) => {
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (known !== undefined) return void known.transport.handleRequest(request, response)
    if (id !== undefined)
      return answerJson(response, 404, {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32001, message: 'Session not found' },
      })
    const server = newServer()
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse,
      onsessioninitialized: (session) => void sessions.set(session, { transport, server }),
    })
    void server.connect(transport).then(() => transport.handleRequest(request, response))
  }
}

function statelessHandler(newServer: () => Server, enableJsonResponse: boolean): RequestListener {
  return (request, response) => {
    const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse })
    void newServer()
      .connect(transport)
      .then(() => transport.handleRequest(request, response))
  }
}

function modernHandler(newServer: () => Server, isJson: boolean): RequestListener {
  const handle = toNodeHandler(
    createMcpHandler(newServer, { legacy: 'reject', responseMode: isJson ? 'json' : 'auto' }),
  )
  return (request, response) => {
    const { method = 'POST', url = '/', headers } = request
    // The adapter wants members that are there, where node:http declares them optional.
    void handle({ method, url, headers, [Symbol.asyncIterator]: () => request[Symbol.asyncIterator]() }, response)
  }
}

function answerJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}
