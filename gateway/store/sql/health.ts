/** A write that proves that the store can be written now. */
import { existsSync } from 'node:fs'
import { text } from './columns.ts'
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
    if (sql.dialect === 'sqlite') await requireFile(sql)
  }),

  // Outside a transaction: SQLite copies within one of its own.
  backUp: read(async (sql, file) => {
    if (sql.dialect !== 'sqlite') throw new Error('back up PostgreSQL with its own tools, for example pg_dump')
    await sql.run('VACUUM INTO ?', file)
  }),
}

/** The file must still be there: SQLite goes on writing to an unlinked one. */
async function requireFile(sql: Sql): Promise<void> {
  const row = await sql.get("SELECT file FROM pragma_database_list WHERE name = 'main'")
  const file = row === undefined ? '' : text(row, 'file')
  if (!existsSync(file)) throw new Error(`${file} is gone; restart the gateway to make a new ledger`)
}
