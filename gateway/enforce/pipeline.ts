/**
 * The road of an intercepted call, as the design draws it: intercept → (gather → analyze → decide → record) → enforce → observe.
 * Every stage is one function; a stage that fails ends in an answer that is not a forwarded call.
 */
import type { Action, JudgedAction, PassingAction, Recogniser, RefusedAction } from '../protocols/common/action.ts'
import type { AnswerWatcher } from '../calls/answer.ts'
import type { Subject } from '../calls/subject.ts'
import type { Call, CallHead } from '../calls/call.ts'
import type { Recognisers } from '../protocols/registry.ts'
import type { ExecutionResult } from '../telemetry/events.ts'
import { SHORT_BODY, type BodyFault } from '../listen/bodies.ts'
import type { ExchangeEnd } from '../upstream/exchange.ts'
import { forward, headOf, type ForwardDeps, type Passage } from './forward.ts'
import { callerOn } from '../callers/proxy-auth.ts'
import { coversUpgrade, letOn, NO_READING, unjudgedUpgrade } from './refusals.ts'
import { HeldStream } from '../listen/pending-stream.ts'
import { settleCall, type Settlement, type SettlementDeps } from './enforcement.ts'
import type { RouteMatch } from '../routing/target.ts'
import { inviteBody, sendAnswer, sendFault, type RequestContext } from '../listen/request-context.ts'
import type { Upgrade } from '../upstream/upgrade.ts'
import type { Waiting } from './pending-calls.ts'

export interface RoadDeps extends SettlementDeps, ForwardDeps {
  readonly recognisers: Recognisers
}

/** Sends one request down the road; resolves when its answer is out and its outcome known. */
export async function travel(trip: RequestContext, match: RouteMatch, deps: RoadDeps): Promise<void> {
  const recogniser = deps.recognisers[match.route.protocol]
  const intercepted = intercept(trip, match, recogniser, deps)
  const call = intercepted instanceof Promise ? await intercepted : intercepted
  if (call === null) return
  const recognised = recogniser.recognise(call)
  const read = recognised instanceof Promise ? await recognised : recognised
  const action = read.kind === 'refuse' ? (letOn(call, read, deps) ?? read) : read
  if (action.kind === 'refuse') return refuseUnread(trip, call, action, deps)
  if (trip.upgrade !== null && !coversUpgrade(call, action)) {
    if (call.route.mode === 'enforce') return refuseUpgrade(trip, call, action, trip.upgrade, deps)
    deps.metrics.count('preflight_observed_calls_total', { route: call.route.name, would: 'stopped' })
  }
  if (action.kind === 'pass') return pass(trip, call, action, deps)
  const waiting = new ClientWaiting(trip, action)
  const settlement = await settleCall(call, action, trip.settings, waiting, deps)
  await enforce(waiting.trip, call, action, settlement, deps)
}

/** Request → Call, with its body where the protocol needs it: a promise then. Null: already answered, or the client has gone. */
function intercept(
  trip: RequestContext,
  match: RouteMatch,
  recogniser: Recogniser,
  deps: RoadDeps,
): Call | Promise<Call | null> {
  const { request, correlationId } = trip
  const { method = 'GET' } = request
  const { entrance, route, origin, upstreamPath } = match
  const { upgrade } = trip
  const caller = callerOn(route, trip.caller)
  const { headers, rawHeaders } = headOf(trip, match)
  const body = upgrade === null ? null : NO_BODY
  // Written out: what is spread here takes the slow way through the engine at every call.
  const call: Call = {
    correlationId,
    caller,
    entrance,
    route,
    origin,
    method,
    headers,
    rawHeaders,
    received: request,
    upstreamPath,
    body,
  }
  return upgrade !== null || !recogniser.needsBody(call) ? call : withBody(call, trip, recogniser, deps)
}

async function withBody(
  call: Call,
  trip: RequestContext,
  recogniser: Recogniser,
  deps: RoadDeps,
): Promise<Call | null> {
  const limit = trip.settings.config.limits.proxied_body
  if (Number(call.received.headers['content-length'] ?? 0) <= limit) inviteBody(trip)
  const read = await deps.bodies.read(trip.request, limit)
  if (!read.ok) {
    refuseBody(trip, call, read.why, recogniser, deps)
    return null
  }
  if (read.body.length > SHORT_BODY) keepUntilAnswered(read.body, trip, deps)
  return { ...call, body: read.body }
}

function refuseBody(
  trip: RequestContext,
  head: CallHead,
  why: BodyFault,
  recogniser: Recogniser,
  { metrics }: RoadDeps,
): void {
  const { name: route } = head.route
  if (why === 'aborted') return metrics.count('preflight_client_aborts_total', { route })
  metrics.count('preflight_calls_total', { route, outcome: 'refused' })
  sendFault(trip, bodyFault(why, trip), recogniser, { headers: head.headers, body: null })
}

function bodyFault(why: Exclude<BodyFault, 'aborted'>, { settings }: RequestContext) {
  if (why === 'overloaded') return { code: 'OVERLOADED', message: NO_ROOM, headers: ['Retry-After', '1'] } as const
  if (why === 'too_slow')
    return { code: 'REQUEST_TIMEOUT', message: TOO_SLOW, headers: ['Connection', 'close'] } as const
  const limit = settings.config.limits.proxied_body
  const message = `A call on this route must be read to be judged, and is refused past ${limit} bytes.`
  return { code: 'PAYLOAD_TOO_LARGE', message } as const
}

const TOO_SLOW = 'The body did not come in time.'
const NO_ROOM = 'The bodies of the calls under way take all the memory there is for them; send it again in a moment.'

function keepUntilAnswered(body: Buffer, { response }: RequestContext, { bodies }: RoadDeps): void {
  if (response.destroyed) bodies.release(body)
  else response.once('close', () => bodies.release(body))
}

const NO_BODY = Buffer.alloc(0)

function refuseUnread(trip: RequestContext, call: Call, { answer, why }: RefusedAction, deps: RoadDeps): void {
  deps.metrics.count('preflight_calls_total', { route: call.route.name, outcome: 'refused' })
  deps.logger.warn(
    { event: 'call.refused', correlation_id: call.correlationId, route: call.route.name },
    `a request was refused: ${why ?? NO_READING}`,
  )
  sendAnswer(trip, answer)
}

function refuseUpgrade(
  trip: RequestContext,
  call: Call,
  action: JudgedAction | PassingAction,
  { protocol }: Upgrade,
  deps: RoadDeps,
): void {
  const { correlationId, route } = call
  deps.metrics.count('preflight_calls_total', { route: route.name, outcome: 'refused' })
  deps.logger.warn(
    { event: 'proxy.upgrade_refused', correlation_id: correlationId, route: route.name, protocol },
    'upgrade refused',
  )
  const { answer, headers } = unjudgedUpgrade(call, action, protocol)
  sendAnswer(trip, answer, headers)
}

async function pass(
  trip: RequestContext,
  call: Call,
  action: Extract<Action, { readonly kind: 'pass' }>,
  deps: RoadDeps,
): Promise<void> {
  deps.metrics.count('preflight_calls_total', { route: call.route.name, outcome: 'passed' })
  const passage: Passage = {
    verdicts: [],
    headers: ['X-Correlation-ID', call.correlationId],
    watcher: action.watch(null),
    isStanding: action.isStanding,
    recogniser: deps.recognisers[call.route.protocol],
  }
  await forward(trip, call, passage, deps)
}

/** Forward what may go on, then observe; answer what may not. */
async function enforce(
  trip: RequestContext,
  call: Call,
  action: JudgedAction,
  settlement: Settlement,
  deps: RoadDeps,
): Promise<void> {
  if (settlement.kind === 'gone') return
  if (settlement.kind === 'halt') return sendAnswer(trip, settlement.answer, settlement.headers)
  const { headers, watches, verdicts } = settlement
  const watcher = action.watch(settlement)
  const passage: Passage = {
    verdicts: call.route.receipts.attach ? verdicts : [],
    headers,
    watcher,
    isStanding: false,
    recogniser: deps.recognisers[call.route.protocol],
  }
  const end = await forward(trip, call, passage, deps)
  for (const { subject, watch } of watches) await watch.finish(resultFor(subject, end, watcher))
}

/** Of a request that asks for several things the answer may tell what came of each; what broke it off speaks for those that it left out. */
function resultFor(subject: Subject, end: ExchangeEnd, watcher: AnswerWatcher | null): ExecutionResult {
  if (watcher?.outcomeOf === undefined) return end
  const told = watcher.outcomeOf(subject)
  if (told !== null) return { ...end, outcome: told }
  const isBroken = end.fault !== null || (end.status ?? 0) >= 400
  return isBroken ? end : { ...end, outcome: 'UNKNOWN' }
}

/** The client's connection while its call is held. Plain HTTP has no sign of life to give; an event stream begins with the wait. */
class ClientWaiting implements Waiting {
  readonly #trip: RequestContext
  readonly #action: JudgedAction
  #held: HeldStream | null = null

  constructor(trip: RequestContext, action: JudgedAction) {
    this.#trip = trip
    this.#action = action
  }

  /** The trip as it goes on after the wait. */
  get trip(): RequestContext {
    return this.#held === null ? this.#trip : { ...this.#trip, held: this.#held }
  }

  get isGone(): boolean {
    return this.#trip.response.destroyed
  }

  onGone(listener: () => void): () => void {
    const { response } = this.#trip
    response.on('close', listener)
    return () => response.off('close', listener)
  }

  begin(headers: readonly string[]): void {
    const answer = this.#action.heldAnswer?.() ?? null
    if (answer !== null && this.#held === null) this.#held = new HeldStream(this.#trip.response, answer, headers)
  }

  keepAlive(): void {
    this.#held?.sign()
  }
}
