/**
 * Worker threads for slow or hostile input: bounded in number, in what may wait for them, and in the time of one task. A task
 * over its time is ended together with its thread, since nothing else stops a busy loop.
 */
import type { Piscina } from 'piscina'
import { fail, ok } from '../../engine/base.ts'
import type { Result } from '../../engine/index.ts'
import { GatewayError } from '../errors.ts'
import type { Logger } from '../telemetry/log.ts'
import { isAnswerOf, type Answer, type Task, type TaskAnswers, type TaskKind, type TaskOf } from './task.ts'

export interface PoolOptions {
  readonly workers: number
  /** Tasks that may wait; one more is OVERLOADED. */
  readonly queue: number
  readonly logger: Logger
}

export interface Pool {
  /**
   * Timeouts and crashes are problems (ANALYSIS_TIMEOUT, ANALYSIS_FAULT); a full queue rejects with OVERLOADED.
   * @param timeoutMs from now, waiting included
   */
  run<Kind extends TaskKind>(kind: Kind, task: TaskOf<Kind>, timeoutMs: number): Promise<Result<TaskAnswers[Kind]>>
  close(): Promise<void>
}

/** Threads go after this much idleness: an idle gateway holds no parser heaps. */
const IDLE_MS = 30_000

const THREAD = new URL('./pool-thread.js', import.meta.url).href

export function createPool({ workers, queue, logger }: PoolOptions): Pool {
  let opened: Promise<TaskPool> | null = null

  // Piscina bounds its queue for tasks without a signal only; ours all have one.
  let underWay = 0

  return {
    async run<Kind extends TaskKind>(kind: Kind, task: TaskOf<Kind>, timeoutMs: number) {
      if (underWay >= workers + queue)
        throw new GatewayError('OVERLOADED', undefined, { headers: { 'Retry-After': '1' } })
      underWay += 1
      const deadline = AbortSignal.timeout(timeoutMs)
      try {
        opened ??= openPiscina(workers, logger)
        const piscina = await opened
        const result = await piscina.run(task, { signal: deadline, transferList: transferable(task) })
        if (!result.ok) return result
        if (isAnswerOf(kind, result.value)) return ok(result.value.value)
        throw new TypeError(`asked for ${kind}, answered ${result.value.kind}`)
      } catch (error) {
        if (deadline.aborted) {
          return fail({
            code: 'ANALYSIS_TIMEOUT',
            message: `The ${kind} task did not end within ${timeoutMs / 1000} s. Split the contract, or raise limits.analysis.`,
          })
        }
        logger.error({ err: error, task: kind }, 'a worker could not finish its task')
        return fail({
          code: 'ANALYSIS_FAULT',
          message: `The ${kind} task failed inside the gateway; the log says more.`,
        })
      } finally {
        underWay -= 1
      }
    },
    async close() {
      const piscina = await opened
      await piscina?.destroy()
    },
  }
}

type TaskPool = Piscina<Task, Result<Answer>>

/** Loaded with the first task that is not done on the event loop. */
async function openPiscina(workers: number, logger: Logger): Promise<TaskPool> {
  const { Piscina } = await import('piscina')
  const piscina = new Piscina<Task, Result<Answer>>({
    filename: THREAD,
    name: 'run',
    minThreads: 0,
    maxThreads: workers,
    idleTimeout: IDLE_MS,
    // A blocked wait would hold the thread's event loop, and with it the end of the process.
    atomics: 'disabled',
  })
  // Errors of a thread reach the promise of its task; what comes between tasks has no other place.
  piscina.on('error', (error) => logger.error({ err: error }, 'a worker thread failed between tasks'))
  return piscina
}

/** The bytes of a large body change hands instead of being copied; nobody here looks at them again. */
function transferable(task: Task): ArrayBuffer[] {
  if (task.kind !== 'read') return []
  const { buffer, byteLength } = task.bytes
  // A small body is a slice of a buffer that others have slices of.
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
}
