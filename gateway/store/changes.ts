/**
 * What other processes changed in the store, for caches in front of it. A cached value carries the mark of the moment before it
 * was read; the mark tells whether the value may be used without another look at the store.
 */
import { setTimeout as pause } from 'node:timers/promises'

export const CHANGE_KINDS = ['receipt_event', 'approval', 'baseline', 'api_key', 'break_glass', 'receipt_key'] as const

/** `receipt_event`: decision id, state. The others: the key of the row. Without a key: any row may have changed. */
export interface Change {
  readonly kind: (typeof CHANGE_KINDS)[number]
  readonly key: readonly string[]
}

export interface Changes {
  /** Seconds after which a change is in force in every process that shares the store. */
  readonly bound: number
  /** False: changes are not announced; a value is looked up again after the bound. */
  readonly announces: boolean
  /** Taken before a value is read. @param now milliseconds since the epoch */
  begin(now: number): number
  /** The mark of a value that was read since `begin`; stale when a change was announced meanwhile. */
  mark(begin: number, now: number): number
  /** False: look at the store before the value is used again. */
  isFresh(mark: number, now: number): boolean
  /** Milliseconds since the newest proof that every change was announced here; null: announcements do not arrive. */
  lag(): number | null
  /** Called for each change that another process made; it may be called for own changes too. */
  subscribe(listener: (change: Change) => void): void
}

/** A mark that is never fresh. */
export const STALE = Number.NEGATIVE_INFINITY

/** Without announcements: a value is looked up again after the bound. */
export function timedChanges(bound: number): Changes {
  return {
    bound,
    announces: false,
    begin: (now) => now,
    mark: (_, now) => now,
    isFresh: (mark, now) => now - mark < bound * 1000,
    lag: () => 0,
    subscribe: () => {},
  }
}

/** Called when announcements stop or begin to arrive. */
export type OnLive = (isLive: boolean, error?: unknown) => void

/** After a gap each kind may have changed; those with a state of their own read it again. */
const AFTER_A_GAP: readonly Change[] = [
  { kind: 'approval', key: [] },
  { kind: 'break_glass', key: [] },
  { kind: 'receipt_key', key: [] },
]

/** Pauses between attempts to listen, milliseconds; many listeners do not come back at one moment. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 2000

/**
 * What is known of announced changes: how many there were, and until when it is proven that all of them arrived. Without a
 * proof within the bound nothing cached is fresh.
 */
export class AnnouncedChanges implements Changes {
  readonly bound: number
  readonly announces = true
  readonly #onLive: OnLive
  readonly #subscribers: ((change: Change) => void)[] = []
  /** Counts the gaps. What was read before one may have changed unheard. */
  #epoch = 0
  /** Counts the announcements. */
  #revision = 0
  #provenAt = Number.NEGATIVE_INFINITY
  #wasLive: boolean | null = null
  /** In the attempt to listen that runs. */
  #isProven = false

  /** @param bound seconds */
  constructor(bound: number, onLive: OnLive) {
    this.bound = bound
    this.#onLive = onLive
  }

  /** As `performance.now()`; minus infinity: nothing is proven. */
  get provenAt(): number {
    return this.#provenAt
  }

  begin(): number {
    return this.#isLive() ? this.#revision : STALE
  }

  mark(begin: number): number {
    return begin === this.#revision && this.#isLive() ? this.#epoch : STALE
  }

  isFresh(mark: number): boolean {
    return mark === this.#epoch && this.#isLive()
  }

  lag(): number | null {
    return this.#isLive() ? performance.now() - this.#provenAt : null
  }

  subscribe(subscriber: (change: Change) => void): void {
    this.#subscribers.push(subscriber)
  }

  /** Something was announced; null: nothing that concerns a subscriber. */
  announce(change: Change | null): void {
    this.#revision += 1
    if (change !== null) for (const subscriber of this.#subscribers) subscriber(change)
  }

  /** Announcements may have been missed: nothing that was read before is fresh, and subscribers learn it. */
  gap(): void {
    this.#epoch += 1
    for (const change of AFTER_A_GAP) this.announce(change)
  }

  get isProven(): boolean {
    return this.#isProven
  }

  /**
   * Listens again whenever it ends, with longer pauses while nothing is proven.
   * @param listen ends or rejects when its connection does
   */
  async keepListening(listen: () => Promise<void>, signal: AbortSignal): Promise<void> {
    let rest = FIRST_PAUSE
    while (!signal.aborted) {
      this.#isProven = false
      try {
        await listen()
      } catch (error) {
        if (!signal.aborted) this.lose(error)
      }
      rest = this.#isProven ? FIRST_PAUSE : Math.min(rest * 2, LONGEST_PAUSE)
      await pause(rest * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {})
    }
  }

  /** Every announcement until this moment of `performance.now` arrived. */
  prove(at: number): void {
    this.#isProven = true
    this.#provenAt = at
    this.#report(this.#isLive())
  }

  /** Announcements do not arrive. */
  lose(error: unknown): void {
    this.#provenAt = Number.NEGATIVE_INFINITY
    this.#report(false, error)
  }

  #isLive(): boolean {
    return performance.now() - this.#provenAt < this.bound * 1000
  }

  #report(isLive: boolean, error?: unknown): void {
    if (this.#wasLive !== isLive) this.#onLive(isLive, error)
    this.#wasLive = isLive
  }
}
