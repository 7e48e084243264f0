/**
 * Connections to other servers that the network redirects to the gateway (iptables REDIRECT). TLS (server name) or HTTP
 * (Host) gives the destination; Node.js cannot read the original address, so the port comes from the configuration.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { canonicalHost, type Authority } from '../network/authority.ts'
import type { ListenSettingsInForce } from './settings.ts'
import { recordDenial } from '../upstream/egress-record.ts'
import { firstBytes, greetingOf, readHello } from './first-bytes.ts'
import { listenOn } from '../network/listen.ts'
import { ANYBODY } from '../callers/proxy-auth.ts'
import {
  interceptTls,
  joinTunnel,
  openTunnel,
  wayFor,
  type ConnectionRequest,
  type ConnectionOutcome,
  type ConnectionDecisionDeps,
} from './connection-decision.ts'

interface TransparentDeps extends ConnectionDecisionDeps {
  readonly settings: () => Pick<ListenSettingsInForce, 'config'>
  /** True at the limit of connections. */
  readonly isFull: () => boolean
  /** Sockets that are not handed on yet. */
  readonly pending: Set<Socket>
}

export interface Transparent {
  /** Rejects with the error of `listen`. */
  listen(host: string, port: number): Promise<AddressInfo>
  /** Takes no new connection. */
  close(): Promise<void>
}

export function createTransparent(deps: TransparentDeps): Transparent {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    deps.pending.add(socket)
    socket.once('close', () => deps.pending.delete(socket))
    void takeCounted(socket, deps).finally(() => deps.pending.delete(socket))
  })
  server.on('error', (error) =>
    deps.logger.error({ event: 'listener.failed', err: error }, 'transparent listener failed'),
  )
  return {
    listen: (host, port) => listenOn(server, host, port),
    close: () => (server.listening ? new Promise((resolve) => server.close(() => resolve())) : Promise.resolve()),
  }
}

/** Never rejects. */
async function takeCounted(socket: Socket, deps: TransparentDeps): Promise<void> {
  let outcome: ConnectionOutcome = 'refused'
  try {
    outcome = await take(socket, deps)
  } catch (error) {
    deps.logger.error({ event: 'transparent.connection_failed', err: error }, 'redirected connection failed')
    socket.destroy()
  }
  deps.metrics.count('preflight_connections_total', { traffic_path: 'redirect', outcome })
}

async function take(socket: Socket, deps: TransparentDeps): Promise<ConnectionOutcome> {
  const settings = deps.settings()
  if (deps.isFull()) return destroyed(socket, 'refused')
  const { transparent, tls } = settings.config
  const bytes = await firstBytes(socket, tls.handshake * 1000)
  if (bytes === null) return destroyed(socket, 'abandoned')
  const greeting = greetingOf(bytes)
  if (greeting === 'http') {
    deps.serve(socket, { kind: 'redirect', scheme: 'http', port: transparent.http_port, serverName: null })
    return 'intercepted'
  }
  if (greeting !== 'tls') {
    deps.logger.warn(
      { event: 'transparent.no_destination' },
      'redirected connection closed: it is neither TLS nor HTTP, so its destination is not known',
    )
    return destroyed(socket, 'refused')
  }
  const name = await requestedServerName(socket, tls.handshake * 1000)
  const host = name === null ? null : canonicalHost(name)
  if (host === null || !host.ok) {
    deps.logger.warn({ event: 'transparent.no_destination' }, 'redirected TLS connection closed: it names no server')
    return destroyed(socket, 'refused')
  }
  return goOn(socket, { host: host.host, port: transparent.https_port }, settings, deps)
}

async function goOn(
  socket: Socket,
  authority: Authority,
  settings: Pick<ListenSettingsInForce, 'config'>,
  deps: TransparentDeps,
): Promise<ConnectionOutcome> {
  const correlationId = randomUUID()
  const connectionRequest: ConnectionRequest = {
    trafficPath: 'redirect',
    method: 'TLS',
    authority,
    caller: ANYBODY,
    correlationId,
    socket,
    settings,
  }
  const way = wayFor(connectionRequest, deps.egressOf(settings))
  if (way.kind === 'deny') {
    await recordDenial(connectionRequest, way.denial, deps)
    return destroyed(socket, 'denied')
  }
  if (way.kind === 'intercept')
    return interceptTls(
      connectionRequest,
      (scheme) => ({ kind: 'redirect', scheme, port: authority.port, serverName: authority.host }),
      deps,
    )
  const destination = await openTunnel(connectionRequest, deps)
  if ('outcome' in destination) return destroyed(socket, destination.outcome)
  if (socket.destroyed) {
    destination.destroy()
    return 'abandoned'
  }
  joinTunnel(connectionRequest, destination, null, deps)
  return 'tunnelled'
}

/** Reads on until the ClientHello is complete, and puts everything back. */
async function requestedServerName(socket: Socket, timeoutMs: number): Promise<string | null> {
  const hello = readHello()
  const held: Buffer[] = []
  const onData = (bytes: Buffer): void => {
    held.push(bytes)
    hello.feed(bytes)
  }
  const giveUp = (): void => hello.close()
  const timer = setTimeout(giveUp, timeoutMs)
  socket.on('data', onData).on('close', giveUp).on('end', giveUp)
  if (socket.readableEnded) giveUp()
  socket.resume()
  const name = await hello.serverName
  clearTimeout(timer)
  socket.off('data', onData).off('close', giveUp).off('end', giveUp)
  socket.pause()
  hello.close()
  if (!socket.destroyed) socket.unshift(Buffer.concat(held))
  return name
}

function destroyed(socket: Socket, outcome: ConnectionOutcome): ConnectionOutcome {
  socket.destroy()
  return outcome
}
