/**
 * The caller's side of the writer thread: each call is a promise. When the thread ends, all of them fail, and the next call
 * starts a new thread.
 */
import { Worker } from 'node:worker_threads'
import { GatewayError } from '../../errors/errors.ts'
import type { StoreEvents } from '../events.ts'
import { RefusedRowError } from '../refused-row.ts'
import type { Failure, Order, Reply } from './messages.ts'

export interface Client {
  /** @param name of an operation (sql/operations.ts) */
  call(name: string, values: readonly unknown[]): Promise<unknown>
  close(): Promise<void>
}

interface PendingOperation {
  readonly name: string
  readonly startedAt: number
  resolve(value: unknown): void
  reject(error: Error): void
}

/** The file and the module of the thread. */
export interface StoreFiles {
  readonly file: string
  /** Locks of a gateway that serves (serving-lock.ts); none for the command line. */
  readonly locks: readonly string[]
}

/** A thread that died is not started again before this many milliseconds: a broken disk must not spin. */
const RESTART_PAUSE = 500

/**
 * Resolves when the file is open and migrated; rejects with the error of the opening.
 * @param module of the thread
 */
export async function startClient(
  { file, locks }: StoreFiles,
  events: StoreEvents,
  module: URL = writerUrl(),
): Promise<Client> {
  const pending = new Map<number, PendingOperation>()
  let lastId = 0
  let diedAt = Number.NEGATIVE_INFINITY
  let isOpened = false
  let isClosed = false
  let thread: Worker | null = null

  const finish = (id: number, isGood: boolean): PendingOperation | undefined => {
    const call = pending.get(id)
    pending.delete(id)
    if (call) events.onCall?.(call.name, (performance.now() - call.startedAt) / 1000, isGood)
    return call
  }
  const onDeath = (cause: Error): void => {
    if (thread === null) return
    thread = null
    diedAt = performance.now()
    if (isOpened && !isClosed) events.onWritable?.(false, cause)
    if (isOpened && !isClosed) events.onFault?.(new Error('the store thread ended', { cause }))
    for (const id of pending.keys()) finish(id, false)?.reject(unavailable(cause.message, cause))
  }
  const start = (): Worker => {
    const worker = new Worker(THREAD, { workerData: { module: module.href, file, locks }, name: 'preflight-store' })
    worker.on('message', (reply: Reply<unknown>) => {
      if (reply.type === 'answer') {
        if (reply.isDurable === true) events.onWritable?.(true)
        finish(reply.id, true)?.resolve(reply.value)
      } else if (reply.type === 'failure') {
        if (reply.failure.kind === 'unavailable') events.onWritable?.(false, reply.failure.message)
        finish(reply.id, false)?.reject(errorOf(reply.failure))
      }
    })
    worker.on('error', (error) => onDeath(error instanceof Error ? error : new Error(String(error))))
    worker.on('exit', (code) => onDeath(new Error(`it exited with code ${code}`)))
    return worker
  }
  const running = (): Worker => {
    if (isClosed) throw unavailable('the store is closed')
    if (thread === null && performance.now() - diedAt < RESTART_PAUSE) throw unavailable('the store thread ended')
    thread ??= start()
    return thread
  }

  thread = start()
  await opened(thread)
  isOpened = true
  return {
    call: (name, values) =>
      new Promise((resolve, reject) => {
        const id = ++lastId
        const order: Order<unknown> = { type: 'call', call: { id, name, values } }
        running().postMessage(order)
        pending.set(id, { name, startedAt: performance.now(), resolve, reject })
      }),
    close: async () => {
      const worker = thread
      if (isClosed || worker === null) {
        isClosed = true
        return
      }
      isClosed = true
      const exited = new Promise((resolve) => worker.once('exit', resolve))
      const order: Order<unknown> = { type: 'close' }
      worker.postMessage(order)
      await exited
    },
  }
}

const THREAD = new URL('../../runtime/thread.js', import.meta.url)

/** Source and package have the same module under two file extensions. */
function writerUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './writer.ts' : './writer.js', import.meta.url)
}

function opened(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('message', () => {
      worker.off('error', reject)
      resolve()
    })
    worker.once('error', reject)
  })
}

function errorOf({ kind, message }: Failure): Error {
  return kind === 'unavailable' ? unavailable(message) : new RefusedRowError(message)
}

/** The cause goes to the log; the public message stays that of the table. */
function unavailable(reason: string, cause: unknown = new Error(reason)): GatewayError {
  return new GatewayError('STORE_UNAVAILABLE', undefined, { cause })
}
