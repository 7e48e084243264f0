/**
 * Values that a contract stated, and that a first bound or another pattern refuses. Such a change is a warning, because
 * documents often state late what servers always did. That is no reason where the contract said that it takes the value.
 */
import { lookupTable } from '../../common/lookup-table.ts'
import type { SchemaPair } from '../../schema/comparison/comparison.ts'
import type { SchemaDelta } from '../../schema/delta.ts'
import { isEqual } from '../../schema/equality.ts'
import { picked } from './removed-properties.ts'
import type { UseProofs } from './schema-proofs.ts'

/** The keyword that bounds the same side of a number. */
const OTHER_BOUNDS: Readonly<Record<string, string>> = lookupTable({
  maximum: 'exclusiveMaximum',
  exclusiveMaximum: 'maximum',
  minimum: 'exclusiveMinimum',
  exclusiveMinimum: 'minimum',
})

/**
 * The pair with only the changed keyword after the change: another one may be what refuses a value. A type that stays refuses
 * none, and a text is read by it.
 */
export function withKeywordOnly(pair: SchemaPair, { keyword }: SchemaDelta): SchemaPair {
  const { value } = pair.after
  const staysTyped = isEqual(pair.before.value.type, value.type)
  const other = OTHER_BOUNDS[keyword] ?? keyword
  // Up to draft 4 the other bound is a flag, and says nothing alone.
  const isFlagged = typeof value[keyword] === 'boolean' || typeof value[other] === 'boolean'
  const isOfChange = (name: string): boolean =>
    name === keyword || (isFlagged && name === other) || (staysTyped && name === 'type')
  return { ...pair, after: picked(pair.after, isOfChange) }
}

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
