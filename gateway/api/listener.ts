/** The API listener: takes requests off the wire, hands each to its route, drains on close. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listenOn } from '../listen.ts'
import { createServer, maxHeaderSize } from '../node-http.ts'
import type { HttpAuthz } from '../authz/http.ts'
import { refuseUnreadable } from '../unreadable-request.ts'
import { watchUnusedConnections, type UnusedConnections } from '../unused-connections.ts'
import { correlationIdOf } from './correlation.ts'
import type { ApiDeps } from './deps.ts'
import { dispatch, type Dispatched, type DispatchDeps } from './dispatch.ts'
import { createMinuteRate } from './quota.ts'
import { createRouteTable } from './route-table.ts'
import { ROUTES } from './routes.ts'
import { sendAnswer } from './send.ts'

export interface Api {
  /** Resolves with the bound address. Rejects with the error of `listen` (EADDRINUSE …). */
  listen(host: string, port: number): Promise<AddressInfo>
  /** Requests under way. */
  openRequests(): number
  /** Takes no new connection, lets requests under way finish for `drainMs`, then breaks them off. */
  close(drainMs: number): Promise<void>
}

/** @param authz answers what is asked under /authz/; null: nobody asks */
export function createApi(deps: ApiDeps, authz: HttpAuthz | null = null): Api {
  const inner: DispatchDeps = { ...deps, routes: ROUTES, table: createRouteTable(ROUTES), rate: createMinuteRate() }
  let open = 0
  const server = createServer((request, response) => {
    open += 1
    response.once('close', () => {
      open -= 1
    })
    if (authz?.takes(request.url ?? '') === true) void authz.serve(request, response)
    else void serve(request, response, inner, () => !server.listening)
  })
  const unused = watchUnusedConnections(server)
  // What the parser refuses never becomes a request.
  server.on('clientError', (error, socket) => void refuseUnreadable(error, socket, maxHeaderSize, false))
  return {
    listen: (host, port) => listenOn(server, host, port),
    openRequests: () => open,
    close: (drainMs) => close(server, unused, drainMs),
  }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  deps: DispatchDeps,
  isClosing: () => boolean,
): Promise<void> {
  const started = performance.now()
  const correlationId = correlationIdOf(request)
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const dispatched = await dispatch(request, correlationId, gone.signal, deps)
  // A connection that stayed open would hold up the drain until it has been idle for long enough.
  if (isClosing()) response.shouldKeepAlive = false
  try {
    await sendAnswer(response, dispatched.answer, {
      ...dispatched.headers,
      'X-Correlation-ID': answeredId(dispatched, correlationId),
    })
    if (!request.complete) discardRest(request)
  } catch (error) {
    // The client went away, or the store failed in the middle of an export: the answer cannot be whole any more.
    deps.logger.warn({ err: error, correlation_id: correlationId }, 'an answer broke off')
    response.destroy()
  }
  const { endpoint } = dispatched
  deps.metrics.count('preflight_api_requests_total', { endpoint, status: String(response.statusCode) })
  deps.metrics.observe('preflight_api_request_seconds', { endpoint }, (performance.now() - started) / 1000)
}

/** A replayed answer carries the id of the request that it first answered; header and body agree (wire.md §1). */
function answeredId({ answer }: Dispatched, correlationId: string): string {
  if (answer.kind !== 'json' || !('correlation_id' in answer.body)) return correlationId
  const { correlation_id: id } = answer.body
  return typeof id === 'string' ? id : correlationId
}

/** Longest that the rest of a refused body is read for. */
const LINGER_MS = 5_000

/** A client that is still sending reads the refusal only if its bytes are taken; one that sends for ever is cut off. */
function discardRest(request: IncomingMessage): void {
  request.on('error', () => request.destroy())
  const cut = setTimeout(() => request.destroy(), LINGER_MS)
  request.once('close', () => clearTimeout(cut))
  request.once('end', () => clearTimeout(cut))
  request.resume()
}

async function close(server: Server, unused: UnusedConnections, drainMs: number): Promise<void> {
  if (!server.listening) return
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  server.closeIdleConnections()
  unused.close()
  const cut = setTimeout(() => server.closeAllConnections(), drainMs)
  await closed
  clearTimeout(cut)
}
