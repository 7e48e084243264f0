/**
 * What other processes changed in the store, for caches in front of it. A cached value carries the mark of the moment before it
 * was read; the mark tells whether the value may be used without another look at the store.
 */

export const CHANGE_KINDS = ['receipt_event', 'approval', 'baseline', 'api_key', 'break_glass', 'receipt_key'] as const

/** `receipt_event`: decision id, state. The others: the key of the row. */
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
