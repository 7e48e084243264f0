/** Fills in the defaults of the schema, including nested ones and those inside the variants of a union. */
import type { JsonSchema } from './input-schema.ts'
import { isJsonObject } from '../json/strict-json.ts'

/** A new value; parts that do not match the schema stay unchanged and are reported by the check. */
export function applyDefaults(schema: JsonSchema, value: unknown): unknown {
  if (schema.anyOf) {
    const variant = schema.anyOf.find((candidate) => isVariantOf(candidate, value))
    return variant === undefined ? value : applyDefaults(variant, value)
  }
  if (Array.isArray(value)) {
    const { items } = schema
    return items === undefined ? value : value.map((item) => applyDefaults(items, item))
  }
  return schema.properties !== undefined && isJsonObject(value) ? fillMembers(schema.properties, value) : value
}

function fillMembers(
  properties: Readonly<Record<string, JsonSchema>>,
  value: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const filled: Record<string, unknown> = { ...value }
  for (const [name, schema] of Object.entries(properties)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    if (given === undefined && schema.default === undefined) continue
    filled[name] = applyDefaults(schema, given === undefined ? structuredClone(schema.default) : given)
  }
  return filled
}

/** A union member is recognised by its constants, or by its required members. */
function isVariantOf(schema: JsonSchema, value: unknown): boolean {
  const { properties = {}, required = [] } = schema
  if (!isJsonObject(value)) return false
  return (
    required.every((name) => Object.hasOwn(value, name) || properties[name]?.default !== undefined) &&
    Object.entries(properties).every(([name, member]) => member.const === undefined || member.const === value[name])
  )
}
