/** Names and attributes of spans, by the semantic conventions of OpenTelemetry for HTTP, RPC, MCP and GenAI tools. */
import type { Attributes } from '@opentelemetry/api'
import type { Observation } from '../observation.ts'
import type { InnerSpan } from '../trace-context.ts'

/** Low in cardinality: tools and services are few, paths are not. */
export function serverName({ method, route, protocol, action }: Observation): string {
  if (action !== null && isOwnEndpoint(protocol)) return `${method} ${action}`
  if (action !== null && (protocol === 'mcp' || protocol === 'grpc')) return action
  return route === null ? method : `${method} ${route}`
}

/** Requests to the gateway itself, whose action is a path. */
function isOwnEndpoint(protocol: string | null): boolean {
  return protocol === 'api' || protocol === 'hub'
}

export function serverAttributes(observation: Observation): Attributes {
  const { method, status, route, protocol, outcome, decision, decisionId, correlationId, fault } = observation
  return {
    'http.request.method': method,
    ...stated('http.response.status_code', status),
    ...stated('http.route', isOwnEndpoint(protocol) ? observation.action : null),
    ...((status ?? 0) >= 500 && { 'error.type': fault ?? String(status) }),
    ...protocolAttributes(observation),
    ...stated('preflight.route', route),
    ...stated('preflight.protocol', protocol),
    ...stated('preflight.outcome', outcome),
    ...stated('preflight.decision', decision),
    ...stated('preflight.decision_id', decisionId),
    'preflight.correlation_id': correlationId,
  }
}

export function clientAttributes(observation: Observation): Attributes {
  const { method, origin, upstreamStatus, fault, sentBytes, receivedBytes } = observation
  const url = origin !== null && URL.canParse(origin) ? new URL(origin) : null
  const isFailed = fault !== null || (upstreamStatus ?? 0) >= 400
  return {
    'http.request.method': method,
    ...stated('http.response.status_code', upstreamStatus),
    ...(url !== null && {
      'server.address': url.hostname,
      'server.port': Number(url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port),
      'url.scheme': url.protocol.slice(0, -1),
    }),
    ...(isFailed && { 'error.type': fault ?? String(upstreamStatus) }),
    'http.request.body.size': sentBytes,
    'http.response.body.size': receivedBytes,
    ...protocolAttributes(observation),
  }
}

function protocolAttributes({ protocol, action }: Observation): Attributes {
  if (action === null) return {}
  if (protocol === 'grpc') {
    const [service = '', method = ''] = action.replace(/^\//, '').split('/')
    return { 'rpc.system.name': 'grpc', 'rpc.service': service, 'rpc.method': method }
  }
  if (protocol !== 'mcp') return {}
  const [method = '', ...rest] = action.split(' ')
  const name = rest.join(' ')
  if (method !== 'tools/call' || name === '') return { 'mcp.method.name': method }
  return { 'mcp.method.name': method, 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name }
}

function stated(name: string, value: string | number | null): Attributes {
  return value === null ? {} : { [name]: value }
}

/** What answers the operations of the store. */
export interface StoreServer {
  /** `db.system.name` of OpenTelemetry. */
  readonly system: string
  /** The first host of a database, or of a hub; null: a file. */
  readonly address: string | null
  readonly port: number | null
}

/** @param description of the store: `sqlite FILE`, `postgres HOST:PORT/NAME`, `hub https://HOST` */
export function storeServer(description: string): StoreServer {
  const [kind = '', place = ''] = description.split(' ', 2)
  if (kind === 'sqlite') return { system: 'sqlite', address: null, port: null }
  const [first = ''] = place.split(/[,]/, 1)
  const url = kind === 'hub' ? first : `https://${first}`
  const system = kind === 'hub' ? 'preflight-hub' : 'postgresql'
  if (!URL.canParse(url)) return { system, address: null, port: null }
  const { hostname, port, protocol } = new URL(url)
  return { system, address: hostname, port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port) }
}

/** The conventions for databases where the store is one, for HTTP where it is a hub. */
export function innerTerms(
  { kind, operation, fault }: InnerSpan,
  { system, address, port }: StoreServer,
): { readonly name: string; readonly attributes: Attributes } {
  const shared = {
    ...stated('server.address', address),
    ...stated('server.port', port),
    ...stated('error.type', fault),
  }
  if (kind === 'hub')
    return {
      name: 'POST',
      attributes: { ...shared, 'http.request.method': 'POST', 'preflight.hub.operation': operation },
    }
  const [collection = '', name = ''] = operation.split('.')
  return {
    name: `${name} ${collection}`,
    attributes: { ...shared, 'db.system.name': system, 'db.operation.name': name, 'db.collection.name': collection },
  }
}
