/** The ledger of decisions: rows that are written once and never change. */
import type { Decision, ExecutionAction, ReceiptState } from '../../engine/internal.ts'

/**
 * The members by which a later decision supersedes an earlier one (docs/reference/hashes.md#scope-key), joined into one text.
 */
export type SupersessionKey = string

/** Time in which a request with the same idempotency key is a repeated one, milliseconds. */
export const REPLAYED_FOR_MS = 24 * 3600 * 1000

export interface DecisionRow {
  readonly decisionId: string
  readonly tenant: string
  readonly route: string | null
  readonly decision: Decision
  readonly executionAction: ExecutionAction
  readonly operation: string | null
  readonly environment: string | null
  readonly repository: string | null
  readonly fingerprint: string
  readonly inputFingerprint: string
  readonly evaluatedAt: number
  readonly expiresAt: number
  readonly supersessionKey: SupersessionKey
  /** The envelope as issued, JSON text. */
  readonly envelope: string
  /** The whole authorize answer, JSON text; null for intercepted calls. */
  readonly response: string | null
  readonly idempotency: { readonly key: string; readonly bodyDigest: string } | null
  /** Place of its receipt in a status list, as in the claims; null: the receipt names none. */
  readonly statusPlace: { readonly list: string; readonly index: number } | null
  /** The W3C trace of the request that was decided; null: none. Not covered by the hash. */
  readonly traceId: string | null
}

export interface StoredDecision extends DecisionRow {
  readonly receiptState: ReceiptState
  /** Position in the ledger, from 1; `hash` covers the row and the previous hash. */
  readonly sequence: number
  readonly previousHash: string
  readonly hash: string
}

export interface LedgerFilter {
  readonly tenant: string
  /** Only decisions that were issued to this audience. */
  readonly audience?: string
  readonly repository?: string
  readonly decision?: Decision
  readonly operation?: string
  readonly environment?: string
  readonly route?: string
  readonly traceId?: string
  readonly from?: number
  readonly to?: number
  readonly limit: number
  /** Only rows with a smaller sequence. */
  readonly before?: number
}

/** The earlier decisions of one scope. Times are milliseconds since the epoch. */
interface HistoryFilter {
  readonly tenant: string
  readonly supersessionKey: SupersessionKey
  readonly since: number
  readonly limit: number
}

/** Which decisions are counted, in periods of equal length from `from` on. Times are milliseconds. */
interface CountFilter {
  readonly tenant: string
  readonly from: number
  readonly period: number
}

/** Decisions of one kind by one route in one period, counted from 0. */
export interface DecisionCount extends Pick<DecisionRow, 'route' | 'decision'> {
  readonly period: number
  readonly count: number
}

export type HistoryRow = Pick<DecisionRow, 'decision' | 'inputFingerprint' | 'evaluatedAt'>

export interface Decisions {
  /** Makes the decision durable and marks older ones of the same tenant and supersession key superseded, in one transaction. */
  record(row: DecisionRow): Promise<void>
  /** @param audience issued to it only; null or absent: to anybody of the tenant */
  byId(tenant: string, decisionId: string, audience?: string | null): Promise<StoredDecision | null>
  /** The newest with this fingerprint. */
  byFingerprint(tenant: string, fingerprint: string, audience?: string | null): Promise<StoredDecision | null>
  byIdempotencyKey(tenant: string, key: string, since: number, audience?: string | null): Promise<StoredDecision | null>
  /** Newest first. */
  list(filter: LedgerFilter): Promise<readonly StoredDecision[]>
  counts(filter: CountFilter): Promise<readonly DecisionCount[]>
  /** Newest first. */
  history(filter: HistoryFilter): Promise<readonly HistoryRow[]>
}
