/** A range of indices, judged one after another, and what is counted of it. */
import { judgeEqual, documentsOf, sha256 } from './judge.ts'
import { equalPairAt, judgeAt, pairAt } from './pairs.ts'
import { isPlaceFor } from './rewrites.ts'
import { Random } from './random.ts'
import { compare } from '../../engine/internal.ts'
import { shuffledKeys } from '../shuffle.ts'
import { fitsBoth, surfacesFor, type Surface } from './surfaces.ts'
import { NO_REASON, warningKindOf } from './warnings.ts'

/** What is done with each index: pairs with a proven break, pairs of equal meaning, or one pair in many orders of keys or under other names. */
export type Job = 'pairs' | 'rewrites' | 'orders' | 'names'

export interface Chunk {
  readonly seed: number
  readonly from: number
  readonly to: number
  readonly job: Job
}

export type Counts = Readonly<Record<string, number>>

export interface Fault {
  readonly index: number
  /** What names faults of one kind: the surface, the effect and the level. */
  readonly kind: string
  readonly surface: string
}

export interface Tally {
  readonly counts: Counts
  readonly failures: readonly Fault[]
}

type Note = (name: string, count?: number) => void

type Judge = (seed: number, index: number, note: Note) => readonly Fault[]

const JUDGES: Readonly<Record<Job, Judge>> = {
  pairs: judgePair,
  rewrites: judgeRewrite,
  orders: judgeOrder,
  names: judgeNames,
}

export function tallyOf({ seed, from, to, job }: Chunk): Tally {
  const counts: Record<string, number> = {}
  const failures: Fault[] = []
  const note: Note = (name, count = 1) => {
    counts[name] = (counts[name] ?? 0) + count
  }
  for (let index = from; index < to; index += 1) {
    try {
      failures.push(...JUDGES[job](seed, index, note))
    } catch (cause) {
      throw new Error(`--seed ${seed} --from ${index}: ${String(cause)}`, { cause })
    }
  }
  return { counts, failures }
}

function judgePair(seed: number, index: number, note: Note): readonly Fault[] {
  const { pair, judgement } = judgeAt(seed, index)
  const levels = Object.entries(judgement.levels)
  note('pairs')
  if (levels.length === 0) return []
  note('pairs with a proven break')
  note(`proven: ${pair.dialect.name}`)
  for (const change of pair.changes) note(`proven: ${change}`)
  for (const surface of judgement.surfaces) note(`proven at: ${surface}`)
  for (const [level, count] of levels) note(`level: ${level}`, count)
  for (const { effect, findings } of judgement.mild) note(`warning: ${warningKindOf(effect, findings) ?? NO_REASON}`)
  return judgement.failures.map(({ surface, effect, level }) => ({
    index,
    surface,
    kind: `${surface}, ${effect}: ${level}`,
  }))
}

function judgeRewrite(seed: number, index: number, note: Note): readonly Fault[] {
  const pair = equalPairAt(seed, index)
  if (pair === null) return []
  const [change = ''] = pair.changes
  const { differs, alarms } = judgeEqual(pair, new Random(seed, index), isPlaceFor(change, [pair.before, pair.after]))
  if (differs !== undefined) return [{ index, surface: '', kind: `not equal: ${change}` }]
  note('pairs')
  note(`rewritten: ${change}`)
  const [first] = alarms
  if (first === undefined) return []
  note(`alarm: ${first.level}`)
  return [{ index, surface: first.surface, kind: `${change}: ${first.level}` }]
}

function judgeOrder(seed: number, index: number, note: Note): readonly Fault[] {
  note('pairs')
  return reorderAt(seed, index).map((surface) => ({ index, surface, kind: `${surface}: the order of keys counts` }))
}

const SHUFFLES = 3

/** What does not depend on where things stand in the text. */
function answerIn(surface: Surface, before: string, after: string): string {
  const compared = compare({ id: 'x', type: surface.type, before, after }, {}, sha256)
  if (!compared.ok) return compared.problem.code
  const { groups, ...rest } = compared.value
  return JSON.stringify([groups.map((group) => ({ ...group, line: null, column: null })), rest])
}

/** Surfaces at which the pair of an index is answered otherwise in another order. */
function reorderAt(seed: number, index: number): readonly string[] {
  const pair = pairAt(seed, index)
  return surfacesFor(pair.dialect).flatMap((surface) => {
    if (!fitsBoth(surface, pair.before, pair.after)) return []
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

function judgeNames(seed: number, index: number, note: Note): readonly Fault[] {
  note('pairs')
  return renamedAt(seed, index).map((surface) => ({
    index,
    surface,
    kind: `${surface}: the name of a property counts`,
  }))
}

/** A name of Object.prototype, and one that is like it for all else. */
const SAME_NAMES = [
  ['__proto__', '__prote__'],
  ['constructor', 'constructos'],
] as const

/** Surfaces at which the pair of an index is answered otherwise if one of its properties is called like a member of every object. */
function renamedAt(seed: number, index: number): readonly string[] {
  const pair = pairAt(seed, index)
  return surfacesFor(pair.dialect).flatMap((surface) => {
    if (!fitsBoth(surface, pair.before, pair.after)) return []
    const [before, after] = documentsOf(pair, surface)
    const isOther = SAME_NAMES.some((names) => {
      const [one, other] = names.map((name) => levelsIn(surface, renamed(before, name), renamed(after, name)))
      return one !== other
    })
    return isOther ? [surface.name] : []
  })
}

function levelsIn(surface: Surface, before: string, after: string): string {
  const compared = compare({ id: 'x', type: surface.type, before, after }, {}, sha256)
  if (!compared.ok) return compared.problem.code
  return JSON.stringify(compared.value.groups.map(({ rule, level }) => `${rule} ${level}`).sort())
}

/** @param name stands in place of the generated name `a` */
function renamed(text: string, name: string): string {
  return text.replaceAll('"a"', JSON.stringify(name))
}
