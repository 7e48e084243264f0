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
}

/** What a caller states about its trace. */
export interface RemoteParent {
  readonly traceId: string
  readonly parentId: string
  readonly isSampled: boolean
  readonly state: string | null
}

/** The fields of a head, or of another place that carries them. */
export type TraceFields = Readonly<Record<string, unknown>>

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

/** A trace that a caller began, where this gateway exports none: its id is for logs, and the fields pass unchanged. */
export function passedTrace(parent: RemoteParent): TraceContext {
  return { ...parent, spanId: newSpanId(), upstreamSpanId: parent.parentId, isRecorded: false, isReplaced: false }
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

export function newTraceId(): string {
  return randomHex(16)
}

export function newSpanId(): string {
  return randomHex(8)
}

const current = new AsyncLocalStorage<TraceContext>()

/** Runs `act` so that everything it logs and answers names the trace. */
export function withTrace<T>(trace: TraceContext | null, act: () => T): T {
  return trace === null ? act() : current.run(trace, act)
}

/** The same for the rest of the asynchronous function that calls it. */
export function enterTrace(trace: TraceContext | null): void {
  if (trace !== null) current.enterWith(trace)
}

/** The trace of the request that runs now; null: none. */
export function currentTraceId(): string | null {
  return current.getStore()?.traceId ?? null
}
