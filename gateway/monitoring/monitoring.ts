/**
 * Monitoring windows (docs/reference/telemetry.md#monitoring-windows): opened before a CONTINUE_WITH_MONITORING takes effect, closed with the outcome, or as
 * UNKNOWN when nobody can tell any more. Windows are rows of the store, so a restart does not lose them.
 */
import { randomUUID } from 'node:crypto'
import type { Writable } from 'node:stream'
import { GatewayError } from '../errors/errors.ts'
import type { MonitoringSettings } from './settings.ts'
import type { StorePart } from '../store/store.ts'
import {
  candidateEvent,
  resultMembers,
  telemetryEvent,
  violationEvent,
  type CandidateAnnouncement,
  type ContractViolation,
  type ExecutionResult,
  type Outcome,
  type TelemetryEvent,
} from '../telemetry/events.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { networkSinks } from '../telemetry/sinks/lazy-network.ts'
import { createLogSink } from '../telemetry/sinks/log.ts'
import type { Sink, SinkState } from '../telemetry/sinks/sink.ts'
import { createOpenWindows, type OpenWindow, type OpenWindows, type WindowName, type WindowRequest } from './windows.ts'

export type { WindowRequest } from './windows.ts'

/** A monitored execution, for the part that sees its outcome. */
export interface Watch {
  /** Reports the outcome and closes the window; a second one is ignored. Never rejects: the execution has already happened. */
  finish(result: ExecutionResult): Promise<void>
}

export interface Monitoring {
  /** Takes up the windows that an earlier run left open. Call once, before the listeners open. */
  start(): Promise<void>
  /** A sink can take events: without one CONTINUE_WITH_MONITORING does not proceed. */
  isWired(): boolean
  sinks(): readonly SinkState[]
  openCount(): number
  /** Null when nothing is wired: then no window is open and the execution must not happen. Rejects when the store fails. */
  open(window: WindowRequest): Promise<Watch | null>
  /** What a caller reports of an execution that the gateway does not see. @param mayReport whether the decision is the caller's */
  report(
    name: WindowName,
    report: ExecutionReport,
    mayReport?: (decisionId: string) => Promise<boolean>,
  ): Promise<Reported>
  /** For whichever sinks take it: nothing waits for it, and nothing stops without it. Never rejects. */
  reportViolation(violation: ContractViolation): Promise<void>
  /** A changed contract, for whichever sinks take it. Never rejects. */
  announce(candidate: CandidateAnnouncement): Promise<void>
  close(): Promise<void>
}

/** `unknown`: this tenant has no open window by that name. `unwired`: no sink took it, so nobody will know. */
type Reported = 'taken' | 'unknown' | 'unwired'

export type ExecutionReport =
  | { readonly type: 'started' }
  | { readonly type: 'finished'; readonly result: ExecutionResult }
  | { readonly type: 'closed'; readonly outcome: Outcome }

interface MonitoringDeps {
  readonly config: MonitoringSettings
  readonly dataDir: string
  readonly store: StorePart<'windows.open' | 'windows.close' | 'windows.listOpen'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Other processes have windows in this store too. Default: false. */
  readonly isShared?: boolean
  /** Where the log sink writes: stdout. */
  readonly output: Writable
}

const LONGEST_SWEEP_MS = 30_000

export function createMonitoring(deps: MonitoringDeps): Monitoring {
  return new WindowMonitoring(deps)
}

class WindowMonitoring implements Monitoring {
  readonly #deps: MonitoringDeps
  readonly #sinks: readonly Sink[]
  readonly #windows: OpenWindows = createOpenWindows()
  #sweeper: NodeJS.Timeout | null = null
  #isTakenOver = true

  constructor(deps: MonitoringDeps) {
    this.#deps = deps
    this.#sinks = createSinks(deps)
  }

  async start(): Promise<void> {
    const { config, logger } = this.#deps
    try {
      await this.#takeOver()
    } catch (error) {
      // The store of a sidecar may be away at its start: its windows are read when it is back.
      if (!(error instanceof GatewayError)) throw error
      logger.warn({ event: 'monitoring.windows_unread', err: error }, 'open windows could not be read')
      this.#isTakenOver = false
    }
    const look = () => (this.#isTakenOver ? this.#sweep() : void this.#takeOver().catch(() => {}))
    this.#sweeper = setInterval(look, Math.min(config.window * 250, LONGEST_SWEEP_MS))
    this.#sweeper.unref()
  }

  /** Goes on with the windows that were open before. */
  async #takeOver(): Promise<void> {
    const { store, isShared = false } = this.#deps
    const orphans: OpenWindow[] = []
    for (const row of await store.windows.listOpen()) {
      // Another process may see that call end; a window that is due has nobody.
      if (isShared && row.observer === 'gateway' && row.openedAt > this.#due()) continue
      const window = { ...row, sinks: new Set(this.#sinks) }
      this.#windows.add(window)
      // Only the process that ended saw these calls, so their outcome is unknown.
      if (row.observer === 'gateway') orphans.push(window)
    }
    this.#showOpen()
    await Promise.all(orphans.map((window) => this.#close(window, 'UNKNOWN', [])))
    this.#isTakenOver = true
    this.#sweep()
  }

  isWired(): boolean {
    return this.#sinks.some((sink) => sink.state().isWired)
  }

  sinks(): readonly SinkState[] {
    return this.#sinks.map((sink) => sink.state())
  }

  openCount(): number {
    return this.#windows.size
  }

  async open(request: WindowRequest): Promise<Watch | null> {
    const { store, now, metrics } = this.#deps
    const row = { ...request, windowId: randomUUID(), openedAt: now() }
    const started = telemetryEvent('preflight.execution.started', row, row.openedAt, { id: `${row.windowId}.started` })
    if (this.isWired()) {
      await store.windows.open({ ...row, closedAt: null, outcome: null })
      const sinks = await this.#takers(started)
      const window: OpenWindow = { ...row, sinks }
      this.#windows.add(window)
      this.#showOpen()
      if (sinks.size > 0) return this.#watch(window)
      await this.#close(window, 'NOT_SENT', [])
    }
    metrics.count('preflight_monitoring_refusals_total', {})
    return null
  }

  async report(
    name: WindowName,
    report: ExecutionReport,
    mayReport?: (decisionId: string) => Promise<boolean>,
  ): Promise<Reported> {
    const window = await firstAllowed(this.#windows.reportable(name), mayReport)
    if (window === null) return 'unknown'
    const isTaken =
      report.type === 'started'
        ? (await this.#takers(telemetryEvent('preflight.execution.started', window, this.#deps.now()))).size > 0
        : report.type === 'finished'
          ? await this.#finish(window, report.result)
          : await this.#close(window, report.outcome, [])
    return isTaken ? 'taken' : 'unwired'
  }

  async reportViolation(violation: ContractViolation): Promise<void> {
    await this.#takers(violationEvent(violation, this.#deps.now()))
  }

  async announce(candidate: CandidateAnnouncement): Promise<void> {
    await this.#takers(candidateEvent(candidate, this.#deps.now()))
  }

  async close(): Promise<void> {
    if (this.#sweeper !== null) clearInterval(this.#sweeper)
    await Promise.all(this.#sinks.map((sink) => sink.close()))
  }

  #watch(window: OpenWindow): Watch {
    return {
      finish: async (result) => {
        await this.#finish(window, result)
      },
    }
  }

  async #finish(window: OpenWindow, result: ExecutionResult): Promise<boolean> {
    const finished = telemetryEvent('preflight.execution.finished', window, this.#deps.now(), {
      members: resultMembers(result),
      id: `${window.windowId}.finished`,
    })
    return this.#close(window, result.outcome, [finished])
  }

  /**
   * True when a sink took the end. It is reported before it is stored. A crash in between reports it again under the same id,
   * which changes nothing; the other order would lose it.
   */
  async #close(window: OpenWindow, outcome: Outcome, last: readonly TelemetryEvent[]): Promise<boolean> {
    if (!this.#windows.take(window)) return true
    this.#showOpen()
    const { store, metrics, logger, now } = this.#deps
    const at = now()
    const closed = telemetryEvent('preflight.monitoring.closed', window, at, {
      members: { outcome },
      id: `${window.windowId}.closed`,
    })
    const taken = await Promise.all(this.#sinks.map((sink) => sink.accept([...last, closed], window.sinks.has(sink))))
    metrics.count('preflight_monitoring_windows_closed_total', { outcome })
    try {
      await store.windows.close(window.windowId, outcome, at)
    } catch (error) {
      // The row stays open in the store; the next start takes it up again.
      const { correlationId } = window
      logger.error(
        { event: 'monitoring.close_failed', err: error, correlation_id: correlationId },
        'monitoring window could not be closed',
      )
    }
    return taken.some(Boolean)
  }

  /** Every sink gets its copy; one that takes it is enough. */
  async #takers(event: TelemetryEvent): Promise<ReadonlySet<Sink>> {
    const taken = await Promise.all(
      this.#sinks.map(async (sink) => ((await sink.accept([event], false)) ? [sink] : [])),
    )
    return new Set(taken.flat())
  }

  #due(): number {
    return this.#deps.now() - this.#deps.config.window * 1000
  }

  #sweep(): void {
    for (const window of this.#windows.openedBefore(this.#due())) void this.#close(window, 'UNKNOWN', [])
  }

  #showOpen(): void {
    this.#deps.metrics.set('preflight_monitoring_windows_open', {}, this.#windows.size)
  }
}

function createSinks(deps: MonitoringDeps): readonly Sink[] {
  const { config, metrics, output } = deps
  const shared = { ...deps, bound: config.spool }
  return config.sinks.map((sink) => {
    if (sink.type === 'log') return createLogSink(metrics, output)
    return networkSinks().openNetworkSink(sink, shared)
  })
}

async function firstAllowed(
  windows: readonly OpenWindow[],
  mayReport: (decisionId: string) => Promise<boolean> = () => Promise.resolve(true),
): Promise<OpenWindow | null> {
  for (const window of windows) if (await mayReport(window.decisionId)) return window
  return null
}
