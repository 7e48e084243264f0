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
 * Keeps the time now and then regularly. No judgement waits for it: the clock already has the time of the store (`storedTime`), or
 * gets that of the hub before anything else is asked there (hub/hub-time.ts).
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
 * The latest time that the store contains, in milliseconds since the epoch: a start that cannot read it fails, and one that cannot
 * write has it. The time of the last signed checkpoint holds where the kept time was removed, until a person accepts the ledger.
 */
export async function storedTime(
  store: StorePart<'ledger.latestTime' | 'ledger.head' | 'ledger.newestCheckpoint'>,
): Promise<number> {
  const kept = await store.ledger.latestTime()
  const head = await store.ledger.head()
  const held = head === null ? null : await store.ledger.newestCheckpoint(head.chain)
  const signed = held === null || held.isAcceptedSince ? null : held.at
  return Math.max(kept ?? Number.NEGATIVE_INFINITY, signed ?? Number.NEGATIVE_INFINITY)
}
