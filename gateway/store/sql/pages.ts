/**
 * Lists that are read page by page. A filter may match no row, and then all rows are read. SQLite has one thread for reads and
 * writes, so one page reads a bounded number of rows, and decisions are recorded between two pages.
 */
import { integer, type SqlValue } from './columns.ts'
import type { Sql } from './operation.ts'

/** Rows that one page reads. */
const SCANNED_ROWS = 10_000

export interface TablePage<Row> {
  readonly rows: readonly Row[]
  /** Older rows have a smaller sequence than this; null: there are none. */
  readonly next: number | null
}

/** Sequences of one page. */
interface PageRange {
  readonly from: number
  readonly before: number
}

/** Reads pages until there are enough rows, newest first. @param before null: from the newest row on */
export async function listByPages<Row>(
  limit: number,
  before: number | null,
  page: (limit: number, before: number | null) => Promise<TablePage<Row>>,
): Promise<readonly Row[]> {
  const found: Row[] = []
  for (let next = before; ;) {
    const { rows, next: below } = await page(limit - found.length, next)
    found.push(...rows)
    if (below === null || found.length >= limit) return found
    next = below
  }
}

/**
 * One page of a table of tenants with sequences. Sequences of other tenants and of removed rows are skipped by the index.
 * @param table a literal of this program
 * @param before null: from the newest row on
 */
export async function readPage<Row>(
  sql: Sql,
  { table, tenant, before }: { readonly table: string; readonly tenant: string; readonly before: number | null },
  rowsIn: (range: PageRange) => Promise<readonly Row[]>,
): Promise<TablePage<Row>> {
  const newest = await newestBelow(sql, table, tenant, before)
  if (newest === null) return { rows: [], next: null }
  const range = { from: Math.max(0, newest - SCANNED_ROWS + 1), before: newest + 1 }
  return { rows: await rowsIn(range), next: range.from === 0 ? null : range.from }
}

async function newestBelow(sql: Sql, table: string, tenant: string, before: number | null): Promise<number | null> {
  const values: readonly SqlValue[] = before === null ? [tenant] : [tenant, before]
  const row = await sql.get(
    `SELECT sequence FROM ${table} WHERE tenant = ?${before === null ? '' : ' AND sequence < ?'} ORDER BY sequence DESC LIMIT 1`,
    ...values,
  )
  return row === undefined ? null : integer(row, 'sequence')
}
