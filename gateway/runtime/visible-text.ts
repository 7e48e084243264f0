/** Texts that a person decides by: nothing in them is invisible or changes the order of reading. */

/** Controls and format characters. Line breaks stay, and so do joiners between characters outside of ASCII: scripts and emoji need them. */
const MISLEADING = /[[\p{Cc}\p{Cf}]--[\n\r\t\u200c\u200d]]|(?<![^\0-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\0-\x7f])/gv

/** The text, with those characters as `\u{…}`: two names that differ do not look the same. */
export function visibleText(text: string): string {
  return text.replaceAll(MISLEADING, escapeCodePoint)
}

export function escapeCodePoint(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}
