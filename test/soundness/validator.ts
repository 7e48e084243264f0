/** Where ajv misreads a schema: what can be written apart with the same meaning is, what cannot is left to evaluator.ts. */
import { inPlaceOf, isKeywords, mapped, placesOf, schemasIn, without, type Keywords, type Schema } from './schema.ts'

/** Keywords that are read wrongly beside a tuple. An empty list passes `contains`; equal lists pass `uniqueItems` beside `items`. */
const APART = ['contains', 'minContains', 'maxContains', 'uniqueItems']

export function rewordedForValidator(root: Schema): Schema {
  return mapped(root, (one) => (isKeywords(one) ? withApart(one) : one))
}

function withApart(schema: Keywords): Keywords {
  if (schema.prefixItems === undefined || APART.every((name) => schema[name] === undefined)) return schema
  const member = Object.fromEntries(Object.entries(schema).filter(([name]) => APART.includes(name)))
  return { ...without(schema, ...APART), allOf: [...schemasIn(schema.allOf), member] }
}

/**
 * Whether ajv misreads `unevaluated…` with a condition, a dependent schema or `contains` of the same value. It ignores the
 * annotations of a condition without `then` and `else`, and counts those of a failed one (core §10.2.2.1). It forgets
 * annotations if no dependency applies, and hands those of a schema to the parts of it. It treats all items as evaluated by
 * `contains` (core §10.3.1.3), and none by the `items` of an alternative that holds (core §10.3.1.2). It counts the
 * `patternProperties` of an alternative that fails (core §7.7.1.2). Within `contains`, an empty list passes a second
 * `contains` that stands with a tuple.
 */
export function isMisread(root: Schema): boolean {
  return [...placesOf(root)].some(([, one]) => isKeywords(one) && isMisreadAt(root, one))
}

function isMisreadAt(root: Schema, one: Keywords): boolean {
  const facets = inPlaceOf(root, one)
  const states = (keyword: string): boolean => facets.some((facet) => facet[keyword] !== undefined)
  const [ofObjects, ofArrays] = [states('unevaluatedProperties'), states('unevaluatedItems')]
  const isLookedAt = states('if') || states('dependentSchemas') || (ofArrays && states('contains'))
  if ((ofObjects || ofArrays) && isLookedAt) return true
  if (ofArrays && facets.some((facet) => hasInAlternative(root, facet, 'items'))) return true
  if (ofObjects && facets.some((facet) => hasInAlternative(root, facet, 'patternProperties'))) return true
  const within = isKeywords(one.contains) ? inPlaceOf(root, one.contains) : []
  return ['contains', 'prefixItems'].every((keyword) => within.some((facet) => facet[keyword] !== undefined))
}

function hasInAlternative(root: Schema, schema: Keywords, keyword: 'items' | 'patternProperties'): boolean {
  const alternatives = [...schemasIn(schema.anyOf), ...schemasIn(schema.oneOf)]
  return alternatives.some((one) => inPlaceOf(root, one).some((held) => held[keyword] !== undefined))
}
