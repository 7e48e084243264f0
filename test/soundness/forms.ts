/**
 * Forms (`application/x-www-form-urlencoded`, `multipart/form-data`) and parameters: what a client sends of an object, and the
 * values that a parser makes of it by the schema. `plain` is a value in a path, a header field or a cookie. All that is in a field
 * is text; only a part of a multipart body holds JSON.
 */
import { inPlaceOf, isKeywords, listOf, namesIn, type Keywords, type Schema } from './schema.ts'
import { membersOf } from './values.ts'

export type FormKind = 'urlencoded' | 'multipart'
/** A query is written as a form. */
export type TextKind = FormKind | 'plain'

export const FORM_TYPES: Readonly<Record<FormKind, string>> = {
  urlencoded: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data',
}

/** The form of an object, as an object of texts; null for what no form holds. An empty list sends no field. */
export function formOf(instance: unknown, kind: TextKind): Keywords | null {
  if (!isKeywords(instance)) return null
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(instance)) {
    const sent =
      Array.isArray(value) && kind !== 'plain' ? value.map((item) => sentOf(item, kind)) : sentOf(value, kind)
    if (sent === null || (Array.isArray(sent) && sent.includes(null))) return null
    if (!Array.isArray(sent) || sent.length > 0) fields[name] = sent
  }
  return fields
}

function sentOf(value: unknown, kind: TextKind): unknown {
  if (value === null) return kind === 'plain' ? null : ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (kind === 'plain') return typeof value === 'object' ? null : plainText(text)
  if (typeof value !== 'object') return text
  return kind === 'multipart' && !Array.isArray(value) ? value : null
}

/** Null for texts that a path, a header field or a cookie does not hold as they are: a comma stands between items. */
function plainText(text: string): string | null {
  return /^[\w.:+@-]+$/.test(text) ? text : null
}

/** More ways to read a form than this are not tried. */
const MOST_READINGS = 64

/** Null where a parser may read the form in ways that the schema judges differently. */
export function formReading(
  validate: (instance: unknown) => boolean | null,
  root: Schema,
): (form: unknown) => boolean | null {
  return (form) => {
    const readings = readingsOf(root, form)
    if (readings === null) return null
    const verdicts = new Set(readings.map(validate))
    const [verdict = null] = verdicts
    return verdicts.size === 1 ? verdict : null
  }
}

function readingsOf(root: Schema, form: unknown): readonly Keywords[] | null {
  if (!isKeywords(form)) return null
  const facets = inPlaceOf(root, root)
  let readings: readonly Keywords[] = [{}]
  for (const [name, sent] of Object.entries(form)) {
    const members = facets.flatMap((one) => membersOf(one, name))
    const values = valuesOf(root, members, sent)
    if (values === null || values.length * readings.length > MOST_READINGS) return null
    readings = readings.flatMap((one) => values.map((value) => ({ ...one, [name]: value })))
  }
  return readings
}

/** What a field may be read as; null where a parser may refuse it or read it in a way of its own. */
function valuesOf(root: Schema, schemas: readonly Schema[], sent: unknown, isItem = false): readonly unknown[] | null {
  const facets = schemas.flatMap((schema) => inPlaceOf(root, schema))
  const types = typesIn(facets)
  const isAny = types.size === 0
  const items = facets.flatMap((one) =>
    [one.items, one.contains, one.unevaluatedItems, ...listOf(one.prefixItems)].filter(isKeywords),
  )
  if (Array.isArray(sent)) {
    if (!isAny && !types.has('array')) return null
    const lists = sent.map((item) => valuesOf(root, items, item, true))
    return lists.reduce<readonly (readonly unknown[])[] | null>(
      (heads, list) =>
        heads === null || list === null || heads.length * list.length > MOST_READINGS
          ? null
          : heads.flatMap((head) => list.map((item) => [...head, item])),
      [[]],
    )
  }
  if (typeof sent !== 'string') return isAny || types.has('object') ? [sent] : null
  const scalars = scalarsOf(sent, types)
  if (!types.has('array')) return scalars
  // No form writes a list within a list.
  if (isItem) return null
  const alone = valuesOf(root, items, sent, true)?.map((item) => [item]) ?? null
  if (alone === null) return null
  return types.size === 1 ? alone : [...alone, ...scalars]
}

function scalarsOf(text: string, types: ReadonlySet<string>): readonly unknown[] {
  const isAny = types.size === 0
  const read: unknown[] = []
  if ((isAny || types.has('number') || types.has('integer')) && /^-?\d+(?:\.\d+)?$/.test(text)) read.push(Number(text))
  if ((isAny || types.has('boolean')) && /^(?:true|false)$/.test(text)) read.push(text === 'true')
  if ((isAny || types.has('null')) && text === '') read.push(null)
  return isAny || types.has('string') || read.length === 0 || read.includes(null) ? [...read, text] : read
}

/** The types that schemas name, and those of the values that they list; empty where the type is open. */
function typesIn(facets: readonly Keywords[]): ReadonlySet<string> {
  const named = facets.flatMap((one) => (typeof one.type === 'string' ? [one.type] : namesIn(one.type)))
  const listed = facets.flatMap((one) => (one.const === undefined ? listOf(one.enum) : [one.const])).map(typeOfValue)
  return new Set([...named, ...listed])
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
