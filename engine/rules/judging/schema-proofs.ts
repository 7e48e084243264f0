/**
 * The proofs about the schemas of one comparison, and what they answer about one use: whether values are lost, or new,
 * and whether only formally.
 */
import type { SchemaComparison, SchemaPair } from '../../schema/comparison/comparison.ts'
import type { SchemaSources } from '../../schema/examination.ts'
import type { Inclusion, InclusionProver, ProofDirection, InclusionQuestion } from '../../schema/inclusion/inclusion.ts'
import { isProvedApart, type Proved } from '../../schema/comparison/reachable-changes.ts'
import { isRecord, memberOf, type Located } from '../../schema/located.ts'
import { RequiredNames } from '../../schema/required-names.ts'
import type { ResolvedSchema } from '../../schema/source.ts'
import { typesOf } from '../../schema/types.ts'
import type { UseDirection } from '../../schema/sites.ts'
import { asIfFilled, withoutValues } from './filled-properties.ts'
import { mayAlarm, needsEquality } from './provable.ts'

/** The proofs about the schemas of one comparison. Create it after all of them are compared. */
export class SchemaProofs {
  readonly prover: InclusionProver
  readonly #comparison: SchemaComparison
  /** The names that were required before the change. */
  readonly required: RequiredNames
  #alarming: ReadonlySet<SchemaPair> | null = null
  #formal: ReadonlySet<SchemaPair> | null = null
  #apart: ReadonlySet<SchemaPair> | null = null
  readonly #uses = new Map<string, UseProofs>()

  constructor(comparison: SchemaComparison) {
    this.#comparison = comparison
    this.prover = comparison.prover
    this.required = new RequiredNames(comparison.sources.before)
  }

  get sources(): SchemaSources {
    return this.#comparison.sources
  }

  /** @param isTyped values are written with their types, and not as text */
  of(direction: UseDirection, isTyped: boolean): UseProofs {
    const key = `${direction} ${isTyped}`
    const proofs = this.#uses.get(key) ?? new UseProofs(this, direction, isTyped)
    this.#uses.set(key, proofs)
    return proofs
  }

  mayDiffer(pair: SchemaPair): boolean {
    return this.#comparison.mayDiffer(pair)
  }

  /** Whether the pair reaches a change that a proof may call harmless. */
  isAlarming(pair: SchemaPair): boolean {
    this.#alarming ??= this.#comparison.reaching(({ deltas }) => deltas.some(mayAlarm))
    return this.#alarming.has(pair)
  }

  /** Whether the pair reaches schemas that no proof about it covers. */
  reachesApart(pair: SchemaPair): boolean {
    this.#apart ??= this.#comparison.reaching((one) => one.edges.some(({ steps: [step] }) => isProvedApart(one, step)))
    return this.#apart.has(pair)
  }

  /** Whether the pair reaches a change that only a proof of equality may call harmless. */
  isFormal(pair: SchemaPair): boolean {
    this.#formal ??= this.#comparison.reaching(({ deltas }) =>
      deltas.some((entry) => 'each' in entry || needsEquality(entry)),
    )
    return this.#formal.has(pair)
  }
}

/** The inclusions that matter to the users of a schema. */
const QUESTIONS: Readonly<Record<UseDirection, readonly ProofDirection[]>> = {
  request: ['narrowing'],
  response: ['widening'],
  shared: ['narrowing', 'widening'],
}

/** What a text without types stands for: a scalar, or a scalar and the list that holds only it. */
export type ScalarText = 'a scalar' | 'a list of one'

/** Why a difference is only formal. `null`: tools read `nullable` in two ways. */
export type Letter = 'names' | 'overlap' | 'null'

type Answers = Map<SchemaPair, boolean>

/** The proofs about schemas in one kind of use. Many paths lead to a pair, so what is asked of each of them is kept. */
export class UseProofs {
  readonly #all: SchemaProofs
  readonly #prover: InclusionProver
  readonly direction: UseDirection
  readonly #isTyped: boolean
  readonly #included: Readonly<Record<ScalarText | 'none', Readonly<Record<ProofDirection, Answers>>>> = {
    none: { narrowing: new Map(), widening: new Map() },
    'a scalar': { narrowing: new Map(), widening: new Map() },
    'a list of one': { narrowing: new Map(), widening: new Map() },
  }
  readonly #admitting: Answers = new Map()
  readonly #emptied: Answers = new Map()
  readonly #hollowed: Answers = new Map()

  /** Use `SchemaProofs.of`. */
  constructor(all: SchemaProofs, direction: UseDirection, isTyped: boolean) {
    this.#all = all
    this.#prover = all.prover
    this.direction = direction
    this.#isTyped = isTyped
  }

  /** Whether the schemas are written the same, with all that they hold. */
  isUntouched(pair: SchemaPair): boolean {
    return !this.#all.mayDiffer(pair)
  }

  /** Whether the pair reaches schemas that no proof about it covers. */
  reachesApart(pair: SchemaPair): boolean {
    return this.#all.reachesApart(pair)
  }

  /**
   * What is proved of a pair without any convention, so that a finding may rely on it.
   * @param text how values are scalars in a text without types: those of different types may have one text
   */
  of(pair: SchemaPair, above: Proved, text: ScalarText | null): Proved {
    const [first = 'narrowing', second] = QUESTIONS[this.direction]
    const isKnown = { narrowing: above.keepsAll, widening: above.addsNone }
    isKnown[first] ||= this.#keptIncluded(pair, first, text)
    const other = first === 'narrowing' ? 'widening' : 'narrowing'
    // An inclusion that matters to no user is requested only where equality helps.
    if (second !== undefined || (isKnown[first] && this.#all.isFormal(pair)))
      isKnown[other] ||= this.#keptIncluded(pair, other, text)
    const { narrowing: keepsAll, widening: addsNone } = isKnown
    if (keepsAll === above.keepsAll && addsNone === above.addsNone) return above
    return { keepsAll, addsNone, isEmpty: !kept(this.#admitting, pair, () => this.#admitsAny(pair, 'narrowing')) }
  }

  #keptIncluded(pair: SchemaPair, direction: ProofDirection, text: ScalarText | null): boolean {
    const answers = this.#included[text ?? 'none']
    return kept(answers[direction], pair, () => this.#isIncluded(pair, direction, text))
  }

  #isIncluded(pair: SchemaPair, direction: ProofDirection, text: ScalarText | null): boolean {
    const { before, after } = pair
    const question = this.#question(direction, false)
    const isTextIncluded =
      text === 'a list of one'
        ? this.ask(pair, direction).kind === 'included'
        : text !== null && this.#prover.isTextIncluded(before, after, question)
    if (!isTextIncluded && !this.#prover.isIncluded(before, after, question)) return false
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
  hasValue({ before, after }: Readonly<Record<'before' | 'after', Located>>): boolean {
    return this.#prover.hasValue(before, after, this.#question('narrowing', false))
  }

  /** Whether values were admitted, and none is any more. */
  losesAll(pair: SchemaPair): boolean {
    return kept(this.#emptied, pair, () => !this.#hasValueAfter(pair) && this.hasValue(pair))
  }

  /** Whether there were lists with items, or objects with members, and only empty ones are left. */
  losesContent(pair: SchemaPair): boolean {
    return kept(this.#hollowed, pair, () =>
      CONTENTS.some(([type, count]) => {
        const [before, after] = [ofType(pair.before, type), ofType(pair.after, type)]
        if (before === null || after === null) return false
        const full = { ...pair, before: withAtLeast(before, count), after: withAtLeast(after, count) }
        return this.losesAll(full) && this.#hasValueAfter({ before, after })
      }),
    )
  }

  #hasValueAfter({ before, after }: Readonly<Record<'before' | 'after', Located>>): boolean {
    return this.#prover.hasValue(before, after, this.#question('widening', false))
  }

  /** Whether an object refuses a name from now on that it had no schema for, because nothing is admitted under the name. */
  forbids(pair: SchemaPair, name: string | null): boolean {
    const properties = memberOf(pair.after, 'properties')
    const member = properties === null || name === null ? null : memberOf(properties, name)
    if (member === null || this.#hasValueAfter({ before: pair.before, after: member })) return false
    return !this.#prover.isIncluded(pair.before, pair.after, this.#question('narrowing', false))
  }

  /** Whether an object that gets a new property by its default may be refused for that. */
  mayRefuseFilled({ before, after }: SchemaPair, name: string | null): boolean {
    if (name === null || this.#all.sources.after.fillsDefaults !== true) return false
    const properties = memberOf(after, 'properties')
    const property = properties && memberOf(properties, name)
    if (((property && memberOf(property, 'default'))?.value ?? null) === null) return false
    const filled = asIfFilled(after.value, name)
    if (filled === null) return true
    const others = before.value.additionalProperties ?? this.#all.sources.before.prunes !== true
    const value = { ...before.value, properties: withoutValues(before.value, name), additionalProperties: others }
    const lacking = { ...before, value }
    return !this.#prover.isIncluded(lacking, { ...after, value: filled }, this.#question('narrowing', false))
  }

  /** Whether an object that drops names it does not list allows them expressly. */
  keepsUnlisted({ after }: SchemaPair): boolean {
    const { additionalProperties } = after.value
    return this.#all.sources.after.prunes === true && (additionalProperties === true || isRecord(additionalProperties))
  }

  /** Whether no value from before is admitted any more, though there were some. */
  areApart(pair: SchemaPair): boolean {
    if (!this.#isTyped || !this.hasValue(pair)) return false
    return this.#prover.areApart(pair.before, pair.after, this.#question('narrowing', false))
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

  /** Whether both sides name the same formats: what these admit is not known. */
  hasSameFormats({ before, after }: SchemaPair): boolean {
    return this.#prover.hasSameFormats(before, after, this.#question('narrowing', false))
  }

  /** Whether the schema before had a property that no value could hold: nobody sent or read it. */
  wasNever({ before }: SchemaPair, name: string | null): boolean {
    const properties = memberOf(before, 'properties')
    const member = properties === null || name === null ? null : memberOf(properties, name)
    return member !== null && !this.hasValue({ before: member, after: member })
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
  letterOf(pair: SchemaPair, direction: ProofDirection): Letter | null {
    const question = this.#question(direction, true)
    if (this.#prover.ask(pair.before, pair.after, question).kind === 'included') return 'names'
    if (this.isOverlap(pair, direction, true)) return 'overlap'
    return this.isNullOfReaders(pair, direction) ? 'null' : null
  }

  /**
   * Whether a contract moves from or to OpenAPI 3.0, and all values that are lost, or new, are null beside other conditions. By
   * 3.0.3 §4.7.24.1 `nullable` adds null to the type beside it, and not to what they admit. Many tools read it so.
   */
  isNullOfReaders({ before, after }: SchemaPair, direction: ProofDirection): boolean {
    const { sources } = this.#all
    if (sources.before.dialect === sources.after.dialect) return false
    if (![sources.before, sources.after].some(({ dialect }) => dialect === 'openapi-3.0')) return false
    return this.#prover.isIncluded(before, after, { ...this.#question(direction, true), isNullOfType: true })
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

function kept(answers: Answers, pair: SchemaPair, ask: () => boolean): boolean {
  const known = answers.get(pair)
  if (known !== undefined) return known
  const answer = ask()
  answers.set(pair, answer)
  return answer
}

/** Types of values that hold others, with the keyword for how many at least. */
const CONTENTS = [
  ['array', 'minItems'],
  ['object', 'minProperties'],
] as const

/** A schema of those of its values that are of a type; null where its types exclude that one. */
function ofType(schema: ResolvedSchema, type: string): ResolvedSchema | null {
  const types: readonly string[] = typesOf(schema.value)
  return types.length === 0 || types.includes(type) ? { ...schema, value: { ...schema.value, type } } : null
}

/** A schema of those of its values that hold one value at least. */
function withAtLeast(schema: ResolvedSchema, count: string): ResolvedSchema {
  const stated = schema.value[count]
  return { ...schema, value: { ...schema.value, [count]: typeof stated === 'number' && stated > 1 ? stated : 1 } }
}
