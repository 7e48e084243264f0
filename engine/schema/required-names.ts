/** The names that an object must have by a schema and by all that it combines with `allOf`. */
import { itemsOf, locateItem, textsOf } from './subschemas.ts'
import { resolveSchema, type ResolvedSchema, type SchemaSource } from './source.ts'

const NO_NAMES: ReadonlySet<string> = new Set()
/** Deeper parts are not looked at. */
const MAX_DEPTH = 16

/** Names by schema, worked out once for each. */
export class RequiredNames {
  readonly #source: SchemaSource
  readonly #known = new WeakMap<object, ReadonlySet<string>>()

  constructor(source: SchemaSource) {
    this.#source = source
  }

  of(schema: ResolvedSchema, depth = 0): ReadonlySet<string> {
    const { required, allOf } = schema.value
    if ((required === undefined && allOf === undefined) || depth > MAX_DEPTH) return NO_NAMES
    const known = this.#known.get(schema.value)
    if (known !== undefined) return known
    const parts = itemsOf(schema.value, 'allOf')
    const names = new Set(textsOf(required))
    for (const index of parts.keys()) {
      const part = resolveSchema(locateItem(schema, parts, 'allOf', index), this.#source)
      for (const name of this.of(part, depth + 1)) names.add(name)
    }
    this.#known.set(schema.value, names)
    return names
  }
}
