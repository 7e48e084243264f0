/**
 * The store that several gateways share: PostgreSQL behind the store interface. Each operation is one transaction; decisions and
 * call records of many callers are one statement, which is one round trip and one commit.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { GatewayError } from '../../errors/errors.ts'
import { messageOf, StartupError } from '../../errors/startup-error.ts'
import { timedChanges } from '../changes.ts'
import type { DecisionRow } from '../decisions.ts'
import { storeUnavailable, RefusedRowError, type Store, type StoreEvents } from '../store.ts'
import { callColumns } from '../sql/calls.ts'
import { readCallText } from '../sql/call-text.ts'
import type { ServingLocks } from '../sqlite/serving-lock.ts'
import { audienceOf, decisionColumns, requireFirst } from '../sql/decisions.ts'
import { joinLedger } from '../sql/journal.ts'
import type { NamedOperation } from '../sql/operation.ts'
import { OPERATION_BY_NAME, tablesOver } from '../sql/operations.ts'
import { storeOf } from '../sql/store.ts'
import { inSpan } from '../../telemetry/trace-context.ts'
import { addressWords, readPostgresUrl, type PostgresAddress } from './address.ts'
import {
  isConstraint,
  isRefusedStatement,
  isTransient,
  openConnections,
  type PostgresConnection,
  type ConnectionLimits,
  type Connections,
} from './connections.ts'
import { groupCommit } from './group-commit.ts'
import { knownHeads } from './known-heads.ts'
import { startListener, TIME } from './listener.ts'
import { makePartitions, migrate } from './migrate.ts'
import { postgresOpeningFault } from './opening-fault.ts'
import { statementsOn, storableJson } from './statements.ts'

export interface PostgresStoreOptions extends StoreEvents, Omit<ConnectionLimits, 'isPooled' | 'heads'> {
  readonly url: string
  /** Straight to the database, for announcements, where `url` leads to a pooler. */
  readonly listenUrl: string | null
  /** Id of the chain of this gateway. */
  readonly writer: string
  readonly calls: 'batched' | 'durable'
  readonly flushMilliseconds: number
  /** Seconds after which a change is in force in every gateway. */
  readonly bound: number
  /** Whether it shall receive changes; a command does its work and ends. */
  readonly listens: boolean
  /** Of the data directory, closed with the store; null: it serves from none. */
  readonly locks?: ServingLocks | null
  /** Called when announcements of changes stop or begin to arrive. */
  readonly onLive?: (isLive: boolean, error?: unknown) => void
  /** Gets the time of the database, milliseconds since the epoch, at the opening and with each heartbeat. */
  readonly onTime?: (time: number) => void
}

/** Decisions in one statement. */
const GROUP_LIMIT = 200
const ATTEMPTS = 5

/** Throws a StartupError that names the fault of the database and its remedy. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const address = postgresAddress(options.url, 'store.url')
  const direct = options.listenUrl === null ? address : postgresAddress(options.listenUrl, 'store.listen_url')
  const description = addressWords(address)
  const isPooled = options.listenUrl !== null
  const heads = knownHeads()
  let connections: Connections
  let directly: Connections
  try {
    connections = openConnections(address, { ...options, isPooled, heads })
    directly = isPooled ? openConnections(direct, { ...options, pool: 1, isPooled: false, heads }) : connections
  } catch (error) {
    throw new StartupError(postgresOpeningFault(description, error), { cause: error })
  }
  const close = async (): Promise<void> => {
    await Promise.all([connections.close(), ...(isPooled ? [directly.close()] : [])])
  }
  try {
    await directly.use(async (connection) => {
      const now = await timeOf(connection)
      options.onTime?.(now)
      await migrate(connection, now)
    })
    await withRetries(() => connections.use((connection) => openOwnChain(connection, options.writer)))
  } catch (error) {
    await close()
    throw new StartupError(postgresOpeningFault(description, error), { cause: error })
  }
  const { bound, locks, onLive = () => {}, onTime = () => {} } = options
  const partitions = options.listens ? keepPartitions(directly, options) : null
  const listener = options.listens
    ? startListener({ connections: directly, bound, onLive, onTime, onBeat: (connection) => heads.note(connection) })
    : null
  const run = reportingRunner(runnerOf(connections, options, isPooled), options)
  const traced = (name: string, values: readonly unknown[]) => inSpan('store', name, () => run(name, values))
  return storeOf(tablesOver(traced), {
    description,
    calls: options.calls,
    flushMilliseconds: options.flushMilliseconds,
    changes: listener ?? timedChanges(0),
    onFault: options.onFault,
    close: async () => {
      clearInterval(partitions ?? undefined)
      await listener?.close()
      await close()
      locks?.close()
    },
  })
}

/** Reports each call and its outcome, and gives its error a code. */
function reportingRunner(run: RunOperation, options: PostgresStoreOptions): RunOperation {
  return async (name, values) => {
    const started = performance.now()
    let isGood = false
    try {
      // Whoever has the lock of the data directory by now writes to its chain.
      if (!isReading(name)) options.locks?.require()
      const value = await run(name, values)
      isGood = true
      if (!isReading(name)) options.onWritable?.(true)
      return value
    } catch (error) {
      // A query that took too long says nothing about writes.
      const isUnrelated = isReading(name) && isRefusedStatement(error)
      throw storeError(error, isUnrelated ? {} : options)
    } finally {
      options.onCall?.(name, (performance.now() - started) / 1000, isGood)
    }
  }
}

/** A gateway may run for longer than the partitions reach that it made at its start. */
const PARTITIONS_INTERVAL = 21_600_000

function keepPartitions(connections: Connections, { onFault }: StoreEvents): NodeJS.Timeout {
  const make = () =>
    connections
      .use(async (connection) => makePartitions(connection, await timeOf(connection)))
      .catch((error: unknown) => {
        onFault?.(new Error('partitions of the next months could not be made', { cause: error }))
      })
  return setInterval(() => void make(), PARTITIONS_INTERVAL).unref()
}

function postgresAddress(url: string, setting: string): PostgresAddress {
  const read = readPostgresUrl(url)
  if (!read.ok) throw new StartupError(`${setting} cannot be used: ${read.problem}; ${read.fix}.`)
  return read.address
}

/** Milliseconds since the epoch. */
async function timeOf(connection: PostgresConnection): Promise<number> {
  const { rows } = await connection.query<{ readonly time: number }>(`SELECT ${TIME}`)
  return rows[0]?.time ?? Date.now()
}

/** Opens the chain of this gateway, unless it is there. */
async function openOwnChain(connection: PostgresConnection, writer: string): Promise<void> {
  const sql = statementsOn(connection, writer)
  if ((await sql.get('SELECT 1 AS n FROM ledger_chains WHERE chain = ?', writer)) !== undefined) return
  const now = await timeOf(connection)
  await transaction(connection, 'BEGIN', () => joinLedger(sql, writer, now))
}

type RunOperation = (name: string, values: readonly unknown[]) => Promise<unknown>
type HotOperation = (...values: never[]) => Promise<unknown>

function runnerOf(connections: Connections, options: PostgresStoreOptions, isPooled: boolean): RunOperation {
  const { writer, statementTimeout, lockTimeout } = options
  // A pooler would carry the settings of a session to other users, so each transaction has its own.
  const begin = isPooled
    ? `BEGIN; SET LOCAL statement_timeout = ${statementTimeout}; SET LOCAL lock_timeout = ${lockTimeout}`
    : 'BEGIN'
  const hot = hotOperations(connections, writer, begin)
  const runOne = (
    { kind, run }: NamedOperation,
    values: readonly never[],
    connection: PostgresConnection,
  ): Promise<unknown> => {
    const work = () => run(statementsOn(connection, writer), ...values)
    if (kind === 'write') return transaction(connection, begin, work)
    if (kind === 'snapshot')
      return transaction(
        connection,
        'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0',
        work,
      )
    return work()
  }
  return (name, values) => {
    const given: readonly never[] = untyped(values)
    const quick = hot.get(name)
    if (quick !== undefined) return quick(...given)
    const operation = OPERATION_BY_NAME.get(name)
    if (operation === undefined) throw new TypeError(`unknown operation ${name}`)
    return withRetries(() => connections.use((connection) => runOne(operation, given, connection)))
  }
}

/** Whoever called by name knows the types of the values (sql/operations.ts). */
function untyped(values: readonly unknown[]): readonly never[] {
  const copy: never[] = []
  return Object.assign(copy, values)
}

/** Operations with a function of their own in the database. */
function hotOperations(connections: Connections, writer: string, begin: string): ReadonlyMap<string, HotOperation> {
  const ask = <Row extends object>(
    text: string,
    values: readonly (string | number | readonly string[])[],
  ): Promise<readonly Row[]> =>
    withRetries(() =>
      connections.use(async (connection) => (await connection.query<Row>(text, [writer, ...values])).rows),
    )
  const decide = groupCommit(
    (rows: readonly DecisionRow[]) => withRetries(() => connections.use((one) => recordDecisions(one, writer, rows))),
    GROUP_LIMIT,
  )
  /** One by one: each looks for an earlier decision with its idempotency key. */
  const decideFirst = (row: DecisionRow): Promise<boolean> =>
    withRetries(() =>
      connections.use((connection) =>
        transaction(connection, begin, async () => {
          await requireFirst(statementsOn(connection, writer), row)
          const [isAdded = false] = await recordDecisions(connection, writer, [row])
          return isAdded
        }),
      ),
    )
  const recordCalls = groupCommit(async (lists: readonly string[]): Promise<readonly true[]> => {
    const rows = lists.flatMap(readCallText)
    await ask('SELECT preflight_record_calls($1, $2)', [storableJson(rows.map(callColumns))])
    return lists.map(() => true)
  }, GROUP_LIMIT)
  return new Map<string, HotOperation>([
    [
      'decisions.record',
      async (row: DecisionRow) => {
        const isAdded = row.idempotency === null ? await decide(row) : await decideFirst(row)
        if (!isAdded) throw new RefusedRowError(`the decision ${row.decisionId} is there`)
      },
    ],
    [
      'calls.write',
      async (text: string) => {
        await recordCalls(text)
      },
    ],
    [
      'receipts.consume',
      async (decisionIds: readonly string[], at: number) => {
        const [row] = await ask<{ readonly done: boolean }>('SELECT preflight_consume_all($1, $2, $3) AS done', [
          [...new Set(decisionIds)],
          at,
        ])
        return row?.done === true
      },
    ],
  ])
}

/** False: a decision with the id of the row is there. */
async function recordDecisions(
  connection: PostgresConnection,
  writer: string,
  rows: readonly DecisionRow[],
): Promise<readonly boolean[]> {
  const answers = await connection.query<{ readonly place: number; readonly is_added: boolean }>(
    'SELECT place, is_added FROM preflight_record_decisions($1, $2)',
    [writer, storableJson(rows.map((row, n) => ({ n, ...decisionColumns(row), audience: audienceOf(row) })))],
  )
  const added = new Set(answers.rows.filter(({ is_added }) => is_added).map(({ place }) => place))
  return rows.map((_, place) => added.has(place))
}

async function transaction<Result>(
  connection: PostgresConnection,
  begin: string,
  work: () => Promise<Result>,
): Promise<Result> {
  await connection.query(begin)
  try {
    const result = await work()
    await connection.query('COMMIT')
    return result
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Runs again what the database rolled back for the sake of another transaction. */
async function withRetries<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt === ATTEMPTS || !isTransient(error)) throw error
      await pause(Math.random() * 10 * 2 ** attempt)
    }
  }
}

function isReading(name: string): boolean {
  const kind = OPERATION_BY_NAME.get(name)?.kind
  return kind === 'read' || kind === 'snapshot'
}

function storeError(error: unknown, events: StoreEvents): Error {
  if (error instanceof GatewayError) return error
  if (error instanceof RefusedRowError) return error
  if (isConstraint(error)) return new RefusedRowError(messageOf(error), { cause: error })
  events.onWritable?.(false, error)
  return storeUnavailable(error)
}
