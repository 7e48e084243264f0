/** Whether two globs may name one file: too often rather than too rarely, since what they name is refused. */

/** One piece of a glob: a letter, one letter of any kind, any within a name, any across folders. */
type Piece = { readonly letter: string } | 'one' | 'star' | 'deep'

/** Maximum number of brace alternatives that are distinguished; beyond it braces match anything. */
const MAX_ALTERNATIVES = 64

/** True when some path matches both, whatever the case of its letters. */
export function mayMeet(one: string, other: string): boolean {
  return alternatives(one).some((a) => alternatives(other).some((b) => overlap(piecesOf(a), piecesOf(b))))
}

/** Short names of Windows as globs: `OPENAP~1.YAM` and `OP1A2B~1.YAM` begin with two letters of the name, and end in three of its extension. */
export function shortNames(path: string): string {
  return path.replaceAll(/([^/~]{1,2})[^/~]{0,6}~\d+(?:(\.[^/.]{0,3})[^/.]*)?(?=\/|$)/g, (_, begin: string, end = '') =>
    end === '' ? `${begin}*` : `${begin}*${end}*`,
  )
}

function alternatives(glob: string): readonly string[] {
  let all: readonly string[] = [glob]
  for (;;) {
    const open = all.findIndex((one) => /\{[^{}]*\}/.test(one))
    if (open === -1) return all
    const isTooMany = all.length > MAX_ALTERNATIVES
    all = all.flatMap((one) => {
      const braces = /\{([^{}]*)\}/.exec(one)
      if (braces === null) return [one]
      const [whole, inner = ''] = braces
      const choices = isTooMany || inner.includes('..') ? ['**'] : inner.split(',')
      return choices.map((choice) => one.slice(0, braces.index) + choice + one.slice(braces.index + whole.length))
    })
  }
}

function piecesOf(glob: string): readonly Piece[] {
  const found = glob
    .normalize('NFC')
    .toLowerCase()
    .matchAll(/\*\*\/?|\*|\?|\[[^\]/]+\]|[^]/gu)
  return [...found].map(([text]) => {
    if (text.startsWith('**')) return 'deep'
    if (text === '*') return 'star'
    return text === '?' || text.length > 2 ? 'one' : { letter: text }
  })
}

/** Which places of `b` the pieces of `a` so far can have come to; grows with the product of the two lengths. */
function overlap(a: readonly Piece[], b: readonly Piece[]): boolean {
  let reached = new Set(skipped(0, b))
  for (const piece of a) {
    const next = new Set<number>()
    for (const start of reached)
      for (const end of endsOf(piece, start, b)) for (const one of skipped(end, b)) next.add(one)
    reached = next
  }
  return reached.has(b.length)
}

/** A place and those behind pieces that may be empty. */
function skipped(from: number, b: readonly Piece[]): readonly number[] {
  const places = [from]
  for (let at = from; b[at] === 'star' || b[at] === 'deep'; at += 1) places.push(at + 1)
  return places
}

/** Where in `b` a piece of `a` can end that begins at one place. */
function endsOf(piece: Piece, start: number, b: readonly Piece[]): readonly number[] {
  const isMany = piece === 'star' || piece === 'deep'
  const ends: number[] = isMany ? [start] : []
  for (let at = start; at < b.length; at += 1) {
    const other = b[at]
    if (other === undefined || !piecesMeet(piece, other)) break
    const isOtherMany = other === 'star' || other === 'deep'
    ends.push(at + 1, ...(isOtherMany ? [at] : []))
    if (!isMany) break
  }
  return ends
}

function piecesMeet(one: Piece, other: Piece): boolean {
  if (one === 'deep' || other === 'deep') return true
  if (typeof one === 'object' && typeof other === 'object') return one.letter === other.letter
  if (typeof one === 'object') return one.letter !== '/'
  return typeof other !== 'object' || other.letter !== '/'
}
