/**
 * The schemas whose values are scalars in a text that has no types: parameters, headers, fields of forms, and the items of such
 * lists. Of these, two schemas admit the same if they admit the same texts: `1` is a number and a string. How a parameter writes
 * the members of an object is not examined (its style), so they are not among them.
 */
import type { SchemaPair } from '../../schema/comparison/comparison.ts'
import { distinguishesTypes } from './type-verdict.ts'
import type { SchemaUse } from './schema-judge.ts'

const FORMS: ReadonlySet<string> = new Set(['application/x-www-form-urlencoded', 'multipart/form-data'])

export function scalarTexts(pair: SchemaPair, use: SchemaUse): ReadonlySet<SchemaPair> {
  const { mediaType, sites, fieldTypes } = use
  const { area, direction } = sites.root
  if (direction === 'shared' || area === 'tools') return NONE
  if (mediaType === null) return withItems([pair])
  const [name = ''] = mediaType.split(';')
  if (!FORMS.has(name.trim().toLowerCase())) return NONE
  const fields = pair.edges.flatMap(({ to, steps: [field = ''], isRequired }) =>
    isRequired === null || distinguishesTypes(fieldTypes?.get(field) ?? null) ? [] : [to],
  )
  return withItems(fields)
}

const NONE: ReadonlySet<SchemaPair> = new Set()

function withItems(pairs: readonly SchemaPair[]): ReadonlySet<SchemaPair> {
  const items = pairs.flatMap(({ edges }) =>
    edges.filter(({ steps, isRequired }) => isRequired === null && steps.join() === 'items').map(({ to }) => to),
  )
  return new Set([...pairs, ...items].filter((pair) => !changesTypeList(pair)))
}

/** A list of types that changes is a matter of types: clients are generated from it. */
function changesTypeList({ deltas }: SchemaPair): boolean {
  return deltas.some((entry) => 'keyword' in entry && entry.keyword === 'listOfTypes')
}
