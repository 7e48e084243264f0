/** The kinds of store that tests run over: a file, and a real PostgreSQL server. Each opening is an empty store. */
import { DatabaseSync } from 'node:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgresStore, type PostgresStoreOptions } from '../../gateway/store/postgres/store.ts'
import { newChain } from '../../gateway/store/sql/journal.ts'
import { openSqliteStore } from '../../gateway/store/sqlite/store.ts'
import type { Store } from '../../gateway/store/store.ts'
import { postgresMissing, startPostgres } from './postgres-server.ts'

interface Stores {
  open(): Promise<Store>
  stop(): Promise<void>
}

interface StoreKind {
  readonly name: string
  /** Why it cannot be tested here; false: it can. */
  readonly missing: () => string | false
  start(): Stores
}

export const STORE_KINDS: readonly StoreKind[] = [
  { name: 'SQLite', missing: () => false, start: sqliteStores },
  { name: 'PostgreSQL', missing: postgresMissing, start: postgresStores },
]

function sqliteStores(): Stores {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-store-'))
  let files = 0
  return {
    open: () =>
      openSqliteStore({ file: join(directory, `ledger-${(files += 1)}.db`), calls: 'durable', flushMilliseconds: 5 }),
    stop: () => Promise.resolve(rmSync(directory, { recursive: true, force: true })),
  }
}

function postgresStores(): Stores {
  const server = startPostgres()
  return {
    open: async () => openPostgresStore(postgresOptions(await (await server).database())),
    stop: async () => (await server).stop(),
  }
}

/** Each opening is another gateway on the same database. */
export function postgresOptions(url: string, overrides: Partial<PostgresStoreOptions> = {}): PostgresStoreOptions {
  return {
    url,
    listenUrl: null,
    writer: newChain(),
    calls: 'durable',
    flushMilliseconds: 5,
    pool: 5,
    connectTimeout: 5000,
    statementTimeout: 10_000,
    lockTimeout: 5000,
    bound: 1,
    listens: false,
    ...overrides,
  }
}

/** Changes the ledger in a data directory past its triggers, as somebody with access to the file can. */
export function tamper(data: string, statements: string): void {
  const intruder = new DatabaseSync(join(data, 'ledger.db'))
  intruder.exec('PRAGMA foreign_keys = OFF')
  for (const row of intruder.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
    intruder.exec(`DROP TRIGGER ${String(row['name'])}`)
  intruder.exec(statements)
  intruder.close()
}
