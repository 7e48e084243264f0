/** Exceptions to enforcement on one route. */

/** An exception to enforcement on one route, opened by a person for a time. Times are milliseconds since the epoch. */
export interface BreakGlassRow {
  readonly id: string
  readonly route: string
  readonly reason: string
  /** Audience of the key, or `cli:USER`. */
  readonly openedBy: string
  readonly openedAt: number
  readonly expiresAt: number
  /** Set when it was closed before its time. */
  readonly closedBy: string | null
  readonly closedAt: number | null
  /** Set once the gateway has seen that its time passed; from then on no clock makes it valid again. */
  readonly endedAt: number | null
  /** Calls that were forwarded because of it. */
  readonly calls: number
}

interface BreakGlassFilter {
  /** Only those in force at this moment, milliseconds since the epoch. */
  readonly openAt?: number
  readonly route?: string
  readonly limit: number
}

export interface BreakGlassExceptions {
  open(row: BreakGlassRow): Promise<void>
  /** Newest first. */
  list(filter: BreakGlassFilter): Promise<readonly BreakGlassRow[]>
  /** The row after the call; null when there is none. Closing an ended exception changes nothing. */
  close(id: string, by: string, at: number): Promise<BreakGlassRow | null>
  /**
   * Counts one call on the exception in force of the route; null when there is none. When several are open, the one that ends
   * last counts the call.
   */
  use(route: string, at: number): Promise<BreakGlassRow | null>
}
