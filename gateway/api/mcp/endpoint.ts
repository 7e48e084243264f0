/**
 * POST /mcp: Streamable HTTP without sessions, for both generations of the protocol. The official server library implements it;
 * this file has the tools.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { assertEnvelopes, errorBody } from '../error-answer.ts'
import { requireAccess } from '../identity.ts'
import { withIgnored, type RouteExchange, type RouteDeps } from '../route.ts'
import { checkBody } from '../validation.ts'
import { GatewayError, knownError } from '../../errors/errors.ts'
import { messageTraceParent } from '../../protocols/mcp/meta-trace.ts'
import { packageVersion } from '../../runtime/package-files.ts'
import { TOOLS, type Tool } from './tools.ts'

/** One HTTP exchange answered in MCP. */
export type McpEndpoint = (exchange: RouteExchange) => Promise<Response>

type ToolResult = {
  readonly isError: boolean
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent: Record<string, unknown>
}

/** Loads the protocol library on first use: a gateway without MCP callers does not hold it in memory. */
export async function createMcpEndpoint(deps: RouteDeps): Promise<McpEndpoint> {
  const { createMcpHandler, Server } = await import('@modelcontextprotocol/server')
  const current = new AsyncLocalStorage<RouteExchange>()
  const handler = createMcpHandler(
    () => {
      const exchange = current.getStore()
      if (exchange === undefined) throw new Error('an MCP server was requested outside a request')
      const server = new Server(
        { name: 'preflight-gateway', version: packageVersion(), title: 'Preflight Gateway' },
        { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
      )
      server.setRequestHandler('tools/list', () => ({ tools: TOOLS.map(({ definition }) => ({ ...definition })) }))
      server.setRequestHandler('tools/call', ({ params }) =>
        callTool(params.name, params.arguments ?? {}, exchange, deps),
      )
      return server
    },
    { onerror: (error) => deps.logger.debug({ event: 'api.mcp_refused', err: error }, 'MCP request refused') },
  )
  return (received) => {
    const exchange = joinedExchange(received, deps)
    return current.run(exchange, () => handler.fetch(webRequest(exchange), { parsedBody: exchange.body }))
  }
}

const INSTRUCTIONS =
  'Call preflight_change_set with preflight_mode "authorize" before you merge, deploy, publish or register a changed contract. Continue only as execution_action allows; before you act under a receipt, call verify_receipt.'

/** A failed tool returns a result with isError and the body of the REST error (docs/reference/mcp.md#tools). */
async function callTool(name: string, args: unknown, exchange: RouteExchange, deps: RouteDeps): Promise<ToolResult> {
  try {
    return result(await runTool(toolNamed(name), args, exchange, deps), false)
  } catch (error) {
    const refusal = knownError(error)
    const { correlationId } = exchange
    if (refusal.status >= 500) {
      deps.logger.error(
        {
          event: 'api.mcp_tool_failed',
          err: refusal.cause ?? refusal,
          code: refusal.code,
          correlation_id: correlationId,
          tool: name,
        },
        'MCP tool call failed',
      )
    }
    return result(errorBody(refusal, correlationId), true)
  }
}

/** A trace that the body names, and the correlation id that names it. */
function joinedExchange(exchange: RouteExchange, { observer }: RouteDeps): RouteExchange {
  const parent = messageTraceParent(exchange.body)
  if (parent !== null) observer.join(exchange.observation, parent)
  return { ...exchange, correlationId: exchange.observation.correlationId }
}

async function runTool({ route }: Tool, args: unknown, exchange: RouteExchange, deps: RouteDeps): Promise<object> {
  // Every call needs a key, even where the REST route does not: each call of an agent has a caller.
  requireAccess(exchange.caller, route.access === 'public' ? 'key' : route.access)
  if (route.counted === true && exchange.caller !== null) {
    exchange.throttle(exchange.caller.hash, exchange.settings.config.rate.per_minute)
  }
  const ignored = checkBody(route, args, exchange.settings)
  const answer = withIgnored(await route.handle({ ...exchange, body: args }, deps), route, ignored)
  if (answer.kind !== 'json') throw new TypeError(`the tool's route answered ${answer.kind}`)
  assertEnvelopes(answer)
  return answer.body
}

function toolNamed(name: string): Tool {
  const tool = TOOLS.find(({ definition }) => definition.name === name)
  if (tool !== undefined) return tool
  const names = TOOLS.map(({ definition }) => definition.name).join(', ')
  throw new GatewayError('NOT_FOUND', `There is no tool "${name}"; there are ${names}.`)
}

function result(body: object, isError: boolean): ToolResult {
  return { isError, content: [{ type: 'text', text: JSON.stringify(body) }], structuredContent: { ...body } }
}

/** The request for the library; its body has been read and parsed already. */
function webRequest({ url, headers, signal }: RouteExchange): Request {
  const web = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    // The lengths and codings are those of the body that was read.
    if (value === undefined || SPENT_HEADERS.has(name)) continue
    web.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return new Request(new URL(url, 'http://localhost'), { method: 'POST', headers: web, signal })
}

const SPENT_HEADERS: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'connection', 'expect'])
