/**
 * The gateway's own questions to the API server behind a route, asked as the caller of one write: with the credentials of that
 * very request, to the origin it goes to, once. Reads and rehearses; never writes.
 */
import { errors, type Dispatcher } from 'undici'
import { GatewayError } from '../../errors.ts'
import { upstreamHeaders } from '../../proxy/headers.ts'
import type { Upstreams } from '../../proxy/upstream.ts'
import type { Call } from '../action.ts'
import { isJsonObject, readStrictJson } from '../strict-json.ts'

export interface ClusterAnswer {
  readonly status: number
  readonly headers: Dispatcher.ResponseData['headers']
  /** As it came, for the caller when the API server refuses. */
  readonly body: string
  /** The body when it is a JSON object. */
  readonly value: Readonly<Record<string, unknown>> | null
}

export interface Cluster {
  /** @param path at the upstream, without query. Rejects with PREFLIGHT_UNDECIDED when there is no answer. */
  read(call: Call, path: string): Promise<ClusterAnswer>
  /** The write itself with dryRun=All: what would be stored, admission and defaults included, and nothing is. */
  rehearse(call: Call): Promise<ClusterAnswer>
}

/** More than etcd holds of one object (1.5 MiB), with the API server's own additions. */
const MAX_BYTES = 8 * 1024 * 1024
/** What the call says of its own body or connection, and what would have the API server answer in another form. */
const OF_THE_CALL: ReadonlySet<string> = new Set([
  'content-length',
  'content-type',
  'accept',
  'accept-encoding',
  'range',
])

export function createCluster(upstreams: Upstreams): Cluster {
  return {
    read: (call, path) => ask(call, { method: 'GET', path, body: null }, upstreams),
    rehearse: (call) =>
      ask(call, { method: call.method, path: rehearsalPath(call.upstreamPath), body: call.body }, upstreams),
  }
}

interface Question {
  readonly method: string
  readonly path: string
  readonly body: Buffer | null
}

function rehearsalPath(target: string): string {
  return `${target}${target.includes('?') ? '&' : '?'}dryRun=All`
}

async function ask(call: Call, { method, path, body }: Question, upstreams: Upstreams): Promise<ClusterAnswer> {
  const type = call.headers['content-type']
  const headers = [
    ...upstreamHeaders(call, { peer: '127.0.0.1', proto: 'http' }, (name) => OF_THE_CALL.has(name)),
    'accept',
    'application/json',
    ...(body === null || type === undefined ? [] : ['content-type', type]),
  ]
  try {
    const signal = AbortSignal.timeout(call.route.timeout.headers * 1000)
    const answer = await upstreams.poolOf(call).request({ path, method, headers, body, signal })
    const bytes = await readBounded(answer.body)
    const json = readStrictJson(bytes)
    const value = json.ok && isJsonObject(json.value) ? json.value : null
    return { status: answer.statusCode, headers: answer.headers, body: bytes.toString('utf8'), value }
  } catch (error) {
    throw new GatewayError(
      'PREFLIGHT_UNDECIDED',
      `The API server could not be asked about this write: ${reasonOf(error)}.`,
      {
        cause: error,
      },
    )
  }
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error(`its answer is longer than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error) || error instanceof errors.UndiciError) return 'it did not answer as it should'
  return error.name === 'TimeoutError' ? 'it did not answer in time' : error.message
}
