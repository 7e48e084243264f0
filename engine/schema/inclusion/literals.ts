/**
 * Conditions that are being met together, for values of one type: what is sure of them, and which choices they leave. It
 * is one file, since the ways to break a condition and those to meet it belong together.
 */

import { met, unmet, type Atom, type LiteralSet, type Only, type Pending, type Where } from './atoms.ts'
import { waysToMissValues, type ValuesNode } from './listed-values.ts'
import type { Overlaps } from './overlaps.ts'
import {
  jsonTypeOf,
  constrainedType,
  isSilent,
  type Bound,
  type Constraint,
  type Items,
  type JsonType,
  type Literal,
  type SchemaNode,
  type Shape,
} from './model.ts'

/** Pairs of more alternatives of `oneOf` than these are not looked at. */
const MAX_PAIRED = 24

export interface Negating {
  readonly type: JsonType
  readonly isDisjoint: (a: SchemaNode, b: SchemaNode) => boolean
  readonly negationOf: (node: SchemaNode) => SchemaNode
  readonly valuesNode: ValuesNode
  /** Whether every value of the first is seen to be one of the second, without a search. */
  readonly isWithin: (one: SchemaNode, other: SchemaNode) => boolean
  readonly overlapsAmong: (nodes: readonly SchemaNode[]) => Overlaps
  /** False where the steps are used up. */
  readonly spend: (cost: number) => boolean
}

/** Of a step: what it costs that one alternative is excluded. */
const EXCLUSION = 1 / 64

/** The ways in which a schema is not met by a value of a type. */
function waysNotToMeet(node: SchemaNode, by: Negating, entered: Set<number> = new Set()): readonly LiteralSet[] {
  // A schema that holds itself is not met where the rest of it is not. One that is a part twice has the same ways twice.
  if (entered.has(node.id)) return []
  entered.add(node.id)
  return node.constraints.flatMap((constraint) => waysToBreak(constraint, by, entered))
}

/** A condition that no value of the type can break has no way; one that every value breaks has a way without conditions. */
function waysToBreak(constraint: Constraint, by: Negating, entered: Set<number>): readonly LiteralSet[] {
  const type = constrainedType(constraint)
  if (type !== null && type !== by.type) return []
  if (constraint.kind === 'never') {
    return [[]]
  }
  if (constraint.kind === 'types') {
    return constraint.types.has(by.type) ? [] : [[]]
  }
  if (constraint.kind === 'bound') {
    return [[{ kind: 'keep', constraint: opposite(constraint), isMet: true }]]
  }
  if (constraint.kind === 'all') {
    return constraint.nodes.flatMap((node) => waysNotToMeet(node, by, entered))
  }
  if (constraint.kind === 'any') {
    return [constraint.nodes.map(unmet)]
  }
  if (constraint.kind === 'one') {
    return waysToMissOne(constraint.nodes, by)
  }
  if (constraint.kind === 'not') {
    return [[met(constraint.node)]]
  }
  if (constraint.kind === 'condition') {
    const { test, then, otherwise } = constraint
    return [
      ...(then === null ? [] : [[met(test), unmet(then)]]),
      ...(otherwise === null ? [] : [[unmet(test), unmet(otherwise)]]),
    ]
  }
  if (constraint.kind === 'unevaluated') {
    if (constraint.exact !== null) return [[unmet(constraint.exact)]]
    return waysToBreak(constraint.narrowest, by, entered)
  }
  return waysToBreakOfType(constraint, by)
}

function waysToBreakOfType(constraint: Constraint, by: Negating): readonly LiteralSet[] {
  if (constraint.kind === 'shape') {
    return waysToBreakShape(constraint)
  }
  if (constraint.kind === 'required') {
    return [[{ kind: 'presence', name: constraint.name, isPresent: false }]]
  }
  if (constraint.kind === 'names') {
    return [[{ kind: 'member', where: { kind: 'any' }, named: [unmet(constraint.node)], value: [] }]]
  }
  if (constraint.kind === 'dependent') {
    return [[{ kind: 'presence', name: constraint.name, isPresent: true }, unmet(constraint.node)]]
  }
  if (constraint.kind === 'items') {
    return waysToBreakItems(constraint)
  }
  if (constraint.kind === 'contains') {
    return waysToBreakContains(constraint, by)
  }
  if (constraint.kind === 'values' && (by.type === 'object' || by.type === 'array')) {
    return waysToMissValues(constraint.values, by.type, by.valuesNode)
  }
  return [[{ kind: 'keep', constraint, isMet: false }]]
}

export function opposite({ kind, of, end, limit, isExclusive }: Bound): Bound {
  return { kind, of, end: end === 'min' ? 'max' : 'min', limit, isExclusive: !isExclusive }
}

function waysToMissOne(nodes: readonly SchemaNode[], by: Negating): readonly LiteralSet[] {
  const ways: LiteralSet[] = [nodes.map(unmet)]
  if (nodes.length > MAX_PAIRED) return [...ways, [{ kind: 'keep', constraint: OPAQUE, isMet: true }]]
  for (const [index, one] of nodes.entries())
    for (const other of nodes.slice(index + 1)) if (!by.isDisjoint(one, other)) ways.push([met(one), met(other)])
  return ways
}

/** Without those that a choice holds several times: what meets one of these meets the others, too. */
function heldOnce(nodes: readonly SchemaNode[]): readonly SchemaNode[] {
  const [once, again] = [new Set<SchemaNode>(), new Set<SchemaNode>()]
  for (const node of nodes) (once.has(node) ? again : once).add(node)
  return again.size === 0 ? nodes : [...once].filter((node) => !again.has(node))
}

/** A way that is not looked into: it is open. */
const OPAQUE: Constraint = { kind: 'opaque', why: 'many alternatives that exclude each other' }

function hasConditions(node: SchemaNode): boolean {
  return !node.isOpen
}

function member(where: Where, node: SchemaNode): LiteralSet {
  return [{ kind: 'member', where, named: [], value: [unmet(node)] }]
}

function waysToBreakShape(shape: Shape): readonly LiteralSet[] {
  const ways: LiteralSet[] = []
  shape.properties.forEach((node, name) => {
    if (hasConditions(node)) ways.push(member({ kind: 'name', name }, node))
  })
  for (const [pattern, node] of shape.patterns)
    if (hasConditions(node)) ways.push(member({ kind: 'pattern', pattern }, node))
  if (shape.others !== null && hasConditions(shape.others)) ways.push(member({ kind: 'beyond', shape }, shape.others))
  return ways
}

function item(from: number, isOnly: boolean, node: SchemaNode): LiteralSet {
  return [{ kind: 'item', from, isOnly, count: 1, value: [unmet(node)] }]
}

function waysToBreakItems({ prefix, rest }: Items): readonly LiteralSet[] {
  const ways = prefix.flatMap((node, index) => (hasConditions(node) ? [item(index, true, node)] : []))
  return rest !== null && hasConditions(rest) ? [...ways, item(prefix.length, false, rest)] : ways
}

function waysToBreakContains(
  { node, min, max, evaluates }: Extract<Constraint, { kind: 'contains' }>,
  by: Negating,
): readonly LiteralSet[] {
  const ways: LiteralSet[] = []
  if (min === 1) {
    const items: Items = { kind: 'items', prefix: [], rest: by.negationOf(node) }
    ways.push([{ kind: 'keep', constraint: items, isMet: true }])
  } else if (min > 1) {
    const fewer: Constraint = { kind: 'contains', node, min: 0, max: min - 1, evaluates }
    ways.push([{ kind: 'keep', constraint: fewer, isMet: true }])
  }
  if (max !== null) ways.push([{ kind: 'item', from: 0, isOnly: false, count: max + 1, value: [met(node)] }])
  return ways
}

/** What is sure, and what is left to choose. */
export class Goal {
  readonly type: JsonType
  readonly #by: Negating
  readonly kept: { readonly constraint: Constraint; readonly isMet: boolean }[]
  readonly presence: Map<string, boolean>
  readonly members: Extract<Atom, { kind: 'member' }>[]
  readonly items: Extract<Atom, { kind: 'item' }>[]
  choices: (readonly LiteralSet[])[]
  /** Literals that were added: a schema that holds itself adds nothing more. */
  readonly #added: Set<number>
  readonly #met: SchemaNode[]
  readonly #unmet: SchemaNode[]

  constructor(type: JsonType, by: Negating, from?: Goal) {
    this.type = type
    this.#by = by
    this.kept = from?.kept.slice() ?? []
    this.presence = new Map(from?.presence)
    this.members = from?.members.slice() ?? []
    this.items = from?.items.slice() ?? []
    this.choices = from?.choices.slice() ?? []
    this.#added = new Set(from === undefined ? [] : from.#added)
    this.#met = from === undefined ? [] : from.#met.slice()
    this.#unmet = from === undefined ? [] : from.#unmet.slice()
  }

  copy(): Goal {
    return new Goal(this.type, this.#by, this)
  }

  /** Adds conditions; false when they contradict what is sure already. */
  add(pending: LiteralSet): boolean {
    return pending.every((one) => {
      if ('isMet' in one && 'node' in one) return this.#addLiteral(one)
      return one.kind === 'only' ? this.#addOnly(one) : this.#addAtom(one)
    })
  }

  /** Drops the ways that contradict what is sure, and the choices that it makes; false where a choice has no way left. */
  prune(): boolean {
    const isClosed = (way: LiteralSet): boolean => way.some((one) => !this.#isConsistent(one))
    const isOpen = (choice: readonly LiteralSet[]): boolean =>
      !choice.some((way) => way.every((one) => this.#isSure(one)))
    if (!this.choices.every(isOpen)) this.choices = this.choices.filter(isOpen)
    for (let index = 0; index < this.choices.length; index += 1) {
      const choice = this.choices[index] ?? []
      const first = choice.findIndex(isClosed)
      if (first === -1) continue
      const ways = [...choice.slice(0, first), ...choice.slice(first + 1).filter((way) => !isClosed(way))]
      if (ways.length === 0) return false
      this.choices[index] = ways
    }
    return true
  }

  /** Whether a condition is among what is sure. */
  #isSure(one: Pending): boolean {
    if ('among' in one) return false
    if ('node' in one) return this.#added.has(literalKey(one))
    return one.kind === 'presence' && this.presence.get(one.name) === one.isPresent
  }

  /** Adds the ways that are left alone, until there is none; false where that contradicts what is sure. */
  propagate(): boolean {
    for (let isOpen = this.choices.some(isAlone); isOpen; isOpen = this.choices.some(isAlone)) {
      const alone = this.choices.filter(isAlone)
      this.choices = this.choices.filter((choice) => !isAlone(choice))
      if (!alone.every(([way]) => way === undefined || this.add(way)) || !this.prune()) return false
    }
    return true
  }

  /** Whether one condition leaves what is sure possible, as far as that is seen without a search. */
  #isConsistent(one: Pending): boolean {
    if ('among' in one) return this.#isConsistent(met(one.node))
    if ('node' in one) return this.#added.has(literalKey(one)) || !this.#isRefused(one)
    if (one.kind === 'presence') return (this.presence.get(one.name) ?? one.isPresent) === one.isPresent
    return one.kind !== 'keep' || !isContradicted(one, this.kept)
  }

  #isRefused({ node, isMet }: Literal): boolean {
    const { isWithin } = this.#by
    const others = isMet ? this.#unmet : this.#met
    return others.some((other) => {
      // Only schemas of different sides are compared.
      if (other.side === node.side) return other === node
      return isMet ? isWithin(node, other) : isWithin(other, node)
    })
  }

  #addLiteral(literal: Literal): boolean {
    const { node, isMet } = literal
    const key = literalKey(literal)
    if (this.#added.has(key)) return true
    if (this.#isRefused(literal)) return false
    this.#added.add(key)
    ;(isMet ? this.#met : this.#unmet).push(node)
    if (isMet) return node.constraints.every((constraint) => this.#addMet(constraint))
    return this.#choose(waysNotToMeet(node, this.#by))
  }

  #choose(ways: readonly LiteralSet[]): boolean {
    const only = ways[0]
    if (only === undefined) return false
    if (ways.length === 1) return this.add(only)
    if (!ways.some((way) => way.length === 0)) this.choices.push(ways)
    return true
  }

  #addMet(constraint: Constraint): boolean {
    const type = constrainedType(constraint)
    if ((type !== null && type !== this.type) || isSilent(constraint)) return true
    if (constraint.kind === 'never') {
      return false
    }
    if (constraint.kind === 'types') {
      return constraint.types.has(this.type)
    }
    if (constraint.kind === 'all') {
      return this.add(constraint.nodes.map(met))
    }
    if (constraint.kind === 'any') {
      return this.#choose(constraint.nodes.filter((node) => this.#isPossible(node)).map((node) => [met(node)]))
    }
    if (constraint.kind === 'one') {
      const nodes = constraint.nodes.filter((node) => this.#isPossible(node))
      const overlaps = this.#by.overlapsAmong(nodes)
      return this.#choose(heldOnce(nodes).map((node): LiteralSet => this.#onlyOne(node, overlaps(node), nodes)))
    }
    if (constraint.kind === 'not') {
      return this.add([unmet(constraint.node)])
    }
    if (constraint.kind === 'condition') {
      const { test, then, otherwise } = constraint
      return this.#choose([
        [met(test), ...(then === null ? [] : [met(then)])],
        [unmet(test), ...(otherwise === null ? [] : [met(otherwise)])],
      ])
    }
    if (constraint.kind === 'dependent') {
      return this.#choose([[{ kind: 'presence', name: constraint.name, isPresent: false }], [met(constraint.node)]])
    }
    if (constraint.kind === 'required') {
      return this.#addAtom({ kind: 'presence', name: constraint.name, isPresent: true })
    }
    if (constraint.kind === 'unevaluated') {
      if (constraint.exact !== null) return this.add([met(constraint.exact)])
      return constraint.widest === null || this.#addMet(constraint.widest)
    }
    if (constraint.kind === 'contains') {
      const { node, min, max } = constraint
      if (max === 0)
        this.kept.push({ constraint: { kind: 'items', prefix: [], rest: this.#by.negationOf(node) }, isMet: true })
      else this.kept.push({ constraint, isMet: true })
      if (max !== null && max < min) return false
      return min === 0 || this.#addAtom({ kind: 'item', from: 0, isOnly: false, count: min, value: [met(node)] })
    }
    return this.#addAtom({ kind: 'keep', constraint, isMet: true })
  }

  #onlyOne(node: SchemaNode, overlapping: readonly SchemaNode[] | null, all: readonly SchemaNode[]): LiteralSet {
    return overlapping === null ? [{ kind: 'only', node, among: all }] : this.#excluding(node, overlapping)
  }

  #excluding(node: SchemaNode, among: readonly SchemaNode[]): readonly Literal[] {
    const { isDisjoint } = this.#by
    return [met(node), ...among.filter((other) => other !== node && !isDisjoint(node, other)).map(unmet)]
  }

  /** Without steps the search ends, whatever is left out here. */
  #addOnly({ node, among }: Only): boolean {
    if (!this.#by.spend(among.length * EXCLUSION)) return true
    return this.add(this.#excluding(node, among))
  }

  /** A schema that names other types only, or values of other types, is met by no value of this one. */
  #isPossible(node: SchemaNode): boolean {
    return node.constraints.every(
      (constraint) =>
        constraint.kind !== 'never' &&
        (constraint.kind !== 'types' || constraint.types.has(this.type)) &&
        (constraint.kind !== 'values' || constraint.values.some((value) => jsonTypeOf(value) === this.type)),
    )
  }

  #addAtom(atom: Atom): boolean {
    if (atom.kind === 'member') this.members.push(atom)
    else if (atom.kind === 'item') this.items.push(atom)
    else if (atom.kind === 'presence') {
      const known = this.presence.get(atom.name)
      this.presence.set(atom.name, atom.isPresent)
      return known === undefined || known === atom.isPresent
    } else this.kept.push(atom)
    return !isContradicted(atom, this.kept)
  }
}

function isAlone(choice: readonly LiteralSet[]): boolean {
  return choice.length === 1
}

/** A number that literals share exactly when they say the same. */
function literalKey({ node, isMet }: Literal): number {
  return isMet ? node.id : -node.id
}

/** A condition that is not looked into contradicts its own negation. */
function isContradicted(atom: Atom, kept: Goal['kept']): boolean {
  if (atom.kind !== 'keep') return false
  const { constraint, isMet } = atom
  if (constraint.kind !== 'opaque' && constraint.kind !== 'pattern' && constraint.kind !== 'unique') return false
  return kept.some((other) => other.isMet !== isMet && isSameCondition(other.constraint, constraint))
}

function isSameCondition(a: Constraint, b: Constraint): boolean {
  if (a.kind === 'opaque' && b.kind === 'opaque') return a.why === b.why
  if (a.kind === 'pattern' && b.kind === 'pattern') return a.source === b.source
  return a.kind === 'unique' && b.kind === 'unique'
}
