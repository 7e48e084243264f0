/**
 * Records of calls on their way to the writer: durable one by one, or in batches (`ledger.calls`). The queue is bounded: when
 * batches cannot be written, calls are refused rather than left unrecorded.
 */
import { GatewayError } from '../../errors/errors.ts'
import type { InterceptionRow } from '../calls.ts'

interface CallRecords {
  /** Throws or rejects with STORE_UNAVAILABLE when the queue is full. */
  add(row: InterceptionRow): Promise<void> | void
  /** Writes the queue; resolves with the number of rows that could not be written. */
  close(): Promise<number>
}

/** A batch this large does not wait for the timer. */
const BATCH_ROWS = 500

/** Rows that may wait while the store cannot be written; then calls are refused. */
const WAITING_ROWS = 10_000

type WriteRows = (rows: readonly InterceptionRow[]) => Promise<unknown>

export function durableCallRecords(write: WriteRows): CallRecords {
  return {
    add: async (row) => {
      await write([row])
    },
    close: () => Promise.resolve(0),
  }
}

/** @param flushMilliseconds maximum wait of a row before its batch is written */
export function batchedCallRecords(write: WriteRows, flushMilliseconds: number): CallRecords {
  let waiting: InterceptionRow[] = []
  let timer: NodeJS.Timeout | null = null
  let writing: Promise<void> | null = null
  let isFailing = false
  let isClosed = false

  const writeBatches = async (): Promise<void> => {
    do {
      const batch = waiting
      waiting = []
      try {
        await write(batch)
        isFailing = false
      } catch {
        // The client counts and logs the failed call. The rows stay in the queue and are tried again after a pause.
        waiting = [...batch, ...waiting]
        isFailing = true
      }
    } while (!isFailing && waiting.length >= BATCH_ROWS)
  }
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    writing ??= writeBatches().finally(() => {
      writing = null
      if (waiting.length > 0) schedule()
    })
  }
  const schedule = (): void => {
    // What cannot be written at the end is lost, and does not keep the process alive.
    if (!isClosed) timer ??= setTimeout(flush, flushMilliseconds)
  }

  return {
    add: (row) => {
      if (waiting.length >= WAITING_ROWS) throw new GatewayError('STORE_UNAVAILABLE')
      waiting.push(row)
      if (waiting.length >= BATCH_ROWS && !isFailing) flush()
      else schedule()
    },
    close: async () => {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      await writing
      if (waiting.length > 0) await writeBatches()
      return waiting.length
    },
  }
}
