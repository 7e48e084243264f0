/** The decision on a call, as metrics and spans show it. */
import { directiveOf } from '../../engine/base.ts'
import type { Call } from '../calls/call.ts'
import { addLinks } from '../telemetry/approval-traces.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { CallJudgement } from './judge.ts'

interface ObservedCall {
  readonly call: Call
  readonly deps: { readonly metrics: Metrics }
}

export function observeDecision(judgement: CallJudgement, { call, deps }: ObservedCall): void {
  const { protocol, name: route, mode } = call.route
  const decision = decisionOf(judgement)
  call.observation.decision = decision
  deps.metrics.count('preflight_call_decisions_total', { protocol, route, decision, mode })
  if (judgement.kind === 'undecided') return
  const { verdict } = judgement.governing
  call.observation.decisionId = verdict.decisionId
  // A call that waits for its approval links to nothing.
  if (verdict.basis === 'decision' && !directiveOf(verdict.action).isHeld)
    addLinks(verdict.approvalLinks, call.observation)
}

/** The decision that holds for the call as a whole, or what it had in its place. */
function decisionOf(judgement: CallJudgement): string {
  if (judgement.kind === 'undecided') return 'undecided'
  const { verdict } = judgement.governing
  if (verdict.basis === 'missing_receipt') return 'receipt_required'
  return verdict.basis === 'receipt' ? 'receipt' : verdict.envelope.decision
}
