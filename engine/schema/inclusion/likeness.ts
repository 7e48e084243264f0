/**
 * Whether two nodes are the same conditions, however they were written: members of `allOf` in place, lists of constants, not
 * of not, bounds of other types. Recursive schemas are compared coinductively.
 */
import { valueKey } from '../equality.ts'
import { holds, type Evaluation } from './evaluate.ts'
import {
  JSON_TYPES,
  jsonTypeOf,
  constrainedType,
  isSilent,
  type Bound,
  type Constraint,
  type JsonType,
  type SchemaNode,
} from './model.ts'
import { valuesConstraint } from './nodes.ts'

/** Comparisons of two nodes, for all questions of one proof. */
const MAX_COMPARED = 200_000
const MAX_DEPTH = 200
/** Choices within choices that are read as one list: so deep, and so wide each. */
const MAX_NESTED = 3
const MAX_WIDE = 16

/** `admitted`: which values; `looked`: also what `unevaluated*` sees of them, to which nested negations are blind. */
type Sense = 'admitted' | 'looked'

interface LikenessForm {
  readonly signature: string
  readonly parts: readonly { readonly constraint: Constraint; readonly signature: string }[]
}

export class Likeness {
  readonly #forms = new Map<string, LikenessForm>()
  readonly #outlines = new Map<number, number | null>()
  readonly #known = new Map<string, boolean>()
  /** Pairs that are taken for alike until all that they hold was compared. */
  readonly #assumed: string[] = []
  #left = MAX_COMPARED

  isAlike(one: SchemaNode, other: SchemaNode): boolean {
    const isAlike = this.#compare(one, other, 'admitted', 0)
    this.#assumed.length = 0
    return isAlike
  }

  #compare(one: SchemaNode, other: SchemaNode, sense: Sense, depth: number): boolean {
    if (one.id === other.id) return true
    if (this.#areApart(one, other)) return false
    const a = this.#formOf(one, sense)
    const b = this.#formOf(other, sense)
    if (a.signature !== b.signature) return false
    const key = `${sense} ${one.id} ${other.id}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (depth > MAX_DEPTH || this.#left <= 0) return false
    this.#left -= 1
    const start = this.#assumed.push(key) - 1
    this.#known.set(key, true)
    const isAlike = this.#areAlike(a, b, sense, depth + 1)
    if (isAlike) return true
    // What was found alike on the way may rest on this pair.
    for (const assumed of this.#assumed.splice(start)) this.#known.delete(assumed)
    this.#known.set(key, false)
    return false
  }

  #areAlike(a: LikenessForm, b: LikenessForm, sense: Sense, depth: number): boolean {
    const isIn = ({ constraint, signature }: LikenessForm['parts'][number], { parts }: LikenessForm): boolean =>
      parts.some((part) => part.signature === signature && this.#isSame(constraint, part.constraint, sense, depth))
    return a.parts.every((part) => isIn(part, b)) && b.parts.every((part) => isIn(part, a))
  }

  /** Of two constraints with one signature: whether the schemas in them are alike. */
  #isSame(a: Constraint, b: Constraint, sense: Sense, depth: number): boolean {
    const same = (one: SchemaNode | null, other: SchemaNode | null, within: Sense): boolean =>
      one === null || other === null ? one === other : this.#compare(one, other, within, depth)
    const sameRest = (one: SchemaNode | null, other: SchemaNode | null): boolean =>
      isOpen(one, sense) ? isOpen(other, sense) : same(one, other, 'admitted')
    if (a.kind === 'items' && b.kind === 'items')
      return sameRest(a.rest, b.rest) && a.prefix.every((one, at) => same(one, b.prefix[at] ?? null, 'admitted'))
    if (a.kind === 'shape' && b.kind === 'shape') {
      return (
        sameRest(a.others, b.others) &&
        [...a.properties].every(([name, one]) => same(one, b.properties.get(name) ?? null, 'admitted')) &&
        a.patterns.every(([, one], at) => same(one, b.patterns[at]?.[1] ?? null, 'admitted'))
      )
    }
    if ((a.kind === 'contains' && b.kind === 'contains') || (a.kind === 'names' && b.kind === 'names'))
      return same(a.node, b.node, 'admitted')
    if ((a.kind === 'dependent' && b.kind === 'dependent') || (a.kind === 'not' && b.kind === 'not'))
      return same(a.node, b.node, sense)
    if (a.kind === 'condition' && b.kind === 'condition')
      return same(a.test, b.test, sense) && same(a.then, b.then, sense) && same(a.otherwise, b.otherwise, sense)
    if (a.kind === 'unevaluated' && b.kind === 'unevaluated')
      return same(a.node, b.node, 'admitted') && same(a.owner, b.owner, 'looked')
    if (a.kind === 'any' && b.kind === 'any') return this.#isSameAlternatives(a.nodes, b.nodes, sense, depth)
    if (a.kind === 'one' && b.kind === 'one') return this.#isSameChoice(a.nodes, b.nodes, sense, depth)
    // What is not looked into may differ behind the same words.
    return a.kind !== 'opaque'
  }

  /** As they are written, or with the alternatives of those that are a choice themselves. */
  #isSameAlternatives(a: readonly SchemaNode[], b: readonly SchemaNode[], sense: Sense, depth: number): boolean {
    if (this.#isSameAny(a, b, sense, depth)) return true
    const [one, other] = [alternativesWithin(a), alternativesWithin(b)]
    return (one !== a || other !== b) && this.#isSameAny(one, other, sense, depth)
  }

  /** Each alternative is one of the other side; how often does not matter. */
  #isSameAny(a: readonly SchemaNode[], b: readonly SchemaNode[], sense: Sense, depth: number): boolean {
    const isAt = (one: SchemaNode, other: SchemaNode | undefined): boolean =>
      other !== undefined && this.#compare(one, other, sense, depth)
    // Most lists are in one order.
    const isIn = (one: SchemaNode, list: readonly SchemaNode[], index: number): boolean =>
      isAt(one, list[index]) || list.some((other) => isAt(one, other))
    return a.every((one, index) => isIn(one, b, index)) && b.every((one, index) => isIn(one, a, index))
  }

  /** Each alternative with one of the other side, each of them once. */
  #isSameChoice(a: readonly SchemaNode[], b: readonly SchemaNode[], sense: Sense, depth: number): boolean {
    const unmatched = [...b]
    return a.every((one) => {
      const at = unmatched.findIndex((other) => this.#compare(one, other, sense, depth))
      if (at >= 0) unmatched.splice(at, 1)
      return at >= 0
    })
  }

  /** Whether two schemas have other signatures, as far as that is seen without making them: most are of other members. */
  #areApart(one: SchemaNode, other: SchemaNode): boolean {
    const a = this.#outlineOf(one)
    const b = this.#outlineOf(other)
    return a !== null && b !== null && a !== b
  }

  #outlineOf(node: SchemaNode): number | null {
    const known = this.#outlines.get(node.id)
    if (known !== undefined) return known
    const outline = typeOutline(node.constraints)
    this.#outlines.set(node.id, outline)
    return outline
  }

  #formOf(node: SchemaNode, sense: Sense): LikenessForm {
    const key = `${sense} ${node.id}`
    const known = this.#forms.get(key)
    if (known !== undefined) return known
    const parts = formed(constraintsInPlace(node, sense), sense).map((constraint) => ({
      constraint,
      signature: signatureOf(constraint, sense),
    }))
    const signature = [...new Set(parts.map((part) => part.signature))].sort().join(' ')
    const form = { signature, parts }
    this.#forms.set(key, form)
    return form
  }
}

/** The alternatives, and those of alternatives that are a choice and nothing else; the same list where there are none. */
function alternativesWithin(nodes: readonly SchemaNode[], depth = 0): readonly SchemaNode[] {
  if (depth > MAX_NESTED || nodes.length > MAX_WIDE) return nodes
  const choices = nodes.map((node) => {
    const [only, more] = node.constraints
    return only?.kind === 'any' && more === undefined ? alternativesWithin(only.nodes, depth + 1) : null
  })
  if (choices.every((one) => one === null)) return nodes
  const all = nodes.flatMap((node, index) => choices[index] ?? [node])
  return all.length > MAX_WIDE ? nodes : all
}

/** The types that are admitted and the number of members that are named, as one number; null where schemas are held in place. */
function typeOutline(constraints: readonly Constraint[]): number | null {
  let types = -1
  let named = 0
  for (const constraint of constraints) {
    const { kind } = constraint
    if (kind === 'all' || kind === 'any' || kind === 'one' || kind === 'not') return null
    if (kind === 'types') types &= maskOf(constraint.types)
    if (kind !== 'shape') continue
    if (named > 0) return null
    named = constraint.properties.size + 1
  }
  return ((types & OBJECTS) === 0 ? 0 : named) * TYPE_MASKS + types
}

function maskOf(types: ReadonlySet<JsonType>): number {
  return JSON_TYPES.reduce((mask, type, bit) => (types.has(type) ? mask | (1 << bit) : mask), 0)
}

const OBJECTS = maskOf(new Set(['object']))
/** More than there are sets of types, of which one stands for schemas that name none. */
const TYPE_MASKS = 2 ** JSON_TYPES.length + 1

/** The constraints of a node and of those that it holds in place. */
function constraintsInPlace(start: SchemaNode, sense: Sense, depth = 0): readonly Constraint[] {
  const found: Constraint[] = []
  const visited = new Set<number>()
  const open = [start]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (visited.has(node.id)) continue
    visited.add(node.id)
    for (const constraint of node.constraints) {
      const held = heldInPlace(constraint, sense)
      if (held === null) found.push(constraint)
      else open.push(...held)
    }
  }
  return found.flatMap((constraint) => merged(constraint, sense, depth))
}

function heldInPlace(constraint: Constraint, sense: Sense): readonly SchemaNode[] | null {
  if (constraint.kind === 'all') return constraint.nodes
  if ((constraint.kind === 'any' || constraint.kind === 'one') && constraint.nodes.length === 1) return constraint.nodes
  if (constraint.kind !== 'not' || sense === 'looked') return null
  const [inner, more] = constraint.node.constraints
  return inner?.kind === 'not' && more === undefined ? [inner.node] : null
}

/** A choice of listed values, or of schemas of different types, is one list of conditions. */
function merged(constraint: Constraint, sense: Sense, depth: number): readonly Constraint[] {
  if (constraint.kind !== 'any' && constraint.kind !== 'one') return [constraint]
  if (depth > 0 && (depth > MAX_NESTED || constraint.nodes.length > MAX_WIDE)) return [constraint]
  const values: unknown[] = []
  const types: JsonType[] = []
  const others: Constraint[] = []
  for (const node of constraint.nodes) {
    const parts = formed(constraintsInPlace(node, sense, depth + 1), sense)
    const [only, more] = parts
    const own = only?.kind === 'types' ? only.types : null
    if (only?.kind === 'values' && more === undefined) values.push(...only.values)
    else if (own !== null && parts.every((part) => part === only || isOfTypes(part, own))) {
      types.push(...own)
      others.push(...parts.slice(1))
    } else return [constraint]
  }
  const isValues = values.length > 0
  if (isValues && types.length > 0) return [constraint]
  const isDistinct =
    new Set([...values.map((value) => valueKey(value)), ...types]).size === values.length + types.length
  if (!isDistinct && (constraint.kind === 'one' || others.length > 0)) return [constraint]
  return isValues ? [valuesConstraint(values)] : [{ kind: 'types', types: new Set(types) }, ...others]
}

function isOfTypes(constraint: Constraint, types: ReadonlySet<JsonType>): boolean {
  const type = constrainedType(constraint)
  return type !== null && types.has(type)
}

/** Without the constraints on types that the schema does not admit; types, listed values and bounds in one form each. */
function formed(constraints: readonly Constraint[], sense: Sense): readonly Constraint[] {
  const lists = constraints.flatMap((one) => (one.kind === 'types' ? [one.types] : []))
  const admits = (type: JsonType): boolean => lists.every((types) => types.has(type))
  const isWhole = constraints.some((one) => one.kind === 'multiple' && Number.isInteger(one.of))
  const plain = constraints.flatMap((one) => {
    const type = constrainedType(one)
    if (one.kind === 'types' || (type !== null && !admits(type)) || isOfAnyItems(one, sense)) return []
    if (sense === 'admitted' && isSilent(one)) return []
    if (one.kind === 'bound' && isWhole) return [inclusive(one)]
    return [one.kind === 'values' && lists.length > 0 ? ofTypes(one, admits) : one]
  })
  const others = plain.filter((one) => !isIdle(one, plain))
  if (lists.length === 0) return others
  return [{ kind: 'types', types: new Set(JSON_TYPES.filter(admits)) }, ...others]
}

/** Items of any kind are no condition; what is looked at in them counts where that matters. */
function isOfAnyItems(constraint: Constraint, sense: Sense): boolean {
  return constraint.kind === 'items' && constraint.prefix.length === 0 && isOpen(constraint.rest, sense)
}

/** Of whole numbers a bound that excludes its limit is the next one that does not. */
function inclusive(bound: Bound): Bound {
  const { of, end, limit, isExclusive } = bound
  if (of !== 'number') return bound
  const nearest = end === 'min' ? Math.ceil(limit) : Math.floor(limit)
  const next = isExclusive && nearest === limit ? (end === 'min' ? limit + 1 : limit - 1) : nearest
  // Not every whole number above 2^53 has a next one.
  if (isExclusive && !Number.isSafeInteger(next)) return bound
  return { ...bound, limit: next, isExclusive: false }
}

function ofTypes(listed: Extract<Constraint, { kind: 'values' }>, admits: (type: JsonType) => boolean): Constraint {
  const values = listed.values.filter((value) => admits(jsonTypeOf(value)))
  return values.length === listed.values.length ? listed : valuesConstraint(values)
}

/** A bound that another one, or the listed values, hide, or that nothing can miss. */
function isIdle(constraint: Constraint, all: readonly Constraint[]): boolean {
  if (constraint.kind !== 'bound') return false
  const { of, end, limit, isExclusive } = constraint
  if (of !== 'number' && end === 'min' && limit <= 0) return true
  return all.some((other) => {
    if (other.kind === 'values') return other.values.every((value) => holds(constraint, value, NO_BOUND) === true)
    if (other.kind !== 'bound' || other.of !== of || other.end !== end) return false
    if (other.limit === limit) return other.isExclusive && !isExclusive
    return end === 'min' ? other.limit > limit : other.limit < limit
  })
}

/** Bounds are evaluated in one step. */
const NO_BOUND: Evaluation = { spend: () => true, known: new WeakMap() }

/** Whether there is no condition on what is not named; what is looked at in it counts where that matters. */
function isOpen(node: SchemaNode | null, sense: Sense): boolean {
  return node === null || (sense === 'admitted' && node.isOpen)
}

/** All of a constraint but the schemas in it. */
function signatureOf(constraint: Constraint, sense: Sense): string {
  return `${constraint.kind}${valueKey(comparableFacts(constraint, sense))}`
}

function comparableFacts(constraint: Constraint, sense: Sense): unknown {
  const { kind } = constraint
  if (kind === 'types') return [...constraint.types].sort()
  if (kind === 'values') return constraint.values
  if (kind === 'bound') return [constraint.of, constraint.end, constraint.limit, constraint.isExclusive]
  if (kind === 'multiple') return constraint.of
  if (kind === 'pattern') return constraint.source
  if (kind === 'format') return [constraint.name, constraint.of]
  if (kind === 'read') return [[...constraint.typed].sort(), signatureOf(constraint.constraint, sense)]
  if (kind === 'items') return [constraint.prefix.length, isOpen(constraint.rest, sense)]
  if (kind === 'contains') return [constraint.min, constraint.max, sense === 'looked' && constraint.evaluates]
  if (kind === 'shape')
    return [
      [...constraint.properties.keys()].sort(),
      constraint.patterns.map(([pattern]) => pattern),
      isOpen(constraint.others, sense),
    ]
  if (kind === 'required' || kind === 'dependent') return constraint.name
  if (kind === 'one' || kind === 'all') return constraint.nodes.length
  if (kind === 'condition') return [constraint.then === null, constraint.otherwise === null]
  if (kind === 'unevaluated') return constraint.of
  return kind === 'opaque' ? constraint.why : null
}
