/**
 * The receipt keys of a sidecar with a hub: those that the hub publishes. The sidecar verifies with them and signs nothing; the
 * hub signs when it records a decision.
 */
import { isDeepStrictEqual } from 'node:util'
import { GatewayError } from '../../errors/errors.ts'
import { StartupError, messageOf } from '../../errors/startup-error.ts'
import { parseKeySet } from '../../keys/jwks.ts'
import type { KeyRing } from '../../keys/key-ring.ts'
import type { Logger } from '../../telemetry/log.ts'
import { STALE, type Changes } from '../changes.ts'
import type { StoreSettings } from '../settings.ts'
import { codeOf, isRefusal, type HubConnection } from './connection.ts'
import { tlsRemedy } from './tls.ts'

/** Milliseconds between two readings while the hub pushes no changes. */
const INTERVAL = 1000

export interface HubKeys {
  readonly keys: KeyRing
  /** Called when the hub published other keys. */
  readonly onChange: (listener: () => void) => void
  close(): void
}

const REMEDY = 'Check store.url and store.hub here, and listen.hub, hub.tokens and hub.identities of the hub.'

interface HubKeysDeps {
  readonly connection: Pick<HubConnection, 'ask' | 'description'>
  readonly changes: Changes
  readonly access: StoreSettings['hub']
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Throws a StartupError when the hub refuses this sidecar. A hub that is away is waited for: until its keys are here, no receipt verifies.
 */
export async function openHubKeys({ connection, changes, access, logger, now }: HubKeysDeps): Promise<HubKeys> {
  let published: ReturnType<KeyRing['published']> = { keys: [] }
  let set: ReturnType<KeyRing['keySet']> = new Map()
  let mark = STALE
  const listeners: (() => void)[] = []
  const read = async (): Promise<void> => {
    const begin = changes.begin(now())
    const answer = await connection.ask('GET', '/hub/v1/keys', null, true)
    const parsed = parseKeySet(answer)
    if (!parsed.ok || !isKeySet(answer)) throw new Error('the hub published no key set')
    mark = changes.mark(begin, now())
    const isSame = isDeepStrictEqual(published, answer)
    set = parsed.value
    published = answer
    if (!isSame) for (const listener of listeners) listener()
  }
  const wait = (error: unknown): void =>
    logger.warn({ event: 'hub.keys_not_read', err: error }, 'the keys of the hub could not be read')
  try {
    await read()
  } catch (error) {
    if (!isRefusal(error)) wait(error)
    else {
      const cause = error instanceof Error ? (error.cause ?? error) : error
      const remedy = tlsRemedy(codeOf(cause), access)
      const what = remedy === null ? 'refuses this sidecar' : 'cannot be used'
      const sentence = messageOf(cause).replace(/\.$/, '')
      throw new StartupError(`The ${connection.description} ${what}: ${sentence}. ${remedy ?? REMEDY}`, {
        cause: error,
      })
    }
  }
  let isAway = set.size === 0
  const readAgain = async (): Promise<void> => {
    try {
      await read()
      isAway = false
    } catch (error) {
      if (!isAway) wait(error)
      isAway = true
    }
  }
  changes.subscribe(({ kind }) => {
    if (kind === 'receipt_key') void readAgain()
  })
  const timer = setInterval(() => {
    if (!changes.isFresh(mark, now())) void readAgain()
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
    onChange: (listener) => void listeners.push(listener),
    close: () => clearInterval(timer),
  }
}

function refuse(): never {
  throw new GatewayError('SIGNER_UNAVAILABLE', 'The hub signs; keys are managed there.')
}

function isKeySet(value: unknown): value is ReturnType<KeyRing['published']> {
  return typeof value === 'object' && value !== null && 'keys' in value
}
