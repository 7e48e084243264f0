/** Names and attributes of spans, by the semantic conventions of OpenTelemetry for HTTP, RPC, MCP and GenAI tools. */
import type { Attributes } from '@opentelemetry/api'
import type { Observation } from '../observation.ts'

/** Low in cardinality: tools and services are few, paths are not. */
export function serverName({ method, route, protocol, action }: Observation): string {
  if (action !== null && (protocol === 'mcp' || protocol === 'grpc' || protocol === 'api')) {
    return protocol === 'api' ? `${method} ${action}` : action
  }
  return route === null ? method : `${method} ${route}`
}

export function serverAttributes(observation: Observation): Attributes {
  const { method, status, route, protocol, outcome, decision, decisionId, correlationId, fault } = observation
  return {
    'http.request.method': method,
    ...stated('http.response.status_code', status),
    ...stated('http.route', protocol === 'api' ? observation.action : null),
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
