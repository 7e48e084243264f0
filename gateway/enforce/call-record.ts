/** The rows of a judged call, which are durable before anything is sent (law 3 of CONTRIBUTING.md), and the log record of a call that is not forwarded. */
import type { JudgedAction } from '../protocols/common/action.ts'
import type { Call } from '../calls/call.ts'
import type { CallEffect, InterceptionRow } from '../store/calls.ts'
import type { StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { CallVerdict } from './verdict-cache.ts'
import { undecidedJudgement, type Decided, type CallJudgement } from './judge.ts'

/** A call, and the dependencies that its rows and records are written with. */
interface RecordedCall {
  readonly call: Call
  readonly action: Pick<JudgedAction, 'name'>
  readonly deps: {
    readonly store: StorePart<'calls.record'>
    readonly logger: Logger
    readonly now: () => number
  }
}

/**
 * Writes the call's own rows before its effect. Null when they are written; a call whose rows could not be written
 * counts as not decided. Synchronous where the rows wait for a batch.
 */
export function recordCall(
  judgement: CallJudgement,
  effect: NonNullable<InterceptionRow['effect']>,
  breakGlassId: string | null,
  recorded: RecordedCall,
): Unrecorded | null | Promise<Unrecorded | null> {
  const { store } = recorded.deps
  const writings: Promise<void>[] = []
  try {
    for (const row of rowsOf(judgement, effect, breakGlassId, recorded)) {
      const writing = store.calls.record(row)
      if (writing instanceof Promise) writings.push(writing)
    }
  } catch (error) {
    return undecidedJudgement(error)
  }
  return writings.length === 0 ? null : awaitWrites(writings)
}

type Unrecorded = Extract<CallJudgement, { readonly kind: 'undecided' }>

async function awaitWrites(writings: readonly Promise<void>[]): Promise<Unrecorded | null> {
  try {
    await Promise.all(writings)
    return null
  } catch (error) {
    return undecidedJudgement(error)
  }
}

/** One row for each resource that was judged; a single row where none was. */
function rowsOf(
  judgement: CallJudgement,
  effect: NonNullable<InterceptionRow['effect']>,
  breakGlassId: string | null,
  { call, action, deps }: RecordedCall,
): readonly InterceptionRow[] {
  const shared = {
    correlationId: call.correlationId,
    traceId: call.observation.trace?.traceId ?? null,
    isTraceSampled: call.observation.trace?.isSampled ?? false,
    tenant: call.caller.tenant,
    route: call.route.name,
    protocol: call.route.protocol,
    enforced: call.route.mode === 'enforce',
    at: deps.now(),
    breakGlassId,
    violations: null,
  }
  if (judgement.kind === 'undecided')
    return [{ ...shared, action: shortName(action.name), decisionId: null, executionAction: 'STOP', effect }]
  return judgement.verdicts.map(({ resource, verdict }) => ({
    ...shared,
    action: shortName(resource.name),
    decisionId: verdict.decisionId,
    executionAction: verdict.action,
    effect: recordedEffect(effect, verdict),
  }))
}

/** A call under a receipt of its own is no forwarded call of a decision made here. */
export function recordedEffect(effect: CallEffect, { basis }: Pick<CallVerdict, 'basis'>): CallEffect {
  return effect === 'forwarded' && basis === 'receipt' ? 'receipt' : effect
}

/** Callers name what they ask for, at any length: the ledger and the log keep the beginning of such a name. */
export function shortName(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME)}…`
}

const LONGEST_NAME = 500

export function logStop({ governing: { resource, verdict } }: Decided, { call, deps }: RecordedCall): void {
  const { decision, execution_action, risk_score, patterns } =
    verdict.basis === 'decision' ? verdict.envelope : NO_ENVELOPE
  deps.logger.warn(
    {
      event: 'call.not_allowed',
      correlation_id: call.correlationId,
      route: call.route.name,
      call: shortName(resource.name),
      decision_id: verdict.decisionId,
      decision,
      execution_action,
      risk_score,
      patterns,
      ...(verdict.basis === 'missing_receipt' && { receipt: verdict.requiredReceipt.reason ?? 'missing' }),
    },
    'call not forwarded',
  )
}

const NO_ENVELOPE = { decision: null, execution_action: 'STOP', risk_score: null, patterns: [] } as const
