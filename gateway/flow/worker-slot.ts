/**
 * One worker thread at a time, with a heap limit from the memory budget. A thread for small tasks stays warm for the next ones.
 * A large task gets a thread of its own, whose memory is freed with the thread.
 */
import type { Piscina } from 'piscina'
import type { Result } from '../../engine/internal.ts'
import type { MemoryBudget, MemoryLease } from '../runtime/memory-budget.ts'
import type { Logger } from '../telemetry/log.ts'
import type { TaskAnswer, Task } from './task.ts'

type TaskOutcome =
  | { readonly kind: 'done'; readonly result: Result<TaskAnswer> }
  | { readonly kind: 'timeout' }
  /** No memory was granted before the deadline. */
  | { readonly kind: 'no_room' }
  /** `bytes`: the largest heap that can be granted here, which was not enough. */
  | { readonly kind: 'out_of_memory'; readonly bytes: number }
  | { readonly kind: 'fault'; readonly error: unknown }

const MIB = 1024 * 1024
/** Heap of a warm thread: the engine's code, and small contracts. */
export const WARM_HEAP = 96 * MIB
/** What a thread's heap holds before its task: the engine's code. */
const CODE = 32 * MIB
const YOUNG_MIB = 32
/** A warm thread ends after this much idle time: an idle gateway holds no parser heaps. */
const IDLE_MS = 30_000

const FILE = new URL('./pool-thread.js', import.meta.url).href

/** Bytes that a task is expected to need. */
interface TaskNeed {
  /** On the heap of its thread. */
  readonly heap: number
  /** Outside the heap, while texts are transferred. */
  readonly copies: number
}

interface SlotRoom {
  /** Heap and copies together. */
  readonly bytes: number
  readonly copies: number
}

interface Thread {
  readonly piscina: Piscina<Task, Result<TaskAnswer>>
  readonly lease: MemoryLease
}

export class WorkerSlot {
  readonly #memory: MemoryBudget
  readonly #share: number
  readonly #logger: Logger
  #thread: Thread | null = null
  #ending: Promise<void> | null = null
  #idle: NodeJS.Timeout | null = null

  /** @param share part of the memory for large tasks that is available from the start, bytes */
  constructor(memory: MemoryBudget, share: number, logger: Logger) {
    this.#memory = memory
    this.#share = share
    this.#logger = logger
  }

  /**
   * Never rejects. One task at a time.
   * @param need hostile input may need more, and then runs once more with all memory there is
   */
  async run(task: Task, { heap, copies }: TaskNeed, deadline: AbortSignal): Promise<TaskOutcome> {
    const most = this.#memory.limitOf('analysis')
    const expected = Math.max(WARM_HEAP, heap + copies + CODE)
    // While there is room, a tight limit has no benefit: a task that outgrows it runs twice.
    const bytes = Math.min(most, expected > WARM_HEAP ? Math.max(this.#share, expected) : expected)
    const first = await this.#attempt(task, { bytes, copies }, deadline)
    if (first.kind !== 'out_of_memory' || bytes === most || !hasItsBytes(task)) return first
    return this.#attempt(task, { bytes: most, copies }, deadline)
  }

  /** Ends the thread, if there is one, and gives its memory back. */
  end(): Promise<void> {
    const thread = this.#thread
    this.#stopIdling()
    this.#thread = null
    if (thread === null) return this.#ending ?? Promise.resolve()
    this.#ending = thread.piscina.destroy().finally(() => {
      thread.lease.release()
      this.#ending = null
    })
    return this.#ending
  }

  async #attempt(task: Task, room: SlotRoom, deadline: AbortSignal): Promise<TaskOutcome> {
    this.#stopIdling()
    const thread = await this.#threadOf(room, deadline)
    if (thread === null) return { kind: 'no_room' }
    const outcome = await runIn(thread, task, deadline)
    const isWarm = outcome.kind === 'done' && thread.lease.bytes <= WARM_HEAP && this.#memory.waiting() === 0
    if (isWarm) this.#idle = setTimeout(() => void this.end(), IDLE_MS).unref()
    else await this.end()
    return outcome
  }

  async #threadOf({ bytes, copies }: SlotRoom, deadline: AbortSignal): Promise<Thread | null> {
    if (this.#thread !== null && this.#thread.lease.bytes >= bytes) return this.#thread
    await this.end()
    const lease = await this.#memory.take('analysis', bytes, deadline)
    if (lease === null) return null
    // The texts of small tasks are within the rounding; those of large ones are outside the heap while they are transferred.
    const heap = bytes <= WARM_HEAP ? bytes : Math.max(WARM_HEAP, bytes - copies)
    this.#thread = { piscina: await openPiscina(heap, this.#logger), lease }
    return this.#thread
  }

  #stopIdling(): void {
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = null
  }
}

/** A body whose bytes were transferred is lost with the thread that had them. */
function hasItsBytes(task: Task): boolean {
  return task.kind !== 'read' || task.bytes.byteLength > 0
}

async function runIn({ piscina, lease }: Thread, task: Task, deadline: AbortSignal): Promise<TaskOutcome> {
  try {
    const result = await piscina.run(task, { signal: deadline, transferList: transferable(task) })
    return !result.ok && result.problem.code === 'ANALYSIS_MEMORY'
      ? { kind: 'out_of_memory', bytes: lease.bytes }
      : { kind: 'done', result }
  } catch (error) {
    if (deadline.aborted) return { kind: 'timeout' }
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      return { kind: 'out_of_memory', bytes: lease.bytes }
    return { kind: 'fault', error }
  }
}

/** Loaded with the first task that is not done on the event loop. */
async function openPiscina(heap: number, logger: Logger): Promise<Piscina<Task, Result<TaskAnswer>>> {
  const { Piscina } = await import('piscina')
  const piscina = new Piscina<Task, Result<TaskAnswer>>({
    filename: FILE,
    name: 'run',
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    resourceLimits: { maxOldGenerationSizeMb: Math.floor(heap / MIB), maxYoungGenerationSizeMb: YOUNG_MIB },
    // A blocked wait would block the thread's event loop, and so the end of the process.
    atomics: 'disabled',
  })
  // Errors of a thread reject the promise of its task; an error between tasks can only be logged.
  piscina.on('error', (error) =>
    logger.error({ event: 'worker.failed', err: error }, 'worker thread failed between tasks'),
  )
  return piscina
}

/** The bytes of a large body are transferred instead of copied; this thread does not read them again. */
function transferable(task: Task): ArrayBuffer[] {
  if (task.kind !== 'read') return []
  const { buffer, byteLength } = task.bytes
  // A small body is a slice of a buffer that others have slices of.
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
}
