/** Long lists of names as lines of text. */

/** Names between blanks, in order. */
export function splitNames(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(' '))
}
