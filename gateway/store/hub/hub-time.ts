/**
 * The connection of a sidecar whose clock may be behind its hub. Before anything else is asked, the time of the hub is read and
 * kept: under an earlier clock, what has ended would be valid again.
 */
import type { SteadyClock } from '../../runtime/steady-clock.ts'
import { storeUnavailable } from '../store.ts'
import type { HubConnection } from './connection.ts'

/** Milliseconds. Clocks that differ by less are as exact as clocks of several machines are. */
const NOISE_MS = 1000

/**
 * A call before the time is known waits for it, and fails if it cannot be read. It fails also if the clock was behind, since the
 * caller has read the clock already.
 */
export function afterHubTime(connection: HubConnection, clock: SteadyClock): HubConnection {
  let isKnown = false
  let reading: Promise<boolean> | null = null
  const readOnce = (): Promise<boolean> => {
    reading ??= readTime(connection, clock)
      .then((isJump) => {
        isKnown = true
        return isJump
      })
      .finally(() => (reading = null))
    return reading
  }
  return {
    description: connection.description,
    async ask(method, path, body, isRepeatable) {
      if (!isKnown && (await readOnce())) throw storeUnavailable(new Error('the clock was behind the hub'))
      return connection.ask(method, path, body, isRepeatable)
    },
    stream: (path, headers, signal) => connection.stream(path, headers, signal),
    lastAnswerAt: () => connection.lastAnswerAt(),
    close: () => connection.close(),
  }
}

/** True: the clock was behind. */
async function readTime(connection: HubConnection, clock: SteadyClock): Promise<boolean> {
  const asked = { values: [clock.now()] }
  const answer = await connection.ask('POST', '/hub/v1/operations/ledger.keepTime', asked, true)
  const { value: time } = { value: null, ...(typeof answer === 'object' ? answer : null) }
  if (typeof time !== 'number') throw storeUnavailable(new Error('the hub did not answer its time'))
  const by = time - clock.now()
  clock.keep(time)
  return by >= NOISE_MS
}
