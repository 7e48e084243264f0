/** Sends a call to its upstream and its answer back, with the receipts it goes under, and says how it ended. */
import { EgressDenied, type EgressDenial } from '../upstream/egress-policy.ts'
import type { Recogniser } from '../protocols/common/action.ts'
import { protocolSettings } from '../protocols/settings.ts'
import type { AnswerWatcher } from '../calls/answer.ts'
import type { Call } from '../calls/call.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { SHORT_BODY, type Bodies, type ReadBody } from '../listen/bodies.ts'
import { startExchange, type Exchange, type ExchangeEnd } from '../upstream/exchange.ts'
import { isGrpc } from '../network/grpc-media-type.ts'
import { attachedTokens, sentHead, takesTrailers, type SentHead } from '../upstream/headers.ts'
import { answerStream, inviteBody, isWaiting, sendFault, type RequestContext } from '../listen/request-context.ts'
import type { Tunnels } from '../upstream/tunnel.ts'
import { goesByHttp2, type UpstreamRoute, type Upstreams } from '../upstream/pools.ts'
import type { DecisionVerdict, ReceiptVerdict } from './verdict-cache.ts'

/** A call on its way out: of its route only what says how to reach the upstream. */
export type OutgoingCall = Omit<Call, 'route'> & { readonly route: UpstreamRoute }

/** How a call goes through. */
export interface Passage {
  /** Whose receipts go with it. */
  readonly verdicts: readonly (DecisionVerdict | ReceiptVerdict)[]
  /** Added to the answer: name, value, name, value … */
  readonly headers: readonly string[]
  readonly watcher: AnswerWatcher | null
  readonly isStanding: boolean
  /** How its client is told of a fault; null: no route is known. */
  readonly recogniser: Pick<Recogniser, 'tell'> | null
}

export interface ForwardDeps {
  readonly bodies: Bodies
  readonly upstreams: Upstreams
  /** Where connections go that have switched to another protocol. */
  readonly tunnels: Pick<Tunnels, 'open'>
  /** Streams without end, to be broken off when the proxy stops. */
  readonly standing: Set<Exchange>
  /** A destination that a call named resolves to an address that egress does not let through. Never rejects. */
  readonly egressDenied: (call: OutgoingCall, denial: EgressDenial) => Promise<void>
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Never rejects. */
export async function forward(
  trip: RequestContext,
  call: OutgoingCall,
  passage: Passage,
  deps: ForwardDeps,
): Promise<ExchangeEnd> {
  const reading = call.body === null && trip.upgrade === null ? readShortBody(trip, deps) : null
  const read = reading === null ? null : await reading
  // Nothing of the call has gone out: the exchange finds the client disconnected.
  if (read?.ok === false) trip.request.destroy()
  const body = read?.ok === true ? read.body : call.body
  const exchange = startExchange({
    dispatcher: deps.upstreams.dispatcherOf(call, trip.upgrade !== null),
    path: call.upstreamPath,
    request: trip.request,
    response: answerStream(trip),
    headers: requestHeaders(call, passage),
    body,
    ownHeaders: passage.headers,
    watcher: passage.watcher,
    // An upstream that is away is told of before the body is asked for.
    onSending: body === null && isWaiting(trip) ? () => inviteBody(trip) : null,
    upgrade: trip.upgrade,
    tunnels: deps.tunnels,
  })
  if (passage.isStanding) deps.standing.add(exchange)
  const end = await exchange.done
  if (passage.isStanding) deps.standing.delete(exchange)
  if (end.fault !== null) await reportFault(trip, call, passage, end, deps)
  return end
}

/** A short body of known length costs less as one piece than as a stream; null: it streams, or there is none. */
function readShortBody(trip: RequestContext, { bodies }: ForwardDeps): Promise<ReadBody> | null {
  const { request } = trip
  const length = request.headers['content-length']
  if (length === undefined || Number(length) > SHORT_BODY) return null
  inviteBody(trip)
  return bodies.read(request, SHORT_BODY)
}

/** The head of a request as it will leave: known before it is judged. */
export function headOf(
  { request, correlationId, upgrade }: Pick<RequestContext, 'request' | 'correlationId' | 'upgrade'>,
  { entrance, origin, route }: Pick<OutgoingCall, 'entrance' | 'origin' | 'route'>,
): SentHead {
  const { headers } = request
  // Servers of gRPC ask for it: they have proxies in mind that lose trailers.
  const carriesTrailers = isGrpc(headers) || (takesTrailers(headers) && goesByHttp2({ headers, route }))
  return sentHead(request, {
    entrance,
    origin,
    correlationId,
    peer: request.socket.remoteAddress ?? 'unknown',
    proto: 'http',
    upgrade: upgrade?.protocol ?? null,
    readsAnswer: protocolSettings(route.protocol).readsAnswers === true,
    carriesTrailers,
  })
}

function requestHeaders({ rawHeaders }: OutgoingCall, { verdicts }: Passage): string[] {
  const headers = [...rawHeaders]
  for (const token of attachedTokens(verdicts)) headers.push('Preflight-Receipt', token)
  const [only, ...others] = verdicts
  if (only !== undefined && others.length === 0 && only.envelopeHeader !== null) {
    headers.push('Preflight-Decision', only.envelopeHeader)
  }
  return headers
}

async function reportFault(
  trip: RequestContext,
  call: OutgoingCall,
  passage: Passage,
  end: ExchangeEnd,
  deps: ForwardDeps,
): Promise<void> {
  const { fault } = end
  const route = call.route.name
  if (fault === null) return
  if (fault === 'CLIENT_ABORT') {
    deps.metrics.count('preflight_client_aborts_total', { route })
    return
  }
  if (fault === 'EGRESS_DENIED') {
    const denial = end.cause instanceof EgressDenied ? end.cause.denial : null
    if (denial !== null) await deps.egressDenied(call, denial)
    return sendFault(
      trip,
      { code: fault, message: denial?.message, headers: passage.headers },
      passage.recogniser,
      call,
    )
  }
  deps.metrics.count('preflight_upstream_errors_total', { route, code: fault })
  deps.logger.warn(
    { event: 'upstream.failed', correlation_id: call.correlationId, route, code: fault, err: end.cause },
    'upstream failed',
  )
  if (!end.isAnswered && fault !== 'UPSTREAM_RESET' && fault !== 'UPSTREAM_SILENT')
    sendFault(trip, { code: fault, headers: passage.headers }, passage.recogniser, call)
}
