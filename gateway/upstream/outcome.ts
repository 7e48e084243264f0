/**
 * The outcome of an exchange: why it failed, and what is then certain about the execution. Reads errors and heads,
 * sends nothing.
 */
import { lookupTable } from '../../engine/base.ts'
import { errors } from '../network/undici.ts'
import { EgressDenied } from './egress-policy.ts'
import type { Outcome } from '../telemetry/events.ts'
import { errorCode } from '../errors/startup-error.ts'

/** Why an exchange did not complete; null when it did. */
export type ExchangeFault =
  | 'UPSTREAM_UNREACHABLE'
  | 'UPSTREAM_TIMEOUT'
  /** The upstream disconnected within its answer. */
  | 'UPSTREAM_RESET'
  /** The upstream sent nothing within its answer for longer than the route allows. */
  | 'UPSTREAM_SILENT'
  | 'CLIENT_ABORT'
  | 'EGRESS_DENIED'
  | null

/** By the code of the error; any other is UPSTREAM_UNREACHABLE before the head of the answer, and UPSTREAM_RESET after it. */
const BEFORE_THE_HEAD: Readonly<Record<string, ExchangeFault>> = lookupTable({
  UND_ERR_HEADERS_TIMEOUT: 'UPSTREAM_TIMEOUT',
  UND_ERR_CONNECT_TIMEOUT: 'UPSTREAM_TIMEOUT',
  ETIMEDOUT: 'UPSTREAM_TIMEOUT',
})
const AFTER_THE_HEAD: Readonly<Record<string, ExchangeFault>> = lookupTable({ UND_ERR_BODY_TIMEOUT: 'UPSTREAM_SILENT' })

/** @param hasBegun the head of the answer was received */
export function faultOf(error: Error, hasBegun: boolean): Exclude<ExchangeFault, null> {
  if (error instanceof EgressDenied) return 'EGRESS_DENIED'
  const code = errorCode(error) ?? ''
  return hasBegun ? (AFTER_THE_HEAD[code] ?? 'UPSTREAM_RESET') : (BEFORE_THE_HEAD[code] ?? 'UPSTREAM_UNREACHABLE')
}

/** Faults before a byte of the request was sent: the call has certainly not been executed. */
const NOT_SENT_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'NO_HTTP2',
  'REFUSED_STREAM',
])

/**
 * What is certain about an execution whose exchange failed.
 * @param wasSent a connection had taken the request
 * @param first the error of an earlier try, or null
 */
export function brokenOutcome(
  fault: ExchangeFault,
  cause: Error | null,
  wasSent: boolean,
  first: Error | null,
): Outcome {
  if (fault === 'UPSTREAM_RESET' || fault === 'UPSTREAM_SILENT') return 'FAILED'
  if (lostTry(first) !== null) return 'UNKNOWN'
  const isNeverSent =
    !wasSent || (cause !== null && (fault === 'EGRESS_DENIED' || NOT_SENT_CODES.has(errorCode(cause) ?? '')))
  // Sent without an answer: the upstream may have acted.
  return isNeverSent ? 'NOT_SENT' : 'UNKNOWN'
}

/** Requests that may be sent again where no answer has begun. */
type Repeatable = 'none' | 'reads' | 'any'

/** A request that was lost on HTTP/2 before its answer began. */
export class LostRequest extends Error {
  readonly code: string
  readonly repeatable: Repeatable

  constructor(repeatable: Exclude<Repeatable, 'none'>, cause: Error) {
    super(cause.message, { cause })
    this.name = 'LostRequest'
    this.code = repeatable === 'any' ? 'REFUSED_STREAM' : (errorCode(cause) ?? '')
    this.repeatable = repeatable
  }
}

/**
 * Which requests may be sent again after this error, where no byte of an answer came. `reads`: a reused connection was
 * closed, so the upstream closed it while the request was on its way (RFC 9112 §9.3.1). `any`: the upstream reported that it did not process the request.
 */
export function repeatableAfter(error: Error): Repeatable {
  if (error instanceof LostRequest) return error.repeatable
  return error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0 ? 'reads' : 'none'
}

/** The error of a first try that the upstream may have executed, else null. */
export function lostTry(first: Error | null): Error | null {
  return first !== null && repeatableAfter(first) === 'reads' ? first : null
}

export function codedError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
