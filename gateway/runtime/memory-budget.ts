/**
 * One budget for the memory of request bodies, contract texts and worker threads together. A burst ends in answers 503, and the
 * kernel does not kill the process. Two uses share it: `body` (held until the answer is sent) and `analysis` (held while a
 * worker runs). Who holds a body may wait for an analysis, never the other way round. Bodies have a part of the budget only.
 * So nobody waits for ever.
 */
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

type MemoryUse = 'body' | 'analysis'

/** Bytes that were granted. `release` may be called more than once. */
export interface MemoryLease {
  readonly bytes: number
  release(): void
}

export interface MemoryBudget {
  /** All bytes that may be granted at the same time. */
  readonly capacity: number
  /** Greatest single grant that can ever succeed. */
  limitOf(use: MemoryUse): number
  /** A lease now, or null when there is no room. Waiting requests come first. */
  tryTake(use: MemoryUse, bytes: number): MemoryLease | null
  /**
   * In the order of requests; null when `signal` ends the wait, or when nothing of that size is ever granted.
   * @param bytes at most `limitOf(use)`
   */
  take(use: MemoryUse, bytes: number, signal: AbortSignal): Promise<MemoryLease | null>
  held(use: MemoryUse): number
  waiting(): number
  /** Calls `listener` each time when something waits for `analysis` that does not fit now. */
  onPressure(listener: () => void): void
  /** Calls `listener` each time when the last grant was released. */
  onIdle(listener: () => void): void
}

const MIB = 1024 * 1024
/** What the process takes beside what it grants: the binary, loaded modules, the store's thread, caches. */
const BASE = 200 * MIB
/** Left free: copies of texts on their way between threads, the kernel's buffers, page cache. */
const SLACK = 0.1
/** A gateway with less than this could do nothing; it works on one small thing at a time then. */
const LEAST = 48 * MIB
/** Without a limit from outside, one process of a shared machine still takes no more than this. */
const MOST = 4096 * MIB
const BODIES = 0.15
/** Texts of requests are on the main thread's heap, among everything else that is there. */
const HEAP_FOR_BODIES = 0.5

/** What this process may use in all: the limit of its control group (v1 or v2), or the machine's memory. */
function processMemory(): number {
  const limit = process.constrainedMemory()
  return Math.min(limit > 0 ? limit : Number.POSITIVE_INFINITY, totalmem())
}

/** @param memory bytes that the process may use in all */
export function budgetFor(memory: number): number {
  return Math.round(Math.min(MOST, Math.max(LEAST, memory * (1 - SLACK) - BASE)))
}

interface Waiter {
  readonly bytes: number
  readonly grant: (lease: MemoryLease) => void
}

const USES: readonly MemoryUse[] = ['analysis', 'body']

/** @param memory bytes that the process may use in all */
export function createMemoryBudget(memory: number = processMemory()): MemoryBudget {
  return new Budget(budgetFor(memory), getHeapStatistics().heap_size_limit)
}

class Budget implements MemoryBudget {
  readonly capacity: number
  readonly #limits: Readonly<Record<MemoryUse, number>>
  readonly #held: Record<MemoryUse, number> = { body: 0, analysis: 0 }
  readonly #queues: Readonly<Record<MemoryUse, Waiter[]>> = { body: [], analysis: [] }
  readonly #onPressure: (() => void)[] = []
  readonly #onIdle: (() => void)[] = []

  constructor(capacity: number, heap: number) {
    this.capacity = capacity
    const body = Math.round(Math.min(capacity * BODIES, heap * HEAP_FOR_BODIES))
    this.#limits = { body, analysis: capacity - body }
  }

  limitOf(use: MemoryUse): number {
    return this.#limits[use]
  }

  held(use: MemoryUse): number {
    return this.#held[use]
  }

  waiting(): number {
    return this.#queues.body.length + this.#queues.analysis.length
  }

  onPressure(listener: () => void): void {
    this.#onPressure.push(listener)
  }

  onIdle(listener: () => void): void {
    this.#onIdle.push(listener)
  }

  tryTake(use: MemoryUse, bytes: number): MemoryLease | null {
    return this.#queues[use].length === 0 && this.#fits(use, bytes) ? this.#grant(use, bytes) : null
  }

  take(use: MemoryUse, bytes: number, signal: AbortSignal): Promise<MemoryLease | null> {
    if (bytes > this.#limits[use] || signal.aborted) return Promise.resolve(null)
    const lease = this.tryTake(use, bytes)
    return lease === null ? this.#wait(use, bytes, signal) : Promise.resolve(lease)
  }

  #wait(use: MemoryUse, bytes: number, signal: AbortSignal): Promise<MemoryLease | null> {
    const queue = this.#queues[use]
    return new Promise((resolve) => {
      const giveUp = (): void => {
        queue.splice(queue.indexOf(waiter), 1)
        resolve(null)
        this.#serveWaiting()
      }
      const waiter: Waiter = {
        bytes,
        grant: (lease) => {
          signal.removeEventListener('abort', giveUp)
          resolve(lease)
        },
      }
      queue.push(waiter)
      signal.addEventListener('abort', giveUp, { once: true })
      if (use === 'analysis') for (const listener of this.#onPressure) listener()
    })
  }

  /** Bodies have a part of their own; an analysis takes whatever bodies leave. */
  #fits(use: MemoryUse, bytes: number): boolean {
    const { body, analysis } = this.#held
    return body + analysis + bytes <= this.capacity && (use === 'analysis' || body + bytes <= this.#limits.body)
  }

  #grant(use: MemoryUse, bytes: number): MemoryLease {
    this.#held[use] += bytes
    let isHeld = true
    const release = (): void => {
      if (!isHeld) return
      isHeld = false
      this.#held[use] -= bytes
      this.#serveWaiting()
      if (this.#held.body + this.#held.analysis === 0) for (const listener of this.#onIdle) listener()
    }
    return { bytes, release }
  }

  #serveWaiting(): void {
    for (const use of USES) {
      const queue = this.#queues[use]
      for (let first = queue[0]; first !== undefined && this.#fits(use, first.bytes); first = queue[0]) {
        queue.shift()
        first.grant(this.#grant(use, first.bytes))
      }
    }
  }
}
