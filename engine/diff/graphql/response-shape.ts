/**
 * Fields that one operation can select next to each other under one name. They must be null in the same places, or the
 * operation is refused (GraphQL §5.3.2, SameResponseShape).
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { namedTypeOf, type GraphqlSchema, type NamedType } from '../../contracts/graphql/schema.ts'
import type { Sides } from '../sides.ts'
import type { References } from './references.ts'

interface ShapeConflict {
  /** The field that can be selected next to the changed one, e.g. `Person.name: String`. */
  readonly field: string
  /** Whether one selection can contain both types. Else fragments or fields of one name may bring them together. */
  readonly isCertain: boolean
}

export class ResponseShapes {
  readonly #sides: Sides<GraphqlSchema>
  readonly #references: References
  #selections: Selections | undefined

  /** `references` are those of the base, in which operations were valid. */
  constructor(sides: Sides<GraphqlSchema>, references: References) {
    this.#sides = sides
    this.#references = references
  }

  /** A field of another type that had the same shape as the field, and now has another one. */
  conflict(type: string, name: string): ShapeConflict | null {
    const { base, head } = this.#sides
    const [baseOwn, headOwn] = [fieldType(base, type, name), fieldType(head, type, name)]
    if (baseOwn === null || headOwn === null) return null
    const others = [...base.types.keys()].sort(byCodeUnit).filter((other) => {
      const [before, after] = [fieldType(base, other, name), fieldType(head, other, name)]
      const isThere = other !== type && before !== null && after !== null
      return isThere && hasSameResponseShape(baseOwn, before, base) && !hasSameResponseShape(headOwn, after, head)
    })
    if (others.length === 0) return null
    const selections = (this.#selections ??= new Selections(base, this.#references))
    const certain = others.find((other) => selections.contain(type, other))
    const found = certain ?? others.find((other) => selections.perhapsContain(type, other))
    if (found === undefined) return null
    return { field: `${found}.${name}: ${fieldType(head, found, name)}`, isCertain: certain !== undefined }
  }
}

/** The types that one selection can contain. */
class Selections {
  readonly #schema: GraphqlSchema
  /** The objects that a selection can be about, for each type with which one begins: of a field, or of the root. */
  readonly #begun: readonly ReadonlySet<string>[]
  readonly #objects = new Map<string, Set<string>>()
  readonly #groups = new NameGroups()

  constructor(schema: GraphqlSchema, { outputs }: References) {
    this.#schema = schema
    for (const type of schema.types.values()) this.#readObjects(type)
    const roots = [...schema.roots.values()].map(({ name }) => name)
    this.#begun = [...new Set([...outputs, ...roots])].map((name) => this.#objectsOf(name))
    // Fields of one name in joined types join the types of these fields.
    for (let isOpen = true; isOpen;) isOpen = this.#joinBelow()
  }

  contain(one: string, other: string): boolean {
    const [objects, others] = [this.#objectsOf(one), this.#objectsOf(other)]
    return this.#begun.some((begun) => !begun.isDisjointFrom(objects) && !begun.isDisjointFrom(others))
  }

  perhapsContain(one: string, other: string): boolean {
    return this.#groups.areJoined(one, other)
  }

  #readObjects(type: NamedType): void {
    const { name, kind } = type
    if (kind === 'object') this.#objectsOf(name).add(name)
    const related = kind === 'union' ? type.members : 'interfaces' in type ? type.interfaces : []
    for (const [other] of related) {
      this.#groups.join(name, other)
      if (kind === 'object') this.#objectsOf(other).add(name)
      if (kind === 'union') this.#objectsOf(name).add(other)
    }
  }

  #objectsOf(type: string): Set<string> {
    const known = this.#objects.get(type) ?? new Set()
    this.#objects.set(type, known)
    return known
  }

  /** Returns whether types were joined that had not been. */
  #joinBelow(): boolean {
    const first = new Map<string, string>()
    let isNew = false
    for (const type of this.#schema.types.values()) {
      if (!('interfaces' in type)) continue
      for (const field of type.fields.values()) {
        const [key, inner] = [`${this.#groups.nameOf(type.name)}.${field.name}`, namedTypeOf(field.type)]
        const known = first.get(key)
        if (known === undefined) first.set(key, inner)
        else if (this.#groups.join(known, inner)) isNew = true
      }
    }
    return isNew
  }
}

function fieldType({ types }: GraphqlSchema, type: string, name: string): string | null {
  const owner = types.get(type)
  return owner !== undefined && 'interfaces' in owner ? (owner.fields.get(name)?.type ?? null) : null
}

/** Objects are compared by their fields. */
function hasSameResponseShape(one: string, other: string, { types }: GraphqlSchema): boolean {
  const shapeOf = (type: string): string => {
    const name = namedTypeOf(type)
    const kind = types.get(name)?.kind
    return kind === 'object' || kind === 'interface' || kind === 'union' ? type.replace(name, '{}') : type
  }
  return shapeOf(one) === shapeOf(other)
}

/** Names that are joined in groups. */
class NameGroups {
  readonly #parents = new Map<string, string>()

  /** One name stands for all of a group. */
  nameOf(name: string): string {
    let root = name
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent
    if (root !== name) this.#parents.set(name, root)
    return root
  }

  /** Returns whether they were apart. */
  join(one: string, other: string): boolean {
    const [root, otherRoot] = [this.nameOf(one), this.nameOf(other)]
    if (root !== otherRoot) this.#parents.set(root, otherRoot)
    return root !== otherRoot
  }

  areJoined(one: string, other: string): boolean {
    return this.nameOf(one) === this.nameOf(other)
  }
}
