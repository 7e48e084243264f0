/**
 * Reads an Avro schema into types with full names (Avro 1.12, "Names"). References stand for their targets. What has no
 * effect on data is left out: `doc`, and attributes that the specification does not define.
 */
import { canonicalJson } from '../../common/hash.ts'
import { lookupTable } from '../../common/lookup-table.ts'
import { readJson } from '../json-text.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../model/limits.ts'
import { isRecord, locatedItems, memberOf, textOrNull, type JsonRecord, type Located } from '../../schema/located.ts'

export type AvroType = AvroNamed | AvroReference | AvroPrimitive | AvroList | AvroUnion | UnknownType

interface AvroName {
  /** With its namespace. */
  readonly name: string
  readonly aliases: ReadonlySet<string>
}

export interface AvroRecord extends AvroName {
  readonly kind: 'record'
  readonly isError: boolean
  readonly fields: readonly AvroField[]
}

export interface AvroEnum extends AvroName {
  readonly kind: 'enum'
  readonly symbols: readonly string[]
  readonly fallback: string | null
}

export interface AvroFixed extends AvroName, Logical {
  readonly kind: 'fixed'
  readonly size: unknown
}

export type AvroNamed = AvroRecord | AvroEnum | AvroFixed

/** A type by its full name. */
interface AvroReference {
  readonly kind: 'reference'
  readonly name: string
  /** The name outside of any namespace, which is meant if the full one is not defined. */
  readonly plain: string
}

/** What a value means beside its type. */
interface Logical {
  /** The canonical text of `logicalType` and what belongs to it. Null: none. */
  readonly logical: string | null
  readonly logicalName: string | null
}

export interface AvroPrimitive extends Logical {
  readonly kind: 'primitive'
  readonly name: string
}

export interface AvroList {
  readonly kind: 'array' | 'map'
  readonly of: AvroType
}

interface AvroUnion {
  readonly kind: 'union'
  readonly branches: readonly AvroType[]
}

/** No schema of Avro. */
interface UnknownType {
  readonly kind: 'unknown'
  readonly text: string
}

export interface AvroField {
  readonly name: string
  readonly aliases: ReadonlySet<string>
  readonly type: AvroType
  /** The canonical text of the default. Null: there is none. */
  readonly fallback: string | null
  readonly order: string
}

export interface AvroSchema {
  readonly root: AvroType
  /** Each name is defined once, and before it is used. */
  readonly isOrdered: boolean
  readonly types: ReadonlyMap<string, AvroNamed>
}

const PRIMITIVE: ReadonlySet<string> = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'])

/** Follows a reference of the document. Null: it has no target. */
type Follow = (located: Located) => Located | null

/** Null: a reference has no target, or leads to itself, so that nothing is known of the schema. */
export function readAvro(schema: Located, follow: Follow): AvroSchema | null {
  const reader = new AvroReader(follow)
  const root = reader.read(schema, '')
  return reader.isWhole ? { root, types: reader.types, isOrdered: reader.isOrdered } : null
}

class AvroReader {
  readonly types = new Map<string, AvroNamed>()
  isWhole = true
  isOrdered = true
  /** What defines each name. */
  readonly #definitions = new Map<string, JsonRecord>()
  readonly #follow: Follow
  /** Parts that several references share are read once for each namespace. Null: they are being read. */
  readonly #known = new Map<object, Map<string, AvroType | null>>()

  constructor(follow: Follow) {
    this.#follow = follow
  }

  read(held: Located, namespace: string): AvroType {
    const located = this.#follow(held)
    if (located === null) {
      this.isWhole = false
      return unknownType(held.value)
    }
    const { value } = located
    if (typeof value === 'string') return this.#readText(value, located, namespace)
    if (typeof value !== 'object' || value === null) return unknownType(value)
    const known = this.#known.get(value) ?? new Map<string, AvroType | null>()
    this.#known.set(value, known)
    const first = known.get(namespace)
    if (first === null) this.isWhole = false
    if (first !== undefined) return first ?? unknownType(null)
    known.set(namespace, null)
    const type = Array.isArray(value)
      ? unionOf(locatedItems(located).map((branch) => this.read(branch, namespace)))
      : this.#readObject(located, namespace)
    known.set(namespace, type)
    return type
  }

  /** A schema may be the text of its JSON. */
  #readText(text: string, located: Located, namespace: string): AvroType {
    if (/^\s*[[{"]/.test(text)) {
      const read = readJson(text, DEFAULT_DOCUMENT_LIMITS)
      if (!read.ok) return unknownType(text)
      const { value } = read
      // The text of a text would be read without an end.
      if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return this.read({ ...located, value }, namespace)
      return unknownType(text)
    }
    if (PRIMITIVE.has(text)) return { kind: 'primitive', name: text, ...NO_LOGICAL }
    const name = fullName(text, namespace)
    if (!this.#definitions.has(name) && !this.#definitions.has(text)) this.isOrdered = false
    return { kind: 'reference', name, plain: text }
  }

  #readObject(located: Located, namespace: string): AvroType {
    const members = located.value
    const type = memberOf(located, 'type')
    if (!isRecord(members) || type === null) return this.#unknown(members)
    this.#noteReferences(members)
    switch (type.value) {
      case 'array':
      case 'map': {
        const of = memberOf(located, type.value === 'array' ? 'items' : 'values')
        return of === null ? this.#unknown(members) : { kind: type.value, of: this.read(of, namespace) }
      }
      case 'record':
      case 'error':
      case 'enum':
      case 'fixed':
        return this.#readNamed(located, members, namespace)
      default:
        return withLogical(this.read(type, namespace), members)
    }
  }

  #readNamed(located: Located, members: JsonRecord, namespace: string): AvroType {
    const own = textOrNull(members['namespace']) ?? namespace
    if (typeof members['name'] !== 'string') return this.#unknown(members)
    const name = fullName(members['name'], own)
    const inner = name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : ''
    const named: AvroName = {
      name,
      aliases: new Set(textsIn(members['aliases']).map((alias) => fullName(alias, inner))),
    }
    const first = this.#definitions.get(name) ?? members
    if (first !== members) this.isOrdered = false
    this.#definitions.set(name, first)
    const type = this.#ofKind(located, members, named, inner)
    if (type === null) return this.#unknown(members)
    this.types.set(name, type)
    return type
  }

  #ofKind(located: Located, members: JsonRecord, named: AvroName, namespace: string): AvroNamed | null {
    if (members['type'] === 'fixed')
      return { ...named, ...logicalOf(members, 'fixed'), kind: 'fixed', size: members['size'] }
    if (members['type'] === 'enum') {
      if (!Array.isArray(members['symbols'])) return null
      const symbols = textsIn(members['symbols'])
      return { ...named, kind: 'enum', symbols, fallback: textOrNull(members['default']) }
    }
    const list = memberOf(located, 'fields')
    if (!Array.isArray(list?.value)) return null
    const fields = locatedItems(list).map((held) => this.#readField(held, namespace))
    if (fields.some((field) => field === null)) return null
    const isError = members['type'] === 'error'
    return { ...named, kind: 'record', isError, fields: fields.filter((field) => field !== null) }
  }

  #unknown(value: unknown): UnknownType {
    if (holdsReference(value)) this.isWhole = false
    return unknownType(value)
  }

  /** References are followed in the place of a schema or a field only. */
  #noteReferences(members: JsonRecord): void {
    if (Object.entries(members).some(([name, member]) => !FOLLOWED.has(name) && holdsReference(member)))
      this.isWhole = false
  }

  #readField(held: Located, namespace: string): AvroField | null {
    const located = this.#follow(held)
    const type = located === null ? null : memberOf(located, 'type')
    if (located === null || !isRecord(located.value) || type === null) return null
    const { name, aliases, order } = located.value
    if (typeof name !== 'string') return null
    this.#noteReferences(located.value)
    return {
      name,
      aliases: new Set(textsIn(aliases)),
      type: this.read(type, namespace),
      fallback: Object.hasOwn(located.value, 'default') ? textOf(located.value['default']) : null,
      order: textOrNull(order) ?? 'ascending',
    }
  }
}

/** The members whose references are followed. */
const FOLLOWED: ReadonlySet<string> = new Set(['type', 'items', 'values', 'fields'])

function holdsReference(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsReference)
  return isRecord(value) && (value['$ref'] !== undefined || Object.values(value).some(holdsReference))
}

function unionOf(branches: readonly AvroType[]): AvroUnion {
  return { kind: 'union', branches }
}

function unknownType(value: unknown): UnknownType {
  return { kind: 'unknown', text: textOf(value) }
}

function textOf(value: unknown): string {
  return canonicalJson(value)
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function fullName(name: string, namespace: string): string {
  return name.includes('.') || namespace === '' ? name : `${namespace}.${name}`
}

function withLogical(type: AvroType, members: JsonRecord): AvroType {
  return type.kind === 'primitive' ? { ...type, ...logicalOf(members, type.name) } : type
}

const NO_LOGICAL: Logical = { logical: null, logicalName: null }

/** The types that each logical type belongs to. */
const UNDERLYING: Readonly<Record<string, readonly string[]>> = lookupTable({
  date: ['int'],
  'time-millis': ['int'],
  'time-micros': ['long'],
  'timestamp-millis': ['long'],
  'timestamp-micros': ['long'],
  'timestamp-nanos': ['long'],
  'local-timestamp-millis': ['long'],
  'local-timestamp-micros': ['long'],
  'local-timestamp-nanos': ['long'],
  decimal: ['bytes', 'fixed'],
  'big-decimal': ['bytes'],
  uuid: ['string', 'fixed'],
  duration: ['fixed'],
})

/** The sizes of fixed types. */
const SIZES: Readonly<Record<string, number>> = lookupTable({ duration: 12, uuid: 16 })

/**
 * Readers ignore a logical type of another type, and one that is not valid. One that is not known may mean something, and so
 * may a value that is no text, which no version of Avro describes.
 */
function logicalOf({ logicalType, precision, scale, size }: JsonRecord, type: string): Logical {
  if (logicalType === undefined) return NO_LOGICAL
  if (typeof logicalType !== 'string') return { logicalName: null, logical: textOf([logicalType]) }
  if (UNDERLYING[logicalType]?.includes(type) === false) return NO_LOGICAL
  const neededSize = SIZES[logicalType]
  if (type === 'fixed' && neededSize !== undefined && size !== neededSize) return NO_LOGICAL
  if (logicalType !== 'decimal') return { logicalName: logicalType, logical: textOf([logicalType]) }
  // The default scale is 0.
  const digits = { precision: Number(precision), scale: Number(scale ?? 0) }
  const most = type === 'fixed' ? Math.floor(Math.log10(2) * (8 * Number(size) - 1)) : Infinity
  const isValid = Object.values(digits).every(Number.isInteger) && digits.precision > 0 && digits.precision <= most
  if (!isValid || digits.scale < 0 || digits.scale > digits.precision) return NO_LOGICAL
  return { logicalName: logicalType, logical: textOf([logicalType, digits.precision, digits.scale]) }
}
