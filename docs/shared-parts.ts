/**
 * Makes equal parts of schemas one shared schema. Without it, ajv repeats the code of a part at each of its places. The
 * resulting function of a quarter of a megabyte would be read at each start and never optimised.
 */
type Schema = Readonly<Record<string, unknown>>

/** A part with shorter JSON is written in place: a function call would be longer. */
const MIN_LENGTH = 30
/** Members that are a schema, a list of schemas, or schemas by name. */
const SINGLE: ReadonlySet<string> = new Set(['items', 'then', 'else', 'additionalProperties'])
const LISTED: ReadonlySet<string> = new Set(['allOf'])
const NAMED: ReadonlySet<string> = new Set(['properties'])

export interface SharedParts {
  /** The schemas. A part that occurs several times is a reference. */
  readonly roots: readonly Schema[]
  readonly shared: ReadonlyMap<string, Schema>
}

/** Parts below `anyOf`, `not`, `if` and `contains` are not shared: the path distinguishes their errors. */
export function withSharedParts(schemas: readonly Schema[]): SharedParts {
  const counts = new Map<string, number>()
  const count = (part: Schema): Schema => {
    const text = JSON.stringify(part)
    const seen = counts.get(text) ?? 0
    counts.set(text, seen + 1)
    // A repeated part becomes a reference, so its own parts occur once.
    return seen === 0 ? eachPart(part, count) : part
  }
  for (const schema of schemas) eachPart(schema, count)
  const shared = new Map<string, Schema>()
  const names = new Map<string, string>()
  const replace = (part: Schema): Schema => {
    const text = JSON.stringify(part)
    if ((counts.get(text) ?? 0) < 2 || text.length < MIN_LENGTH) return eachPart(part, replace)
    let name = names.get(text)
    if (name === undefined) {
      name = `part-${names.size}`
      names.set(text, name)
      shared.set(name, eachPart(part, replace))
    }
    return { $ref: name }
  }
  return { roots: schemas.map((schema) => eachPart(schema, replace)), shared }
}

/** Replaces each schema inside a schema. */
function eachPart(schema: Schema, visit: (part: Schema) => Schema): Schema {
  const visitOne = (value: unknown): unknown => (isSchema(value) ? visit(value) : value)
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (SINGLE.has(keyword)) return [keyword, visitOne(value)]
      if (LISTED.has(keyword) && Array.isArray(value)) return [keyword, value.map(visitOne)]
      if (!NAMED.has(keyword) || !isSchema(value)) return [keyword, value]
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, visitOne(one)]))]
    }),
  )
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
