/**
 * The search for a value that meets some schemas and misses others. It splits by JSON type and by the alternatives of
 * schemas, and looks for one value in each part; a value that it finds is checked by evaluation. Recursive schemas are
 * unfolded; a search within the same search ends, since a value that needs itself is not finite. It is one file, since its steps call
 * each other.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { isRecord } from '../located.ts'
import { Alternatives, BOUND, openFor, UNSAT, type SearchAnswer } from './answer.ts'
import { findArray } from './arrays.ts'
import { Disjointness } from './disjoint.ts'
import { admitsValue, every, holds, not, type Evaluation, type Truth } from './evaluate.ts'
import { met, type LiteralSet, type Pending } from './atoms.ts'
import { Goal, type Negating } from './literals.ts'
import { Mentions, type Convention } from './mentions.ts'
import {
  constraintsWithin,
  JSON_TYPES,
  jsonTypeOf,
  type Constraint,
  type JsonType,
  type Literal,
  type SchemaNode,
} from './model.ts'
import { valuesConstraint, type SchemaNodes } from './nodes.ts'
import { overlapsAmong } from './overlaps.ts'
import { ObjectGoal, type ObjectSearch } from './objects.ts'
import { NO_SCHEMAS, Places, type PlaceSchemas } from './places.ts'
import { findReadText } from './read-texts.ts'
import { conditionsOf, findNumber, findText, type Found } from './scalars.ts'
import { refusesText } from './texts.ts'

interface SearchOptions {
  readonly convention: Convention
  /** Whether every value of the first is seen to be one of the second, without a search. */
  readonly isWithin: (one: SchemaNode, other: SchemaNode) => boolean
  /** The same without any convention; null for one that has none. */
  readonly plain: Search | null
  readonly steps: Steps
}

/** Steps of the question at hand, and of all questions together. */
export interface Steps {
  own: number
  all: number
}

/** What is looked for: a value that meets some schemas and misses others, at a place. */
interface Sought {
  readonly literals: readonly Literal[]
  readonly place: PlaceSchemas
  /** How its members are looked for, once an object is. */
  objects: ObjectSearch | null
}

const MAX_STACK = 120
/** Of a step: what one schema costs that a value is held against. */
const CHECK = 1 / 16
/** Of more ways than these in all choices it costs more to try each than to follow one choice after another. */
const MAX_NARROWED = 16

/** More combinations of what a listed value may have are not tried. */
const MAX_ASSUMED = 16

const LISTED_VALUE = 'a listed value'

/** Why a value could not be checked: the condition that was not looked into, if one is known. */
function uncheckedIn(literals: readonly Literal[], otherwise: string): string {
  const constraints = literals.flatMap(({ node }) => constraintsWithin(node))
  const reasons = constraints.flatMap((one) => (one.kind === 'opaque' ? [one.why] : []))
  return reasons.sort(byCodeUnit)[0] ?? otherwise
}

export class Search {
  readonly #nodes: SchemaNodes
  readonly #options: SearchOptions
  readonly #known = new Map<string, SearchAnswer>()
  readonly #open = new Map<string, number>()
  /** The outermost open search that an answer rested on, since the innermost one began. */
  #outermost = Infinity
  readonly #mentions = new Mentions()
  readonly #places = new Places()
  /** What a value may hold by convention is no part of what two schemas have in common. */
  readonly #disjointness: Disjointness
  readonly #made = new Map<string, SchemaNode>()
  readonly #negating = new Map<JsonType, Negating>()
  readonly evaluation: Evaluation

  constructor(nodes: SchemaNodes, options: SearchOptions) {
    this.#nodes = nodes
    this.#options = options
    const { plain } = options
    this.#disjointness = plain ? plain.#disjointness : new Disjointness((a, b) => this.#haveNothingInCommon(a, b))
    this.evaluation = { spend: () => this.#spend(CHECK), known: new WeakMap() }
  }

  /** Whether the steps of the question at hand, or of all questions, are used up. */
  get isExhausted(): boolean {
    const { own, all } = this.#options.steps
    return own <= 0 || all <= 0
  }

  ask(literals: readonly Literal[], steps: number): SearchAnswer {
    this.#options.steps.own = steps
    const answer = this.#solveAt(literals, () => this.#placeOf(literals))
    // Looked for once, and not at each part whose values are not known.
    return answer.kind === 'open' && answer.why === LISTED_VALUE ? openFor(uncheckedIn(literals, LISTED_VALUE)) : answer
  }

  /** Whether a value is seen to be admitted by the first schema and refused by the second. */
  separates(sub: SchemaNode, other: SchemaNode, value: unknown, steps: number): boolean {
    this.#options.steps.own = steps
    return admitsValue(sub, value, this.evaluation) === true && admitsValue(other, value, this.evaluation) === false
  }

  /** Whether a text is seen to be refused, whatever value it is read as. */
  refusesText(node: SchemaNode, text: string, steps: number): boolean {
    this.#options.steps.own = steps
    return refusesText(node, text, this.evaluation)
  }

  describes(node: SchemaNode, name: string): boolean {
    return this.#mentions.describes(node, name)
  }

  /** The schemas at the root of a value that may count for what is known of names. */
  #placeOf(literals: readonly Literal[]): PlaceSchemas {
    const { convention } = this.#options
    if (convention === 'none' && this.#nodes.usage === 'shared') return NO_SCHEMAS
    const nodes = literals.map(({ node }) => node)
    return this.#places.at(convention === 'described-by-sub' ? nodes : nodes.filter(({ side }) => side === 'sub'))
  }

  /** @param at the place, which is not needed where the literals contradict each other */
  #solveAt(given: readonly Literal[], at: () => PlaceSchemas): SearchAnswer {
    if (!this.#look()) return openFor(BOUND)
    const literals = this.#simplified(given)
    return literals === null ? UNSAT : this.#solve(literals, at())
  }

  #solve(literals: readonly Literal[], place: PlaceSchemas): SearchAnswer {
    let key = `${place.id}:`
    literals.forEach(({ node, isMet }) => {
      key += isMet ? ` ${node.id}` : ` -${node.id}`
    })
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (!this.#spend()) return openFor(BOUND)
    const depth = this.#open.get(key)
    if (depth !== undefined) return this.#restOn(depth, { kind: 'unsat', depth })
    if (this.#open.size >= MAX_STACK) return this.#restOn(0, openFor('deep nesting'))
    const own = this.#open.size
    const outside = this.#outermost
    this.#open.set(key, own)
    this.#outermost = Infinity
    const answer = this.#search({ literals, place, objects: null })
    this.#open.delete(key)
    const isOwn = this.#outermost >= own
    this.#outermost = isOwn ? outside : Math.min(outside, this.#outermost)
    if (answer.kind === 'unsat' && answer.depth >= own) {
      this.#known.set(key, UNSAT)
      return UNSAT
    }
    if (answer.kind === 'sat' || (answer.kind === 'open' && !this.isExhausted && isOwn)) this.#known.set(key, answer)
    return answer
  }

  #restOn(depth: number, answer: SearchAnswer): SearchAnswer {
    this.#outermost = Math.min(this.#outermost, depth)
    return answer
  }

  #spend(cost = 1): boolean {
    if (this.isExhausted) return false
    this.#options.steps.own -= cost
    this.#options.steps.all -= 1
    return true
  }

  /** Of a wide object most members are the same on both sides: they count for all questions together, not for this one. */
  #look(): boolean {
    if (this.isExhausted) return false
    this.#options.steps.all -= 1
    return true
  }

  /** Each literal once and in order; null when two of them contradict each other. */
  #simplified(given: readonly Literal[]): readonly Literal[] | null {
    const { isWithin } = this.#options
    const met: Literal[] = []
    const unmet: Literal[] = []
    // Most are two: what a member must be, and what it must not be.
    for (const literal of given) {
      if (!literal.node.isOpen) (literal.isMet ? met : unmet).push(literal)
      else if (!literal.isMet) return null
    }
    if (unmet.some(({ node }) => met.some((other) => other.node === node || isWithin(other.node, node)))) return null
    return unmet.length === 0 ? inOrder(met) : [...inOrder(met), ...inOrder(unmet)]
  }

  #search(sought: Sought): SearchAnswer {
    const { literals } = sought
    // Of what misses schemas only, the smallest object mostly does: then nothing is asked of their members.
    if (literals.every(({ isMet }) => !isMet) && this.#areMet(literals, {}) === true) return { kind: 'sat', value: {} }
    const values = shortestList(literals)
    if (values !== null) return this.#tryEach(values, literals)
    const alternatives = new Alternatives()
    for (const type of JSON_TYPES) {
      const answer = mayBeOfType(type, literals) ? this.#searchType(type, sought) : UNSAT
      if (alternatives.take(answer)) return answer
    }
    return alternatives.answer
  }

  #tryEach(values: readonly unknown[], literals: readonly Literal[]): SearchAnswer {
    let isKnown = true
    for (const value of values) {
      const verdict = this.#areMet(literals, value)
      if (verdict === true) return { kind: 'sat', value }
      if (verdict === null && !this.#isMissedInAnyCase(literals, value)) isKnown = false
    }
    return isKnown ? UNSAT : openFor(LISTED_VALUE)
  }

  /** Whether a value does not do, whether or not it has the formats and matches the patterns of which that is not known. */
  #isMissedInAnyCase(literals: readonly Literal[], value: unknown): boolean {
    const assumptions = new Map<string, boolean>()
    const assumed = (condition: string): boolean => {
      const known = assumptions.get(condition) ?? true
      assumptions.set(condition, known)
      return known
    }
    for (let tried = 0; tried < MAX_ASSUMED; tried += 1) {
      if (this.#areMet(literals, value, { ...this.evaluation, known: new WeakMap(), assumed }) !== false) return false
      // The last one that was assumed to hold is assumed not to, and those after it are asked again.
      const last = [...assumptions].findLastIndex(([, isAssumed]) => isAssumed)
      if (last === -1) return true
      const kept = [...assumptions].slice(0, last + 1)
      assumptions.clear()
      for (const [index, [condition, isAssumed]] of kept.entries())
        assumptions.set(condition, index < last && isAssumed)
    }
    return false
  }

  #areMet(literals: readonly Literal[], value: unknown, by = this.evaluation): Truth {
    let result: Truth = true
    for (const { node, isMet } of literals) {
      const verdict = admitsValue(node, value, by)
      if (verdict === null) result = null
      else if (verdict !== isMet) return false
    }
    return result
  }

  #searchType(type: JsonType, sought: Sought): SearchAnswer {
    const { literals } = sought
    if (type === 'null') return this.#tryEach([null], literals)
    if (type === 'boolean') return this.#tryEach([true, false], literals)
    const goal = new Goal(type, this.#negatingOf(type))
    return goal.add(literals) ? this.#searchGoal(goal, sought) : UNSAT
  }

  #negatingOf(type: JsonType): Negating {
    const known = this.#negating.get(type)
    if (known !== undefined) return known
    const negating: Negating = {
      type,
      isDisjoint: (a, b) => this.#disjointness.areDisjoint(a, b),
      negationOf: (node) => this.#nodes.negationOf(node),
      valuesNode: (values) => this.#valuesNode(values),
      isWithin: (a, b) => a.id === b.id || this.#options.isWithin(a, b),
      overlapsAmong,
      spend: (cost) => this.#spend(cost),
    }
    this.#negating.set(type, negating)
    return negating
  }

  #searchGoal(start: Goal, sought: Sought): SearchAnswer {
    if (!this.#spend()) return openFor(BOUND)
    if (!start.prune()) return UNSAT
    const members = start.type === 'object' ? new ObjectGoal(start, this.#objectSearch(sought)) : null
    const closed = members && closeWays(start, members)
    if (closed !== null) return closed
    const answer = this.#example(start, sought, members)
    if (answer.kind === 'unsat') return answer
    if (answer.kind === 'sat' && this.#areMet(sought.literals, answer.value) === true) return answer
    if (start.choices.length === 0)
      return answer.kind === 'open'
        ? answer
        : openFor(uncheckedIn(sought.literals, 'a condition that cannot be checked'))
    if (!start.propagate()) return UNSAT
    if (start.choices.length === 0) return this.#searchGoal(start, sought)
    const goal = isWorthNarrowing(start) ? this.#narrowed(start, sought, members) : start
    if ('kind' in goal) return goal
    const choices = [...goal.choices].sort((a, b) => a.length - b.length)
    const violated = answer.kind === 'sat' ? choices.findIndex((one) => !this.#isTaken(one, answer.value)) : 0
    const [choice] = choices.splice(Math.max(violated, 0), 1)
    const rest = choices
    if (choice === undefined) return this.#searchGoal(goal, sought)
    const alternatives = new Alternatives()
    for (const way of choice) {
      const next = goal.copy()
      next.choices = [...rest]
      if (!next.add(way)) continue
      const found = this.#searchGoal(next, sought)
      if (alternatives.take(found)) return found
    }
    return alternatives.answer
  }

  /** Whether an example takes one of the ways of a choice already: then another choice is what it misses. */
  #isTaken(choice: readonly LiteralSet[], value: unknown): boolean {
    return choice.some((way) => way.every((one) => this.#isMetBy(one, value)))
  }

  #isMetBy(one: Pending, value: unknown): boolean {
    if ('among' in one) return one.among.every((node) => this.#isMetBy({ node, isMet: node === one.node }, value))
    if ('node' in one) return admitsValue(one.node, value, this.evaluation) === one.isMet
    if (!isRecord(value)) return one.kind === 'keep' && holds(one.constraint, value, this.evaluation) === one.isMet
    if (one.kind === 'presence') return Object.hasOwn(value, one.name) === one.isPresent
    if (one.kind === 'keep') return holds(one.constraint, value, this.evaluation) === one.isMet
    if (one.kind !== 'member' || one.where.kind !== 'name' || one.named.length > 0) return false
    const { name } = one.where
    return Object.hasOwn(value, name) && one.value.every((literal) => this.#isMetBy(literal, value[name]))
  }

  /** The goal without the ways that contradict what is sure; a proof when one of the choices has none left. */
  #narrowed(start: Goal, sought: Sought, members: ObjectGoal | null): Goal | Extract<SearchAnswer, { kind: 'unsat' }> {
    const goal = start.copy()
    goal.choices = []
    for (const choice of start.choices) {
      let depth = Infinity
      const ways = choice.filter((way) => {
        const answer = this.#wayOf(start, way, members, sought)
        if (answer?.kind === 'unsat') depth = Math.min(depth, answer.depth)
        return answer !== null && answer.kind !== 'unsat'
      })
      if (ways.length === 0) return { kind: 'unsat', depth }
      // The proof of the rest would rest on what closed the others: the choice stays as it is.
      goal.choices.push(depth === Infinity ? ways : choice)
    }
    return goal
  }

  /** A value for what is sure and one way; null when they contradict each other. */
  #wayOf(start: Goal, way: LiteralSet, members: ObjectGoal | null, sought: Sought): SearchAnswer | null {
    const member = members && demandedMember(way, members)
    if (member?.kind === 'unsat') return member
    const next = start.copy()
    next.choices = []
    return next.add(way) ? this.#example(next, sought) : null
  }

  /** A value for what is sure, whatever is chosen. */
  #example(goal: Goal, sought: Sought, members: ObjectGoal | null = null): SearchAnswer {
    const listed = goal.kept.find(({ constraint, isMet }) => isMet && constraint.kind === 'values')
    if (listed?.constraint.kind === 'values') {
      // No other value is possible, so each is held against the whole.
      const ofType = listed.constraint.values.filter((value) => jsonTypeOf(value) === goal.type)
      return this.#tryEach(ofType, sought.literals)
    }
    if (goal.type === 'object') return (members ?? new ObjectGoal(goal, this.#objectSearch(sought))).find()
    if (goal.type === 'array') {
      return findArray(goal, {
        solve: (one) => this.#solveAt(one, () => this.#places.item(sought.place)),
        spend: () => this.#spend(),
        valuesNode: (values) => this.#valuesNode(values),
      })
    }
    const found = this.#scalar(goal)
    if (found.kind === 'found') return { kind: 'sat', value: found.value }
    return found.kind === 'none' ? UNSAT : openFor(found.why)
  }

  #scalar({ type, kept }: Goal): Found {
    if (type === 'number') return findNumber(conditionsOf(type, kept))
    if (kept.every(({ constraint }) => constraint.kind !== 'read')) return findText(conditionsOf(type, kept))
    const by = this.evaluation
    return findReadText(kept, (text) =>
      every(kept, ({ constraint, isMet }) => {
        const verdict = holds(constraint, text, by)
        return isMet ? verdict : not(verdict)
      }),
    )
  }

  #objectSearch(sought: Sought): ObjectSearch {
    const { literals, place } = sought
    sought.objects ??= {
      solveMember: (name, one) => this.#solveAt(one, () => this.#places.member(place, name)),
      solveName: (one) => this.#solveAt(one, () => NO_SCHEMAS),
      isCovered: (own, missed) => !this.isExhausted && this.#options.isWithin(own, missed) && this.#look(),
      evaluation: this.evaluation,
      isLeftOut: this.#mentions.leftOut(literals, place, this.#options.convention),
      nameNode: (constraints) => this.#node(constraints, JSON.stringify(constraints)),
      exclude: valuesConstraint,
    }
    return sought.objects
  }

  #haveNothingInCommon(a: SchemaNode, b: SchemaNode): boolean {
    const answer = this.#solveAt([met(a), met(b)], () => NO_SCHEMAS)
    return answer.kind === 'unsat' && answer.depth === Infinity
  }

  #valuesNode(values: readonly unknown[]): SchemaNode {
    return this.#node([valuesConstraint(values)], JSON.stringify(values))
  }

  #node(constraints: readonly Constraint[], text: string): SchemaNode {
    const key = `${constraints[0]?.kind ?? ''} ${text}`
    const known = this.#made.get(key) ?? this.#nodes.made(constraints)
    this.#made.set(key, known)
    return known
  }
}

/**
 * Takes the ways away whose one member has no value; a proof when a choice has none left. Comes before any example: of
 * schemas that differ little most ways end here.
 */
function closeWays(goal: Goal, members: ObjectGoal): SearchAnswer | null {
  for (const [index, choice] of goal.choices.entries()) {
    let depth = Infinity
    const left = choice.filter((way) => {
      const answer = demandedMember(way, members)
      if (answer?.kind !== 'unsat') return true
      depth = Math.min(depth, answer.depth)
      return false
    })
    if (left.length === 0) return { kind: 'unsat', depth }
    // The proof of the rest would rest on what closed the others.
    if (depth === Infinity) goal.choices[index] = left
  }
  return null
}

function isWorthNarrowing({ choices }: Goal): boolean {
  return choices.length > 1 && choices.reduce((sum, ways) => sum + ways.length, 0) <= MAX_NARROWED
}

/** The value of the one member that a way demands; null for ways that demand anything else. */
function demandedMember(way: LiteralSet, members: ObjectGoal): SearchAnswer | null {
  const only = way[0]
  if (only === undefined || way.length > 1 || 'node' in only || only.kind !== 'member') return null
  return only.where.kind === 'name' ? members.valueOf(only.where.name, only.value) : null
}

/** Literals that are all met or all unmet, each once. */
function inOrder(literals: Literal[]): readonly Literal[] {
  if (literals.length < 2) return literals
  literals.sort(({ node: a }, { node: b }) => a.id - b.id)
  return literals.filter(({ node }, index) => node !== literals[index - 1]?.node)
}

/** False where a schema that is met names its types, and not this one. */
function mayBeOfType(type: JsonType, literals: readonly Literal[]): boolean {
  return literals.every(
    ({ node, isMet }) => !isMet || node.constraints.every((one) => one.kind !== 'types' || one.types.has(type)),
  )
}

/** The values that a literal lists, if one does: then they are all that can be found. */
function shortestList(literals: readonly Literal[]): readonly unknown[] | null {
  let shortest: readonly unknown[] | null = null
  for (const { node, isMet } of literals) {
    if (!isMet) continue
    for (const one of node.constraints)
      if (one.kind === 'values' && (shortest === null || one.values.length < shortest.length)) shortest = one.values
  }
  return shortest
}
