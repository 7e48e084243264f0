/**
 * Begins and ends the observation of requests: joins the caller's trace, counts what was measured, and passes it to whatever
 * exports spans.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { chosenId, correlationIdIn } from './correlation.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'
import { Observation, STAGES } from './observation.ts'
import { enterTrace, passedTrace, readTraceParent, type RemoteParent, type TraceContext } from './trace-context.ts'

interface ObservableRequest {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
  /** Absent: the one that the head states, or a new one. */
  readonly correlationId?: string
  /** Joins the trace of its caller, and begins none. */
  readonly isPartOnly?: boolean
}

export interface Observer {
  begin(request: ObservableRequest): Observation
  /**
   * The request names its trace in another place than its header fields. Theirs has precedence. A correlation id that its
   * caller did not choose names the joined trace from now on.
   */
  join(observation: Observation, parent: RemoteParent): void
  /** The request is answered, or its client disconnected. */
  end(observation: Observation): void
}

/** Exports spans. Absent where no endpoint is configured. */
export interface SpanExport {
  /** The trace of a request, by the parent that its caller states. */
  join(parent: RemoteParent | null): TraceContext
  /** @param milliseconds from its begin to its end */
  export(observation: Observation, milliseconds: number): void
}

interface ObserverDeps {
  readonly metrics: Metrics
  readonly spans: SpanExport | null
  /** Absent: no request is logged. */
  readonly requests?: {
    readonly logger: Logger
    /** Share of the requests to log; read for each. */
    readonly share: () => number
  }
}

export function createObserver({ metrics, spans, requests }: ObserverDeps): Observer {
  const traceOf = (parent: RemoteParent | null): TraceContext | null => {
    if (spans !== null) return spans.join(parent)
    return parent === null ? null : passedTrace(parent)
  }
  return {
    begin({ method = 'GET', headers, correlationId, isPartOnly = false }) {
      const parent = readTraceParent(headers)
      const trace = isPartOnly && parent === null ? null : traceOf(parent)
      const chosen = chosenId(headers)
      const id = correlationId ?? chosen ?? correlationIdIn(trace)
      return new Observation({ correlationId: id, method, trace, isIdChosen: id === chosen })
    },
    join(observation, parent) {
      const { trace } = observation
      if (trace !== null && trace.parentId !== null) return
      observation.trace = traceOf(parent)
      if (!observation.isIdChosen) observation.correlationId = correlationIdIn(observation.trace)
      enterTrace(observation.trace)
    },
    end(observation) {
      const milliseconds = observation.end()
      countRequest(observation, milliseconds / 1000, metrics)
      if (observation.trace?.isRecorded === true) spans?.export(observation, milliseconds)
      if (requests !== undefined && Math.random() < requests.share())
        logRequest(observation, milliseconds, requests.logger)
    },
  }
}

/** Callers choose the names of what they call, at any length. */
const LONGEST_NAME = 500

/** Neither query nor headers nor body: they hold credentials. */
function logRequest(observation: Observation, milliseconds: number, logger: Logger): void {
  const { correlationId, method, route, protocol, action, outcome, decision, decisionId, trace } = observation
  const { status, upstreamStatus, upstreamSeconds, sentBytes, receivedBytes, fault } = observation
  logger.info(
    {
      event: 'request.ended',
      correlation_id: correlationId,
      ...(trace !== null && { trace_id: trace.traceId }),
      method,
      route,
      protocol,
      action: action?.slice(0, LONGEST_NAME) ?? null,
      outcome,
      decision,
      decision_id: decisionId,
      status,
      duration_ms: Math.round(milliseconds * 1000) / 1000,
      upstream_status: upstreamStatus,
      upstream_ms: upstreamSeconds === null ? null : Math.round(upstreamSeconds * 1e6) / 1000,
      sent_bytes: sentBytes,
      received_bytes: receivedBytes,
      fault,
    },
    'request ended',
  )
}

function countRequest(observation: Observation, seconds: number, metrics: Metrics): void {
  const { route, protocol, trace, status, upstreamSeconds, sentBytes, receivedBytes } = observation
  if (protocol === null) return
  const traceId = trace?.isSampled === true ? trace.traceId : null
  for (const stage of STAGES) {
    const spent = observation.secondsIn(stage)
    if (spent !== null) metrics.observe('preflight_call_stage_seconds', { protocol, stage }, spent, traceId)
  }
  if (route === null) return
  metrics.observe('preflight_call_seconds', { route }, seconds, traceId)
  metrics.count('preflight_call_responses_total', { route, class: classOf(status) })
  if (upstreamSeconds !== null) metrics.observe('preflight_upstream_seconds', { route }, upstreamSeconds, traceId)
  if (sentBytes > 0) metrics.count('preflight_call_bytes_total', { route, direction: 'sent' }, sentBytes)
  if (receivedBytes > 0) metrics.count('preflight_call_bytes_total', { route, direction: 'received' }, receivedBytes)
}

const CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const

function classOf(status: number | null): string {
  return CLASSES[Math.floor((status ?? 0) / 100)] ?? 'none'
}
