/**
 * The ledger's view of itself: its chains, the heads that are signed as checkpoints, and the faults that a full check finds.
 */
import { sha256Hex } from '../runtime/hash.ts'
import type { Change } from './changes.ts'

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

/** Where a chain begins after its beginning was removed: everything of it up to here is gone. */
export interface LedgerCut extends LedgerHead {
  /** Sequence of the last removed decision, and its hash; 0 and null: none was removed. */
  readonly decision: number
  readonly decisionHash: string | null
  /** Sequence of the last removed call record; 0: none was removed. */
  readonly call: number
}

/** `token`: the checkpoint of the last removed entry, signed before the removal. */
export interface SignedCut extends LedgerCut, CheckpointRow {}

export interface ProposedCut extends LedgerCut {
  /** Number of entries of decisions and calls that it removes. */
  readonly entries: number
}

/** Where a chain begins; null: nothing of it was removed. */
export interface LedgerBeginning {
  readonly chain: string
  readonly begins: SignedCut | null
}

/** One entry of the journal, with what its digest covers. */
export interface ExportedEntry {
  readonly chain: string
  readonly sequence: number
  readonly kind: string
  /** JSON list of texts. */
  readonly key: string
  readonly digest: string
  readonly hash: string
  /** Order among the entries of all chains; absent where there is one chain. */
  readonly ordinal?: number
  /**
   * Columns of each covered row, in the order of docs/reference/ledger.md; a decision with all of its columns. Null: the kind has
   * no rows, a newer entry has the row, or it is no longer there.
   */
  readonly rows: readonly (readonly unknown[])[] | null
}

/** What may be removed. Times are milliseconds since the epoch. */
export interface PruneLimits {
  /** Decisions and calls before this. */
  readonly before: number
  /** Receipts that are valid then stay. */
  readonly now: number
  /** Number of entries of decisions and calls that one proposal removes at most, of each chain. */
  readonly entries: number
}

export interface LedgerReport {
  readonly heads: readonly LedgerHead[]
  /** Sentences for people, each about one row, entry or checkpoint; empty when the ledger is intact. */
  readonly faults: readonly string[]
  readonly checkpoints: readonly CheckpointRow[]
  /** Where chains begin whose beginning was removed. */
  readonly cuts: readonly SignedCut[]
}

/** Digest of the entry of a row that the program itself has removed: of `null` in place of its columns. */
export const NO_ROW = sha256Hex('null')

/** A check stops after this many faults: the first ones show where to look. */
export const MOST_FAULTS = 50

export interface Ledger {
  /**
   * Changes of protected rows behind an entry of the one chain of this store, oldest first, and the last entry that was looked at.
   * Null: from now on.
   */
  changesBehind(sequence: number | null): Promise<{ readonly sequence: number; readonly changes: readonly Change[] }>
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
  /** All chains, oldest first. */
  beginnings(): Promise<readonly LedgerBeginning[]>
  /**
   * Entries behind the given sequences of their chains, with their rows, as of one moment: those of a chain together and in order.
   * Fewer than `limit`: it is all that there is now.
   */
  entries(behind: Readonly<Record<string, number>>, limit: number): Promise<readonly ExportedEntry[]>
  /** The signed heads of a chain, oldest first. */
  checkpoints(chain: string): Promise<readonly CheckpointRow[]>
  /** Where a chain begins; null: nothing of it was removed. */
  newestCut(chain: string): Promise<SignedCut | null>
  /** How far chains may be cut; empty: nothing can go. The caller signs each. Everything behind them is still there. */
  proposeCuts(limits: PruneLimits): Promise<readonly ProposedCut[]>
  /** From now on the chains begin behind their cuts. */
  recordCuts(cuts: readonly SignedCut[]): Promise<void>
  /** Removes a portion of the rows before the cuts; 0: nothing is left. */
  removeBehindCuts(limit: number): Promise<number>
  /** Bytes that the rows of the store use. */
  usedBytes(): Promise<number>
  /**
   * Records that a time has come. Answers the latest one that was recorded, which may be later.
   * @param at milliseconds since the epoch
   */
  keepTime(at: number): Promise<number>
  /** The latest time that was recorded, in milliseconds since the epoch; null: none was. */
  latestTime(): Promise<number | null>
  /**
   * A person accepts this ledger in place of the one that the last checkpoint is about, and the time of the clock from then on.
   * What was made later than that ends.
   * @param at milliseconds since the epoch
   */
  accept(by: string, reason: string, at: number): Promise<void>
}
