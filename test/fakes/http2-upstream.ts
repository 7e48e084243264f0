/** Upstreams of plaintext HTTP/2, and proxies that forward to them over it. */
import { createServer, type ServerHttp2Stream } from 'node:http2'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { at } from '../json.ts'
import { petContract } from './http-upstream.ts'
import { listening } from './listening.ts'
import { startProxy, type ProxyUnderTest } from './proxy-under-test.ts'
import { until } from './until.ts'

export type OnStream = (stream: ServerHttp2Stream, headers: Readonly<Record<string, unknown>>) => unknown

export interface Http2Upstream {
  readonly origin: string
  /** Methods and paths, in the order received. */
  readonly seen: string[]
  sessions(): number
}

export async function upstreamOf(t: TestContext, onStream: OnStream): Promise<Http2Upstream> {
  const seen: string[] = []
  let sessions = 0
  const server = createServer()
  server.on('session', () => (sessions += 1))
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    seen.push(`${headers[':method']} ${headers[':path']}`)
    onStream(stream, headers)
  })
  return { origin: await listening(t, server), seen, sessions: () => sessions }
}

export const PLAIN = { name: 'plain', match: { path: '/' }, protocol: 'mapped', map: [{ action: 'pass' }] }

export async function proxyTo(
  t: TestContext,
  upstream: string,
  route: object = {},
  config: object = {},
): Promise<ProxyUnderTest> {
  const proxy = await startProxy({
    routes: [{ ...PLAIN, upstream, upstream_protocol: 'http2', ...route }],
    config: { ...config },
  })
  t.after(() => proxy.close())
  return proxy
}

/** A judged, monitored route, so that outcomes are reported. */
export async function monitoredProxyTo(
  t: TestContext,
  upstream: string,
  timeout: object = {},
): Promise<ProxyUnderTest> {
  const contract = { current: { file: petContract() } }
  const route = {
    name: 'pets',
    match: { path: '/' },
    upstream,
    upstream_protocol: 'http2',
    protocol: 'http',
    contract,
    timeout,
  }
  const proxy = await startProxy({ routes: [route], decide: () => 'WARN' })
  t.after(() => proxy.close())
  return proxy
}

export async function endOf(proxy: ProxyUnderTest): Promise<{ readonly outcome: unknown; readonly fault: unknown }> {
  const finished = (): unknown => proxy.events.findLast(({ type }) => type === 'preflight.execution.finished')?.data
  await until(() => finished() !== undefined, 'the outcome is told')
  return { outcome: at(finished(), 'outcome'), fault: at(finished(), 'fault') }
}

/** Answers that all is good. */
export const good: OnStream = (stream) => {
  stream.respond({ ':status': 200 })
  stream.end('good')
}

/** Answers with what it was sent. */
export const echo: OnStream = async (stream, headers) => {
  const body = await text(stream)
  stream.respond({ ':status': 200, 'content-type': 'application/json' })
  stream.end(JSON.stringify({ headers, body }))
}
