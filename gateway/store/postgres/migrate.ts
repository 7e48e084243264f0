/**
 * Brings the schema of a database to the version of this program. Many gateways may start together: one of them migrates, the
 * others wait for it. A newer schema is refused: an older program would not write what the newer one relies on.
 */
import { errorCode } from '../../errors/startup-error.ts'
import type { PostgresConnection } from './connections.ts'
import { MIGRATIONS } from './migrations.ts'

/** Any number that no other program takes an advisory lock on: `preflight` in ASCII, cut to 63 bits. */
export const MIGRATION_LOCK = '8102655286468409449'

/** SQLSTATE of a lock that was not given in time. */
const LOCK_TIMEOUT = '55P03'

/** Months that have a partition in advance. */
const MONTHS_AHEAD = 2

export class NewerSchemaError extends Error {
  constructor(version: number) {
    super(`it has the schema ${version}, and this program knows ${MIGRATIONS.length}`)
    this.name = 'NewerSchemaError'
  }
}

/** @param now milliseconds since the epoch */
export async function migrate(connection: PostgresConnection, now: number, migrations = MIGRATIONS): Promise<void> {
  const version = await schemaVersionOf(connection)
  if (version > migrations.length) throw new NewerSchemaError(version)
  if (version < migrations.length) await inLock(connection, () => migrateFrom(connection, migrations))
  await makePartitions(connection, now)
}

/**
 * Makes the partitions of calls of this month and the next ones. While a long query reads the calls, none can be made. The next
 * time makes them; until then calls are in the default partition.
 *
 * @param now milliseconds since the epoch
 */
export async function makePartitions(connection: PostgresConnection, now: number): Promise<void> {
  await inLock(connection, async () => {
    await connection.query(`SET LOCAL lock_timeout = '1s'`)
    await connection.query('SELECT preflight_make_partitions($1, $2)', [now, MONTHS_AHEAD])
  }).catch((error: unknown) => {
    if (errorCode(error) !== LOCK_TIMEOUT) throw error
  })
}

async function migrateFrom(connection: PostgresConnection, migrations: readonly string[]): Promise<void> {
  // Another gateway may have done it while this one waited for the lock.
  const version = await schemaVersionOf(connection)
  if (version > migrations.length) throw new NewerSchemaError(version)
  await connection.query('CREATE TABLE IF NOT EXISTS preflight_schema (version integer NOT NULL)')
  for (const migration of migrations.slice(version)) await connection.query(migration)
  await connection.query('DELETE FROM preflight_schema')
  await connection.query('INSERT INTO preflight_schema (version) VALUES ($1)', [migrations.length])
}

/** The lock ends with the transaction, whatever happens to the connection. */
async function inLock(connection: PostgresConnection, work: () => Promise<unknown>): Promise<void> {
  await connection.query('BEGIN')
  try {
    // Waiting for another gateway's migration is no fault.
    await connection.query('SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0')
    await connection.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    await work()
    await connection.query('COMMIT')
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** 0: the store was never opened in this database. */
async function schemaVersionOf(connection: PostgresConnection): Promise<number> {
  // Not to_regclass: inside a transaction it may answer from before the lock was given.
  const { rows: tables } = await connection.query(
    "SELECT 1 FROM pg_catalog.pg_class c WHERE c.relname = 'preflight_schema' AND pg_catalog.pg_table_is_visible(c.oid)",
  )
  if (tables.length === 0) return 0
  const { rows } = await connection.query<{ readonly version: number }>('SELECT version FROM preflight_schema')
  return rows[0]?.version ?? 0
}
