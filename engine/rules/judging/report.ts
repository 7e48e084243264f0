/**
 * The report of a comparison, in every format: the changes that walkers report become findings. It asks for the rule of
 * a change, fills in its sentence, groups the places that it reaches, and counts the elements that it touches.
 */
import type { FindingGroup, Level } from '../../model/finding.ts'
import type { ComparisonStats } from '../../model/format.ts'
import type { SchemaComparison, SchemaPair } from '../../schema/comparison/comparison.ts'
import { MAX_WAYS, type Reached } from '../../schema/comparison/reachable-changes.ts'
import type { SchemaDelta } from '../../schema/delta.ts'
import { pointerOf, stepInto, type Place, writtenPointer } from '../../schema/located.ts'
import type { ResolvedSchema } from '../../schema/source.ts'
import type { Advice } from '../advice.ts'
import { Grouping, type GroupingOptions } from '../findings/grouping.ts'
import {
  isPlainer,
  ReportedChange,
  ReportedPlace,
  type JudgedChange,
  type ReachedPlace,
} from '../findings/judged-change.ts'
import { mostPlaces } from '../findings/listing.ts'
import { NameCount } from '../findings/name-count.ts'
import { filledIn, type Judge, type Words } from '../row.ts'
import type { Rule, Variance } from '../rule.ts'
import type { SchemaUse } from './schema-judge.ts'
import { SchemaProofs } from './schema-proofs.ts'
import { judgeUse, type JudgedUse } from './schema-use.ts'

/** Above this number of places, one path is reported for each further change. */
const MANY = 50_000
/** Maximum changes that are recognised by the compared object. */
const MAX_KNOWN = 20_000

/** Names of elements that a change touches. Each name counts once. */
export interface Touched {
  readonly endpoint?: string | null
  readonly field?: string | null
  readonly param?: string | null
}

/** A change outside schemas. */
interface RowChange extends Pick<JudgedChange, 'subject' | 'side' | 'location' | 'mark'> {
  readonly before?: unknown
  readonly after?: unknown
  /** Further values that the sentence of the row names. They replace `before` and `after` there. */
  readonly facts?: Words
  /** What else is said of the change. */
  readonly note?: string
  readonly places: (message: string, rule: Rule) => readonly ReachedPlace[]
  readonly touches: (rule: Rule, place: ReachedPlace) => Touched
  /** Places that are only counted, and the operations that the change reaches there. */
  readonly further?: { readonly places: number; readonly endpoints: () => Iterable<{ readonly path: string }> }
}

/** A pair of schemas at a place that uses it. */
export interface ReportedUse {
  readonly pair: SchemaPair
  readonly use: SchemaUse
  /** Steps shown before those of the schema. */
  readonly lead?: readonly string[]
  /** Changes that are left out, because another walker reports them. */
  readonly skips?: (pair: SchemaPair) => boolean
  /** The changed element. If absent, its place in the document: a change of a shared schema is then one change. */
  readonly subjectOf?: (reached: Reached) => string
  /** Whether the base contains the changed element. If absent, a change without a value after. */
  readonly isGone?: (delta: SchemaDelta) => boolean
  readonly placeOf: (judged: JudgedUse) => ReachedPlace
  readonly touches: (judged: JudgedUse) => Touched
}

interface ReportOptions<Named> extends GroupingOptions, Judge<Named> {
  /** Gives the pointer into a document that was read from another form. */
  readonly sourceOf?: Readonly<Record<'base' | 'head', (pointer: string) => string>>
}

export class Report<Named> {
  readonly #options: ReportOptions<Named>
  readonly #grouping: Grouping
  readonly #touched: Readonly<Record<'endpoints' | 'fields' | 'params', NameCount>>
  /** The fields of places that were left. */
  #fieldsBefore = 0
  readonly #known = new Map<SchemaDelta, SchemaChange | Map<string, SchemaChange>>()
  readonly #proofs = new WeakMap<SchemaComparison, SchemaProofs>()
  #hasBreaking = false
  #places = 0

  constructor(options: ReportOptions<Named>) {
    this.#options = options
    this.#grouping = new Grouping(options)
    const count = (): NameCount => new NameCount(options.sha256)
    this.#touched = { endpoints: count(), fields: count(), params: count() }
  }

  /** True if a finding is breaking. */
  get hasBreaking(): boolean {
    return this.#hasBreaking
  }

  get touched(): ComparisonStats['touched'] {
    const { endpoints, fields, params } = this.#touched
    return { endpoints: endpoints.size, fields: this.#fieldsBefore + fields.size, params: params.size }
  }

  finish(): readonly FindingGroup[] {
    this.#known.clear()
    return this.#grouping.finish()
  }

  /** The places that each of several changes may list, if they have so many together. */
  mostPlaces(changes: number, places: number): number {
    return mostPlaces(changes, places)
  }

  /** Reports a change outside schemas. */
  add(change: Named & RowChange): void {
    const { subject, side, location, mark, before = null, after = null, facts, note, places, touches, further } = change
    const words: Words = { before, after, ...facts }
    const { rowOf, sourceOf } = this.#options
    const row = rowOf(change, words)
    if ('noRule' in row || this.#grouping.isOff(row.rule.id)) return
    const { rule, advice } = row
    const message = [filledIn(row, words), ...(note === undefined ? [] : [note])].join('; ')
    const written = writtenPointer(location)
    const source = sourceOf?.[side](written) ?? written
    const whole = { rule, subject, side, location: source, mark, message, advice, before, after }
    const reported = new ReportedChange(whole)
    const isCounted = this.#isCounted(rule, rule.level)
    for (const place of places(message, rule)) {
      this.#grouping.add(reported, new ReportedPlace(place))
      if (isCounted) this.#count(touches(rule, place))
    }
    if (further === undefined || further.places === 0) return
    this.#grouping.addUnlisted(reported, further.places)
    if (isCounted) for (const { path } of further.endpoints()) this.#count({ endpoint: path })
  }

  /** Reports every change that a schema in use reaches. The comparison of its document is complete. */
  addUse(use: ReportedUse, comparison: SchemaComparison): void {
    const proofs = this.#proofs.get(comparison) ?? new SchemaProofs(comparison)
    this.#proofs.set(comparison, proofs)
    const maxWays = this.#places < MANY ? MAX_WAYS : 1
    judgeUse({ ...use, proofs, maxWays }, (judged) => {
      this.#places += 1
      this.#grouping.add(this.#changeOf(judged, use), new ReportedPlace(use.placeOf(judged)))
      if (this.#isCounted(judged.ruleRow, judged.level)) this.#count(use.touches(judged))
    })
  }

  /**
   * The place and fields reported so far will not be reported again, so a flood of changes need not be remembered.
   */
  leavePlace(): void {
    const { fields } = this.#touched
    this.#fieldsBefore += fields.size
    fields.clear()
    this.#grouping.leavePlace()
  }

  /** One change under one rule is one object, so its identity is computed once. */
  #changeOf(judged: JudgedUse, use: ReportedUse): JudgedChange {
    const { reached, ruleRow: rule, message, level } = judged
    const { delta, isHeld } = reached
    const isOne = isHeld && level === undefined && use.subjectOf === undefined
    if (!isOne) return new SchemaChange(judged, use, this.#options)
    const known = this.#known.get(delta)
    const change = known instanceof Map ? known.get(rule.id) : known?.rule === rule ? known : undefined
    if (change !== undefined) {
      if (isPlainer(message, change.message)) change.message = message
      return change
    }
    const made = new SchemaChange(judged, use, this.#options)
    // Not all changes of a flood are kept. Grouping then recognises the change by its identity and selects the message.
    if (this.#known.size >= MAX_KNOWN) return made
    if (known instanceof Map) known.set(rule.id, made)
    else this.#known.set(delta, known === undefined ? made : new Map([known, made].map((one) => [one.rule.id, one])))
    return made
  }

  /** Whether the finding counts as touching something: by its level in force. */
  #isCounted(rule: Rule, proved: Level = rule.level): boolean {
    const level = this.#grouping.levelOf(rule.id, proved)
    if (level === 'breaking') this.#hasBreaking = true
    return level !== 'info' && level !== 'off'
  }

  #count({ endpoint = null, field = null, param = null }: Touched): void {
    if (endpoint !== null) this.#touched.endpoints.add(endpoint)
    if (field !== null) this.#touched.fields.add(field)
    if (param !== null) this.#touched.params.add(param)
  }
}

type SchemaChangeOptions = Pick<ReportOptions<never>, 'adviceOf' | 'sourceOf'>

/** A schema change whose message is still being chosen. */
class SchemaChange implements JudgedChange {
  readonly rule: Rule
  readonly level?: Level
  readonly subject: string
  readonly side: 'base' | 'head'
  message: string
  readonly #delta: SchemaDelta
  readonly #owner: ResolvedSchema
  readonly #variance: Variance
  readonly #options: SchemaChangeOptions

  constructor(
    { reached, ruleRow, message, level }: JudgedUse,
    { use, subjectOf, isGone = hasNoValueAfter }: ReportedUse,
    options: SchemaChangeOptions,
  ) {
    const { delta, pair } = reached
    this.side = isGone(delta) ? 'base' : 'head'
    this.#delta = delta
    this.#owner = this.side === 'base' ? pair.before : pair.after
    this.#variance = use.sites.root.direction
    this.#options = options
    this.rule = ruleRow
    if (level !== undefined) this.level = level
    this.subject = subjectOf?.(reached) ?? ownSubject(this.#owner, delta)
    this.message = message
  }

  /** Computed on demand, as the advice: most changes of a flood are only counted. */
  get location(): string {
    const place = this.#delta.steps.reduce<Place>(stepInto, this.#owner.at)
    const pointer = writtenPointer(pointerOf(place, this.#owner.document))
    return this.#options.sourceOf?.[this.side](pointer) ?? pointer
  }

  get advice(): Advice {
    return this.#options.adviceOf(this.rule, this.#variance)
  }

  get before(): unknown {
    return this.#delta.before
  }

  get after(): unknown {
    return this.#delta.after
  }
}

function ownSubject({ at, document }: ResolvedSchema, { keyword, name }: SchemaDelta): string {
  return `${pointerOf(at, document)} ${keyword} ${name ?? ''}`
}

function hasNoValueAfter({ before, after }: SchemaDelta): boolean {
  return after === null && before !== null
}
