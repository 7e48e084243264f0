/**
 * Break-glass: an exception to enforcement that an authorized person opens for one route, with a reason and for a bounded time.
 * It is in the store, so it survives a restart and every process sees it. Each call that uses it is counted there first.
 */
import { randomUUID } from 'node:crypto'
import { GatewayError } from '../errors/errors.ts'
import type { BreakGlassRow } from '../store/break-glass.ts'
import type { Store, StorePart } from '../store/store.ts'
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
  /** False when the store cannot be read. */
  isOpen(route: string): Promise<boolean>
  /** Loads the open exceptions, and again from time to time, since other processes open and close them too. Call once. */
  start(): Promise<void>
  /** Loads the open exceptions now. Never rejects. */
  refresh(): Promise<void>
  close(): void
}

interface BreakGlassDeps {
  readonly store: StorePart<'breakGlass.use' | 'breakGlass.list' | 'approvals.endExpired' | 'apiKeys.endExpired'> &
    Pick<Store, 'changes'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const REFRESH_MS = 5000
/** More exceptions than routes are open only by mistake; the newest count. */
const LONGEST_LIST = 1000

export function createBreakGlass(deps: BreakGlassDeps): BreakGlass {
  return new OpenExceptions(deps)
}

class OpenExceptions implements BreakGlass {
  readonly #deps: BreakGlassDeps
  #open: readonly BreakGlassRow[] = []
  #timer: NodeJS.Timeout | null = null
  #seen = Number.NEGATIVE_INFINITY

  constructor(deps: BreakGlassDeps) {
    this.#deps = deps
    // Counted at each scrape, since an exception ends without any call.
    deps.metrics.sample(
      'preflight_break_glass_open',
      () => this.#open.filter((row) => isInForce(row, this.#latest())).length,
    )
  }

  async use(route: string): Promise<BreakGlassRow | null> {
    const { store, logger } = this.#deps
    try {
      return await store.breakGlass.use(route, this.#latest())
    } catch (error) {
      logger.error(
        { event: 'break_glass.record_failed', err: error, route },
        'use of break-glass could not be recorded, so it has no effect',
      )
      return null
    }
  }

  async isOpen(route: string): Promise<boolean> {
    try {
      const rows = await this.#deps.store.breakGlass.list({ openAt: this.#latest(), route, limit: 1 })
      return rows.length > 0
    } catch {
      // Without a readable store the call is handled as if there were no exception.
      return false
    }
  }

  async start(): Promise<void> {
    await this.refresh()
    this.#deps.store.changes.subscribe(({ kind }) => {
      if (kind === 'break_glass') void this.refresh()
    })
    this.#timer = setInterval(() => void this.refresh(), REFRESH_MS)
    this.#timer.unref()
  }

  async refresh(): Promise<void> {
    const { store, logger } = this.#deps
    try {
      await store.apiKeys.endExpired(this.#latest())
      for (const id of await store.approvals.endExpired(this.#latest()))
        logger.info({ event: 'approval.expired', approval_id: id }, 'nobody decided a request for approval in time')
      const open = await store.breakGlass.list({ openAt: this.#latest(), limit: LONGEST_LIST })
      const before = new Set(this.#open.map(({ id }) => id))
      for (const row of open) if (!before.has(row.id)) announceOpening(row, logger)
      this.#open = open
    } catch (error) {
      logger.warn({ event: 'break_glass.read_failed', err: error }, 'open break-glass exceptions could not be read')
    }
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
  }

  /** The latest time that the clock has shown: an exception that ended by then stays ended, even when the clock is set back. */
  #latest(): number {
    return (this.#seen = Math.max(this.#seen, this.#deps.now()))
  }
}

export function isInForce({ closedAt, endedAt, expiresAt }: BreakGlassRow, now: number): boolean {
  return closedAt === null && endedAt === null && now < expiresAt
}

/**
 * Opens an exception; durable when it resolves.
 * @throws GatewayError INVALID_INPUT when the duration is longer than the configuration allows
 */
export async function openBreakGlass(
  { route, reason, duration, by }: Opening,
  maximum: number,
  store: StorePart<'breakGlass.open'>,
  now: number,
): Promise<BreakGlassRow> {
  if (duration > maximum) {
    throw new GatewayError('INVALID_INPUT', `An exception lasts at most ${maximum} seconds.`, {
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
  await store.breakGlass.open(row)
  return row
}

/** Members of a log record about the opening of an exception. */
export function openingFields({ id, route, reason, openedBy, expiresAt }: BreakGlassRow) {
  return { break_glass_id: id, route, reason, opened_by: openedBy, until: new Date(expiresAt).toISOString() }
}

function announceOpening(row: BreakGlassRow, logger: Logger): void {
  logger.error(
    { event: 'break_glass.opened', ...openingFields(row) },
    'BREAK_GLASS: enforcement of a route is suspended',
  )
}
