/**
 * A schema of draft 3 in the keywords of draft 4. Draft 3 states in a property that it is required, and has `extends`,
 * `disallow`, `divisibleBy`, schemas as types, and the type `any`.
 */
import { isRecord, type JsonRecord } from '../schema/located.ts'
import { NAMED_SCHEMAS } from './schema-keywords.ts'

/** Keywords that hold a schema, or a list of schemas. */
const PARTS: ReadonlySet<string> = new Set(['items', 'additionalItems', 'additionalProperties'])

/** The members of a schema that other keywords stand for (draft-03 §5.1, §5.7, §5.24 to §5.26). */
const REWRITTEN: ReadonlySet<string> = new Set(['type', 'disallow', 'extends', 'divisibleBy', 'required'])

export function asDraft4(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(asDraft4)
  if (!isRecord(schema)) return schema
  const members = Object.entries(schema)
    .filter(([name]) => !REWRITTEN.has(name))
    .map(([name, value]) => [name, memberAsDraft4(name, value)] as const)
  return { ...Object.fromEntries(members), ...rewritten(schema) }
}

function memberAsDraft4(name: string, value: unknown): unknown {
  if (PARTS.has(name)) return asDraft4(value)
  if (!isRecord(value)) return value
  if (name === 'dependencies')
    return mapped(value, (one) => (typeof one === 'string' ? [one] : Array.isArray(one) ? one : asDraft4(one)))
  return NAMED_SCHEMAS.has(name) ? mapped(value, asDraft4) : value
}

function mapped(owner: JsonRecord, change: (value: unknown) => unknown): JsonRecord {
  return Object.fromEntries(Object.entries(owner).map(([name, value]) => [name, change(value)]))
}

function rewritten(schema: JsonRecord): JsonRecord {
  const { type, disallow, extends: extended, divisibleBy, required, properties } = schema
  // A list is none of draft 3, but its meaning is plain.
  const names = [...(Array.isArray(required) ? required : []), ...requiredNames(properties)]
  const allOf = extended === undefined ? [] : [asDraft4(extended)].flat()
  const alternatives = type === undefined ? {} : typesAsDraft4(type)
  const refused = disallow === undefined ? null : typesAsDraft4(disallow)
  return {
    ...alternatives,
    ...(allOf.length > 0 && { allOf }),
    ...(refused !== null && { not: refused }),
    ...(divisibleBy !== undefined && { multipleOf: divisibleBy }),
    ...(names.length > 0 && { required: [...new Set(names)] }),
  }
}

function requiredNames(properties: unknown): readonly string[] {
  const owner = isRecord(properties) ? properties : {}
  return Object.entries(owner).flatMap(([name, one]) => (isRecord(one) && one['required'] === true ? [name] : []))
}

/** One type or several, of which any may be a schema. `any` is every type. */
function typesAsDraft4(types: unknown): JsonRecord {
  const list: readonly unknown[] = Array.isArray(types) ? types : [types]
  if (list.includes('any')) return {}
  const names = list.filter((one) => typeof one === 'string')
  const schemas = list.filter(isRecord)
  if (schemas.length === 0) return { type: Array.isArray(types) ? names : types }
  return { anyOf: [...(names.length > 0 ? [{ type: names }] : []), ...schemas.map(asDraft4)] }
}
