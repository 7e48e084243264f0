/**
 * The writer thread: the only one that has the SQLite connection (docs/architecture.md, State). All calls that wait when a
 * write begins go into one transaction, so many callers share one fsync. Each is answered after the commit.
 */
import type { DatabaseSync } from 'node:sqlite'
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads'
import type { StoreFiles, Failure, Order, WriterReply, WriterCall } from './client.ts'
import { releaseFreeMemory } from '../../runtime/free-memory.ts'
import { BUSY_TIMEOUT, openConnection, ownChain, createStatements, type Statements } from './connection.ts'
import { RefusedRowError } from '../store.ts'
import { OPERATION_BY_NAME } from '../sql/operations.ts'
import type { NamedOperation } from '../sql/operation.ts'
import { primaryCode } from './opening-fault.ts'
import { messageOf } from '../../errors/startup-error.ts'
import { openedFiles, requireLedger, requireOpened, type OpenedFiles } from './opened-files.ts'
import { holdServingLocks, type ServingLocks } from './serving-lock.ts'

/** Maximum number of calls in one transaction: limits how long the first of them waits. */
const GROUP_LIMIT = 1000

interface Connection {
  readonly database: DatabaseSync
  readonly statements: Statements
  readonly files: OpenedFiles
  readonly locks: ServingLocks
}

if (parentPort === null) throw new Error('the writer runs as a worker thread')
const { file, locks, ledger }: StoreFiles = workerData
await serveWrites(parentPort, file, locks, ledger)

/** @param ledger the file that an earlier thread opened; absent: this is the first one */
async function serveWrites(
  port: MessagePort,
  file: string,
  locks: readonly string[],
  ledger: StoreFiles['ledger'],
): Promise<void> {
  const held = holdServingLocks(locks, file)
  let connection: Connection | null = await connectFile(file, held, ledger)
  const first = connection.files.ledger
  const reply = (message: WriterReply<unknown>): void => port.postMessage(message)

  const process = async (calls: readonly WriterCall<never>[]): Promise<void> => {
    try {
      connection ??= await connectFile(file, held, first)
    } catch (error) {
      for (const { id } of calls) reply({ type: 'failure', id, failure: writerFailure(error) })
      return
    }
    const pending = calls.filter(isWrite)
    for (const call of calls) if (!isWrite(call)) reply(await runRead(connection, call))
    for (let start = 0; start < pending.length; start += GROUP_LIMIT) {
      const { replies, isSound } = await commitGroup(connection, pending.slice(start, start + GROUP_LIMIT))
      replies.forEach(reply)
      if (isSound) continue
      // An I/O error can leave the connection in a broken state: the next call gets a new one.
      closeQuietly(connection.database)
      connection = null
      for (const { id } of pending.slice(start + GROUP_LIMIT))
        reply({ type: 'failure', id, failure: { kind: 'unavailable', message: 'an earlier write failed' } })
      return
    }
  }

  let running: Promise<void> = Promise.resolve()
  port.on('message', (first: Order<never>) => {
    const orders = [first, ...waiting(port)]
    // One after the other: an operation never sees the transaction of another message.
    running = running.then(() => obey(orders))
  })
  releaseFreeMemory()
  reply({ type: 'opened', ledger: first })

  async function obey(orders: readonly Order<never>[]): Promise<void> {
    await process(orders.flatMap((order) => (order.type === 'call' ? [order.call] : [])))
    if (!orders.some((order) => order.type === 'close')) return
    if (connection !== null) closeQuietly(connection.database)
    closeQuietly(held)
    reply({ type: 'closed' })
    port.close()
  }
}

async function connectFile(file: string, locks: ServingLocks, ledger: StoreFiles['ledger']): Promise<Connection> {
  if (ledger !== undefined) requireLedger(file, ledger)
  const database = await openConnection(file)
  return { database, statements: createStatements(database, ownChain(database)), files: openedFiles(file), locks }
}

function waiting(port: MessagePort): readonly Order<never>[] {
  const orders: Order<never>[] = []
  for (;;) {
    const next: { readonly message: Order<never> } | undefined = receiveMessageOnPort(port)
    if (next === undefined) return orders
    orders.push(next.message)
  }
}

function namedOperation({ name }: WriterCall<never>): NamedOperation {
  const operation = OPERATION_BY_NAME.get(name)
  if (operation === undefined) throw new Error(`unknown operation ${name}`)
  return operation
}

function isWrite({ name }: WriterCall<never>): boolean {
  const kind = OPERATION_BY_NAME.get(name)?.kind
  return kind === 'write' || kind === 'statement'
}

async function runRead({ database, statements }: Connection, call: WriterCall<never>): Promise<WriterReply<unknown>> {
  try {
    const { kind, run } = namedOperation(call)
    if (kind === 'snapshot') database.exec('BEGIN')
    try {
      return { type: 'answer', id: call.id, value: await run(statements, ...call.values) }
    } finally {
      if (kind === 'snapshot') database.exec('COMMIT')
    }
  } catch (error) {
    return { type: 'failure', id: call.id, failure: writerFailure(error) }
  }
}

/** All calls succeed or fail together on disk errors; a call that violates a constraint fails alone. */
async function commitGroup(
  connection: Connection,
  calls: readonly WriterCall<never>[],
  isRetry = false,
): Promise<{ readonly replies: readonly WriterReply<unknown>[]; readonly isSound: boolean }> {
  const { database, statements } = connection
  const allFail = (failure: Failure): readonly WriterReply<unknown>[] =>
    calls.map(({ id }) => ({ type: 'failure', id, failure }))
  // A row of files that were moved is refused: its caller may send it again, and each try would be there when they are put back.
  const gone = movedFailure(connection)
  if (gone !== null) return { replies: allFail(gone), isSound: true }
  try {
    database.exec('BEGIN IMMEDIATE')
    const replies: WriterReply<unknown>[] = []
    for (const call of calls) replies.push(await writeOne(database, statements, call))
    database.exec('COMMIT')
    // They may have been moved meanwhile.
    const moved = movedFailure(connection)
    if (moved !== null) return { replies: allFail(moved), isSound: true }
    // Whoever removes rows is short of room: the log of the removal must not take more than a portion of it.
    if (calls.some(({ name }) => name === REMOVAL)) restartLog(database)
    return { replies, isSound: true }
  } catch (error) {
    const failure = writerFailure(error)
    const isRolledBack = rollBack(database)
    if (isRolledBack && !isRetry && primaryCode(error) === SQLITE_FULL && restartLog(database))
      return commitGroup(connection, calls, true)
    return { replies: allFail(failure), isSound: isRolledBack && !isConnectionSuspect(error) }
  }
}

/** The connection stays: it has all rows, also when its files are put back. */
function movedFailure({ files, locks }: Connection): Failure | null {
  try {
    requireOpened(files)
    locks.require()
    return null
  } catch (error) {
    return writerFailure(error)
  }
}

async function writeOne(
  database: DatabaseSync,
  statements: Statements,
  call: WriterCall<never>,
): Promise<WriterReply<unknown>> {
  const { id, values } = call
  const { run } = namedOperation(call)
  const before = statements.changed
  database.exec('SAVEPOINT one')
  try {
    const value = await run(statements, ...values)
    database.exec('RELEASE one')
    // A call that changed nothing did not write to the disk, and proves nothing about it.
    return { type: 'answer', id, value, ...(statements.changed > before && { isDurable: true }) }
  } catch (error) {
    const failure = writerFailure(error)
    if (failure.kind === 'unavailable' || !database.isTransaction) throw error
    database.exec('ROLLBACK TO one')
    database.exec('RELEASE one')
    return { type: 'failure', id, failure }
  }
}

function rollBack(database: DatabaseSync): boolean {
  try {
    // SQLite rolls back automatically on some errors (for example a full disk).
    if (database.isTransaction) database.exec('ROLLBACK')
    return true
  } catch {
    return false
  }
}

/**
 * Moves the write-ahead log into the file, so that the next write begins at the front of the log. On a full volume it then needs
 * no more room than the log has already. @returns whether that was possible
 */
function restartLog(database: DatabaseSync): boolean {
  try {
    // Whoever reads now must not delay the writes.
    database.exec(`PRAGMA busy_timeout = 0`)
    return database.prepare('PRAGMA wal_checkpoint(RESTART)').get()?.['busy'] === 0
  } catch {
    return false
  } finally {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`)
  }
}

function closeQuietly(database: Pick<DatabaseSync, 'close'>): void {
  try {
    database.close()
  } catch {
    // Nothing is lost: every answered call is committed, and the write-ahead log is replayed at the next opening.
  }
}

const REMOVAL = 'ledger.removeBehindCuts'

const SQLITE_CONSTRAINT = 19
const SQLITE_FULL = 13
const SUSPECT_CODES: ReadonlySet<number> = new Set([
  10 /* IOERR */, 11 /* CORRUPT */, 14 /* CANTOPEN */, 26 /* NOTADB */,
])

function isConnectionSuspect(error: unknown): boolean {
  const code = primaryCode(error)
  return code === null || SUSPECT_CODES.has(code)
}

function writerFailure(error: unknown): Failure {
  const message = messageOf(error)
  const isRefused = error instanceof RefusedRowError || primaryCode(error) === SQLITE_CONSTRAINT
  return { kind: isRefused ? 'refused' : 'unavailable', message }
}
