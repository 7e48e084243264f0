/** Strings in a JSON text, skipped without being decoded. */

const BACKSLASH = 92

/** Offset of the quote that closes the string opened at `open`; -1 when none does. */
export function endOfString(text: string, open: number): number {
  let close = text.indexOf('"', open + 1)
  while (close >= 0 && text.charCodeAt(close - 1) === BACKSLASH) {
    let first = close - 1
    while (text.charCodeAt(first - 1) === BACKSLASH) first--
    if ((close - first) % 2 === 0) break
    close = text.indexOf('"', close + 1)
  }
  return close
}
