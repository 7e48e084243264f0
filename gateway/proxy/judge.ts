/** gather → analyze → decide for one intercepted call: which contracts, and the verdict on each thing the call names. */
import type { ExecutionAction } from '../../engine/index.ts'
import type { Baselines } from '../baselines/baselines.ts'
import { GatewayError } from '../errors.ts'
import { UpstreamRefusal, type Call, type JudgedAction, type Subject } from '../intercept/action.ts'
import type { Settings } from '../settings.ts'
import type { CallVerdict, Verdicts } from './verdicts.ts'

export interface SubjectVerdict {
  readonly subject: Subject
  readonly verdict: CallVerdict
}

export type Judgement =
  | {
      readonly kind: 'decided'
      /** One for each subject, in order. */
      readonly verdicts: readonly SubjectVerdict[]
      /** The strictest: what the request as a whole may do. */
      readonly governing: SubjectVerdict
    }
  /** Could not decide. `refusal`: because the upstream refused this caller. */
  | { readonly kind: 'undecided'; readonly error: GatewayError; readonly refusal: UpstreamRefusal | null }

export interface JudgeDeps {
  readonly baselines: Pick<Baselines, 'baselineFor'>
  readonly verdicts: Verdicts
}

/** Never rejects: whatever goes wrong here is "could not decide". */
export async function judge(
  call: Call,
  action: JudgedAction,
  settings: Pick<Settings, 'generation'>,
  deps: JudgeDeps,
): Promise<Judgement> {
  try {
    const offered = await action.gather()
    const baseline = await deps.baselines.baselineFor(call.route, offered)
    const verdicts: SubjectVerdict[] = []
    for (const subject of action.subjects) {
      if (!action.isCovered(subject, offered, baseline)) throw notCovered(call, subject)
      const { generation } = settings
      const question = { route: call.route, subject, baseline, offered, generation, correlationId: call.correlationId }
      verdicts.push({ subject, verdict: await deps.verdicts.verdictOn(question) })
    }
    return { kind: 'decided', verdicts, governing: strictest(verdicts) }
  } catch (error) {
    // The one catch of the decision path: whatever the fault, its answer is never CONTINUE (design.md, law 2).
    return undecided(error)
  }
}

function notCovered(call: Call, subject: Subject): GatewayError {
  return new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `${subject.name}: neither the baseline nor the contract that "${call.route.name}" offers now describes it, so it cannot be judged.`,
  )
}

export function undecided(error: unknown): Judgement & { readonly kind: 'undecided' } {
  if (error instanceof UpstreamRefusal) {
    const message = `The upstream refused to say what it offers (${error.status}), so the call could not be judged.`
    return {
      kind: 'undecided',
      error: new GatewayError('PREFLIGHT_UNDECIDED', message, { cause: error }),
      refusal: error,
    }
  }
  const known =
    error instanceof GatewayError ? error : new GatewayError('PREFLIGHT_UNDECIDED', undefined, { cause: error })
  return { kind: 'undecided', error: known, refusal: null }
}

const STRICTNESS: Readonly<Record<ExecutionAction, number>> = {
  CONTINUE: 0,
  CONTINUE_WITH_MONITORING: 1,
  REQUEST_APPROVAL: 2,
  STOP: 3,
}

function strictest(verdicts: readonly SubjectVerdict[]): SubjectVerdict {
  const worst = verdicts.reduce((a, b) => (STRICTNESS[b.verdict.action] > STRICTNESS[a.verdict.action] ? b : a))
  return worst
}
