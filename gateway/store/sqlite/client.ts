/**
 * The caller's side of the writer thread: each call is a promise. When the thread ends, all of them fail, and the next call
 * starts a new thread.
 */
import { Worker } from 'node:worker_threads'
import { storeUnavailable, type StoreEvents, RefusedRowError } from '../store.ts'

/**
 * On the receiving side the payload is `never`. It fits the one function that the same `name` (or `id`) means on both sides, and
 * nothing else can use it.
 */
export interface WriterCall<Payload> {
  readonly id: number
  /** `decisions.record` */
  readonly name: string
  readonly values: readonly Payload[]
}

/** `unavailable`: the file could not be read or written. `refused`: this one row violates a constraint. */
export interface Failure {
  readonly kind: 'unavailable' | 'refused'
  readonly message: string
}

export type WriterReply<Payload> =
  | { readonly type: 'opened'; readonly ledger: string | null }
  | { readonly type: 'closed' }
  /** `isDurable`: something was written, and it is on the disk. */
  | { readonly type: 'answer'; readonly id: number; readonly value: Payload; readonly isDurable?: boolean }
  | { readonly type: 'failure'; readonly id: number; readonly failure: Failure }

export type Order<Payload> = { readonly type: 'call'; readonly call: WriterCall<Payload> } | { readonly type: 'close' }

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
  /** Device and number of the file that an earlier thread opened. */
  readonly ledger?: string | null
}

/** A thread that died is not started again before this many milliseconds: a broken disk must not spin. */
const RESTART_PAUSE = 500

/**
 * Resolves when the file is open and migrated; rejects with the error of the opening.
 * @param module of the thread
 */
export async function startClient(files: StoreFiles, events: StoreEvents, module: URL = writerUrl()): Promise<Client> {
  const client = new ThreadClient(files, events, module)
  await client.open()
  return client
}

class ThreadClient implements Client {
  readonly #files: StoreFiles
  readonly #events: StoreEvents
  readonly #module: URL
  readonly #pending = new Map<number, PendingOperation>()
  #lastId = 0
  #diedAt = Number.NEGATIVE_INFINITY
  #isOpened = false
  #ledger: StoreFiles['ledger']
  #isClosed = false
  #thread: Worker | null = null

  constructor(files: StoreFiles, events: StoreEvents, module: URL) {
    this.#files = files
    this.#events = events
    this.#module = module
  }

  async open(): Promise<void> {
    this.#thread = this.#start()
    await opened(this.#thread)
    this.#isOpened = true
  }

  call(name: string, values: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      const order: Order<unknown> = { type: 'call', call: { id, name, values } }
      this.#runningThread().postMessage(order)
      this.#pending.set(id, { name, startedAt: performance.now(), resolve, reject })
    })
  }

  async close(): Promise<void> {
    const worker = this.#thread
    const wasClosed = this.#isClosed
    this.#isClosed = true
    if (wasClosed || worker === null) return
    const exited = new Promise((resolve) => worker.once('exit', resolve))
    const order: Order<unknown> = { type: 'close' }
    worker.postMessage(order)
    await exited
  }

  #runningThread(): Worker {
    if (this.#isClosed) throw storeUnavailable(new Error('the store is closed'))
    if (this.#thread === null && performance.now() - this.#diedAt < RESTART_PAUSE)
      throw storeUnavailable(new Error('the store thread ended'))
    this.#thread ??= this.#start()
    return this.#thread
  }

  #start(): Worker {
    const files: StoreFiles = this.#ledger === undefined ? this.#files : { ...this.#files, ledger: this.#ledger }
    const workerData = { module: this.#module.href, ...files }
    const worker = new Worker(THREAD, { workerData, name: 'preflight-store' })
    worker.on('message', (reply: WriterReply<unknown>) => this.#take(reply))
    worker.on('error', (error) => this.#onDeath(error instanceof Error ? error : new Error(String(error))))
    worker.on('exit', (code) => this.#onDeath(new Error(`it exited with code ${code}`)))
    return worker
  }

  #take(reply: WriterReply<unknown>): void {
    if (reply.type === 'opened') this.#ledger ??= reply.ledger
    else if (reply.type === 'answer') {
      if (reply.isDurable === true) this.#events.onWritable?.(true)
      this.#finish(reply.id, true)?.resolve(reply.value)
    } else if (reply.type === 'failure') {
      if (reply.failure.kind === 'unavailable') this.#events.onWritable?.(false, reply.failure.message)
      this.#finish(reply.id, false)?.reject(errorOfFailure(reply.failure))
    }
  }

  #finish(id: number, isGood: boolean): PendingOperation | undefined {
    const call = this.#pending.get(id)
    this.#pending.delete(id)
    if (call) this.#events.onCall?.(call.name, (performance.now() - call.startedAt) / 1000, isGood)
    return call
  }

  #onDeath(cause: Error): void {
    if (this.#thread === null) return
    this.#thread = null
    this.#diedAt = performance.now()
    if (this.#isOpened && !this.#isClosed) this.#events.onWritable?.(false, cause)
    if (this.#isOpened && !this.#isClosed) this.#events.onFault?.(new Error('the store thread ended', { cause }))
    for (const id of this.#pending.keys()) this.#finish(id, false)?.reject(storeUnavailable(cause))
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

function errorOfFailure({ kind, message }: Failure): Error {
  return kind === 'unavailable' ? storeUnavailable(new Error(message)) : new RefusedRowError(message)
}
