/**
 * Decides on a connection whose destination is known before anything on it has been read. It is intercepted because a
 * route names its host, tunnelled because egress allows it, or refused. Shared by CONNECT and redirected connections.
 */
import { isIP, type Socket } from 'node:net'
import { EgressDenied, type Egress, type EgressDenial } from '../upstream/egress-policy.ts'
import type { ErrorCode } from '../errors/errors.ts'
import type { ListenSettingsInForce } from './settings.ts'
import { messageOf } from '../errors/startup-error.ts'
import type { KeyHolder } from '../callers/proxy-auth.ts'
import type { InboundConnection } from './connection.ts'
import { recordDenial, recordTunnel, type EgressRecordDeps, type EgressRequest } from '../upstream/egress-record.ts'
import { firstBytes, greetingOf, readHello } from './first-bytes.ts'
import { LaterHellos } from './further-client-hellos.ts'
import { endTls, type InterceptionDeps } from './tls-interception.ts'
import { namesHost } from '../routing/target.ts'
import { dial, type BeginningCheck, type Tunnels } from '../upstream/tunnel.ts'

export interface ConnectionDecisionDeps extends EgressRecordDeps, InterceptionDeps {
  readonly egressOf: (settings: Pick<ListenSettingsInForce, 'config'>) => Egress
  readonly tunnels: Tunnels
  readonly openTunnels: OpenTunnels
  /** Takes a connection that carries HTTP, plaintext or inside TLS. */
  readonly serve: (socket: Socket, inbound: InboundConnection) => void
}

/** A connection that requests a destination. */
export interface ConnectionRequest extends EgressRequest {
  readonly socket: Socket
  readonly settings: Pick<ListenSettingsInForce, 'config'>
}

export interface OpenTunnel {
  readonly connectionRequest: ConnectionRequest
  readonly destination: Socket
  /** Null: the client could not present a key. */
  readonly holder: KeyHolder | null
}

export interface OpenTunnels {
  /** Ends the tunnel when it would not be opened any more. */
  follow(tunnel: OpenTunnel): void
}

/** How a connection request ended; `intercepted` and `tunnelled` connections stay open. */
export type ConnectionOutcome = 'intercepted' | 'tunnelled' | 'denied' | 'refused' | 'unreachable' | 'abandoned'

type ConnectionPlan =
  | { readonly kind: 'intercept' }
  | { readonly kind: 'tunnel' }
  | { readonly kind: 'deny'; readonly denial: EgressDenial }

/** The decision for an authority. Egress judges each call on an intercepted connection again. */
export function wayFor(
  { authority, settings }: Pick<ConnectionRequest, 'authority' | 'settings'>,
  egress: Egress,
): ConnectionPlan {
  const isNamed = settings.config.routes.some((route) => namesHost(route, authority.host))
  const isIntercepted = isNamed && !egress.isTunnelOnly(authority)
  const denial = egress.denialOf(authority, isIntercepted)
  if (denial !== null) return { kind: 'deny', denial }
  return { kind: isIntercepted ? 'intercept' : 'tunnel' }
}

export interface ConnectionRefusal {
  readonly outcome: ConnectionOutcome
  readonly code: ErrorCode
  readonly message?: string
}

/** Opens the upstream side of the tunnel. The caller then answers the client. */
export async function openTunnel(
  connectionRequest: ConnectionRequest,
  deps: ConnectionDecisionDeps,
): Promise<Socket | ConnectionRefusal> {
  const { authority, settings } = connectionRequest
  const egress = deps.egressOf(settings)
  try {
    await recordTunnel(connectionRequest, deps)
    return await dial(authority, egress.lookupFor(authority), CONNECT_MS)
  } catch (error) {
    if (error instanceof EgressDenied) {
      await recordDenial(connectionRequest, error.denial, deps)
      return { outcome: 'denied', code: 'EGRESS_DENIED', message: error.denial.message }
    }
    deps.logger.warn(
      { event: 'tunnel.open_failed', err: error, correlation_id: connectionRequest.correlationId },
      'tunnel could not be opened',
    )
    return {
      outcome: 'unreachable',
      code: dialFault(error),
      message: `The tunnel could not be opened: ${messageOf(error)}.`,
    }
  }
}

const CONNECT_MS = 10_000
/** A ClientHello is rarely over 2 KiB, and under 16 KiB even with large keys. */
const LONGEST_HELLO = 64 * 1024

function dialFault(error: unknown): ErrorCode {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  if (code === 'STORE_UNAVAILABLE') return 'STORE_UNAVAILABLE'
  return code === 'ETIMEDOUT' ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_UNREACHABLE'
}

/**
 * Joins both sides, and refuses TLS to another server than the one the tunnel was opened to: one address may serve many
 * hosts. Clients name the server unless they have its address only. So TLS without a readable server name (too long,
 * too old) is refused when the tunnel was opened to a name. Servers may send first, so their bytes pass meanwhile.
 * @param holder null: the client could not present a key
 */
export function joinTunnel(
  connectionRequest: ConnectionRequest,
  destination: Socket,
  holder: KeyHolder | null,
  deps: ConnectionDecisionDeps,
): void {
  const { socket, authority, settings, correlationId } = connectionRequest
  const ask = (bytes: Buffer): BeginningCheck | null => {
    const greeting = greetingOf(bytes)
    if (greeting === 'not_a_hello') return closedTunnel(connectionRequest, deps)
    if (greeting !== 'tls') return null
    const hello = readHello()
    let size = 0
    return {
      watch: new LaterHellos(isIP(authority.host) === 0 ? authority.host : null),
      feed(more) {
        size += more.length
        if (size > LONGEST_HELLO) hello.close()
        else hello.feed(more)
      },
      verdict: hello.serverName.then((name) => {
        hello.close()
        if (name === null ? isIP(authority.host) !== 0 : name === authority.host) return true
        deps.metrics.count('preflight_tls_handshakes_total', { result: 'wrong_name' })
        deps.logger.warn(
          {
            event: 'tunnel.server_name_refused',
            correlation_id: correlationId,
            host: authority.host,
            server_name: name,
          },
          name === null
            ? 'tunnel closed: no server name could be read from its TLS'
            : 'tunnel closed: its TLS asks for another server',
        )
        return false
      }),
    }
  }
  deps.tunnels.open(socket, destination, { idleMs: settings.config.egress.idle * 1000, ask })
  deps.openTunnels.follow({ connectionRequest, destination, holder })
}

/** TLS that does not begin with a ClientHello hides the server that it asks for. */
function closedTunnel({ authority, correlationId }: ConnectionRequest, deps: ConnectionDecisionDeps): BeginningCheck {
  deps.metrics.count('preflight_tls_handshakes_total', { result: 'wrong_name' })
  deps.logger.warn(
    { event: 'tunnel.no_client_hello', correlation_id: correlationId, host: authority.host },
    'tunnel closed: its TLS does not begin with a ClientHello',
  )
  return { feed: () => {}, verdict: Promise.resolve(false) }
}

/** Terminates TLS, or takes plain HTTP, and hands the connection to the HTTP server. */
export async function interceptTls(
  connectionRequest: ConnectionRequest,
  inboundOf: InboundOf,
  deps: ConnectionDecisionDeps,
): Promise<ConnectionOutcome> {
  const { socket, authority, settings, correlationId } = connectionRequest
  const timeoutMs = settings.config.tls.handshake * 1000
  const bytes = await firstBytes(socket, timeoutMs)
  if (bytes === null) {
    socket.destroy()
    return 'abandoned'
  }
  const greeting = greetingOf(bytes)
  if (greeting === 'http') {
    deps.serve(socket, inboundOf('http'))
    return 'intercepted'
  }
  if (greeting !== 'tls') {
    deps.logger.warn(
      { event: 'tunnel.unknown_protocol', correlation_id: correlationId, host: authority.host },
      'connection to the host of a route carries neither TLS nor HTTP',
    )
    socket.destroy()
    return 'refused'
  }
  const secure = await endTls(socket, { host: authority.host, correlationId, timeoutMs }, deps)
  if (secure === null) return 'abandoned'
  deps.serve(secure, inboundOf('https'))
  return 'intercepted'
}

type InboundOf = (scheme: 'http' | 'https') => InboundConnection
