/**
 * Texts of an envelope: instants (no clock is read), and words within its bounds, cut where a reader sees it and always
 * well-formed (RFC 8785 refuses lone surrogates).
 */

/** At most `max` UTF-16 units and never empty; a text that is cut ends in an ellipsis. */
export function clip(text: string, max: number): string {
  const whole = text.toWellFormed()
  if (whole === '') return '-'
  if (whole.length <= max) return whole
  // Cutting may split a surrogate pair: the half that stays is replaced along with it.
  const cut = whole.slice(0, max - 1)
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`
}

/** `1 change`, `3 changes`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** The first items, and one more that says how many were left out. */
export function capped<T>(items: readonly T[], max: number, omitted: (count: number) => T): readonly T[] {
  return items.length <= max ? items : [...items.slice(0, max - 1), omitted(items.length - max + 1)]
}

/** Seconds since the epoch → `YYYY-MM-DDThh:mm:ssZ`. */
export function instantText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
}

/** NaN when the text names no instant. */
export function instantSeconds(text: string): number {
  return Math.floor(Date.parse(text) / 1000)
}
