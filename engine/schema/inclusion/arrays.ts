/** An array that meets what is sure of a goal: the shortest one that has all demanded items. */
import { Alternatives, BOUND, openFor, Together, UNSAT, type SearchAnswer, type Solve } from './answer.ts'
import { itemNode } from './evaluate.ts'
import { met, unmet, type Atom } from './atoms.ts'
import type { Goal } from './literals.ts'
import type { Bound, Constraint, Items, Literal, SchemaNode } from './model.ts'
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

class ArrayGoal {
  readonly #search: ArraySearch
  readonly #items: readonly Items[]
  readonly #demands: readonly ItemAtom[]
  readonly #contains: readonly Extract<Constraint, { kind: 'contains' }>[]
  readonly #counts: { readonly min: number; readonly max: number } | null
  readonly #isUnique: boolean
  readonly #isRepeated: boolean

  constructor(goal: Goal, search: ArraySearch) {
    this.#search = search
    const conditions = goal.kept.filter(({ isMet }) => isMet).map(({ constraint }) => constraint)
    this.#items = conditions.filter((one): one is Items => one.kind === 'items')
    this.#contains = conditions.flatMap((one) => (one.kind === 'contains' ? [one] : []))
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
    if (known + wanted > MAX_LENGTH || this.#counts.min > MAX_LENGTH) return openFor('a long array')
    const tooMany = this.#exceeded()
    if (tooMany !== null) return tooMany
    const single = this.#demands.flatMap((demand) => Array.from({ length: demand.count }, () => demand))
    if (!this.#isRepeated) return this.#place(single, new Map(), known)
    return this.#placeTwins(single, known)
  }

  /** More items than `maxContains` that all meet its schema. */
  #exceeded(): SearchAnswer | null {
    for (const { node, max } of this.#contains) {
      if (max === null) continue
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
        answer = other.kind === 'sat' ? other : openFor('items that must differ')
      }
      if (answer.kind === 'unsat') return answer
      if (together.take(answer)) value.push(answer.value)
    }
    return together.open ?? { kind: 'sat', value }
  }

  #itemAt(position: number, chosen: ReadonlyMap<number, readonly Literal[]>, others: readonly unknown[]): SearchAnswer {
    const { solve, valuesNode } = this.#search
    const differs = others.length === 0 ? [] : [unmet(valuesNode(others))]
    return solve([...this.#conditionsAt(position), ...(chosen.get(position) ?? []), ...differs])
  }
}

export function findArray(goal: Goal, search: ArraySearch): SearchAnswer {
  return new ArrayGoal(goal, search).find()
}
