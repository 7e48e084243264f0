/** Which changes of a schema a proof about its values may call information, and which proof that takes. */
import type { SchemaPair } from '../schema/comparison.ts'
import type { DeltaSeries, SchemaDelta } from '../schema/delta.ts'
import type { Rule } from './rule.ts'

/** Series are of values and properties that come or go. */
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

/** Keywords whose changes are about which values are admitted, and about nothing else: a proof of one direction is enough. */
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

/** Keywords whose changes warn of more than values: where those before and after are proved equal, nothing is left of it. */
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
  if (FORMAL.has(keyword) || isOfFormat(delta)) return true
  return action === 'removed' && (keyword === 'allOf' || keyword === 'properties')
}

/** What warns of more than values still breaks nobody where all of them are kept. */
export function isFormal({ keyword }: SchemaDelta): boolean {
  return FORMAL.has(keyword)
}

/** A keyword that comes before the part that it needs is a change under way: equal values say nothing of it. */
export function isWhole({ before, after }: SchemaPair): boolean {
  return [before, after].every(({ value }) => {
    const isConditional = value.then !== undefined || value.else !== undefined
    const isCounted = value.minContains !== undefined || value.maxContains !== undefined
    return (value.if !== undefined) === isConditional && (!isCounted || value.contains !== undefined)
  })
}

/** What is said of a property that goes stands for whatever its name may hold now. */
export function isGone({ keyword, action }: SchemaDelta): boolean {
  return keyword === 'properties' && action === 'removed'
}

/** What goes is warned of for other reasons than the values: a property may be passed over without a word. */
export function isProvable(delta: SchemaDelta, rule: Rule): boolean {
  const { keyword, action } = delta
  if (isInFormatOnly(delta)) return false
  if (keyword === 'properties') return action === 'added'
  if (keyword === 'allOf' && action === 'removed') return rule.direction !== 'request'
  return PROVABLE.has(keyword)
}

/**
 * Of formats it is not known what their values are: only those of the same conditions are equal. A format of a type that has
 * none is a word to people, which no proof about values concerns.
 */
export function isOfFormat(delta: SchemaDelta): boolean {
  const types = delta.types?.before ?? []
  return isInFormatOnly(delta) && (types.length === 0 || types.some((type) => FORMATTED.has(type)))
}

const FORMATTED: ReadonlySet<string> = new Set(['string', 'number', 'integer'])

function isInFormatOnly({ types }: SchemaDelta): boolean {
  return types !== undefined && types.before.join() === types.after.join()
}
