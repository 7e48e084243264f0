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
 * Whether ajv misreads `unevaluated…` next to a condition, a dependent schema or `contains`. It ignores the annotations of a
 * condition without `then` and `else`, and counts those of a failed one (core §10.2.2.1). It forgets annotations if no
 * dependency applies. It treats all items as evaluated by `contains` (core §10.3.1.3), and none by the `items` of an
 * alternative that holds (core §10.3.1.2). It counts the `patternProperties` of an alternative that fails (core §7.7.1.2).
 */
export function isMisread(root: Schema): boolean {
  return [...placesOf(root)].some(([, one]) => {
    if (!isKeywords(one)) return false
    const [ofObjects, ofArrays] = [one.unevaluatedProperties !== undefined, one.unevaluatedItems !== undefined]
    if (!ofObjects && !ofArrays) return false
    const facets = inPlaceOf(root, one)
    return facets.some(
      (facet) =>
        facet.if !== undefined ||
        facet.dependentSchemas !== undefined ||
        (ofArrays && (facet.contains !== undefined || hasInAlternative(root, facet, 'items'))) ||
        (ofObjects && hasInAlternative(root, facet, 'patternProperties')),
    )
  })
}

function hasInAlternative(root: Schema, schema: Keywords, keyword: 'items' | 'patternProperties'): boolean {
  const alternatives = [...schemasIn(schema.anyOf), ...schemasIn(schema.oneOf)]
  return alternatives.some((one) => inPlaceOf(root, one).some((held) => held[keyword] !== undefined))
}
