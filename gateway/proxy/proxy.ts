/** The proxy listener: takes requests off the wire, refuses the ambiguous, sends each down the road of a call, drains on close. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LOCAL_TENANT } from '../keys/api-keys.ts'
import { watchUnusedConnections } from '../unused-connections.ts'
import { buildRoad, type RoadParts, type RoadPartsDeps } from './road-parts.ts'
import { travel, type RoadDeps } from './road.ts'
import { headProblem, matchRoute, targetProblem } from './target.ts'
import { sendError, type Trip } from './trip.ts'
import { createUpstreams } from './upstream.ts'

export type ProxyDeps = RoadPartsDeps

export interface Proxy {
  /** Resolves with the bound address. Rejects with the error of `listen` (EADDRINUSE …). */
  listen(host: string, port: number): Promise<AddressInfo>
  /** What calls are judged with; ext_authz asks the same. */
  readonly road: RoadParts
  /** Calls under way. */
  openCalls(): number
  /** A receipt was revoked or consumed by the API: the decision behind it is not used again unchecked. */
  receiptChanged(decisionId: string): void
  /** Takes no new connection, lets calls under way finish for `drainMs`, then breaks them off. Leaves no socket or timer. */
  close(drainMs: number): Promise<void>
}

/** Longer than the usual client's, so that the client is the one to close an idle connection. */
const KEEP_ALIVE_MS = 75_000
const HEAD_TIMEOUT_MS = 30_000
/** Nobody is asked for a key on the road. */
const ANYBODY = { tenant: LOCAL_TENANT, audience: null } as const

export function createProxy(deps: ProxyDeps): Proxy {
  const road = buildRoad(deps, createUpstreams())
  const openTrips = new Set<Trip>()
  deps.metrics.sample('preflight_calls_open', () => openTrips.size)
  let isClosing = false

  const take = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
    const correlationId = correlationIdOf(request)
    const trip: Trip = { request, response, correlationId, caller: ANYBODY, settings: deps.settings(), expectsContinue }
    openTrips.add(trip)
    void admit(trip, road)
      .catch((error: unknown) => {
        // A broken invariant on the road: the call is not forwarded, and the client is told no more than that.
        deps.logger.error({ err: error, correlation_id: correlationId }, 'a call failed on the road')
        if (response.headersSent) response.destroy()
        else sendError(trip, 'INTERNAL')
      })
      .finally(() => {
        openTrips.delete(trip)
        if (isClosing) server.closeIdleConnections()
      })
  }
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEAD_TIMEOUT_MS,
    // A large upload may take as long as it takes.
    requestTimeout: 0,
    insecureHTTPParser: false,
  })
  const unused = watchUnusedConnections(server)
  server.on('request', (request, response) => take(request, response, false))
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => take(request, response, true))
  // An agent that breaks a connection off is no fault of the gateway.
  server.on('error', (error) => deps.logger.error({ err: error }, 'the proxy listener failed'))

  return {
    listen: (host, port) => listen(server, host, port),
    road,
    openCalls: () => openTrips.size,
    receiptChanged: (decisionId) => road.verdicts.receiptChanged(decisionId),
    async close(drainMs) {
      isClosing = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      road.waitingRoom.close()
      for (const exchange of road.standing) exchange.abort()
      server.closeIdleConnections()
      unused.close()
      const force = setTimeout(() => server.closeAllConnections(), drainMs)
      await closed
      clearTimeout(force)
      await road.upstreams.close()
    },
  }
}

/** What the wire itself must be free of before anything is read out of a request. */
async function admit(trip: Trip, road: RoadDeps): Promise<void> {
  const { request, settings } = trip
  const target = request.url ?? ''
  const problem = headProblem(request.rawHeaders, request.headers) ?? targetProblem(target)
  if (problem !== null) return sendError(trip, 'INVALID_INPUT', problem)
  if (request.method === 'TRACE') return sendError(trip, 'METHOD_NOT_ALLOWED', 'TRACE is not forwarded.')
  const match = matchRoute(settings.config.routes, request.headers.host ?? '', target)
  if (match === null) return sendError(trip, 'NOT_FOUND', 'No route of the gateway matches this host and path.')
  await travel(trip, match, road)
}

const ID_GRAMMAR = /^[A-Za-z0-9_.:-]{1,200}$/

function correlationIdOf(request: IncomingMessage): string {
  const given = request.headers['x-correlation-id']
  return typeof given === 'string' && ID_GRAMMAR.test(given) ? given : randomUUID()
}

function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      const address = server.address()
      if (address === null || typeof address === 'string') reject(new Error('the listener has no TCP address'))
      else resolve(address)
    })
  })
}
