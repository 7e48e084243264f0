/** The state of the database itself: whether it can be written now, its backup, and the bytes that its rows use. */
import { text, integer } from './columns.ts'
import { read, statement, type Operations, type Sql } from './operation.ts'

export interface Health {
  probe(): Promise<void>
  backUp(file: string): Promise<void>
}

export const health: Operations<Health> = {
  probe: statement(async (sql) => {
    await sql.run(
      'INSERT INTO probes (id, count) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET count = probes.count + 1',
    )
  }),

  // Outside a transaction: SQLite copies within one of its own.
  backUp: read(async (sql, file) => {
    if (sql.dialect !== 'sqlite') throw new Error('back up PostgreSQL with its own tools, for example pg_dump')
    await sql.run('VACUUM INTO ?', file)
  }),
}

/**
 * Rows that were removed leave room in the files, which later rows use: that room does not count, or pruning by size would go on
 * for ever.
 */
export function bytesInUse(sql: Sql): Promise<number> {
  return sql.dialect === 'sqlite' ? bytesOfPages(sql) : bytesOfTables(sql)
}

async function bytesOfPages(sql: Sql): Promise<number> {
  const row = await sql.get(
    `SELECT (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size)
       - (SELECT freelist_count FROM pragma_freelist_count) * (SELECT page_size FROM pragma_page_size) AS bytes`,
  )
  return integer(row ?? {}, 'bytes')
}

/** Tables that are pruned, with the number of their rows: of sequences, since counting rows would read them all. */
const PRUNED = [
  { table: 'decisions', rows: 'SELECT coalesce(max(sequence) - min(sequence) + 1, 0) FROM decisions' },
  { table: 'interceptions', rows: 'SELECT coalesce(max(sequence) - min(sequence) + 1, 0) FROM interceptions' },
  {
    table: 'ledger_journal',
    rows: `SELECT coalesce(sum(c.sequence - coalesce((SELECT max(k.sequence) FROM ledger_cuts k WHERE k.chain = c.chain), 0)), 0)
           FROM ledger_chains c`,
  },
] as const

/** Header and pointer of a row in PostgreSQL. */
const ROW_OVERHEAD = 28
/** Pages that a sample reads. */
const SAMPLED_PAGES = 100

/** PostgreSQL does not tell what is free in its files: rows × their size in a sample is the part of a table that is in use. */
async function bytesOfTables(sql: Sql): Promise<number> {
  const total = await sql.get(
    `SELECT sum(pg_total_relation_size(c.oid))::bigint AS bytes FROM pg_class c
     WHERE c.relkind IN ('r', 'm') AND c.relnamespace = current_schema()::regnamespace`,
  )
  let bytes = integer(total ?? {}, 'bytes')
  for (const { table, rows } of PRUNED) bytes -= await freeBytes(sql, table, rows)
  return bytes
}

async function freeBytes(sql: Sql, table: string, rows: string): Promise<number> {
  const size = await sql.get(
    `SELECT sum(pg_total_relation_size(relid))::bigint AS bytes, sum(pg_table_size(relid))::bigint AS content,
       sum(pg_relation_size(relid))::bigint AS main, (${rows})::bigint AS rows
     FROM (SELECT CAST('${table}' AS regclass) AS relid UNION ALL
       SELECT inhrelid FROM pg_inherits WHERE inhparent = CAST('${table}' AS regclass)) relations`,
  )
  const [total, content, main] = ['bytes', 'content', 'main'].map((column) => integer(size ?? {}, column))
  if (total === undefined || content === undefined || main === undefined || main === 0) return 0
  // Few different texts: each is kept once it was used.
  const percent = Math.min(100, 10 ** Math.ceil(Math.log10((SAMPLED_PAGES * 8192 * 100) / main)))
  const columns = await sql.all(
    'SELECT attname AS name FROM pg_attribute WHERE attrelid = CAST(? AS regclass) AND attnum > 0 AND NOT attisdropped',
    table,
  )
  const width = columns.map((row) => `coalesce(pg_column_size(${text(row, 'name')}), 0)`).join(' + ')
  const sample = await sql.get(
    `SELECT coalesce(avg(${width}), 0)::float8 AS width FROM ${table} TABLESAMPLE SYSTEM (${percent})`,
  )
  const used = integer(size ?? {}, 'rows') * (integer(sample ?? {}, 'width') + ROW_OVERHEAD)
  return Math.round(total * Math.max(0, 1 - used / content))
}
