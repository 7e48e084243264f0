/** Entry of a worker thread that reads the operations of one large contract and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { READERS, type ReadType } from './contract-reader.ts'

const { type, text }: { readonly type: ReadType; readonly text: string } = workerData
parentPort?.postMessage(READERS[type](text))
