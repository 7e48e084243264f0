/** Journal entries with the rows that their digests cover, for exports that verify without the store. */
import type { ExportedEntry, LedgerBeginning } from '../ledger.ts'
import { text } from './columns.ts'
import { journalEntry, type JournalEntry } from './entry.ts'
import type { Sql } from './operation.ts'
import { PageRows } from './page-rows.ts'
import { allCuts } from './pruning.ts'

/** Where each chain begins, in the order in which they were opened. */
export async function beginnings(sql: Sql): Promise<readonly LedgerBeginning[]> {
  const cuts = new Map((await allCuts(sql)).map((cut) => [cut.chain, cut]))
  return (await chainsOf(sql)).map((chain) => ({ chain, begins: cuts.get(chain) ?? null }))
}

export async function chainsOf(sql: Sql): Promise<readonly string[]> {
  return (await sql.all('SELECT chain FROM ledger_chains ORDER BY opened_at, chain')).map((row) => text(row, 'chain'))
}

/**
 * Entries of all chains, chain by chain. A page that is not full ends an export: it has all that is left at one moment. So every
 * row of an earlier page comes with its newest entry.
 * @param behind sequence of the last known entry of each chain
 */
export async function exportedEntries(
  sql: Sql,
  behind: Readonly<Record<string, number>>,
  limit: number,
): Promise<readonly ExportedEntry[]> {
  const places = new Map(Object.entries(behind))
  const entries: ExportedEntry[] = []
  for (const chain of await chainsOf(sql)) {
    const rows = await sql.all(
      'SELECT * FROM ledger_journal WHERE chain = ? AND sequence > ? ORDER BY sequence LIMIT ?',
      chain,
      places.get(chain) ?? 0,
      limit - entries.length,
    )
    entries.push(...(await withRows(sql, chain, rows.map(journalEntry))))
    if (entries.length >= limit) break
  }
  return entries
}

async function withRows(
  sql: Sql,
  chain: string,
  entries: readonly (JournalEntry & { readonly hash: string })[],
): Promise<readonly ExportedEntry[]> {
  const page = await PageRows.read(sql, chain, entries, 'whole')
  const exported: ExportedEntry[] = []
  for (const { sequence, kind, key, digest, hash, ordinal } of entries) {
    const columns = kind === 'calls' ? null : await page.columns(kind, key)
    const rows = kind === 'calls' ? page.calls(key) : columns === null ? null : [columns]
    exported.push({ chain, sequence, kind, key, digest, hash, ...(ordinal !== null && { ordinal }), rows })
  }
  return exported
}
