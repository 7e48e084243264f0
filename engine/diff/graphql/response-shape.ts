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
  readonly #rivals = new Map<string, Rivals>()
  #selections: Selections | undefined
  #owners: ReadonlyMap<string, readonly string[]> | undefined

  /** `references` are those of the base, in which operations were valid. */
  constructor(sides: Sides<GraphqlSchema>, references: References) {
    this.#sides = sides
    this.#references = references
  }

  /** A field of another type that had the same shape as the field, and now has another one. */
  conflict(type: string, name: string): ShapeConflict | null {
    const shapes = this.#shapesOf(type, name)
    if (shapes === null) return null
    const selections = (this.#selections ??= new Selections(this.#sides.base, this.#references))
    const rivals = this.#rivalsOf(name, selections)
    const certain = firstType(selections.begunWith(type).map((begun) => rivals.find(shapes, begun)))
    const found = certain ?? rivals.find(shapes, selections.groupOf(type))
    if (found === null) return null
    const { head } = this.#sides
    return { field: `${found}.${name}: ${fieldType(head, found, name)}`, isCertain: certain !== null }
  }

  /** The types that have a field of the name, by where one selection can contain it next to others. */
  #rivalsOf(name: string, selections: Selections): Rivals {
    const known = this.#rivals.get(name)
    if (known !== undefined) return known
    const rivals = new Rivals()
    for (const type of (this.#owners ??= ownersOf(this.#sides.base)).get(name) ?? []) {
      const shapes = this.#shapesOf(type, name)
      if (shapes === null) continue
      for (const begun of selections.begunWith(type)) rivals.add(type, shapes, begun)
      rivals.add(type, shapes, selections.groupOf(type))
    }
    this.#rivals.set(name, rivals)
    return rivals
  }

  /** Null if one of the sides does not have the field. */
  #shapesOf(type: string, name: string): FieldShapes | null {
    const { base, head } = this.#sides
    const [before, after] = [fieldType(base, type, name), fieldType(head, type, name)]
    return before === null || after === null ? null : { before: shapeOf(before, base), after: shapeOf(after, head) }
  }
}

interface FieldShapes {
  readonly before: string
  readonly after: string
}

/** A type with a field, and the shape that the field has now. */
interface Rival {
  readonly type: string
  readonly after: string
}

/**
 * The types that have one field, by the shape that it had and by where they meet. The first type is kept, and the first
 * one with another shape now, so that a changed field finds its conflict without a look at all types.
 */
class Rivals {
  readonly #rivals = new Map<string, { readonly first: Rival; other: Rival | null }>()

  /** Types are added in order. */
  add(type: string, { before, after }: FieldShapes, meeting: string): void {
    const key = `${meeting} ${before}`
    const known = this.#rivals.get(key)
    if (known === undefined) this.#rivals.set(key, { first: { type, after }, other: null })
    else if (known.other === null && known.first.after !== after) known.other = { type, after }
  }

  /** The first type whose field had the same shape, and now has another one. */
  find({ before, after }: FieldShapes, meeting: string): string | null {
    const known = this.#rivals.get(`${meeting} ${before}`)
    if (known === undefined) return null
    return (known.first.after === after ? known.other?.type : known.first.type) ?? null
  }
}

function firstType(types: readonly (string | null)[]): string | null {
  return types.filter((type) => type !== null).sort(byCodeUnit)[0] ?? null
}

/** The types that have a field, in order, by the name of the field. */
function ownersOf({ types }: GraphqlSchema): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string[]>()
  for (const name of [...types.keys()].sort(byCodeUnit)) {
    const type = types.get(name)
    if (type === undefined || !('interfaces' in type)) continue
    for (const field of type.fields.keys()) {
      const known = owners.get(field)
      if (known === undefined) owners.set(field, [name])
      else known.push(name)
    }
  }
  return owners
}

/** The types that one selection can contain. */
class Selections {
  /** The objects that each type can be. */
  readonly #objects = new Map<string, Set<string>>()
  /** The types with which a selection begins that can be about an object: those of a field, or of the root. */
  readonly #begun = new Map<string, string[]>()
  readonly #groups: NameGroups

  constructor(schema: GraphqlSchema, { outputs }: References) {
    this.#groups = new NameGroups(schema)
    for (const type of schema.types.values()) this.#readObjects(type)
    const roots = [...schema.roots.values()].map(({ name }) => name)
    for (const begun of new Set([...outputs, ...roots])) {
      for (const object of this.#objectsOf(begun)) {
        const known = this.#begun.get(object)
        if (known === undefined) this.#begun.set(object, [begun])
        else known.push(begun)
      }
    }
  }

  /** Where a selection begins that can contain the type: `of T`. */
  begunWith(type: string): readonly string[] {
    const begun = new Set([...this.#objectsOf(type)].flatMap((object) => this.#begun.get(object) ?? []))
    return [...begun].map((name) => `of ${name}`)
  }

  /** The types that fragments or fields of one name may bring together: `with T`. */
  groupOf(type: string): string {
    return `with ${this.#groups.nameOf(type)}`
  }

  #readObjects(type: NamedType): void {
    const { name, kind } = type
    if (kind === 'object') this.#objectsOf(name).add(name)
    for (const [other] of relatedTypes(type)) {
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
}

/** The members of a union, or the interfaces of a type. */
function relatedTypes(type: NamedType): Iterable<readonly [string, unknown]> {
  return type.kind === 'union' ? type.members : 'interfaces' in type ? type.interfaces : []
}

function fieldType({ types }: GraphqlSchema, type: string, name: string): string | null {
  const owner = types.get(type)
  return owner !== undefined && 'interfaces' in owner ? (owner.fields.get(name)?.type ?? null) : null
}

/** Objects are compared by their fields. */
function shapeOf(type: string, { types }: GraphqlSchema): string {
  const name = namedTypeOf(type)
  const kind = types.get(name)?.kind
  return kind === 'object' || kind === 'interface' || kind === 'union' ? type.replace(name, '{}') : type
}

/** Types in groups. The fields of one name in a group have their types in one group too. */
class NameGroups {
  readonly #parents = new Map<string, string>()
  /** The type of each field of a group, by the name of the group. */
  readonly #fields = new Map<string, Map<string, string>>()

  constructor({ types }: GraphqlSchema) {
    for (const type of types.values()) {
      if (!('interfaces' in type)) continue
      const fields = [...type.fields.values()].map((field) => [field.name, namedTypeOf(field.type)] as const)
      this.#fields.set(type.name, new Map(fields))
    }
  }

  /** One name stands for all of a group. */
  nameOf(name: string): string {
    let root = name
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent
    if (root !== name) this.#parents.set(name, root)
    return root
  }

  join(one: string, other: string): void {
    const open: (readonly [string, string])[] = [[one, other]]
    for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
      const [root, otherRoot] = [this.nameOf(pair[0]), this.nameOf(pair[1])]
      if (root !== otherRoot) open.push(...this.#merge(root, otherRoot))
    }
  }

  /** The smaller group joins the larger one. Returns the types of the fields that both had. */
  #merge(root: string, otherRoot: string): readonly (readonly [string, string])[] {
    const isSmaller = this.#fieldsOf(root).size < this.#fieldsOf(otherRoot).size
    const [kept, gone] = isSmaller ? [otherRoot, root] : [root, otherRoot]
    const fields = this.#fieldsOf(kept)
    const met: (readonly [string, string])[] = []
    for (const [name, type] of this.#fieldsOf(gone)) {
      const known = fields.get(name)
      if (known === undefined) fields.set(name, type)
      else met.push([known, type])
    }
    this.#parents.set(gone, kept)
    this.#fields.delete(gone)
    this.#fields.set(kept, fields)
    return met
  }

  #fieldsOf(root: string): Map<string, string> {
    return this.#fields.get(root) ?? new Map()
  }
}
