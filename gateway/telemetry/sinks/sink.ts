/** Where execution telemetry goes. A sink owns its queue and says whether it can take more. */

export interface SinkState {
  readonly name: string
  /** Can take events now: healthy, or its spool bridges an outage and has room. */
  readonly isWired: boolean
  /** Events taken and not yet acknowledged. */
  readonly queued: number
  /** For people; holds no secret. */
  readonly detail: string
}

export interface Sink {
  state(): SinkState
  /**
   * Takes events, all or none; resolves when they are durable where the sink has a spool. Never rejects.
   * @param isOwed the sink took the beginning of what these end, and so takes them whatever its bound
   */
  accept(events: readonly object[], isOwed: boolean): Promise<boolean>
  /** Stops deliveries and timers; what is not acknowledged stays in the spool. */
  close(): Promise<void>
}
