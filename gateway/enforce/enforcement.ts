/**
 * Enforces a judgement: forwards or refuses the call, and first writes the row that says so (law 3 of CONTRIBUTING.md).
 * Shared by the proxy, which then forwards, and by ext_authz, which answers another proxy.
 */
import { performance } from 'node:perf_hooks'
import { directiveOf } from '../../engine/base.ts'
import type { BreakGlass } from '../break-glass/break-glass.ts'
import { GatewayError } from '../errors/errors.ts'
import { approvalAddress } from '../approvals/request.ts'
import type { JudgedAction, Permit } from '../protocols/common/action.ts'
import type { Call } from '../calls/call.ts'
import type { ListenSettingsInForce } from '../listen/settings.ts'
import type { StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { DecisionLog } from '../telemetry/decision-log/decision-log.ts'
import type { Observer } from '../telemetry/observer.ts'
import type { Monitoring } from '../monitoring/monitoring.ts'
import { after } from '../runtime/awaiting.ts'
import { closeUnsent, openWindows, UNWATCHED, type ResourceWatch } from './resource-watches.ts'
import { logStop, recordCall } from './call-record.ts'
import { isLate, isStillAllowed, type LongJudgementDeps } from './long-judgement.ts'
import { entriesOf } from './call-entries.ts'
import { observeDecision } from './observed-decision.ts'
import { judge, undecidedJudgement, type Decided, type JudgeDeps, type CallJudgement } from './judge.ts'
import { decisionHeaders, stoppedReply, undecidedReply, unmonitored } from './refusals.ts'
import type { HoldState, Reply } from '../listen/request-context.ts'
import { ReceiptOutage, type SpentReceipt } from './receipt-check.ts'
import type { CallVerdict, DecisionVerdict, ReceiptVerdict } from './verdict-cache.ts'
import type { NotePendingCall, PendingWait, PendingCalls } from './pending-calls.ts'

export interface EnforcementDeps extends JudgeDeps {
  readonly settings: () => Pick<ListenSettingsInForce, 'generation'>
  readonly store: StorePart<'calls.record'> & LongJudgementDeps['store']
  readonly monitoring: Pick<Monitoring, 'open'>
  readonly breakGlass: Pick<BreakGlass, 'use' | 'isOpen'>
  readonly pendingCalls: Pick<PendingCalls, 'wait'>
  /** Absent: nobody else shows calls that wait. */
  readonly notePendingCall?: NotePendingCall
  readonly observer: Pick<Observer, 'join'>
  readonly decisionLog: Pick<DecisionLog, 'isOn' | 'write'>
  readonly metrics: Metrics
  readonly logger: Logger
  readonly now: () => number
}

/** The call is forwarded. */
export interface ForwardResult extends Permit {
  readonly kind: 'go'
  /** `passed`: there was nothing to judge. */
  readonly effect: JudgedEffect | 'passed'
  /** The verdicts whose receipts are sent with the call. */
  readonly verdicts: readonly (DecisionVerdict | ReceiptVerdict)[]
  /** Added to the answer: name, value, name, value … */
  readonly headers: readonly string[]
  /** One for each resource that is monitored. */
  readonly watches: readonly ResourceWatch[]
}

type JudgedEffect = 'forwarded' | 'observed' | 'failed_open' | 'break_glass'

/** How a call ends that was judged, or could not be. */
type Concluded = (ForwardResult & { readonly effect: JudgedEffect }) | RefuseResult

/** The call is not forwarded; this is its answer. */
interface RefuseResult extends Reply {
  readonly kind: 'halt'
  readonly effect: 'held' | 'stopped' | 'undecided'
}

/** The client disconnected, or cancelled the call, before its rows were written: there is nobody to answer. */
interface DisconnectedResult {
  readonly kind: 'gone'
}

/** It waited and may be forwarded now, or the settings or its decision ended before it took effect: it is to be admitted again. */
interface ReadmitResult {
  readonly kind: 'readmit'
}

/** Settings or decisions that end again before every one of so many judgements allow nothing. */
export const MOST_ADMISSIONS = 10

export type EnforcementResult = ForwardResult | RefuseResult | DisconnectedResult | ReadmitResult

/** A call to judge: what it does, and the settings in force when it came. */
interface JudgedCall {
  readonly call: Call
  readonly action: JudgedAction
  readonly settings: ListenSettingsInForce
}

interface PendingEnforcement extends JudgedCall {
  readonly held: HoldState
  readonly deps: EnforcementDeps
}

/**
 * Judges the call and decides how it ends. By then every row is as durable as the ledger's configuration asks. Never
 * rejects.
 * @param waiting how the client's connection is kept open while an approval is pending
 */
export async function enforceCall(
  judged: JudgedCall,
  waiting: PendingWait,
  deps: EnforcementDeps,
): Promise<EnforcementResult> {
  const { call, action, settings } = judged
  const pending: PendingEnforcement = { call, action, settings, held: waiting.held, deps }
  call.observation.action = action.name
  const startedAt = performance.now()
  const judging = judge(pending, deps)
  const judgement = judging instanceof Promise ? await judging : judging
  const { name: route } = call.route
  deps.metrics.observe('preflight_call_decision_seconds', { route }, (performance.now() - startedAt) / 1000)
  call.observation.enter('enforce')
  if (judgement === 'ended') return { kind: 'readmit' }
  const isHeld = judgement !== null && heldVerdict(judgement) !== null
  const heard = isHeld ? await afterApproval(judgement, waiting, pending) : judgement
  // Nobody waits for it, so it uses up nothing.
  if (heard === 'gone' || waiting.isGone) {
    call.observation.outcome = 'gone'
    deps.metrics.count('preflight_client_aborts_total', { route })
    return { kind: 'gone' }
  }
  if (heard === 'again' || isOutdated(settings, deps)) return { kind: 'readmit' }
  if (heard === null) return unjudgedPass(call, deps)
  call.observation.enter('record')
  const concluding = conclude(heard, pending)
  const concluded = concluding instanceof Promise ? await concluding : concluding
  const written = deps.decisionLog.isOn ? await logged(concluded, heard, pending) : concluded
  const result = written.kind === 'go' && isLate(startedAt, deps) ? await confirmed(written, pending) : written
  if (result.kind === 'readmit') return result
  call.observation.enter('enforce')
  call.observation.outcome = result.effect
  observeDecision(heard, pending)
  deps.metrics.count('preflight_calls_total', { route, outcome: result.effect })
  return result
}

/**
 * A call may wait for minutes: for its body, a contract, an analysis, or an approval. What allows it are the settings in
 * force when it is recorded, not those of its first byte.
 */
export function isOutdated(
  { generation }: Pick<ListenSettingsInForce, 'generation'>,
  { settings }: Pick<EnforcementDeps, 'settings'>,
): boolean {
  return settings().generation !== generation
}

/** Nothing was decided, so no row is written, as for a request that the route does not judge. */
function unjudgedPass(call: Call, { metrics }: EnforcementDeps): ForwardResult {
  call.observation.outcome = 'passed'
  metrics.count('preflight_calls_total', { route: call.route.name, outcome: 'passed' })
  const headers = plainHeaders(call)
  return { kind: 'go', effect: 'passed', verdicts: [], headers, watches: UNWATCHED, isMonitored: false, resources: [] }
}

/** The store may write for longer than a revocation needs to be in force. What is allowed no more is admitted again. */
async function confirmed(
  result: Extract<Concluded, { readonly kind: 'go' }>,
  pending: PendingEnforcement,
): Promise<Concluded | ReadmitResult> {
  const { call, settings, held, deps } = pending
  try {
    if (!isOutdated(settings, deps) && (await isStillAllowed(call.route, result, held.used, deps))) return result
  } catch (error) {
    await closeUnsent(result.watches)
    return concludeUndecided(undecidedJudgement(error), pending)
  }
  await closeUnsent(result.watches)
  return { kind: 'readmit' }
}

/** With `on_full: block`, a call is not forwarded without a durable entry of the decision log. */
async function logged(result: Concluded, judgement: CallJudgement, pending: PendingEnforcement): Promise<Concluded> {
  const { call, action, deps } = pending
  const written = deps.decisionLog.write(entriesOf(call, judgement, result.effect, action.name))
  const isKept = written instanceof Promise ? await written : written
  if (isKept || result.kind === 'halt') return result
  await closeUnsent(result.watches)
  return concludeUndecided(undecidedJudgement(new GatewayError('DECISION_LOG_UNWRITABLE')), pending)
}

/**
 * Keeps the call pending while it may still be approved in time. `again`: it was approved, or an exception was opened, so
 * it is authenticated, matched and judged anew. `gone`: the client disconnected.
 */
async function afterApproval(
  judgement: CallJudgement,
  waiting: PendingWait,
  pending: PendingEnforcement,
): Promise<CallJudgement | 'gone' | 'again'> {
  const { call, deps } = pending
  const { route, caller } = call
  const held = route.mode === 'enforce' ? heldVerdict(judgement) : null
  const deadline = (waiting.held.until ??= deps.now() + route.hold * 1000)
  // Approved by somebody who may not approve it now: waiting longer changes nothing.
  if (held?.approvalId == null || held.approvalId === waiting.held.granted) return judgement
  if (deps.now() >= deadline || (await deps.breakGlass.isOpen(route.name))) return judgement
  // A call that is forwarded because of another call's approval is already reported as such; the row shows that it was
  // pending first.
  const recorded = await recordCall(judgement, 'held', null, pending)
  if (recorded !== null) return recorded
  if (judgement.kind === 'decided') showHeld(judgement, pending)
  waiting.begin(decisionHeaders(call, held.action, held.decisionId))
  const end = await deps.pendingCalls.wait({
    approvalId: held.approvalId,
    tenant: caller.tenant,
    route: route.name,
    deadline,
    waiting,
  })
  if (end === 'gone') return 'gone'
  if (end === 'granted') {
    deps.verdicts.receiptChanged(held.decisionId)
    waiting.held.granted = held.approvalId
  }
  return end === 'granted' || end === 'released' ? 'again' : judgement
}

/** The call does not wait for it. */
function showHeld({ governing: { resource, verdict } }: Decided, { call, deps }: PendingEnforcement): void {
  if (verdict.basis !== 'decision' || verdict.approvalId === null) return
  const { envelope, approvalId } = verdict
  void deps.notePendingCall?.({ tenant: call.caller.tenant, resource, envelope, approvalId })
}

function heldVerdict(judgement: CallJudgement): DecisionVerdict | null {
  if (judgement.kind === 'undecided') return null
  const { verdict } = judgement.governing
  return verdict.basis === 'decision' && directiveOf(verdict.action).isHeld ? verdict : null
}

/** Synchronous for an ordinary call that may proceed: its rows wait for a batch, and nothing is opened or consumed. */
function conclude(judgement: CallJudgement, pending: PendingEnforcement): Concluded | Promise<Concluded> {
  if (judgement.kind === 'undecided') return concludeUndecided(judgement, pending)
  const spending = directiveOf(judgement.governing.verdict.action).proceeds ? judgement.receipts.consume() : null
  const rest = spending?.then((spent) => withoutSpent(judgement, spent), undecidedJudgement) ?? judgement
  return after(rest, (one) =>
    one.kind === 'decided' ? concludeDecided(one, pending) : concludeUndecided(one, pending),
  )
}

function concludeDecided(judgement: Decided, pending: PendingEnforcement): Concluded | Promise<Concluded> {
  const { action } = judgement.governing.verdict
  if (!directiveOf(action).proceeds) return concludeStopped(judgement, pending)
  const opening = action === 'CONTINUE_WITH_MONITORING' ? openWindows(judgement, pending) : UNWATCHED
  return after(opening, (watches) =>
    watches === null ? concludeUnmonitored(judgement, pending) : recorded('forwarded', judgement, watches, pending),
  )
}

/** A single-use receipt that could not be consumed counts as missing again. */
function withoutSpent(judgement: Decided, spent: SpentReceipt | null): Decided {
  if (spent === null) return judgement
  const { requiredReceipt } = spent
  const verdict: CallVerdict = { basis: 'missing_receipt', action: 'STOP', decisionId: null, requiredReceipt }
  const governing = { resource: spent.resource, verdict }
  const verdicts = judgement.verdicts.map((one) => (one.resource === spent.resource ? governing : one))
  return { ...judgement, verdicts, governing }
}

async function concludeStopped(judgement: Decided, pending: PendingEnforcement): Promise<Concluded> {
  const { call, action, settings } = pending
  const { governing } = judgement
  if (call.route.mode === 'observe') {
    countObserved(governing.verdict.action === 'REQUEST_APPROVAL' ? 'held' : 'stopped', pending)
    return recorded('observed', judgement, UNWATCHED, pending)
  }
  const broken = await breakGlass(judgement, pending)
  if (broken !== null) return broken
  const { verdict } = governing
  const approvalId = verdict.basis === 'decision' ? verdict.approvalId : null
  const { isHeld } = directiveOf(verdict.action)
  const effect = isHeld ? 'held' : 'stopped'
  const failure = await recordCall(judgement, effect, null, pending)
  if (failure !== null) return concludeUndecided(failure, pending)
  logStop(judgement, pending)
  if (isHeld) showHeld(judgement, pending)
  const approvalAt = isHeld && approvalId !== null ? approvalAddress(approvalId, settings.config) : null
  return { kind: 'halt', effect, ...stoppedReply(call, action, governing, approvalAt) }
}

/** The call may only be forwarded while it is monitored, and no monitoring is wired. */
async function concludeUnmonitored(judgement: Decided, pending: PendingEnforcement): Promise<Concluded> {
  const { call, action, deps } = pending
  if (call.route.mode === 'observe') {
    countObserved('stopped', pending)
    return recorded('observed', judgement, UNWATCHED, pending)
  }
  const broken = await breakGlass(judgement, pending)
  if (broken !== null) return broken
  const failure = await recordCall(judgement, 'stopped', null, pending)
  if (failure !== null) return concludeUndecided(failure, pending)
  deps.logger.error(
    { event: 'monitoring.unwired', correlation_id: call.correlationId, route: call.route.name },
    'MONITORING_UNWIRED: call refused',
  )
  return { kind: 'halt', effect: 'stopped', ...unmonitored(call, action, judgement.governing) }
}

async function concludeUndecided(
  judgement: Extract<CallJudgement, { readonly kind: 'undecided' }>,
  pending: PendingEnforcement,
): Promise<Concluded> {
  const { call, action, deps } = pending
  const { route, correlationId } = call
  const isOpen = route.failure === 'open' && !(judgement.error instanceof ReceiptOutage)
  const open = route.mode === 'observe' ? 'observed' : isOpen ? 'failed_open' : null
  // If the store is down the call is refused: nobody could find out afterwards what was forwarded.
  const isBreakable = open === null && judgement.refusal === null && judgement.error.code !== 'STORE_UNAVAILABLE'
  const broken = isBreakable ? await breakGlass(judgement, pending) : null
  if (broken !== null) return broken
  if (open === 'observed') countObserved('undecided', pending)
  await recordCall(judgement, open ?? 'undecided', null, pending)
  deps.logger.warn(
    {
      event: 'call.undecided',
      correlation_id: correlationId,
      route: route.name,
      outcome: open ?? 'undecided',
      err: judgement.error,
    },
    open === null
      ? 'call could not be judged and was not forwarded'
      : 'call could not be judged and is forwarded, as its route is configured',
  )
  return open === null
    ? { kind: 'halt', effect: 'undecided', ...undecidedReply(call, action, judgement) }
    : forwardResult(open, judgement, UNWATCHED, pending)
}

function countObserved(would: 'stopped' | 'held' | 'undecided', { call, deps }: PendingEnforcement): void {
  deps.metrics.count('preflight_observed_calls_total', { route: call.route.name, would })
}

/**
 * Forwards the call under an open break-glass exception of the route, counted and logged. Null: there is no exception,
 * or its use could not be made durable.
 */
async function breakGlass(judgement: CallJudgement, pending: PendingEnforcement): Promise<Concluded | null> {
  const { call, deps } = pending
  const { correlationId, route } = call
  const opened = await deps.breakGlass.use(route.name)
  if (opened === null) return null
  if ((await recordCall(judgement, 'break_glass', opened.id, pending)) !== null) return null
  deps.metrics.count('preflight_break_glass_calls_total', { route: route.name })
  deps.logger.error(
    {
      event: 'break_glass.used',
      correlation_id: correlationId,
      route: route.name,
      break_glass_id: opened.id,
      opened_by: opened.openedBy,
    },
    'BREAK_GLASS: call forwarded that would have been refused',
  )
  const passed = forwardResult('break_glass', judgement, UNWATCHED, pending)
  return { ...passed, headers: [...passed.headers, 'Preflight-Break-Glass', opened.id] }
}

function recorded(
  effect: 'forwarded' | 'observed',
  judgement: Decided,
  watches: readonly ResourceWatch[],
  pending: PendingEnforcement,
): Concluded | Promise<Concluded> {
  return after(recordCall(judgement, effect, null, pending), (failure) => {
    if (failure === null) return forwardResult(effect, judgement, watches, pending)
    return after(closeUnsent(watches), () => concludeUndecided(failure, pending))
  })
}

/** The execution action reported is the one decided, whatever happens to the call. */
function forwardResult(
  effect: JudgedEffect,
  judgement: CallJudgement,
  watches: readonly ResourceWatch[],
  { call }: PendingEnforcement,
): ForwardResult & { readonly effect: JudgedEffect } {
  const isMonitored = watches.length > 0
  if (judgement.kind === 'undecided') {
    const headers = effect === 'break_glass' ? decisionHeaders(call, 'STOP', null) : plainHeaders(call)
    return { kind: 'go', effect, verdicts: [], headers, watches, isMonitored, resources: [] }
  }
  const { action, decisionId } = judgement.governing.verdict
  const verdicts = judgement.verdicts.map(({ verdict }) => verdict).filter(isProceeding)
  const headers = decisionHeaders(call, action, decisionId)
  return { kind: 'go', effect, verdicts, headers, watches, isMonitored, resources: judgement.verdicts }
}

function isProceeding(verdict: CallVerdict): verdict is DecisionVerdict | ReceiptVerdict {
  return verdict.basis !== 'missing_receipt' && directiveOf(verdict.action).proceeds
}

function plainHeaders({ correlationId }: Call): readonly string[] {
  return ['X-Correlation-ID', correlationId]
}
