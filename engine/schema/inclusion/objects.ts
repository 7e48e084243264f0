/** An object that meets what is sure of a goal: its members are solved one by one, and only those that it needs. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { Alternatives, openFor, Together, UNSAT, type SearchAnswer, type Solve } from './answer.ts'
import { admitsValue, isMatch, shapeNodes, type Evaluation } from './evaluate.ts'
import { met, type Atom } from './atoms.ts'
import type { Goal } from './literals.ts'
import type { Bound, Constraint, Literal, SchemaNode, Shape } from './model.ts'
import { countsOf } from './scalars.ts'

type Member = Extract<Atom, { kind: 'member' }>

export interface ObjectSearch {
  readonly solveMember: (name: string, literals: readonly Literal[]) => SearchAnswer
  readonly solveName: Solve
  /** Whether every value of the first is seen to be one of the second. Counts as a look at a member where it is. */
  readonly isCovered: (own: SchemaNode, missed: SchemaNode) => boolean
  readonly evaluation: Evaluation
  /** Names that, by convention, values do not hold. */
  readonly isLeftOut: (name: string) => boolean
  /** A schema that admits names, by pattern or outside of a list. */
  readonly nameNode: (constraints: readonly Constraint[]) => SchemaNode
  readonly exclude: (names: readonly string[]) => Constraint
}

/** More patterns than these at one object are not distinguished. */
const MAX_PATTERNS = 5
/** Members that are made to reach a number of properties. */
const MAX_FILLED = 40
const ANY_COUNT = { min: 0, max: Infinity }

export class ObjectGoal {
  readonly #search: ObjectSearch
  readonly #goal: Goal
  readonly #shapes: Shape[] = []
  readonly #named: SchemaNode[] = []
  readonly #counts: { readonly min: number; readonly max: number } | null

  constructor(goal: Goal, search: ObjectSearch) {
    this.#goal = goal
    this.#search = search
    const bounds: Bound[] = []
    for (const { constraint, isMet } of goal.kept) {
      if (!isMet) continue
      if (constraint.kind === 'shape') this.#shapes.push(constraint)
      else if (constraint.kind === 'names') this.#named.push(constraint.node)
      else if (constraint.kind === 'bound' && constraint.of === 'object') bounds.push(constraint)
    }
    this.#counts = bounds.length === 0 ? ANY_COUNT : countsOf(bounds)
  }

  find(): SearchAnswer {
    if (this.#counts === null) return UNSAT
    const { members, presence } = this.#goal
    const chosen = new Map<string, readonly Literal[]>()
    for (const [name, isPresent] of presence) if (isPresent) chosen.set(name, [])
    const open: Member[] = []
    for (const member of members) {
      if (member.where.kind !== 'name') open.push(member)
      else chosen.set(member.where.name, [...(chosen.get(member.where.name) ?? []), ...member.value])
    }
    return this.#place(open, 0, chosen, [])
  }

  /** Chooses a name for each demanded member that has none yet. */
  #place(
    open: readonly Member[],
    index: number,
    chosen: ReadonlyMap<string, readonly Literal[]>,
    fresh: readonly string[],
  ): SearchAnswer {
    const member = open[index]
    if (member === undefined) return this.#complete(chosen, fresh)
    const alternatives = new Alternatives()
    for (const name of this.#knownNames(chosen)) {
      const isThere = this.#mayBe(member, name)
      if (isThere === null) alternatives.take(openFor('a pattern of names'))
      if (isThere !== true) continue
      const value = [...(chosen.get(name) ?? []), ...member.value]
      const answer = this.#place(open, index + 1, new Map(chosen).set(name, value), fresh)
      if (alternatives.take(answer)) return answer
    }
    const answer = this.#placeFresh(member, chosen, (name) =>
      this.#place(open, index + 1, new Map(chosen).set(name, member.value), [...fresh, name]),
    )
    return alternatives.take(answer) ? answer : alternatives.answer
  }

  #knownNames(chosen: ReadonlyMap<string, readonly Literal[]>): readonly string[] {
    const names = new Set([...chosen.keys(), ...this.#goal.presence.keys()])
    for (const { properties } of this.#shapes) for (const name of properties.keys()) names.add(name)
    for (const { where } of this.#goal.members) {
      if (where.kind === 'name') names.add(where.name)
      if (where.kind === 'beyond') for (const name of where.shape.properties.keys()) names.add(name)
    }
    return [...names].sort()
  }

  #mayBe({ where, named }: Member, name: string): boolean | null {
    if (this.#isAbsent(name)) return false
    const verdicts = [isAt(where, name), ...named.map((literal) => this.#isNamed(literal, name))]
    if (verdicts.includes(false)) return false
    return verdicts.includes(null) ? null : true
  }

  #isNamed({ node, isMet }: Literal, name: string): boolean | null {
    const verdict = admitsValue(node, name, this.#search.evaluation)
    return verdict === null ? null : verdict === isMet
  }

  #isAbsent(name: string): boolean {
    return this.#goal.presence.get(name) === false || this.#search.isLeftOut(name)
  }

  /** A name that nothing mentions: by which patterns match it, its value has other conditions. */
  #placeFresh(
    member: Member,
    chosen: ReadonlyMap<string, readonly Literal[]>,
    next: (name: string) => SearchAnswer,
  ): SearchAnswer {
    const patterns = this.#patterns(member)
    if (patterns.length > MAX_PATTERNS) return openFor('many patterns of names')
    const known = this.#knownNames(chosen)
    const alternatives = new Alternatives()
    for (let mask = 0; mask < 2 ** patterns.length; mask += 1) {
      const matched = patterns.map((source, bit) => ({ source, isMatched: (mask & (1 << bit)) !== 0 }))
      if (!isPossible(member.where, matched)) continue
      const name = this.#nameOf(member.named, matched, known)
      if (name.kind !== 'sat') {
        alternatives.take(name)
        continue
      }
      const answer = next(String(name.value))
      if (alternatives.take(answer)) return answer
    }
    return alternatives.answer
  }

  #patterns({ where }: Pick<Member, 'where'>): readonly string[] {
    const patterns = new Set(this.#shapes.flatMap((shape) => shape.patterns.map(([pattern]) => pattern)))
    if (where.kind === 'pattern') patterns.add(where.pattern)
    if (where.kind === 'beyond') for (const [pattern] of where.shape.patterns) patterns.add(pattern)
    return [...patterns].sort(byCodeUnit)
  }

  #nameOf(
    named: readonly Literal[],
    matched: readonly { readonly source: string; readonly isMatched: boolean }[],
    known: readonly string[],
  ): SearchAnswer {
    const { nameNode, exclude, solveName } = this.#search
    const literals = matched.map(({ source, isMatched }) => ({
      node: nameNode([{ kind: 'pattern', source }]),
      isMet: isMatched,
    }))
    const text = nameNode([{ kind: 'types', types: new Set(['string']) }])
    const sought = [met(text), ...this.#named.map(met), ...named, ...literals]
    // A name that values do not hold by convention shows nothing: another one may do.
    const excluded = [...known]
    for (;;) {
      const name = solveName([...sought, { node: nameNode([exclude(excluded)]), isMet: false }])
      if (name.kind !== 'sat' || !this.#search.isLeftOut(String(name.value))) return name
      excluded.push(String(name.value))
    }
  }

  /** Every member that must be there has a value, and there are as many as there must be. */
  #complete(chosen: ReadonlyMap<string, readonly Literal[]>, fresh: readonly string[]): SearchAnswer {
    const { min, max } = this.#counts ?? { min: 0, max: 0 }
    const value = new Map<string, unknown>()
    // What is asked of by name fails first.
    const demanded = [...chosen]
    if (demanded.length > 1) demanded.sort(([, a], [, b]) => b.length - a.length)
    const together = new Together()
    for (const [name, literals] of demanded) {
      const answer = this.valueOf(name, literals)
      if (together.take(answer)) value.set(name, answer.value)
      else if (answer.kind === 'unsat') return answer
    }
    if (together.open !== null) return together.open
    if (value.size > max) return fresh.length > 1 ? openFor('two members that may be one') : UNSAT
    if (value.size < min) {
      const missing = this.#fill(value, chosen, min)
      if (missing !== null) return missing
    }
    return { kind: 'sat', value: Object.fromEntries([...value].sort(([a], [b]) => byCodeUnit(a, b))) }
  }

  /** A value for the member of a name that meets the goal and what is demanded of it. */
  valueOf(name: string, demanded: readonly Literal[]): SearchAnswer {
    if (this.#isAbsent(name) || this.#isMissedByNone(name, demanded)) return UNSAT
    const literals = demanded.slice()
    let isUnknown = false
    for (const shape of this.#shapes) {
      const nodes = shapeNodes(shape, name)
      const own = shape.properties.get(name)
      if (nodes !== null) nodes.forEach((node) => literals.push(met(node)))
      else if (own !== undefined) literals.push(met(own))
      isUnknown ||= nodes === null
    }
    const verdicts = this.#named.map((node) => admitsValue(node, name, this.#search.evaluation))
    if (verdicts.includes(false)) return UNSAT
    const answer = this.#search.solveMember(name, literals)
    if (answer.kind === 'unsat') return answer
    if (isUnknown) return openFor('a pattern of names')
    return verdicts.includes(null) ? openFor('a condition on names') : answer
  }

  /**
   * Whether a member must miss a schema that its own one lies within. Of a wide object most members are the same on both
   * sides.
   */
  #isMissedByNone(name: string, demanded: readonly Literal[]): boolean {
    const only = demanded[0]
    if (only === undefined || demanded.length > 1 || only.isMet || this.#named.length > 0) return false
    if (this.#shapes.some(({ patterns }) => patterns.length > 0)) return false
    return this.#shapes.some(({ properties, others }) => {
      const own = properties.get(name) ?? others
      return own !== null && this.#search.isCovered(own, only.node)
    })
  }

  /** Adds members until there are enough; null when there are. */
  #fill(
    value: Map<string, unknown>,
    chosen: ReadonlyMap<string, readonly Literal[]>,
    min: number,
  ): SearchAnswer | null {
    if (min > MAX_FILLED) return openFor('many properties')
    const alternatives = new Alternatives()
    for (const name of this.#knownNames(chosen)) {
      if (value.size >= min) return null
      if (value.has(name)) continue
      const answer = this.valueOf(name, [])
      if (alternatives.take(answer)) value.set(name, answer.value)
    }
    while (value.size < min) {
      const names = new Map([...value.keys()].map((name) => [name, []]))
      const answer = this.#placeFresh(
        { kind: 'member', where: { kind: 'any' }, named: [], value: [] },
        new Map([...chosen, ...names]),
        (name) => {
          const one = this.valueOf(name, [])
          return one.kind === 'sat' ? { kind: 'sat', value: [name, one.value] } : one
        },
      )
      if (!alternatives.take(answer)) return alternatives.answer
      const [name, member]: readonly unknown[] = Array.isArray(answer.value) ? answer.value : []
      value.set(String(name), member)
    }
    return null
  }
}

function isAt(where: Member['where'], name: string): boolean | null {
  if (where.kind === 'any') return true
  if (where.kind === 'name') return where.name === name
  if (where.kind === 'pattern') return isMatch(where.pattern, name)
  const { properties, patterns } = where.shape
  if (properties.has(name)) return false
  const matches = patterns.map(([pattern]) => isMatch(pattern, name))
  if (matches.includes(true)) return false
  return matches.includes(null) ? null : true
}

function isPossible(
  where: Member['where'],
  matched: readonly { readonly source: string; readonly isMatched: boolean }[],
): boolean {
  if (where.kind === 'pattern') return matched.some(({ source, isMatched }) => isMatched && source === where.pattern)
  if (where.kind !== 'beyond') return true
  const own = new Set(where.shape.patterns.map(([pattern]) => pattern))
  return !matched.some(({ source, isMatched }) => isMatched && own.has(source))
}
