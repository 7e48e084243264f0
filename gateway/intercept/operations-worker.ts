/** Entry of a worker thread that reads the operations of one large contract and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { readOperations } from './operations.ts'

const { text }: { readonly text: string } = workerData
parentPort?.postMessage(readOperations(text))
