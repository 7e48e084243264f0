/**
 * What a discriminator admits, as a schema: each value of its property with the schema that it selects. A value that selects none
 * is refused ("validation SHOULD fail", OpenAPI 3.0.3 §4.7.25), and so is an object without the property.
 */
import { isRecord, stepInto, type JsonRecord } from './located.ts'
import type { ResolvedSchema, SchemaSource } from './source.ts'

/** The values of a discriminator. */
interface Selection {
  readonly property: string
  /** The reference that each value leads to. */
  readonly targets: ReadonlyMap<string, string>
  /** Where objects without the property, or with another value, lead. Null: nowhere. */
  readonly others: string | null
  /** The value that selects the schema of the discriminator itself, or null. */
  readonly own: string | null
}

/** A schema that admits the selected values. It applies beside the schema of the discriminator. Null where the dialect has no keywords to write it. */
export function selectedValues(
  owner: ResolvedSchema,
  selection: Selection,
  source: SchemaSource,
): ResolvedSchema | null {
  if (source.dialect === 'openapi-2.0' && source.isStrict === true) return null
  const { property, targets, others, own } = selection
  const valuesOf = new Map<string, string[]>()
  for (const [value, target] of targets) valuesOf.set(target, [...(valuesOf.get(target) ?? []), value])
  const having = (values: readonly string[]): JsonRecord => ({
    required: [property],
    properties: { [property]: { enum: values } },
  })
  const known = own === null ? [...targets.keys()] : [own, ...targets.keys()]
  const anyOf: readonly JsonRecord[] = [
    // Only objects have properties.
    { not: { type: 'object' } },
    ...[...valuesOf].map(([target, values]) => ({ ...having(values), allOf: [{ $ref: target }] })),
    ...(own === null ? [] : [having([own])]),
    ...(others === null ? [] : [{ not: having(known), allOf: [{ $ref: others }] }]),
  ]
  return { value: { anyOf }, at: stepInto(owner.at, 'discriminator'), document: owner.document, reference: null }
}

/** The reference that a schema is written as, or null. */
export function referenceOf(item: unknown): string | null {
  return isRecord(item) && typeof item.$ref === 'string' ? item.$ref : null
}
