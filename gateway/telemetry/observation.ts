/**
 * What is measured of one request while it passes the stages: times, bytes, outcome. Metrics, spans, the request log and the
 * decision log read it. Measures only; nothing is decided by it.
 */
import type { TraceContext } from './trace-context.ts'

export const STAGES = ['intercept', 'gather', 'analyze', 'decide', 'record', 'enforce', 'observe'] as const
const PLACES: Readonly<Record<Stage, number>> = {
  intercept: 0,
  gather: 1,
  analyze: 2,
  decide: 3,
  record: 4,
  enforce: 5,
  observe: 6,
}
/** Time of a stage that was not reached. */
const NOT_REACHED = -1
/** The stages of docs/architecture.md. */
type Stage = (typeof STAGES)[number]

/** Told which stage begins; the one before it ends. */
export interface StageClock {
  enter(stage: Stage): void
  /** Milliseconds with three decimals by stage; stages that were not reached are absent. */
  latencies(): Record<string, number>
}

interface StageSpan {
  readonly stage: Stage
  /** Milliseconds since the request was received. */
  readonly from: number
  readonly to: number
}

/** What is known of the request from its head. */
interface ObservedRequest {
  readonly correlationId: string
  readonly method: string
  readonly trace: TraceContext | null
  /** The caller chose the correlation id. */
  readonly isIdChosen?: boolean
}

interface ExchangeFigures {
  readonly status: number | null
  readonly fault: string | null
  /** Body bytes of the answer. */
  readonly bytes: number
  /** Body bytes of the request. */
  readonly sentBytes: number
}

const NO_LINKS: readonly LinkedSpan[] = []
const NO_SPANS: readonly StageSpan[] = []

/** A batch of a thousand calls repeats its stages; a trace keeps this many of them. */
const MOST_SPANS = 64

export class Observation implements StageClock {
  /** Changes with the trace that the request joins, unless the caller chose it. */
  correlationId: string
  readonly isIdChosen: boolean
  readonly method: string
  /** Its place in a trace; null: it belongs to none. */
  trace: TraceContext | null
  readonly startedAt = performance.now()
  /** Route and protocol, once a route is found. */
  route: string | null = null
  protocol: string | null = null
  /** Scheme, host and port of the upstream. */
  origin: string | null = null
  /** What the call does, as the ledger names it. */
  action: string | null = null
  /** As `preflight_calls_total` counts it; null: the request reached no route. */
  outcome: string | null = null
  decision: string | null = null
  decisionId: string | null = null
  /** HTTP status of the answer of the gateway; null: none was sent. */
  status: number | null = null
  /** Status of the upstream's answer. */
  upstreamStatus: number | null = null
  /** Code of the fault that ended the exchange with the upstream. */
  fault: string | null = null
  /** Body bytes that the gateway read for itself; null: it read none. */
  readBytes: number | null = null
  /** Body bytes to and from the upstream. */
  sentBytes = 0
  receivedBytes = 0
  /** Seconds from sending to the head of the answer; null: there was none. */
  upstreamSeconds: number | null = null
  /** The exchange with the upstream, milliseconds since the request was received. */
  upstreamFrom: number | null = null
  upstreamTo: number | null = null
  /** Other traces that this request belongs to: of the pending call, of the approval. */
  links: readonly LinkedSpan[] = NO_LINKS
  spans: readonly StageSpan[] = NO_SPANS
  /** Milliseconds by stage. */
  readonly #spent = [NOT_REACHED, NOT_REACHED, NOT_REACHED, NOT_REACHED, NOT_REACHED, NOT_REACHED, NOT_REACHED]
  #stage: Stage = 'intercept'
  #since: number

  constructor({ correlationId, method, trace, isIdChosen = false }: ObservedRequest) {
    this.isIdChosen = isIdChosen
    this.correlationId = correlationId
    this.method = method
    this.trace = trace
    this.#since = this.startedAt
  }

  enter(stage: Stage): void {
    if (stage !== this.#stage) this.#enterAt(stage, performance.now())
  }

  /** The call leaves for its upstream. */
  sending(): void {
    this.upstreamFrom = performance.now() - this.startedAt
  }

  /** The head of the upstream's answer has come. */
  answered(): void {
    const now = performance.now()
    if (this.upstreamFrom !== null && this.upstreamSeconds === null)
      this.upstreamSeconds = (now - this.startedAt - this.upstreamFrom) / 1000
    this.#enterAt('observe', now)
  }

  /** The exchange with the upstream has ended. */
  ended({ status, fault, bytes, sentBytes }: ExchangeFigures): void {
    const now = performance.now()
    this.upstreamTo = now - this.startedAt
    this.upstreamStatus = status
    this.fault = fault
    this.receivedBytes = bytes
    this.sentBytes = sentBytes
    this.#enterAt('observe', now)
  }

  /** Milliseconds from the request to now; the last stage ends. */
  end(): number {
    const now = performance.now()
    this.#endStage(now)
    return now - this.startedAt
  }

  /** Seconds in a stage; null: it was not reached. */
  secondsIn(stage: Stage): number | null {
    const spent = this.#spent[PLACES[stage]] ?? NOT_REACHED
    return spent === NOT_REACHED ? null : spent / 1000
  }

  latencies(): Record<string, number> {
    return Object.fromEntries(
      STAGES.flatMap((stage) => {
        const seconds = this.secondsIn(stage)
        return seconds === null ? [] : [[stage, Math.round(seconds * 1e6) / 1000]]
      }),
    )
  }

  link(span: LinkedSpan): void {
    this.links = [...this.links, span]
  }

  #enterAt(stage: Stage, now: number): void {
    if (stage === this.#stage) return
    this.#endStage(now)
    this.#stage = stage
  }

  #endStage(now: number): void {
    const place = PLACES[this.#stage]
    this.#spent[place] = Math.max(this.#spent[place] ?? 0, 0) + now - this.#since
    if (this.trace?.isRecorded === true && this.spans.length < MOST_SPANS)
      this.spans = [...this.spans, { stage: this.#stage, from: this.#since - this.startedAt, to: now - this.startedAt }]
    this.#since = now
  }
}

/** A span of another trace. */
export interface LinkedSpan {
  readonly traceId: string
  readonly spanId: string
  /** `pending_call` or `approval`. */
  readonly relation: 'pending_call' | 'approval'
}
