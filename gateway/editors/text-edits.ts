/** Changes at places of a text. What is not named stays byte by byte. */

export interface TextSpan {
  readonly start: number
  readonly end: number
}

export interface TextEdit extends TextSpan {
  readonly content: string
}

/** @param edits do not overlap */
export function withEdits(text: string, edits: readonly TextEdit[]): string {
  return edits
    .toSorted((one, other) => other.start - one.start)
    .reduce((now, { start, end, content }) => now.slice(0, start) + content + now.slice(end), text)
}

export interface ListItem extends TextSpan {
  /** Null: no string. */
  readonly value: string | null
}

/**
 * Gives a list in brackets other strings. Where strings are only added or removed at its beginning, the others keep their lines
 * and comments.
 */
export function listEdit(
  text: string,
  list: TextSpan & { readonly items: readonly ListItem[] },
  wanted: readonly string[],
  write: (value: string) => string,
): TextEdit {
  const { start, end, items } = list
  const values = items.map(({ value }) => value)
  const added = wanted.slice(0, Math.max(0, wanted.length - items.length))
  if (items.length > 0 && added.length > 0 && areSameTexts(values, wanted.slice(added.length))) {
    const space = /\s/.test(text[start + 1] ?? '') ? '' : ' '
    return { start: start + 1, end: start + 1, content: added.map((one) => `${write(one)},`).join(' ') + space }
  }
  const removed = items.slice(0, Math.max(0, items.length - wanted.length))
  const [first, last] = [removed[0], removed.at(-1)]
  if (
    first !== undefined &&
    last !== undefined &&
    wanted.length > 0 &&
    areSameTexts(values.slice(removed.length), wanted)
  ) {
    const behind = /^\s*,[ \t]*(?=[^\s])|^\s*,/.exec(text.slice(last.end))
    if (behind !== null) return { start: first.start, end: last.end + behind[0].length, content: '' }
  }
  return { start, end, content: `[${wanted.map(write).join(', ')}]` }
}

function areSameTexts(values: readonly (string | null)[], wanted: readonly string[]): boolean {
  return values.length === wanted.length && values.every((value, index) => value === wanted[index])
}
