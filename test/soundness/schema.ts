/**
 * JSON Schema as the generator holds it: the syntax of 2020-12 for every dialect, and the places in it that hold schemas.
 * Definitions stand in `$defs` of the root. Each dialect writes it in its own syntax (dialects.ts).
 */

export type Keywords = Readonly<Record<string, unknown>>
export type Schema = boolean | Keywords
export type Path = readonly (string | number)[]

export const ONE_SCHEMA: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
])
export const SCHEMA_LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
export const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
])

export function isKeywords(value: unknown): value is Keywords {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'boolean' || isKeywords(value)
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function schemasIn(value: unknown): readonly Schema[] {
  return listOf(value).filter(isSchema)
}

export function namesIn(value: unknown): readonly string[] {
  return listOf(value).filter((name) => typeof name === 'string')
}

/** Entries of a map of schemas; empty for anything else. */
export function entriesOf(value: unknown): readonly (readonly [string, Schema])[] {
  if (!isKeywords(value)) return []
  return Object.entries(value).filter((entry): entry is [string, Schema] => isSchema(entry[1]))
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

/** The types that a schema names itself. */
export function typesOf({ type }: Keywords): readonly string[] {
  return typeof type === 'string' ? [type] : namesIn(type)
}

/** Every schema within, the root first, with the path to it. */
export function* placesOf(schema: Schema, at: Path = []): Generator<readonly [Path, Schema]> {
  yield [at, schema]
  if (!isKeywords(schema)) return
  for (const [keyword, value] of Object.entries(schema)) {
    if (ONE_SCHEMA.has(keyword) && isSchema(value)) yield* placesOf(value, [...at, keyword])
    if (SCHEMA_LISTS.has(keyword)) {
      for (const [index, one] of listOf(value).entries()) {
        if (isSchema(one)) yield* placesOf(one, [...at, keyword, index])
      }
    }
    if (SCHEMA_MAPS.has(keyword)) {
      for (const [name, one] of entriesOf(value)) yield* placesOf(one, [...at, keyword, name])
    }
  }
}

/** The whole with another value at the path; undefined takes the member or item away. Nothing is put where nothing was. */
export function replaced(whole: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return value
  if (Array.isArray(whole)) {
    const changed = replaced(whole[Number(step)], rest, value)
    return whole.flatMap((item: unknown, index) => (index !== step ? [item] : changed === undefined ? [] : [changed]))
  }
  if (!isKeywords(whole) || whole[step] === undefined) return whole
  const changed = replaced(whole[step], rest, value)
  if (changed === undefined) return without(whole, String(step))
  return { ...whole, [step]: changed }
}

/** The root with another schema at the path. */
export function withSchemaAt(root: Schema, path: Path, schema: Schema): Schema {
  const whole = replaced(root, path, schema)
  return isSchema(whole) ? whole : root
}

export function without(keywords: Keywords, ...names: readonly string[]): Keywords {
  return Object.fromEntries(Object.entries(keywords).filter(([name]) => !names.includes(name)))
}

/** Rebuilds every schema from the inside out. */
export function mapped(schema: Schema, change: (schema: Schema) => Schema): Schema {
  if (!isKeywords(schema)) return change(schema)
  const members = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (ONE_SCHEMA.has(keyword) && isSchema(value)) return [keyword, mapped(value, change)]
    if (SCHEMA_LISTS.has(keyword)) return [keyword, schemasIn(value).map((one) => mapped(one, change))]
    if (!SCHEMA_MAPS.has(keyword)) return [keyword, value]
    return [keyword, Object.fromEntries(entriesOf(value).map(([name, one]) => [name, mapped(one, change)]))]
  })
  return change(Object.fromEntries(members))
}

const DEFINITION = /^#\/\$defs\/([^/]+)$/

/** The schema that a reference names: a definition, or the root. */
export function targetOf(root: Schema, reference: unknown): Schema | null {
  if (reference === '#') return isKeywords(root) ? without(root, '$defs') : root
  const name = typeof reference === 'string' ? DEFINITION.exec(reference)?.[1] : undefined
  if (name === undefined || !isKeywords(root)) return null
  return entriesOf(root.$defs).find(([key]) => key === name)?.[1] ?? null
}

/** Names of the definitions that the root reaches. */
export function reachedDefinitions(root: Schema): ReadonlySet<string> {
  const reached = new Set<string>()
  const visit = (schema: Schema): void => {
    for (const [, one] of placesOf(schema)) {
      const name = isKeywords(one) && typeof one.$ref === 'string' ? DEFINITION.exec(one.$ref)?.[1] : undefined
      if (name === undefined || reached.has(name)) continue
      reached.add(name)
      const target = targetOf(root, `#/$defs/${name}`)
      if (target !== null) visit(target)
    }
  }
  visit(isKeywords(root) ? without(root, '$defs') : root)
  return reached
}

const NEVER_EMPTY = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'enum', 'required', 'type'] as const

/** False where a list is empty that must not be (draft 4 to 2020-12), or a consequence has no condition. */
export function isProper(root: Schema): boolean {
  return placesOf(root).every(
    ([, one]) =>
      !isKeywords(one) ||
      (NEVER_EMPTY.every((keyword) => !Array.isArray(one[keyword]) || one[keyword].length > 0) &&
        (one.if !== undefined || (one.then === undefined && one.else === undefined))),
  )
}

/** Without definitions that nothing reaches. */
export function tidied(root: Schema): Schema {
  if (!isKeywords(root) || root.$defs === undefined) return root
  const reached = reachedDefinitions(root)
  const kept = entriesOf(root.$defs).filter(([name]) => reached.has(name))
  return kept.length === 0 ? without(root, '$defs') : { ...root, $defs: Object.fromEntries(kept) }
}

/** Every schema that may be applied at the place of one, whichever branch holds. */
export function inPlaceOf(root: Schema, schema: Schema, depth = 0): readonly Keywords[] {
  if (!isKeywords(schema) || depth > 10) return []
  const target = schema.$ref === undefined ? null : targetOf(root, schema.$ref)
  const inside = [
    ...(target === null ? [] : [target]),
    ...['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => schemasIn(schema[keyword])),
    ...['not', 'if', 'then', 'else'].flatMap((keyword) => (isKeywords(schema[keyword]) ? [schema[keyword]] : [])),
    ...entriesOf(schema.dependentSchemas).map(([, one]) => one),
  ]
  return [schema, ...inside.flatMap((one) => inPlaceOf(root, one, depth + 1))]
}
