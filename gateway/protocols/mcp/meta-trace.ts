/** The trace that an MCP request names in `params._meta`: clients without header fields of their own carry it there. */
import { readTraceParent, type RemoteParent } from '../../telemetry/trace-context.ts'

const NAME = Buffer.from('"traceparent"')
/** A longer body is not searched: the trace is a hint, and most clients send it in a header field too. */
const LONGEST_BODY = 256 * 1024

/** Null: the body names no trace. In a batch, that of the first call that does. */
export function metaTraceParent(body: Buffer): RemoteParent | null {
  if (body.length > LONGEST_BODY || !body.includes(NAME)) return null
  try {
    const message: unknown = JSON.parse(body.toString('utf8'))
    const calls: readonly unknown[] = Array.isArray(message) ? message : [message]
    for (const call of calls) {
      const parent = parentOf(memberOf(memberOf(call, 'params'), '_meta'))
      if (parent !== null) return parent
    }
  } catch {
    // The recogniser reports what is wrong with the body.
  }
  return null
}

function parentOf(meta: unknown): RemoteParent | null {
  if (typeof meta !== 'object' || meta === null) return null
  return readTraceParent({ traceparent: memberOf(meta, 'traceparent'), tracestate: memberOf(meta, 'tracestate') })
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}
