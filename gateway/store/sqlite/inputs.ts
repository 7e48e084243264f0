/**
 * The inputs of decisions, stored next to the ledger so that decisions can be replayed. One row for each decision; the texts
 * that the rows name by digest are stored once. The texts are bounded; the least recently used are removed first.
 */
import type { KeptContent, KeptInput } from '../store.ts'
import { integer, text, type Statements } from './statements.ts'

export const inputReads = {
  keptInput: (sql: Statements, decisionId: string): string | null => {
    const row = sql.get('SELECT input FROM decision_inputs WHERE decision_id = ?', decisionId)
    return row === undefined ? null : text(row, 'input')
  },

  keptContent: (sql: Statements, digest: string): Uint8Array | null => {
    const packed = sql.get('SELECT packed FROM kept_contents WHERE digest = ?', digest)?.['packed']
    return packed instanceof Uint8Array ? packed : null
  },
} as const

export const inputWrites = {
  /** Returns the digests whose texts are missing. */
  keepInput: (sql: Statements, { decisionId, input, digests, at }: KeptInput): readonly string[] => {
    sql.run('INSERT OR IGNORE INTO decision_inputs (decision_id, input) VALUES (?, ?)', decisionId, input)
    return digests.filter(
      (digest) => sql.run('UPDATE kept_contents SET used_at = ? WHERE digest = ?', at, digest) === 0,
    )
  },

  keepContent: (
    sql: Statements,
    { digest, packed, at, bound }: KeptContent & { readonly at: number; readonly bound: number },
  ): null => {
    if (packed.byteLength > bound) return null
    sql.run(
      'INSERT OR IGNORE INTO kept_contents (digest, packed, size, used_at) VALUES (?, ?, ?, ?)',
      digest,
      packed,
      packed.byteLength,
      at,
    )
    makeRoom(sql, bound)
    return null
  },
} as const

function makeRoom(sql: Statements, bound: number): void {
  for (;;) {
    const held = sql.get('SELECT coalesce(sum(size), 0) AS held FROM kept_contents INDEXED BY kept_contents_by_use')
    if (held === undefined || integer(held, 'held') <= bound) return
    sql.run('DELETE FROM kept_contents WHERE digest = (SELECT digest FROM kept_contents ORDER BY used_at LIMIT 1)')
  }
}
