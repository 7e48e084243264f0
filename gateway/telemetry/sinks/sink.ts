/** Where execution telemetry goes. A sink owns its queue and says whether it can take more. */
import type { TelemetryEvent } from '../events.ts'

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
  /** Takes events or answers false and keeps none. Durable on return for sinks with a spool. */
  accept(events: readonly TelemetryEvent[]): boolean
  /** Stops deliveries and timers; what is not acknowledged stays in the spool. */
  close(): Promise<void>
}
