/**
 * MCP as routes of the API, with the same keys, limits and correlation ids: POST /mcp, and the manifest of its tools
 * (docs/reference/mcp.md#tools).
 */
import { Type } from '../../../engine/base.ts'
import { createMcpEndpoint, type McpEndpoint } from './endpoint.ts'
import { TOOLS } from './tools.ts'
import { defineRoute, json, type RouteDeps } from '../route.ts'

const endpoints = new WeakMap<RouteDeps, Promise<McpEndpoint>>()

const Message = Type.Unsafe<unknown>({
  title: 'McpMessage',
  description: 'A JSON-RPC 2.0 message of the Model Context Protocol, or a batch of them.',
  type: ['object', 'array'],
})

export const mcp = defineRoute({
  method: 'POST',
  paths: ['/mcp'],
  operationId: 'mcp',
  tag: 'mcp',
  summary: 'Model Context Protocol, Streamable HTTP. Listing tools needs no key, calling them does',
  access: 'public',
  keyOptional: true,
  body: Message,
  answers: {
    200: {
      description: 'The answer, as JSON or as a stream of events.',
      content: { 'application/json': Message, 'text/event-stream': Type.String() },
    },
  },
  async handle(exchange, deps) {
    const known = endpoints.get(deps) ?? createMcpEndpoint(deps)
    endpoints.set(deps, known)
    const endpoint = await known
    return { kind: 'web', response: await endpoint(exchange) }
  },
})

const FreeObject = Type.Record(Type.String(), Type.Unknown())

export const toolManifest = defineRoute({
  method: 'GET',
  paths: ['/.well-known/mcp.json'],
  operationId: 'getToolManifest',
  tag: 'discovery',
  summary: 'The tools of POST /mcp',
  access: 'public',
  answers: {
    200: {
      description: 'The same tools that tools/list answers.',
      content: {
        'application/json': Type.Object(
          { name: Type.String(), transport: FreeObject, tools: Type.Array(FreeObject) },
          { title: 'ToolManifest' },
        ),
      },
    },
  },
  async handle() {
    return json({
      name: 'preflight-gateway',
      transport: {
        type: 'streamable-http',
        endpoint: '/mcp',
        authentication: 'Authorization: Bearer KEY, for tools/call',
      },
      tools: TOOLS.map(({ definition }) => definition),
    })
  },
})
