/** Gives back memory that a thread holds and does not need: what loading its modules took, what a burst of large requests left. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { MemoryBudget } from './memory-budget.ts'

/**
 * Loading some hundred modules grows the young generation of V8 to its full size, and V8 shrinks it under memory pressure
 * only: a sidecar would hold it for nothing all its life. One collection of the kind that V8 makes when memory runs out returns
 * it (measured: 25 MB of the main thread, 3 of the writer's). It takes tens of milliseconds, so it comes before anybody is told
 * that the thread is ready. Node.js has no call for it but V8's own `gc`, which is taken from a context of its own, so that the
 * program's globals stay as they are; flags are of the process, so another thread that does the same may take it away meanwhile.
 */
export function releaseFreeMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  // The shape of a tick dies with the last one, and code that knew it would take the slow way at every tick from then on: 0.3 µs
  // instead of 0.08, ten times a call. So one waits while the collector runs.
  process.nextTick(() => {})
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
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
