/** Shows how many requests for approval wait, and since when. Read at a scrape, for the next one: no timer runs for it. */
import type { StorePart } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'

interface PendingGaugeDeps {
  readonly store: StorePart<'approvals.waiting'>
  readonly metrics: Metrics
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export function showPendingApprovals({ store, metrics, now }: PendingGaugeDeps): void {
  let isReading = false
  const look = async (): Promise<void> => {
    if (isReading) return
    isReading = true
    try {
      const { count, oldestAt } = await store.approvals.waiting(now())
      metrics.set('preflight_approvals_pending', {}, count)
      metrics.set('preflight_approval_oldest_timestamp_seconds', {}, Math.floor((oldestAt ?? 0) / 1000))
    } catch {
      // The store reports its own failures; the gauges keep their values.
    } finally {
      isReading = false
    }
  }
  metrics.beforeRead(() => void look())
}
