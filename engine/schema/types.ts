/** Types, formats and null: which kinds of value a schema admits. */
import type { Examination } from './examination.ts'
import type { TypeFacts } from './delta.ts'
import type { JsonRecord } from './located.ts'

const TYPE_STEPS = ['type'] as const

export function compareTypes({ base, head, add: say }: Examination): void {
  const before = typesOf(base)
  const after = typesOf(head)
  const formatBefore = schemaFormat(base)
  const formatAfter = schemaFormat(head)
  compareNull(base, head, say)
  if (formatBefore === formatAfter && sameTypes(before, after)) return
  const types: TypeFacts = { before, after, formatBefore, formatAfter }
  say({
    keyword: 'type',
    action: 'changed',
    name: null,
    before: nameType(base),
    after: nameType(head),
    steps: TYPE_STEPS,
    types,
  })
}

function compareNull(base: JsonRecord, head: JsonRecord, add: Examination['add']): void {
  if (!isNullReported(base, head)) return
  const [before, after] = [admitsNull(base), admitsNull(head)]
  const steps = [Object.hasOwn(head, 'nullable') || Object.hasOwn(base, 'nullable') ? 'nullable' : 'type']
  add({ keyword: 'nullable', action: after ? 'became' : 'ceased', name: null, before, after, steps })
}

/** Whether null that was added or removed is reported as a change of nullability. */
export function isNullReported(base: JsonRecord, head: JsonRecord): boolean {
  const before = admitsNull(base)
  const after = admitsNull(head)
  // Without a type a schema admits null among all else: the change of type says it.
  if (before === after || (before && isUntyped(head)) || (after && isUntyped(base))) return false
  // So does it where null is all that is admitted.
  return typesOf(base)[0] !== 'null' && typesOf(head)[0] !== 'null'
}

/** No word about types at all, so that null is admitted without being named. */
function isUntyped(schema: JsonRecord): boolean {
  return (
    schema.type === undefined &&
    schema.nullable === undefined &&
    schema.oneOf === undefined &&
    schema.anyOf === undefined &&
    schema.allOf === undefined &&
    schema.enum === undefined
  )
}

/** True when a schema names null as a value it admits. */
export function admitsNull(schema: JsonRecord): boolean {
  const { type } = schema
  if (schema.nullable === true || schema['x-nullable'] === true || type === 'null') return true
  return Array.isArray(type) && type.includes('null')
}

/** The list of one type: asked for at every schema, and kept by every change of a type. */
const SINGLE: ReadonlyMap<string, readonly string[]> = new Map(
  ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'].map((type) => [type, [type]]),
)

/** The types without null, sorted; empty when every type is admitted, and null when it is the only one. */
export function typesOf(schema: JsonRecord): readonly string[] {
  const { type } = schema
  if (typeof type === 'string') return SINGLE.get(type) ?? [type]
  if (!Array.isArray(type)) return []
  const named = type.filter((item): item is string => typeof item === 'string')
  // Every integer is a number.
  const isImplied = (item: string): boolean => item === 'null' || (item === 'integer' && named.includes('number'))
  const others = named.filter((item) => !isImplied(item)).sort()
  return others.length === 0 ? named.slice(0, 1) : others
}

function schemaFormat(schema: JsonRecord): string | null {
  return typeof schema.format === 'string' && schema.format !== '' ? schema.format : null
}

function sameTypes(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((type, index) => type === b[index])
}

function nameType(schema: JsonRecord): string {
  const types = typesOf(schema)
  const name = types.length === 0 ? 'any' : types.join(' | ')
  const format = schemaFormat(schema)
  return format === null ? name : `${name} (${format})`
}
