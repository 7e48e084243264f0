/**
 * One end of a copy: a store that no gateway uses, in one transaction. The tables are copied in an order that no reference between
 * them prevents.
 */
import type { SqlRow } from '../sql/columns.ts'
import type { Sql } from '../sql/operation.ts'

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
  rows('latest_time'),
]

/** Tables that tell about one store only: whether it can be written, and who uses it now. */
export const NOT_COPIED: readonly string[] = ['probes', 'fleet_members']

export interface Side {
  /** For people; it never contains a password. */
  readonly description: string
  readonly sql: Sql
  /** Columns that can be written. */
  columns(table: string): Promise<readonly string[]>
  close(): Promise<void>
}

export interface Source extends Side {
  /** All rows of a table as they were when the copy began. */
  rows(table: CopiedTable): AsyncIterable<readonly SqlRow[]>
}

export interface Target extends Side {
  /** Called once, before the rows come. @param firstCall milliseconds since the epoch; null: there are no calls */
  prepare(firstCall: number | null): Promise<void>
  add(table: string, columns: readonly string[], rows: readonly SqlRow[]): Promise<void>
  /** After the last row, and before the check. */
  finish(): Promise<void>
  /** The copy is there, all of it. Without this call there is nothing. */
  commit(): Promise<void>
}
