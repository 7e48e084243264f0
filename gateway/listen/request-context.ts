/** The context of one request: what the stages share, and the ways to answer it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { STATUS_CODES } from '../runtime/node-http.ts'
import { discardRest } from '../network/discard-body.ts'
import { ERRORS, retryHeaders, type ErrorCode } from '../errors/errors.ts'
import type { FaultyCall, Recogniser } from '../protocols/common/action.ts'
import type { Caller } from '../callers/rights.ts'
import type { Answer } from '../calls/answer.ts'
import { jsonAnswer } from '../protocols/common/refusal.ts'
import type { ListenSettingsInForce } from './settings.ts'
import { grpcRefusal, type AnswerForm } from '../protocols/grpc/request.ts'
import { isGrpc } from '../network/grpc-media-type.ts'
import type { Asks } from './http-server.ts'
import type { PendingStream } from './pending-stream.ts'
import type { Observation } from '../telemetry/observation.ts'
import type { AnswerStream } from '../upstream/answer-stream.ts'

export interface RequestContext extends Asks {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Set when the answer began while the call was pending; the real answer is then written into it. */
  readonly pendingStream?: PendingStream
  /** What is measured of the request, and its correlation id. */
  readonly observation: Observation
  /** Set by authentication, which reverse routes do not require. */
  readonly caller: Caller
  /** Those in force when the request was admitted; it sees no others. */
  readonly settings: ListenSettingsInForce
  /** The body, where it was read before the request was admitted again. */
  readonly body?: Buffer | null
  /** Absent: it was not admitted before. */
  readonly held?: HoldState
}

/** What a call keeps from one judgement to the next: one that was approved, or whose settings changed, is judged again. */
export interface HoldState {
  /** When its waiting ends, milliseconds since the epoch; null: it has not waited. */
  until: number | null
  /** The request for approval that was granted while it waited. */
  granted: string | null
  /** Decision ids of the receipts that this call alone has used up. It was not sent, so they still serve it. */
  used: readonly string[]
}

export function neverHeld(): HoldState {
  return { until: null, granted: null, used: NO_RECEIPTS }
}

const NO_RECEIPTS: HoldState['used'] = []

/** The request is to be admitted again, with what it has by now: it was approved, or the settings changed before it took effect. */
export interface Readmission {
  readonly kept: Pick<RequestContext, 'body' | 'held' | 'pendingStream'>
}

/** The stream that the answer is written to. */
export function answerStream({ pendingStream, response }: RequestContext): AnswerStream {
  return pendingStream ?? response
}

/** What a stage answers in place of forwarding. Stages return it; what started the request sends it. */
export interface Reply {
  readonly answer: Answer
  /** Added to the answer: name, value, name, value … */
  readonly headers: readonly string[]
  /** The answer that began while the call was pending. */
  readonly pendingStream?: PendingStream | undefined
  /** What is done when the answer is sent. */
  readonly afterwards?: () => Promise<void>
}

/** Answers from the gateway; does nothing when the client has disconnected. */
export function sendReply(context: RequestContext, { answer, headers: ownHeaders, pendingStream }: Reply): void {
  const { correlationId } = context.observation
  const response = pendingStream ?? context.response
  if (response.headersSent || response.destroyed) return
  const { status, fields, body } = isGrpc(context.request.headers) ? grpcRefusal(answer) : plainForm(answer)
  const headers = [...fields, ...ownHeaders]
  if (!ownHeaders.includes('X-Correlation-ID')) headers.push('X-Correlation-ID', correlationId)
  headers.push('Content-Length', String(Buffer.byteLength(body)))
  // It is unknown whether a body follows: it could be taken for the next request, or the next request for it (RFC 9110
  // §10.1.1).
  if (isWaiting(context)) headers.push('Connection', 'close')
  response.writeHead(status, STATUS_CODES[status] ?? '', headers)
  response.end(body)
  if (context.upgrade === null && hasFramedBody(context.request)) discardRest(context.request)
}

function hasFramedBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

function plainForm({ status, headers, body }: Answer): AnswerForm {
  return { status, fields: Object.entries(headers).flat(), body }
}

/** An error that is not a decision (docs/reference/api.md#errors). */
export function errorReply(
  context: RequestContext,
  code: ErrorCode,
  message: string = ERRORS[code].message,
  headers: readonly string[] = [],
): Reply {
  const answer = jsonAnswer(ERRORS[code].status, errorMembers(code, message, context))
  return { answer, headers: [...retryFields(code), ...headers], pendingStream: context.pendingStream }
}

function retryFields(code: ErrorCode): readonly string[] {
  return Object.entries(retryHeaders(code)).flat()
}

function errorMembers(code: ErrorCode, message: string, { observation }: RequestContext): object {
  const { correlationId, trace } = observation
  const traceId = trace?.traceId
  return { error: code, message, correlation_id: correlationId, ...(traceId !== undefined && { trace_id: traceId }) }
}

/** An error on a route, in the form that clients of its protocol read. @param recogniser null: no route is known */
export function faultReply(
  context: RequestContext,
  fault: { readonly code: ErrorCode; readonly message?: string | undefined; readonly headers?: readonly string[] },
  recogniser: Pick<Recogniser, 'renderFault'> | null,
  call: FaultyCall,
): Reply {
  const { code, message = ERRORS[code].message, headers = [] } = fault
  const { correlationId } = context.observation
  const answer = recogniser?.renderFault?.({ code, message, correlationId }, call) ?? null
  return answer === null
    ? errorReply(context, code, message, headers)
    : { answer, headers: [...retryFields(code), ...headers], pendingStream: context.pendingStream }
}

/** Short bodies that were read before their calls were judged, and are sent as they are. */
const shortBodies = new WeakMap<IncomingMessage, Buffer>()

export function keepShortBody(request: IncomingMessage, body: Buffer): void {
  shortBodies.set(request, body)
}

/** Null: it was not read, or there is none. */
export function shortBodyOf(request: IncomingMessage): Buffer | null {
  return shortBodies.get(request) ?? null
}

const invited = new WeakSet<IncomingMessage>()

/** The client waits for 100 (Continue) and has not received it. */
export function isWaiting({ expectsContinue, request }: RequestContext): boolean {
  return expectsContinue && !invited.has(request)
}

/** Lets a waiting client send its body, now that it will be read. */
export function inviteBody(context: RequestContext): void {
  if (!isWaiting(context) || context.response.headersSent) return
  invited.add(context.request)
  context.response.writeContinue()
}
