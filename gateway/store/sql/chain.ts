/**
 * The hash chain of the ledger: each decision row covers its own columns and the previous hash, so a changed, missing or moved
 * row is found.
 */
import { sha256Hex } from '../../runtime/hash.ts'
import type { DecisionRow } from '../decisions.ts'

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
  return `sha256:${sha256Hex(JSON.stringify(columns))}`
}
