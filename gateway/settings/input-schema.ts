/** A schema for the author of a configuration: members with a default are optional. */
import type { TSchema } from 'typebox'

/** Plain JSON Schema (draft 2020-12 vocabulary that all drafts since 7 share). */
export interface JsonSchema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: boolean | JsonSchema
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly [keyword: string]: unknown
}

/** The schema without TypeBox's own members. */
export function plainSchema(schema: TSchema): JsonSchema {
  // Schema objects are JSON with symbol keys; serializing and parsing leaves the JSON.
  const plain: JsonSchema = JSON.parse(JSON.stringify(schema))
  return plain
}

export function withoutDefaultedRequirements(schema: JsonSchema): JsonSchema {
  const { properties, patternProperties, items, anyOf, required, ...rest } = schema
  const needed = required?.filter((name) => properties?.[name]?.default === undefined) ?? []
  return {
    ...rest,
    ...(properties === undefined ? {} : { properties: mapSchemas(properties) }),
    ...(patternProperties === undefined ? {} : { patternProperties: mapSchemas(patternProperties) }),
    ...(items === undefined ? {} : { items: withoutDefaultedRequirements(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(withoutDefaultedRequirements) }),
    ...(needed.length === 0 ? {} : { required: needed }),
  }
}

function mapSchemas(schemas: Readonly<Record<string, JsonSchema>>): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, withoutDefaultedRequirements(schema)]),
  )
}
