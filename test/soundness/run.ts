/** A run over many pairs in worker threads. The work is bounded by its count, so that a run is the same on every machine. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Chunk, Counts, Job, Tally } from './chunk.ts'

const CHUNK = 250

export interface RunOptions {
  readonly seed: number
  readonly from?: number
  readonly count: number
  readonly job: Job
  readonly threads?: number
  readonly onProgress?: (done: number) => void
}

export async function run({
  seed,
  from = 0,
  count,
  job,
  threads = availableParallelism(),
  onProgress,
}: RunOptions): Promise<Tally> {
  const chunks: Chunk[] = []
  for (let start = from; start < from + count; start += CHUNK) {
    chunks.push({ seed, from: start, to: Math.min(start + CHUNK, from + count), job })
  }
  const tallies = new Map<number, Tally>()
  const queue = chunks[Symbol.iterator]()
  let done = 0
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL('worker.ts', import.meta.url))
    try {
      for (const chunk of queue) {
        tallies.set(chunk.from, await answerOf(worker, chunk))
        done += chunk.to - chunk.from
        onProgress?.(done)
      }
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: Math.min(threads, chunks.length) }, work))
  const ordered = chunks.map((chunk) => tallies.get(chunk.from)).filter((tally) => tally !== undefined)
  return { counts: added(ordered.map(({ counts }) => counts)), failures: ordered.flatMap(({ failures }) => failures) }
}

function answerOf(worker: Worker, chunk: Chunk): Promise<Tally> {
  return new Promise((resolve, reject) => {
    const finish = (act: () => void): void => {
      worker.off('message', answered)
      worker.off('error', failed)
      act()
    }
    const answered = (tally: Tally): void => finish(() => resolve(tally))
    const failed = (error: Error): void => finish(() => reject(error))
    worker.on('message', answered)
    worker.on('error', failed)
    worker.postMessage(chunk)
  })
}

function added(all: readonly Counts[]): Counts {
  const sums: Record<string, number> = {}
  for (const counts of all) for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
  return Object.fromEntries(Object.entries(sums).sort(([a], [b]) => (a < b ? -1 : 1)))
}
