/**
 * The gateway's own requests to an upstream, on behalf of the caller of one request. They use the credentials of that
 * request, which are not kept, and go to its origin.
 */
import type { Dispatcher } from 'undici'
import { BytePieces } from '../../runtime/byte-pieces.ts'
import { errors } from '../../network/undici.ts'
import { ownRequestHeaders } from '../../upstream/headers.ts'
import type { Upstreams } from '../../upstream/pools.ts'
import type { Call } from '../../calls/call.ts'

export interface CallerRequest {
  readonly method: string
  /** Path and query at the upstream. */
  readonly path: string
  readonly body: Buffer | null
  /** Type of the body; absent: that of the call. */
  readonly type?: string
  readonly accept: string
  /** Maximum length of the answer; absent: 8 MiB. */
  readonly maxBytes?: number
}

export interface CallerAnswer {
  readonly status: number
  readonly headers: Dispatcher.ResponseData['headers']
  readonly body: Buffer
}

const MAX_BYTES = 8 * 1024 * 1024
/**
 * Fields that concern the call's own body or connection, and those with which the upstream would answer in another
 * form.
 */
const OF_THE_CALL: ReadonlySet<string> = new Set([
  'content-length',
  'content-type',
  'accept',
  'accept-encoding',
  'range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  // A one-time password belongs to the call itself.
  'npm-otp',
])

/** Rejects when there is no complete answer within the route's timeout, or the answer is too long. */
export async function askAsCaller(
  call: Call,
  { method, path, body, type = call.headers['content-type'], accept, maxBytes = MAX_BYTES }: CallerRequest,
  upstreams: Upstreams,
): Promise<CallerAnswer> {
  const headers = [
    ...ownRequestHeaders(call, (name) => OF_THE_CALL.has(name)),
    'accept',
    accept,
    ...(body === null || type === undefined ? [] : ['content-type', type]),
  ]
  const signal = AbortSignal.timeout(call.route.timeout.headers * 1000)
  const answer = await upstreams.ownRequestsOf(call).request({ path, method, headers, body, signal })
  return { status: answer.statusCode, headers: answer.headers, body: await readBounded(answer.body, maxBytes) }
}

async function readBounded(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const pieces = new BytePieces()
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`its answer is longer than ${maxBytes} bytes`)
    pieces.add(chunk)
  }
  return pieces.whole()
}

/** Why there was no answer, as text for the caller. */
export function lookupFault(error: unknown): string {
  if (!(error instanceof Error) || error instanceof errors.UndiciError) return 'it did not answer correctly'
  return error.name === 'TimeoutError' ? 'it did not answer in time' : error.message
}
