/** An array that meets what is sure of a goal: the shortest one that has all demanded items. */
import { Alternatives, BOUND, openFor, Together, UNSAT, type SearchAnswer, type Solve } from './answer.ts'
import { itemNode } from './evaluate.ts'
import { met, unmet, type Atom } from './atoms.ts'
import { valueKey } from '../equality.ts'
import type { Goal } from './literals.ts'
import type { Bound, Items, Literal, SchemaNode } from './model.ts'
import { countsOf } from './scalars.ts'

type ItemAtom = Extract<Atom, { kind: 'item' }>

interface ArraySearch {
  readonly solve: Solve
  /** False once the steps are used up. */
  readonly spend: () => boolean
  readonly valuesNode: (values: readonly unknown[]) => SchemaNode
}

/** Longer arrays than these are not made. */
const MAX_LENGTH = 64

/** The values that one position may have, as many as are needed. */
interface Domain {
  readonly values: readonly unknown[]
  /** `unsat` where there are no further values, `open` where that is not known, null where there are enough. */
  readonly end: SearchAnswer | null
}

class ArrayGoal {
  readonly #search: ArraySearch
  readonly #items: readonly Items[]
  readonly #demands: readonly ItemAtom[]
  /** How many items at most meet a schema. */
  readonly #limits: readonly { readonly node: SchemaNode; readonly max: number }[]
  readonly #counts: { readonly min: number; readonly max: number } | null
  readonly #isUnique: boolean
  readonly #isRepeated: boolean

  constructor(goal: Goal, search: ArraySearch) {
    this.#search = search
    const conditions = goal.kept.filter(({ isMet }) => isMet).map(({ constraint }) => constraint)
    this.#items = conditions.filter((one): one is Items => one.kind === 'items')
    this.#limits = conditions.flatMap((one) =>
      one.kind === 'contains' && one.max !== null ? [{ node: one.node, max: one.max }] : [],
    )
    this.#counts = countsOf(conditions.filter((one): one is Bound => one.kind === 'bound' && one.of === 'array'))
    this.#isUnique = conditions.some(({ kind }) => kind === 'unique')
    this.#isRepeated = goal.kept.some(({ constraint, isMet }) => constraint.kind === 'unique' && !isMet)
    this.#demands = goal.items
  }

  find(): SearchAnswer {
    if (this.#counts === null) return UNSAT
    const prefix = Math.max(0, ...this.#items.map((items) => items.prefix.length))
    const named = Math.max(0, ...this.#demands.map(({ from }) => from + 1))
    const known = Math.max(prefix, named)
    const wanted = this.#demands.reduce((sum, { count }) => sum + count, 0)
    if (known + wanted > MAX_LENGTH || this.#counts.min > MAX_LENGTH) return this.#long(prefix)
    const tooMany = this.#exceeded()
    if (tooMany !== null) return tooMany
    const single = this.#demands.flatMap((demand) => Array.from({ length: demand.count }, () => demand))
    if (!this.#isRepeated) return this.#place(single, new Map(), known)
    return this.#placeTwins(single, known)
  }

  /** Of an array that is not made: whether it has fewer different items than it must have. */
  #long(prefix: number): SearchAnswer {
    const least = (this.#counts?.min ?? 0) - prefix
    if (!this.#isUnique || least <= 0) return openFor('a long array')
    const { end } = this.#domainOf(this.#conditionsAt(prefix), Math.min(least, MAX_LENGTH))
    return end?.kind === 'unsat' ? end : openFor('a long array')
  }

  /** More items than `maxContains` that all meet its schema. */
  #exceeded(): SearchAnswer | null {
    for (const { node, max } of this.#limits) {
      for (const { count, value } of this.#demands) {
        if (count <= max) continue
        const answer = this.#search.solve([...value, unmet(node)])
        if (answer.kind === 'unsat' && answer.depth === Infinity) return answer
      }
    }
    return null
  }

  /** Two items that are equal. */
  #placeTwins(demands: readonly ItemAtom[], known: number): SearchAnswer {
    const alternatives = new Alternatives()
    const last = Math.min(known + 1, (this.#counts?.max ?? 0) - 1)
    for (let second = 1; second <= last; second += 1) {
      for (let first = 0; first < second; first += 1) {
        const both = [...this.#conditionsAt(first), ...this.#conditionsAt(second)]
        const twin = this.#search.solve(both)
        if (twin.kind !== 'sat') {
          alternatives.take(twin)
          continue
        }
        const same = [met(this.#search.valuesNode([twin.value]))]
        const chosen = new Map<number, readonly Literal[]>([
          [first, same],
          [second, same],
        ])
        const answer = this.#place(demands, chosen, known)
        if (alternatives.take(answer)) return answer
        // Another value may do for both.
        if (answer.kind === 'unsat' && demands.length > 0) alternatives.take(openFor('equal items'))
      }
    }
    return alternatives.answer
  }

  #conditionsAt(index: number): readonly Literal[] {
    return this.#items.flatMap((items) => {
      const node = itemNode(items, index)
      return node === null ? [] : [met(node)]
    })
  }

  /** Chooses a position for each demanded item; beyond the named positions the next free one stands for all. */
  #place(
    [demand, ...further]: readonly ItemAtom[],
    chosen: ReadonlyMap<number, readonly Literal[]>,
    known: number,
    taken: ReadonlyMap<ItemAtom, ReadonlySet<number>> = new Map(),
  ): SearchAnswer {
    if (demand === undefined) return this.#complete(chosen)
    if (!this.#search.spend()) return openFor(BOUND)
    const own = taken.get(demand) ?? new Set()
    const end = Math.max(known, ...[...chosen.keys()].map((position) => position + 1), demand.from)
    const alternatives = new Alternatives()
    for (let position = demand.from; position <= (demand.isOnly ? demand.from : end); position += 1) {
      if (own.has(position)) continue
      const value = [...(chosen.get(position) ?? []), ...demand.value]
      const placed = new Map(chosen).set(position, value)
      const item = chosen.has(position) ? this.#itemAt(position, placed, []) : null
      const next = new Map(taken).set(demand, new Set([...own, position]))
      const answer = item?.kind === 'unsat' ? item : this.#place(further, placed, known, next)
      if (alternatives.take(answer)) return answer
    }
    return alternatives.answer
  }

  #complete(chosen: ReadonlyMap<number, readonly Literal[]>): SearchAnswer {
    const { min, max } = this.#counts ?? { min: 0, max: 0 }
    const length = Math.max(min, ...[...chosen.keys()].map((position) => position + 1))
    if (length > max) return UNSAT
    const overfull = this.#overfull(length, chosen)
    if (overfull !== null) return overfull
    const value: unknown[] = []
    // The last item is the one that is asked for.
    const answers = new Map<number, SearchAnswer>()
    const together = new Together()
    for (const position of [...chosen.keys()].sort((a, b) => b - a)) {
      const answer = this.#itemAt(position, chosen, [])
      if (answer.kind === 'unsat') return answer
      together.take(answer)
      answers.set(position, answer)
    }
    for (let position = 0; position < length; position += 1) {
      let answer = answers.get(position) ?? this.#itemAt(position, chosen, [])
      if (this.#isUnique && answer.kind === 'sat' && position > 0) {
        const other = this.#itemAt(position, chosen, value)
        if (other.kind !== 'sat') return this.#different(length, chosen)
        answer = other
      }
      if (answer.kind === 'unsat') return answer
      if (together.take(answer)) value.push(answer.value)
    }
    return together.open ?? { kind: 'sat', value }
  }

  /** More positions than `maxContains` whose items cannot miss its schema; null where there are none. */
  #overfull(length: number, chosen: ReadonlyMap<number, readonly Literal[]>): SearchAnswer | null {
    for (const { node, max } of this.#limits) {
      let [forced, depth] = [0, Infinity]
      for (let position = 0; position < length; position += 1) {
        const answer = this.#search.solve([...this.#conditionsOf(position, chosen), unmet(node)])
        if (answer.kind !== 'unsat') continue
        forced += 1
        depth = Math.min(depth, answer.depth)
      }
      if (forced > max) return { kind: 'unsat', depth }
    }
    return null
  }

  /** Different items for all positions, however the values are distributed. */
  #different(length: number, chosen: ReadonlyMap<number, readonly Literal[]>): SearchAnswer {
    const known = new Map<string, Domain>()
    const domains = Array.from({ length }, (_, position) => {
      const literals = this.#conditionsOf(position, chosen)
      const key = literals.map(({ node, isMet }) => (isMet ? node.id : -node.id)).join(' ')
      const domain = known.get(key) ?? this.#domainOf(literals, length)
      known.set(key, domain)
      return domain
    })
    const isOpen = domains.some(({ end }) => end?.kind === 'open')
    const values = differentValues(domains.flatMap((one) => (one.end?.kind === 'open' ? [] : [one.values])))
    if (values === null) return { kind: 'unsat', depth: Math.min(...domains.map(depthOf)) }
    return isOpen ? openFor('items that must differ') : { kind: 'sat', value: values }
  }

  #domainOf(literals: readonly Literal[], most: number): Domain {
    const values: unknown[] = []
    while (values.length < most) {
      if (!this.#search.spend()) return { values, end: openFor(BOUND) }
      const answer = this.#search.solve([...literals, ...this.#exclude(values)])
      if (answer.kind !== 'sat') return { values, end: answer }
      values.push(answer.value)
    }
    return { values, end: null }
  }

  /** An item; where there is one, it does not meet what only so many items may meet. */
  #itemAt(position: number, chosen: ReadonlyMap<number, readonly Literal[]>, others: readonly unknown[]): SearchAnswer {
    const literals = [...this.#conditionsOf(position, chosen), ...this.#exclude(others)]
    if (this.#limits.length > 0) {
      const spare = this.#search.solve([...literals, ...this.#limits.map(({ node }) => unmet(node))])
      if (spare.kind === 'sat') return spare
    }
    return this.#search.solve(literals)
  }

  #conditionsOf(position: number, chosen: ReadonlyMap<number, readonly Literal[]>): readonly Literal[] {
    return [...this.#conditionsAt(position), ...(chosen.get(position) ?? [])]
  }

  #exclude(values: readonly unknown[]): readonly Literal[] {
    return values.length === 0 ? [] : [unmet(this.#search.valuesNode(values))]
  }
}

function depthOf({ end }: Domain): number {
  return end?.kind === 'unsat' ? end.depth : Infinity
}

/** One value of each list, all different; null where there are too few. Along each path that frees a value the lists change theirs. */
function differentValues(lists: readonly (readonly unknown[])[]): readonly unknown[] | null {
  const owners = new Map<string, number>()
  const values: unknown[] = []
  const assign = (index: number, tried: Set<string>): boolean =>
    (lists[index] ?? []).some((value) => {
      const key = valueKey(value)
      if (tried.has(key)) return false
      tried.add(key)
      const owner = owners.get(key)
      if (owner !== undefined && !assign(owner, tried)) return false
      owners.set(key, index)
      values[index] = value
      return true
    })
  return lists.every((_, index) => assign(index, new Set())) ? values : null
}

export function findArray(goal: Goal, search: ArraySearch): SearchAnswer {
  return new ArrayGoal(goal, search).find()
}
