/**
 * The structural schema of a custom resource as a plain schema: with what the API server demands of every object, and without
 * its extensions.
 */
import { isEqual } from '../../schema/equality.ts'
import { isRecord, recordOf, type JsonRecord } from '../../schema/located.ts'
import { knownFormat } from './formats.ts'

const INT_OR_STRING = 'x-kubernetes-int-or-string'
const EMBEDDED = 'x-kubernetes-embedded-resource'
const PRESERVE = 'x-kubernetes-preserve-unknown-fields'

const TEXT: JsonRecord = { type: 'string' }
const TEXT_MAP: JsonRecord = { type: 'object', additionalProperties: TEXT }

/** Members of every object, which the API server checks whether a schema states them or not (ObjectMeta). */
const METADATA: JsonRecord = {
  type: 'object',
  required: ['name'],
  properties: {
    name: TEXT,
    generateName: TEXT,
    namespace: TEXT,
    labels: TEXT_MAP,
    annotations: TEXT_MAP,
    finalizers: { type: 'array', items: TEXT },
  },
}
const OBJECT: JsonRecord = {
  required: ['apiVersion', 'kind', 'metadata'],
  properties: { apiVersion: TEXT, kind: TEXT, metadata: METADATA },
}

/** Members of an object within another one. Its metadata may be absent, and need not have a name. */
const EMBEDDED_OBJECT: JsonRecord = {
  required: ['apiVersion', 'kind'],
  properties: { apiVersion: TEXT, kind: TEXT, metadata: { ...METADATA, required: [] } },
}

/**
 * The schema of a resource, with what holds for every object. What it says of that restricts objects that were valid.
 * @param other the schema on the other side
 */
export function plainObjectSchema(schema: unknown, other: unknown): unknown {
  return isRecord(schema) ? withImpliedMembers(plainCrdSchema(schema, other), OBJECT) : schema
}

/** What is malformed stays as it is. */
function withImpliedMembers(stated: unknown, implied: unknown): unknown {
  if (stated === undefined) return implied
  if (Array.isArray(stated) && Array.isArray(implied)) return [...new Set([...implied, ...stated])]
  if (!isRecord(stated) || !isRecord(implied)) return stated
  const members = Object.entries(implied).map(([name, part]) => [name, withImpliedMembers(stated[name], part)] as const)
  return { ...stated, ...Object.fromEntries(members) }
}

/** Every part keeps its place. */
function plainCrdSchema(schema: unknown, other: unknown): unknown {
  const plain = isRecord(schema) ? plainParts(schema, recordOf(other)) : schema
  // That one side is an embedded object is a finding of its own.
  const isEmbedded = [schema, other].every((side) => recordOf(side)[EMBEDDED] === true)
  return isEmbedded ? withImpliedMembers(plain, EMBEDDED_OBJECT) : plain
}

function plainParts(schema: JsonRecord, other: JsonRecord): JsonRecord {
  const members = Object.entries(schema)
    .map(([name, value]): [string, unknown] => [name, plainCrdMember(name, value, other[name])])
    // An unknown format counts for nobody. The API server reads a default of null as none.
    .filter(([name, value]) => (name !== 'format' && name !== 'default') || value !== null)
  // Defaults that are written alike differ by those of their members only, which are compared there.
  if (isRecord(schema['default']) && !isEqual(schema['default'], other['default']))
    members.push(['default', withDefaults(schema['default'], schema)])
  // Names that the schema does not list are allowed expressly.
  const isOpen = schema[PRESERVE] === true && schema['additionalProperties'] === undefined
  const plain: JsonRecord = { ...Object.fromEntries(members), ...(isOpen && { additionalProperties: true }) }
  if (plain[INT_OR_STRING] !== true) return plain
  const { anyOf, ...rest } = plain
  return { ...rest, ...(!isEitherType(anyOf) && { anyOf }), type: ['integer', 'string'] }
}

/** Generators repeat the two types as alternatives. Others are conditions. */
function isEitherType(alternatives: unknown): boolean {
  const types = Array.isArray(alternatives)
    ? alternatives.map((one: unknown) => (isRecord(one) ? one['type'] : null))
    : []
  const isPlain =
    Array.isArray(alternatives) && alternatives.every((one) => isRecord(one) && Object.keys(one).length === 1)
  return (
    alternatives === undefined ||
    (isPlain && types.length === 2 && types.includes('integer') && types.includes('string'))
  )
}

function plainCrdMember(name: string, value: unknown, other: unknown): unknown {
  if (name === 'properties' && isRecord(value)) {
    const others = recordOf(other)
    return Object.fromEntries(
      Object.entries(value).map(([property, schema]) => [property, plainCrdSchema(schema, others[property])]),
    )
  }
  if (name === 'format') return knownFormat(value)
  return name === 'items' || name === 'additionalProperties' ? plainCrdSchema(value, other) : value
}

/** A value with the defaults of its members, as the API server fills them in from the outside to the inside. */
function withDefaults(value: unknown, schema: JsonRecord): unknown {
  const { items, additionalProperties } = schema
  if (Array.isArray(value)) return isRecord(items) ? value.map((item) => withDefaults(item, items)) : value
  if (!isRecord(value)) return value
  const properties = recordOf(schema['properties'])
  const filled: Record<string, unknown> = Object.assign(Object.create(null), value)
  for (const [name, property] of Object.entries(properties))
    if (isRecord(property) && isFilledIn(filled, name, property)) filled[name] = property['default']
  const partOf = (name: string): JsonRecord =>
    recordOf(Object.hasOwn(properties, name) ? properties[name] : additionalProperties)
  return Object.fromEntries(Object.entries(filled).map(([name, member]) => [name, withDefaults(member, partOf(name))]))
}

/** A null is replaced too where the property takes none. */
function isFilledIn(value: JsonRecord, name: string, property: JsonRecord): boolean {
  if ((property['default'] ?? null) === null) return false
  return !Object.hasOwn(value, name) || (value[name] === null && property['nullable'] !== true)
}
