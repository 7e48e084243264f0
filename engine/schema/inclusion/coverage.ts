/**
 * Whether one schema covers another by form: each of its conditions follows from one condition of the other, member by member.
 * That is a proof of inclusion without a search; where it fails, nothing is known. Recursive schemas are compared
 * coinductively: a pair that comes up again below one of its members is taken for covered, since values are finite.
 */
import { itemNode } from './evaluate.ts'
import { isFormatWithin } from './formats.ts'
import { constraintsOfAll, isShape } from './members.ts'
import {
  jsonTypeOf,
  constrainedType,
  isSilent,
  type Bound,
  type Constraint,
  type Items,
  type SchemaNode,
  type Shape,
} from './model.ts'
import { PairMap } from './pair-map.ts'

/** Pairs of nodes that are compared, for all questions of one proof. */
const MAX_COMPARED = 200_000
const MAX_DEPTH = 200
/** Choices of more alternatives are not compared one by one. */
const MAX_WIDE = 64

type Constraints = readonly Constraint[]

/** Where a comparison stands. */
interface CoverPlace {
  /** Pairs above it. */
  readonly depth: number
  /** Steps into members that lead to it: without one between, a loop proves nothing. */
  readonly members: number
}

/** The depth of the outermost open pair that a proof rests on; without one, FIRM; no proof, FAILED. */
type Rest = number
const FIRM: Rest = Infinity
const FAILED: Rest = -1

/** A proof that rests on an open pair. */
interface Resting {
  readonly sub: SchemaNode
  readonly other: SchemaNode
  readonly rest: Rest
  readonly members: number
}

export class Coverage {
  readonly #isSame: (sub: SchemaNode, other: SchemaNode) => boolean
  /** Answers, proofs that rest on open pairs, and open pairs. */
  readonly #known = new PairMap<boolean | Resting | CoverPlace | null>()
  /** Proofs that rest on open pairs, in the order in which they were made. */
  readonly #resting: Resting[] = []
  #left = MAX_COMPARED

  /** @param isSame whether two schemas, of one side each, are written the same */
  constructor(isSame: (sub: SchemaNode, other: SchemaNode) => boolean) {
    this.#isSame = isSame
  }

  /** True when every value of `sub` is one of `other`; false where that is not seen. */
  covers(sub: SchemaNode, other: SchemaNode): boolean {
    return this.#compare(sub, other, { depth: 0, members: 0 }) !== FAILED
  }

  #compare(sub: SchemaNode, other: SchemaNode, place: CoverPlace): Rest {
    if (other.isOpen) return FIRM
    const known = this.#known.get(sub, other) ?? null
    if (typeof known === 'boolean') return known ? FIRM : FAILED
    // Reached by fewer steps into members, the loop that a proof rests on may have none.
    if (known !== null && 'rest' in known && known.members <= place.members) return known.rest
    if (known !== null && 'depth' in known) return known.members < place.members ? known.depth : FAILED
    if (this.#left <= 0 || place.depth > MAX_DEPTH) return FAILED
    this.#left -= 1
    this.#known.set(sub, other, place)
    const start = this.#resting.length
    const rest = this.#isSame(sub, other) ? FIRM : this.#compareAll(sub, other, place)
    this.#close(rest, place, start)
    if (rest === FAILED || rest >= place.depth) {
      this.#known.set(sub, other, rest !== FAILED)
      return rest === FAILED ? FAILED : FIRM
    }
    this.#keep({ sub, other, rest, members: place.members })
    return rest
  }

  /** Stores or drops the proofs that were made on the way to an answer. */
  #close(rest: Rest, { depth }: CoverPlace, start: number): void {
    if (this.#resting.length === start) return
    for (const made of this.#resting.splice(start)) {
      if (rest === FAILED) this.#known.set(made.sub, made.other, null)
      else if (made.rest < depth) this.#resting.push(made)
      else if (rest >= depth) this.#known.set(made.sub, made.other, true)
      else this.#keep({ ...made, rest })
    }
  }

  #keep(resting: Resting): void {
    this.#known.set(resting.sub, resting.other, resting)
    this.#resting.push(resting)
  }

  #compareAll(sub: SchemaNode, other: SchemaNode, { depth, members }: CoverPlace): Rest {
    const own = constraintsOfAll(sub)
    if (own.some(({ kind }) => kind === 'never')) return FIRM
    const isAdmitted = typesAdmitted(own)
    const below = { depth: depth + 1, members }
    return all(constraintsOfAll(other), (asked) => {
      if (isSilent(asked)) return FIRM
      const type = constrainedType(asked)
      if (type !== null && !isAdmitted(type)) return FIRM
      return this.#follows(asked, own, sub, below)
    })
  }

  /** Whether a condition follows from a conjunction. */
  #follows(asked: Constraint, own: Constraints, sub: SchemaNode, place: CoverPlace): Rest {
    if (asked.kind === 'shape') return this.#followsShape(asked, own.filter(isShape), inside(place))
    if (asked.kind === 'items')
      return some(own, (one) => (one.kind === 'items' ? this.#items(one, asked, inside(place)) : FAILED))
    if (asked.kind === 'any') return this.#followsAny(asked.nodes, own, sub, place)
    if (asked.kind === 'names')
      return some(own, (one) => (one.kind === 'names' ? this.#compare(one.node, asked.node, inside(place)) : FAILED))
    if (asked.kind === 'one' || asked.kind === 'not')
      return own.some((one) => this.#isSameChoice(one, asked)) ? FIRM : FAILED
    return own.some((one) => isPlainWithin(one, asked)) ? FIRM : FAILED
  }

  #followsShape(asked: Shape, own: readonly Shape[], place: CoverPlace): Rest {
    if (asked.patterns.length > 0) return FAILED
    const named = all(asked.properties, ([name, node]) =>
      node.isOpen ? FIRM : some(own, (shape) => this.#member(shape, name, node, place)),
    )
    if (named === FAILED || asked.others === null || asked.others.isOpen) return named
    const { others } = asked
    return Math.min(
      named,
      some(own, (shape) => this.#beyond(shape, asked.properties, others, place)),
    )
  }

  /** Whether a shape admits at a name only what a node does. */
  #member(shape: Shape, name: string, node: SchemaNode, place: CoverPlace): Rest {
    const own = shape.properties.get(name)
    if (own !== undefined) return this.#compare(own, node, place)
    if (shape.patterns.length > 0 || shape.others === null) return FAILED
    return this.#compare(shape.others, node, place)
  }

  /** Whether a shape admits at all names but those that are listed only what a node does. */
  #beyond(shape: Shape, listed: ReadonlyMap<string, unknown>, node: SchemaNode, place: CoverPlace): Rest {
    if (shape.patterns.length > 0 || shape.others === null) return FAILED
    const others = this.#compare(shape.others, node, place)
    if (others === FAILED) return FAILED
    return Math.min(
      others,
      all(shape.properties, ([name, own]) => (listed.has(name) ? FIRM : this.#compare(own, node, place))),
    )
  }

  #items(own: Items, asked: Items, place: CoverPlace): Rest {
    const positions = Math.max(own.prefix.length, asked.prefix.length) + 1
    return all(Array.from({ length: positions }).keys(), (index) => {
      const [one, node] = [itemNode(own, index), itemNode(asked, index)]
      if (node === null || node.isOpen) return FIRM
      return one === null ? FAILED : this.#compare(one, node, place)
    })
  }

  /** Where more values in a part are fewer in the whole, the parts must be the same. */
  #isSameChoice(own: Constraint, asked: Constraint): boolean {
    if (own.kind === 'not' && asked.kind === 'not') return this.#isSame(own.node, asked.node)
    if (own.kind !== 'one' || asked.kind !== 'one' || own.nodes.length !== asked.nodes.length) return false
    return own.nodes.every((node, index) => {
      const other = asked.nodes[index]
      return other !== undefined && this.#isSame(node, other)
    })
  }

  /** One alternative covers all, or each alternative of a choice has one that covers it. */
  #followsAny(asked: readonly SchemaNode[], own: Constraints, sub: SchemaNode, place: CoverPlace): Rest {
    if (asked.length > MAX_WIDE) return FAILED
    const whole = some(asked, (node) => this.#compare(sub, node, place))
    if (whole !== FAILED) return whole
    return some(own, (one) => {
      if ((one.kind !== 'any' && one.kind !== 'one') || one.nodes.length > MAX_WIDE) return FAILED
      return all(one.nodes, (alternative) => some(asked, (node) => this.#compare(alternative, node, place)))
    })
  }
}

function inside({ depth, members }: CoverPlace): CoverPlace {
  return { depth, members: members + 1 }
}

/** What all proofs together rest on. */
function all<Item>(items: Iterable<Item>, prove: (item: Item) => Rest): Rest {
  let rest = FIRM
  for (const item of items) {
    rest = Math.min(rest, prove(item))
    if (rest === FAILED) return FAILED
  }
  return rest
}

/** What the first proof that is found rests on. */
function some<Item>(items: Iterable<Item>, prove: (item: Item) => Rest): Rest {
  for (const item of items) {
    const rest = prove(item)
    if (rest !== FAILED) return rest
  }
  return FAILED
}

function typesAdmitted(constraints: Constraints): (type: ReturnType<typeof jsonTypeOf>) => boolean {
  const lists = constraints.flatMap((one) => (one.kind === 'types' ? [one.types] : []))
  return (type) => lists.every((types) => types.has(type))
}

/** Of two conditions that hold no schemas: whether whatever meets the first meets the second. */
function isPlainWithin(one: Constraint, asked: Constraint): boolean {
  if (asked.kind === 'types') {
    if (one.kind === 'types') return one.types.isSubsetOf(asked.types)
    return one.kind === 'values' && one.values.every((value) => asked.types.has(jsonTypeOf(value)))
  }
  if (one.kind === 'values') return asked.kind === 'values' && one.values.every((value) => asked.set.has(value))
  if (one.kind === 'bound') return asked.kind === 'bound' && isBoundWithin(one, asked)
  if (one.kind === 'format')
    return asked.kind === 'format' && one.of === asked.of && isFormatWithin(one.name, asked.name)
  if (one.kind === 'pattern') return asked.kind === 'pattern' && one.source === asked.source
  if (one.kind === 'multiple') return asked.kind === 'multiple' && one.of === asked.of
  if (one.kind === 'required') return asked.kind === 'required' && one.name === asked.name
  return one.kind === 'unique' && asked.kind === 'unique'
}

function isBoundWithin(one: Bound, asked: Bound): boolean {
  if (one.of !== asked.of || one.end !== asked.end) return false
  if (one.limit === asked.limit) return one.isExclusive || !asked.isExclusive
  return one.end === 'min' ? one.limit > asked.limit : one.limit < asked.limit
}
