/** Requests whose body holds further requests, each for an operation of its own. */
import type { Call } from '../../calls/call.ts'
import { readPath } from '../../routing/path-reading.ts'
import { pathOf } from './request-line.ts'

/** OData and Microsoft Graph have them at `$batch`; Google and older OData in parts of the type `application/http`. */
export function holdsRequests(call: Pick<Call, 'method' | 'headers' | 'upstreamPath'>): boolean {
  if (call.method === 'GET' || call.method === 'HEAD') return false
  if (/^\s*(?:multipart\/(?:mixed|batch)|application\/http)\s*(?:;|$)/i.test(call.headers['content-type'] ?? ''))
    return true
  const path = pathOf(call)
  if (!/batch/i.test(path)) return false
  const reading = readPath(path)
  const names = [reading?.loose.at(-1)?.folded, reading?.earlier?.at(-1)]
  return names.some((name) => name !== undefined && /^\$batch(?:\.|$)/.test(name))
}
