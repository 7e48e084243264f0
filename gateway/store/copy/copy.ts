/**
 * Moves a whole store to a store of another kind: from a file to PostgreSQL when one gateway becomes many, and back. The chains stay
 * as they are, entry by entry, so checkpoints that were kept elsewhere hold for the copy too. Both ledgers are checked, and the
 * copy is there whole or not at all.
 */
import { GENESIS_HASH } from '../sql/chain.ts'
import type { LedgerHead, LedgerReport } from '../ledger.ts'
import { integer, text, type SqlRow } from '../sql/columns.ts'
import { headOfChain } from '../sql/journal.ts'
import type { Sql } from '../sql/operation.ts'
import { OPERATION_BY_NAME, tablesOver } from '../sql/operations.ts'
import { verifyChain } from '../sql/store.ts'
import { type Source, type Target, COPIED, type CopiedTable } from './side.ts'

interface CopyReport {
  readonly rows: number
  /** Those of both stores. */
  readonly heads: readonly LedgerHead[]
  /** Why there is no copy; empty: it is there. */
  readonly faults: readonly string[]
}

/** @param progress called with what is done now */
export async function copyStore(source: Source, target: Target, progress: (text: string) => void): Promise<CopyReport> {
  progress(`checking ${source.description}`)
  const before = await inspected(source.sql)
  if (before.faults.length > 0) return { rows: 0, heads: before.heads, faults: before.faults }
  const first = await source.sql.get('SELECT min(at) AS at FROM interceptions')
  await target.prepare(first === undefined || first['at'] === null ? null : integer(first, 'at'))
  let rows = 0
  const counts = new Map<string, number>()
  for (const table of COPIED) {
    const count = await copyTable(table, source, target, (copied) => progress(`${table.name}: ${copied} rows`))
    counts.set(table.name, count)
    rows += count
  }
  progress(`checking ${target.description}`)
  const missing = await missingRows(target.sql, counts)
  await target.finish()
  const after = await inspected(target.sql)
  const faults = [...missing, ...after.faults, ...headDifferences(before.heads, after.heads)]
  if (faults.length === 0) await target.commit()
  return { rows, heads: before.heads, faults }
}

async function copyTable(
  table: CopiedTable,
  source: Source,
  target: Target,
  progress: (copied: number) => void,
): Promise<number> {
  const given = new Set(await source.columns(table.name))
  const complete = COMPLETED.get(table.name) ?? ((row: SqlRow) => row)
  const columns = (await target.columns(table.name)).filter(
    (column) => given.has(column) || ADDED.get(table.name)?.includes(column) === true,
  )
  let count = 0
  for await (const page of source.rows(table)) {
    const rows: SqlRow[] = []
    for (const row of page) rows.push(await complete(row, source.sql))
    await target.add(table.name, columns, rows)
    count += rows.length
    progress(count)
  }
  return count
}

/** Columns that only PostgreSQL has, or that are computed in a file. */
const ADDED: ReadonlyMap<string, readonly string[]> = new Map([
  ['ledger_chains', ['sequence', 'hash', 'decision_hash']],
  ['decisions', ['audience']],
])

/** What the rows of a file leave to be known from the file. */
const COMPLETED: ReadonlyMap<string, (row: SqlRow, sql: Sql) => SqlRow | Promise<SqlRow>> = new Map([
  ['ledger_chains', async (row, sql) => ({ ...row, ...(await chainEnd(sql, text(row, 'chain'))) })],
  ['decisions', withChain],
  ['interceptions', withChain],
])

async function chainEnd(sql: Sql, chain: string): Promise<SqlRow> {
  const { sequence, hash } = await headOfChain(sql, chain)
  const own = sql.writer === null ? '' : 'WHERE chain = ? '
  const newest =
    (await sql.get(
      `SELECT hash FROM decisions ${own}ORDER BY sequence DESC LIMIT 1`,
      ...(sql.writer === null ? [] : [chain]),
    )) ?? (await sql.get('SELECT decision_hash AS hash FROM ledger_cuts WHERE chain = ?', chain))
  return { sequence, hash, decision_hash: typeof newest?.['hash'] === 'string' ? newest['hash'] : GENESIS_HASH }
}

/** Where there is one chain, rows do not name it. */
async function withChain(row: SqlRow, sql: Sql): Promise<SqlRow> {
  if (typeof row['chain'] === 'string') return row
  const only = await sql.get('SELECT chain FROM ledger_chains')
  return { ...row, chain: text(only ?? {}, 'chain') }
}

async function missingRows(sql: Sql, counts: ReadonlyMap<string, number>): Promise<readonly string[]> {
  const faults: string[] = []
  for (const [table, count] of counts) {
    const found = integer((await sql.get(`SELECT count(*) AS n FROM ${table}`)) ?? {}, 'n')
    if (found !== count) faults.push(`${table} has ${found} rows, and ${count} were copied.`)
  }
  return faults
}

async function inspected(sql: Sql): Promise<Pick<LedgerReport, 'heads' | 'faults'>> {
  const tables = tablesOver((name, values) => runOperation(sql, name, values))
  const { heads, faults } = await tables.ledger.inspect()
  const broken = await verifyChain(tables)
  return {
    heads,
    faults:
      broken === null
        ? faults
        : [...faults, `The decision at row ${broken}, or the one before it, was changed, removed or moved.`],
  }
}

function runOperation(sql: Sql, name: string, values: readonly unknown[]): Promise<unknown> {
  const operation = OPERATION_BY_NAME.get(name)
  if (operation === undefined) throw new TypeError(`unknown operation ${name}`)
  const given: readonly never[] = Object.assign([], values)
  return operation.run(sql, ...given)
}

function headDifferences(before: readonly LedgerHead[], after: readonly LedgerHead[]): readonly string[] {
  return before.flatMap(({ chain, sequence, hash }) => {
    const copy = after.find((head) => head.chain === chain)
    return copy?.sequence === sequence && copy.hash === hash
      ? []
      : [`The chain ${chain} ends at entry ${sequence}, and its copy does not end there.`]
  })
}
