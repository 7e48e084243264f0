/** The parts of a schema object: its members read without trust in their form, and where they stand. */
import { lookupTable } from '../common/lookup-table.ts'
import type { Examination } from './examination.ts'
import { isRecord, stepInto, type JsonRecord, type Located } from './located.ts'
import type { ResolvedSchema } from './source.ts'
import { typesOf } from './types.ts'

const NOTHING: JsonRecord = {}

/** Among more schemas than these in a list, none is looked for under another name. */
export const MAX_RENAMED = 24

/** Keywords that make a schema of several ones. */
export const COMPOSITIONS = ['allOf', 'anyOf', 'oneOf'] as const
export type Composition = (typeof COMPOSITIONS)[number]

/** The members of a keyword that holds an object; none when it holds anything else. */
export function membersOf(schema: JsonRecord, keyword: string): JsonRecord {
  const value = schema[keyword]
  return isRecord(value) ? value : NOTHING
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
}

export function itemsOf(schema: JsonRecord, keyword: string): readonly unknown[] {
  const value = schema[keyword]
  return Array.isArray(value) ? value : []
}

/** A schema held by a keyword (`name` absent) or by name within it (`holder` is then the keyword's value). */
export function locate(owner: ResolvedSchema, holder: JsonRecord, keyword: string, name?: string): Located {
  const at = stepInto(owner.at, keyword)
  return name === undefined
    ? { value: holder[keyword], at, document: owner.document }
    : { value: holder[name], at: stepInto(at, name), document: owner.document }
}

/** Locates the schemas that a keyword holds by name; the steps that they share are made once. */
export function locateNamed(owner: ResolvedSchema, holder: JsonRecord, keyword: string): (name: string) => Located {
  const at = stepInto(owner.at, keyword)
  return (name) => ({ value: holder[name], at: stepInto(at, name), document: owner.document })
}

export function locateItem(owner: ResolvedSchema, list: readonly unknown[], keyword: string, index: number): Located {
  return { value: list[index], at: stepInto(stepInto(owner.at, keyword), String(index)), document: owner.document }
}

/** Types without which a keyword is of no consequence; the unevaluated ones follow what other keywords evaluated. */
const CONSTRAINED_TYPE: Readonly<Record<string, string>> = lookupTable({
  items: 'array',
  additionalProperties: 'object',
})

type Allowance = 'additionalProperties' | 'unevaluatedProperties' | 'unevaluatedItems' | 'items'

/**
 * A keyword that says what is allowed beside what is named: anything (absent, `true`, `{}`), nothing (`false`), or what a
 * schema admits.
 */
export function compareAllowance(
  { before, after, base, head, add: say, descend }: Examination,
  keyword: Allowance,
): void {
  const type = CONSTRAINED_TYPE[keyword]
  if (type !== undefined && (excludes(base, type) || excludes(head, type))) return
  const baseAllowance = allowanceOf(base[keyword])
  const headAllowance = allowanceOf(head[keyword])
  // `{}` admits anything, but is a schema: what was added to it is reported keyword by keyword.
  if (isRecord(base[keyword]) && isRecord(head[keyword])) {
    descend([keyword], locate(before, base, keyword), locate(after, head, keyword))
    return
  }
  if (baseAllowance === headAllowance) return
  const action =
    headAllowance === 'anything'
      ? 'removed'
      : baseAllowance === 'anything'
        ? 'added'
        : headAllowance === 'nothing'
          ? 'narrowed'
          : 'widened'
  say({ keyword, action, name: null, before: base[keyword] ?? null, after: head[keyword] ?? null, steps: [keyword] })
}

/** A schema that names types, and not this one: what it says of values of this type is of no consequence. */
function excludes(schema: JsonRecord, type: string): boolean {
  const types = typesOf(schema)
  return types.length > 0 && !types.includes(type)
}

export function allowanceOf(value: unknown): 'anything' | 'nothing' | 'schema' {
  if (value === false) return 'nothing'
  if (!isRecord(value)) return 'anything'
  for (const _ in value) return 'schema'
  return 'anything'
}

/** What a schema says beside its types and its alternatives of types. */
export function withoutTypes(schema: JsonRecord): JsonRecord {
  const { type: _type, format: _format, oneOf: _oneOf, anyOf: _anyOf, ...rest } = schema
  return rest
}
