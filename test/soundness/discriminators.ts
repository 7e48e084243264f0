/**
 * Choices with a discriminator: how one is drawn, and what it admits. A value has to be valid against the alternative that its
 * property names (OpenAPI 3.0.3 §4.7.25); whether a name that the mapping does not have is refused, readings differ.
 */
import type { Random } from './random.ts'
import { isKeywords, mapped, placesOf, schemasIn, without, type Keywords, type Schema } from './schema.ts'

export interface Discriminator {
  readonly propertyName: string
  /** References to definitions by the value of the property. */
  readonly mapping: Readonly<Record<string, string>>
}

export const TAG = 't'
/** Values of the property: texts that instances are made of. */
export const TAGS = ['a', 'b', 'ab'] as const

export function discriminatorOf(schema: Schema): Discriminator | null {
  if (!isKeywords(schema) || !isKeywords(schema.discriminator)) return null
  const { propertyName, mapping } = schema.discriminator
  if (typeof propertyName !== 'string') return null
  const entries = Object.entries(isKeywords(mapping) ? mapping : {})
  return {
    propertyName,
    mapping: Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
  }
}

export function drawChoice(random: Random, references: readonly string[]): Keywords {
  const alternatives = random.some(references, 2, references.length)
  const mapping = Object.fromEntries(random.some(TAGS, 1, 3).map((tag) => [tag, random.pick(alternatives)]))
  return {
    [random.pick(['oneOf', 'anyOf'])]: alternatives.map(($ref) => ({ $ref })),
    discriminator: { propertyName: TAG, mapping },
  }
}

/** The choice with a value that leads elsewhere, goes or comes; null where nothing is to be chosen. */
export function remapped(random: Random, schema: Keywords): Keywords | null {
  const discriminator = discriminatorOf(schema)
  const targets = targetsOf(schema)
  if (discriminator === null || targets.length === 0) return null
  const tag = random.pick(TAGS)
  const target = random.pick([...targets, null])
  const { mapping } = discriminator
  if ((mapping[tag] ?? null) === target) return null
  const others = without(mapping, tag)
  return {
    ...schema,
    discriminator: { ...discriminator, mapping: target === null ? others : { ...others, [tag]: target } },
  }
}

function targetsOf(schema: Keywords): readonly string[] {
  return [...schemasIn(schema.oneOf), ...schemasIn(schema.anyOf)].flatMap((one) =>
    isKeywords(one) && typeof one.$ref === 'string' ? [one.$ref] : [],
  )
}

/** Without values that lead to what is no alternative any more. */
export function withoutLostTargets(schema: Schema): Schema {
  const discriminator = discriminatorOf(schema)
  if (discriminator === null || !isKeywords(schema)) return schema
  const targets = targetsOf(schema)
  const kept = Object.entries(discriminator.mapping).filter(([, target]) => targets.includes(target))
  return { ...schema, discriminator: { ...discriminator, mapping: Object.fromEntries(kept) } }
}

/** References in mappings as a document writes them: addresses, and where the tag is `b` the name alone. */
export function redirectedMapping(schema: Keywords, definitions: string): Keywords {
  const discriminator = discriminatorOf(schema)
  if (discriminator === null) return schema
  const prefix = definitions.slice(definitions.lastIndexOf('/') + 1)
  const entries = Object.entries(discriminator.mapping).map(([tag, target]) => [
    tag,
    target.replace('#/$defs/', tag === 'b' ? prefix : definitions),
  ])
  return { ...schema, discriminator: { ...discriminator, mapping: Object.fromEntries(entries) } }
}

/** Paths of the choices with a discriminator. */
export function choicesIn(root: Schema): readonly string[] {
  return [...placesOf(root)].flatMap(([path, one]) => (discriminatorOf(one) === null ? [] : [path.join('/')]))
}

/** The schemas that a value is judged by: with values that the mapping lacks admitted, and refused. */
export function chosenReadings(root: Schema): readonly Schema[] {
  return [false, true].map((isClosed) => mapped(root, (one) => withChosen(one, isClosed)))
}

function withChosen(schema: Schema, isClosed: boolean): Schema {
  const discriminator = discriminatorOf(schema)
  if (discriminator === null || !isKeywords(schema)) return schema
  const { propertyName: name, mapping } = discriminator
  const tags = Object.keys(mapping)
  const chosen = tags.map((tag) => ({
    if: { type: 'object', properties: { [name]: { const: tag } }, required: [name] },
    then: { $ref: mapping[tag] },
  }))
  const tagged = tags.length > 0 && { properties: { [name]: { enum: tags } }, required: [name] }
  const conditions = isClosed ? [...chosen, { if: { type: 'object' }, then: tagged }] : chosen
  return { ...without(schema, 'discriminator'), allOf: [...schemasIn(schema.allOf), ...conditions] }
}
