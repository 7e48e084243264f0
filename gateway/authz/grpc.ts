/** ext_authz over gRPC, on a listener of its own that is off unless named; the gRPC library is loaded only then. */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { sendUnaryData, ServerUnaryCall, UntypedServiceImplementation } from '@grpc/grpc-js'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import {
  APPEND_ACTION,
  AUTHORIZATION_SERVICE,
  EXT_AUTHZ,
  RPC_CODE,
  type AskedHttpRequest,
  type CheckRequest,
  type CheckResponse,
  type HeaderOption,
} from './protocol.ts'
import { answerQuestion, isPartial, type AskedBody, type AuthzDeps, type Question, type Verdict } from './question.ts'

export interface GrpcAuthz {
  /** Resolves with the bound address. Rejects when it cannot be bound. */
  listen(host: string, port: number): Promise<AddressInfo>
  /** Takes no new question, lets those under way finish for `drainMs`, then breaks them off. */
  close(drainMs: number): Promise<void>
}

export interface GrpcAuthzDeps extends AuthzDeps {
  readonly metrics: Metrics
  readonly logger: Logger
}

type Call = ServerUnaryCall<CheckRequest, CheckResponse>

/** Room for headers and the rest of a question beside the body. */
const ENVELOPE_BYTES = 1024 * 1024
const ID_GRAMMAR = /^[A-Za-z0-9_.:-]{1,200}$/

/** The library puts the error of the system (`EADDRINUSE` …) into its words only. */
function withCode(error: Error): Error {
  return Object.assign(error, { code: /\bE[A-Z]{3,}\b/.exec(error.message)?.[0] })
}

export async function openGrpcAuthz(deps: GrpcAuthzDeps): Promise<GrpcAuthz> {
  const [grpc, { fromJSON }] = await Promise.all([import('@grpc/grpc-js'), import('@grpc/proto-loader')])
  const definition = fromJSON(EXT_AUTHZ, { keepCase: true, defaults: true, longs: String, bytes: Buffer })
  const service = definition[AUTHORIZATION_SERVICE]
  if (service === undefined || 'format' in service) throw new Error('the authorization service is not defined')
  const limit = deps.settings().config.limits.proxied_body + ENVELOPE_BYTES
  const server = new grpc.Server({ 'grpc.max_receive_message_length': limit })
  const check = async (call: Call, callback: sendUnaryData<CheckResponse>): Promise<void> => {
    try {
      callback(null, await answer(call, deps))
    } catch (error) {
      // Whatever went wrong here, the proxy that asks must not take it for a yes.
      deps.logger.error({ err: error }, 'a question of another proxy failed')
      callback({ code: grpc.status.INTERNAL, details: 'The question could not be answered.' })
    }
  }
  const implementation: UntypedServiceImplementation = {
    Check: (call: Call, callback: sendUnaryData<CheckResponse>) => void check(call, callback),
  }
  server.addService(service, implementation)
  return {
    async listen(host, port) {
      const credentials = grpc.ServerCredentials.createInsecure()
      const address = host.includes(':') ? `[${host}]` : host
      const bound = await new Promise<number>((resolve, reject) => {
        server.bindAsync(`${address}:${port}`, credentials, (error, known) => {
          if (error === null) resolve(known)
          else reject(withCode(error))
        })
      })
      return { address: host, family: host.includes(':') ? 'IPv6' : 'IPv4', port: bound }
    },
    async close(drainMs) {
      const force = setTimeout(() => server.forceShutdown(), drainMs)
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
      clearTimeout(force)
    },
  }
}

async function answer(call: Call, deps: GrpcAuthzDeps): Promise<CheckResponse> {
  const http = call.request.attributes?.request?.http ?? null
  const verdict = http === null ? NO_REQUEST : await answerQuestion(questionOf(http), waitingOf(call), deps)
  deps.metrics.count('preflight_authz_checks_total', { transport: 'grpc', result: verdict.kind })
  return responseOf(verdict)
}

const NO_REQUEST: Verdict = {
  kind: 'deny',
  answer: { status: 400, headers: {}, body: 'The question holds no HTTP request.' },
  headers: [],
}

function questionOf(http: AskedHttpRequest): Question {
  const fields = fieldsOf(http)
  const headers = mergedFields(fields)
  const given = headers['x-correlation-id']
  return {
    correlationId: typeof given === 'string' && ID_GRAMMAR.test(given) ? given : randomUUID(),
    scheme: http.scheme === 'https' ? 'https' : 'http',
    method: http.method,
    host: http.host,
    target: http.path,
    headers,
    rawHeaders: fields.flat(),
    body: bodyOf(http, headers),
    needsStatus: false,
    takesFieldsOff: true,
  }
}

type Field = readonly [name: string, value: string]

/** HTTP/2 names the host in a pseudo-header; those of the question are left out and its host stands as the one Host field. */
function fieldsOf({ host, headers, header_map: map }: AskedHttpRequest): readonly Field[] {
  const told: readonly Field[] =
    map !== null && map.headers.length > 0
      ? map.headers.map(({ key, value, raw_value: raw }) => [key, raw.length > 0 ? raw.toString('latin1') : value])
      : Object.entries(headers)
  const plain = told.filter(([name]) => !name.startsWith(':') && name.toLowerCase() !== 'host')
  return [['host', host], ...plain]
}

/** As node:http gives them: lower case, several values of one name joined. */
function mergedFields(fields: readonly Field[]): IncomingHttpHeaders {
  const merged = new Map<string, string>()
  for (const [field, value] of fields) {
    const name = field.toLowerCase()
    const before = merged.get(name)
    merged.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return Object.fromEntries(merged)
}

function bodyOf(http: AskedHttpRequest, headers: IncomingHttpHeaders): AskedBody {
  if (isPartial(headers)) return { kind: 'partial' }
  const { body, raw_body: raw, size } = http
  const bytes = raw.length > 0 ? raw : Buffer.from(body, 'utf8')
  if (bytes.length === 0) return isBodiless(http, headers) ? { kind: 'whole', bytes } : { kind: 'absent' }
  const length = headers['content-length']
  const isShort = Number(size) > bytes.length || (length !== undefined && Number(length) !== bytes.length)
  return isShort ? { kind: 'partial' } : { kind: 'whole', bytes }
}

/**
 * Told by the request's own head (RFC 9112 §6.3). The size says nothing of it: Envoy gives what it has received when it asks,
 * which without with_request_body is none of a body that is still to come.
 */
function isBodiless({ size, protocol }: AskedHttpRequest, headers: IncomingHttpHeaders): boolean {
  const length = headers['content-length']
  if (size !== '0' || headers['transfer-encoding'] !== undefined) return false
  return length === undefined ? /^HTTP\/1\.[01]$/.test(protocol) : length === '0'
}

function responseOf(verdict: Verdict): CheckResponse {
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
  const { answer: told, headers } =
    verdict.kind === 'deny' ? verdict : { answer: { status: 503, headers: {}, body: '' }, headers: [] }
  return {
    status: { code: RPC_CODE.permissionDenied, message: 'Preflight did not let the call through.' },
    denied_response: {
      status: { code: told.status },
      headers: options([...Object.entries(told.headers), ...pairs(headers)]),
      body: String(told.body),
    },
  }
}

/** The first value of a name replaces what is there, further ones join it. */
function options(fields: readonly Field[]): readonly HeaderOption[] {
  const seen = new Set<string>()
  return fields.map(([key, value]) => {
    const isFurther = seen.has(key)
    seen.add(key)
    const action = isFurther ? APPEND_ACTION.append : APPEND_ACTION.overwrite
    // `append` is what Envoys before 1.25 look at.
    return { header: { key, value }, append: { value: isFurther }, append_action: action }
  })
}

function pairs(flat: readonly string[]): readonly Field[] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ''] as const] : []))
}

function waitingOf(call: Call) {
  return {
    get isGone() {
      return call.cancelled
    },
    onGone(listener: () => void) {
      call.on('cancelled', listener)
      return () => call.off('cancelled', listener)
    },
    begin: () => {},
    keepAlive: () => {},
  }
}
