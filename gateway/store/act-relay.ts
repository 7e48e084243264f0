/**
 * Takes acts that wait in the store to the log and the decision log. Commands run in another process, so they leave their acts
 * here; with `on_full: block`, an act that no sink took waits here too. At least once: an act goes when its entry is durable.
 */
import type { ActLogger } from '../telemetry/decision-log/acts.ts'
import type { Logger } from '../telemetry/log.ts'
import type { StorePart } from './store.ts'

interface ActRelayDeps {
  readonly store: StorePart<'acts.add' | 'acts.claim' | 'acts.remove'>
  readonly acts: ActLogger
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export interface ActRelay {
  /** Takes what waits now, and stops. */
  close(): Promise<void>
}

const LOOK_MS = 1000
/** A gateway that dies with claimed acts leaves them to others after this time. */
const LEASE_MS = 30_000
const CLAIMED = 100

export function startActRelay({ store, acts, logger, now }: ActRelayDeps): ActRelay {
  let isClosing = false
  let timer: ReturnType<typeof setTimeout> | null = null
  const look = async (): Promise<void> => {
    const at = now()
    for (const row of await store.acts.claim(at, at + LEASE_MS, CLAIMED))
      if (await acts.relay(row)) await store.acts.remove(row.id)
  }
  const round = (): Promise<void> =>
    look().catch((error: unknown) =>
      logger.warn(
        { event: 'act.relay_failed', err: error },
        'acts of the command line could not be read; they are tried again',
      ),
    )
  let running = round()
  const next = (): void => {
    timer = setTimeout(() => {
      running = round().finally(() => {
        if (!isClosing) next()
      })
    }, LOOK_MS)
    timer.unref()
  }
  next()
  acts.keep((row) => store.acts.add(row))
  return {
    async close() {
      isClosing = true
      if (timer !== null) clearTimeout(timer)
      await running
    },
  }
}
