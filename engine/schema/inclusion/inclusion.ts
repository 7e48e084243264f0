/**
 * Whether every value that one schema admits is admitted by another: `included`, `refuted` by a value, or `unknown` with
 * what stopped the search. Steps bound the search, not time: the answer is the same on every machine and for every order
 * of keys.
 */
import type { SchemaSources } from '../examination.ts'
import type { Located } from '../located.ts'
import type { SchemaSource } from '../source.ts'
import { BOUND } from './answer.ts'
import { Coverage } from './coverage.ts'
import { hasEvidentValue } from './evident-values.ts'
import { Likeness } from './likeness.ts'
import { met, unmet } from './atoms.ts'
import { decidingMembers, newAlternatives, pairedAlternatives } from './members.ts'
import type { Convention } from './mentions.ts'
import { constraintsWithin, type SchemaNode } from './model.ts'
import { SchemaNodes, type Numbering, type Overlap, type Usage } from './nodes.ts'
import { PairMap } from './pair-map.ts'
import { Sameness } from './sameness.ts'
import { Search, type Steps } from './search.ts'
import { looseTexts, surelyReadTexts, textSchemas } from './text-nodes.ts'
import { separatesText } from './texts.ts'

export type Inclusion =
  | { readonly kind: 'included' }
  | { readonly kind: 'refuted'; readonly value: unknown }
  | { readonly kind: 'unknown'; readonly why: string }

/** `narrowing`: are the values from before still admitted? `widening`: were the values of now admitted before? */
export type ProofDirection = 'narrowing' | 'widening'

export interface InclusionQuestion {
  readonly direction: ProofDirection
  readonly usage: Usage
  readonly convention: Convention
  readonly overlap: Overlap
  /** The values are written as text, in which types are not distinguished. */
  readonly isText: boolean
  /** `nullable` of OpenAPI 3.0 adds null to the type beside it, and does nothing else. Absent: it is about the whole. */
  readonly isNullOfType?: boolean
}

/** Why there is no answer where readers may take the text that was found for several values. */
const SEVERAL_READINGS = 'a text that readers may take for several values'

/** Steps for one question, and for all questions about two documents. */
const STEPS = 2_500
const ALL_STEPS = 1_000_000

/** Members within members that are looked into before the whole. */
const MAX_NESTED = 60

interface Proof {
  readonly answers: PairMap<Inclusion>
  /** Of values that are written as text. */
  readonly textAnswers: PairMap<Inclusion>
  /** Whether every text of a scalar is admitted. */
  readonly includedTexts: PairMap<boolean>
  /** Pairs whose answer is not `included`, as that of a member is not. */
  readonly missed: PairMap<true>
  readonly sub: SchemaNodes
  readonly super: SchemaNodes
  readonly isSame: (one: SchemaNode, two: SchemaNode) => boolean
  readonly isWithin: (one: SchemaNode, two: SchemaNode) => boolean
  readonly search: Search
  /** About the same nodes without a convention; null for one that has none. */
  readonly plain: Proof | null
}

/** The pairs that are being decided, each because of a member of the one before. */
class OpenPairs {
  readonly #pairs = new PairMap<boolean>()
  depth = 0

  has(sub: SchemaNode, other: SchemaNode): boolean {
    return this.#pairs.get(sub, other) === true
  }

  open(sub: SchemaNode, other: SchemaNode): void {
    this.#pairs.set(sub, other, true)
    this.depth += 1
  }

  close(sub: SchemaNode, other: SchemaNode): void {
    this.#pairs.set(sub, other, false)
    this.depth -= 1
  }
}

/** Answers questions about schemas of two documents. */
export class InclusionProver {
  readonly #sources: SchemaSources
  readonly #sameness: Sameness
  readonly #proofs = new Map<string, Proof>()
  readonly #steps: Steps = { own: 0, all: ALL_STEPS }

  constructor(sources: SchemaSources) {
    this.#sources = sources
    this.#sameness = new Sameness(sources)
  }

  /** Whether two schemas are written the same, but for annotations. */
  isSame(before: Located, after: Located): boolean {
    return this.#sameness.isSame(before, after)
  }

  ask(before: Located, after: Located, question: InclusionQuestion): Inclusion {
    const proof = this.#proofOf(question)
    const [base, head] = sidesOf(proof, before, after, question)
    return this.#answer(base, head, proof, question.isText)
  }

  /**
   * Whether the answer is `included`. An object or a list that only holds members is not included when one member is
   * not. A choice is not when a value that refutes one alternative refutes it too. Then no value of the whole is
   * searched. Of values that are written as text, their texts must be included too.
   */
  isIncluded(before: Located, after: Located, question: InclusionQuestion): boolean {
    const proof = this.#proofOf(question)
    const [base, head] = sidesOf(proof, before, after, question)
    if (!this.#isIncluded(base, head, proof, new OpenPairs())) return false
    return !question.isText || this.#answer(base, head, proof, true).kind === 'included'
  }

  /** Whether every text that a value is written as is admitted, whatever types the two sides name. Of scalars only. */
  isTextIncluded(before: Located, after: Located, question: InclusionQuestion): boolean {
    const proof = this.#proofOf(question)
    const [base, head] = sidesOf(proof, before, after, question)
    return isTextIncluded(base, head, proof)
  }

  #isIncluded(sub: SchemaNode, other: SchemaNode, proof: Proof, open: OpenPairs): boolean {
    if (proof.missed.get(sub, other) === true) return false
    // Where no value is missed, none is by a convention, which only leaves values out.
    if (proof.plain?.answers.get(sub, other)?.kind === 'included') return true
    if (proof.answers.get(sub, other) === undefined && open.depth < MAX_NESTED) {
      open.open(sub, other)
      const isMissed = decidingMembers(sub, other).some(([one, two]) => this.#isMissed(one, two, proof, open))
      // Of a schema that admits nothing every value is admitted, whatever its members are.
      const isRefuted =
        (isMissed && isSurelyMet(sub, proof)) || (!isMissed && this.#isRefutedByAlternative(sub, other, proof, open))
      open.close(sub, other)
      if (isRefuted) {
        proof.missed.set(sub, other, true)
        return false
      }
    }
    return this.#answer(sub, other, proof, false).kind === 'included'
  }

  /** Whether a member is not included. One that holds itself shows nothing of itself. */
  #isMissed(sub: SchemaNode, other: SchemaNode, proof: Proof, open: OpenPairs): boolean {
    if (other.isOpen || proof.isWithin(sub, other)) return false
    return !open.has(sub, other) && !this.#isIncluded(sub, other, proof, open)
  }

  /**
   * Whether a value that refutes one pair of alternatives, or that a new alternative admits, refutes the two choices. The pair is asked about in any case where the choices are not included, and its search is the smaller
   * one.
   */
  #isRefutedByAlternative(sub: SchemaNode, other: SchemaNode, proof: Proof, open: OpenPairs): boolean {
    const { isWithin, search } = proof
    const isRefutedByPair = pairedAlternatives(sub, other).some(([one, two]) => {
      if (isWithin(one, two) || open.has(one, two)) return false
      const answer = this.#answer(one, two, proof, false)
      return answer.kind === 'refuted' && search.separates(sub, other, answer.value, STEPS)
    })
    if (isRefutedByPair) return true
    return newAlternatives(sub, other, isWithin).some((one) => {
      const answer = search.ask([met(one)], STEPS)
      return answer.kind === 'sat' && search.separates(sub, other, answer.value, STEPS)
    })
  }

  #answer(sub: SchemaNode, other: SchemaNode, proof: Proof, isText: boolean): Inclusion {
    const all = isText ? proof.textAnswers : proof.answers
    const known = all.get(sub, other)
    if (known !== undefined) return known
    const answer = isText ? searchTexts(sub, other, proof) : searchInclusion(sub, other, proof.search)
    all.set(sub, other, answer)
    return answer
  }

  /** Whether two schemas are the same conditions, however they are written. */
  isAlike(before: Located, after: Located, question: InclusionQuestion): boolean {
    const { sub, super: other, isSame } = this.#proofOf(question)
    const [one, two] = question.direction === 'narrowing' ? [before, after] : [after, before]
    return isSame(sub.at(one), other.at(two))
  }

  /** Whether it is proved that no value meets both schemas. */
  areApart(before: Located, after: Located, question: InclusionQuestion): boolean {
    const proof = this.#proofOf(question)
    const [sub, other] = sidesOf(proof, before, after, question)
    return proof.search.ask([met(sub), met(other)], STEPS).kind === 'unsat'
  }

  /** Whether two schemas name the same formats, on whatever branch. Of two languages some formats are read as none. */
  hasSameFormats(before: Located, after: Located, question: InclusionQuestion): boolean {
    if (this.#sources.before.dialect !== this.#sources.after.dialect) return false
    const [base, head] = sidesOf(this.#proofOf(question), before, after, question).map(formatsOf)
    return base !== undefined && head !== undefined && base.symmetricDifference(head).size === 0
  }

  /** Whether the schema before refuses a text in a request, whatever value it is read as. False where it is not known. */
  refusesText(before: Located, text: string): boolean {
    const proof = this.#proofOf({
      direction: 'narrowing',
      usage: 'request',
      convention: 'none',
      overlap: 'refused',
      isText: true,
    })
    return proof.search.refusesText(proof.sub.at(before), text, STEPS)
  }

  /** Whether the schema after names a member or has a pattern for its name, on any branch. */
  describes(after: Located, question: InclusionQuestion, name: string): boolean {
    const proof = this.#proofOf(question)
    return proof.search.describes((question.direction === 'narrowing' ? proof.super : proof.sub).at(after), name)
  }

  /** Whether the schema whose values are looked for admits any value; true where it is not known. */
  hasValue(before: Located, after: Located, question: InclusionQuestion): boolean {
    const proof = this.#proofOf(question)
    const [sub] = sidesOf(proof, before, after, question)
    const sought = question.isText ? looseTexts(sub, proof) : sub
    return hasEvidentValue(sought) || proof.search.ask([met(sought)], STEPS).kind !== 'unsat'
  }

  #proofOf(question: InclusionQuestion): Proof {
    const key = questionKey(question)
    const proof = this.#proofs.get(key) ?? this.#prepare(question)
    this.#proofs.set(key, proof)
    return proof
  }

  /** Questions that differ by convention only are about the same nodes. */
  #prepare(question: InclusionQuestion): Proof {
    const { convention } = question
    if (convention === 'none') return this.#prepareNodes(question)
    const plain = this.#proofOf({ ...question, convention: 'none' })
    const { sub, isWithin, search: plainSearch } = plain
    const search = new Search(sub, { convention, isWithin, plain: plainSearch, steps: this.#steps })
    return { ...plain, ...answers(), search, plain }
  }

  #prepareNodes({ direction, usage, overlap, isNullOfType = false }: InclusionQuestion): Proof {
    const { before, after } = this.#sources
    const [sub, other]: readonly [SchemaSource, SchemaSource] =
      direction === 'narrowing' ? [before, after] : [after, before]
    const numbering: Numbering = { next: 1 }
    const shared = { usage, overlap, numbering, isNullOfType }
    const subNodes = new SchemaNodes({ ...shared, side: 'sub', source: sub, isAnyLanguage: false })
    const isAnyLanguage = sub.dialect !== other.dialect
    const superNodes = new SchemaNodes({ ...shared, side: 'super', source: other, isAnyLanguage })
    const likeness = new Likeness()
    const coverage = new Coverage((one, two) => this.#isSameNode(one, two, direction))
    const known = new PairMap<number>()
    const isAlike = remembered(
      known,
      0,
      (one, two) => this.#isSameNode(one, two, direction) || likeness.isAlike(one, two),
    )
    const isCovered = remembered(known, 1, (one, two) => coverage.covers(one, two) || isAlike(one, two))
    const isSame = (one: SchemaNode, two: SchemaNode): boolean =>
      one.side !== two.side && (one.side === 'sub' ? isAlike(one, two) : isAlike(two, one))
    const isWithin = (one: SchemaNode, two: SchemaNode): boolean =>
      one.side !== two.side && (one.side === 'sub' ? isCovered(one, two) : isAlike(two, one))
    const search = new Search(subNodes, { convention: 'none', isWithin, plain: null, steps: this.#steps })
    return { ...answers(), sub: subNodes, super: superNodes, isSame, isWithin, search, plain: null }
  }

  #isSameNode(one: SchemaNode, two: SchemaNode, direction: ProofDirection): boolean {
    if (one.source === null || two.source === null) return false
    const isBefore = (one.side === 'sub') === (direction === 'narrowing')
    return isBefore ? this.#sameness.isSame(one.source, two.source) : this.#sameness.isSame(two.source, one.source)
  }
}

/**
 * The answers of a comparison of two nodes, each worked out once: a search asks about the same few again and again. All
 * comparisons of a pair share one number with two bits for each: whether it was made, and its answer.
 */
function remembered(
  known: PairMap<number>,
  place: number,
  compare: (sub: SchemaNode, other: SchemaNode) => boolean,
): typeof compare {
  const [made, answered] = [1 << (place * 2), 2 << (place * 2)]
  return (sub, other) => {
    const bits = known.get(sub, other) ?? 0
    if ((bits & made) !== 0) return (bits & answered) !== 0
    const answer = compare(sub, other)
    // The comparison may have added bits of another one.
    known.set(sub, other, (known.get(sub, other) ?? 0) | made | (answer ? answered : 0))
    return answer
  }
}

function formatsOf(node: SchemaNode): ReadonlySet<string> {
  return new Set(constraintsWithin(node).flatMap((one) => (one.kind === 'format' ? [`${one.of} ${one.name}`] : [])))
}

/** Questions that the same nodes answer. */
function questionKey({ direction, usage, convention, overlap, isNullOfType = false }: InclusionQuestion): string {
  return `${direction} ${usage} ${convention} ${overlap} ${isNullOfType}`
}

/** Nothing is answered yet. */
function answers(): Pick<Proof, 'answers' | 'textAnswers' | 'includedTexts' | 'missed'> {
  return { answers: new PairMap(), textAnswers: new PairMap(), includedTexts: new PairMap(), missed: new PairMap() }
}

function sidesOf(
  proof: Proof,
  before: Located,
  after: Located,
  { direction }: InclusionQuestion,
): readonly [sub: SchemaNode, other: SchemaNode] {
  const [sub, other] = direction === 'narrowing' ? [before, after] : [after, before]
  return [proof.sub.at(sub), proof.super.at(other)]
}

/** Whether some value is known to be admitted. What a convention leaves out may be required. */
function isSurelyMet(sub: SchemaNode, { plain, search }: Proof): boolean {
  return (plain === null && hasEvidentValue(sub)) || search.ask([met(sub)], STEPS).kind === 'sat'
}

function searchInclusion(sub: SchemaNode, other: SchemaNode, search: Search): Inclusion {
  const answer = search.ask([met(sub), unmet(other)], STEPS)
  if (answer.kind === 'open') return { kind: 'unknown', why: answer.why }
  return answer.kind === 'unsat' ? { kind: 'included' } : { kind: 'refuted', value: answer.value }
}

function isTextIncluded(sub: SchemaNode, other: SchemaNode, proof: Proof): boolean {
  const known = proof.includedTexts.get(sub, other)
  if (known !== undefined) return known
  const texts = surelyReadTexts(sub, other, proof)
  const isIncluded =
    texts !== null &&
    searchInclusion(texts.sub, texts.super, proof.search).kind === 'included' &&
    proof.search.ask([met(sub), met(proof.sub.oneOfValues([null])), unmet(other)], STEPS).kind === 'unsat'
  proof.includedTexts.set(sub, other, isIncluded)
  return isIncluded
}

function searchTexts(sub: SchemaNode, other: SchemaNode, proof: Proof): Inclusion {
  if (isTextIncluded(sub, other, proof)) return { kind: 'included' }
  const answer = searchAlike(sub, other, proof)
  // Another search would use up its steps, too.
  if (answer.kind === 'included' || (answer.kind === 'unknown' && answer.why === BOUND)) return answer
  // A text as `1.0` separates no integer from its digits: nobody writes it.
  const digits = textSchemas(sub, other, proof, 'alike in digits')
  return searchInclusion(digits.sub, digits.super, proof.search).kind === 'included' ? { kind: 'included' } : answer
}

function searchAlike(sub: SchemaNode, other: SchemaNode, proof: Proof): Inclusion {
  const { search } = proof
  const isShown = (answer: Inclusion): boolean =>
    answer.kind === 'refuted' && separatesText(sub, other, answer.value, search.evaluation)
  const texts = textSchemas(sub, other, proof, 'alike')
  if (texts.isAlikeRead) {
    const answer = searchInclusion(sub, other, search)
    if (answer.kind === 'included' || isShown(answer)) return answer
  }
  const answer = searchInclusion(texts.sub, texts.super, search)
  return answer.kind !== 'refuted' || isShown(answer) ? answer : { kind: 'unknown', why: SEVERAL_READINGS }
}
