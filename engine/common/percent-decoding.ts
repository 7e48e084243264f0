/** Percent-encoded text (RFC 3986 §2.1), read leniently. */

/** Escapes decoded once. Text whose escapes are no UTF-8 is returned as it is. */
export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
