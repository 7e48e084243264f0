/**
 * Changes of a store that announces none, read from its journal several times within the bound: the command line may write to
 * the file of a hub beside it.
 */
import type { Change, Changes } from '../store/changes.ts'
import type { StorePart } from '../store/store.ts'

interface JournalChanges extends Pick<Changes, 'lag' | 'subscribe'> {
  close(): void
}

/** Looks within the bound. */
const LOOKS = 5

/** @param bound seconds */
export function followJournal(store: StorePart<'ledger.changesBehind'>, bound: number): JournalChanges {
  const subscribers: ((change: Change) => void)[] = []
  let behind: number | null = null
  let provenAt = Number.NEGATIVE_INFINITY
  let isLooking = false
  const look = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    try {
      for (;;) {
        const startedAt = performance.now()
        const { sequence, changes } = await store.ledger.changesBehind(behind)
        const isAtEnd = behind === null || sequence === behind
        behind = sequence
        for (const change of changes) for (const subscriber of subscribers) subscriber(change)
        if (!isAtEnd) continue
        provenAt = startedAt
        break
      }
    } catch {
      // The store counts its failures; without a proof every sidecar looks up each reuse.
    } finally {
      isLooking = false
    }
  }
  const timer = setInterval(() => void look(), (bound * 1000) / LOOKS).unref()
  void look()
  return {
    lag: () => {
      const lag = performance.now() - provenAt
      return lag < bound * 1000 ? lag : null
    },
    subscribe: (subscriber) => void subscribers.push(subscriber),
    close: () => clearInterval(timer),
  }
}
