/** gather → analyze → decide for one intercepted call: which contracts, and the verdict on each thing the call names. */
import type { ExecutionAction } from '../../engine/index.ts'
import type { Baselines } from '../baselines/baselines.ts'
import { GatewayError } from '../errors.ts'
import { UpstreamRefusal, type Call, type Ground, type JudgedAction, type Subject } from '../intercept/action.ts'
import type { Settings } from '../settings.ts'
import type { CallVerdict, Change, Verdicts } from './verdicts.ts'

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
    const verdicts: SubjectVerdict[] = []
    for (const { subject, ground } of await action.gather()) {
      if (ground.kind === 'receipt') throw needsReceipt(subject)
      const { route, caller, correlationId } = call
      const change = ground.kind === 'change_set' ? ground : await contractChange(call, subject, ground, deps.baselines)
      const question = { route, caller, subject, change, generation: settings.generation, correlationId }
      verdicts.push({ subject, verdict: await deps.verdicts.verdictOn(question) })
    }
    return { kind: 'decided', verdicts, governing: strictest(verdicts) }
  } catch (error) {
    // The one catch of the decision path: whatever the fault, its answer is never CONTINUE (design.md, law 2).
    return undecided(error)
  }
}

/** The contract as it was pinned, and as it is offered now. */
async function contractChange(
  call: Call,
  subject: Subject,
  { offered, isCovered }: Extract<Ground, { readonly kind: 'contract' }>,
  baselines: JudgeDeps['baselines'],
): Promise<Change> {
  const baseline = await baselines.baselineFor(call.route, offered)
  if (!isCovered(baseline)) throw notCovered(call, subject)
  return { kind: 'contract', baseline, offered }
}

function needsReceipt({ name }: Subject): GatewayError {
  return new GatewayError('PREFLIGHT_UNDECIDED', `${name} has no contract to compare, and goes on only with a receipt.`)
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
