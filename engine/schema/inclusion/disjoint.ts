/**
 * Whether two schemas have no value in common. Of objects that only say what their members are, the members that one of them
 * requires decide it, so that no value of both is made. What looks at more is left to a search.
 */
import { constraintsOfAll, isMemberwise } from './members.ts'
import type { Constraint, SchemaNode, Shape } from './model.ts'

/** Members within members that are looked into. */
const MAX_DEPTH = 12

export class Disjointness {
  readonly #known = new Map<string, boolean>()
  /** Whether a search proves that no value meets both. */
  readonly #search: (a: SchemaNode, b: SchemaNode) => boolean

  constructor(search: (a: SchemaNode, b: SchemaNode) => boolean) {
    this.#search = search
  }

  areDisjoint(a: SchemaNode, b: SchemaNode, depth = 0): boolean {
    const key = a.id < b.id ? `${a.id} ${b.id}` : `${b.id} ${a.id}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    // Until it is known, so that recursion ends.
    this.#known.set(key, false)
    const one = plainObject(a)
    const other = plainObject(b)
    const answer =
      one === null || other === null
        ? (areListed(a, b) ?? this.#search(a, b))
        : this.#lacksMember(one, other, depth) || this.#lacksMember(other, one, depth)
    this.#known.set(key, answer)
    return answer
  }

  /** Whether one requires a member that has no value in both. */
  #lacksMember(one: PlainObject, other: PlainObject, depth: number): boolean {
    if (depth > MAX_DEPTH) return false
    return one.required.some((name) => {
      const [own, others] = [shapeMember(one.shape, name), shapeMember(other.shape, name)]
      if ([own, others].some((node) => node?.constraints.some(({ kind }) => kind === 'never'))) return true
      return own !== null && others !== null && this.areDisjoint(own, others, depth + 1)
    })
  }
}

/** By types and lists of values alone; null where other conditions count. */
function areListed({ constraints: a }: SchemaNode, { constraints: b }: SchemaNode): boolean | null {
  if (a.some((one) => b.some((other) => areApart(one, other)))) return true
  const [types, others] = [a, b].map((list) => (list.length === 1 && list[0]?.kind === 'types' ? list[0].types : null))
  return types != null && others != null ? false : null
}

function areApart(a: Constraint, b: Constraint): boolean {
  if (a.kind === 'types' && b.kind === 'types') return a.types.isDisjointFrom(b.types)
  return a.kind === 'values' && b.kind === 'values' && !a.values.some((value) => b.set.has(value))
}

interface PlainObject {
  readonly shape: Shape | null
  readonly required: readonly string[]
}

/** Null for what may be of another type, or looks at more than its members. */
export function plainObject(node: SchemaNode): PlainObject | null {
  const constraints = constraintsOfAll(node)
  const [shape = null, more] = constraints.filter((one): one is Shape => one.kind === 'shape')
  if (more !== undefined || !constraints.every(isMemberwise) || !constraints.some(isObjectOnly)) return null
  return { shape, required: constraints.flatMap((one) => (one.kind === 'required' ? [one.name] : [])) }
}

function isObjectOnly(constraint: Constraint): boolean {
  return constraint.kind === 'types' && constraint.types.size === 1 && constraint.types.has('object')
}

/** The schema of a member by its name. */
export function shapeMember(shape: Shape | null, name: string): SchemaNode | null {
  return shape?.properties.get(name) ?? shape?.others ?? null
}
