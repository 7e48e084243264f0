/**
 * Checks of other proxies over gRPC, on one listener: Envoy's ext_authz and ext_proc, and agentgateway's ExtMcp. It is off
 * by default; the protobuf decoder is loaded only when it is on.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { fromJSON, PackageDefinition } from '@grpc/proto-loader'
import { silentWait } from '../enforce/pending-calls.ts'
import type { EntryOf } from '../network/listen.ts'
import type { Limits } from '../settings/limits.ts'
import type { Logger } from '../telemetry/log.ts'
import { correlationIdOf } from '../telemetry/correlation.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import {
  AUTHORIZATION_SERVICE,
  CORE_MESSAGES,
  EXT_AUTHZ,
  RPC_CODE,
  TYPE_MESSAGES,
  type AskedHttpRequest,
  type CheckRequest,
  type CheckResponse,
} from './protocol.ts'
import { createProcessing } from './ext-proc.ts'
import { extProc, PROCESSOR_SERVICE, type ProcessingRequest } from './ext-proc-protocol.ts'
import { createExtMcp } from './ext-mcp.ts'
import { EXT_MCP, EXT_MCP_SERVICE, type McpRequest, type McpResponse } from './ext-mcp-protocol.ts'
import { mergedFields, options, pairs, type HeaderField, headerField } from './fields.ts'
import { createGrpcListener, type GrpcListener, type UnaryMethod } from './grpc-listener.ts'
import {
  answerCheck,
  isPartial,
  type AskedBody,
  type AuthzDeps,
  type CheckedRequest,
  type CheckVerdict,
} from './check.ts'

export interface GrpcAuthzDeps extends AuthzDeps {
  readonly entry?: EntryOf
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Room for the headers and the rest of a check, in addition to the body. */
const ENVELOPE_BYTES = 1024 * 1024

export async function openGrpcAuthz(deps: GrpcAuthzDeps): Promise<GrpcListener> {
  const loader = await import('@grpc/proto-loader')
  const definitionOf = (schema: Parameters<typeof fromJSON>[0]) => loader.fromJSON(schema, DECODED)
  const authorization = serviceMethods(definitionOf(EXT_AUTHZ), AUTHORIZATION_SERVICE)
  const guardrails = serviceMethods(definitionOf(EXT_MCP), EXT_MCP_SERVICE)
  const processor = serviceMethods(
    loader.fromJSON(extProc(CORE_MESSAGES, TYPE_MESSAGES), { ...DECODED, oneofs: true }),
    PROCESSOR_SERVICE,
  )
  const mcp = createExtMcp(deps)
  const limits = (): Limits => deps.settings().config.limits
  return createGrpcListener({
    headTimeoutMs: limits().head_timeout * 1000,
    bodies: deps.pipeline.bodies,
    maxBytes: () => limits().proxied_body + ENVELOPE_BYTES,
    methods: new Map([
      authorization('Check', isCheckRequest, (asked, response) => answerGrpcCheck(asked, response, deps)),
      guardrails('CheckRequest', isMcpRequest, async (asked, response) => {
        const result = await mcp.checkRequest(asked, silentWait(response))
        const answered = result === null ? 'gone' : 'error' in result ? 'deny' : 'allow'
        deps.metrics.count('preflight_authz_checks_total', { transport: 'grpc', result: answered })
        return result
      }),
      guardrails('CheckResponse', isMcpResponse, (answered) => mcp.checkResponse(answered)),
    ]),
    conversations: new Map([
      [
        `/${PROCESSOR_SERVICE}/Process`,
        () => {
          const processing = createProcessing(deps)
          const [, next] = processor('Process', isProcessingRequest, (message, response) =>
            processing.next(message, silentWait(response)),
          )
          return { next, isOver: () => processing.isOver, end: () => processing.end() }
        },
      ],
    ]),
    ...(deps.entry !== undefined && { entry: deps.entry }),
    onFailure(error) {
      deps.metrics.count('preflight_authz_checks_total', { transport: 'grpc', result: 'deny' })
      deps.logger.error({ event: 'ext_authz.check_failed', err: error }, 'ext_authz check failed')
    },
  })
}

const DECODED = { keepCase: true, defaults: true, longs: String, bytes: Buffer } as const

/** Builds the table of a service: its path, and what answers one message with one. Null: there is nobody to answer. */
function serviceMethods(definition: PackageDefinition, name: string) {
  const service = definition[name]
  if (service === undefined || 'format' in service) throw new Error(`${name} is not defined`)
  return <Asked>(
    method: string,
    isAsked: (message: object) => message is Asked & object,
    answered: (asked: Asked, response: ServerResponse) => Promise<object | null>,
  ): readonly [string, UnaryMethod] => {
    const found = service[method]
    if (found === undefined) throw new Error(`${name} has no method ${method}`)
    const serve: UnaryMethod = async (message, response) => {
      const asked = found.requestDeserialize(message)
      if (!isAsked(asked)) throw new Error(`the message is not a request of ${method}`)
      const result = await answered(asked, response)
      return result === null ? null : found.responseSerialize(result)
    }
    return [found.path, serve]
  }
}

/** Defaults are filled in, so that the member is in every message. */
function isCheckRequest(message: object): message is CheckRequest {
  return 'attributes' in message
}

function isMcpRequest(message: object): message is McpRequest {
  return 'mcp_request' in message
}

function isProcessingRequest(message: object): message is ProcessingRequest {
  return 'observability_mode' in message
}

function isMcpResponse(message: object): message is McpResponse {
  return 'mcp_response' in message
}

async function answerGrpcCheck(
  asked: CheckRequest,
  response: ServerResponse,
  deps: GrpcAuthzDeps,
): Promise<CheckResponse> {
  const http = asked.attributes?.request?.http ?? null
  const verdict = http === null ? NO_REQUEST : await answerCheck(grpcRequest(http), silentWait(response), deps)
  deps.metrics.count('preflight_authz_checks_total', { transport: 'grpc', result: verdict.kind })
  return responseOf(verdict)
}

const NO_REQUEST: CheckVerdict = {
  kind: 'deny',
  answer: { status: 400, headers: {}, body: 'The check contains no HTTP request.' },
  headers: [],
}

function grpcRequest(http: AskedHttpRequest): CheckedRequest {
  const fields = fieldsOf(http)
  const headers = mergedFields(fields)
  return {
    correlationId: correlationIdOf(headers),
    scheme: http.scheme === 'https' ? 'https' : 'http',
    method: http.method,
    host: http.host,
    target: http.path,
    headers,
    rawHeaders: fields.flat(),
    body: bodyInCheck(http, headers),
    needsStatus: false,
    takesFieldsOff: true,
  }
}

/**
 * HTTP/2 names the host in a pseudo-header. The pseudo-headers of the check are left out, and its host becomes the only
 * Host field.
 */
function fieldsOf({ host, headers, header_map: map }: AskedHttpRequest): readonly HeaderField[] {
  const fields: readonly HeaderField[] =
    map !== null && map.headers.length > 0 ? map.headers.map(headerField) : Object.entries(headers)
  const plain = fields.filter(([name]) => !name.startsWith(':') && name.toLowerCase() !== 'host')
  return [['host', host], ...plain]
}

function bodyInCheck(http: AskedHttpRequest, headers: IncomingHttpHeaders): AskedBody {
  const { body, raw_body: raw, size } = http
  const bytes = raw.length > 0 ? raw : Buffer.from(body, 'utf8')
  if (isPartial(headers)) return { kind: 'partial', bytes }
  if (bytes.length === 0) return isBodiless(http, headers) ? { kind: 'whole', bytes } : { kind: 'absent', bytes }
  const length = headers['content-length']
  const isShort = Number(size) > bytes.length || (length !== undefined && Number(length) !== bytes.length)
  return isShort ? { kind: 'partial', bytes } : { kind: 'whole', bytes }
}

/**
 * Decided by the request's own head (RFC 9112 §6.3). The size is no evidence: Envoy gives the bytes that it has
 * received so far, which without with_request_body are none of a body that follows.
 */
function isBodiless({ size, protocol }: AskedHttpRequest, headers: IncomingHttpHeaders): boolean {
  const length = headers['content-length']
  if (size !== '0' || headers['transfer-encoding'] !== undefined) return false
  return length === undefined ? /^HTTP\/1\.[01]$/.test(protocol) : length === '0'
}

function responseOf(verdict: CheckVerdict): CheckResponse {
  if (verdict.kind === 'allow') {
    const { upstream, remove, headers } = verdict
    return {
      status: { code: RPC_CODE.ok, message: '' },
      ok_response: {
        headers: options(upstream),
        headers_to_remove: remove,
        response_headers_to_add: options(pairs(headers)),
      },
    }
  }
  const { answer: fields, headers } =
    verdict.kind === 'deny' ? verdict : { answer: { status: 503, headers: {}, body: '' }, headers: [] }
  return {
    status: { code: RPC_CODE.permissionDenied, message: 'Preflight refused the call.' },
    denied_response: {
      status: { code: fields.status },
      headers: options([...Object.entries(fields.headers), ...pairs(headers)]),
      body: String(fields.body),
    },
  }
}
