/**
 * Counts which consumers call which tools and operations through the proxy, for the blast radius of later changes. No call waits for
 * it: what was seen is written in the background, and what cannot be written is forgotten.
 */
import { randomBytes } from 'node:crypto'
import type { JudgedResource } from '../calls/judged-resource.ts'
import type { ConsumersConfig } from './settings.ts'
import type { ObservedUse } from '../store/uses.ts'
import type { StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import { createIdentity, type CallerFacts } from './identity.ts'

export interface ConsumerObserver {
  /** Never throws. A resource that is no tool, operation or whole contract (a merge, an object, a prompt) has no consumers. */
  note(caller: CallerFacts, route: string, resource: JudgedResource): void
  /** Writes what has been seen. */
  flush(): Promise<void>
  close(): Promise<void>
}

interface ConsumerObserverDeps {
  readonly settings: () => { readonly config: Pick<ConsumersConfig, 'observed_consumers'> }
  readonly store: StorePart<'uses.salt' | 'uses.record'>
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

type Identity = ReturnType<typeof createIdentity>

/** A use that is still counted. */
type Counted = Omit<ObservedUse, 'calls' | 'at'> & { calls: number; at: number }

const FLUSH_MS = 2000
/** Pairs of consumer and subject between two writes; what comes on top waits for its next call. */
const MAX_PENDING = 10_000

export async function createConsumerObserver(deps: ConsumerObserverDeps): Promise<ConsumerObserver> {
  const uses = new CountedUses(deps)
  await uses.learnSalt()
  return uses
}

class CountedUses implements ConsumerObserver {
  readonly #deps: ConsumerObserverDeps
  readonly #timer: NodeJS.Timeout
  #identity: Identity | null = null
  #pending = new Map<string, Counted>()

  constructor(deps: ConsumerObserverDeps) {
    this.#deps = deps
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS).unref()
  }

  /** What is seen before the salt is known cannot be named, and is forgotten. */
  async learnSalt(): Promise<void> {
    const { store, logger } = this.#deps
    try {
      this.#identity = createIdentity(await store.uses.salt(randomBytes(32).toString('hex')))
    } catch (error) {
      logger.warn({ event: 'consumers.write_failed', err: error, uses: 0 }, 'the salt of consumer names cannot be read')
    }
  }

  note(caller: CallerFacts, route: string, { target, scope }: JudgedResource): void {
    const { settings, now } = this.#deps
    const isUse = scope === null ? target === route : 'tool' in scope || 'method' in scope || 'touches' in scope
    if (settings().config.observed_consumers.window === 0 || !isUse || this.#identity === null) return
    const consumer = this.#identity(caller)
    const key = `${consumer}\n${target}`
    const known = this.#pending.get(key)
    if (known !== undefined) {
      known.calls += 1
      known.at = now()
    } else if (this.#pending.size < MAX_PENDING) {
      this.#pending.set(key, { ...usedBy(scope), route, target, consumer, calls: 1, at: now() })
    }
  }

  async flush(): Promise<void> {
    const { settings, store, logger, now } = this.#deps
    if (this.#identity === null) await this.learnSalt()
    if (this.#pending.size === 0) return
    const uses = [...this.#pending.values()]
    this.#pending = new Map()
    const { window, limit } = settings().config.observed_consumers
    try {
      await store.uses.record({ uses, limit, since: now() - window * 1000 })
    } catch (error) {
      logger.warn(
        { event: 'consumers.write_failed', err: error, uses: uses.length },
        'observed consumers could not be stored',
      )
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }
}

function usedBy(scope: JudgedResource['scope']): Pick<ObservedUse, 'operation' | 'tool'> {
  if (scope === null) return { operation: null, tool: null }
  if ('tool' in scope) return { operation: null, tool: scope.tool }
  if ('method' in scope) return { operation: `${scope.method} ${scope.path}`, tool: null }
  // Of several root fields none can stand for the others.
  const [field, ...others] = 'touches' in scope ? scope.fields : []
  const isOne = 'touches' in scope && field !== undefined && others.length === 0
  return { operation: isOne ? `${scope.root} ${field}` : null, tool: null }
}
