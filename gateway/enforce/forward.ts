/**
 * Sends a call to its upstream and the answer back, with the receipts that allow it, and reports how the exchange
 * ended.
 */
import { EgressDenied, type EgressDenial } from '../upstream/egress-policy.ts'
import type { Recogniser } from '../protocols/common/action.ts'
import { protocolSettings } from '../protocols/settings.ts'
import type { AnswerWatcher } from '../calls/answer.ts'
import type { Call } from '../calls/call.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Bodies } from '../listen/bodies.ts'
import { startExchange, type UpstreamExchange, type ExchangeEnd } from '../upstream/exchange.ts'
import { isGrpc } from '../network/grpc-media-type.ts'
import { attachedTokens, sentHead, takesTrailers, type SentHead } from '../upstream/headers.ts'
import {
  answerStream,
  faultReply,
  inviteBody,
  isWaiting,
  shortBodyOf,
  type Reply,
  type RequestContext,
} from '../listen/request-context.ts'
import type { Tunnels } from '../upstream/tunnel.ts'
import { goesByHttp2, type UpstreamRoute, type Upstreams } from '../upstream/pools.ts'
import type { DecisionVerdict, ReceiptVerdict } from './verdict-cache.ts'

type ForwardedRoute = UpstreamRoute & Partial<Pick<Call['route'], 'match'>>

/** A call that is forwarded: its route holds only what is needed to reach the upstream. */
type OutgoingCall = Omit<Call, 'route'> & { readonly route: ForwardedRoute }

/** How a call is forwarded. */
export interface Forwarding {
  /** The verdicts whose receipts are sent with the call. */
  readonly verdicts: readonly (DecisionVerdict | ReceiptVerdict)[]
  /** Added to the answer: name, value, name, value … */
  readonly headers: readonly string[]
  readonly watcher: AnswerWatcher | null
  readonly isStanding: boolean
  /** Asked when a connection takes the call. Never rejects. */
  readonly maySend: () => boolean | Promise<boolean>
  /** Called when the call is sent. */
  readonly onSending?: () => void
  /** Renders an error for the client; null: no route is known. */
  readonly recogniser: Pick<Recogniser, 'renderFault'> | null
}

export interface ForwardDeps {
  readonly bodies: Bodies
  readonly upstreams: Upstreams
  /** Takes connections that have switched to another protocol. */
  readonly tunnels: Pick<Tunnels, 'open'>
  /** Streams without an end, which are closed when the proxy stops. */
  readonly standing: Set<UpstreamExchange>
  /** Reports a destination named by a call that resolves to an address which egress denies. Never rejects. */
  readonly egressDenied: (call: OutgoingCall, denial: EgressDenial) => Promise<void>
  readonly metrics: Metrics
  readonly logger: Logger
}

/** How a forwarded call ended, and the answer where the upstream gave none. */
interface Forwarded {
  readonly end: ExchangeEnd
  readonly reply: Reply | null
}

/** Null: it may not be sent any more, and was not. Never rejects. */
export async function forward(
  context: RequestContext,
  call: OutgoingCall,
  forwarding: Forwarding,
  deps: ForwardDeps,
): Promise<Forwarded | null> {
  const body = call.body ?? shortBodyOf(context.request)
  const { observation } = context
  observation.sending()
  const exchange = startExchange({
    dispatcher: deps.upstreams.dispatcherOf(call, context.upgrade !== null),
    path: call.upstreamPath,
    request: context.request,
    response: answerStream(context),
    headers: requestHeaders(call, forwarding),
    body,
    ownHeaders: forwarding.headers,
    route: call.route,
    watcher: forwarding.watcher,
    maySend: forwarding.maySend,
    onSending() {
      forwarding.onSending?.()
      // An unreachable upstream is reported before the client is asked for the body.
      if (body === null && isWaiting(context)) inviteBody(context)
    },
    upgrade: context.upgrade,
    tunnels: deps.tunnels,
    onAnswer: () => observation.answered(),
  })
  if (forwarding.isStanding) deps.standing.add(exchange)
  const end = await exchange.done
  if (forwarding.isStanding) deps.standing.delete(exchange)
  if (end === null) return null
  observation.ended(end)
  const reply = end.fault === null ? null : await reportFault({ context, call, forwarding }, end, deps)
  return { end, reply }
}

/** The request head as it will be sent: known before the call is judged. */
export function sentHeadOf(
  { request, observation, upgrade }: Pick<RequestContext, 'request' | 'observation' | 'upgrade'>,
  { trafficPath, origin, route }: Pick<OutgoingCall, 'trafficPath' | 'origin' | 'route'>,
): SentHead {
  const { headers } = request
  // gRPC servers require `TE: trailers`, to detect proxies that lose trailers.
  const carriesTrailers = isGrpc(headers) || (takesTrailers(headers) && goesByHttp2({ headers, route }))
  return sentHead(request, {
    trafficPath,
    origin,
    correlationId: observation.correlationId,
    trace: observation.trace,
    peer: request.socket.remoteAddress ?? 'unknown',
    proto: 'http',
    upgrade: upgrade?.protocol ?? null,
    readsAnswer: protocolSettings(route.protocol).readsAnswers === true,
    carriesTrailers,
  })
}

function requestHeaders({ rawHeaders }: OutgoingCall, { verdicts }: Forwarding): string[] {
  const headers = rawHeaders.slice()
  for (const token of attachedTokens(verdicts)) headers.push('Preflight-Receipt', token)
  const envelope = verdicts.length === 1 ? (verdicts[0]?.envelopeHeader ?? null) : null
  if (envelope !== null) headers.push('Preflight-Decision', envelope)
  return headers
}

interface SentCall {
  readonly context: RequestContext
  readonly call: OutgoingCall
  readonly forwarding: Forwarding
}

/** Reports a fault. Null: the answer had begun, or nobody is there to read one. */
async function reportFault(
  { context, call, forwarding }: SentCall,
  end: ExchangeEnd,
  deps: ForwardDeps,
): Promise<Reply | null> {
  const { fault } = end
  const route = call.route.name
  if (fault === null) return null
  if (fault === 'CLIENT_ABORT') {
    deps.metrics.count('preflight_client_aborts_total', { route })
    return null
  }
  if (fault === 'EGRESS_DENIED') {
    const denial = end.cause instanceof EgressDenied ? end.cause.denial : null
    if (denial !== null) await deps.egressDenied(call, denial)
    return faultReply(
      context,
      { code: fault, message: denial?.message, headers: forwarding.headers },
      forwarding.recogniser,
      call,
    )
  }
  deps.metrics.count('preflight_upstream_errors_total', { route, code: fault })
  deps.logger.warn(
    { event: 'upstream.failed', correlation_id: call.correlationId, route, code: fault, err: end.cause },
    'upstream failed',
  )
  const isLate = end.isAnswered || fault === 'UPSTREAM_RESET' || fault === 'UPSTREAM_SILENT'
  return isLate ? null : faultReply(context, { code: fault, headers: forwarding.headers }, forwarding.recogniser, call)
}
