/**
 * Ends what was made at a later time than the one that a person accepts. Its own end counts from a clock that was wrong in the
 * future, so it would last as long as that clock was ahead.
 */
import { text } from './columns.ts'
import { journal } from './journal.ts'
import type { Sql } from './operation.ts'

interface LaterThings {
  readonly kind: Parameters<typeof journal>[1]
  /** Ids of those that are in force and were made later than its one value. */
  readonly select: string
  /** Ends one of them. Its values are the accepted time and the id. */
  readonly end: string
}

const LATER: readonly LaterThings[] = [
  {
    kind: 'break_glass',
    select: 'SELECT id FROM break_glass WHERE opened_at > ? AND closed_at IS NULL AND ended_at IS NULL',
    end: 'UPDATE break_glass SET ended_at = ? WHERE id = ? AND closed_at IS NULL AND ended_at IS NULL',
  },
  {
    kind: 'approval',
    select: `SELECT approval_id AS id FROM approvals
      WHERE ended_at IS NULL AND CASE WHEN settled_at IS NULL THEN opened_at ELSE settled_at END > ?`,
    end: 'UPDATE approvals SET ended_at = ? WHERE approval_id = ? AND ended_at IS NULL',
  },
  {
    kind: 'approval_delegation',
    select: 'SELECT delegation_id AS id FROM approval_delegations WHERE at > ? AND ended_at IS NULL',
    end: `UPDATE approval_delegations SET ended_at = ?, ended_by = 'gateway' WHERE delegation_id = ? AND ended_at IS NULL`,
  },
  {
    kind: 'api_key_terms',
    // A key without an end has none to be wrong.
    select: `SELECT k.hash AS id FROM api_keys k JOIN api_key_terms t ON t.hash = k.hash
      WHERE k.created_at > ? AND t.expires_at > 0`,
    end: 'UPDATE api_key_terms SET expires_at = -CAST(? AS bigint) WHERE hash = ? AND expires_at > 0',
  },
]

/** @param at the accepted time, milliseconds since the epoch */
export async function endLaterThings(sql: Sql, at: number): Promise<void> {
  for (const { kind, select, end } of LATER)
    for (const row of await sql.all(select, at)) {
      const id = text(row, 'id')
      await sql.run(end, at, id)
      await journal(sql, kind, id)
    }
  // Challenges have no entries: they are deleted when they are over.
  await sql.run('DELETE FROM binding_challenges WHERE created_at > ?', at)
}
