/**
 * Break-glass: an exception to enforcement that an authorized person opens for one route, with a reason and for a bounded time.
 * It lives in the store, so it survives a restart and is seen by every process; each call that uses it is counted there first.
 */
import { randomUUID } from 'node:crypto'
import { GatewayError } from '../errors/errors.ts'
import type { BreakGlassRow, Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'

interface Opening {
  readonly route: string
  readonly reason: string
  /** Seconds. */
  readonly duration: number
  /** Audience of the key, or `cli:USER`. */
  readonly by: string
}

export interface BreakGlass {
  /** Counts one call on the open exception of a route. Null when there is none, or its use could not be made durable. */
  use(route: string): Promise<BreakGlassRow | null>
  /** False when it cannot be told. */
  isOpen(route: string): Promise<boolean>
  /** Takes up what is open, and looks again from time to time: other processes open and close too. Call once. */
  start(): Promise<void>
  /** Looks now. Never rejects. */
  refresh(): Promise<void>
  close(): void
}

interface BreakGlassDeps {
  readonly store: Pick<Store, 'useBreakGlass' | 'breakGlasses' | 'endExpired'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const REFRESH_MS = 5000
/** More exceptions than routes are open only by mistake; the newest count. */
const LONGEST_LIST = 1000

export function createBreakGlass(deps: BreakGlassDeps): BreakGlass {
  const { store, metrics, logger, now } = deps
  let open: readonly BreakGlassRow[] = []
  let timer: NodeJS.Timeout | null = null
  let seen = Number.NEGATIVE_INFINITY
  /** The latest moment that the clock has shown: what ended by it stays ended while its end is not recorded yet. */
  const latest = (): number => (seen = Math.max(seen, now()))
  // Counted at the scrape: an exception ends by itself.
  metrics.sample('preflight_break_glass_open', () => open.filter((row) => isInForce(row, latest())).length)

  const refresh = async (): Promise<void> => {
    try {
      const before = new Set(open.map(({ id }) => id))
      await store.endExpired(latest())
      open = await store.breakGlasses({ openAt: latest(), limit: LONGEST_LIST })
      for (const row of open) if (!before.has(row.id)) announce(row, logger)
    } catch (error) {
      logger.warn({ event: 'break_glass.read_failed', err: error }, 'open break-glass exceptions could not be read')
    }
  }
  return {
    async use(route) {
      try {
        return await store.useBreakGlass(route, latest())
      } catch (error) {
        logger.error(
          { event: 'break_glass.record_failed', err: error, route },
          'use of break-glass could not be recorded, so it has no effect',
        )
        return null
      }
    },
    async isOpen(route) {
      try {
        const rows = await store.breakGlasses({ openAt: latest(), route, limit: 1 })
        return rows.length > 0
      } catch {
        // Whoever asks goes on as if there were none.
        return false
      }
    },
    async start() {
      await refresh()
      timer = setInterval(() => void refresh(), REFRESH_MS)
      timer.unref()
    },
    refresh,
    close() {
      if (timer !== null) clearInterval(timer)
    },
  }
}

export function isInForce({ closedAt, endedAt, expiresAt }: BreakGlassRow, now: number): boolean {
  return closedAt === null && endedAt === null && now < expiresAt
}

/**
 * Opens an exception; durable when it resolves.
 * @throws GatewayError INVALID_INPUT when it is to last longer than the configuration lets it
 */
export async function openBreakGlass(
  { route, reason, duration, by }: Opening,
  maximum: number,
  store: Pick<Store, 'openBreakGlass'>,
  now: number,
): Promise<BreakGlassRow> {
  if (duration > maximum) {
    throw new GatewayError('INVALID_INPUT', `An exception lasts ${maximum} seconds at the most.`, {
      details: [{ pointer: '/duration', message: `is longer than break_glass.maximum (${maximum} seconds)` }],
    })
  }
  const row: BreakGlassRow = {
    id: `bg_${randomUUID().replaceAll('-', '')}`,
    route,
    reason,
    openedBy: by,
    openedAt: now,
    expiresAt: now + duration * 1000,
    closedBy: null,
    closedAt: null,
    endedAt: null,
    calls: 0,
  }
  await store.openBreakGlass(row)
  return row
}

function announce({ id, route, reason, openedBy, expiresAt }: BreakGlassRow, logger: Logger): void {
  const until = new Date(expiresAt).toISOString()
  logger.error(
    { event: 'break_glass.opened', break_glass_id: id, route, reason, opened_by: openedBy, until },
    'BREAK_GLASS: enforcement of a route is suspended',
  )
}
