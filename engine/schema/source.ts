/** One side of a schema comparison: the language its schemas are written in, and what their references name. */
import { withOwnKeywords, withoutMembersOf32 } from './dialect-keywords.ts'
import { isRecord, type JsonRecord, type Located } from './located.ts'

/**
 * `openapi-2.0` and `openapi-3.0`: `nullable`, boolean `exclusiveMinimum`, and `$ref` hides its siblings.
 * `json-schema`: 2020-12 as MCP tools and OpenAPI 3.1 on use it, where siblings of `$ref` count.
 * `json-schema-draft-7`: drafts 4 to 7, where `$ref` hides its siblings too.
 */
export type SchemaDialect = 'openapi-2.0' | 'openapi-3.0' | 'json-schema' | 'json-schema-draft-7'

export interface SchemaSource {
  readonly dialect: SchemaDialect
  /** Whether keywords are left out that the dialect does not have. Absent: they count, as many readers take them. */
  readonly isStrict?: boolean
  /** Whether members within keywords are left out that only OpenAPI 3.2 has. Absent: they count. */
  readonly isBefore32?: boolean
  /** Whether a property that is left out gets its default before values are validated, as in Kubernetes. Absent: it does not. */
  readonly fillsDefaults?: boolean
  /** Whether members that an object does not name are dropped unless it allows them, as in Kubernetes. Absent: they are kept. */
  readonly prunes?: boolean
  /**
   * Whether `unevaluatedItems` passes over the items that `contains` matches: in 2020-12 (core §11.2), not in 2019-09 (core
   * §9.3.1.3). Null: other drafts are stated. Absent: it does.
   */
  readonly evaluatesContained?: boolean | null
  /** What a reference names, or null when it names nothing. `from` is the object that holds the `$ref`. */
  resolve(reference: string, from: Located): Located | null
  /** Whether a reference names something: asked of names that are not references of this side. Absent: no name is known. */
  knows?(reference: string, from: Located): boolean
  /**
   * Names of the schemas that inherit from a shared one by `allOf`, where a discriminator selects among such; null for a
   * schema that is written in place. Absent: no schema inherits.
   */
  subtypes?(schema: Located): readonly string[] | null
}

/** Whether keywords beside a `$ref` have no effect (JSON Schema draft-07 core §8.3, OpenAPI 3.0.3 §4.7.23). */
export function hidesSiblings(dialect: SchemaDialect): boolean {
  return dialect !== 'json-schema'
}

export function evaluatesContained({ evaluatesContained: stated }: SchemaSource): boolean | null {
  return stated === undefined || stated
}

export function knows(source: SchemaSource, reference: string, from: Located): boolean {
  return source.knows?.(reference, from) ?? false
}

/** A schema after its references were followed. */
export interface ResolvedSchema extends Located {
  readonly value: JsonRecord
  /** The first reference on the way, as written; null for a schema written in place. */
  readonly reference: string | null
  /** Keywords that are written there and have no effect in the version of the contract. Absent: none, or not asked for. */
  readonly ignored?: readonly string[]
}

const NOTHING: JsonRecord = { not: {} }
const ANYTHING: JsonRecord = {}
/** A default of null says the same again. */
const NULL_MARKS = ['nullable', 'default']
const NULL: JsonRecord = { type: 'null' }
/** Stands for what a dangling reference names. It admits anything, and nobody knows what the target would. */
const DANGLING: JsonRecord = {}
/** Longer chains of references to references than this are taken for a loop. */
const MAX_CHAIN = 64

/** Siblings of `$ref` that say nothing about which values are valid, nor about how a value is used. */
export const SILENT_SIBLINGS: ReadonlySet<string> = new Set([
  '$ref',
  'summary',
  'description',
  'title',
  'example',
  'examples',
  '$comment',
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$defs',
  'definitions',
])

/** Follows the references of a schema. A boolean schema becomes its object form; a dangling reference admits anything. */
export function resolveSchema(schema: Located, source: SchemaSource): ResolvedSchema {
  let current = schema
  let reference: string | null = null
  const ignored: string[] = []
  for (let hops = 0; hops < MAX_CHAIN; hops += 1) {
    const { value } = current
    if (!isRecord(value)) {
      return { value: value === false ? NOTHING : ANYTHING, at: current.at, document: current.document, reference }
    }
    const target = value['$ref']
    if (typeof target !== 'string') {
      const effective = own(value, source)
      if (effective !== value) ignored.push(...meaningfulIn(value).filter((name) => !Object.hasOwn(effective, name)))
      return {
        value: isNullAlternative(schema, value, source) ? NULL : effective,
        at: current.at,
        document: current.document,
        reference,
        ...(ignored.length > 0 && { ignored }),
      }
    }
    // Reached through a reference, it is shared: taken for one written in place, a loop would have no end.
    if (!hidesSiblings(source.dialect) && hasMeaningfulSibling(value)) {
      return { value: own(withSiblings(value, target), source), at: current.at, document: current.document, reference }
    }
    if (source.isStrict === true) ignored.push(...meaningfulIn(value))
    reference ??= target
    const next = source.resolve(target, current)
    if (next === null) return { value: DANGLING, at: current.at, document: current.document, reference }
    current = next
  }
  return { value: ANYTHING, at: schema.at, document: schema.document, reference }
}

function own(schema: JsonRecord, { dialect, isStrict, isBefore32 }: SchemaSource): JsonRecord {
  const known = isBefore32 === true ? withoutMembersOf32(schema) : schema
  return isStrict !== true || dialect === 'json-schema-draft-7' ? known : withOwnKeywords(known, dialect)
}

/** Whether a schema is only a reference without a target: what it admits was not looked at. */
export function isDangling({ value }: ResolvedSchema): boolean {
  return value === DANGLING
}

export function hasMeaningfulSibling(schema: JsonRecord, besides: readonly string[] = []): boolean {
  for (const name in schema) {
    if (!besides.includes(name) && !SILENT_SIBLINGS.has(name) && !name.startsWith('x-')) return true
  }
  return false
}

function meaningfulIn(schema: JsonRecord): readonly string[] {
  return Object.keys(schema).filter((name) => !SILENT_SIBLINGS.has(name) && !name.startsWith('x-'))
}

/**
 * Whether an alternative is `{nullable: true}`: the only way to write null as an alternative in OpenAPI 3.0, where generators
 * write an optional reference so. Taken literally, it admits every value, and no change of the other alternatives would count.
 */
function isNullAlternative({ at }: Located, value: JsonRecord, { dialect }: SchemaSource): boolean {
  if (dialect !== 'openapi-3.0' || value['nullable'] !== true || hasMeaningfulSibling(value, NULL_MARKS)) return false
  return at.parent?.step === 'anyOf' || at.parent?.step === 'oneOf'
}

/** Kept by the schema that was rewritten, so that one schema keeps one identity. */
const rewritten = new WeakMap<JsonRecord, JsonRecord>()

/** JSON Schema 2020-12 §8.2.3.1: a reference beside other keywords is one more condition, as an item of `allOf`. */
function withSiblings(schema: JsonRecord, target: string): JsonRecord {
  const known = rewritten.get(schema)
  if (known) return known
  const { $ref: _, allOf, ...rest } = schema
  const value: JsonRecord = { ...rest, allOf: [{ $ref: target }, ...(Array.isArray(allOf) ? allOf : [])] }
  rewritten.set(schema, value)
  return value
}
