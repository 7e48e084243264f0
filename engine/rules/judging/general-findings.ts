/** General findings cover values that are refused, or new, and that no keyword change explains. */
import type { SchemaPair } from '../../schema/comparison/comparison.ts'
import {
  isFollowed,
  isProvedApart,
  leadsToPart,
  NOTHING_PROVED,
  type Reached,
} from '../../schema/comparison/reachable-changes.ts'
import type { SchemaDelta } from '../../schema/delta.ts'
import type { ProofDirection } from '../../schema/inclusion/inclusion.ts'
import type { UseDirection } from '../../schema/sites.ts'
import type { Alarm, Explanation } from './explanations.ts'
import { NAMES_WORDS, OVERLAP_WORDS, READERS_NULL_WORDS } from './proved-level.ts'
import { removedNames, withoutNames } from './removed-properties.ts'
import type { Letter, UseProofs } from './schema-proofs.ts'

/** A change that is found at a use, and not at a keyword of its schema. */
export const OF_THE_WHOLE = {
  isHeld: false,
  path: [],
  isRequired: null,
  isReadOnly: false,
  isWriteOnly: false,
  proved: NOTHING_PROVED,
  whole: null,
  from: null,
} as const

/** A general finding, and the reason if it is at most a warning. */
interface General {
  readonly reached: Reached
  readonly words: string | null
}

/**
 * General findings at the smallest pairs whose values are not all kept, or not all known, and that no change explains.
 */
export function uncovered(
  start: SchemaPair,
  proofs: UseProofs,
  alarms: ReadonlyMap<SchemaPair, Alarm>,
  direction: UseDirection,
): readonly General[] {
  const all = proofs.directions.flatMap((proof) => {
    // The payload has its breaking finding. A second one would repeat it.
    const explanationIn = (alarm?: Alarm): Explanation =>
      (proof === 'narrowing' ? alarm?.loses : alarm?.gains) ?? 'nothing'
    if ([...alarms.values()].some((alarm) => alarm.isBreaking && explanationIn(alarm) !== 'nothing')) return []
    const covers = (pair: SchemaPair): boolean => {
      const explanation = explanationIn(alarms.get(pair))
      if (explanation === 'guess') return !proofs.isShown(pair, proof)
      // A removed property does not account for what is lost, or new, without it.
      const removed = explanation === 'use' ? removedNames(pair) : NO_NAMES
      if (removed.size > 0 && !proofs.isKept(withoutNames(pair, removed), proof)) return false
      // Nor does it account for its own name where the object refuses it now.
      if (removed.size > 0 && proof === 'narrowing' && proofs.isShown(pair, proof)) return false
      // A warning does not account for a schema that admits nothing any more: all its values are proved to be refused.
      return explanation !== 'nothing' && !(proof === 'narrowing' && proofs.losesAll(pair))
    }
    const broken = brokenFrom(start, proofs, proof, direction)
    const isSmallest = (pair: SchemaPair): boolean =>
      !pair.edges.some(({ to }) => to !== pair && broken.has(to) && !isUnused(to, direction))
    const smallest = [...broken].filter(([pair]) => isSmallest(pair) && !covers(pair))
    // Another change, here or at a member, explains none of the values that a new choice refuses.
    const ofWholes = [...broken].flatMap(([pair, path]) => {
      if (alarms.get(pair)?.guesses.has(proof) !== true || smallest.some(([one]) => one === pair)) return []
      const alone = withWholesOnly(pair, proof)
      return proofs.isShown(alone, proof) ? generalsOf(pair, path, proof, proofs, alone) : []
    })
    const found = [...smallest.flatMap(([pair, path]) => generalsOf(pair, path, proof, proofs)), ...ofWholes]
    if (found.length > 0 || [...broken.keys()].some(covers)) return found
    // Among schemas that contain each other none is the smallest: the finding is at the whole.
    return [...broken].slice(0, 1).flatMap(([pair, path]) => generalsOf(pair, path, proof, proofs))
  })
  return direction === 'response' ? [...all, ...emptiedChoices(start, proofs, alarms)] : all
}

/** Choices of a response whose alternatives leave nothing to each other. No keyword tells that, and nothing new is admitted. */
function emptiedChoices(
  start: SchemaPair,
  proofs: UseProofs,
  alarms: ReadonlyMap<SchemaPair, Alarm>,
): readonly General[] {
  const seen = new Map([[start, [] as readonly string[]]])
  const found: General[] = []
  // Grows during iteration.
  for (const [pair, path] of seen) {
    if (proofs.isUntouched(pair) || isUnused(pair, 'response') || alarms.has(pair)) continue
    const { oneOf } = pair.after.value
    if (Array.isArray(oneOf) && proofs.losesAll(pair)) {
      const delta = {
        keyword: 'oneOf-list',
        action: 'added',
        name: null,
        before: null,
        after: oneOf,
        steps: ['oneOf'],
      } as const
      found.push({ reached: { ...OF_THE_WHOLE, delta, pair, path }, words: null })
      continue
    }
    for (const { to, steps } of pair.edges) if (!seen.has(to)) seen.set(to, [...path, ...steps])
  }
  return found
}

const NO_NAMES: ReadonlySet<string | null> = new Set()

/** Alternatives and positions, which come or go as a whole. */
const WHOLES = ['anyOf', 'oneOf', 'prefixItems', 'items'] as const

/** The pair with only the alternatives and positions that the side that refuses has alone. */
function withWholesOnly(pair: SchemaPair, proof: ProofDirection): SchemaPair {
  const [refusing, other] = proof === 'narrowing' ? [pair.after, pair.before] : [pair.before, pair.after]
  const own = WHOLES.filter((keyword) => Array.isArray(refusing.value[keyword]) && !Array.isArray(other.value[keyword]))
  const alone = { ...refusing, value: Object.fromEntries(own.map((keyword) => [keyword, refusing.value[keyword]])) }
  return proof === 'narrowing' ? { ...pair, after: alone } : { ...pair, before: alone }
}

/**
 * The pairs whose values are not all kept, or not all known, with the shortest path to each. A proof about a pair covers those
 * below it, but for what a discriminator selects and the content of a text.
 */
function brokenFrom(
  start: SchemaPair,
  proofs: UseProofs,
  proof: ProofDirection,
  direction: UseDirection,
): ReadonlyMap<SchemaPair, readonly string[]> {
  const broken = new Map<SchemaPair, readonly string[]>()
  const visits = new Map<SchemaPair, readonly WalkedPair[]>()
  const open: WalkedPair[] = [{ pair: start, path: [], isCovered: false, isPart: false }]
  // Grows during iteration.
  for (const walked of open) {
    const { pair, path, isPart } = walked
    const earlier = visits.get(pair) ?? []
    if (earlier.some((visit) => includes(visit, walked)) || proofs.isUntouched(pair)) continue
    visits.set(pair, [...earlier, walked])
    const isKept = walked.isCovered || proofs.isKept(pair, proof)
    // What a schema selects is not the schema: that was looked at before.
    if (!isKept && !pair.isSelection) broken.set(pair, path)
    for (const edge of pair.edges) {
      const { to, steps } = edge
      const isCovered = isKept && !isProvedApart(pair, steps[0])
      if (isUnused(to, direction) || !isFollowed(isPart, edge) || (isCovered && !proofs.reachesApart(to))) continue
      open.push({ pair: to, path: [...path, ...steps], isCovered, isPart: leadsToPart(isPart, edge) })
    }
  }
  return broken
}

interface WalkedPair {
  readonly pair: SchemaPair
  readonly path: readonly string[]
  /** By the proof about a pair above it. */
  readonly isCovered: boolean
  /** The pair is a part of another one, by `allOf`. */
  readonly isPart: boolean
}

/** Whether an earlier visit of the same pair found all that another one would. */
function includes(earlier: WalkedPair, { isCovered, isPart }: WalkedPair): boolean {
  return (isCovered || !earlier.isCovered) && (isPart || !earlier.isPart)
}

function isUnused({ after }: SchemaPair, direction: UseDirection): boolean {
  if (direction === 'request') return after.value.readOnly === true
  return direction === 'response' && after.value.writeOnly === true
}

function wordsOf(letter: Letter, proof: ProofDirection): string | null {
  if (letter === 'overlap') return OVERLAP_WORDS[proof]
  if (letter === 'null') return READERS_NULL_WORDS
  return proof === 'narrowing' ? NAMES_WORDS : null
}

/**
 * The general finding at a pair; none if its values are all kept, or all known.
 * @param asked the pair, or the part of it that the finding is about
 */
function generalsOf(
  pair: SchemaPair,
  path: readonly string[],
  proof: ProofDirection,
  proofs: UseProofs,
  asked = pair,
): readonly General[] {
  const answer = proofs.ask(asked, proof)
  if (answer.kind === 'included') return []
  const letter = answer.kind === 'refuted' ? proofs.letterOf(asked, proof) : null
  const isProved = answer.kind === 'refuted' && letter === null
  const after = answer.kind === 'refuted' ? answer.value : `no proof, because of ${answer.why}`
  const delta: SchemaDelta = {
    keyword: isProved ? 'values' : 'values-unproved',
    action: proof === 'narrowing' ? 'narrowed' : 'widened',
    name: null,
    before: null,
    after,
    steps: [],
  }
  return [
    {
      reached: { ...OF_THE_WHOLE, delta, pair, path },
      words: letter === null ? null : wordsOf(letter, proof),
    },
  ]
}
