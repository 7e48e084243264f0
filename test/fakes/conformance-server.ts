/** An MCP server (official SDK) that offers what the public conformance suite asks of servers, resumable streams included. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import {
  Server,
  type CallToolResult,
  type EventStore,
  type JSONRPCMessage,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='
const NO_ARGUMENTS = { type: 'object', properties: {} } as const

const text = (words: string) => ({ type: 'text', text: words }) as const
const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const
const resource = (uri: string, mimeType: string, words: string) =>
  ({ type: 'resource', resource: { uri, mimeType, text: words } }) as const

interface ConformanceTool {
  readonly inputSchema?: Tool['inputSchema']
  readonly run: (ctx: ServerContext, args: Readonly<Record<string, unknown>>) => Promise<CallToolResult>
}

const ELICITED = {
  test_elicitation: {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" },
  },
  test_elicitation_sep1034_defaults: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
  test_elicitation_sep1330_enums: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: {
      type: 'string',
      oneOf: ['First', 'Second', 'Third'].map((word, index) => ({
        const: `value${index + 1}`,
        title: `${word} Option`,
      })),
    },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: {
      type: 'array',
      items: {
        anyOf: ['First', 'Second', 'Third'].map((word, index) => ({
          const: `value${index + 1}`,
          title: `${word} Choice`,
        })),
      },
    },
  },
} as const

function answers(...content: CallToolResult['content']): ConformanceTool {
  return { run: () => Promise.resolve({ content }) }
}

function elicits(name: keyof typeof ELICITED, prompt: string, required: readonly string[] = []): ConformanceTool {
  return {
    ...(name === 'test_elicitation' && {
      inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    }),
    async run(ctx, { message = 'Please say' }) {
      const { action, content } = await ctx.mcpReq.send({
        method: 'elicitation/create',
        params: {
          message,
          requestedSchema: { type: 'object', properties: ELICITED[name], required: [...required] },
        },
      })
      return { content: [text(`${prompt}: action=${action}, content=${JSON.stringify(content ?? {})}`)] }
    },
  }
}

const TOOLS: Readonly<Record<string, ConformanceTool>> = {
  test_simple_text: answers(text('This is a simple text response for testing.')),
  test_image_content: answers(image),
  test_audio_content: answers({ type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  test_embedded_resource: answers(
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ),
  test_multiple_content_types: answers(
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ),
  test_tool_with_logging: {
    async run(ctx) {
      for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await ctx.mcpReq.log('info', words)
        await sleep(50)
      }
      return { content: [text('logged')] }
    },
  },
  test_error_handling: {
    run: () =>
      Promise.resolve({ isError: true, content: [text('This tool intentionally returns an error for testing')] }),
  },
  test_tool_with_progress: {
    async run(ctx) {
      const progressToken = ctx.mcpReq._meta?.progressToken
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined)
          await ctx.mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 100 },
          })
        await sleep(50)
      }
      return { content: [text('done')] }
    },
  },
  test_sampling: {
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    async run(ctx, { prompt }) {
      const { content } = await ctx.mcpReq.requestSampling({
        messages: [{ role: 'user', content: text(String(prompt)) }],
        maxTokens: 100,
      })
      return { content: [text(`LLM response: ${JSON.stringify(content)}`)] }
    },
  },
  test_elicitation: elicits('test_elicitation', 'User response', ['username', 'email']),
  test_elicitation_sep1034_defaults: elicits('test_elicitation_sep1034_defaults', 'Elicitation completed'),
  test_elicitation_sep1330_enums: elicits('test_elicitation_sep1330_enums', 'Elicitation completed'),
  json_schema_2020_12_tool: {
    ...answers(text('ok')),
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
      },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
  },
  test_reconnection: {
    async run(ctx) {
      ctx.http?.closeSSE?.()
      await sleep(100)
      return { content: [text('reconnected')] }
    },
  },
}

const PROMPTS = {
  test_simple_prompt: { asks: [], message: () => [text('This is a simple prompt for testing.')] },
  test_prompt_with_arguments: {
    asks: ['arg1', 'arg2'],
    message: ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  test_prompt_with_embedded_resource: {
    asks: ['resourceUri'],
    message: ({ resourceUri = '' }) => [
      resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
      text('Please process the embedded resource above.'),
    ],
  },
  test_prompt_with_image: { asks: [], message: () => [image, text('Please analyze the image above.')] },
} as const satisfies Readonly<Record<string, ConformancePrompt>>

interface ConformancePrompt {
  readonly asks: readonly string[]
  readonly message: (
    args: Readonly<Record<string, string>>,
  ) => readonly (ReturnType<typeof text | typeof resource> | typeof image)[]
}

const CONTENTS: Readonly<
  Record<
    string,
    { readonly mimeType: string; readonly text: string } | { readonly mimeType: string; readonly blob: string }
  >
> = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
  'test://watched-resource': { mimeType: 'text/plain', text: 'watched' },
}

function contentOf(uri: string): (typeof CONTENTS)[string] {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  if (id !== undefined)
    return {
      mimeType: 'application/json',
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    }
  const content = CONTENTS[uri]
  if (content === undefined) throw new Error(`there is no ${uri}`)
  return content
}

function newServer(): Server {
  const server = new Server(
    { name: 'conformance', version: '1.0.0' },
    { capabilities: { tools: {}, prompts: {}, resources: { subscribe: true }, logging: {}, completions: {} } },
  )
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(TOOLS).map(([name, { inputSchema = NO_ARGUMENTS }]) => ({
      name,
      description: `The ${name} tool.`,
      inputSchema,
    })),
  }))
  server.setRequestHandler('tools/call', ({ params }, ctx) => {
    const tool = TOOLS[params.name]
    if (tool === undefined) throw new Error(`there is no ${params.name}`)
    return tool.run(ctx, params.arguments ?? {})
  })
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(PROMPTS).map(([name, { asks }]) => ({
      name,
      description: `The ${name} prompt.`,
      arguments: asks.map((argument) => ({ name: argument, description: argument, required: true })),
    })),
  }))
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }) => {
    const prompt: ConformancePrompt | undefined = Object.entries(PROMPTS).find(([known]) => known === name)?.[1]
    if (prompt === undefined) throw new Error(`there is no ${name}`)
    return { messages: prompt.message(args).map((content) => ({ role: 'user', content })) }
  })
  server.setRequestHandler('resources/list', () => ({
    resources: Object.entries(CONTENTS).map(([uri, { mimeType }]) => ({
      uri,
      name: uri,
      description: `The ${uri} resource.`,
      mimeType,
    })),
  }))
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'template',
        description: 'A template.',
        mimeType: 'application/json',
      },
    ],
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({ contents: [{ uri, ...contentOf(uri) }] }))
  server.setRequestHandler('resources/subscribe', () => ({}))
  server.setRequestHandler('resources/unsubscribe', () => ({}))
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park', 'party'], total: 150, hasMore: false },
  }))
  return server
}

/** Keeps what streams have sent, so that a client may come back for the rest. */
function createEventStore(): EventStore {
  const events: { readonly id: string; readonly stream: string; readonly message: JSONRPCMessage }[] = []
  return {
    storeEvent(stream, message) {
      const id = `${stream}_${events.length}`
      events.push({ id, stream, message })
      return Promise.resolve(id)
    },
    async replayEventsAfter(last, { send }) {
      const start = events.findIndex(({ id }) => id === last)
      const stream = events[start]?.stream ?? ''
      for (const event of events.slice(start + 1)) {
        // An event that only primes a stream carries no message.
        if (event.stream === stream && 'jsonrpc' in event.message) await send(event.id, event.message)
      }
      return stream
    },
  }
}

const LOOPBACK = /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/

export interface ConformanceServer {
  readonly url: string
  close(): Promise<void>
}

export async function startConformanceServer(): Promise<ConformanceServer> {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>()
  const newTransport = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: createEventStore(),
      retryInterval: 200,
      onsessioninitialized: (session) => void sessions.set(session, transport),
    })
    await newServer().connect(transport)
    return transport
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { host = '', origin, 'mcp-session-id': id } = request.headers
    if (!LOOPBACK.test(host) || (origin !== undefined && !LOOPBACK.test(origin))) {
      response.writeHead(403).end('{"error":"another origin"}')
      return
    }
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    await (known ?? (await newTransport())).handleRequest(request, response)
  }
  const http = createServer((request, response) => void answer(request, response))
  const port = await new Promise<number>((resolve) => {
    http.listen(0, '127.0.0.1', () => {
      const address = http.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      http.closeAllConnections()
      await new Promise<void>((resolve) => http.close(() => resolve()))
    },
  }
}
