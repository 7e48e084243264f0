/**
 * The hash chains of the ledger: each row covers its own columns and the previous hash, so a changed, missing or moved row is
 * found. The bytes are stated in docs/reference/hashes.md.
 */
import { sha256Hex } from '../../runtime/hash.ts'
import type { DecisionRow } from '../decisions.ts'
import type { LedgerCut } from '../ledger.ts'
import { integer, text, type SqlRow } from './columns.ts'
import type { Sql } from './operation.ts'

/** The previous hash of the first row. */
export const GENESIS_HASH = `sha256:${'0'.repeat(64)}`

/**
 * SHA-256 over the JSON array of the previous hash, the sequence and every column in the order of the table. An array of
 * strings, integers and nulls has one JSON form only (RFC 8785 agrees with JSON.stringify on it), so anyone can recompute it.
 */
export function chainHash(previousHash: string, sequence: number, row: DecisionRow): string {
  const columns = [
    previousHash,
    sequence,
    row.decisionId,
    row.tenant,
    row.route,
    row.decision,
    row.executionAction,
    row.operation,
    row.environment,
    row.repository,
    row.fingerprint,
    row.inputFingerprint,
    row.evaluatedAt,
    row.expiresAt,
    row.supersessionKey,
    row.envelope,
    row.response,
    row.idempotency?.key ?? null,
    row.idempotency?.bodyDigest ?? null,
  ]
  return `sha256:${sha256Hex(storedJson(columns))}`
}

/**
 * JSON of values as a database holds them. Half a surrogate pair is stored as U+FFFD: a hash over the half itself would
 * report the stored row as changed.
 */
export function storedJson(values: readonly unknown[]): string {
  const json = JSON.stringify(values)
  if (!HALF_PAIR.test(json)) return json
  return JSON.stringify(values, (_, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value))
}

/** JSON.stringify escapes halves only; a text may contain such an escape itself. */
const HALF_PAIR = /\\ud[89a-f]/

/** The previous hash of a chain's first entry: no two chains have the same entry. */
export function genesisOf(chain: string): string {
  return `sha256:${sha256Hex(`preflight ledger chain\n${chain}`)}`
}

export interface JournalEntry {
  readonly chain: string
  readonly sequence: number
  readonly kind: string
  /** JSON list of texts. */
  readonly key: string
  readonly digest: string
  /** Order among the entries of all chains; null where there is one chain. */
  readonly ordinal: number | null
}

/** A row of the journal, with its hash as stored. */
export function journalEntry(row: SqlRow): JournalEntry & { readonly hash: string } {
  return {
    chain: text(row, 'chain'),
    sequence: integer(row, 'sequence'),
    kind: text(row, 'kind'),
    key: text(row, 'key'),
    digest: text(row, 'digest'),
    hash: text(row, 'hash'),
    ordinal: typeof row['ordinal'] === 'number' ? row['ordinal'] : null,
  }
}

/** An array of strings and integers has one JSON form only, so anyone can recompute it. */
export function entryHash(previousHash: string, entry: JournalEntry): string {
  const { chain, sequence, kind, key, digest, ordinal } = entry
  const members = [previousHash, chain, sequence, kind, key, digest, ...(ordinal === null ? [] : [ordinal])]
  return `sha256:${sha256Hex(JSON.stringify(members))}`
}

/** What the entry of a cut covers: an entry of the chain, so that the place of the cut cannot be changed later. */
export function cutEntry(
  { writer }: Pick<Sql, 'writer'>,
  cut: LedgerCut,
): { readonly key: readonly string[]; readonly digest: string } {
  const { chain, sequence, hash, decision, decisionHash, call } = cut
  return {
    // Among many chains the entry may be in another one than is cut.
    key: [String(sequence), String(decision), String(call), ...(writer === null ? [] : [chain])],
    digest: sha256Hex(JSON.stringify([hash, decisionHash])),
  }
}
