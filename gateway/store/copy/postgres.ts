/** A PostgreSQL database as one end of a copy. */
import { errorCode, StartupError } from '../../errors/startup-error.ts'
import { addressWords, readPostgresUrl } from '../postgres/address.ts'
import { openConnections, type PostgresConnection } from '../postgres/connections.ts'
import { migrate, MIGRATION_LOCK } from '../postgres/migrate.ts'
import { postgresOpeningFault } from '../postgres/opening-fault.ts'
import { statementsOn } from '../postgres/statements.ts'
import { integer, text, type SqlRow } from '../sql/columns.ts'
import type { Side, Source, Target, CopiedTable } from './side.ts'

/** Milliseconds. A copy of a large store has long statements. */
const LIMITS = { pool: 1, connectTimeout: 10_000, statementTimeout: 3_600_000, lockTimeout: 10_000, isPooled: false }

export async function postgresSource(url: string): Promise<Source> {
  const side = await openSide(url, 'BEGIN ISOLATION LEVEL REPEATABLE READ')
  const { connection } = side
  return {
    ...side,
    async *rows({ name, step }: CopiedTable) {
      await connection.query(`DECLARE copied NO SCROLL CURSOR FOR SELECT * FROM ${name}`)
      for (;;) {
        const { rows } = await connection.query<SqlRow>(`FETCH ${step} FROM copied`)
        if (rows.length === 0) break
        yield rows
      }
      await connection.query('CLOSE copied')
    },
    close: () => side.end('ROLLBACK'),
  }
}

export async function postgresTarget(url: string): Promise<Target> {
  const side = await openSide(url, 'BEGIN')
  const { connection, sql } = side
  let isComplete = false
  const close = () => side.end(isComplete ? 'COMMIT' : 'ROLLBACK')
  try {
    // A gateway that starts now waits until the copy is there.
    await connection.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    for (const table of ['ledger_chains', 'decisions', 'interceptions', 'api_keys', 'baselines'])
      if ((await sql.get(`SELECT 1 AS n FROM ${table} LIMIT 1`)) !== undefined)
        throw new StartupError(
          `${side.description} is not empty: its table ${table} has rows. A copy never adds to a store: make a new database with createdb.`,
        )
  } catch (error) {
    await close()
    throw error
  }
  return {
    ...side,
    async prepare(firstCall) {
      // Older calls stay together: thousands of partitions would make every query slow.
      const oldest = Math.max(firstCall ?? Date.now(), Date.now() - PARTITIONED)
      for (let at = oldest; at < Date.now(); at += 28 * 86_400_000)
        await connection.query('SELECT preflight_make_partitions($1, 1)', [at])
    },
    async add(table, columns, rows) {
      const names = columns.join(', ')
      try {
        await connection.query(
          `INSERT INTO ${table} (${names}) OVERRIDING SYSTEM VALUE
           SELECT ${names} FROM json_populate_recordset(NULL::${table}, $1)`,
          [JSON.stringify(rows.map((row) => Object.fromEntries(columns.map((name) => [name, copiedJson(row[name])]))))],
        )
      } catch (error) {
        if (errorCode(error) !== UNTRANSLATABLE) throw error
        throw new StartupError(`A text in ${table} has a NUL character, which PostgreSQL cannot store.`, {
          cause: error,
        })
      }
    },
    finish: async () => {
      for (const statement of SEQUENCES) await connection.query(statement)
    },
    commit: () => Promise.resolve(void (isComplete = true)),
    close,
  }
}

/** Milliseconds in the past whose months get a partition each. */
const PARTITIONED = 3 * 365 * 86_400_000

/** SQLSTATE of \u0000 in JSON. */
const UNTRANSLATABLE = '22P05'

/** Numbers that are given next: after the rows, and after those that were removed. */
const SEQUENCES = [
  `SELECT setval('decision_sequence', greatest(1, (SELECT max(sequence) FROM decisions), (SELECT max(decision) FROM ledger_cuts)))`,
  `SELECT setval('call_sequence', greatest(1, (SELECT max(sequence) FROM interceptions), (SELECT max(call) FROM ledger_cuts)))`,
  `SELECT setval('ledger_ordinal', greatest(1, (SELECT max(ordinal) FROM ledger_journal)))`,
  `SELECT setval(pg_get_serial_sequence('approvals', 'sequence'), greatest(1, (SELECT max(sequence) FROM approvals)))`,
]

interface OpenSide extends Omit<Side, 'close'> {
  readonly connection: PostgresConnection
  end(statement: 'COMMIT' | 'ROLLBACK'): Promise<void>
}

async function openSide(url: string, begin: string): Promise<OpenSide> {
  const read = readPostgresUrl(url)
  if (!read.ok) throw new StartupError(`The URL of the database cannot be used: ${read.problem}; ${read.fix}.`)
  const description = addressWords(read.address)
  const ready = Promise.withResolvers<PostgresConnection>()
  const ended = Promise.withResolvers<'COMMIT' | 'ROLLBACK'>()
  const connections = openConnections(read.address, LIMITS)
  const work = async (connection: PostgresConnection): Promise<void> => {
    await migrate(connection, Date.now())
    await requireUnused(connection, description)
    await connection.query(begin)
    ready.resolve(connection)
    await connection.query(await ended.promise)
  }
  const lifetime = async (): Promise<void> => {
    try {
      await connections.use(work)
    } finally {
      await connections.close()
    }
  }
  const finished = lifetime()
  finished.catch(ready.reject)
  let connection: PostgresConnection
  try {
    connection = await ready.promise
  } catch (error) {
    if (error instanceof StartupError) throw error
    throw new StartupError(postgresOpeningFault(description, error), { cause: error })
  }
  return {
    description,
    connection,
    // The name of a chain that nothing is written to: the ledger has one for each gateway.
    sql: statementsOn(connection, ''),
    columns: async (table) => {
      const { rows } = await connection.query<SqlRow>(
        'SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped',
        [table],
      )
      return rows.map((row) => text(row, 'name'))
    },
    end: (statement) => {
      ended.resolve(statement)
      return finished
    },
  }
}

/** What a gateway writes meanwhile would not be in the copy. */
async function requireUnused(connection: PostgresConnection, description: string): Promise<void> {
  const { rows } = await connection.query<SqlRow>(
    `SELECT count(*) AS n FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'preflight' AND pid <> pg_backend_pid()`,
  )
  const others = integer(rows[0] ?? {}, 'n')
  if (others > 0)
    throw new StartupError(
      `Gateways use ${description} now (${others} connections): stop them first, or what they write would be missing in the copy.`,
    )
}

function copiedJson(value: unknown): unknown {
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value
}
