/** A logged decision explained: its input is judged again under the policy in force, and every rule is followed in plain words. */
import { checkProducerForm, type Decision } from '../../engine/internal.ts'
import type { StoredDecision } from '../store/decisions.ts'
import { explanationOf, type PolicyExplanation } from './policy-explanation.ts'
import { judgedAgain, type Replaying } from './replay.ts'

export interface ExplainedDecision extends PolicyExplanation {
  readonly decision_id: string
  /** What was decided then. */
  readonly was: Decision
  /** The policy in force now, which is explained. */
  readonly policy: { readonly name: string; readonly hash: string }
  /** False: another policy decided then. */
  readonly is_same_policy: boolean
  /** Why there is no explanation; null: there is one. */
  readonly problem: string | null
}

export async function explainedDecision(row: StoredDecision, replaying: Replaying): Promise<ExplainedDecision> {
  const { policy } = replaying
  const envelope = checkProducerForm(JSON.parse(row.envelope))
  const policyHash = envelope.ok ? (envelope.value.policy_hash ?? null) : null
  const judged = await judgedAgain({ ...row, policyHash }, replaying)
  return {
    decision_id: row.decisionId,
    was: row.decision,
    policy: { name: policy.name, hash: policy.hash },
    is_same_policy: policyHash === policy.hash,
    problem: judged.ok ? null : judged.problem,
    ...(judged.ok ? explanationOf(policy, judged.value) : { change_set: [], changes: [], changes_total: 0 }),
  }
}
