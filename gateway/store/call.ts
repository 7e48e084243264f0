/** The record of one call, as it is written and as it is read again. */
import type { ExecutionAction } from '../../engine/internal.ts'
import type { Violation } from '../validation/message.ts'

/**
 * What was done with a call. `receipt`: went on under a receipt that came with it. `held`: waits for, or was refused for want of, a
 * person's word. `observed`, `failed_open` and `break_glass` went on although they were not judged good. `refused`: its arguments
 * violate the pinned contract. `drifted`: a row beside that of the call, whose answer has another shape than the contract says.
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
  readonly tenant: string
  readonly decisionId: string | null
  readonly route: string
  readonly protocol: string
  /** What was called: MCP method and tool, or HTTP method and path. */
  readonly action: string
  readonly executionAction: ExecutionAction
  readonly enforced: boolean
  readonly effect: CallEffect
  /** The exception that it went on under. */
  readonly breakGlassId: string | null
  /** Where and how it, or its answer, departs from the pinned contract; null: it was not refused for that, and did not drift. */
  readonly violations: readonly Violation[] | null
  readonly at: number
}

/** A call record as it is read again. @property effect null: written before effects were */
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
  readonly from?: number
  readonly to?: number
  readonly limit: number
  /** Only rows with a smaller sequence. */
  readonly before?: number
}

/** Calls are many: a page looks at a bounded number of them, so it may hold fewer than its limit, or none, and others follow. */
export interface CallPage {
  readonly rows: readonly StoredCall[]
  /** `before` of the next page; null: this is the last. */
  readonly next: number | null
}
