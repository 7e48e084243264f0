/** Other ways to write a schema: each admits the same values, so that a comparison must be silent. */
import type { Schema } from './arbitraries.ts'

interface Rewrite {
  readonly applies: (schema: Schema) => boolean
  readonly write: (schema: Schema) => Schema
}

const HOLDERS = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'] as const
const NAMED_HOLDERS = ['properties', 'patternProperties', 'dependentSchemas'] as const
const LIST_HOLDERS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const

function isOnly(schema: Schema, ...keywords: readonly string[]): boolean {
  return Object.keys(schema).every((keyword) => keywords.includes(keyword))
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function reversed(schema: Schema): Schema {
  return Object.fromEntries(
    Object.entries(schema)
      .reverse()
      .map(([keyword, value]) => {
        const isSet = (keyword === 'required' || keyword === 'enum' || keyword === 'type') && Array.isArray(value)
        return [keyword, isSet ? [...value].reverse() : value]
      }),
  )
}

const REWRITES: readonly Rewrite[] = [
  { applies: () => false, write: (schema) => schema },
  { applies: () => true, write: reversed },
  { applies: () => true, write: (schema) => ({ allOf: [schema] }) },
  { applies: () => true, write: (schema) => ({ anyOf: [schema] }) },
  { applies: () => true, write: (schema) => ({ oneOf: [schema] }) },
  { applies: () => true, write: (schema) => ({ ...schema, description: 'in other words', 'x-note': 1 }) },
  {
    applies: (schema) => isOnly(schema, 'type', 'enum') && Array.isArray(schema.enum),
    write: ({ enum: values, ...rest }) => ({
      ...rest,
      oneOf: Array.isArray(values) ? values.map((value: unknown) => ({ const: value })) : [],
    }),
  },
  {
    applies: (schema) => isOnly(schema, 'type') && Array.isArray(schema.type) && schema.type.length > 1,
    write: ({ type }) => ({ anyOf: Array.isArray(type) ? type.map((one: unknown) => ({ type: one })) : [] }),
  },
  {
    applies: (schema) => isOnly(schema, 'type', 'properties', 'required') && isSchema(schema.properties),
    write: ({ properties, ...rest }) => ({ allOf: [{ type: 'object', properties }, rest] }),
  },
]

/** Rewrites a schema and those within it, as the picks say. */
export function rewritten(schema: Schema, picks: readonly number[]): Schema {
  let at = 0
  const next = (): number => picks[at++ % picks.length] ?? 0
  const within = (value: unknown): unknown => (isSchema(value) ? write(value) : value)
  const write = (whole: Schema): Schema => {
    const inside = Object.entries(whole).map(([keyword, value]): readonly [string, unknown] => {
      if (HOLDERS.some((holder) => holder === keyword)) return [keyword, within(value)]
      if (LIST_HOLDERS.some((holder) => holder === keyword) && Array.isArray(value)) return [keyword, value.map(within)]
      if (NAMED_HOLDERS.some((holder) => holder === keyword) && isSchema(value)) {
        return [keyword, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, within(part)]))]
      }
      return [keyword, value]
    })
    const rebuilt: Schema = Object.fromEntries(inside)
    const rewrite = REWRITES[next() % REWRITES.length]
    return rewrite?.applies(whole) === true ? rewrite.write(rebuilt) : rebuilt
  }
  return write(schema)
}
