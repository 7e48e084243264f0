/** The tables of a store that are copied, in an order that no reference between them prevents. */

export interface CopiedTable {
  readonly name: string
  /** Rows in one step: bounds the memory, since some rows are large. */
  readonly step: number
}

const rows = (name: string): CopiedTable => ({ name, step: 500 })
const largeRows = (name: string): CopiedTable => ({ name, step: 10 })

export const COPIED: readonly CopiedTable[] = [
  rows('ledger_chains'),
  rows('ledger_cuts'),
  rows('ledger_journal'),
  rows('ledger_checkpoints'),
  rows('decisions'),
  rows('receipt_events'),
  rows('supersession_heads'),
  rows('interceptions'),
  rows('approvals'),
  rows('approval_requesters'),
  rows('approval_steps'),
  rows('approval_delegations'),
  rows('break_glass'),
  largeRows('baselines'),
  largeRows('baseline_candidates'),
  rows('announced_candidates'),
  rows('monitoring_windows'),
  rows('api_keys'),
  rows('api_key_terms'),
  rows('api_key_uses'),
  rows('signups'),
  rows('monthly_uses'),
  rows('secrets'),
  rows('status_lists'),
  rows('notices'),
  rows('deliveries'),
  rows('acts'),
  rows('webhook_deliveries'),
  rows('merge_checks'),
  rows('decision_inputs'),
  largeRows('kept_contents'),
  rows('observed_uses'),
  rows('bindings'),
  rows('binding_challenges'),
  rows('receipt_keys'),
]

/** Tables that tell about one store only: whether it can be written, and who uses it now. */
export const NOT_COPIED: readonly string[] = ['probes', 'fleet_members']
