/**
 * The receipt keys of a sidecar with a hub: those that the hub publishes. The sidecar verifies with them and signs nothing; the
 * hub signs when it records a decision.
 */
import { isDeepStrictEqual } from 'node:util'
import { GatewayError } from '../../errors/errors.ts'
import { StartupError, messageOf, errorCode } from '../../errors/startup-error.ts'
import { parseKeySet } from '../../keys/jwks.ts'
import type { KeyRing } from '../../keys/key-ring.ts'
import type { Logger } from '../../telemetry/log.ts'
import { STALE, type Changes } from '../changes.ts'
import type { StoreSettings } from '../settings.ts'
import { isRefusal, type HubConnection } from './connection.ts'
import { tlsRemedy } from './tls.ts'

/** Milliseconds between two readings while the hub pushes no changes. */
const INTERVAL = 1000

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
export async function openHubKeys(deps: HubKeysDeps): Promise<HubKeys> {
  const keys = new HubKeys(deps)
  await keys.open()
  return keys
}

class HubKeys {
  readonly keys: KeyRing = {
    signer: refuseSigning,
    keySet: () => this.#set,
    published: () => this.#published,
    own: () => [],
    join: () => {},
    reload: () => {},
    rotate: () => Promise.reject(new GatewayError('SIGNER_UNAVAILABLE', 'Keys are managed at the hub.')),
    retire: refuseSigning,
    revoke: refuseSigning,
    replenish: () => Promise.resolve(),
  }
  readonly #deps: HubKeysDeps
  readonly #listeners: (() => void)[] = []
  #published: ReturnType<KeyRing['published']> = { keys: [] }
  #set: ReturnType<KeyRing['keySet']> = new Map()
  /** Of the newest reading. */
  #mark = STALE
  #begun = 0
  /** The newest reading that was taken over. */
  #taken = 0
  /** The last reading failed: it was logged. */
  #isAway = false
  #timer: NodeJS.Timeout | null = null

  constructor(deps: HubKeysDeps) {
    this.#deps = deps
  }

  /** Called when the hub published other keys. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Reads the keys, and again when they change. */
  async open(): Promise<void> {
    const { changes, now } = this.#deps
    await this.#readFirst()
    this.#isAway = this.#set.size === 0
    changes.subscribe(({ kind }) => {
      if (kind === 'receipt_key') void this.#readAgain()
    })
    this.#timer = setInterval(() => {
      if (!changes.isFresh(this.#mark, now())) void this.#readAgain()
    }, INTERVAL)
    this.#timer.unref()
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
  }

  async #readFirst(): Promise<void> {
    const { connection, access } = this.#deps
    try {
      await this.#read()
    } catch (error) {
      if (!isRefusal(error)) {
        this.#reportAway(error)
        return
      }
      const cause = error instanceof Error ? (error.cause ?? error) : error
      const remedy = tlsRemedy(errorCode(cause) ?? '', access)
      const what = remedy === null ? 'refuses this sidecar' : 'cannot be used'
      const sentence = messageOf(cause).replace(/\.$/, '')
      throw new StartupError(`The ${connection.description} ${what}: ${sentence}. ${remedy ?? REMEDY}`, {
        cause: error,
      })
    }
  }

  async #readAgain(): Promise<void> {
    try {
      await this.#read()
      this.#isAway = false
    } catch (error) {
      // A change that was announced may be missing: it is tried again.
      this.#mark = STALE
      if (!this.#isAway) this.#reportAway(error)
      this.#isAway = true
    }
  }

  async #read(): Promise<void> {
    const { connection, changes, now } = this.#deps
    const begin = changes.begin(now())
    const reading = (this.#begun += 1)
    const answer = await connection.ask('GET', '/hub/v1/keys', null, true)
    const parsed = parseKeySet(answer)
    if (!parsed.ok || !hasKeys(answer)) throw new Error('the hub published no key set')
    // An answer of an earlier moment may come later: a key that was revoked in between would be good again.
    if (reading < this.#taken) return
    this.#taken = reading
    this.#mark = changes.mark(begin, now())
    const isSame = isDeepStrictEqual(this.#published, answer)
    this.#set = parsed.value
    this.#published = answer
    if (!isSame) for (const listener of this.#listeners) listener()
  }

  #reportAway(error: unknown): void {
    this.#deps.logger.warn({ event: 'hub.keys_not_read', err: error }, 'the keys of the hub could not be read')
  }
}

function refuseSigning(): never {
  throw new GatewayError('SIGNER_UNAVAILABLE', 'The hub signs; keys are managed there.')
}

function hasKeys(value: unknown): value is ReturnType<KeyRing['published']> {
  return typeof value === 'object' && value !== null && 'keys' in value
}
