/** Gives back memory that a thread holds and does not need: what loading its modules took, what a burst of large requests left. */
import { executionAsyncResource } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { MemoryBudget } from './memory-budget.ts'

/**
 * Loading some hundred modules grows the young generation of V8 to its full size. V8 shrinks it under memory pressure only, so
 * a sidecar would hold it all its life. A last-resort collection returns it (measured: 25 MB of the main thread, 3 of the
 * writer's). It takes tens of milliseconds, so it runs before the thread reports that it is ready. Node.js offers it only as
 * V8's `gc`, which is taken from a separate context, so that the globals stay as they are. Flags belong to the process:
 * another thread that does the same may remove it meanwhile.
 */
export function releaseFreeMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

let tick: object | null = null

/**
 * Keeps one tick of the event loop for as long as the process runs. V8 collects the hidden class of a tick with the last one.
 * The code that makes ticks then takes the slow path for ever: 0.4 µs in place of 0.08 for each, eight times a call. Must run
 * before the first collection.
 */
export function keepTick(): void {
  process.nextTick(() => {
    tick ??= executionAsyncResource()
  })
}

/** Long enough for a burst to be over, and for its last answers to be out. */
const QUIET_MS = 2000
/** Less than this is not worth a pause of tens of milliseconds. */
const WORTH_BYTES = 96 * 1024 * 1024

/**
 * V8 keeps the heap that a burst grew. Collects once after each burst that left much behind. Returns what stops it.
 * @param memory tells when nothing large is held any more
 */
export function releaseMemoryAfterBursts(memory: Pick<MemoryBudget, 'onIdle' | 'held'>): () => void {
  const restingBytes = process.memoryUsage.rss()
  let timer: NodeJS.Timeout | null = null
  const look = (): void => {
    if (memory.held('body') + memory.held('analysis') > 0) return
    if (process.memoryUsage.rss() - restingBytes > WORTH_BYTES) releaseFreeMemory()
  }
  const stop = (): void => {
    if (timer !== null) clearTimeout(timer)
  }
  memory.onIdle(() => {
    stop()
    timer = setTimeout(look, QUIET_MS).unref()
  })
  return stop
}
