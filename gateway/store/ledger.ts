/**
 * The ledger's view of itself: its chains, the heads that are signed as checkpoints, and the faults that a full check finds.
 */

/** The newest entry of a chain. Each writer has a chain of its own; an embedded store has one. */
export interface LedgerHead {
  readonly chain: string
  readonly sequence: number
  readonly hash: string
}

/** A head that was signed. `token`: compact JWS over chain, sequence, hash and time. */
export interface CheckpointRow extends LedgerHead {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly token: string
}

/** The newest checkpoint in the ledger itself. */
export interface HeldCheckpoint extends CheckpointRow {
  /** A person accepted the ledger after that: the checkpoint file may be missing. */
  readonly isAcceptedSince: boolean
}

export interface LedgerReport {
  readonly heads: readonly LedgerHead[]
  /** Sentences for people, each about one row, entry or checkpoint; empty when the ledger is intact. */
  readonly faults: readonly string[]
  readonly checkpoints: readonly CheckpointRow[]
}

/** A check stops after this many faults: the first ones show where to look. */
export const MOST_FAULTS = 50

export interface Ledger {
  /** Recomputes the hash chain of the decisions; the first sequence that does not fit, or null. */
  verifyChain(): Promise<number | null>
  /** Checks everything under the chain. It takes long and delays this store's writes: for the command line. */
  inspect(): Promise<LedgerReport>
  /** Null: the chain was removed. */
  head(): Promise<LedgerHead | null>
  /** Hash of one entry; null when the chain has none there. */
  entryHash(chain: string, sequence: number): Promise<string | null>
  /** The newest signed head of a chain in the ledger; null: none. */
  newestCheckpoint(chain: string): Promise<HeldCheckpoint | null>
  recordCheckpoint(row: CheckpointRow): Promise<void>
  /** A person accepts this ledger in place of the one that the last checkpoint is about. */
  accept(by: string, reason: string): Promise<void>
}
