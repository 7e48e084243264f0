/**
 * Keeps the latest time in the store, so that time does not go back with a restart (docs/reliability.md, The clock). Receipts,
 * decisions, approvals, idempotent answers and waivers that have ended would be valid again.
 */
import type { SteadyClock } from '../runtime/steady-clock.ts'
import type { StorePart } from './store.ts'

export interface KeptTime {
  /** Keeps the time once more and stops. */
  close(): Promise<void>
}

interface KeptTimeDeps {
  readonly store: StorePart<'ledger.keepTime'>
  readonly clock: SteadyClock
}

/** A process that is killed loses at most so much. */
const KEEP_MS = 5000

/**
 * Resolves when the clock is not behind the store. If the store fails, calls that are judged fail too, since nothing can be
 * recorded; the time is kept at the first try that succeeds.
 */
export async function startKeptTime({ store, clock }: KeptTimeDeps): Promise<KeptTime> {
  const keep = async (): Promise<void> => {
    try {
      clock.keep(await store.ledger.keepTime(clock.now()))
    } catch {
      // The store reports its own faults. The time is kept at the next try.
    }
  }
  await keep()
  const timer = setInterval(() => void keep(), KEEP_MS)
  timer.unref()
  return {
    close: () => {
      clearInterval(timer)
      return keep()
    },
  }
}

/**
 * The time of the last signed checkpoint, in milliseconds since the epoch: it holds where the kept time was removed. Null: there is
 * none, or a person accepted the ledger after it.
 */
export async function signedTime(store: StorePart<'ledger.head' | 'ledger.newestCheckpoint'>): Promise<number | null> {
  const head = await store.ledger.head()
  const held = head === null ? null : await store.ledger.newestCheckpoint(head.chain)
  return held === null || held.isAcceptedSince ? null : held.at
}
