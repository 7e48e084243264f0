/**
 * Reads the table for matching operations from the text of a contract: on the event loop when it is short, else in its
 * own thread (law 7).
 */
import { placedMessage } from '../../errors/mistake.ts'
import { Worker } from 'node:worker_threads'
import {
  DEFAULT_DOCUMENT_LIMITS,
  readGraphqlShape,
  readRpcs,
  type GraphqlShape,
  type Result,
  type RpcTable,
} from '../../../engine/internal.ts'
import { readOperations, type OperationTable } from '../../validation/api-operations.ts'

/** By the type of the contract. Plain data, since it may come from a thread. */
interface ReadTables {
  readonly openapi: OperationTable
  readonly protobuf: RpcTable
  readonly graphql: GraphqlShape
}
export type ReadType = keyof ReadTables

/** Each throws when the text cannot be read: then no call can be matched or judged with it. */
export const READERS: { readonly [Type in ReadType]: (text: string) => ReadTables[Type] } = {
  openapi: readOperations,
  protobuf: (text) => valueOf(readRpcs(text, DEFAULT_DOCUMENT_LIMITS)),
  graphql: (text) => valueOf(readGraphqlShape(text, DEFAULT_DOCUMENT_LIMITS)),
}

function valueOf<T>(read: Result<T>): T {
  if (read.ok) return read.value
  throw new Error(placedMessage({ ...read.problem, pointer: '' }))
}

/** How a contract is read. */
export interface ContractReading {
  /** Contracts shorter than this are read on the event loop, code units. */
  readonly inlineBelow: number
  /** Time for one contract in a thread (`limits.analysis`), milliseconds. */
  readonly timeoutMs: number
}

/** Rejects when the contract is not read in time. Its thread is ended, since nothing else stops a busy loop. */
export function readContract<Type extends ReadType>(
  type: Type,
  text: string,
  { inlineBelow, timeoutMs }: ContractReading,
): Promise<ReadTables[Type]> {
  if (text.length < inlineBelow) return Promise.resolve().then(() => READERS[type](text))
  return new Promise((resolve, reject) => {
    const worker = new Worker(THREAD, { workerData: { module: READER, type, text } })
    const timer = setTimeout(() => {
      reject(new Error(`it was not read within ${timeoutMs / 1000} s; split the contract, or raise limits.analysis`))
      void worker.terminate()
    }, timeoutMs)
    worker.once('message', (table: ReadTables[Type]) => resolve(table))
    worker.once('error', reject)
    worker.once('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`the contract reader ended with code ${code}`))
    })
  })
}

const THREAD = new URL('../../runtime/thread.js', import.meta.url)
/** `.ts` in the sources, `.js` in the package. */
const READER = new URL(`./contract-reader-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
  .href
