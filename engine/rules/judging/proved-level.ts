/** The level that proofs about values leave the finding of one change, and the words for it. */
import type { Level } from '../../model/finding.ts'
import type { SchemaPair } from '../../schema/comparison/comparison.ts'
import type { PairOnWay, Reached } from '../../schema/comparison/reachable-changes.ts'
import type { SchemaDelta } from '../../schema/delta.ts'
import type { Inclusion, ProofDirection } from '../../schema/inclusion/inclusion.ts'
import type { UseDirection } from '../../schema/sites.ts'
import { nameValue } from '../../schema/values.ts'
import { levelOf, type Effect, type Rule } from '../rule.ts'
import {
  hasCompleteKeywords,
  isFormal,
  isFormatDelta,
  isPropertyRemoval,
  isProvable,
  needsEquality,
} from './provable.ts'
import { refusedAlone, refusedAsUnevaluated } from './removed-properties.ts'
import type { UseProofs } from './schema-proofs.ts'
import { refusedStatement, withKeywordOnly } from './stated-values.ts'

export const LOSES: ReadonlySet<Effect> = new Set(['narrows', 'may-narrow', 'moves'])
const GAINS: ReadonlySet<Effect> = new Set(['widens', 'may-widen', 'moves'])

const PROVED_WORDS: Readonly<Record<UseDirection, string>> = {
  request: 'every value that was admitted still is',
  response: 'no value is admitted that was not',
  shared: 'the other keywords leave no more to it',
}

/** For a property that an object lost, and refuses. */
const REFUSED_WORDS: Readonly<Record<'request' | 'shared', string>> = {
  request: 'callers that send it are refused, such as {value}',
  shared: 'values that have it are refused, such as {value}',
}

/** For values that are, or were, refused because several alternatives of `oneOf` admit them. */
export const OVERLAP_WORDS: Readonly<Record<ProofDirection, string>> = {
  narrowing: 'only values that several alternatives of oneOf admit together are refused, which authors seldom intend',
  widening:
    'such values were refused only because several alternatives of oneOf admit them, which authors seldom intend',
}

/** For a part of a response that nothing is admitted for any more. */
const NEVER_WORDS = 'no value is admitted any more, so it does not occur'
/** For a member or an item that leaves nothing to what holds it. */
const HOLDER_NEVER_WORDS = 'what holds it admits no value any more, so it does not occur'
/** For a list or an object of a response that holds nothing any more. */
const EMPTY_WORDS = 'only empty ones are admitted any more, so readers miss what they got'
/** For a property whose default is filled in before values are validated. */
const FILLED_WORDS = 'objects without it get its default, which the other keywords may refuse'
/** For a property that is dropped only where an object does not allow names that it does not list. */
const KEPT_WORDS = 'the object allows names that it does not list, so what is stored there is kept'
/** For a property that was not described, and is admitted with no value. */
const FORBIDDEN_WORDS = 'no value of it is admitted, so callers that send it are refused'

/** OpenAPI 3.0.3 §4.7.24 and JSON Schema Validation §5.5.1: a list of values without null refuses it. */
const LISTED_NULL_WORDS = '`nullable` beside a list of values without null admits null to some tools only'

/** OpenAPI 3.0.3 §4.7.24.1: it adds null to the type beside it only. Earlier tools took it for the whole. */
export const READERS_NULL_WORDS = '`nullable` of OpenAPI 3.0 beside other conditions admits null to some tools only'

/** For a discriminator whose values are not known, or were not all held against those of the other side. */
const SELECTION_WORDS = 'which of these values the contract admits is not proved'
/** Validation should fail by OpenAPI 3.0.3 §4.7.25. By 3.1.1 a discriminator does not change the outcome of validation. */
const HINT_WORDS = 'a discriminator is a hint, so servers may still take such values'

/** For values that are refused because of a name that was allowed, and that nothing described. */
export const NAMES_WORDS = 'only values that hold names which were allowed, but not described, are refused'

/** The level that the proofs leave a finding, and the explanation if it differs from that of its rule. */
interface Left {
  readonly level: Level
  readonly words: string
}

/** Whether readers may get new values. Some rules are named after the effect on writers. */
export function mayGain({ keyword, action }: SchemaDelta, { effect }: Rule): boolean {
  return (
    GAINS.has(effect) ||
    (keyword === 'allOf' && action === 'removed') ||
    (keyword === 'pattern' && action === 'changed')
  )
}

/**
 * A discriminator admits and refuses no value: it selects the alternative by which a value is read. Nor does the form of
 * a value in XML.
 */
export function isAboutReading({ keyword }: SchemaDelta): boolean {
  return keyword.startsWith('discriminator') || keyword === 'xml'
}

/** If the change removes no value as a whole, or adds none, it is judged by what remains. */
export function provedLevel(reached: Reached, rule: Rule, direction: UseDirection, proofs: UseProofs): Left {
  const { delta, pair } = reached
  const words = PROVED_WORDS[direction]
  if (rule.level !== 'info' && delta.selected !== undefined) return selectionLevel(reached, rule, proofs)
  if (rule.level === 'info') return raisedByNothing(reached, rule, direction, proofs) ?? { level: rule.level, words }
  if (isAboutReading(delta)) return { level: rule.level, words }
  if (isHarmlessDelta(reached, proofs)) return { level: 'info', words }
  if (isProvable(delta, rule)) {
    const left = levelLeft(reached, rule, direction, proofs)
    return left.level === 'info' && isListedNull(reached) ? { level: 'dangerous', words: LISTED_NULL_WORDS } : left
  }
  const refused = refusedNow(reached, direction, proofs)
  if (refused !== null) return { level: 'breaking', words: refused }
  if (isPropertyRemoval(delta) && proofs.keepsUnlisted(pair))
    return { level: leastOf(rule.level, 'dangerous'), words: KEPT_WORDS }
  const isLowered = isStillAccepted(reached, direction) && proofs.hasValue(pair)
  return { level: isLowered ? leastOf(rule.level, 'dangerous') : rule.level, words }
}

/** Whether null comes to a list of values, or leaves it, beside `nullable`, which by one reading admits it in any case. */
function isListedNull({ delta: { keyword, action, before, after }, pair }: Reached): boolean {
  if (keyword !== 'enum' || (action === 'removed' ? before : after) !== null) return false
  return [pair.before, pair.after].every(({ value }) => value['nullable'] === true || value['x-nullable'] === true)
}

/** Information about a schema that admits nothing now: readers miss what they got, callers are refused. Null if it does. */
function raisedByNothing(
  { delta, pair, whole, isWriteOnly, from }: Reached,
  rule: Rule,
  direction: UseDirection,
  proofs: UseProofs,
): Left | null {
  const isNewProperty = delta.keyword === 'properties' && delta.action === 'added'
  if (direction === 'response') {
    // No answer holds a write-only property.
    if (isWriteOnly || (!LOSES.has(rule.effect) && !isNewProperty)) return null
    // Of a whole that admitted nothing before, nothing is lost.
    if (whole !== null && !proofs.hasValue(whole)) return null
    // Null may have become an alternative of its own. A part may leave nothing to the others.
    const isAlone = whole === null || delta.keyword !== 'nullable'
    if ((isAlone && proofs.losesAll(pair)) || (whole !== null && proofs.losesAll(whole)))
      return { level: 'dangerous', words: NEVER_WORDS }
    if (proofs.losesContent(pair)) return { level: 'dangerous', words: EMPTY_WORDS }
    return emptiesHolder(from, proofs) ? { level: 'dangerous', words: HOLDER_NEVER_WORDS } : null
  }
  if (!isNewProperty) return null
  if (proofs.forbids(pair, delta.name)) return { level: 'breaking', words: FORBIDDEN_WORDS }
  return proofs.mayRefuseFilled(pair, delta.name) ? { level: 'dangerous', words: FILLED_WORDS } : null
}

/** Whether a schema on the way to a change admits nothing any more: the items left may be fewer than a list must hold. */
function emptiesHolder(from: PairOnWay | null, proofs: UseProofs): boolean {
  for (let one = from; one !== null; one = one.from) if (proofs.losesAll(one.pair)) return true
  return false
}

/** The level of a discriminator that comes or goes: whether it refuses, or refused, what the schema beside it admits. */
function selectionLevel({ delta, pair }: Reached, rule: Rule, proofs: UseProofs): Left {
  const proof = delta.action === 'removed' ? 'narrowing' : 'widening'
  const words = PROVED_WORDS[proofs.direction]
  const { selected = null } = delta
  if (selected === null) return { level: leastOf(rule.level, 'dangerous'), words: SELECTION_WORDS }
  const asked = proof === 'narrowing' ? { ...pair, after: selected } : { ...pair, before: selected }
  const answer = proofs.ask(asked, proof)
  if (answer.kind === 'included') return { level: 'info', words }
  const isShown = answer.kind === 'refuted' && proofs.letterOf(asked, proof) === null
  return { level: leastOf(rule.level, 'dangerous'), words: isShown ? HINT_WORDS : SELECTION_WORDS }
}

/**
 * That an object refuses a property that it lost, in words; null if it may still have it. The warning about a removed
 * property is for open objects, where servers may ignore the name.
 */
function refusedNow(
  { delta, pair, whole, proved }: Reached,
  direction: UseDirection,
  proofs: UseProofs,
): string | null {
  if (direction === 'response' || !isPropertyRemoval(delta) || delta.name === null) return null
  const ask = (one: SchemaPair): Inclusion => proofs.ask(one, 'narrowing')
  // Where the values of the part are kept, only the whole may refuse them.
  const alone = proved.keepsAll ? null : refusedAlone(pair, delta.name, ask)
  const value = alone ?? refusedAsUnevaluated(whole ?? pair, delta.name, ask)
  return value === null ? null : REFUSED_WORDS[direction].replace('{value}', () => nameValue(value))
}

/**
 * A warning about more than values breaks nobody if the values that matter are kept; for a removed property, if all
 * are.
 */
function isStillAccepted({ delta, pair, proved }: Reached, direction: UseDirection): boolean {
  const { keepsAll, addsNone } = proved
  if (isPropertyRemoval(delta)) return keepsAll && addsNone
  return (
    isFormal(delta) &&
    hasCompleteKeywords(pair) &&
    (direction === 'response' || keepsAll) &&
    (direction === 'request' || addsNone)
  )
}

/** If the values before and after are equal, a warning about more than values does not apply. */
function isHarmlessDelta({ delta, pair, proved }: Reached, proofs: UseProofs): boolean {
  // A name that was refused, and may come now: nobody who calls had it to lose.
  if (
    proofs.direction === 'request' &&
    proved.keepsAll &&
    isPropertyRemoval(delta) &&
    proofs.wasNever(pair, delta.name)
  )
    return true
  if (!proved.keepsAll || !proved.addsNone || !needsEquality(delta)) return false
  if (isFormatDelta(delta)) return proofs.hasSameFormats(pair) || proofs.isAlike(pair)
  if (delta.keyword !== 'allOf' && !(hasCompleteKeywords(pair) && proofs.hasValue(pair)) && !proofs.isAlike(pair))
    return false
  return !isPropertyRemoval(delta) || proofs.describes(pair, delta.name) || proofs.wasNever(pair, delta.name)
}

function levelLeft(reached: Reached, rule: Rule, direction: UseDirection, proofs: UseProofs): Left {
  const { delta, pair, proved } = reached
  const [mayLose, mayGainAny] = [LOSES.has(rule.effect), mayGain(delta, rule)]
  const loses = mayLose && !proved.keepsAll
  const gains = mayGainAny && !proved.addsNone
  const isWarning = rule.level === 'dangerous' && rule.kind === 'constraints'
  const lost = (): Left => (isWarning ? raised(reached, proofs) : null) ?? lowered(pair, rule, 'narrowing', proofs)
  const gained = (): Left => lowered(pair, rule, 'widening', proofs)
  const left = (level: Level): Left => ({ level, words: PROVED_WORDS[direction] })
  if (direction === 'request') return loses ? lost() : left(mayLose ? 'info' : rule.level)
  if (direction === 'response') return gains ? gained() : left(mayGainAny ? 'info' : rule.level)
  if (loses) return lost()
  if (!gains) return left(mayLose || mayGainAny ? 'info' : rule.level)
  return left(mayLose ? levelOf('shared', 'widens') : rule.level)
}

/** The level of a warning that values may be lost, and that refuses what the contract stated. */
function raised({ delta, pair }: Reached, proofs: UseProofs): Left | null {
  const alone = withKeywordOnly(pair, delta)
  const answer = proofs.ask(alone, 'narrowing')
  if (answer.kind !== 'refuted' || proofs.letterOf(alone, 'narrowing') !== null) return null
  const words = refusedStatement(delta, alone, proofs)
  return words === null ? null : { level: 'breaking', words: words.replace('{value}', () => nameValue(answer.value)) }
}

/** The level left for values that are lost, or new: for some changes at most a warning. */
function lowered(pair: SchemaPair, rule: Rule, proof: ProofDirection, proofs: UseProofs): Left {
  // A schema that admitted nothing loses nothing, and was not meant to be used.
  if (rule.level !== 'breaking' || proofs.isVacuous(pair, proof))
    return { level: leastOf(rule.level, 'dangerous'), words: PROVED_WORDS[proofs.direction] }
  const isOverlap = isChosenFrom(pair, proof) && proofs.isOverlap(pair, proof, false)
  if (isOverlap) return { level: 'dangerous', words: OVERLAP_WORDS[proof] }
  const isNullOfReaders = proofs.isNullOfReaders(pair, proof)
  return { level: isNullOfReaders ? 'dangerous' : rule.level, words: READERS_NULL_WORDS }
}

/** Whether the side that refuses, or refused, is a choice by `oneOf`. Otherwise no overlap can be the cause. */
function isChosenFrom({ before, after }: SchemaPair, proof: ProofDirection): boolean {
  return Array.isArray((proof === 'narrowing' ? after : before).value.oneOf)
}

function leastOf(level: Level, most: Level): Level {
  return level === 'breaking' ? most : level
}
