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
const ASSUMED_STREAMS = 100

/** A connection, and what it carries. */
interface UpstreamSession {
  readonly session: ClientHttp2Session
  streams: number
  /** Requests until it is connected. */
  waiting: number
  /** As the upstream states it; before its settings arrive, what clients may assume (RFC 9113 §6.5.2). */
  mostStreams: number
  hasServed: boolean
  /** The upstream takes no more on it (GOAWAY). */
  isLeaving: boolean
}

export function createHttp2Origin(origin: string, options: Http2OriginOptions): Http2Origin {
  /** Those that take requests, and those that only finish theirs; the oldest first. */
  const sessions = new Set<UpstreamSession>()
  const open = (): UpstreamSession => {
    const session = openHttp2Session(origin, options)
    const known: UpstreamSession = {
      session,
      streams: 0,
      waiting: 0,
      mostStreams: ASSUMED_STREAMS,
      hasServed: false,
      isLeaving: false,
    }
    sessions.add(known)
    session.on('remoteSettings', ({ maxConcurrentStreams = Number.POSITIVE_INFINITY }) => {
      known.mostStreams = maxConcurrentStreams
    })
    session.on('goaway', () => {
      known.isLeaving = true
    })
    session.on('close', () => sessions.delete(known))
    return known
  }
  return {
    dispatch(request, handler) {
      const known = [...sessions].find(hasRoom) ?? open()
      known.waiting += 1
      whenConnected(known.session, (session) => {
        known.waiting -= 1
        startHttp2Exchange(session, request, handler, {
          ...options,
          hasServed: known.hasServed,
          onServed: () => {
            known.hasServed = true
          },
          onStream(stream) {
            known.streams += 1
            stream.once('close', () => {
              known.streams -= 1
            })
          },
        })
      })
    },
    close() {
      for (const { session } of sessions) whenConnected(session, () => session.close())
    },
    destroy() {
      for (const { session } of sessions) session.destroy()
    },
  }
}

/**
 * A stream past the limit would wait until another one ends. A client with answers that do not end would stop all others,
 * and what waits would be sent long after its judgement.
 */
function hasRoom({ session, streams, waiting, mostStreams, isLeaving }: UpstreamSession): boolean {
  return !isLeaving && !session.closed && !session.destroyed && streams + waiting < mostStreams
}

/**
 * A request that is given to a session before would be sent when it is connected, whatever has changed by then. Called immediately
 * for a session that is connected.
 */
function whenConnected(session: ClientHttp2Session, start: (session: ClientHttp2Session | Error) => void): void {
  if (!session.connecting) return start(session)
  let cause: Error | null = null
  const onError = (error: Error): void => {
    cause = error
  }
  const onClose = (): void => start(cause ?? codedError('ECONNRESET', 'the connection was closed before it was used'))
  session.once('error', onError)
  session.once('close', onClose)
  session.once('connect', () => {
    session.off('error', onError)
    session.off('close', onClose)
    start(session)
  })
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
