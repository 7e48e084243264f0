/**
 * Values that a contract stated, and that a first bound or another pattern refuses. Such a change is a warning, because
 * documents often state late what servers always did. That is no reason where the contract said that it takes the value.
 */
import { lookupTable } from '../../common/lookup-table.ts'
import type { SchemaPair } from '../../schema/comparison/comparison.ts'
import type { SchemaDelta } from '../../schema/delta.ts'
import type { UseProofs } from './schema-proofs.ts'

/** The keyword that bounds the same side of a number. */
const OTHER_BOUNDS: Readonly<Record<string, string>> = lookupTable({
  maximum: 'exclusiveMaximum',
  exclusiveMaximum: 'maximum',
  minimum: 'exclusiveMinimum',
  exclusiveMinimum: 'minimum',
})

/** What is refused, in words, with `{value}`; null where nothing shows that the contract stated it. */
export function refusedStatement({ keyword }: SchemaDelta, pair: SchemaPair, proofs: UseProofs): string | null {
  const { value } = pair.before
  if (Array.isArray(value.enum) || value.const !== undefined) return 'a listed value is refused, such as {value}'
  const other = OTHER_BOUNDS[keyword]
  if (other !== undefined && typeof value[other] === 'number')
    return 'a value within the former bound is refused, such as {value}'
  // Texts of a pattern are often those of an example: a changed one stays a warning.
  if (keyword === 'pattern') return null
  return proofs.areApart(pair) ? 'every value that was admitted is refused, such as {value}' : null
}
