/** Whether two schemas, each on its side, are written the same, references followed: then they admit the same. */
import { isEqual, isSameSet } from '../equality.ts'
import { COMPARED } from '../keywords.ts'
import { isRecord, stepInto, type JsonRecord, type Located } from '../located.ts'
import { bare, bareWrapperOf, isAnnotation } from '../shape.ts'
import { evaluatesContained, type SchemaSource } from '../source.ts'
import { Pairs } from './pair-map.ts'

/** Keywords that hold values: what looks like a schema in them is none. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'discriminator'])
/** Lists whose order has no meaning. */
const SETS: ReadonlySet<string> = new Set(['enum', 'required', 'type'])
/** Keywords that hold schemas by name: their names are no keywords. */
export const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependentRequired',
  'dependencies',
])
const USAGE: ReadonlySet<string> = new Set(['default', 'deprecated'])
const CONDITIONS: ReadonlySet<string> = new Set([...COMPARED].filter((name) => !isAnnotation(name) && !USAGE.has(name)))
/** Deeper pairs are compared without recursion. */
const MAX_DEPTH = 400

/** The depth of the outermost open pair that an answer rests on; resting on none, SAME; another answer, OTHER or DEEP. */
type SameRest = number
const SAME: SameRest = Infinity
const OTHER: SameRest = -1
/** No answer: the schemas lead deeper than the recursion. */
const DEEP: SameRest = -2

/** What was found of a pair; of an open one its own depth. */
interface SameFound {
  rest: SameRest
}

/** Pairs that were found the same as far as open ones are, in the order in which they were found. */
type SameResting = { readonly base: object; readonly head: object; readonly found: SameFound }[]

type DeepSide = Located & { readonly value: object }

/** A pair that is compared without recursion. */
interface DeepPair {
  readonly base: DeepSide
  readonly head: DeepSide
  readonly found: SameFound
  /** The pairs that lead here. */
  readonly parents: DeepPair[]
}

/** A comparison without recursion: the pairs that were reached, and the one whose parts are at hand. */
interface DeepComparison {
  readonly pairs: DeepPair[]
  readonly byValues: Pairs<object, DeepPair>
  holder: DeepPair | null
}

export class Sameness {
  readonly #sources: { readonly before: SchemaSource; readonly after: SchemaSource }
  /** Answers and open pairs; null: forgotten. */
  readonly #known = new Pairs<object, SameFound | null>()
  readonly #resting: SameResting = []
  /** Whether `contains` evaluates items on one side only, or perhaps. */
  readonly #hasOtherEvaluation: boolean
  #deep: DeepComparison | null = null

  constructor(sources: { readonly before: SchemaSource; readonly after: SchemaSource }) {
    this.#sources = sources
    this.#hasOtherEvaluation = evaluatesContained(sources.before) !== evaluatesContained(sources.after)
  }

  isSame(before: Located, after: Located): boolean {
    if (this.#sources.before.dialect !== this.#sources.after.dialect) return false
    const rest = this.#compare(before, after, 0)
    return (rest === DEEP ? this.#compareDeep(before, after) : rest) !== OTHER
  }

  #compare(before: Located, after: Located, depth: number): SameRest {
    if (!isRecord(before.value) || !isRecord(after.value)) return isEqual(before.value, after.value) ? SAME : OTHER
    const base = isBare(before) ? before : bare(before, this.#sources.before)
    const head = isBare(after) ? after : bare(after, this.#sources.after)
    if (base.value === head.value) return SAME
    const known = this.#known.get(base.value, head.value) ?? null
    if (known !== null) return known.rest
    if (this.#deep !== null) return reach(this.#deep, base, head)
    if (depth > MAX_DEPTH) return DEEP
    const found: SameFound = { rest: depth }
    this.#known.set(base.value, head.value, found)
    const start = this.#resting.length
    const rest = this.#members(base, head, false, depth + 1)
    found.rest = rest >= depth ? SAME : rest
    this.#close(start, depth, rest)
    if (rest === DEEP) this.#known.set(base.value, head.value, null)
    else if (found.rest !== SAME && found.rest !== OTHER)
      this.#resting.push({ base: base.value, head: head.value, found })
    return found.rest
  }

  /** Each pair that can be reached is looked at one time. If one differs, so does each pair that leads to it. */
  #compareDeep(before: Located, after: Located): SameRest {
    const deep: DeepComparison = { pairs: [], byValues: new Pairs(), holder: null }
    this.#deep = deep
    const rest = this.#compare(before, after, 0)
    // Grows while it is gone through.
    for (const pair of deep.pairs) {
      deep.holder = pair
      pair.found.rest = this.#members(pair.base, pair.head, false, 0)
    }
    this.#deep = null
    const others = deep.pairs.filter(({ found }) => found.rest === OTHER)
    for (let pair = others.pop(); pair !== undefined; pair = others.pop())
      for (const parent of pair.parents) {
        if (parent.found.rest === OTHER) continue
        parent.found.rest = OTHER
        others.push(parent)
      }
    for (const { base, head, found } of deep.pairs) this.#known.set(base.value, head.value, found)
    return deep.pairs[0]?.found.rest ?? rest
  }

  /** What was found on the way to a pair rests on less when the pair is closed, and is forgotten when it differs. */
  #close(start: number, depth: number, rest: SameRest): void {
    if (this.#resting.length === start) return
    for (const one of this.#resting.splice(start)) {
      if (rest < 0) this.#known.set(one.base, one.head, null)
      else if (one.found.rest < depth) this.#resting.push(one)
      else if (rest >= depth) one.found.rest = SAME
      else {
        one.found.rest = rest
        this.#resting.push(one)
      }
    }
  }

  #members(base: Located, head: Located, isNamed: boolean, depth: number): SameRest {
    const before = base.value
    const after = head.value
    if (!isRecord(before) || !isRecord(after)) return isEqual(before, after) ? SAME : OTHER
    if (this.#hasOtherEvaluation && !isNamed && before.contains !== undefined) return OTHER
    for (const name in after) if ((isNamed || isCondition(name)) && !Object.hasOwn(before, name)) return OTHER
    let rest = SAME
    for (const name in before) {
      if (!isNamed && !isCondition(name)) continue
      if (!Object.hasOwn(after, name)) return OTHER
      if (before[name] === after[name]) continue
      const keyword = isNamed ? null : name
      rest = Math.min(rest, this.#member(keyword, locatedMember(base, name), locatedMember(head, name), depth))
      if (rest < 0) return rest
    }
    return rest
  }

  /** @param keyword null for what a name leads to */
  #member(keyword: string | null, base: Located, head: Located, depth: number): SameRest {
    const before = base.value
    const after = head.value
    // Only lists of names are held by name.
    const isSet = keyword === null ? Array.isArray(before) : SETS.has(keyword)
    if (isSet) return isSameSet(asList(before), asList(after)) ? SAME : OTHER
    if (keyword !== null && VALUES.has(keyword)) return isEqual(before, after) ? SAME : OTHER
    if (Array.isArray(before)) {
      if (!Array.isArray(after) || before.length !== after.length) return OTHER
      let rest = SAME
      for (let index = 0; index < before.length; index += 1) {
        rest = Math.min(
          rest,
          this.#compare(locatedMember(base, String(index)), locatedMember(head, String(index)), depth),
        )
        if (rest < 0) return rest
      }
      return rest
    }
    if (keyword !== null && NAMED_SCHEMAS.has(keyword)) return this.#members(base, head, true, depth + 1)
    return this.#compare(base, head, depth)
  }
}

/** A pair is taken for the same until all pairs were looked at. */
function reach({ pairs, byValues, holder }: DeepComparison, base: DeepSide, head: DeepSide): SameRest {
  let pair = byValues.get(base.value, head.value)
  if (pair === undefined) {
    pair = { base, head, found: { rest: SAME }, parents: [] }
    byValues.set(base.value, head.value, pair)
    pairs.push(pair)
  }
  if (holder !== null) pair.parents.push(holder)
  return SAME
}

/** Most schemas neither refer to another one nor wrap one. */
function isBare(schema: Located): schema is Located & { readonly value: JsonRecord } {
  const { value } = schema
  return isRecord(value) && value.$ref === undefined && bareWrapperOf(value) === null
}

/** Whether a keyword may have a part in which values are admitted. A reference may lead to what is no schema at all. */
function isCondition(name: string): boolean {
  return CONDITIONS.has(name) || (name.startsWith('$') && !isAnnotation(name))
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

/** A member of a located object, or an item of a located list. */
function locatedMember({ value, at, document }: Located, step: string): Located {
  const holder: unknown = value
  const held: unknown = typeof holder === 'object' && holder !== null ? Reflect.get(holder, step) : undefined
  return { value: held, at: stepInto(at, step), document }
}
