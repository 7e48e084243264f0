/** Journal entries with the rows that their digests cover, for exports that verify without the store. */
import type { ExportedEntry } from '../ledger.ts'
import { integer, text, textsOf, type SqlRow } from './columns.ts'
import { hashedColumns } from './decisions.ts'
import { coveredCalls, coveredColumns } from './journal.ts'
import type { Sql } from './operation.ts'

export async function exportedEntries(
  sql: Sql,
  chain: string,
  behind: number,
  limit: number,
): Promise<readonly ExportedEntry[]> {
  const rows = await sql.all(
    'SELECT * FROM ledger_journal WHERE chain = ? AND sequence > ? ORDER BY sequence LIMIT ?',
    chain,
    behind,
    limit,
  )
  const entries: ExportedEntry[] = []
  for (const row of rows)
    entries.push({
      sequence: integer(row, 'sequence'),
      kind: text(row, 'kind'),
      key: text(row, 'key'),
      digest: text(row, 'digest'),
      hash: text(row, 'hash'),
      ...(typeof row['ordinal'] === 'number' && { ordinal: row['ordinal'] }),
      rows: await rowsOf(sql, row),
    })
  return entries
}

async function rowsOf(sql: Sql, entry: SqlRow): Promise<ExportedEntry['rows']> {
  const kind = text(entry, 'kind')
  const key = textsOf(JSON.parse(text(entry, 'key')))
  if (kind === 'calls') return coveredCalls(sql, text(entry, 'chain'), Number(key[0]), Number(key[1]))
  if (kind === 'decision') return listOfOne(await hashedColumns(sql, key[0] ?? ''))
  return listOfOne(await coveredColumns(sql, kind, key))
}

function listOfOne(columns: readonly unknown[] | null): ExportedEntry['rows'] {
  return columns === null ? null : [columns]
}
