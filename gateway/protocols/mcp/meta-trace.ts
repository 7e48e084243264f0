/** The trace that an MCP request names in `params._meta`: clients without header fields of their own carry it there. */
import type { Call } from '../../calls/call.ts'
import type { Observer } from '../../telemetry/observer.ts'
import { readTraceParent, type RemoteParent } from '../../telemetry/trace-context.ts'

const NAME = Buffer.from('"traceparent"')
/** A longer body is not searched: the trace is a hint, and most clients send it in a header field too. */
const LONGEST_BODY = 256 * 1024

/** Null: the body names no trace. In a batch, that of the first call that does. */
function metaTraceParent(body: Buffer): RemoteParent | null {
  if (body.length > LONGEST_BODY || !body.includes(NAME)) return null
  try {
    const message: unknown = JSON.parse(body.toString('utf8'))
    return messageTraceParent(message)
  } catch {
    // The recogniser reports what is wrong with the body.
    return null
  }
}

/** The same for a message, or a batch of them. */
export function messageTraceParent(message: unknown): RemoteParent | null {
  const calls: readonly unknown[] = Array.isArray(message) ? message : [message]
  for (const call of calls) {
    const parent = parentOf(ownMember(ownMember(call, 'params'), '_meta'))
    if (parent !== null) return parent
  }
  return null
}

/** Joins the trace that the body of an MCP call names. True: it names one. */
export function joinStatedTrace(
  { route, body, observation }: Pick<Call, 'route' | 'body' | 'observation'>,
  observer: Pick<Observer, 'join'>,
): boolean {
  const parent = route.protocol !== 'mcp' || body === null ? null : metaTraceParent(body)
  if (parent === null) return false
  observer.join(observation, parent)
  return true
}

function parentOf(meta: unknown): RemoteParent | null {
  if (typeof meta !== 'object' || meta === null) return null
  return readTraceParent({ traceparent: ownMember(meta, 'traceparent'), tracestate: ownMember(meta, 'tracestate') })
}

function ownMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}
