/** The decision on a call, as metrics and spans show it. */
import { directiveOf } from '../../engine/base.ts'
import type { Call } from '../calls/call.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Observer } from '../telemetry/observer.ts'
import type { CallJudgement } from './judge.ts'
import type { DecisionVerdict } from './verdict-cache.ts'

interface ObservedCall {
  readonly call: Call
  readonly deps: { readonly metrics: Metrics; readonly observer: Pick<Observer, 'approvals'> }
}

export function observeDecision(judgement: CallJudgement, { call, deps }: ObservedCall): void {
  const { protocol, name: route, mode } = call.route
  const decision = decisionOf(judgement)
  call.observation.decision = decision
  deps.metrics.count('preflight_call_decisions_total', { protocol, route, decision, mode })
  if (judgement.kind === 'undecided') return
  const { verdict } = judgement.governing
  call.observation.decisionId = verdict.decisionId
  if (verdict.basis === 'decision' && verdict.approvalId !== null)
    joinApproval(verdict, verdict.approvalId, call, deps.observer)
}

/** A call that waits is what an approval is about; one that rests on it links to the wait and to the grant. */
function joinApproval(
  { action }: DecisionVerdict,
  approvalId: string,
  { observation }: Call,
  { approvals }: Pick<Observer, 'approvals'>,
): void {
  if (directiveOf(action).isHeld) approvals.note(approvalId, 'pending_call', observation.trace)
  else approvals.link(approvalId, observation)
}

/** The decision that holds for the call as a whole, or what it had in its place. */
function decisionOf(judgement: CallJudgement): string {
  if (judgement.kind === 'undecided') return 'undecided'
  const { verdict } = judgement.governing
  if (verdict.basis === 'demand') return 'receipt_required'
  return verdict.basis === 'receipt' ? 'receipt' : verdict.envelope.decision
}
