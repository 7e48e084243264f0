/** Whether a change of type or format widens, narrows, replaces, or does not affect how a value is written. */
import { lookupTable } from '../../common/lookup-table.ts'
import type { TypeFacts } from '../../schema/delta.ts'
import { TYPE_FAMILIES, type Family } from '../families.ts'
import type { SchemaSite } from '../../schema/sites.ts'

/** Formats whose values are part of another format's values. */
const WIDER_FORMATS: Readonly<Record<string, readonly string[]>> = lookupTable({
  float: ['double'],
  int32: ['int64', 'bigint'],
  int64: ['bigint'],
  date: ['date-time'],
  time: ['date-time'],
})

/**
 * In JSON and similar formats a number is not a string. In a query, a form or plain text all values are text. A media
 * range may contain JSON.
 */
export function distinguishesTypes(mediaType: string | null): boolean {
  if (mediaType === null) return false
  const name = (mediaType.split(';')[0] ?? '').trim().toLowerCase()
  return TYPED.has(name) || TYPED_SUFFIXES.some((suffix) => name.endsWith(suffix))
}

/**
 * JSON and sequences of it (RFC 7464; OpenAPI 3.2, sequential media types), YAML (RFC 9512), CBOR (RFC 8949) and
 * MessagePack, and the ranges that contain them (RFC 9110 §12.5.1).
 */
const TYPED: ReadonlySet<string> = new Set([
  '*/*',
  'application/*',
  'application/json',
  'application/json-seq',
  'application/jsonl',
  'application/ndjson',
  'application/x-ndjson',
  'text/json',
  'application/yaml',
  'application/x-yaml',
  'text/yaml',
  'text/x-yaml',
  'application/cbor',
  'application/cbor-seq',
  'application/msgpack',
  'application/vnd.msgpack',
  'application/x-msgpack',
])

const TYPED_SUFFIXES = ['+json', '+json-seq', '+yaml', '+cbor', '+cbor-seq'] as const

const FORMS: ReadonlySet<string> = new Set(['application/x-www-form-urlencoded', 'multipart/form-data'])

/** Whether a text of the media type consists of named fields. */
export function isForm(mediaType: string | null): boolean {
  const [name = ''] = mediaType?.split(';') ?? []
  return FORMS.has(name.trim().toLowerCase())
}

/**
 * How the values of a schema are written. `typed`: types are distinguished, as in JSON. `text`: they are not. `plain`:
 * as the value of a parameter, which is text. `unknown`: below a parameter, whose style is not examined.
 */
export type Writing = 'typed' | 'text' | 'plain' | 'unknown'

/** The family of a change of type at a site. */
export function typeFamilyOf(types: TypeFacts, site: SchemaSite, writing: Writing): Family {
  if (site.direction === 'shared') return sharedFamily(types)
  if (site.direction === 'response') return responseFamily(types, writing === 'typed')
  return site.area === 'parameters' && site.isProperty
    ? parameterPropertyFamily(types, writing)
    : requestFamily(types, writing)
}

/** If it is unknown whether types are distinguished, a change that breaks in one case only may break. */
function parameterPropertyFamily(types: TypeFacts, writing: Writing): Family {
  const isUnknown = writing === 'unknown'
  const strict = breaksWriters(types, isUnknown || writing === 'typed')
  if (isUnknown && strict !== breaksWriters(types, false)) return TYPE_FAMILIES.changed
  return strict ? TYPE_FAMILIES.specialized : TYPE_FAMILIES.generalized
}

/** A document is written and read, so both directions count. */
function sharedFamily(types: TypeFacts): Family {
  if (!breaksWriters(types, true)) return TYPE_FAMILIES.generalized
  return breaksWriters(reversed(types), true) ? TYPE_FAMILIES.changed : TYPE_FAMILIES.specialized
}

function requestFamily(types: TypeFacts, writing: Writing): Family {
  if (breaksWriters(types, writing === 'typed')) return TYPE_FAMILIES.changed
  // A string admits every form of a parameter value: that is a wider type, not another one.
  const isWider = writing === 'plain' || !isSwap(types) || areTypesWithin(types.before, types.after)
  return isWider ? TYPE_FAMILIES.generalized : TYPE_FAMILIES.compatible
}

function responseFamily(types: TypeFacts, isTyped: boolean): Family {
  if (breaksWriters(reversed(types), isTyped)) {
    return isSwap(types) && areTypesWithin(types.before, types.after)
      ? TYPE_FAMILIES.generalized
      : TYPE_FAMILIES.changed
  }
  return isSwap(types) && !areTypesWithin(types.after, types.before)
    ? TYPE_FAMILIES.compatible
    : TYPE_FAMILIES.specialized
}

function reversed({ before, after, formatBefore, formatAfter }: TypeFacts): TypeFacts {
  return { before: after, after: before, formatBefore: formatAfter, formatAfter: formatBefore }
}

/** True if a value written under `before` is not valid under `after`. */
function breaksWriters({ before, after, formatBefore, formatAfter }: TypeFacts, isTyped: boolean): boolean {
  const sameType = before.length === after.length && before.every((type) => after.includes(type))
  if (!sameType && after.length === 0) return false
  // Where types are not distinguished, any text is a string; a part with a file is no text.
  const isAnyText = !isTyped && after.length === 1 && after[0] === 'string' && !before.includes('file')
  const typeBreaks = !sameType && !areTypesWithin(before, after) && !isAnyText
  return typeBreaks || breaksFormat(formatBefore, formatAfter, after)
}

function breaksFormat(before: string | null, after: string | null, types: readonly string[]): boolean {
  if (before === after || after === null) return false
  if (types.length !== 1) return true
  return before === null || !(WIDER_FORMATS[before] ?? []).includes(after)
}

/** Whether `whole` admits every type of `part`. An untyped part is not within a schema that names types. */
function areTypesWithin(part: readonly string[], whole: readonly string[]): boolean {
  if (part.length === 0) return false
  return part.every((type) => whole.includes(type) || (type === 'integer' && whole.includes('number')))
}

function isSwap({ before, after }: TypeFacts): boolean {
  const sameType = before.length === after.length && before.every((type) => after.includes(type))
  return !sameType && before.length > 0 && after.length > 0
}
