/** What the ledger says of itself: its chains, the heads that are signed as checkpoints, and the faults that a check of the whole finds. */

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

/** The newest checkpoint that the ledger itself holds. */
export interface HeldCheckpoint extends CheckpointRow {
  /** A person accepted the ledger later than that: the file beside it may be gone. */
  readonly isAcceptedSince: boolean
}

export interface LedgerReport {
  readonly heads: readonly LedgerHead[]
  /** Sentences for people, each about one row, entry or checkpoint; empty when the ledger is whole. */
  readonly faults: readonly string[]
  readonly checkpoints: readonly CheckpointRow[]
}

/** A check stops after this many: the first ones say where to look. */
export const MOST_FAULTS = 50
