/** The correlation id of a request (docs/reference/api.md#conventions): the caller's when it has the right form, else a new one. */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { tracedBy, type TraceContext } from './trace-context.ts'

/** The form of an id that a caller may choose. */
const ID_GRAMMAR = /^[A-Za-z0-9_.:-]{1,200}$/

/**
 * A new id names the trace that the request belongs to, so that a decision leads to it and back: `TRACE-SPAN`.
 * @param trace absent: the one that the fields name
 */
export function correlationIdOf(headers: IncomingHttpHeaders, trace?: TraceContext | null): string {
  return chosenId(headers) ?? correlationIdIn(trace === undefined ? tracedBy(headers) : trace)
}

/** Null: the caller chose none, or one of another form. */
export function chosenId(headers: IncomingHttpHeaders): string | null {
  const given = headers['x-correlation-id']
  return typeof given === 'string' && ID_GRAMMAR.test(given) ? given : null
}

export function correlationIdIn(trace: TraceContext | null): string {
  return trace === null ? randomUUID() : `${trace.traceId}-${trace.spanId}`
}
