/** A gateway with one route of a protocol before a server that answers everything, and raw requests to it. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Decision } from '../../engine/internal.ts'
import type { AuthorizeRequest } from '../../gateway/flow/flow.ts'
import { startHttpUpstream, type HttpUpstream } from '../fakes/http-upstream.ts'
import { exchangeBytes, requestText } from '../fakes/raw-http.ts'
import { startProxy, type ProxyOptions, type ProxyUnderTest } from '../fakes/proxy-under-test.ts'
import { PROFILES, type ProtocolName, type SampleRequest } from './profiles.ts'

export interface ProtocolScene {
  readonly upstream: HttpUpstream
  readonly proxy: ProxyUnderTest
}

export interface SentRequest extends SampleRequest {
  /** Fields beside Host, Content-Type and Content-Length. */
  readonly headers?: readonly string[]
  /** Sent in place of the body. */
  readonly bytes?: Buffer
}

export interface ReceivedAnswer {
  readonly status: number
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** Whether the request itself reached the server. Requests that the gateway makes for itself do not count. */
  readonly isForwarded: boolean
}

/** The plain operation is blocked. Where a request may mean two operations of a contract, the other one is allowed. */
function decide({ context }: AuthorizeRequest): Decision {
  return context.target_id?.includes('/users/{id}') === true ? 'ALLOW' : 'BLOCK'
}

export async function startScene(
  t: TestContext,
  protocol: ProtocolName,
  options: Pick<Partial<ProxyOptions>, 'config' | 'decide' | 'storeFaults'> & {
    readonly route?: object
    /** Called with each request that reaches the server. */
    readonly onRequest?: () => void
  } = {},
): Promise<ProtocolScene> {
  const { answer = () => ({}) } = PROFILES[protocol]
  const upstream = await startHttpUpstream(({ url = '' }, response) => {
    options.onRequest?.()
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer(url)))
  })
  t.after(() => upstream.close())
  const own = { name: 'it', match: { path: '/' }, upstream: upstream.origin, protocol }
  const route = { ...own, ...PROFILES[protocol].route, ...options.route }
  const { route: _, onRequest: __, ...proxied } = options
  const proxy = await startProxy({ decide, routes: [route], ...proxied })
  t.after(() => proxy.close())
  return { upstream, proxy }
}

export async function send({ upstream, proxy }: ProtocolScene, request: SentRequest): Promise<ReceivedAnswer> {
  const before = upstream.requests.length
  const { method, path, body, type = 'application/json', headers = [], bytes = Buffer.from(body) } = request
  const framing = headers.some((field) => /^(?:content-length|transfer-encoding):/i.test(field))
    ? []
    : [`Content-Length: ${bytes.length}`]
  const typed = headers.some((field) => /^content-type:/i.test(field)) ? [] : [`Content-Type: ${type}`]
  const head = [`${method} ${path} HTTP/1.1`, 'Host: a', ...typed, ...framing, ...headers].join('\n')
  const text = headers.some((field) => /^connection:/i.test(field))
    ? `${head.replaceAll('\n', '\r\n')}\r\n\r\n`
    : requestText(head)
  const answer = await exchangeBytes(proxy.url, Buffer.concat([Buffer.from(text), bytes]))
  // A chunked body reaches the server without its framing.
  const isForwarded = upstream.requests.slice(before).some(
    (one) =>
      one.method === method &&
      (one.body === bytes.toString() || one.body === body) &&
      // What the gateway asks the platform are reads, too.
      (method !== 'GET' || one.url === path),
  )
  const read = readAnswer(answer)
  // A refusal may end with the path, which may end with a full stop of its own.
  if (!path.endsWith('.')) assert.doesNotMatch(read.body, /[\w)]\.\.(?![./])/, 'a sentence ends twice')
  return { ...read, isForwarded }
}

function readAnswer(answer: string): Omit<ReceivedAnswer, 'isForwarded'> {
  const end = answer.indexOf('\r\n\r\n')
  const [status = '', ...fields] = answer.slice(0, end).split('\r\n')
  const headers = fields.map((field): [string, string] => {
    const colon = field.indexOf(':')
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
  })
  return { status: Number(status.split(' ', 2)[1]), headers: new Map(headers), body: answer.slice(end + 4) }
}
