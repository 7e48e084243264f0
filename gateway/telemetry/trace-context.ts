/**
 * The trace that a request belongs to, as W3C Trace Context carries it (https://www.w3.org/TR/trace-context-1/). Reads and
 * writes the header fields; spans are made elsewhere, and only where traces are exported.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomFillSync } from 'node:crypto'

export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string
  /** The span of the caller, 16 hex digits; null: the trace begins here. */
  readonly parentId: string | null
  /** The span of this request. */
  readonly spanId: string
  /** The span of the call to the upstream. */
  readonly upstreamSpanId: string
  readonly isSampled: boolean
  /** Spans of this request are exported. */
  readonly isRecorded: boolean
  /** The upstream gets this gateway's `traceparent` in place of the caller's. */
  readonly isReplaced: boolean
  /** `tracestate` of the caller; null: none. */
  readonly state: string | null
  /** Operations of the store and questions to the hub; null: nothing of this request is exported. */
  readonly inner: InnerSpan[] | null
}

/** Work for a request that another program does: a statement of the database, or a question to the hub. */
export interface InnerSpan {
  readonly kind: 'store' | 'hub'
  /** Such as `decisions.record`. */
  readonly operation: string
  readonly spanId: string
  /** `performance.now()` of its begin, and of its end; null: it has not ended. */
  readonly from: number
  to: number | null
  /** Why it failed; null: it did not. */
  fault: string | null
}

/** What a caller states about its trace. */
export interface RemoteParent {
  readonly traceId: string
  readonly parentId: string
  readonly isSampled: boolean
  readonly state: string | null
}

/** The fields of a head, or of another place that carries them. */
type TraceFields = Readonly<Record<string, unknown>>

/** §3.2: a version other than ff, and ids that are not all zeros. Later versions may append fields. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/
const FIRST_VERSION_LENGTH = 55
/** §3.3.1.5: at least this much is carried on. */
const LONGEST_STATE = 512

/** Null: the fields name no trace, or one in a form that must be ignored. */
export function readTraceParent({ traceparent, tracestate }: TraceFields): RemoteParent | null {
  if (typeof traceparent !== 'string') return null
  const [, traceId, parentId, flags] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined || parentId === undefined || flags === undefined) return null
  if (traceparent.startsWith('00') && traceparent.length !== FIRST_VERSION_LENGTH) return null
  const isKept = typeof tracestate === 'string' && tracestate !== '' && tracestate.length <= LONGEST_STATE
  return { traceId, parentId, isSampled: (Number.parseInt(flags, 16) & 1) === 1, state: isKept ? tracestate : null }
}

/** The field for the upstream. */
export function traceParentOf({ traceId, upstreamSpanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${upstreamSpanId}-${isSampled ? '01' : '00'}`
}

/** A trace that a caller began and of which this gateway exports nothing: its id is for logs, and the fields pass unchanged. */
export function passedTrace(parent: RemoteParent): TraceContext {
  return {
    ...parent,
    spanId: newSpanId(),
    upstreamSpanId: parent.parentId,
    isRecorded: false,
    isReplaced: false,
    inner: null,
  }
}

const ID_BYTES = 4096
const pool = Buffer.alloc(ID_BYTES)
let used = ID_BYTES

/** Random bytes as hex digits, from a pool: one request needs a few. */
function randomHex(bytes: number): string {
  if (used + bytes > ID_BYTES) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.toString('hex', used - bytes, used)
}

const TRACE_ID_DIGITS = 32

/** A trace that begins here. It has no span of its own until it is sampled, so the upstream's parent is the request's id. */
export function begunTrace(): TraceContext {
  const ids = randomHex(24)
  const spanId = ids.slice(TRACE_ID_DIGITS)
  return {
    traceId: ids.slice(0, TRACE_ID_DIGITS),
    parentId: null,
    spanId,
    upstreamSpanId: spanId,
    isSampled: false,
    isRecorded: false,
    isReplaced: true,
    state: null,
    inner: null,
  }
}

/** The same trace with spans that are exported. */
export function recordedTrace(trace: TraceContext): TraceContext {
  return { ...trace, upstreamSpanId: newSpanId(), isSampled: true, isRecorded: true, isReplaced: true, inner: [] }
}

export function newSpanId(): string {
  return randomHex(8)
}

/** The trace that fields name, where nothing is exported; null: they name none. */
export function tracedBy(fields: TraceFields): TraceContext | null {
  const parent = readTraceParent(fields)
  return parent === null ? null : passedTrace(parent)
}

const current = new AsyncLocalStorage<TraceContext | undefined>()

/** Runs `act` so that everything it logs, records and answers names the trace; null: none, whatever the caller runs in. */
export function withTrace<T>(trace: TraceContext | null, act: () => T): T {
  if (trace === null && current.getStore() === undefined) return act()
  return current.run(trace ?? undefined, act)
}

/** The same for the rest of the asynchronous function that calls it. */
export function enterTrace(trace: TraceContext | null): void {
  if (trace !== null) current.enterWith(trace)
}

/** The trace of the request that runs now; null: none. */
export function currentTraceId(): string | null {
  return current.getStore()?.traceId ?? null
}

/** The trace of the request that runs now, as a member of its log records and answers. A new object each time: pino writes into it. */
export function traceMember(): Readonly<Record<string, string>> {
  const traceId = currentTraceId()
  return traceId === null ? {} : { trace_id: traceId }
}

/**
 * The span of the request that runs now, as `TRACE-SPAN`; null: it belongs to no trace. Where this gateway exports no span, it
 * is that of the caller.
 */
export function currentSpan(): string | null {
  const trace = current.getStore()
  return trace === undefined ? null : `${trace.traceId}-${ownSpanId(trace)}`
}

/** False: nothing runs now, or its trace is not sampled. */
export function isCurrentTraceSampled(): boolean {
  return current.getStore()?.isSampled ?? false
}

/** A call from a batch has one statement for many, and a request in a loop has many. */
const MOST_INNER_SPANS = 64

/** Does work that has a span of its own where the request of this moment is exported, and costs nothing elsewhere. */
export function inSpan<T>(
  kind: InnerSpan['kind'],
  operation: string,
  act: (span: InnerSpan | null) => Promise<T>,
): Promise<T> {
  const inner = current.getStore()?.inner ?? null
  if (inner === null || inner.length >= MOST_INNER_SPANS) return act(null)
  const span: InnerSpan = { kind, operation, spanId: newSpanId(), from: performance.now(), to: null, fault: null }
  inner.push(span)
  return ended(span, act(span))
}

async function ended<T>(span: InnerSpan, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    span.fault = error instanceof Error ? error.name : 'Error'
    throw error
  } finally {
    span.to = performance.now()
  }
}

/** The fields by which another gateway joins the trace of the request that runs now. */
export function currentTraceFields(span: InnerSpan | null): Readonly<Record<string, string>> {
  const trace = current.getStore()
  if (trace === undefined) return {}
  const traceparent = traceParentOf({ ...trace, upstreamSpanId: span?.spanId ?? ownSpanId(trace) })
  return { traceparent, ...(trace.state !== null && { tracestate: trace.state }) }
}

/** Where this gateway exports no span, the parent is that of the caller. */
function ownSpanId({ isReplaced, spanId, upstreamSpanId }: TraceContext): string {
  return isReplaced ? spanId : upstreamSpanId
}
