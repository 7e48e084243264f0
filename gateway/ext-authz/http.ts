/**
 * Checks of other proxies over HTTP, on the API listener. Under /authz/ the original method, path and headers are sent
 * unchanged (ext_authz of Envoy, auth_request of nginx); at /forward-auth they are sent in fields (Caddy, Traefik). 2xx
 * allows the request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ERRORS, type ErrorCode } from '../errors/errors.ts'
import type { Answer } from '../calls/answer.ts'
import { silentWait } from '../enforce/pending-calls.ts'
import { jsonAnswer } from '../protocols/common/refusal.ts'
import { SHORT_BODY, type BodyFault } from '../listen/bodies.ts'
import type { Logger } from '../telemetry/log.ts'
import { correlationIdOf } from '../telemetry/correlation.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { tracedBy, withTrace, traceMember } from '../telemetry/trace-context.ts'
import { FORWARDED_PATH, forwardedRequest, isForwarded, statesMethod } from './forwarded.ts'
import {
  answerCheck,
  isPartial,
  ORIGINAL_BODY,
  type AskedBody,
  type AuthzDeps,
  type CheckedRequest,
  type CheckVerdict,
} from './check.ts'

interface HttpAuthz {
  /** True for the paths of checks. */
  takes(target: string): boolean
  /** Answers; never rejects. */
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>
}

interface HttpAuthzDeps extends AuthzDeps {
  readonly metrics: Metrics
  readonly logger: Logger
}

const PREFIX = '/authz'
/**
 * All other requests may have a body, which may matter (DeleteOptions): one that is sent without a body is incomplete.
 */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/**
 * What nginx reports of a body that it leaves out of its check: `$http_content_length/$http_transfer_encoding/FRAMING`. The
 * server gets that body whatever the method is. FRAMING is the protocol of the request, or `none` where nginx forwards no
 * body. In HTTP/2 and HTTP/3 a request with a body may state neither length nor coding.
 */
const NO_BODY = /^0*\/\/(?:HTTP\/1\.[01]|none)$/

export function createHttpAuthz(deps: HttpAuthzDeps): HttpAuthz {
  return {
    takes: (target) => target.startsWith(`${PREFIX}/`) || isForwarded(target),
    serve: (request, response) => withTrace(tracedBy(request.headers), () => serveCheck(request, response, deps)),
  }
}

async function serveCheck(request: IncomingMessage, response: ServerResponse, deps: HttpAuthzDeps): Promise<void> {
  const correlationId = correlationIdOf(request.headers)
  try {
    const read = await deps.pipeline.bodies.read(request, deps.settings().config.limits.proxied_body)
    if (!read.ok) return unreadBody(UNREAD[read.why], response, correlationId)
    const { body } = read
    if (body.length > SHORT_BODY) response.once('close', () => deps.pipeline.bodies.release(body))
    const authzRequest = httpRequest(request, body, correlationId)
    const verdict =
      authzRequest === null
        ? unclearRequest(correlationId)
        : await answerCheck(authzRequest, silentWait(response), deps)
    deps.metrics.count('preflight_authz_checks_total', { transport: 'http', result: verdict.kind })
    sendVerdict(verdict, response)
  } catch (error) {
    // Whatever fails here, the calling proxy must not read it as an approval.
    deps.logger.error(
      { event: 'ext_authz.check_failed', err: error, correlation_id: correlationId },
      'ext_authz check failed',
    )
    deps.metrics.count('preflight_authz_checks_total', { transport: 'http', result: 'deny' })
    if (!response.headersSent) response.writeHead(503).end()
  }
}

/** Null when the original request is not known. */
function httpRequest(request: IncomingMessage, bytes: Buffer, correlationId: string): CheckedRequest | null {
  const asked = isForwarded(request.url ?? '') ? forwardedRequest(request.headers, request.rawHeaders) : asItIs(request)
  if (asked === null) return null
  return {
    correlationId,
    // The one header in which all of them send it; it determines the default port only.
    scheme: request.headers['x-forwarded-proto'] === 'https' ? 'https' : 'http',
    ...asked,
    needsStatus: true,
    takesFieldsOff: false,
    body: bodyInRequest(asked.method, request.headers, bytes),
  }
}

function asItIs({ method = 'GET', headers, rawHeaders, url = '' }: IncomingMessage) {
  if (statesMethod(headers)) return null
  return { method, host: headers.host ?? '', target: url.slice(PREFIX.length), headers, rawHeaders }
}

function unclearRequest(correlationId: string): CheckVerdict {
  const message =
    `The original request is not known: ${FORWARDED_PATH} needs X-Forwarded-Method, X-Forwarded-Uri and ` +
    `X-Forwarded-Host, each once, and ${PREFIX}/ accepts no X-Forwarded-Method.`
  const members = { error: 'INVALID_INPUT', message, correlation_id: correlationId, ...traceMember() }
  const headers = ['Preflight-Action', 'STOP', 'X-Correlation-ID', correlationId]
  return { kind: 'deny', answer: jsonAnswer(ERRORS.INVALID_INPUT.status, members), headers }
}

function bodyInRequest(method: string, headers: IncomingMessage['headers'], bytes: Buffer): AskedBody {
  if (isPartial(headers)) return { kind: 'partial', bytes }
  const leftOut = headers[ORIGINAL_BODY]
  if (bytes.length === 0 && leftOut !== undefined) {
    if (NO_BODY.test(String(leftOut))) return { kind: 'whole', bytes }
    return { kind: WITHOUT_BODY.has(method) ? 'unexpected' : 'absent', bytes }
  }
  return bytes.length === 0 && !WITHOUT_BODY.has(method) ? { kind: 'absent', bytes } : { kind: 'whole', bytes }
}

function sendVerdict(verdict: CheckVerdict, response: ServerResponse): void {
  if (verdict.kind === 'gone' || response.destroyed) return
  if (verdict.kind === 'deny') return sendDenial(verdict.answer, verdict.headers, response)
  const { upstream, remove, headers } = verdict
  // Envoy removes the fields named in this header from the request; others copy the fields that their configuration
  // names.
  const removal = remove.length === 0 ? [] : ['x-envoy-auth-headers-to-remove', remove.join(',')]
  const own = headers.filter((_, index) => !isCorrelation(headers, index))
  response.writeHead(200, [...upstream.flat(), ...own, ...removal, 'Content-Length', '0'])
  response.end()
}

/** The correlation id is already among the fields for the request. */
function isCorrelation(headers: readonly string[], index: number): boolean {
  return headers[index - (index % 2)] === 'X-Correlation-ID'
}

/** Never answers with a 2xx status, which would be read as an approval. */
function sendDenial({ status, headers, body }: Answer, own: readonly string[], response: ServerResponse): void {
  const fields = [...Object.entries(headers).flat(), ...own, 'Content-Length', String(Buffer.byteLength(body))]
  response.writeHead(status < 400 ? 403 : status, fields)
  response.end(body)
}

const UNREAD = {
  too_large: 'PAYLOAD_TOO_LARGE',
  too_slow: 'REQUEST_TIMEOUT',
  aborted: 'REQUEST_TIMEOUT',
  overloaded: 'OVERLOADED',
} as const satisfies Readonly<Record<BodyFault, ErrorCode>>

function unreadBody(code: ErrorCode, response: ServerResponse, correlationId: string): void {
  const { status, message } = ERRORS[code]
  const answer = jsonAnswer(status, { error: code, message, correlation_id: correlationId, ...traceMember() })
  sendDenial(answer, ['Preflight-Action', 'STOP', 'X-Correlation-ID', correlationId, 'Connection', 'close'], response)
}
