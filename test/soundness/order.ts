/** The same pair with the members of every object in another order: the answer is the same, byte for byte. */
import { compare } from '../../engine/internal.ts'
import { shuffledKeys } from '../shuffle.ts'
import { documentsOf, sha256 } from './judge.ts'
import { pairAt } from './pairs.ts'
import { surfacesFor, type Surface } from './surfaces.ts'

const SHUFFLES = 3

/** What does not depend on where things stand in the text. */
function answerIn(surface: Surface, before: string, after: string): string {
  const compared = compare({ id: 'x', type: surface.type, before, after }, {}, sha256)
  if (!compared.ok) return compared.problem.code
  const { groups, ...rest } = compared.value
  return JSON.stringify([groups.map((group) => ({ ...group, line: null, column: null })), rest])
}

/** Surfaces at which the pair of an index is answered otherwise in another order. */
export function reorderAt(seed: number, index: number): readonly string[] {
  const pair = pairAt(seed, index)
  return surfacesFor(pair.dialect).flatMap((surface) => {
    if (surface.fits && !(surface.fits(pair.before) && surface.fits(pair.after))) return []
    const [before, after] = documentsOf(pair, surface)
    const answers = new Set([answerIn(surface, before, after)])
    for (let shuffle = 1; shuffle <= SHUFFLES; shuffle += 1) {
      answers.add(answerIn(surface, reordered(before, index + shuffle), reordered(after, index - shuffle)))
    }
    return answers.size === 1 ? [] : [surface.name]
  })
}

function reordered(text: string, seed: number): string {
  return JSON.stringify(shuffledKeys(JSON.parse(text), seed))
}
