/**
 * The findings about a schema in use: each change with its rule, and the level that proofs about its values leave. A
 * general finding covers values that are refused, or new, and that no keyword change explains. It is one file past 400
 * lines, because levels and general findings use the same proofs.
 */
import type { Level } from '../../model/finding.ts'
import type { SchemaComparison, SchemaPair } from '../../schema/comparison/comparison.ts'
import type { SchemaDelta } from '../../schema/delta.ts'
import type { SchemaSources } from '../../schema/examination.ts'
import type { Inclusion, InclusionProver, ProofDirection, InclusionQuestion } from '../../schema/inclusion/inclusion.ts'
import {
  MAX_WAYS,
  NOTHING_PROVED,
  reachChanges,
  type Proved,
  type Reached,
  type Prove,
} from '../../schema/comparison/reachable-changes.ts'
import { RequiredNames } from '../../schema/required-names.ts'
import { differsInNameOnly, otherElement } from '../../schema/xml.ts'
import { membersOf, textsOf } from '../../schema/subschemas.ts'
import type { UseDirection } from '../../schema/sites.ts'
import {
  isFormal,
  isPropertyRemoval,
  isFormatDelta,
  isProvable,
  hasCompleteKeywords,
  mayAlarm,
  needsEquality,
} from './provable.ts'
import { levelOf, type Effect, type Rule } from '../rule.ts'
import { hasTypedText, judgeSchema, type SchemaJudgement, type SchemaUse } from './schema-judge.ts'
import { ruleOf } from '../catalog/table.ts'

/** A change with its rule at a place. */
export interface JudgedUse extends SchemaJudgement {
  readonly reached: Reached
  readonly ruleRow: Rule
  /** Present only if it differs from that of the rule. */
  readonly level?: Level
}

/** The proofs about the schemas of one comparison. Create it after all of them are compared. */
export class SchemaProofs {
  readonly prover: InclusionProver
  readonly #comparison: SchemaComparison
  /** The names that were required before the change. */
  readonly required: RequiredNames
  #alarming: ReadonlySet<SchemaPair> | null = null
  #formal: ReadonlySet<SchemaPair> | null = null

  constructor(comparison: SchemaComparison) {
    this.#comparison = comparison
    this.prover = comparison.prover
    this.required = new RequiredNames(comparison.sources.before)
  }

  get sources(): SchemaSources {
    return this.#comparison.sources
  }

  mayDiffer(pair: SchemaPair): boolean {
    return this.#comparison.mayDiffer(pair)
  }

  /** Whether the pair reaches a change that a proof may call harmless. */
  isAlarming(pair: SchemaPair): boolean {
    this.#alarming ??= this.#comparison.reaching(mayAlarm)
    return this.#alarming.has(pair)
  }

  /** Whether the pair reaches a change that only a proof of equality may call harmless. */
  isFormal(pair: SchemaPair): boolean {
    this.#formal ??= this.#comparison.reaching((entry) => 'each' in entry || needsEquality(entry))
    return this.#formal.has(pair)
  }
}

interface UsedSchema {
  readonly pair: SchemaPair
  readonly use: SchemaUse
  readonly proofs: SchemaProofs
  /** Steps shown before those of the schema. */
  readonly lead?: readonly string[]
  readonly maxWays?: number
  readonly skips?: (pair: SchemaPair) => boolean
}

/** The inclusions that matter to the users of a schema. */
const QUESTIONS: Readonly<Record<UseDirection, readonly ProofDirection[]>> = {
  request: ['narrowing'],
  response: ['widening'],
  shared: ['narrowing', 'widening'],
}

const LOSES: ReadonlySet<Effect> = new Set(['narrows', 'may-narrow', 'moves'])
const GAINS: ReadonlySet<Effect> = new Set(['widens', 'may-widen', 'moves'])

export function judgeUse(
  { pair, use, proofs: all, lead = [], maxWays, skips }: UsedSchema,
  visit: (judged: JudgedUse) => void,
): void {
  const { direction } = use.sites.root
  const element = otherElement(pair, use, all.sources)
  if (element === null && !all.mayDiffer(pair)) return
  const proofs = new Proofs(all, direction, hasTypedText(use, use.sites.root))
  const alarms = new Map<SchemaPair, Alarm>()
  const report = (found: Reached, because: string | null = null): void => {
    const reached = lead.length === 0 ? found : { ...found, path: [...lead, ...found.path] }
    const judgement = judgeSchema(reached, use)
    const ruleRow = judgement === null ? undefined : ruleOf(judgement.rule)
    if (judgement === null || ruleRow === undefined) return
    const { level, words } = provedLevel(reached, ruleRow, direction, proofs)
    noteAlarm(alarms, reached, ruleRow, level)
    if (skips?.(reached.pair) === true) return
    const added = because ?? (level === ruleRow.level ? null : words)
    const message = added === null ? judgement.message : `${judgement.message}; ${added}`
    visit({ ...judgement, message, reached, ruleRow, ...(level === ruleRow.level ? {} : { level }) })
  }
  /** The name of the element of a whole text may follow from a component, so it is compared here only. */
  const visitReached = (found: Reached): void => {
    if (found.delta.keyword === 'xml' && found.path.length === 0 && differsInNameOnly(found.pair, all.sources)) return
    report(found)
  }
  if (element !== null) report({ ...OF_THE_WHOLE, delta: element, pair })
  const prove: Prove = (one, above) => (all.isAlarming(one) ? proofs.of(one, above) : above)
  reachChanges(pair, visitReached, maxWays ?? MAX_WAYS, prove, all.required)
  for (const { reached, words } of uncovered(pair, proofs, alarms, direction)) report(reached, words)
}

const PROVED_WORDS: Readonly<Record<UseDirection, string>> = {
  request: 'every value that was admitted still is',
  response: 'no value is admitted that was not',
  shared: 'the other keywords leave no more to it',
}

/** For values that are, or were, refused because several alternatives of `oneOf` admit them. */
const OVERLAP_WORDS: Readonly<Record<ProofDirection, string>> = {
  narrowing: 'only values that several alternatives of oneOf admit together are refused, which authors seldom intend',
  widening:
    'such values were refused only because several alternatives of oneOf admit them, which authors seldom intend',
}

/** The level that the proofs leave a finding, and the explanation if it differs from that of its rule. */
interface Left {
  readonly level: Level
  readonly words: string
}

/**
 * What explains values at a pair that are lost, or new. `use`: a member that is gone, or that one side only sends. `guess`:
 * a rule that does not look at the values. `rule`: one that does, or that warns of them for a reason of its own.
 */
const EXPLANATIONS = ['nothing', 'use', 'guess', 'rule'] as const
type Explanation = (typeof EXPLANATIONS)[number]

function strongest(a: Explanation, b: Explanation): Explanation {
  return EXPLANATIONS.indexOf(a) < EXPLANATIONS.indexOf(b) ? b : a
}

/** What the findings at a pair explain. */
interface Alarm {
  loses: Explanation
  gains: Explanation
  /** Whether a rule that does not look at the values is among the reasons. */
  readonly guesses: Set<ProofDirection>
  isBreaking: boolean
}

/** Whether readers may get new values. Some rules are named after the effect on writers. */
function mayGain({ keyword, action }: SchemaDelta, { effect }: Rule): boolean {
  return (
    GAINS.has(effect) ||
    (keyword === 'allOf' && action === 'removed') ||
    (keyword === 'pattern' && action === 'changed')
  )
}

function noteAlarm(alarms: Map<SchemaPair, Alarm>, { pair, delta }: Reached, rule: Rule, level: Level): void {
  if (level === 'info' || isAboutReading(delta)) return
  const alarm = alarms.get(pair) ?? { loses: 'nothing', gains: 'nothing', guesses: new Set(), isBreaking: false }
  const isUsage = delta.keyword === 'readOnly' || delta.keyword === 'writeOnly' || isPropertyRemoval(delta)
  const explanation = isUsage ? 'use' : isGuess(rule) ? 'guess' : 'rule'
  if (LOSES.has(rule.effect) || isUsage) alarm.loses = strongest(alarm.loses, explanation)
  if (mayGain(delta, rule) || isUsage) alarm.gains = strongest(alarm.gains, explanation)
  if (explanation === 'guess') alarm.guesses.add(LOSES.has(rule.effect) ? 'narrowing' : 'widening')
  alarm.isBreaking ||= level === 'breaking'
  alarms.set(pair, alarm)
}

/**
 * Alternatives and positions that come or go as a whole refuse and admit what they say, if anything. Bounds and patterns
 * are warned of for another reason: documents often state late what servers always did.
 */
function isGuess({ kind, effect }: Rule): boolean {
  return kind === 'structure' && (effect === 'may-narrow' || effect === 'may-widen')
}

/**
 * A discriminator admits and refuses no value: it selects the alternative by which a value is read. Nor does the form of
 * a value in XML.
 */
function isAboutReading({ keyword }: SchemaDelta): boolean {
  return keyword.startsWith('discriminator') || keyword === 'xml'
}

/** If the change removes no value as a whole, or adds none, it is judged by what remains. */
function provedLevel(reached: Reached, rule: Rule, direction: UseDirection, proofs: Proofs): Left {
  const { delta, pair } = reached
  const words = PROVED_WORDS[direction]
  if (rule.level === 'info' || isAboutReading(delta)) return { level: rule.level, words }
  if (isHarmlessDelta(reached, proofs)) return { level: 'info', words }
  if (isProvable(delta, rule)) return levelLeft(reached, rule, direction, proofs)
  const isLowered = isStillAccepted(reached, direction) && proofs.hasValue(pair)
  return { level: isLowered ? leastOf(rule.level, 'dangerous') : rule.level, words }
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
function isHarmlessDelta({ delta, pair, proved }: Reached, proofs: Proofs): boolean {
  if (!proved.keepsAll || !proved.addsNone || !needsEquality(delta)) return false
  if (isFormatDelta(delta)) return proofs.isAlike(pair)
  if (delta.keyword !== 'allOf' && !(hasCompleteKeywords(pair) && proofs.hasValue(pair)) && !proofs.isAlike(pair))
    return false
  return !isPropertyRemoval(delta) || proofs.describes(pair, delta.name)
}

function levelLeft({ delta, pair, proved }: Reached, rule: Rule, direction: UseDirection, proofs: Proofs): Left {
  const [mayLose, mayGainAny] = [LOSES.has(rule.effect), mayGain(delta, rule)]
  const loses = mayLose && !proved.keepsAll
  const gains = mayGainAny && !proved.addsNone
  const lost = (): Left => lowered(pair, rule, 'narrowing', proofs)
  const gained = (): Left => lowered(pair, rule, 'widening', proofs)
  const left = (level: Level): Left => ({ level, words: PROVED_WORDS[direction] })
  if (direction === 'request') return loses ? lost() : left(mayLose ? 'info' : rule.level)
  if (direction === 'response') return gains ? gained() : left(mayGainAny ? 'info' : rule.level)
  if (loses) return lost()
  if (!gains) return left(mayLose || mayGainAny ? 'info' : rule.level)
  return left(mayLose ? levelOf('shared', 'widens') : rule.level)
}

/** The level left for values that are lost, or new: for some changes at most a warning. */
function lowered(pair: SchemaPair, rule: Rule, proof: ProofDirection, proofs: Proofs): Left {
  // A schema that admitted nothing loses nothing, and was not meant to be used.
  if (rule.level !== 'breaking' || proofs.isVacuous(pair, proof))
    return { level: leastOf(rule.level, 'dangerous'), words: PROVED_WORDS[proofs.direction] }
  const isOverlap = isChosenFrom(pair, proof) && proofs.isOverlap(pair, proof, false)
  return { level: isOverlap ? 'dangerous' : rule.level, words: OVERLAP_WORDS[proof] }
}

/** Whether the side that refuses, or refused, is a choice by `oneOf`. Otherwise no overlap can be the cause. */
function isChosenFrom({ before, after }: SchemaPair, proof: ProofDirection): boolean {
  return Array.isArray((proof === 'narrowing' ? after : before).value.oneOf)
}

function leastOf(level: Level, most: Level): Level {
  return level === 'breaking' ? most : level
}

/** The proofs about one use. */
class Proofs {
  readonly #all: SchemaProofs
  readonly #prover: InclusionProver
  readonly direction: UseDirection
  readonly #isTyped: boolean

  constructor(all: SchemaProofs, direction: UseDirection, typed: boolean) {
    this.#all = all
    this.#prover = all.prover
    this.direction = direction
    this.#isTyped = typed
  }

  /** Whether the schemas are written the same, with all that they hold. */
  isUntouched(pair: SchemaPair): boolean {
    return !this.#all.mayDiffer(pair)
  }

  /** What is proved of a pair without any convention, so that a finding may rely on it. */
  of(pair: SchemaPair, above: Proved): Proved {
    const [first = 'narrowing', second] = QUESTIONS[this.direction]
    const isKnown = { narrowing: above.keepsAll, widening: above.addsNone }
    isKnown[first] ||= this.#isIncluded(pair, first)
    const other = first === 'narrowing' ? 'widening' : 'narrowing'
    // An inclusion that matters to no user is requested only where equality helps.
    if (second !== undefined || (isKnown[first] && this.#all.isFormal(pair)))
      isKnown[other] ||= this.#isIncluded(pair, other)
    const { narrowing: keepsAll, widening: addsNone } = isKnown
    if (keepsAll === above.keepsAll && addsNone === above.addsNone) return above
    return { keepsAll, addsNone, isEmpty: !this.#admitsAny(pair, 'narrowing') }
  }

  #isIncluded(pair: SchemaPair, direction: ProofDirection): boolean {
    const { before, after } = pair
    const question = this.#question(direction, false)
    if (!this.#prover.isIncluded(before, after, question)) return false
    // A schema that admits nothing is included in every schema. That proves nothing unless both admit nothing.
    if (this.#admitsAny(pair, direction)) return true
    // Nor does it in text, which may have several types: `12` is a string and an integer.
    if (question.isText && this.#prover.hasValue(before, after, question)) return false
    const other = direction === 'narrowing' ? 'widening' : 'narrowing'
    return this.#prover.isIncluded(before, after, { ...question, direction: other })
  }

  /** Whether the schema before (for a narrowing) or after admits any value, read by its types. */
  #admitsAny({ before, after }: SchemaPair, direction: ProofDirection): boolean {
    return this.#prover.hasValue(before, after, { ...this.#question(direction, false), isText: false })
  }

  /** Whether the schema before admits any value. Equality of two empty schemas proves nothing about their intent. */
  hasValue({ before, after }: SchemaPair): boolean {
    return this.#prover.hasValue(before, after, this.#question('narrowing', false))
  }

  /** Whether values were admitted, and none is any more. */
  losesAll(pair: SchemaPair): boolean {
    if (!this.hasValue(pair)) return false
    return !this.#prover.hasValue(pair.before, pair.after, this.#question('widening', false))
  }

  /** Whether all values are kept, or known, only because there are none. */
  isVacuous({ before, after }: SchemaPair, direction: ProofDirection): boolean {
    // Parameters and fields are read by their type, also where a slip in a pattern or length excludes every text.
    if (!this.#isTyped) return false
    const question = this.#question(direction, false)
    return this.#prover.isIncluded(before, after, question) && !this.#prover.hasValue(before, after, question)
  }

  /** Whether the conditions before and after are the same, in any notation. */
  isAlike({ before, after }: SchemaPair): boolean {
    return this.#prover.isAlike(before, after, this.#question('narrowing', false))
  }

  /** Whether a schema still describes a name, even within a nested inline schema. */
  describes({ after }: SchemaPair, name: string | null): boolean {
    return name !== null && this.#prover.describes(after, this.#question('narrowing', false), name)
  }

  /** Whether no value is lost, or new. */
  isKept(pair: SchemaPair, direction: ProofDirection): boolean {
    if (!this.#isTyped) return this.ask(pair, direction).kind === 'included'
    return this.#prover.isIncluded(pair.before, pair.after, this.#generalQuestion(direction))
  }

  ask({ before, after }: SchemaPair, direction: ProofDirection): Inclusion {
    return this.#prover.ask(before, after, this.#generalQuestion(direction))
  }

  #generalQuestion(direction: ProofDirection): InclusionQuestion {
    const question = this.#question(direction, false)
    return direction === 'narrowing' ? { ...question, convention: 'unnamed-by-sub' } : question
  }

  /** Whether a value shows that some are lost, or new, and not only formally. */
  isShown(pair: SchemaPair, direction: ProofDirection): boolean {
    return this.ask(pair, direction).kind === 'refuted' && this.letterOf(pair, direction) === null
  }

  /**
   * Why a value that shows a difference does so only formally; null if it shows a real one. `names`: callers may send
   * names that the contract allows but does not list. Readers who ignore unknown names get nothing new.
   */
  letterOf(pair: SchemaPair, direction: ProofDirection): 'names' | 'overlap' | null {
    const question = this.#question(direction, true)
    if (direction === 'widening' && this.#prover.ask(pair.before, pair.after, question).kind === 'included')
      return 'names'
    return this.isOverlap(pair, direction, true) ? 'overlap' : null
  }

  /**
   * Whether all values that are lost, or new, are refused on one side only because several alternatives of `oneOf`
   * admit them. Authors intend null beside a schema to be admitted, and objects that match two alternatives to match
   * one. That does not excuse a removed alternative (`isByConvention`: no keyword explains the values). A reader
   * already gets values that two alternatives named. A caller whose number is in two ranges is refused.
   */
  isOverlap({ before, after }: SchemaPair, direction: ProofDirection, isByConvention: boolean): boolean {
    const ofCallers = isByConvention ? 'slips-admitted' : 'null-admitted'
    const overlap = direction === 'widening' ? 'admitted' : ofCallers
    return this.#prover.isIncluded(before, after, { ...this.#question(direction, isByConvention), overlap })
  }

  #question(direction: ProofDirection, isByConvention: boolean): InclusionQuestion {
    const convention = direction === 'narrowing' ? 'described-by-super' : 'described-by-sub'
    return {
      direction,
      usage: this.direction,
      convention: isByConvention ? convention : 'none',
      overlap: 'refused',
      isText: !this.#isTyped,
    }
  }

  get directions(): readonly ProofDirection[] {
    return QUESTIONS[this.direction]
  }
}

/** A change that is found at a use, and not at a keyword of its schema. */
const OF_THE_WHOLE = {
  isHeld: false,
  path: [],
  isRequired: null,
  isReadOnly: false,
  isWriteOnly: false,
  proved: NOTHING_PROVED,
} as const

/** A general finding, and the reason if it is at most a warning. */
interface General {
  readonly reached: Reached
  readonly words: string | null
}

/**
 * General findings at the smallest pairs whose values are not all kept, or not all known, and that no change explains.
 */
function uncovered(
  start: SchemaPair,
  proofs: Proofs,
  alarms: ReadonlyMap<SchemaPair, Alarm>,
  direction: UseDirection,
): readonly General[] {
  return proofs.directions.flatMap((proof) => {
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
}

const NO_NAMES: ReadonlySet<string | null> = new Set()

/** The names of properties that were removed. */
function removedNames({ deltas }: SchemaPair): ReadonlySet<string | null> {
  const all = deltas.flatMap((entry) => ('each' in entry ? [...entry.each()] : [entry]))
  return new Set(all.filter(isPropertyRemoval).map(({ name }) => name))
}

/** The pair with some names that are on both sides names like any other. */
function withoutNames(pair: SchemaPair, names: ReadonlySet<string | null>): SchemaPair {
  const { before } = pair
  const { value } = before
  const properties = Object.entries(membersOf(value, 'properties')).filter(([name]) => !names.has(name))
  const required = textsOf(value.required).filter((name) => !names.has(name))
  return { ...pair, before: { ...before, value: { ...value, properties: Object.fromEntries(properties), required } } }
}

/** Alternatives and positions, which come or go as a whole. */
const WHOLES = ['anyOf', 'oneOf', 'prefixItems', 'items'] as const

/** The pair with only the alternatives and positions that the side that refuses has alone. */
function withWholesOnly(pair: SchemaPair, proof: ProofDirection): SchemaPair {
  const [refusing, other] = proof === 'narrowing' ? [pair.after, pair.before] : [pair.before, pair.after]
  const own = WHOLES.filter((keyword) => Array.isArray(refusing.value[keyword]) && !Array.isArray(other.value[keyword]))
  const alone = { ...refusing, value: Object.fromEntries(own.map((keyword) => [keyword, refusing.value[keyword]])) }
  return proof === 'narrowing' ? { ...pair, after: alone } : { ...pair, before: alone }
}

/** The pairs reached through pairs whose values are not all kept, or not all known, with the shortest path to each. */
function brokenFrom(
  start: SchemaPair,
  proofs: Proofs,
  proof: ProofDirection,
  direction: UseDirection,
): ReadonlyMap<SchemaPair, readonly string[]> {
  const broken = new Map<SchemaPair, readonly string[]>()
  const seen = new Set<SchemaPair>()
  const open: { readonly pair: SchemaPair; readonly path: readonly string[] }[] = [{ pair: start, path: [] }]
  // Grows during iteration.
  for (const { pair, path } of open) {
    if (seen.has(pair) || proofs.isUntouched(pair)) continue
    seen.add(pair)
    if (proofs.isKept(pair, proof)) continue
    broken.set(pair, path)
    for (const { to, steps } of pair.edges)
      if (!isUnused(to, direction)) open.push({ pair: to, path: [...path, ...steps] })
  }
  return broken
}

function isUnused({ after }: SchemaPair, direction: UseDirection): boolean {
  if (direction === 'request') return after.value.readOnly === true
  return direction === 'response' && after.value.writeOnly === true
}

/**
 * The general finding at a pair; none if its values are all kept, or all known.
 * @param asked the pair, or the part of it that the finding is about
 */
function generalsOf(
  pair: SchemaPair,
  path: readonly string[],
  proof: ProofDirection,
  proofs: Proofs,
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
      words: letter === 'overlap' ? OVERLAP_WORDS[proof] : null,
    },
  ]
}
