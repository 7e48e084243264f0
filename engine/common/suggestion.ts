/** "Did you mean": the known name nearest to one that is not known. Mistakes of policies, settings and commands suggest it. */

/** Null if no name is near enough. */
export function nearest(name: string, known: Iterable<string>): string | null {
  const limit = Math.max(1, Math.floor(name.length / 3))
  let best: { readonly name: string; readonly distance: number } | null = null
  for (const candidate of known) {
    if (Math.abs(name.length - candidate.length) > limit) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance <= limit && (best === null || distance < best.distance)) best = { name: candidate, distance }
  }
  return best?.name ?? null
}

/**
 * The known name that is meant by one with other letter case, other separators or a typing error. Null if the name may
 * be another one: names of up to three letters differ by any letter.
 */
export function misspelled(name: string, known: Iterable<string>): string | null {
  const plain = foldedName(name)
  for (const candidate of known) {
    const wanted = foldedName(candidate)
    if (plain === wanted) return candidate
    const shorter = Math.min(plain.length, wanted.length)
    const slips = shorter <= 3 ? 0 : shorter <= 5 ? 1 : 2
    if (Math.abs(plain.length - wanted.length) <= slips && editDistance(plain, wanted) <= slips) return candidate
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

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: readonly number[] = []
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current[column] = Math.min(
        cellAt(last, column) + 1,
        cellAt(current, column - 1) + 1,
        cellAt(last, column - 1) + cost,
        isSwap ? cellAt(beforeLast, column - 2) + 1 : Infinity,
      )
    }
    beforeLast = last
    last = current
  }
  return cellAt(last, b.length)
}

function cellAt(row: readonly number[], column: number): number {
  return row[column] ?? Infinity
}
