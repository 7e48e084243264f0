/**
 * The rows that a page of journal entries is about: one query for each kind of row. With their entries they make an export that
 * verifies without the store.
 */
import { text, storedTexts } from './columns.ts'
import { isIn, type Sql } from './operation.ts'
import { hashedColumns } from './decisions.ts'
import { coveredCalls, coveredColumnsOf, PROTECTED, protectedColumns, type ProtectedTable } from './journal.ts'
import { type JournalEntry, journalEntry } from './chain.ts'
import type { ExportedEntry, LedgerBeginning } from '../ledger.ts'
import { allCuts } from './pruning.ts'

export type Columns = readonly unknown[]

/** Entries that are looked up together. */
const TOGETHER = 1000
/** Calls between the first and the last of one query: bounds what a page holds in memory. */
const CALLS_SPAN = 5000

/** Columns that digests cover, by the JSON text of the key. A key in other letters than its row has is not among them. */
export async function columnsByKey(
  sql: Sql,
  table: ProtectedTable,
  keys: readonly (readonly string[])[],
): Promise<ReadonlyMap<string, Columns>> {
  const [first = ''] = table.key
  const found = new Map<string, Columns>()
  for (let from = 0; from < keys.length; from += TOGETHER) {
    const wanted = new Set(keys.slice(from, from + TOGETHER).map(([value]) => value))
    const rows = await sql.all(
      `SELECT ${protectedColumns(sql, table)} FROM ${table.table} WHERE ${isIn(sql, `${table.table}.${first}`)}`,
      JSON.stringify([...wanted]),
    )
    for (const row of rows) found.set(JSON.stringify(table.key.map((column) => text(row, column))), Object.values(row))
  }
  return found
}

/** A decision as its hash covers it, by its id in a JSON list. */
async function decisionsByKey(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, Columns>> {
  const rows = await sql.all(
    `SELECT ${hashedColumns()} FROM decisions WHERE ${isIn(sql, 'decision_id')}`,
    JSON.stringify([...new Set(ids)]),
  )
  return new Map(rows.map((row) => [JSON.stringify([text(row, 'decision_id')]), Object.values(row)]))
}

export class PageRows {
  readonly #sql: Sql
  readonly #chain: string
  readonly #columns = new Map<string, ReadonlyMap<string, Columns>>()
  readonly #calls = new Map<string, readonly Columns[]>()

  private constructor(sql: Sql, chain: string) {
    this.#sql = sql
    this.#chain = chain
  }

  /**
   * @param chain of all the entries
   * @param decisions `whole`: decisions with every column that their hash covers
   */
  static async read(
    sql: Sql,
    chain: string,
    entries: readonly Pick<JournalEntry, 'kind' | 'key'>[],
    decisions: 'whole' | 'digested',
  ): Promise<PageRows> {
    const page = new PageRows(sql, chain)
    for (const table of PROTECTED) {
      const keys = entries.flatMap(({ kind, key }) => (kind === table.kind ? [storedTexts(JSON.parse(key))] : []))
      if (keys.length === 0) continue
      const isWhole = table.kind === 'decision' && decisions === 'whole'
      const ids = keys.map(([id = '']) => id)
      page.#columns.set(table.kind, await (isWhole ? decisionsByKey(sql, ids) : columnsByKey(sql, table, keys)))
    }
    await page.#readCalls(entries.flatMap(({ kind, key }) => (kind === 'calls' ? [callRange(key)] : [])))
    return page
  }

  /** Null: there is no such row, or the kind has none. */
  async columns(kind: string, key: string): Promise<Columns | null> {
    const known = this.#columns.get(kind)
    if (known === undefined) return null
    return known.get(key) ?? (await coveredColumnsOf(this.#sql, kind, storedTexts(JSON.parse(key))))
  }

  /** @param key of an entry of the kind `calls` */
  calls(key: string): readonly Columns[] {
    return this.#calls.get(key) ?? []
  }

  async #readCalls(ranges: readonly CallRange[]): Promise<void> {
    let together: CallRange[] = []
    for (const range of ranges) {
      const [first] = together
      if (first !== undefined && range.to - first.from >= CALLS_SPAN) {
        await this.#readTogether(together)
        together = []
      }
      together.push(range)
    }
    await this.#readTogether(together)
  }

  async #readTogether(ranges: readonly CallRange[]): Promise<void> {
    if (ranges.length === 0) return
    const from = Math.min(...ranges.map((range) => range.from))
    const to = Math.max(...ranges.map((range) => range.to))
    const rows = await coveredCalls(this.#sql, this.#chain, from, to)
    for (const { key, from: first, to: last } of ranges)
      this.#calls.set(key, rows.slice(indexOfSequence(rows, first), indexOfSequence(rows, last + 1)))
  }
}

interface CallRange {
  readonly key: string
  readonly from: number
  readonly to: number
}

function callRange(key: string): CallRange {
  const [from, to] = storedTexts(JSON.parse(key))
  return { key, from: Number(from), to: Number(to) }
}

/** Place of the first row from a sequence on; the rows are in their order, and it is their first column. */
function indexOfSequence(rows: readonly Columns[], sequence: number): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (Number(rows[middle]?.[0]) < sequence) low = middle + 1
    else high = middle
  }
  return low
}

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
