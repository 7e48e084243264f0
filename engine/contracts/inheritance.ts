/**
 * Which shared schemas inherit from which (OpenAPI 3.0.3 §4.7.25.1). A schema with another one in its `allOf` may be used
 * in the place of that one, if that one or one above it has a discriminator.
 */
import { isRecord, pointerOf, ROOT, stepInto, type Located } from '../schema/located.ts'
import { hasMeaningfulSibling, hidesSiblings, type SchemaSource } from '../schema/source.ts'

const MAX_NESTED = 16

interface FollowedSchemas extends Pick<SchemaSource, 'dialect' | 'resolve'> {
  /** The object itself, or the target of its `$ref`; null if there is none. */
  follow(located: Located): Located | null
}

/** The shared schemas of one file. Keys are pointers with the files that they lead into. */
interface SchemaFamily {
  /** The schemas themselves, where a name stands for another file's as well. */
  readonly members: ReadonlySet<string>
  /** Names of those that inherit from a schema directly. */
  readonly children: ReadonlyMap<string, readonly string[]>
}

export class Inheritance {
  readonly #documents: FollowedSchemas
  readonly #families = new Map<string, SchemaFamily>()

  constructor(documents: FollowedSchemas) {
    this.#documents = documents
  }

  /** Names of what inherits directly, in the contract or in the schema's own file; null for a schema that is not shared. */
  subtypes({ at, document }: Located): readonly string[] | null {
    const pointer = pointerOf(at, document)
    const families = [...new Set(['', document])].map((file) => this.#familyOf(file))
    if (!families.some(({ members }) => members.has(pointer))) return null
    return [...new Set(families.flatMap(({ children }) => children.get(pointer) ?? []))]
  }

  #familyOf(document: string): SchemaFamily {
    const known = this.#families.get(document)
    if (known !== undefined) return known
    const family = this.#collect(document)
    this.#families.set(document, family)
    return family
  }

  #collect(document: string): SchemaFamily {
    const children = new Map<string, string[]>()
    const pointers = new Map<string, string>()
    const selecting: string[] = []
    for (const [name, schema] of this.#membersOf(document)) {
      const pointer = pointerOf(schema.at, schema.document)
      pointers.set(name, pointer)
      if (selects(schema)) selecting.push(pointer)
      for (const parent of this.#parentsOf(schema, 0)) {
        const above = pointerOf(parent.at, parent.document)
        if (selects(parent)) selecting.push(above)
        const names = children.get(above)
        if (names === undefined) children.set(above, [name])
        else if (names.at(-1) !== name) names.push(name)
      }
    }
    return { members: new Set(pointers.values()), children: below(selecting, children, pointers) }
  }

  /**
   * The shared schemas of a file by name. One that only refers to a schema without a name here, as of another file or of
   * a bundle, is what it refers to.
   */
  *#membersOf(document: string): Iterable<readonly [string, Located]> {
    const { dialect } = this.#documents
    const holder = dialect === 'openapi-2.0' ? '#/definitions' : '#/components/schemas'
    const shared = this.#documents.resolve(holder, { value: null, at: ROOT, document })
    if (shared === null || !isRecord(shared.value)) return
    for (const [name, value] of Object.entries(shared.value)) {
      const written = { value, at: stepInto(shared.at, name), document: shared.document }
      const schema = this.#isReference(value) ? this.#documents.follow(written) : written
      const isOther = schema !== null && schema !== written && isDirectlyIn(shared, schema)
      if (schema !== null && !isOther) yield [name, schema]
    }
  }

  /** Whether a schema consists of a reference alone. */
  #isReference(value: unknown): boolean {
    if (!isRecord(value) || typeof value.$ref !== 'string') return false
    return hidesSiblings(this.#documents.dialect) || !hasMeaningfulSibling(value)
  }

  /** The schemas that a schema consists of: in `allOf`, or beside its own keywords where those count. */
  #parentsOf(schema: Located, depth: number): readonly Located[] {
    const { value } = schema
    if (!isRecord(value) || depth === MAX_NESTED) return []
    if (typeof value.$ref === 'string') {
      const target = this.#documents.follow(schema)
      return target === null ? [] : [target]
    }
    if (!Array.isArray(value.allOf)) return []
    const at = stepInto(schema.at, 'allOf')
    const parts: readonly unknown[] = value.allOf
    return parts.flatMap((part, index) =>
      this.#parentsOf({ value: part, at: stepInto(at, String(index)), document: schema.document }, depth + 1),
    )
  }
}

/** Whether a schema is one of the shared ones itself, under a name of its own. */
function isDirectlyIn(shared: Located, { at, document }: Located): boolean {
  const [pointer, holder] = [pointerOf(at), `${pointerOf(shared.at)}/`]
  return document === shared.document && pointer.startsWith(holder) && !pointer.slice(holder.length).includes('/')
}

function selects({ value }: Located): boolean {
  return isRecord(value) && value.discriminator !== undefined
}

/** What inherits from a schema with a discriminator, and no other. */
function below(
  selecting: readonly string[],
  children: ReadonlyMap<string, readonly string[]>,
  pointers: ReadonlyMap<string, string>,
): SchemaFamily['children'] {
  const kept = new Map<string, readonly string[]>()
  const open = [...selecting]
  for (let pointer = open.pop(); pointer !== undefined; pointer = open.pop()) {
    const names = children.get(pointer)
    if (names === undefined || kept.has(pointer)) continue
    kept.set(pointer, names)
    for (const name of names) open.push(pointers.get(name) ?? '')
  }
  return kept
}
