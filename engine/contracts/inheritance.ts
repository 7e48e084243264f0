/**
 * Which shared schemas inherit from which (OpenAPI 3.0.3 §4.7.25.1). A schema with another one in its `allOf` may be used
 * in the place of that one, if that one or one above it has a discriminator.
 */
import { pointerToken } from '../common/json-pointer.ts'
import { isRecord, memberOf, pointerOf, stepInto, type Located } from '../schema/located.ts'
import { hasMeaningfulSibling } from '../schema/source.ts'
import type { OpenApiDocuments } from './documents.ts'

const MAX_NESTED = 16

export class Inheritance {
  readonly #documents: OpenApiDocuments
  readonly #shared: Located | null
  /** References to the schemas that inherit from one directly, by its pointer. */
  readonly #children = new Map<string, string[]>()

  constructor(documents: OpenApiDocuments) {
    const { root, dialect } = documents
    const components = dialect === 'openapi-2.0' ? root : memberOf(root, 'components')
    this.#documents = documents
    this.#shared = components && memberOf(components, dialect === 'openapi-2.0' ? 'definitions' : 'schemas')
    const selecting = this.#collect()
    this.#keep(selecting)
  }

  /** References to those that inherit directly; null for a schema that is not shared. */
  subtypes({ at, document }: Located): readonly string[] | null {
    const pointer = pointerOf(at, document)
    return this.#children.get(pointer) ?? (this.#isShared(pointer) ? [] : null)
  }

  #isShared(pointer: string): boolean {
    if (this.#shared === null) return false
    const holder = `${pointerOf(this.#shared.at)}/`
    return pointer.startsWith(holder) && !pointer.includes('/', holder.length)
  }

  /** Notes the children of each schema; returns the pointers of those with a discriminator. */
  #collect(): readonly string[] {
    const shared = this.#shared
    if (shared === null || !isRecord(shared.value)) return []
    const selecting: string[] = []
    const holder = pointerOf(shared.at)
    for (const [name, value] of Object.entries(shared.value)) {
      const schema = { value, at: stepInto(shared.at, name), document: '' }
      const pointer = `${holder}/${pointerToken(name)}`
      if (isRecord(value) && value.discriminator !== undefined) selecting.push(pointer)
      for (const parent of new Set(this.#parentsOf(schema, 0))) {
        const children = this.#children.get(parent)
        if (children === undefined) this.#children.set(parent, [`#${pointer}`])
        else children.push(`#${pointer}`)
      }
    }
    return selecting
  }

  /** Leaves only what inherits from a schema with a discriminator. */
  #keep(selecting: readonly string[]): void {
    const kept = new Set<string>()
    const open = [...selecting]
    for (let pointer = open.pop(); pointer !== undefined; pointer = open.pop()) {
      if (kept.has(pointer)) continue
      kept.add(pointer)
      for (const child of this.#children.get(pointer) ?? []) open.push(child.slice(1))
    }
    for (const pointer of this.#children.keys()) if (!kept.has(pointer)) this.#children.delete(pointer)
  }

  /** Pointers of the schemas that a schema consists of: in `allOf`, or beside its own keywords where those count. */
  #parentsOf(schema: Located, depth: number): readonly string[] {
    const { value } = schema
    if (!isRecord(value) || depth === MAX_NESTED) return []
    const isBeside = this.#documents.dialect === 'json-schema' && hasMeaningfulSibling(value)
    if (typeof value.$ref === 'string' && (depth > 0 || isBeside)) {
      const target = this.#documents.follow(schema)
      return target === null ? [] : [pointerOf(target.at, target.document)]
    }
    if (typeof value.$ref === 'string' || !Array.isArray(value.allOf)) return []
    const at = stepInto(schema.at, 'allOf')
    const parts: readonly unknown[] = value.allOf
    return parts.flatMap((part, index) =>
      this.#parentsOf({ value: part, at: stepInto(at, String(index)), document: schema.document }, depth + 1),
    )
  }
}
