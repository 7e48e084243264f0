/**
 * Statements on the inputs of decisions, stored next to the ledger so that decisions can be replayed. One row for each decision;
 * the texts that the rows name by digest are stored once. The texts are bounded; the least recently used are removed first.
 */
import type { Inputs } from '../inputs.ts'
import { integer, text } from './columns.ts'
import { read, write, type Operations, type Sql } from './operation.ts'

export const inputs: Operations<Inputs> = {
  keep: write(async (sql, { decisionId, input, digests, at }) => {
    await sql.run(
      'INSERT INTO decision_inputs (decision_id, input) VALUES (?, ?) ON CONFLICT DO NOTHING',
      decisionId,
      input,
    )
    const missing: string[] = []
    for (const digest of digests)
      if ((await sql.run('UPDATE kept_contents SET used_at = ? WHERE digest = ?', at, digest)) === 0)
        missing.push(digest)
    return missing
  }),

  keepContent: write(async (sql, { digest, packed }, at, bound) => {
    if (packed.byteLength > bound) return
    await sql.run(
      'INSERT INTO kept_contents (digest, packed, size, used_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
      digest,
      packed,
      packed.byteLength,
      at,
    )
    await makeRoom(sql, bound)
  }),

  byDecision: read(async (sql, decisionId) => {
    const row = await sql.get('SELECT input FROM decision_inputs WHERE decision_id = ?', decisionId)
    return row === undefined ? null : text(row, 'input')
  }),

  content: read(async (sql, digest) => {
    const packed = (await sql.get('SELECT packed FROM kept_contents WHERE digest = ?', digest))?.['packed']
    return packed instanceof Uint8Array ? packed : null
  }),
}

async function makeRoom(sql: Sql, bound: number): Promise<void> {
  for (;;) {
    const held = await sql.get('SELECT CAST(coalesce(sum(size), 0) AS bigint) AS held FROM kept_contents')
    if (held === undefined || integer(held, 'held') <= bound) return
    await sql.run(
      'DELETE FROM kept_contents WHERE digest = (SELECT digest FROM kept_contents ORDER BY used_at LIMIT 1)',
    )
  }
}
