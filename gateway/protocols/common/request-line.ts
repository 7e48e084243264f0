/** Checks of the request line: whether the method only reads, and which pattern the path matches. */
import { literalReadings } from '../../routing/path-reading.ts'

/** As HTTP defines it (RFC 9110 §9.2.1); a server may deviate from it. */
export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
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
