/** The monitoring windows open now, found by themselves or by what a report names of them. Holds them; decides nothing. */
import type { ExecutionSubject } from '../telemetry/events.ts'
import type { Sink } from '../telemetry/sinks/sink.ts'

/** Who will tell the outcome: the gateway itself, which sees the answer, or whoever was given the decision. */
type WindowObserver = 'gateway' | 'caller'

export interface WindowRequest extends ExecutionSubject {
  readonly tenant: string
  readonly observer: WindowObserver
}

/** One monitored execution. The caller chooses the correlation id, so many may share it: each has its own window. */
export interface OpenWindow extends WindowRequest {
  readonly windowId: string
  /** Milliseconds since the epoch. */
  readonly openedAt: number
  /** Sinks that received its start, and must receive its end. */
  readonly sinks: ReadonlySet<Sink>
}

/** Names an execution for a report. @property decisionId null: whichever is open longest */
export interface WindowName {
  readonly tenant: string
  readonly correlationId: string
  readonly decisionId: string | null
}

export interface OpenWindows {
  readonly size: number
  add(window: OpenWindow): void
  /** False when it was not open any more: a window is closed by the first who takes it. */
  take(window: OpenWindow): boolean
  /** Those that a caller may report on by this name, oldest first; windows that the gateway itself observes are nobody else's to end. */
  reportable(name: WindowName): readonly OpenWindow[]
  /** Those opened at or before `at`, oldest first. */
  openedBefore(at: number): readonly OpenWindow[]
}

export function createOpenWindows(): OpenWindows {
  /** In the order of opening, which is that of insertion. */
  const all = new Set<OpenWindow>()
  const named = new Map<string, Set<OpenWindow>>()
  return {
    get size() {
      return all.size
    },
    add(window) {
      all.add(window)
      const key = windowKey(window)
      const namesakes = named.get(key)
      if (namesakes === undefined) named.set(key, new Set([window]))
      else namesakes.add(window)
    },
    take(window) {
      const namesakes = named.get(windowKey(window))
      namesakes?.delete(window)
      if (namesakes?.size === 0) named.delete(windowKey(window))
      return all.delete(window)
    },
    reportable(name) {
      return [...(named.get(windowKey(name)) ?? [])].filter(
        ({ decisionId, observer }) =>
          observer === 'caller' && (name.decisionId === null || decisionId === name.decisionId),
      )
    },
    openedBefore(at) {
      const due: OpenWindow[] = []
      for (const window of all) {
        if (window.openedAt > at) break
        due.push(window)
      }
      return due
    },
  }
}

function windowKey({ tenant, correlationId }: Pick<WindowName, 'tenant' | 'correlationId'>): string {
  return JSON.stringify([tenant, correlationId])
}
