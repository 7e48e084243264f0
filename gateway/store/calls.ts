/** The records of single calls. */
import type { ExecutionAction } from '../../engine/internal.ts'
import type { Violation } from '../validation/message.ts'

/**
 * The outcome of a call. `receipt`: forwarded under a receipt that came with it. `held`: waits for an approval, or was refused
 * without one. `observed`, `failed_open` and `break_glass`: forwarded without an allowing decision. `refused`: its arguments
 * violate the pinned contract. `drifted`: an extra row for a call whose answer does not match the contract.
 */
export const EFFECTS = [
  'forwarded',
  'receipt',
  'observed',
  'failed_open',
  'break_glass',
  'held',
  'stopped',
  'undecided',
  'refused',
  'drifted',
] as const
export type CallEffect = (typeof EFFECTS)[number]

/** One call that went through the proxy. */
export interface InterceptionRow {
  readonly correlationId: string
  /** The W3C trace that the call belongs to; null: none. Not covered by the hash chain. */
  readonly traceId: string | null
  /** The trace is exported, here or by the caller: it is found at any age. Absent in rows of earlier sidecars. */
  readonly isTraceSampled?: boolean
  readonly tenant: string
  readonly decisionId: string | null
  readonly route: string
  readonly protocol: string
  /** The operation: MCP method and tool, or HTTP method and path. */
  readonly action: string
  readonly executionAction: ExecutionAction
  readonly enforced: boolean
  readonly effect: CallEffect
  /** The break-glass exception under which it was forwarded. */
  readonly breakGlassId: string | null
  /** Where the call or its answer departs from the pinned contract; null: it was not refused for that, and did not drift. */
  readonly violations: readonly Violation[] | null
  readonly at: number
}

/** A call record as read from the store. @property effect null: written before effects were */
export interface StoredCall extends Omit<InterceptionRow, 'effect'> {
  readonly sequence: number
  readonly effect: CallEffect | null
}

export interface CallFilter {
  readonly tenant: string
  /** Only calls under decisions of this audience. */
  readonly audience?: string
  readonly route?: string
  readonly effect?: CallEffect
  readonly correlationId?: string
  readonly traceId?: string
  readonly from?: number
  readonly to?: number
  readonly limit: number
  /** Only rows with a smaller sequence. */
  readonly before?: number
}

/**
 * Calls are many: one page reads a bounded number of rows, so it may contain fewer than its limit, or none, with more pages to
 * follow.
 */
interface CallPage {
  readonly rows: readonly StoredCall[]
  /** `before` of the next page; null: this is the last page. */
  readonly next: number | null
}

export interface Calls {
  /**
   * Many calls share a commit. `durable` resolves after it, `batched` resolves immediately (the rows follow within
   * `ledger.flush_ms`).
   */
  record(row: InterceptionRow): Promise<void> | void
  /** Resolves when all rows are durable, whatever `ledger.calls` is. */
  recordAll(rows: readonly InterceptionRow[]): Promise<void>
  /** Newest first. */
  list(filter: CallFilter): Promise<CallPage>
}
