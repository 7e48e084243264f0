/** Records of single calls on their way to the writer: durable one by one, or in batches (`ledger.calls`). Bounded: when batches cannot be written, calls are refused rather than forgotten. */
import { GatewayError } from '../../errors.ts'
import type { InterceptionRow } from '../store.ts'

export interface CallRecords {
  add(row: InterceptionRow): Promise<void>
  /** Writes what waits; resolves with the number of rows that could not be written. */
  close(): Promise<number>
}

/** A batch this large does not wait for the timer. */
const BATCH_ROWS = 500

/** Rows that may wait while the store cannot be written; past that a call is refused. */
const WAITING_ROWS = 10_000

type Write = (rows: readonly InterceptionRow[]) => Promise<unknown>

export function durableCallRecords(write: Write): CallRecords {
  return {
    add: async (row) => {
      await write([row])
    },
    close: () => Promise.resolve(0),
  }
}

/** @param flushMilliseconds longest wait of a row before its batch is written */
export function batchedCallRecords(write: Write, flushMilliseconds: number): CallRecords {
  let waiting: InterceptionRow[] = []
  let timer: NodeJS.Timeout | null = null
  let writing: Promise<void> = Promise.resolve()
  let isWriting = false

  const flush = async (): Promise<void> => {
    const batch = waiting
    waiting = []
    isWriting = true
    try {
      if (batch.length > 0) await write(batch)
    } catch {
      // Counted and logged as a failed call of the client; the rows keep their place and are tried again.
      waiting = [...batch, ...waiting]
      schedule()
    } finally {
      isWriting = false
    }
  }
  const flushNow = (): void => {
    if (timer) clearTimeout(timer)
    timer = null
    if (isWriting) return schedule()
    writing = flush()
  }
  const schedule = (): void => {
    timer ??= setTimeout(flushNow, flushMilliseconds)
  }

  return {
    add: (row) => {
      if (waiting.length >= WAITING_ROWS) return Promise.reject(new GatewayError('STORE_UNAVAILABLE'))
      waiting.push(row)
      if (waiting.length === BATCH_ROWS) flushNow()
      else schedule()
      return Promise.resolve()
    },
    close: async () => {
      await writing
      if (timer) clearTimeout(timer)
      await flush()
      if (timer) clearTimeout(timer)
      return waiting.length
    },
  }
}
