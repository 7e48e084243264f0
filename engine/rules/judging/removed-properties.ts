/** The properties that an object lost: their names, the object without them, and whether it refuses a name now. */
import type { SchemaPair } from '../../schema/comparison/comparison.ts'
import type { Inclusion } from '../../schema/inclusion/inclusion.ts'
import { isRecord } from '../../schema/located.ts'
import type { ResolvedSchema } from '../../schema/source.ts'
import { membersOf, textsOf } from '../../schema/subschemas.ts'
import { isPropertyRemoval } from './provable.ts'

/** The names of properties that were removed. */
export function removedNames({ deltas }: SchemaPair): ReadonlySet<string | null> {
  const all = deltas.flatMap((entry) => ('each' in entry ? [...entry.each()] : [entry]))
  return new Set(all.filter(isPropertyRemoval).map(({ name }) => name))
}

/** The pair with some names that are on both sides names like any other. */
export function withoutNames(pair: SchemaPair, names: ReadonlySet<string | null>): SchemaPair {
  const { before } = pair
  const { value } = before
  const properties = Object.entries(membersOf(value, 'properties')).filter(([name]) => !names.has(name))
  const required = textsOf(value.required).filter((name) => !names.has(name))
  return { ...pair, before: { ...before, value: { ...value, properties: Object.fromEntries(properties), required } } }
}

/** What an object says of names that it does not list. */
const OF_NAMES = ['additionalProperties', 'patternProperties', 'propertyNames'] as const

/** The schemas after, with what they say of unlisted names only. Many properties may leave one object. */
const openParts = new WeakMap<SchemaPair, ResolvedSchema>()

/**
 * A value with the name that was admitted, and that the object refuses now by what it says of names; null where none is shown.
 * An object that says nothing of names takes every one.
 */
export function refusedAlone(pair: SchemaPair, name: string, ask: (pair: SchemaPair) => Inclusion): unknown {
  const after = openParts.get(pair) ?? picked(pair.after, (keyword) => OF_NAMES.some((one) => one === keyword))
  openParts.set(pair, after)
  if (Object.keys(after.value).length === 0) return null
  const { before } = pair
  const properties = { [name]: membersOf(before.value, 'properties')[name] }
  const alone = { type: 'object', properties, required: [name], additionalProperties: false }
  return valueOf(ask({ ...pair, before: { ...before, value: alone }, after }))
}

/**
 * The same by `unevaluatedProperties`, which depends on all other keywords: without it, all values with the name are kept.
 * @param pair the whole, if the property left one of its parts
 */
export function refusedAsUnevaluated(pair: SchemaPair, name: string, ask: (pair: SchemaPair) => Inclusion): unknown {
  const { before, after } = pair
  if (after.value.unevaluatedProperties === undefined) return null
  const required = [...textsOf(before.value.required), name]
  const holding = { ...pair, before: { ...before, value: { ...before.value, required } } }
  const value = valueOf(ask(holding))
  if (value === null) return null
  const open = picked(after, (keyword) => keyword !== 'unevaluatedProperties')
  return ask({ ...holding, after: open }).kind === 'included' ? value : null
}

/** A schema with some of its keywords only. */
export function picked(schema: ResolvedSchema, isWanted: (keyword: string) => boolean): ResolvedSchema {
  return { ...schema, value: Object.fromEntries(Object.entries(schema.value).filter(([keyword]) => isWanted(keyword))) }
}

function valueOf(answer: Inclusion): unknown {
  return answer.kind === 'refuted' && isRecord(answer.value) ? answer.value : null
}
