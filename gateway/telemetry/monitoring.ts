/**
 * Monitoring windows (wire.md §8): opened before a CONTINUE_WITH_MONITORING takes effect, closed with the outcome, or as
 * UNKNOWN when nobody tells in time. Windows are rows of the store, so a restart does not lose them.
 */
import type { Writable } from 'node:stream'
import type { Config } from '../config/schema.ts'
import type { Store } from '../store/store.ts'
import { resultMembers, telemetryEvent, type ExecutionResult, type ExecutionSubject, type Outcome } from './events.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'
import { createHttpSink } from './sinks/http.ts'
import { createLogSink } from './sinks/log.ts'
import type { Sink, SinkState } from './sinks/sink.ts'

export interface WindowRequest extends ExecutionSubject {
  readonly tenant: string
}

export interface Monitoring {
  /** Takes up the windows that an earlier run left open. Call once, before the listeners open. */
  start(): Promise<void>
  /** A sink can take events: without one CONTINUE_WITH_MONITORING does not proceed. */
  isWired(): boolean
  sinks(): readonly SinkState[]
  openCount(): number
  /** False when nothing is wired: then no window is open and the execution must not happen. Rejects when the store fails. */
  open(window: WindowRequest): Promise<boolean>
  /** Emits `finished`, and closes the window. Never rejects: the execution has already happened. */
  finish(correlationId: string, result: ExecutionResult): Promise<void>
  /** What a direct caller tells of its own execution. False when this tenant has no open window by that id. */
  report(tenant: string, correlationId: string, report: ExecutionReport): Promise<boolean>
  close(): Promise<void>
}

export type ExecutionReport =
  | { readonly type: 'started' }
  | { readonly type: 'finished'; readonly result: ExecutionResult }
  | { readonly type: 'closed'; readonly outcome: Outcome }

export interface MonitoringDeps {
  readonly config: Config['monitoring']
  readonly dataDir: string
  readonly store: Pick<Store, 'openWindow' | 'closeWindow' | 'openWindows'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Where the log sink writes: stdout. */
  readonly output: Writable
}

/** A window open now. Calls that share a correlation id share the window; it closes with the last of them. */
interface OpenWindow extends WindowRequest {
  readonly openedAt: number
  calls: number
}

const LONGEST_SWEEP_MS = 30_000

export function createMonitoring(deps: MonitoringDeps): Monitoring {
  const sinks = createSinks(deps)
  const windows = new Map<string, OpenWindow>()
  const windowMs = deps.config.window * 1000
  let sweeper: NodeJS.Timeout | null = null

  const emit: Emit = (type, subject, at, extra) => {
    const event = telemetryEvent(type, subject, at, extra)
    // Every sink gets its copy; one that takes it is enough.
    return sinks.map((sink) => sink.accept([event])).some(Boolean)
  }
  const showOpen = (): void => deps.metrics.set('preflight_monitoring_windows_open', {}, windows.size)
  const closeWindow = async (window: OpenWindow, outcome: Outcome): Promise<void> => {
    windows.delete(window.correlationId)
    showOpen()
    const at = deps.now()
    try {
      if (!(await deps.store.closeWindow(window.correlationId, outcome, at))) return
    } catch (error) {
      // The row stays open in the store; the next start takes it up again and times it out.
      deps.logger.error({ err: error, correlation_id: window.correlationId }, 'a monitoring window could not be closed')
    }
    deps.metrics.count('preflight_monitoring_windows_closed_total', { outcome })
    emit('preflight.monitoring.closed', window, at, { outcome })
  }
  const sweep = (): void => {
    const due = deps.now() - windowMs
    for (const window of windows.values()) if (window.openedAt <= due) void closeWindow(window, 'UNKNOWN')
  }

  return {
    async start() {
      for (const row of await deps.store.openWindows()) windows.set(row.correlationId, { ...row, calls: 1 })
      showOpen()
      sweep()
      sweeper = setInterval(sweep, Math.min(windowMs / 4, LONGEST_SWEEP_MS))
      sweeper.unref()
    },
    isWired: () => sinks.some((sink) => sink.state().isWired),
    sinks: () => sinks.map((sink) => sink.state()),
    openCount: () => windows.size,
    open: (request) => openWindow(request, { deps, sinks, windows, emit, showOpen, closeWindow }),
    async finish(correlationId, result) {
      const window = windows.get(correlationId)
      if (window === undefined) return
      emit('preflight.execution.finished', window, deps.now(), resultMembers(result))
      window.calls -= 1
      if (window.calls <= 0) await closeWindow(window, result.outcome)
    },
    async report(tenant, correlationId, report) {
      const window = windows.get(correlationId)
      if (window === undefined || window.tenant !== tenant) return false
      if (report.type === 'started') emit('preflight.execution.started', window, deps.now(), {})
      if (report.type === 'finished') await this.finish(correlationId, report.result)
      if (report.type === 'closed') await closeWindow(window, report.outcome)
      return true
    },
    async close() {
      if (sweeper !== null) clearInterval(sweeper)
      await Promise.all(sinks.map((sink) => sink.close()))
    },
  }
}

type Emit = (
  type: Parameters<typeof telemetryEvent>[0],
  subject: ExecutionSubject,
  at: number,
  extra: Readonly<Record<string, string | number | null>>,
) => boolean

interface OpeningState {
  readonly deps: MonitoringDeps
  readonly sinks: readonly Sink[]
  readonly windows: Map<string, OpenWindow>
  readonly emit: Emit
  readonly showOpen: () => void
  readonly closeWindow: (window: OpenWindow, outcome: Outcome) => Promise<void>
}

async function openWindow(request: WindowRequest, state: OpeningState): Promise<boolean> {
  const { deps, sinks, windows, emit } = state
  if (!sinks.some((sink) => sink.state().isWired)) return false
  const at = deps.now()
  const known = windows.get(request.correlationId)
  const window = known ?? { ...request, openedAt: at, calls: 0 }
  window.calls += 1
  windows.set(window.correlationId, window)
  state.showOpen()
  try {
    if (known === undefined) await deps.store.openWindow({ ...request, openedAt: at, closedAt: null, outcome: null })
  } catch (error) {
    windows.delete(window.correlationId)
    state.showOpen()
    throw error
  }
  if (emit('preflight.execution.started', window, at, {})) return true
  window.calls -= 1
  if (window.calls <= 0) await state.closeWindow(window, 'NOT_SENT')
  return false
}

function createSinks(deps: MonitoringDeps): readonly Sink[] {
  return deps.config.sinks.map((config) =>
    config.type === 'log'
      ? createLogSink(deps.metrics, deps.output)
      : createHttpSink({
          config,
          dataDir: deps.dataDir,
          bound: deps.config.spool,
          metrics: deps.metrics,
          logger: deps.logger,
        }),
  )
}
