/** The thread of a run: one chunk in, its tally out. */
import { parentPort } from 'node:worker_threads'
import { tallyOf, type Chunk } from './chunk.ts'

parentPort?.on('message', (chunk: Chunk) => {
  parentPort?.postMessage(tallyOf(chunk))
})
