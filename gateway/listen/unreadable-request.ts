/** Answers on connections whose bytes the HTTP parser rejects: with the reason, in the form of every other error. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { discardRest } from '../network/discard-body.ts'
import { ERRORS, type ErrorCode } from '../errors/errors.ts'
import { STATUS_CODES } from '../runtime/node-http.ts'

/** The members used of the `clientError` event of a server. */
export interface ParserError extends Error {
  readonly code?: string
  /** The parser's reason. */
  readonly reason?: string
  /** The bytes that the parser had when it failed. */
  readonly rawPacket?: Buffer
}

interface RequestFault {
  readonly code: ErrorCode
  readonly message: string
}

/** Maximum wait for a client to read its refusal while it is still sending. */
const LINGER_MS = 2000

const refused = new WeakSet<Duplex>()

/**
 * Answers and closes. Null when the client has disconnected, or when the answer to another request is being sent on the
 * connection. The refusal would be taken for that answer, so the connection is cut.
 * @param maxHeadBytes the limit of the server
 */
export function refuseUnreadable(
  error: ParserError,
  connection: Duplex,
  maxHeadBytes: number,
  isAnswering: boolean,
): RequestFault | null {
  // The parser reports an error again for each further piece of data.
  if (refused.has(connection)) return null
  refused.add(connection)
  if (isAnswering || error.code === 'ECONNRESET' || !connection.writable) {
    connection.destroy()
    return null
  }
  const fault = requestFaultOf(error, maxHeadBytes)
  connection.end(answerText(fault))
  // A client that is still sending reads the refusal only if its bytes are taken.
  const cut = setTimeout(() => connection.destroy(), LINGER_MS)
  cut.unref()
  connection.once('end', () => connection.destroy()).once('close', () => clearTimeout(cut))
  connection.resume()
  return fault
}

/** Answers a request that the parser could read and the listener refuses; its connection is closed after the answer. */
export function refuseRequest(request: IncomingMessage, response: ServerResponse, fault: RequestFault): void {
  const correlationId = randomUUID()
  const body = faultBody(fault, correlationId)
  response.writeHead(ERRORS[fault.code].status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Correlation-ID': correlationId,
    Connection: 'close',
  })
  response.end(body)
  discardRest(request)
}

/** By the code of the error; all others are reported as invalid HTTP. */
const FAULTS: ReadonlyMap<string, (error: ParserError, maxHeadBytes: number) => RequestFault> = new Map([
  [
    'HPE_HEADER_OVERFLOW',
    ({ rawPacket }: ParserError, maxHeadBytes: number) =>
      faultOfCode(isWithinTarget(rawPacket, maxHeadBytes) ? 'URI_TOO_LONG' : 'HEADERS_TOO_LARGE'),
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    (): RequestFault => ({
      code: 'PAYLOAD_TOO_LARGE',
      message: 'The extensions of a chunk are larger than the limit.',
    }),
  ],
  ['ERR_HTTP_REQUEST_TIMEOUT', () => faultOfCode('REQUEST_TIMEOUT')],
])

function requestFaultOf(error: ParserError, maxHeadBytes: number): RequestFault {
  const known = FAULTS.get(error.code ?? '')
  if (known !== undefined) return known(error, maxHeadBytes)
  return { code: 'INVALID_INPUT', message: `The request is not valid HTTP/1.1${inWords(error.reason)}.` }
}

function faultOfCode(code: ErrorCode): RequestFault {
  return { code, message: ERRORS[code].message }
}

/**
 * True when the bytes begin a request whose first line alone is too long. Of a head in several pieces only the last one
 * is available: then the head as a whole is reported as too large.
 */
function isWithinTarget(bytes: Buffer | undefined, maxHeadBytes: number): boolean {
  if (bytes === undefined || !REQUEST_START.test(bytes.toString('latin1', 0, 24))) return false
  const end = bytes.indexOf(0x0a)
  return end === -1 || end >= maxHeadBytes
}

const REQUEST_START = /^[A-Z][A-Z-]{0,19} /

function inWords(reason: string | undefined): string {
  return reason === undefined ? ', or it broke off' : `: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`
}

function faultBody({ code, message }: RequestFault, correlationId: string): string {
  return JSON.stringify({ error: code, message, correlation_id: correlationId })
}

function answerText(fault: RequestFault): string {
  const { status } = ERRORS[fault.code]
  const correlationId = randomUUID()
  const body = faultBody(fault, correlationId)
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Correlation-ID: ${correlationId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
