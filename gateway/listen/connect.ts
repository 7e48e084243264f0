/**
 * CONNECT (RFC 9110 §9.3.6): reads the requested authority with one meaning, or answers with the error; the connection
 * is then intercepted or tunnelled.
 */
import { correlationIdOf } from '../telemetry/correlation.ts'
import { tracedBy, withTrace } from '../telemetry/trace-context.ts'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { ServerResponse } from '../runtime/node-http.ts'
import { knownError } from '../errors/errors.ts'
import { readAuthority, type AuthorityReading } from '../network/authority.ts'
import type { ListenSettingsInForce } from './settings.ts'
import type { StorePart } from '../store/store.ts'
import { isSameAuthority } from './connection.ts'
import { recordDenial } from '../upstream/egress-record.ts'
import { ANYBODY, presentedHash, PROXY_CHALLENGE, proxyCaller, type KeyHolder } from '../callers/proxy-auth.ts'
import { headProblem } from '../routing/target.ts'
import { Observation } from '../telemetry/observation.ts'
import { errorReply, sendReply, type RequestContext } from './request-context.ts'
import {
  interceptTls,
  joinTunnel,
  openTunnel,
  wayFor,
  type ConnectionRequest,
  type ConnectionOutcome,
  type ConnectionRefusal,
  type ConnectionDecisionDeps,
} from './connection-decision.ts'

interface ConnectDeps extends ConnectionDecisionDeps {
  readonly settings: () => ListenSettingsInForce
  readonly store: StorePart<'calls.record' | 'apiKeys.byHash'>
  /** True at the limit of connections. */
  readonly isFull: () => boolean
  /** The request came on a connection that was already opened to a destination. */
  readonly isNested: boolean
}

/** Resolves when the connection is handed on, or is answered and closed. Never rejects. */
export async function takeConnect(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  deps: ConnectDeps,
): Promise<void> {
  // The parser has released the socket, and no longer handles its errors: a client that disconnects is no failure of
  // the gateway.
  socket.on('error', () => socket.destroy())
  const context = contextOf(request, deps)
  let outcome: ConnectionOutcome
  try {
    outcome = await withTrace(context.observation.trace, () => admitConnect(context, socket, head, deps))
  } catch (error) {
    deps.logger.error(
      { event: 'connect.failed', err: error, correlation_id: context.observation.correlationId },
      'CONNECT failed',
    )
    refuse(context, socket, { outcome: 'refused', code: knownError(error).code })
    outcome = 'refused'
  }
  deps.metrics.count('preflight_connections_total', { traffic_path: 'connect', outcome })
}

async function admitConnect(
  context: RequestContext,
  socket: Socket,
  head: Buffer,
  deps: ConnectDeps,
): Promise<ConnectionOutcome> {
  const { request, settings, observation } = context
  if (deps.isNested)
    return refuse(context, socket, {
      outcome: 'refused',
      code: 'INVALID_INPUT',
      message: 'CONNECT inside another CONNECT is not supported.',
    })
  const read = connectAuthority(request)
  if (!read.ok) return refuse(context, socket, { outcome: 'refused', code: 'INVALID_INPUT', message: read.problem })
  if (deps.isFull()) return refuse(context, socket, { outcome: 'refused', code: 'OVERLOADED' })
  const caller = await proxyCaller(request.headers, settings, deps.store, deps.now())
  if (caller === null)
    return refuse(context, socket, { outcome: 'refused', code: 'PROXY_AUTHENTICATION_REQUIRED' }, PROXY_CHALLENGE)
  const { authority } = read
  const connectionRequest: ConnectionRequest = {
    trafficPath: 'connect',
    method: 'CONNECT',
    authority,
    caller,
    correlationId: observation.correlationId,
    socket,
    settings,
  }
  const way = wayFor(connectionRequest, deps.egressOf(settings))
  if (way.kind === 'deny') {
    await recordDenial(connectionRequest, way.denial, deps)
    return refuse(context, socket, { outcome: 'denied', code: 'EGRESS_DENIED', message: way.denial.message })
  }
  if (head.length > 0) socket.unshift(head)
  const holder = { caller, keyHash: presentedHash(request.headers), checkedAt: deps.now() }
  if (way.kind === 'tunnel') return tunnelConnect(context, connectionRequest, holder, deps)
  return interceptConnect(connectionRequest, holder, deps)
}

function interceptConnect(
  connectionRequest: ConnectionRequest,
  holder: KeyHolder,
  deps: ConnectDeps,
): Promise<ConnectionOutcome> {
  const { socket, authority } = connectionRequest
  socket.write(ESTABLISHED)
  return interceptTls(connectionRequest, (scheme) => ({ kind: 'connect', scheme, authority, holder }), deps)
}

async function tunnelConnect(
  context: RequestContext,
  connectionRequest: ConnectionRequest,
  holder: KeyHolder,
  deps: ConnectDeps,
): Promise<ConnectionOutcome> {
  const { socket } = connectionRequest
  const destination = await openTunnel(connectionRequest, deps)
  if ('outcome' in destination) return refuse(context, socket, destination)
  if (socket.destroyed) {
    destination.destroy()
    return 'abandoned'
  }
  socket.write(ESTABLISHED)
  joinTunnel(connectionRequest, destination, holder, deps)
  return 'tunnelled'
}

const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n'

/** The requested authority; the Host field, where there is one, must name the same. */
function connectAuthority(request: IncomingMessage): AuthorityReading {
  const read = readAuthority(request.url ?? '', null)
  if (!read.ok) return { ok: false, problem: `CONNECT needs HOST:PORT: ${read.problem}.` }
  const { host } = request.headers
  if (request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined)
    return { ok: false, problem: 'CONNECT has no body.' }
  // Python before 3.12 sends HTTP/1.0 without a Host field.
  if (host === undefined && request.httpVersion === '1.0') return read
  const problem = headProblem(request.rawHeaders, request.headers)
  if (problem !== null) return { ok: false, problem }
  const named = readAuthority(host ?? '', read.authority.port)
  if (named.ok && isSameAuthority(named.authority, read.authority)) return read
  return { ok: false, problem: 'The Host header and the destination of CONNECT differ.' }
}

function contextOf(request: IncomingMessage, deps: ConnectDeps): RequestContext {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  const trace = tracedBy(request.headers)
  const correlationId = correlationIdOf(request.headers, trace)
  return {
    request,
    response,
    observation: new Observation({ correlationId, method: 'CONNECT', trace }),
    caller: ANYBODY,
    settings: deps.settings(),
    expectsContinue: false,
    upgrade: null,
  }
}

/** Answers instead of opening the tunnel, and closes. */
function refuse(
  context: RequestContext,
  socket: Socket,
  { outcome, code, message }: ConnectionRefusal,
  headers: readonly string[] = [],
): ConnectionOutcome {
  if (socket.destroyed) return 'abandoned'
  const { response } = context
  response.assignSocket(socket)
  response.on('finish', () => socket.end(() => socket.destroySoon()))
  sendReply(context, errorReply(context, code, message, headers))
  return outcome
}
