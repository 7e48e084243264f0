/** What the request line says before anything else is read: whether the method only reads, and the segments of the path. */

/** By the word of HTTP (RFC 9110 §9.2.1); what a server makes of such a request is its own affair. */
export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

/** Decoded segments of a path; empty ones count for nothing, as servers have it. Null: an escape stands for no text. */
export function segmentsOf(path: string): readonly string[] | null {
  const [plain = ''] = path.split('?', 1)
  try {
    return plain.split('/').filter(Boolean).map(decodeURIComponent)
  } catch {
    return null
  }
}

/**
 * What a pattern's names stand for: `:name` is one segment, `*name` is the rest. Literals match in any case and with `.json`
 * behind the last of them, as some servers take them.
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
    else if (segment.toLowerCase().replace(/\.json$/, '') !== part) return null
  }
  return pattern.length === segments.length ? names : null
}
