/** What an envelope says, as members of an entry of the decision log. */
import type { Envelope } from '../../engine/internal.ts'
import type { EntryFacts } from '../telemetry/decision-log/entry.ts'

/** A change with thousands of findings has one entry all the same. */
const MOST = 50

export function envelopeFacts(envelope: Envelope): Omit<EntryFacts, 'kind'> {
  const { blocking_reasons: blocking, degraded_reasons: degraded, warnings } = envelope
  const codes = [...blocking, ...(degraded ?? []), ...warnings].map(({ code }) => code)
  return {
    decision_id: envelope.decision_id,
    decision: envelope.decision,
    execution_action: envelope.execution_action,
    operation: envelope.operation ?? null,
    target: envelope.target_id ?? null,
    environment: envelope.environment ?? null,
    repository: envelope.repository ?? null,
    branch: envelope.branch ?? null,
    pull_request: envelope.pull_request ?? null,
    reasons: [...new Set(codes)].slice(0, MOST),
    policy_hash: envelope.policy_hash ?? null,
    risk_score: envelope.risk_score ?? null,
    receipt_id: envelope.decision_id,
    receipt_key: envelope.receipt.key_id,
    rules: policyRulesOf(envelope),
  }
}

function policyRulesOf({ evidence }: Envelope): string[] {
  const rules = (evidence ?? []).flatMap(({ type, source }) => (type === 'POLICY_RULE' ? [source] : []))
  return [...new Set(rules)].slice(0, MOST)
}
