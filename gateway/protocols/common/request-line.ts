/** The request line: whether the method only reads, where the path of the protocol begins, and which pattern it matches. */
import { literalReadings } from '../../routing/path-reading.ts'
import type { CallHead } from '../../calls/call.ts'

/** As HTTP defines it (RFC 9110 §9.2.1); a server may deviate from it. */
export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

/** Whether a request has a body that is not empty, as its client framed it. */
export function hasBody(headers: CallHead['received']['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/**
 * The values of a pattern's names: `:name` is one segment, `*name` is the rest. Literals match as loosely as any server
 * reads them: in any case, and with a format behind them.
 */
export function matchSegments(
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | null {
  const names: Record<string, string> = {}
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index]
    if (segment === undefined) return null
    if (part.startsWith('*')) return { ...names, [part.slice(1)]: segments.slice(index).join('/') }
    if (part.startsWith(':')) names[part.slice(1)] = segment
    else if (!literalReadings(segment).includes(part)) return null
  }
  return pattern.length === segments.length ? names : null
}

/** The path without its query, as it is sent. */
export function pathOf({ upstreamPath }: Pick<CallHead, 'upstreamPath'>): string {
  return upstreamPath.split('?', 1)[0] ?? ''
}

/** The method and the path without its query: the name of a call whose protocol gives it no other one. */
export function callName(call: Pick<CallHead, 'method' | 'upstreamPath'>): string {
  return `${call.method} ${pathOf(call)}`
}

/** Without a trailing slash; `''` for the root. For a route without an upstream it is the prefix. */
export function basePath({ upstream, match }: Pick<CallHead['route'], 'upstream' | 'match'>): string {
  const path = upstream === undefined ? match.path : new URL(upstream).pathname
  return path.endsWith('/') ? path.slice(0, -1) : path
}
