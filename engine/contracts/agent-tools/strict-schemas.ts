/** The part of a schema that a provider refuses in a strict tool, by what the provider demands. */
import { isRecord } from '../../schema/located.ts'
import type { StrictSchema } from './vendor-formats.ts'

const NAMED_SCHEMAS = ['properties', '$defs', 'definitions']
const LISTED_SCHEMAS = ['anyOf', 'allOf', 'oneOf', 'items']

/** The first part that the provider refuses, by its path. Null: there is none. */
export function refusedPart(schema: unknown, demand: StrictSchema): string | null {
  if (isRecord(schema) && demand.isOfRequired) {
    if (schema['anyOf'] !== undefined) return '/anyOf'
    if (schema['type'] !== 'object') return '/type'
  }
  return refusedWithin(schema, demand, '')
}

/** The reader bounds the depth. */
function refusedWithin(schema: unknown, demand: StrictSchema, path: string): string | null {
  if (!isRecord(schema)) return null
  const { type, properties, required, additionalProperties } = schema
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object')) || isRecord(properties)
  const names = isRecord(properties) ? Object.keys(properties) : []
  const isOptional = (name: string): boolean => !Array.isArray(required) || !required.includes(name)
  if (isObject && additionalProperties !== false) return `${path}/additionalProperties`
  if (isObject && demand.isOfRequired && names.some(isOptional)) return `${path}/required`
  const keyword = Object.keys(schema).find((name) => demand.refusedKeywords.has(name))
  if (keyword !== undefined) return `${path}/${keyword}`
  const parts = [
    ...NAMED_SCHEMAS.flatMap((name) =>
      isRecord(schema[name])
        ? Object.entries(schema[name]).map(([key, part]) => [`${name}/${key}`, part] as const)
        : [],
    ),
    ...LISTED_SCHEMAS.flatMap((name) =>
      [schema[name]].flat().map((part, index) => [`${name}/${index}`, part] as const),
    ),
  ]
  for (const [step, part] of parts) {
    const found = refusedWithin(part, demand, `${path}/${step}`)
    if (found !== null) return found
  }
  return null
}
