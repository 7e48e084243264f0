/** "Did you mean": the known name nearest to one that is not known. Mistakes of policies, settings and commands suggest it. */

/** Null if no name is near enough. */
export function nearest(name: string, known: Iterable<string>): string | null {
  const plain = name.toLowerCase()
  const letters = letterCounts(plain)
  let limit = Math.max(1, Math.floor(name.length / 3))
  let best: string | null = null
  for (const candidate of known) {
    if (Math.abs(name.length - candidate.length) > limit) continue
    const other = candidate.toLowerCase()
    if (leastDistance(letters, other) > limit) continue
    const distance = editDistance(plain, other, limit)
    if (distance > limit) continue
    best = candidate
    limit = distance - 1
    if (limit < 0) break
  }
  return best
}

const KINDS_OF_LETTERS = 32

function letterCounts(text: string): Int32Array {
  const found = new Int32Array(KINDS_OF_LETTERS)
  for (let index = 0; index < text.length; index += 1) {
    const kind = text.charCodeAt(index) % KINDS_OF_LETTERS
    found[kind] = (found[kind] ?? 0) + 1
  }
  return found
}

/** Two texts are at least as far apart as the letters that only one of them has: a caller's name is compared with all rules. */
function leastDistance(letters: Int32Array, text: string): number {
  counts.set(letters)
  let added = 0
  for (let index = 0; index < text.length; index += 1) {
    const kind = text.charCodeAt(index) % KINDS_OF_LETTERS
    const rest = (counts[kind] ?? 0) - 1
    counts[kind] = rest
    if (rest < 0) added += 1
  }
  let missing = 0
  for (let kind = 0; kind < KINDS_OF_LETTERS; kind += 1) missing += Math.max(0, counts[kind] ?? 0)
  return Math.max(missing, added)
}

const counts = new Int32Array(KINDS_OF_LETTERS)

/** Known names, prepared for a search of many others among them. */
export type SpelledNames = readonly { readonly name: string; readonly folded: string }[]

/** Names as `misspelled` compares them: prepared once for many searches. */
export function spelledNames(known: Iterable<string>): SpelledNames {
  return Array.from(known, (name) => ({ name, folded: foldedName(name) }))
}

/**
 * The known name that is meant by one with other letter case, other separators or a typing error. Null if the name may
 * be another one: names of up to three letters differ by any letter.
 */
export function misspelled(name: string, known: SpelledNames): string | null {
  const plain = foldedName(name)
  for (const { name: candidate, folded } of known) {
    if (plain === folded) return candidate
    const shorter = Math.min(plain.length, folded.length)
    const slips = shorter <= 3 ? 0 : shorter <= 5 ? 1 : 2
    if (editDistance(plain, folded, slips) <= slips) return candidate
  }
  return null
}

/** Longer names are no misspelling of any. */
const LONGEST_NAME = 100

function foldedName(name: string): string {
  return name
    .slice(0, LONGEST_NAME)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/** Three rows of distances, for texts of any length. */
let rows: readonly [Int32Array, Int32Array, Int32Array] = [new Int32Array(0), new Int32Array(0), new Int32Array(0)]

function rowsOf(length: number): typeof rows {
  if (rows[0].length < length)
    rows = [new Int32Array(2 * length), new Int32Array(2 * length), new Int32Array(2 * length)]
  return rows
}

/**
 * Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). Infinite beyond the limit: only cells that
 * may be within it are computed.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return Infinity
  const over = limit + 1
  let [beforeLast, last, current] = rowsOf(b.length + 2)
  for (let column = 0; column < b.length + 2; column += 1) {
    beforeLast[column] = over
    last[column] = Math.min(column, over)
  }
  let leastOfLast = 0
  for (let row = 1; row <= a.length; row += 1) {
    const from = Math.max(1, row - limit)
    const to = Math.min(b.length, row + limit)
    const letter = a.charCodeAt(row - 1)
    let left = from === 1 ? Math.min(row, over) : over
    let least = left
    current[from - 1] = left
    for (let column = from; column <= to; column += 1) {
      const isSame = letter === b.charCodeAt(column - 1)
      let distance = Math.min((last[column] ?? over) + 1, left + 1, (last[column - 1] ?? over) + (isSame ? 0 : 1), over)
      if (isSwap(a, row, b, column)) distance = Math.min(distance, (beforeLast[column - 2] ?? over) + 1)
      current[column] = distance
      left = distance
      least = Math.min(least, distance)
    }
    current[to + 1] = over
    // A swap looks two rows back.
    if (least > limit && leastOfLast > limit) return Infinity
    leastOfLast = least
    ;[beforeLast, last, current] = [last, current, beforeLast]
  }
  const distance = last[b.length] ?? over
  return distance > limit ? Infinity : distance
}

function isSwap(a: string, row: number, b: string, column: number): boolean {
  return (
    row > 1 &&
    column > 1 &&
    a.charCodeAt(row - 1) === b.charCodeAt(column - 2) &&
    a.charCodeAt(row - 2) === b.charCodeAt(column - 1)
  )
}
