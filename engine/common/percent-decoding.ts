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

/** Characters that need no escape anywhere (RFC 3986 §2.3). */
const UNRESERVED = /^[\w.~-]$/
/** Template expressions, escapes, and characters that no address contains without one (RFC 3986 appendix A, RFC 3987 §3.1). */
const WRITTEN_IN_TWO_WAYS = /\{[^{}]*\}|%[\da-f]{2}|[^\w.~:/?#[\]@!$&'()*+,;={}%-]/giu

/**
 * The form that equal addresses share: no escape that is not needed, upper-case digits in the others, and escapes for what
 * no address contains (RFC 3986 §6.2.2). Names of template expressions stay.
 */
export function comparableEscapes(address: string): string {
  return address.replaceAll(WRITTEN_IN_TWO_WAYS, (part) => {
    if (part.startsWith('{')) return part
    if (!part.startsWith('%')) return part.isWellFormed() ? encodeURIComponent(part) : part
    const character = String.fromCodePoint(Number.parseInt(part.slice(1), 16))
    return UNRESERVED.test(character) ? character : part.toUpperCase()
  })
}
