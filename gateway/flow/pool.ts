/**
 * Worker threads for large or hostile input, with limits on their number, the queue, the time of one task and memory. A task
 * over its time or memory is ended together with its thread, since nothing else stops a busy loop or a growing heap.
 */
import { fail, ok } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import { GatewayError } from '../errors/errors.ts'
import type { MemoryBudget } from '../runtime/memory-budget.ts'
import type { Logger } from '../telemetry/log.ts'
import { isAnswerOf, type Task, type TaskAnswers, type TaskKind, type TaskOf } from './task.ts'
import { WARM_HEAP, WorkerSlot } from './worker-slot.ts'

interface PoolOptions {
  readonly workers: number
  /** Tasks that may wait; one more is OVERLOADED. */
  readonly queue: number
  readonly memory: MemoryBudget
  readonly logger: Logger
}

export interface Pool {
  /**
   * Timeouts, crashes and exhausted memory are problems (ANALYSIS_TIMEOUT, ANALYSIS_FAULT, ANALYSIS_MEMORY). Rejects with
   * OVERLOADED when the queue is full, or when no thread or memory became free in time.
   * @param size of the texts of the task, code units
   * @param timeoutMs from now, waiting included
   */
  run<Kind extends TaskKind>(
    kind: Kind,
    task: TaskOf<Kind>,
    size: number,
    timeoutMs: number,
  ): Promise<Result<TaskAnswers[Kind]>>
  close(): Promise<void>
}

/** Bytes of heap for each code unit of ordinary input, measured with generated contracts of 10 to 50 MB and rounded up. */
const HEAP_PER_UNIT: { readonly [Kind in TaskKind]: number } = {
  compare: 10,
  digest: 3,
  read: 5,
  sniff: 6,
  references: 6,
  bundle: 8,
  compose: 10,
}

/** A text is copied once for the thread, and once more when the answer contains it. */
const COPIES = 2

export function createPool(options: PoolOptions): Pool {
  return new WorkerPool(options)
}

class WorkerPool implements Pool {
  readonly #logger: Logger
  readonly #slots: readonly WorkerSlot[]
  readonly #free: WorkerSlot[]
  readonly #waiting: ((slot: WorkerSlot) => void)[] = []
  /** Of tasks that run or wait, together. */
  readonly #mostTasks: number
  #underWay = 0

  constructor({ workers, queue, memory, logger }: PoolOptions) {
    const count = slotCount(workers, memory)
    const share = Math.floor(memory.limitOf('analysis') / count)
    this.#logger = logger
    this.#slots = Array.from({ length: count }, () => new WorkerSlot(memory, share, logger))
    this.#free = [...this.#slots]
    this.#mostTasks = count + queue
    memory.onPressure(() => {
      for (const slot of this.#free) void slot.end()
    })
  }

  async run<Kind extends TaskKind>(
    kind: Kind,
    task: TaskOf<Kind>,
    size: number,
    timeoutMs: number,
  ): Promise<Result<TaskAnswers[Kind]>> {
    if (this.#underWay >= this.#mostTasks) throw overloaded()
    this.#underWay += 1
    try {
      const deadline = AbortSignal.timeout(timeoutMs)
      const slot = await this.#slotFor(deadline)
      try {
        const outcome = await slot.run(task, { heap: size * HEAP_PER_UNIT[kind], copies: size * COPIES }, deadline)
        if (outcome.kind === 'no_room') throw overloaded()
        if (outcome.kind !== 'done') return taskProblem(kind, outcome, timeoutMs, this.#logger)
        const { result } = outcome
        if (!result.ok) return result
        if (isAnswerOf(kind, result.value)) return ok(result.value.value)
        throw new TypeError(`asked for ${kind}, answered ${result.value.kind}`)
      } finally {
        this.#giveBack(slot)
      }
    } finally {
      this.#underWay -= 1
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => slot.end()))
  }

  #slotFor(deadline: AbortSignal): Promise<WorkerSlot> | WorkerSlot {
    const slot = this.#free.pop()
    if (slot !== undefined) return slot
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1)
        reject(overloaded())
      }
      const take = (given: WorkerSlot): void => {
        deadline.removeEventListener('abort', giveUp)
        resolve(given)
      }
      this.#waiting.push(take)
      deadline.addEventListener('abort', giveUp, { once: true })
    })
  }

  #giveBack(slot: WorkerSlot): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free.push(slot)
    else next(slot)
  }
}

/** In a small container there is room for only one warm thread next to a large task. */
function slotCount(workers: number, memory: MemoryBudget): number {
  return Math.max(1, Math.min(workers, Math.floor(memory.limitOf('analysis') / (2 * WARM_HEAP))))
}

function overloaded(): GatewayError {
  return new GatewayError('OVERLOADED')
}

type TaskFailure =
  | { readonly kind: 'timeout' }
  | { readonly kind: 'out_of_memory'; readonly bytes: number }
  | { readonly kind: 'fault'; readonly error: unknown }

function taskProblem(task: Task['kind'], failure: TaskFailure, timeoutMs: number, logger: Logger): Result<never> {
  if (failure.kind === 'timeout') {
    return fail({
      code: 'ANALYSIS_TIMEOUT',
      message: `The ${task} task did not end within ${timeoutMs / 1000} s. Split the contract, or raise limits.analysis.`,
    })
  }
  if (failure.kind === 'out_of_memory') {
    const megabytes = Math.floor(failure.bytes / (1024 * 1024))
    return fail({
      code: 'ANALYSIS_MEMORY',
      message: `The ${task} task needs more than the ${megabytes} MiB that this gateway may use for it. Split the contract, or give the process more memory.`,
    })
  }
  logger.error({ event: 'worker.task_failed', err: failure.error, task }, 'worker could not finish its task')
  return fail({ code: 'ANALYSIS_FAULT', message: `The ${task} task failed inside the gateway; the log says more.` })
}
