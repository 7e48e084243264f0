/**
 * What every HTTP listener of the gateway shares: the time limit for request heads, and JSON errors for requests that
 * are refused before routing. These are unreadable, of another version, have no single Host field, repeat a field with a single value,
 * or have an unknown expectation (docs/reference/api.md#conventions).
 */
import type { IncomingMessage, RequestListener, Server, ServerOptions } from 'node:http'
import { createServer, maxHeaderSize } from '../runtime/node-http.ts'
import type { EntryOf, ListenerEntry } from '../network/listen.ts'
import { refuseRequest, refuseUnreadable, type ParserError } from './unreadable-request.ts'
import { RequestOrder } from './request-order.ts'
import { watchUnusedConnections } from './unused-connections.ts'
import { repetitionProblem, versionProblem } from '../routing/target.ts'

interface ListenerOptions extends Pick<
  ServerOptions,
  'keepAliveTimeout' | 'maxHeaderSize' | 'insecureHTTPParser' | 'shouldUpgradeCallback'
> {
  /** Maximum time for the head of a request, milliseconds. */
  readonly headTimeoutMs: number
}

/** Node.js checks its connections periodically; its default of 30 seconds would double the timeout. */
const LONGEST_LOOK_MS = 1000

/**
 * A server without handlers. Its owner answers `clientError`, `checkExpectation` and requests without a Host field. A client that
 * ends its side of the connection behind its request may still get the answer.
 */
export function createBoundedServer({ headTimeoutMs, ...options }: ListenerOptions): Server {
  const server = createServer({
    ...options,
    headersTimeout: headTimeoutMs,
    connectionsCheckingInterval: Math.max(1, Math.min(LONGEST_LOOK_MS, Math.floor(headTimeoutMs / 4))),
    // The time of a body is bounded where it is read (gateway/listen/bodies.ts).
    requestTimeout: 0,
    // Node.js would answer 400 without a body.
    requireHostHeader: false,
  })
  // Without it Node.js ends its own side as well, while the request is executed.
  return Object.assign(server, { httpAllowHalfOpen: true })
}

/** A server whose requests have one Host field and at most the expectation 100-continue, which Node.js answers. */
export function createHttpListener(options: ListenerOptions, serve: RequestListener): Server {
  const server = createBoundedServer(options)
  const order = new RequestOrder()
  const take: RequestListener = (request, response) => {
    const problem = problemOf(request)
    order.take(request, response, () => {
      if (problem === null) serve(request, response)
      else refuseRequest(request, response, { code: 'INVALID_INPUT', message: problem })
    })
  }
  server.on('request', take)
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response))
  server.on('checkContinue', (request, response) => {
    // `foo, 100-continue` has an unknown expectation: its client is not asked for the body.
    if (problemOf(request) === null) response.writeContinue()
    server.emit('request', request, response)
  })
  // Not a request: the parser has no request object for it.
  server.on('clientError', (error: ParserError, socket) => {
    if (error.code !== 'ECONNRESET' && order.endAfterAnswer(socket)) return
    refuseUnreadable(error, socket, options.maxHeaderSize ?? maxHeaderSize, order.isUnderWay(socket))
  })
  return server
}

export interface DrainingEntry extends Omit<ListenerEntry, 'close'> {
  /** Takes no new connection, lets requests in flight finish for `drainMs`, then ends them. */
  close(drainMs: number): Promise<void>
}

export function drainingEntry(server: Server, entryOf: EntryOf): DrainingEntry {
  const entry = entryOf(server)
  const unused = watchUnusedConnections(server)
  return {
    listen: (host, port) => entry.listen(host, port),
    get isOpen() {
      return entry.isOpen
    },
    async close(drainMs) {
      if (!entry.isOpen) return
      const closed = entry.close()
      server.closeIdleConnections()
      unused.close()
      const cut = setTimeout(() => server.closeAllConnections(), drainMs)
      await closed
      clearTimeout(cut)
    },
  }
}

function problemOf(request: IncomingMessage): string | null {
  const hosts = request.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length
  if (hosts > 1) return 'There is more than one Host header.'
  if (hosts === 0 && request.httpVersion !== '1.0') return 'The Host header is missing.'
  const repeated = repetitionProblem(request.rawHeaders, request.headers)
  return versionProblem(request) ?? repeated ?? expectationProblem(request)
}

/** RFC 9110 §10.1.1 knows one expectation. Null when the request has no other. */
export function expectationProblem({ headers: { expect } }: Pick<IncomingMessage, 'headers'>): string | null {
  return expect === undefined || expect.trim().toLowerCase() === '100-continue'
    ? null
    : 'The only supported expectation is 100-continue.'
}
