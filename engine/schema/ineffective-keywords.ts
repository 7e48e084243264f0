/**
 * Keywords that admit and refuse nothing where they stand: their value is the one that silence has, or the keyword that
 * they belong to is missing. They are left out before schemas are compared, so that writing them out is no change.
 * A sub-schema may still count as an annotation (`unevaluatedProperties`): the comparison of admitted values covers that.
 */
import { isRecord, type JsonRecord } from './located.ts'

/** JSON Schema 2020-12 validation §6.1.1; `number` includes `integer`. */
const EVERY_TYPE = ['array', 'boolean', 'null', 'number', 'object', 'string'] as const

type IsIdle = (value: unknown, schema: JsonRecord) => boolean

/** Keywords, and whether one has no effect in its schema. */
const IDLE: readonly { readonly name: string; readonly isIdle: IsIdle }[] = [
  { name: 'type', isIdle: (value) => Array.isArray(value) && EVERY_TYPE.every((type) => value.includes(type)) },
  { name: 'not', isIdle: (value) => value === false },
  { name: 'propertyNames', isIdle: admitsAll },
  // Validation §8.3 to §8.5: they are about texts.
  { name: 'contentEncoding', isIdle: (_value, schema) => isNoText(schema) },
  { name: 'contentMediaType', isIdle: (_value, schema) => isNoText(schema) },
  {
    name: 'contentSchema',
    // Validation §8.5: without a media type it is ignored.
    isIdle: (value, schema) => schema.contentMediaType === undefined || admitsAll(value) || isNoText(schema),
  },
  // Core §10.2.2.2, §10.2.2.3. What `if` looks at stays looked at.
  { name: 'then', isIdle: admitsAll },
  { name: 'else', isIdle: admitsAll },
  // Validation §6.4.4 and §6.4.5. `minContains: 0` stays: draft 7 does not know it.
  { name: 'minContains', isIdle: (value, { contains }) => contains === undefined || value === 1 },
  { name: 'maxContains', isIdle: (_value, { contains }) => contains === undefined },
  // Draft 2019-09 core §9.3.1.2: it belongs to a list in `items`.
  { name: 'additionalItems', isIdle: (_value, { items }) => !Array.isArray(items) },
  { name: 'dependentRequired', isIdle: (value) => isRecord(value) && Object.values(value).every(isEmptyList) },
  { name: 'dependentSchemas', isIdle: (value) => isRecord(value) && Object.values(value).every(admitsAll) },
]

const CONDITION = ['if', 'then', 'else'] as const

/** Both sides without what has no effect on either; a side that loses nothing is the same object. */
export function withoutIdle(before: JsonRecord, after: JsonRecord): readonly [JsonRecord, JsonRecord] {
  const idle: string[] = []
  IDLE.forEach(({ name, isIdle }) => {
    if (isIdleOnBoth(name, isIdle, before, after)) idle.push(name)
  })
  if (hasNoCondition(before) && hasNoCondition(after)) idle.push(...CONDITION)
  return [withoutKeywords(before, idle), withoutKeywords(after, idle)]
}

function isIdleOnBoth(name: string, isIdle: IsIdle, base: JsonRecord, head: JsonRecord): boolean {
  const before = base[name]
  const after = head[name]
  if (before === undefined && after === undefined) return false
  return (before === undefined || isIdle(before, base)) && (after === undefined || isIdle(after, head))
}

/** Core §10.2.2: without `if` the others are ignored, and alone `if` asserts nothing. */
function hasNoCondition(schema: JsonRecord): boolean {
  return schema.if === undefined || (admitsAll(schema.then) && admitsAll(schema.else))
}

function withoutKeywords(schema: JsonRecord, names: readonly string[]): JsonRecord {
  if (names.every((name) => schema[name] === undefined)) return schema
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)))
}

/** Absent, `true` and `{}` admit every value, and evaluate nothing. */
export function admitsAll(schema: unknown): boolean {
  return schema === undefined || schema === true || (isRecord(schema) && Object.keys(schema).length === 0)
}

/** Whether the types that a schema names leave out texts. */
function isNoText({ type }: JsonRecord): boolean {
  return Array.isArray(type) ? type.length > 0 && !type.includes('string') : type !== undefined && type !== 'string'
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}
