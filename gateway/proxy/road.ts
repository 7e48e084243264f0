/**
 * The road of an intercepted call, as the design draws it: intercept → (gather → analyze → decide) → record → enforce → observe.
 * Every stage is one function; a stage that fails ends in an answer that is not a forwarded call.
 */
import { performance } from 'node:perf_hooks'
import type { ExecutionAction } from '../../engine/index.ts'
import { approvalAddress } from '../approvals/request.ts'
import { ERRORS } from '../errors.ts'
import type { Action, Answer, Call, CallHead, JudgedAction, Recogniser, Refusal } from '../intercept/action.ts'
import type { Recognisers } from '../intercept/recognisers.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Monitoring } from '../telemetry/monitoring.ts'
import { readBody } from './body.ts'
import { forward, type ForwardDeps, type Passage } from './forward.ts'
import { judge, undecided, type JudgeDeps, type Judgement } from './judge.ts'
import type { RouteMatch } from './target.ts'
import { inviteBody, sendAnswer, sendError, type Trip } from './trip.ts'

export interface RoadDeps extends JudgeDeps, ForwardDeps {
  readonly recognisers: Recognisers
  readonly store: Pick<Store, 'recordInterception'>
  readonly monitoring: Pick<Monitoring, 'open' | 'finish'>
  readonly metrics: Metrics
  readonly logger: Logger
  readonly now: () => number
}

/** Sends one request down the road; resolves when its answer is out and its outcome known. */
export async function travel(trip: Trip, match: RouteMatch, deps: RoadDeps): Promise<void> {
  const recogniser = deps.recognisers[match.route.protocol]
  const call = await intercept(trip, match, recogniser, deps)
  if (call === null) return
  const action = recogniser.recognise(call)
  if (action.kind === 'refuse') return refuseUnread(trip, call, action.answer, deps)
  if (action.kind === 'pass') return pass(trip, call, action, deps)
  const startedAt = performance.now()
  const judgement = await recorded(call, action, await judge(call, action, trip.settings, deps), deps)
  const { name: route } = call.route
  deps.metrics.observe('preflight_call_decision_seconds', { route }, (performance.now() - startedAt) / 1000)
  await enforce(trip, call, action, judgement, deps)
}

/** Request → Call, with its body where the protocol needs it. Null: already answered, or the client has gone. */
async function intercept(trip: Trip, match: RouteMatch, recogniser: Recogniser, deps: RoadDeps): Promise<Call | null> {
  const { request, correlationId } = trip
  const { headers, rawHeaders, method = 'GET' } = request
  const head: CallHead = { ...match, correlationId, caller: trip.caller, method, headers, rawHeaders }
  let body: Buffer | null = null
  if (recogniser.needsBody(head)) {
    const limit = trip.settings.config.limits.proxied_body
    if (Number(request.headers['content-length'] ?? 0) <= limit) inviteBody(trip)
    const read = await readBody(request, limit)
    if (!read.ok) {
      const outcome = read.why === 'aborted' ? 'aborted' : 'refused'
      if (outcome === 'aborted') deps.metrics.count('preflight_client_aborts_total', { route: match.route.name })
      else {
        deps.metrics.count('preflight_calls_total', { route: match.route.name, outcome })
        sendError(
          trip,
          'PAYLOAD_TOO_LARGE',
          `A call on this route must be read to be judged, and is refused past ${limit} bytes.`,
        )
      }
      return null
    }
    body = read.body
  }
  return { ...head, body }
}

function refuseUnread(trip: Trip, call: Call, answer: Answer, deps: RoadDeps): void {
  deps.metrics.count('preflight_calls_total', { route: call.route.name, outcome: 'refused' })
  deps.logger.warn(
    { correlation_id: call.correlationId, route: call.route.name },
    'a request was refused: it has no single reading',
  )
  sendAnswer(trip, answer)
}

async function pass(
  trip: Trip,
  call: Call,
  action: Extract<Action, { readonly kind: 'pass' }>,
  deps: RoadDeps,
): Promise<void> {
  deps.metrics.count('preflight_calls_total', { route: call.route.name, outcome: 'passed' })
  const passage: Passage = {
    verdicts: [],
    headers: ['X-Correlation-ID', call.correlationId],
    watcher: action.watch(false),
    isStanding: action.isStanding,
  }
  await forward(trip, call, passage, deps)
}

/** The call's own row, before its effect (design.md, law 3). A row that cannot be written means that nothing was decided. */
async function recorded(call: Call, action: JudgedAction, judgement: Judgement, deps: RoadDeps): Promise<Judgement> {
  const shared = {
    correlationId: call.correlationId,
    route: call.route.name,
    protocol: call.route.protocol,
    enforced: call.route.mode === 'enforce',
    at: deps.now(),
  }
  try {
    if (judgement.kind === 'undecided') {
      await deps.store.recordInterception({ ...shared, action: action.name, decisionId: null, executionAction: 'STOP' })
      return judgement
    }
    for (const { subject, verdict } of judgement.verdicts) {
      const { decisionId, action: executionAction } = verdict
      await deps.store.recordInterception({ ...shared, action: subject.name, decisionId, executionAction })
    }
    return judgement
  } catch (error) {
    return judgement.kind === 'undecided' ? judgement : undecided(error)
  }
}

/** Forward, hold or stop; then, for what was forwarded, observe. */
async function enforce(
  trip: Trip,
  call: Call,
  action: JudgedAction,
  judgement: Judgement,
  deps: RoadDeps,
): Promise<void> {
  if (judgement.kind === 'undecided') return enforceUndecided(trip, call, action, judgement, deps)
  const { governing } = judgement
  const isObserving = call.route.mode === 'observe'
  if (!MAY_PROCEED[governing.verdict.action] && !isObserving) return stop(trip, call, action, judgement, deps)
  const isMonitored = governing.verdict.action === 'CONTINUE_WITH_MONITORING'
  if (isMonitored && !(await openWindow(call, governing.verdict.decisionId, deps)) && !isObserving) {
    return stopUnmonitored(trip, call, action, judgement, deps)
  }
  const outcome = MAY_PROCEED[governing.verdict.action] ? 'forwarded' : 'observed'
  count(call, outcome, deps)
  const end = await forward(trip, call, passageOf(call, action, judgement, isMonitored), deps)
  if (isMonitored) await deps.monitoring.finish(call.correlationId, end)
}

/** The closed set of directives; one that is not known here is not permission (interface.md, cross-field rule 4). */
const MAY_PROCEED: Readonly<Record<ExecutionAction, boolean>> = {
  CONTINUE: true,
  CONTINUE_WITH_MONITORING: true,
  REQUEST_APPROVAL: false,
  STOP: false,
}

function passageOf(call: Call, action: JudgedAction, judgement: Decided, isMonitored: boolean): Passage {
  const { verdicts, governing } = judgement
  return {
    verdicts: call.route.receipts.attach
      ? verdicts.map(({ verdict }) => verdict).filter(({ action }) => MAY_PROCEED[action])
      : [],
    headers: decisionHeaders(call, governing.verdict.action, governing.verdict.decisionId),
    watcher: action.watch(isMonitored),
    isStanding: false,
  }
}

type Decided = Extract<Judgement, { readonly kind: 'decided' }>

/** False when nothing takes the telemetry, or the window cannot be made durable: then the call does not go on. */
async function openWindow(call: Call, decisionId: string, deps: RoadDeps): Promise<boolean> {
  const { correlationId, route, caller } = call
  try {
    return await deps.monitoring.open({ correlationId, decisionId, route: route.name, tenant: caller.tenant })
  } catch (error) {
    deps.logger.error({ err: error, correlation_id: correlationId }, 'a monitoring window could not be opened')
    return false
  }
}

function stop(trip: Trip, call: Call, action: JudgedAction, judgement: Decided, deps: RoadDeps): void {
  const { subject, verdict } = judgement.governing
  const isHeld = verdict.action === 'REQUEST_APPROVAL'
  const code = isHeld ? 'PREFLIGHT_APPROVAL_REQUIRED' : 'PREFLIGHT_STOP'
  const message = `Preflight ${isHeld ? 'holds' : 'stopped'} ${subject.name}: ${verdict.envelope.summary}`
  count(call, isHeld ? 'held' : 'stopped', deps)
  logStop(call, judgement, deps)
  const refusal: Refusal = { code, message, correlationId: call.correlationId, envelope: verdict.envelope, subject }
  sendAnswer(trip, action.refuse(refusal), [
    ...decisionHeaders(call, isHeld ? 'REQUEST_APPROVAL' : 'STOP', verdict.decisionId),
    // wire.md §13: whoever is held up learns where the word can be given.
    ...(isHeld && verdict.approvalId !== null
      ? ['Location', approvalAddress(verdict.approvalId, trip.settings.config)]
      : []),
  ])
}

function stopUnmonitored(trip: Trip, call: Call, action: JudgedAction, judgement: Decided, deps: RoadDeps): void {
  const { subject, verdict } = judgement.governing
  const message = `MONITORING_UNWIRED: ${subject.name} may only go on under monitoring, and no telemetry sink takes events now.`
  count(call, 'stopped', deps)
  deps.logger.error(
    { correlation_id: call.correlationId, route: call.route.name },
    'MONITORING_UNWIRED: a call was stopped',
  )
  const refusal: Refusal = {
    code: 'PREFLIGHT_STOP',
    message,
    correlationId: call.correlationId,
    envelope: verdict.envelope,
    subject,
  }
  sendAnswer(trip, action.refuse(refusal), decisionHeaders(call, 'STOP', verdict.decisionId))
}

async function enforceUndecided(
  trip: Trip,
  call: Call,
  action: JudgedAction,
  { error, refusal: upstream }: Extract<Judgement, { readonly kind: 'undecided' }>,
  deps: RoadDeps,
): Promise<void> {
  const { route, correlationId } = call
  const isForwarded = route.mode === 'observe' || route.failure === 'open'
  const outcome = route.mode === 'observe' ? 'observed' : route.failure === 'open' ? 'failed_open' : 'undecided'
  count(call, outcome, deps)
  deps.logger.warn(
    { correlation_id: correlationId, route: route.name, outcome, err: error },
    isForwarded
      ? 'a call could not be judged and goes on, as its route says'
      : 'a call could not be judged and was not forwarded',
  )
  if (isForwarded) {
    await forward(
      trip,
      call,
      { verdicts: [], headers: ['X-Correlation-ID', correlationId], watcher: action.watch(false), isStanding: false },
      deps,
    )
    return
  }
  const code = ERRORS[error.code].status >= 500 ? error.code : 'PREFLIGHT_UNDECIDED'
  const answer = action.refuse({ code, message: error.message, correlationId, envelope: null, subject: null })
  const own = decisionHeaders(call, 'STOP', null)
  if (upstream === null) sendAnswer(trip, answer, own)
  else
    sendAnswer(trip, { ...answer, status: upstream.status, headers: { ...answer.headers, ...upstream.headers } }, own)
}

function decisionHeaders(call: Call, action: ExecutionAction, decisionId: string | null): readonly string[] {
  return [
    'Preflight-Action',
    action,
    ...(decisionId === null ? [] : ['Preflight-Decision-Id', decisionId]),
    'X-Correlation-ID',
    call.correlationId,
  ]
}

function count(call: Call, outcome: string, deps: RoadDeps): void {
  deps.metrics.count('preflight_calls_total', { route: call.route.name, outcome })
}

function logStop(call: Call, { governing: { subject, verdict } }: Decided, deps: RoadDeps): void {
  const { decision, execution_action, risk_score, patterns } = verdict.envelope
  deps.logger.warn(
    {
      correlation_id: call.correlationId,
      route: call.route.name,
      call: subject.name,
      decision_id: verdict.decisionId,
      decision,
      execution_action,
      risk_score,
      patterns,
    },
    'a call was not forwarded',
  )
}
