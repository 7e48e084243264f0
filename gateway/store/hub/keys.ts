/**
 * The receipt keys of a sidecar with a hub: those that the hub publishes. The sidecar verifies with them and signs nothing; the
 * hub signs when it records a decision.
 */
import { GatewayError } from '../../errors/errors.ts'
import { StartupError, messageOf } from '../../errors/startup-error.ts'
import { parseKeySet } from '../../keys/jwks.ts'
import type { KeyRing } from '../../keys/key-ring.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { HubConnection } from './connection.ts'

/** Milliseconds between two readings: a revoked key is refused after that time. */
const INTERVAL = 10_000

export interface HubKeys {
  readonly keys: KeyRing
  close(): void
}

const REMEDY = 'Check store.url and store.hub here, and listen.hub, hub.tokens and hub.identities of the hub.'

/** Throws a StartupError when the hub cannot be reached or refuses this sidecar. */
export async function openHubKeys(connection: HubConnection, logger: Logger): Promise<HubKeys> {
  let published: ReturnType<KeyRing['published']> = { keys: [] }
  let set: ReturnType<KeyRing['keySet']> = new Map()
  const read = async (): Promise<void> => {
    const answer = await connection.ask('GET', '/hub/v1/keys', null, true)
    const parsed = parseKeySet(answer)
    if (!parsed.ok || !isKeySet(answer)) throw new Error('the hub published no key set')
    set = parsed.value
    published = answer
  }
  try {
    await read()
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    throw new StartupError(`The ${connection.description} gives this sidecar no keys: ${messageOf(cause)}. ${REMEDY}`, {
      cause: error,
    })
  }
  const timer = setInterval(() => {
    read().catch((error: unknown) =>
      logger.warn({ event: 'hub.keys_not_read', err: error }, 'the keys of the hub could not be read'),
    )
  }, INTERVAL)
  timer.unref()
  return {
    keys: {
      signer: refuse,
      keySet: () => set,
      published: () => published,
      own: () => [],
      join: () => {},
      reload: () => {},
      rotate: () => Promise.reject(new GatewayError('SIGNER_UNAVAILABLE', 'Keys are managed at the hub.')),
      retire: refuse,
      revoke: refuse,
      replenish: () => Promise.resolve(),
    },
    close: () => clearInterval(timer),
  }
}

function refuse(): never {
  throw new GatewayError('SIGNER_UNAVAILABLE', 'The hub signs; keys are managed there.')
}

function isKeySet(value: unknown): value is ReturnType<KeyRing['published']> {
  return typeof value === 'object' && value !== null && 'keys' in value
}
