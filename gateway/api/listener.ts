/** The API listener: takes requests off the wire, hands each to its route, drains on close. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { randomUUID } from 'node:crypto'
import { listenOn } from '../listen.ts'
import { createServer, STATUS_CODES } from '../node-http.ts'
import type { HttpAuthz } from '../authz/http.ts'
import { GatewayError } from '../errors.ts'
import { watchUnusedConnections, type UnusedConnections } from '../unused-connections.ts'
import { correlationIdOf } from './correlation.ts'
import type { ApiDeps } from './deps.ts'
import { dispatch, type Dispatched, type DispatchDeps } from './dispatch.ts'
import { errorBody } from './error-answer.ts'
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
  server.on('clientError', refuseBroken)
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

const BROKEN: Readonly<Record<string, { readonly status: number; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The header section is too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not come in time.' },
}

/** What the HTTP parser refuses never becomes a request; it still gets an answer of the API's own form. */
function refuseBroken(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, message } = BROKEN[error.code ?? ''] ?? {
    status: 400,
    message: 'The request is not valid HTTP, or it broke off.',
  }
  const correlationId = randomUUID()
  const body = JSON.stringify(errorBody(new GatewayError('INVALID_INPUT', message), correlationId))
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Correlation-ID: ${correlationId}\r\nConnection: close\r\n\r\n${body}`,
  )
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
