/**
 * Requests to one origin over HTTP/2: for gRPC, which streams both ways and has its outcome in trailers, and where the
 * route asks for it. It has the same dispatch interface as the HTTP/1.1 pools, so an exchange does not depend on the
 * version.
 */
import type { ClientHttp2Session } from 'node:http2'
import type { LookupFunction } from 'node:net'
import type { Dispatcher } from 'undici'
import { http2 } from '../runtime/node-tls.ts'
import { startHttp2Exchange, type Http2Timeouts } from './http2-exchange.ts'
import { codedError } from './outcome.ts'
import type { SentRequest } from './sent-request.ts'

interface Http2OriginOptions extends Http2Timeouts {
  readonly connectMs: number
  /** PEM of the authorities to trust instead of the public ones. */
  readonly ca?: string
  readonly lookup?: LookupFunction
}

export interface Http2Origin {
  dispatch(request: SentRequest, handler: Dispatcher.DispatchHandler): void
  /** Takes no more requests; those in flight finish. */
  close(): void
  /** Closes requests in flight. */
  destroy(): void
}

/** Connections without a stream are closed. */
const IDLE_MS = 60_000
/** Number of bytes that a stream may be ahead of its reader. */
const WINDOW_BYTES = 1024 * 1024

export function createHttp2Origin(origin: string, options: Http2OriginOptions): Http2Origin {
  /** The session that takes requests, and those that only finish theirs. */
  const open = new Set<ClientHttp2Session>()
  const served = new WeakSet<ClientHttp2Session>()
  let current: ClientHttp2Session | null = null
  const sessionNow = (): ClientHttp2Session => {
    if (current !== null && !current.closed && !current.destroyed) return current
    const session = openHttp2Session(origin, options)
    const forget = (): void => {
      if (current === session) current = null
    }
    open.add(session)
    session.on('goaway', forget).on('close', () => {
      forget()
      open.delete(session)
    })
    current = session
    return session
  }
  return {
    dispatch(request, handler) {
      const session = sessionNow()
      const hasServed = served.has(session)
      startHttp2Exchange(session, request, handler, { ...options, hasServed, onServed: () => served.add(session) })
    },
    close() {
      for (const session of open) session.close()
    },
    destroy() {
      for (const session of open) session.destroy()
    },
  }
}

function openHttp2Session(origin: string, { connectMs, ca, lookup }: Http2OriginOptions): ClientHttp2Session {
  const options = {
    settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
    // The upstream judges repeated fields, as over HTTP/1.1.
    strictSingleValueFields: false,
    ...(ca === undefined ? {} : { ca }),
    ...(lookup === undefined ? {} : { lookup }),
  }
  const session = http2().connect(origin, options)
  const timer = setTimeout(
    () => session.destroy(codedError('UND_ERR_CONNECT_TIMEOUT', 'no connection in time')),
    connectMs,
  )
  session.on('connect', () => {
    clearTimeout(timer)
    if (session.alpnProtocol !== 'h2' && session.alpnProtocol !== 'h2c')
      session.destroy(codedError('NO_HTTP2', `${origin} does not support HTTP/2, which this request needs`))
  })
  // Each of its streams reports the error.
  session.on('error', () => clearTimeout(timer))
  session.on('close', () => clearTimeout(timer))
  session.setTimeout(IDLE_MS, () => session.close())
  return session
}
