/** How a gRPC call is refused, in the form that its client reads. */
import type { Answer } from '../../calls/answer.ts'

/** google.rpc.Code for the statuses of the gateway's own answers. */
const CODES: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  407: 16,
  413: 8,
  421: 9,
  428: 9,
  429: 8,
  500: 13,
  501: 12,
  502: 14,
  503: 14,
  504: 4,
}
const UNKNOWN = 2

/** An answer in the form in which it is written. */
export interface AnswerForm {
  readonly status: number
  /** Name, value, name, value … */
  readonly fields: readonly string[]
  readonly body: string | Buffer
}

/** google.rpc.Code @param status HTTP status of an answer of the gateway */
export function grpcCode(status: number): number {
  return CODES[status] ?? UNKNOWN
}

/** As a head alone ("Trailers-Only"), which is how a gRPC server refuses. */
export function grpcRefusal({ status, headers, body }: Answer): AnswerForm {
  // Its protocol has already rendered it in this form.
  if (headers['grpc-status'] !== undefined) return { status, fields: Object.entries(headers).flat(), body }
  const fields = [
    'content-type',
    'application/grpc',
    'grpc-status',
    String(grpcCode(status)),
    'grpc-message',
    // Percent-encoded UTF-8 (gRPC over HTTP/2, Status-Message).
    encodeURI(messageIn(String(body)).toWellFormed()),
  ]
  return { status: 200, fields, body: '' }
}

/** Long enough for a sentence with a remedy; some clients accept no head over 8 KiB. */
const MAX_MESSAGE = 2000

/** An answer of the gateway is JSON with a `message`, or plain text in some protocols (git). */
function messageIn(body: string): string {
  const requestMessage = jsonOrText(body)
  const message: unknown =
    typeof requestMessage === 'object' && requestMessage !== null
      ? Reflect.get(requestMessage, 'message')
      : requestMessage
  return typeof message === 'string' ? message.slice(0, MAX_MESSAGE) : ''
}

function jsonOrText(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    // Not JSON: the refusal of the protocol is used as text.
    return body
  }
}
