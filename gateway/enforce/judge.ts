/**
 * gather → analyze → decide for one intercepted call: which contracts, and the verdict on each resource that the call
 * names.
 */
import { performance } from 'node:perf_hooks'
import { directiveOf } from '../../engine/base.ts'
import { comparedWith, type BaselineService } from '../baselines/baselines.ts'
import type { ConsumerObserver } from '../consumers/observer.ts'
import { GatewayError } from '../errors/errors.ts'
import { UpstreamRefusal, type CheckBasis, type JudgedAction, type ResourceCheck } from '../protocols/common/action.ts'
import type { JudgedResource } from '../calls/judged-resource.ts'
import type { Call } from '../calls/call.ts'
import type { HoldState } from '../listen/request-context.ts'
import type { ListenSettingsInForce } from '../listen/settings.ts'
import type { BaselineRow } from '../store/baselines.ts'
import { after, oneByOne } from '../runtime/awaiting.ts'
import { stillHold, type LongJudgementDeps } from './long-judgement.ts'
import { createReceiptGate, type ReceiptGate, type ReceiptGateDeps } from './receipt-check.ts'
import type { CallVerdict, CallChange, Verdicts } from './verdict-cache.ts'

export interface ResourceVerdict {
  readonly resource: JudgedResource
  readonly verdict: CallVerdict
}

export type CallJudgement =
  | {
      readonly kind: 'decided'
      /** One for each resource, in order. */
      readonly verdicts: readonly ResourceVerdict[]
      /** The strictest: it holds for the request as a whole. */
      readonly governing: ResourceVerdict
      /** The receipts that verdicts rest on, to be consumed where the route asks for it. */
      readonly receipts: Pick<ReceiptGate, 'consume'>
    }
  /** Could not decide. `refusal`: because the upstream refused this caller. */
  | { readonly kind: 'undecided'; readonly error: GatewayError; readonly refusal: UpstreamRefusal | null }

export type Decided = Extract<CallJudgement, { readonly kind: 'decided' }>

export interface JudgeDeps extends LongJudgementDeps {
  readonly baselines: Pick<BaselineService, 'baselineFor'>
  readonly verdicts: Verdicts
  readonly consumers: Pick<ConsumerObserver, 'note'>
  readonly receipts: ReceiptGateDeps
}

interface CallToJudge {
  readonly call: Call
  readonly action: Pick<JudgedAction, 'gather' | 'confirm'>
  readonly settings: Pick<ListenSettingsInForce, 'generation'>
  readonly held: Pick<HoldState, 'used'>
}

/**
 * Never throws or rejects: any failure here means "could not decide". Null: there is nothing to judge. `ended`: what it
 * rests on ended meanwhile. Waits only for what is not known yet: most calls are judged by a cached baseline and decision,
 * without asynchronous work.
 */
export function judge(judged: CallToJudge, deps: JudgeDeps): Judged | Promise<Judged> {
  // The one catch of the decision path: whatever the fault, its answer is never CONTINUE (law 2 of CONTRIBUTING.md).
  try {
    const judging = judgeGathered(judged, deps)
    return judging instanceof Promise ? judging.catch(undecidedJudgement) : judging
  } catch (error) {
    return undecidedJudgement(error)
  }
}

type Judged = CallJudgement | 'ended' | null

function judgeGathered(
  { call, action, settings: { generation }, held }: CallToJudge,
  deps: JudgeDeps,
): Judged | Promise<Judged> {
  const begun = performance.now()
  call.observation.enter('gather')
  const receipts = createReceiptGate(call, held, deps.receipts)
  const gathering = action.gather()
  return after(gathering, (gathered) => {
    if (gathered === 'nothing') return null
    // A single-use receipt that one resource claims is used up for the next.
    const judging = oneByOne(gathered, (check) => {
      const { resource } = check
      deps.consumers.note({ headers: call.headers, audience: call.caller.audience }, call.route.name, resource)
      const finding = verdictOn(check, { call, receipts, generation }, deps)
      return after(finding, (verdict) => ({ resource, verdict }))
    })
    return after(judging, (verdicts) => {
      const governing = strictest(verdicts)
      const judgement = { kind: 'decided', verdicts, governing, receipts } as const
      return after(action.confirm?.() ?? true, (isSame) =>
        after(isSame && stillHold(verdicts, begun, held.used, deps), (holds) => (holds ? judgement : 'ended')),
      )
    })
  })
}

/** What all checks of one call share. */
interface ResourceCheckContext {
  readonly call: Call
  readonly receipts: ReceiptGate
  readonly generation: number
}

/** A receipt that authorizes the resource replaces a new decision; without one the change is judged. */
function verdictOn(
  check: ResourceCheck,
  { call, receipts, generation }: ResourceCheckContext,
  deps: JudgeDeps,
): CallVerdict | Promise<CallVerdict> {
  const { basis } = check
  call.observation.enter('gather')
  const looking = basis.kind === 'contract' ? baselineOf(call, basis, deps.baselines) : null
  return after(looking, (pinned) => {
    const change = changeOf(call, check, pinned)
    call.observation.enter('decide')
    const verifying = receipts.verdictOn(check, change)
    return after(verifying, (verdict) => verdict ?? decisionOn(check, change, { call, generation }, deps))
  })
}

function decisionOn(
  { resource }: ResourceCheck,
  change: CallChange | null,
  { call, generation }: Pick<ResourceCheckContext, 'call' | 'generation'>,
  { verdicts }: JudgeDeps,
): CallVerdict | Promise<CallVerdict> {
  const { route, caller, correlationId, observation } = call
  if (change === null) throw new TypeError(`${resource.name} has nothing to compare and was asked for no receipt`)
  return verdicts.verdictOn({ route, caller, resource, change, generation, correlationId, stages: observation })
}

type ContractBasis = Extract<CheckBasis, { readonly kind: 'contract' }>

function baselineOf(
  { route }: Call,
  { offered, baseline: name }: ContractBasis,
  baselines: JudgeDeps['baselines'],
): BaselineRow | Promise<BaselineRow> {
  return baselines.baselineFor(name === undefined ? route : { ...route, name }, offered)
}

/** A contract as it was pinned, and as it is offered now; null: there is nothing to compare. */
function changeOf(call: Call, { resource, basis }: ResourceCheck, pinned: BaselineRow | null): CallChange | null {
  if (basis.kind === 'change_set') return basis
  if (basis.kind === 'receipt' || pinned === null) return null
  if (!basis.isCovered(pinned)) throw notCovered(call, resource)
  return { kind: 'contract', baseline: pinned, offered: comparedWith(pinned, basis.offered) }
}

function notCovered(call: Call, resource: JudgedResource): GatewayError {
  return new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `${resource.name}: neither the baseline nor the contract that "${call.route.name}" offers now describes it, so it cannot be judged. Check its name against what is offered now.`,
  )
}

export function undecidedJudgement(error: unknown): CallJudgement & { readonly kind: 'undecided' } {
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

function strictest(verdicts: readonly ResourceVerdict[]): ResourceVerdict {
  return verdicts.reduce((a, b) => (verdictStrictness(b) > verdictStrictness(a) ? b : a))
}

function verdictStrictness({ verdict }: ResourceVerdict): number {
  return directiveOf(verdict.action).strictness
}
