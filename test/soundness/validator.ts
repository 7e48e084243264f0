/** Where ajv misreads a schema: what can be written apart with the same meaning is, what cannot is left out of the pairs. */
import { inPlaceOf, isKeywords, mapped, placesOf, schemasIn, without, type Keywords, type Schema } from './schema.ts'

/** An empty list passes `contains` beside a tuple. */
export function rewordedForValidator(root: Schema): Schema {
  return mapped(root, (one) => (isKeywords(one) ? withContainsApart(one) : one))
}

function withContainsApart(schema: Keywords): Keywords {
  if (schema.contains === undefined || schema.prefixItems === undefined) return schema
  const names = ['contains', 'minContains', 'maxContains']
  const member = Object.fromEntries(Object.entries(schema).filter(([name]) => names.includes(name)))
  return { ...without(schema, ...names), allOf: [...schemasIn(schema.allOf), member] }
}

/**
 * What is unevaluated beside a condition, a dependent schema or `contains`: ajv overlooks what a condition without
 * consequences evaluates, counts what a failed one did (core §10.2.2.1), forgets what was evaluated where no dependency
 * applies, and takes all items for evaluated by `contains` (core §10.3.1.3).
 */
export function isMisread(root: Schema): boolean {
  return [...placesOf(root)].some(([, one]) => {
    if (!isKeywords(one)) return false
    const [ofObjects, ofArrays] = [one.unevaluatedProperties !== undefined, one.unevaluatedItems !== undefined]
    if (!ofObjects && !ofArrays) return false
    const facets = inPlaceOf(root, one)
    return facets.some(
      (facet) =>
        facet.if !== undefined || facet.dependentSchemas !== undefined || (ofArrays && facet.contains !== undefined),
    )
  })
}
