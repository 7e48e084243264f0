/** Which schema changes a proof about values may lower to information, and which proof that takes. */
import type { SchemaPair } from '../../schema/comparison/comparison.ts'
import type { DeltaSeries, SchemaDelta } from '../../schema/delta.ts'
import type { Rule } from '../rule.ts'

/** Series consist of added or removed values and properties. */
export function mayAlarm(entry: SchemaDelta | DeltaSeries): boolean {
  return (
    'each' in entry ||
    (PROVABLE.has(entry.keyword) && !isInFormatOnly(entry)) ||
    isNewlyRequired(entry) ||
    needsEquality(entry)
  )
}

function isNewlyRequired({ keyword, action, property }: SchemaDelta): boolean {
  return keyword === 'properties' && action === 'added' && property?.required === true
}

/** Keywords that only decide which values are admitted: a proof of one direction is enough. */
const PROVABLE: ReadonlySet<string> = new Set([
  'type',
  'nullable',
  'listOfTypes',
  'enum',
  'const',
  'pattern',
  'multipleOf',
  'uniqueItems',
  'maximum',
  'minimum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'maxProperties',
  'minProperties',
  'propertyNames',
  'required',
  'not',
  'items',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'allOf',
  'anyOf',
  'oneOf',
  'anyOf-list',
  'oneOf-list',
  'wrappedInOneOf',
  'joinedInOneOf',
])

/** Keywords that concern more than values: only a proof of equality removes the warning. */
const FORMAL: ReadonlySet<string> = new Set([
  'if',
  'then',
  'else',
  'prefixItems',
  'contains',
  'minContains',
  'maxContains',
  'dependentRequired',
  'dependentSchemas',
])

export function needsEquality(delta: SchemaDelta): boolean {
  const { keyword, action } = delta
  if (FORMAL.has(keyword) || isFormatDelta(delta)) return true
  return action === 'removed' && (keyword === 'allOf' || keyword === 'properties')
}

/** A warning that concerns more than values still breaks nobody if all values are kept. */
export function isFormal({ keyword }: SchemaDelta): boolean {
  return FORMAL.has(keyword)
}

/** A keyword without the part that it needs is an unfinished change: equal values prove nothing about it. */
export function hasCompleteKeywords({ before, after }: SchemaPair): boolean {
  return [before, after].every(({ value }) => {
    const isConditional = value.then !== undefined || value.else !== undefined
    const isCounted = value.minContains !== undefined || value.maxContains !== undefined
    return (value.if !== undefined) === isConditional && (!isCounted || value.contains !== undefined)
  })
}

/** A removed property concerns every value that its name may have now. */
export function isPropertyRemoval({ keyword, action }: SchemaDelta): boolean {
  return keyword === 'properties' && action === 'removed'
}

/** A removed property is reported for reasons other than its values: readers may ignore it silently. */
export function isProvable(delta: SchemaDelta, rule: Rule): boolean {
  const { keyword, action } = delta
  if (isInFormatOnly(delta) || isOfFile(delta)) return false
  if (keyword === 'properties') return action === 'added'
  if (keyword === 'allOf' && action === 'removed') return rule.direction !== 'request'
  return PROVABLE.has(keyword)
}

/**
 * The values of formats are unknown, so only equal formats have equal values. A format without meaning for its type is
 * documentation, and no proof about values concerns it.
 */
export function isFormatDelta(delta: SchemaDelta): boolean {
  const types = delta.types?.before ?? []
  return isInFormatOnly(delta) && (types.length === 0 || types.some((type) => FORMATTED.has(type)))
}

/** A file is sent in another way than text (Swagger 2.0, Parameter Object), so no proof about texts concerns it. */
function isOfFile({ types }: SchemaDelta): boolean {
  return types !== undefined && types.before.includes('file') !== types.after.includes('file')
}

const FORMATTED: ReadonlySet<string> = new Set(['string', 'number', 'integer'])

function isInFormatOnly({ types }: SchemaDelta): boolean {
  return types !== undefined && types.before.join() === types.after.join()
}
