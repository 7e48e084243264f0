/**
 * Two sides of a schema → a graph of schema pairs with what changed at each.
 *
 * Each pair of referenced schemas is examined once, however many places use it and in any order. Recursion through
 * references is an edge back into the graph, so recursive schemas compare coinductively: two schemas differ when a
 * difference can be reached from them. An unchanged schema that is written in place leaves no pair.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { compareKeywords, differingGroups } from '../keywords.ts'
import { compareSubtypes } from '../discriminator.ts'
import type { DeltaSeries, SchemaDelta } from '../delta.ts'
import type { ComparisonContext, SchemaSources } from '../examination.ts'
import type { JsonRecord, Located } from '../located.ts'
import { resolveSchema, type ResolvedSchema } from '../source.ts'
import { InclusionProver } from '../inclusion/inclusion.ts'
import { SelectingAlternatives } from '../selecting-alternatives.ts'
import { compareShapes, type ShapeAnswer } from '../shape.ts'

export interface SchemaEdge {
  /** The way down as people read it: `['items']`, `['address']`, `['oneOf[Cat]']`. */
  readonly steps: readonly string[]
  readonly to: SchemaPair
  /** Whether the property that leads down was required before the change; null when no property does. */
  readonly isRequired: boolean | null
}

/** A schema before and after, what changed at it, and the pairs below it. Read it only after `complete`. */
export interface SchemaPair {
  readonly before: ResolvedSchema
  readonly after: ResolvedSchema
  readonly deltas: readonly (SchemaDelta | DeltaSeries)[]
  readonly edges: readonly SchemaEdge[]
  /** True when a change can be reached from here; set by `complete`. */
  readonly isLive: boolean
  /** The same without what its discriminators select; set by `complete`. */
  readonly isLiveAsPart: boolean
  /** Stands for what the discriminators of the two schemas select. A schema that has the two as a part selects by itself. */
  readonly isSelection: boolean
}

interface OpenPair {
  before: ResolvedSchema
  after: ResolvedSchema
  deltas: (SchemaDelta | DeltaSeries)[]
  edges: SchemaEdge[]
  /** The first of those that lead here: a pair that is written in place has no other, unless it leads back to itself. */
  parent: OpenPair | null
  otherParents: OpenPair[]
  /** Those that have it as a part by `allOf`. */
  wholes: OpenPair[]
  isLive: boolean
  isLiveAsPart: boolean
  readonly isSelection: boolean
}

/** More changes than these that come in series are made when they are asked for. */
const MAX_HELD = 20_000

export class SchemaComparison {
  readonly sources: SchemaSources
  readonly #pairs = new Map<JsonRecord, Map<JsonRecord, OpenPair>>()
  readonly #selections = new Map<JsonRecord, Map<JsonRecord, OpenPair>>()
  readonly #shapes = new WeakMap<JsonRecord, Map<JsonRecord, ShapeAnswer>>()
  readonly #all: OpenPair[] = []
  readonly #queue: OpenPair[] = []
  readonly #alternatives: SelectingAlternatives
  #rewritten: ReadonlySet<SchemaPair> | null = null
  #examined = 0
  #prover: InclusionProver | null = null
  /** The pairs that are being examined, each within the one before. Reports are made of the last one. */
  readonly #open: OpenPair[] = []
  readonly #context: ComparisonContext
  /** Changes that came in series. */
  #held = 0

  constructor(sources: SchemaSources) {
    this.sources = sources
    this.#alternatives = new SelectingAlternatives(sources)
    this.#context = {
      sources,
      add: (delta) => add(this.#atHand, delta),
      reportEach: (series) => this.#addSeries(this.#atHand, series),
      descend: (steps, base, head, isRequired = null) => this.#descend(steps, base, head, isRequired),
      select: (base, head) => this.#select(this.#atHand, base, head),
      isSameShape: (base, head) => this.#compareShapes(base, head) !== 'different',
      isSameWithSubtypes: (base, head) => this.#compareShapes(base, head) === 'same',
    }
  }

  /** Schemas compared so far. */
  get examined(): number {
    return this.#examined
  }

  /** Decides which values of these schemas are admitted by the other side; made when it is first asked. */
  get prover(): InclusionProver {
    this.#prover ??= new InclusionProver(this.sources)
    return this.#prover
  }

  /** Whether a change can be reached from a pair, or it is written otherwise in a part that no change is reported of. */
  mayDiffer(pair: SchemaPair): boolean {
    return pair.isLive || !this.prover.isSame(pair.before, pair.after) || this.#rewrittenSubtypes.has(pair)
  }

  /** The pairs that reach a subtype that is written otherwise: no schema that selects it names it. */
  get #rewrittenSubtypes(): ReadonlySet<SchemaPair> {
    this.#rewritten ??= this.reaching(
      ({ isSelection, edges }) => isSelection && edges.some(({ to }) => !this.prover.isSame(to.before, to.after)),
    )
    return this.#rewritten
  }

  /** Compares two schemas and all that they reach. The answer is complete once `complete` was called. */
  compare(before: Located, after: Located): SchemaPair {
    const pair = this.#sharedPair(resolveSchema(before, this.sources.before), resolveSchema(after, this.sources.after))
    for (let next = this.#queue.pop(); next !== undefined; next = this.#queue.pop())
      this.#examine(next, differingGroups(next.before.value, next.after.value))
    return pair
  }

  /** Marks every pair from which a change can be reached, and puts edges in order. Call it once, after the last `compare`. */
  complete(): void {
    for (const { edges } of this.#all) if (edges.length > 1) edges.sort(byFirstSteps)
    const open: OpenPair[] = []
    /** Live as a part is live as a whole, too. A pair is looked at again where it becomes more than it was. */
    const mark = (pair: OpenPair, isPart: boolean): void => {
      if (isPart ? pair.isLiveAsPart : pair.isLive) return
      pair.isLive = true
      pair.isLiveAsPart = isPart
      open.push(pair)
    }
    for (const pair of this.#all) if (pair.deltas.length > 0) mark(pair, true)
    for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
      for (const parent of parentsOf(pair)) mark(parent, !pair.isSelection)
      if (pair.isLiveAsPart) for (const whole of pair.wholes) mark(whole, true)
    }
  }

  /** The pairs from which such a pair can be reached, with these. */
  reaching(isMeant: (pair: SchemaPair) => boolean): ReadonlySet<SchemaPair> {
    const open = this.#all.filter(isMeant)
    const found = new Set<OpenPair>(open)
    for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
      for (const parent of [...parentsOf(pair), ...pair.wholes]) {
        if (found.has(parent)) continue
        found.add(parent)
        open.push(parent)
      }
    }
    return found
  }

  #sharedPair(before: ResolvedSchema, after: ResolvedSchema): OpenPair {
    let partners = this.#pairs.get(before.value)
    if (partners === undefined) {
      partners = new Map()
      this.#pairs.set(before.value, partners)
    }
    let pair = partners.get(after.value)
    if (pair === undefined) {
      pair = newPair(before, after)
      partners.set(after.value, pair)
      this.#all.push(pair)
      this.#queue.push(pair)
    }
    return pair
  }

  #examine(pair: OpenPair, differing: number): void {
    this.#examined += 1
    this.#within(pair, () => compareKeywords(pair, differing, this.#context))
    this.#selectAmongAlternatives(pair)
  }

  /** Alternatives may be written in another nesting. A schema that selects subtypes is then met at no other pair. */
  #selectAmongAlternatives(pair: OpenPair): void {
    const below = (): readonly SchemaPair[] => pair.edges.map(({ to }) => to)
    for (const [base, head] of this.#alternatives.unmet(pair, below)) this.#select(pair, base, head)
  }

  #within(pair: OpenPair, compare: () => void): void {
    this.#open.push(pair)
    compare()
    this.#open.pop()
  }

  #select(parent: OpenPair, before: ResolvedSchema, after: ResolvedSchema): void {
    let partners = this.#selections.get(before.value)
    if (partners === undefined) {
      partners = new Map()
      this.#selections.set(before.value, partners)
    }
    let pair = partners.get(after.value)
    if (pair === undefined) {
      const selection = newPair(before, after, true)
      pair = selection
      partners.set(after.value, selection)
      this.#all.push(selection)
      this.#within(selection, () => compareSubtypes(selection, this.#context))
    }
    this.#link(parent, pair, [], null)
  }

  get #atHand(): OpenPair {
    const pair = this.#open.at(-1)
    if (pair === undefined) throw new Error('no pair is examined')
    return pair
  }

  /** A change that is one object is worked out once for all places that it reaches, so that a flood alone is not held. */
  #addSeries(pair: OpenPair, series: DeltaSeries): void {
    if (series.count === 0) return
    this.#held += series.count
    if (this.#held > MAX_HELD) add(pair, series)
    else for (const delta of series.each()) add(pair, delta)
  }

  /** The same two schemas are asked about wherever they stand in a list together. */
  #compareShapes(base: Located, head: Located): ShapeAnswer {
    const before = resolveSchema(base, this.sources.before).value
    const after = resolveSchema(head, this.sources.after).value
    let answers = this.#shapes.get(before)
    if (answers === undefined) {
      answers = new Map()
      this.#shapes.set(before, answers)
    }
    const answer = answers.get(after) ?? compareShapes(base, head, this.sources)
    answers.set(after, answer)
    return answer
  }

  #descend(steps: readonly string[], base: Located, head: Located, isRequired: boolean | null): void {
    const parent = this.#atHand
    const before = resolveSchema(base, this.sources.before)
    const after = resolveSchema(head, this.sources.after)
    if (before.reference !== null || after.reference !== null) {
      this.#link(parent, this.#sharedPair(before, after), steps, isRequired)
      return
    }
    const differing = differingGroups(before.value, after.value)
    if (differing === 0) {
      this.#examined += 1
      return
    }
    // A schema that takes the place of its reference holds what leads to it.
    const open = this.#open.find(
      (one) => !one.isSelection && one.before.value === before.value && one.after.value === after.value,
    )
    if (open !== undefined) {
      this.#link(parent, open, steps, isRequired)
      return
    }
    const pair = newPair(before, after)
    this.#examine(pair, differing)
    if (pair.deltas.length === 0 && pair.edges.length === 0) return
    this.#all.push(pair)
    this.#link(parent, pair, steps, isRequired)
  }

  #link(parent: OpenPair, to: OpenPair, steps: readonly string[], isRequired: boolean | null): void {
    parent.edges = grown(parent.edges, { steps, to, isRequired })
    if (isPartEdge({ steps, isRequired })) to.wholes = grown(to.wholes, parent)
    else if (to.parent === null) to.parent = parent
    else to.otherParents = grown(to.otherParents, parent)
  }
}

/** What a hostile contract has half a million of: pairs share the empty list, and a list of one is made as that. */
const NONE: never[] = []

function grown<Item>(list: Item[], item: Item): Item[] {
  if (list.length === 0) return [item]
  list.push(item)
  return list
}

/** The order of keys in a document has no meaning: paths are followed in the order of their names. */
function byFirstSteps(a: SchemaEdge, b: SchemaEdge): number {
  const shared = Math.min(a.steps.length, b.steps.length)
  for (let index = 0; index < shared; index += 1) {
    const order = byCodeUnit(a.steps[index] ?? '', b.steps[index] ?? '')
    if (order !== 0) return order
  }
  return a.steps.length - b.steps.length
}

function newPair(before: ResolvedSchema, after: ResolvedSchema, isSelection = false): OpenPair {
  return {
    before,
    after,
    deltas: NONE,
    edges: NONE,
    parent: null,
    otherParents: NONE,
    wholes: NONE,
    isLive: false,
    isLiveAsPart: false,
    isSelection,
  }
}

/** Whether an edge leads to a part by `allOf`. A property may have the name of one. */
export function isPartEdge({ steps: [first = ''], isRequired }: Pick<SchemaEdge, 'steps' | 'isRequired'>): boolean {
  return isRequired === null && first.startsWith('allOf[')
}

function parentsOf({ parent, otherParents }: OpenPair): readonly OpenPair[] {
  return parent === null ? otherParents : [parent, ...otherParents]
}

function add(pair: OpenPair, entry: SchemaDelta | DeltaSeries): void {
  pair.deltas = grown(pair.deltas, entry)
}
