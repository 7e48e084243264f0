/**
 * The pipeline of an intercepted call: intercept → (gather → analyze → decide → record) → enforce → observe. Every
 * stage is one function; a stage that fails ends in an answer instead of a forwarded call.
 */
import type { Action, JudgedAction, PassingAction, Recogniser, RefusedAction } from '../protocols/common/action.ts'
import type { AnswerWatcher } from '../calls/answer.ts'
import type { JudgedResource } from '../calls/judged-resource.ts'
import type { Call, CallHead } from '../calls/call.ts'
import type { Recognisers } from '../protocols/registry.ts'
import type { ExecutionResult } from '../telemetry/events.ts'
import { SHORT_BODY, type BodyFault } from '../listen/bodies.ts'
import { forward, sentHeadOf, type ForwardDeps, type Forwarding } from './forward.ts'
import { joinStatedTrace } from '../protocols/mcp/meta-trace.ts'
import { callerOn } from '../callers/proxy-auth.ts'
import { coversUpgrade, letOn, NO_READING, unjudgedUpgrade } from './refusals.ts'
import { PendingStream } from '../listen/pending-stream.ts'
import { enforceCall, isOutdated, type EnforcementDeps, type ForwardResult } from './enforcement.ts'
import { closeUnsent } from './resource-watches.ts'
import { sendCheck } from './send-check.ts'
import type { RouteMatch } from '../routing/target.ts'
import {
  faultReply,
  inviteBody,
  isWaiting,
  keepShortBody,
  neverHeld,
  shortBodyOf,
  type HoldState,
  type Readmission,
  type Reply,
  type RequestContext,
} from '../listen/request-context.ts'
import type { Upgrade } from '../upstream/upgrade.ts'
import type { PendingWait } from './pending-calls.ts'
import { hasBody } from '../protocols/common/request-line.ts'
import { hasLeft, onLeaving } from '../network/client-left.ts'

export interface PipelineDeps extends EnforcementDeps, ForwardDeps {
  readonly recognisers: Recognisers
}

/**
 * Runs the pipeline for one request; resolves when it is forwarded and the outcome known, or with what answers it. Null:
 * nothing is left to answer. A request that would be forwarded under settings of the past is admitted again.
 */
export async function runPipeline(
  context: RequestContext,
  match: RouteMatch,
  deps: PipelineDeps,
): Promise<Reply | Readmission | null> {
  const { observation } = context
  observation.route = match.route.name
  observation.protocol = match.route.protocol
  observation.origin = match.origin
  const recogniser = deps.recognisers[match.route.protocol]
  const intercepted = intercept(context, match, recogniser, deps)
  const complete = intercepted instanceof Promise ? await intercepted : intercepted
  if (complete === null || 'answer' in complete) return complete
  const call = inStatedTrace(complete, context, match, deps)
  const recognised = recogniser.recognise(call)
  const read = recognised instanceof Promise ? await recognised : recognised
  const action = read.kind === 'refuse' ? (letOn(call, read, deps) ?? read) : read
  if (action.kind === 'refuse') return refuseUnread(context, call, action, deps)
  if (context.upgrade !== null && !coversUpgrade(call, action)) {
    if (call.route.mode === 'enforce') return refuseUpgrade(context.upgrade, { context, call, action }, deps)
    deps.metrics.count('preflight_observed_calls_total', { route: call.route.name, would: 'stopped' })
  }
  if (action.kind === 'pass') {
    if (isOutdated(context.settings, deps)) return readmission(context, call, context.held)
    return await pass(context, call, action, deps)
  }
  const waiting = new ClientWaiting(context, action)
  const begun = performance.now()
  try {
    const result = await enforceCall({ call, action, settings: context.settings }, waiting, deps)
    if (result.kind === 'gone') return null
    if (result.kind === 'readmit') return readmission(waiting.context, call, waiting.held)
    if (result.kind === 'halt')
      return { answer: result.answer, headers: result.headers, pendingStream: waiting.context.pendingStream }
    // A promise that is awaited costs one turn of the queue; one that is returned costs three.
    return await forwardJudged(waiting, { call, action, result, begun }, deps)
  } finally {
    waiting.end()
  }
}

/** The request is admitted again, with what is known of it. */
export function readmission(
  { pendingStream }: RequestContext,
  { body }: Pick<Call, 'body'>,
  held = neverHeld(),
): Readmission {
  return { kept: { body, held, ...(pendingStream !== undefined && { pendingStream }) } }
}

/** Request → Call. A promise where the protocol needs the body. Null: the client disconnected. */
function intercept(
  context: RequestContext,
  match: RouteMatch,
  recogniser: Recogniser,
  deps: PipelineDeps,
): Call | Promise<Call | Reply | null> {
  const { request, observation } = context
  const { correlationId } = observation
  const { method = 'GET' } = request
  const { trafficPath, route, origin, upstreamPath } = match
  const { upgrade } = context
  const caller = callerOn(route, context.caller)
  const { headers, rawHeaders } = sentHeadOf(context, match)
  const body = upgrade === null ? (context.body ?? null) : NO_BODY
  // Written out: an object spread is slower, and this runs at every call.
  const call: Call = {
    correlationId,
    observation,
    caller,
    trafficPath,
    route,
    origin,
    method,
    headers,
    rawHeaders,
    received: request,
    upstreamPath,
    body,
  }
  if (body !== null) return call
  if (recogniser.needsBody(call) || recogniser.usesBody?.(call) === true) return withBody(call, context, deps)
  if (!hasBody(request.headers)) return call
  if (isShortOnItsWay(context)) return withShortBody(call, context, recogniser, deps)
  return recogniser.needsBodyFrom === undefined ? call : withBodyByStart(call, context, recogniser, deps)
}

/** A short body of known length costs less in one piece than as a stream. A client that waits to be asked sends a stream. */
function isShortOnItsWay(context: RequestContext): boolean {
  const { 'content-length': length } = context.request.headers
  return length !== undefined && Number(length) <= SHORT_BODY && !isWaiting(context)
}

/** It is read before the judgement: what was judged would be sent minutes later otherwise, by what held then. */
async function withShortBody(
  call: Call,
  context: RequestContext,
  recogniser: Recogniser,
  deps: PipelineDeps,
): Promise<Call | Reply | null> {
  const { request } = context
  const known = shortBodyOf(request)
  const read = known === null ? await deps.bodies.read(request, SHORT_BODY) : { ok: true as const, body: known }
  if (!read.ok) return refuseBody(context, call, read.why, deps)
  if (recogniser.needsBodyFrom?.(call, read.body) === true) return { ...call, body: read.body }
  keepShortBody(request, read.body)
  return call
}

/** The first bytes of a body decide whether all of it is read, or streams. */
async function withBodyByStart(
  call: Call,
  context: RequestContext,
  recogniser: Recogniser,
  deps: PipelineDeps,
): Promise<Call | Reply | null> {
  inviteBody(context)
  const start = await deps.bodies.start(context.request)
  if (!start.ok) return refuseBody(context, call, start.why, deps)
  if (start.body.length === 0) return { ...call, body: NO_BODY }
  return recogniser.needsBodyFrom?.(call, start.body) === true ? withBody(call, context, deps) : call
}

/** A trace that the body names: the call and the head that is sent name it, as if a field had named it. */
function inStatedTrace(call: Call, context: RequestContext, match: RouteMatch, { observer }: PipelineDeps): Call {
  if (!joinStatedTrace(call, observer)) return call
  return { ...call, correlationId: call.observation.correlationId, ...sentHeadOf(context, match) }
}

function withBody(call: Call, context: RequestContext, deps: PipelineDeps): Call | Promise<Call | Reply | null> {
  const known = shortBodyOf(context.request)
  if (known !== null) return { ...call, body: known }
  const limit = context.settings.config.limits.proxied_body
  if (Number(call.received.headers['content-length'] ?? 0) <= limit) inviteBody(context)
  return deps.bodies.read(context.request, limit).then((read) => {
    if (!read.ok) return refuseBody(context, call, read.why, deps)
    if (read.body.length > SHORT_BODY) keepUntilAnswered(read.body, context, deps)
    return { ...call, body: read.body }
  })
}

function refuseBody(
  context: RequestContext,
  head: CallHead,
  why: BodyFault,
  { metrics, recognisers }: PipelineDeps,
): Reply | null {
  const { name: route, protocol } = head.route
  if (why === 'aborted') {
    metrics.count('preflight_client_aborts_total', { route })
    return null
  }
  context.observation.outcome = 'refused'
  metrics.count('preflight_calls_total', { route, outcome: 'refused' })
  return faultReply(context, bodyFault(why, context), recognisers[protocol], { headers: head.headers, body: null })
}

function bodyFault(why: Exclude<BodyFault, 'aborted'>, { settings }: RequestContext) {
  if (why === 'overloaded') return { code: 'OVERLOADED', message: NO_ROOM } as const
  if (why === 'too_slow')
    return { code: 'REQUEST_TIMEOUT', message: TOO_SLOW, headers: ['Connection', 'close'] } as const
  const limit = settings.config.limits.proxied_body
  const message = `A call on this route must be read to be judged, and is refused past ${limit} bytes.`
  return { code: 'PAYLOAD_TOO_LARGE', message } as const
}

const TOO_SLOW = 'The body did not come in time.'
const NO_ROOM =
  'The bodies of the calls under way take all the memory that they may use. Send the request again in a moment.'

function keepUntilAnswered(body: Buffer, { response }: RequestContext, { bodies }: PipelineDeps): void {
  if (response.destroyed) bodies.release(body)
  else response.once('close', () => bodies.release(body))
}

const NO_BODY = Buffer.alloc(0)

function refuseUnread(context: RequestContext, call: Call, { answer, why }: RefusedAction, deps: PipelineDeps): Reply {
  context.observation.outcome = 'refused'
  deps.metrics.count('preflight_calls_total', { route: call.route.name, outcome: 'refused' })
  deps.logger.warn(
    { event: 'call.refused', correlation_id: call.correlationId, route: call.route.name },
    `a request was refused: ${why ?? NO_READING}`,
  )
  return { answer, headers: [], pendingStream: context.pendingStream }
}

interface UncoveredCall {
  readonly context: RequestContext
  readonly call: Call
  readonly action: JudgedAction | PassingAction
}

function refuseUpgrade({ protocol }: Upgrade, { context, call, action }: UncoveredCall, deps: PipelineDeps): Reply {
  const { correlationId, route } = call
  context.observation.outcome = 'refused'
  deps.metrics.count('preflight_calls_total', { route: route.name, outcome: 'refused' })
  deps.logger.warn(
    { event: 'proxy.upgrade_refused', correlation_id: correlationId, route: route.name, protocol },
    'upgrade refused',
  )
  return unjudgedUpgrade(call, action, protocol)
}

async function pass(
  context: RequestContext,
  call: Call,
  action: Extract<Action, { readonly kind: 'pass' }>,
  deps: PipelineDeps,
): Promise<Reply | Readmission | null> {
  context.observation.outcome = 'passed'
  deps.metrics.count('preflight_calls_total', { route: call.route.name, outcome: 'passed' })
  const forwarding: Forwarding = {
    verdicts: [],
    headers: ['X-Correlation-ID', call.correlationId],
    watcher: action.watch(null),
    isStanding: action.isStanding,
    maySend: () => !isOutdated(context.settings, deps),
    recogniser: deps.recognisers[call.route.protocol],
  }
  const forwarded = await forward(context, call, forwarding, deps)
  return forwarded === null ? readmission(context, call, context.held) : forwarded.reply
}

interface AllowedCall {
  readonly call: Call
  readonly action: JudgedAction
  readonly result: ForwardResult
  /** When its judgement began, as `performance.now()`. */
  readonly begun: number
}

/** Forwards an allowed call, then observes it. Until a connection takes it, the client can cancel it. */
async function forwardJudged(
  waiting: ClientWaiting,
  { call, action, result, begun }: AllowedCall,
  deps: PipelineDeps,
): Promise<Reply | Readmission | null> {
  const { context } = waiting
  const { headers, watches, verdicts } = result
  const watcher = action.watch(result)
  const forwarding: Forwarding = {
    verdicts: call.route.receipts.attach ? verdicts : [],
    headers,
    watcher,
    isStanding: false,
    maySend: sendCheck({ call, action, settings: context.settings, result, held: waiting.held, begun }, deps),
    onSending: () => waiting.end(),
    recogniser: deps.recognisers[call.route.protocol],
  }
  const forwarded = await forward(context, call, forwarding, deps)
  if (forwarded === null) {
    await closeUnsent(watches)
    return readmission(context, call, waiting.held)
  }
  const { end, reply } = forwarded
  if (watches.length === 0) return reply
  const observe = async (): Promise<void> => {
    for (const { resource, watch } of watches) await watch.finish(resultFor(resource, end, watcher))
  }
  // The client of a call that failed does not wait for what is written of it.
  if (reply !== null) return { ...reply, afterwards: observe }
  await observe()
  return null
}

/** A batch answer may report each item. Items that it does not mention get the outcome of the connection. */
export function resultFor(
  resource: JudgedResource,
  end: ExecutionResult,
  watcher: AnswerWatcher | null,
): ExecutionResult {
  if (watcher?.outcomeOf === undefined) return end
  const outcome = watcher.outcomeOf(resource)
  if (outcome !== null) return { ...end, outcome: outcome }
  const isBroken = (end.fault ?? null) !== null || (end.status ?? 0) >= 400
  return isBroken ? end : { ...end, outcome: 'UNKNOWN' }
}

/**
 * The client's connection until its call is forwarded. Plain HTTP has no sign of life while the call is pending; an event
 * stream begins with the wait.
 */
class ClientWaiting implements PendingWait {
  readonly held: HoldState
  readonly #context: RequestContext
  readonly #action: JudgedAction
  #pendingStream: PendingStream | null
  readonly #stopListening: (() => void) | null

  constructor(context: RequestContext, action: JudgedAction) {
    this.#context = context
    this.#action = action
    // As if the client had disconnected: nobody waits for its answer.
    this.#stopListening = action.onCancelled?.(() => void context.response.destroy()) ?? null
    this.#pendingStream = context.pendingStream ?? null
    this.held = context.held ?? neverHeld()
  }

  /** The request context after the wait. */
  get context(): RequestContext {
    return this.#pendingStream === null ? this.#context : { ...this.#context, pendingStream: this.#pendingStream }
  }

  get isGone(): boolean {
    const { request, response } = this.#context
    return response.destroyed || hasLeft(request)
  }

  onGone(listener: () => void): () => void {
    return onLeaving(this.#context.response, listener)
  }

  begin(headers: readonly string[]): void {
    const answer = this.#action.pendingAnswer?.() ?? null
    if (answer !== null && this.#pendingStream === null)
      this.#pendingStream = new PendingStream(this.#context.response, answer, headers)
  }

  keepAlive(): void {
    this.#pendingStream?.sign()
  }

  /** The call is sent or answered: from then on a cancellation is for the server. */
  end(): void {
    this.#stopListening?.()
  }
}
