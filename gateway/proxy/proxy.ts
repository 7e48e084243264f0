/**
 * The proxy: one HTTP server for all roads in. Requests come to it in the open, inside a CONNECT, or turned here by the network;
 * each passes the same admission. Takes connections off the wire and drains them on close; judges nothing itself.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { createServer } from '../node-http.ts'
import type { Config } from '../config/schema.ts'
import { ownListeners } from '../egress/own-listeners.ts'
import { createEgress, type Egress } from '../egress/policy.ts'
import type { Settings } from '../settings.ts'
import type { Store } from '../store/store.ts'
import type { Authorities } from '../tls/authorities.ts'
import { createLeaves } from '../tls/leaves.ts'
import { watchUnusedConnections } from '../unused-connections.ts'
import { admit, type AdmissionDeps } from './admission.ts'
import type { Arrival } from './arrival.ts'
import { takeConnect } from './connect.ts'
import { createHttp2Front } from './http2-front.ts'
import { listenOn } from '../listen.ts'
import { ANYBODY } from './proxy-auth.ts'
import { readPreface } from './preface.ts'
import { buildRoad, type RoadParts, type RoadPartsDeps } from './road-parts.ts'
import { createTransparent, type Transparent } from './transparent.ts'
import { sendError, type Trip } from './trip.ts'
import { createTunnels, type Tunnels } from './tunnel.ts'
import { isUpgrade, takeUpgrade } from './upgrade.ts'
import { createUpstreams } from './upstream.ts'
import type { WaysDeps } from './ways.ts'

export interface ProxyDeps extends RoadPartsDeps {
  readonly store: RoadPartsDeps['store'] & Pick<Store, 'apiKey'>
  readonly authorities: Pick<Authorities, 'signing'>
  /** Ports on which this gateway listens, as far as they are bound. */
  readonly ownPorts: () => ReadonlySet<number>
}

export interface Proxy {
  /** Resolves with the bound address. Rejects with the error of `listen` (EADDRINUSE …). */
  listen(host: string, port: number): Promise<AddressInfo>
  /** For connections that the network turns here. */
  readonly transparent: Pick<Transparent, 'listen'>
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
/** A tunnel on which nothing has moved for this long does not hold up a gateway that stops. */
const DRAIN_IDLE_MS = 1000

export function createProxy(deps: ProxyDeps): Proxy {
  const { settings, metrics, logger } = deps
  const egressOf = egressBySettings(deps)
  const tunnels = createTunnels(metrics)
  const http2 = createHttp2Front()
  const road = buildRoad(
    deps,
    createUpstreams(() => egressOf(settings())),
    tunnels,
  )
  const admission: AdmissionDeps = { ...deps, road, egressOf }
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEAD_TIMEOUT_MS,
    // A large upload may take as long as it takes.
    requestTimeout: 0,
    insecureHTTPParser: false,
    shouldUpgradeCallback: isUpgrade,
  })
  /** Connections reach the server of HTTP/1 once they are known to speak it. */
  const takers = server.rawListeners('connection')
  server.removeAllListeners('connection')
  const speakHttp1 = (connection: Duplex): void => {
    for (const taker of takers) Reflect.apply(taker, server, [connection])
  }
  const unused = watchUnusedConnections(server)
  const arrivals = new WeakMap<Duplex, Arrival>()
  const openTrips = new Set<Trip>()
  metrics.sample('preflight_calls_open', () => openTrips.size)
  /** Connections between their first byte and their way: neither the HTTP server's nor a tunnel's. */
  const pending = new Set<Socket>()
  let isClosing = false

  const take = (
    request: IncomingMessage,
    response: ServerResponse,
    asks: Pick<Trip, 'expectsContinue' | 'upgrade'>,
  ) => {
    const correlationId = correlationIdOf(request)
    const trip: Trip = { request, response, correlationId, caller: ANYBODY, settings: settings(), ...asks }
    openTrips.add(trip)
    void admit(trip, arrivals.get(request.socket) ?? IN_THE_OPEN, admission)
      .catch((error: unknown) => {
        // A broken invariant on the road: the call is not forwarded, and the client is told no more than that.
        logger.error({ err: error, correlation_id: correlationId }, 'a call failed on the road')
        if (response.headersSent) response.destroy()
        else sendError(trip, 'INTERNAL')
      })
      .finally(() => {
        openTrips.delete(trip)
        if (isClosing) server.closeIdleConnections()
      })
  }
  const speakHttp2 = (socket: Socket, arrival: Arrival): void => {
    unused.use({ socket })
    http2.take(socket, (exchange) => {
      arrivals.set(exchange, arrival)
      speakHttp1(exchange)
    })
  }
  const takeConnection = async (socket: Socket): Promise<void> => {
    const broken = (): void => void socket.destroy()
    socket.on('error', broken)
    const version = await readPreface(socket, HEAD_TIMEOUT_MS)
    socket.off('error', broken)
    if (version === null || socket.destroyed) return broken()
    if (version === 'http2') return speakHttp2(socket, arrivals.get(socket) ?? IN_THE_OPEN)
    speakHttp1(socket)
    // What was read of it to know its kind was put back, and waits.
    socket.resume()
  }
  server.on('connection', (socket: Socket) => void takeConnection(socket))
  const ways: WaysDeps = {
    ...deps,
    leaves: createLeaves(deps),
    egressOf,
    tunnels,
    serve(socket, arrival) {
      pending.delete(socket)
      if (socket instanceof TLSSocket && socket.alpnProtocol === 'h2') return speakHttp2(socket, arrival)
      arrivals.set(socket, arrival)
      server.emit('connection', socket)
    },
  }
  const connections = { ...ways, store: deps.store, settings, isFull: () => isFull(settings(), tunnels, pending) }
  const transparent = createTransparent({ ...connections, pending })
  server.on('request', (request, response) => take(request, response, PLAIN))
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    take(request, response, { ...PLAIN, expectsContinue: true }),
  )
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    unused.use(request)
    const upgrade = takeUpgrade(request, socket, head)
    take(request, upgrade.response, { ...PLAIN, upgrade })
  })
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    unused.use(request)
    pending.add(socket)
    socket.once('close', () => pending.delete(socket))
    void takeConnect(request, socket, head, { ...connections, isNested: arrivals.has(socket) }).finally(() =>
      pending.delete(socket),
    )
  })
  // An agent that breaks a connection off is no fault of the gateway.
  server.on('error', (error) => logger.error({ err: error }, 'the proxy listener failed'))

  return {
    listen: (host, port) => listenOn(server, host, port),
    transparent,
    road,
    openCalls: () => openTrips.size,
    receiptChanged: (decisionId) => road.verdicts.receiptChanged(decisionId),
    async close(drainMs) {
      isClosing = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      const redirectsClosed = transparent.close()
      road.waitingRoom.close()
      for (const exchange of road.standing) exchange.abort()
      server.closeIdleConnections()
      unused.close()
      for (const socket of pending) socket.destroy()
      tunnels.drain(Math.min(DRAIN_IDLE_MS, drainMs))
      http2.drain()
      const force = setTimeout(() => {
        server.closeAllConnections()
        tunnels.close()
        http2.close()
      }, drainMs)
      await Promise.all([closed, redirectsClosed])
      clearTimeout(force)
      tunnels.close()
      http2.close()
      await Promise.all([road.upstreams.close(), road.validator.close()])
    },
  }
}

const IN_THE_OPEN: Arrival = { kind: 'listener' }
const PLAIN = { expectsContinue: false, upgrade: null } as const

/** One policy for each configuration: made when first asked for, gone with it. */
function egressBySettings({ ownPorts }: Pick<ProxyDeps, 'ownPorts'>): (settings: Pick<Settings, 'config'>) => Egress {
  const known = new WeakMap<Config['egress'], Egress>()
  const isOwn = ownListeners(ownPorts)
  return ({ config: { egress } }) => {
    const policy = known.get(egress) ?? createEgress({ egress, isOwn })
    known.set(egress, policy)
    return policy
  }
}

function isFull({ config }: Pick<Settings, 'config'>, tunnels: Tunnels, pending: ReadonlySet<Socket>): boolean {
  return tunnels.size + pending.size > config.limits.connections
}

const ID_GRAMMAR = /^[A-Za-z0-9_.:-]{1,200}$/

function correlationIdOf(request: IncomingMessage): string {
  const given = request.headers['x-correlation-id']
  return typeof given === 'string' && ID_GRAMMAR.test(given) ? given : randomUUID()
}
