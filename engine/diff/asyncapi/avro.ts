/** Whether data by one Avro schema can be read by another one (Avro 1.12, "Schema Resolution"). */
import {
  readAvro,
  type AvroEnum,
  type AvroField,
  type AvroFixed,
  type AvroList,
  type AvroNamed,
  type AvroPrimitive,
  type AvroRecord,
  type AvroSchema,
  type AvroType,
} from '../../contracts/asyncapi/avro.ts'
import { lookupTable } from '../../common/lookup-table.ts'
import { Pairs } from '../../schema/inclusion/pair-map.ts'
import type { Located } from '../../schema/located.ts'
import type { AsyncAction, AsyncApi } from '../../contracts/asyncapi/contract.ts'
import { isValidAvro } from '../../contracts/asyncapi/avro-validity.ts'
import { DEFINITION_CHANGED, DEFINITION_SAME, type DefinitionChange } from '../definition-change.ts'

const AVRO = /^application\/vnd\.apache\.avro(?:\+(?:json|yaml))?(?=;|$)/i

export function isAvro(format: string): boolean {
  return AVRO.test(format)
}

/** The name of the language, whichever text it is written in. */
export function languageOf(format: string): string {
  return format.replaceAll(/\s+/g, '').replace(AVRO, 'application/vnd.apache.avro')
}

/** A schema and the document that it refers to. */
interface SchemaOfSide {
  readonly schema: Located
  readonly side: AsyncApi
}

/**
 * What a change means for data that is sent. The application writes it by the head, and others read it by the base. Or the
 * application reads by the head what others write by the base.
 */
export function relateAvro(action: AsyncAction, base: SchemaOfSide, head: SchemaOfSide): DefinitionChange {
  const [before, after] = [base, head].map(({ schema, side }) =>
    readAvro(schema, (located) => side.documents.follow(located)),
  )
  if (!before || !after) return DEFINITION_CHANGED
  const change = new AvroResolution(action, before, after).relate()
  if (change.meaning === 'refused' || change.meaning === 'changed') return change
  const [wasValid, isValid] = [isValidAvro(before), isValidAvro(after)]
  if (change.meaning === 'compatible' && !wasValid) return DEFINITION_CHANGED
  // Readers refuse a schema that is not valid.
  return isValid || !wasValid ? change : DEFINITION_CHANGED
}

/** Primitive types that a reader takes for another one, and whether each value stays the same. */
const PROMOTED: Readonly<Record<string, Readonly<Record<string, 'exact' | 'lossy'>>>> = lookupTable({
  int: lookupTable({ long: 'exact', float: 'lossy', double: 'exact' }),
  long: lookupTable({ float: 'lossy', double: 'lossy' }),
  float: lookupTable({ double: 'exact' }),
  string: lookupTable({ bytes: 'exact' }),
  // Not all bytes are a text.
  bytes: lookupTable({ string: 'lossy' }),
})

/** Logical types that count time. A reader takes the number for its own. */
const COUNTS: Readonly<Record<string, string>> = lookupTable({
  date: 'days',
  'time-millis': 'milliseconds of a day',
  'time-micros': 'microseconds of a day',
  'timestamp-millis': 'milliseconds',
  'timestamp-micros': 'microseconds',
  'timestamp-nanos': 'nanoseconds',
  'local-timestamp-millis': 'milliseconds',
  'local-timestamp-micros': 'microseconds',
  'local-timestamp-nanos': 'nanoseconds',
})

type DefinedType = Exclude<AvroType, { readonly kind: 'reference' }>

/** Two types in one place. `path` names it. */
interface ResolvedPlace {
  readonly path: readonly string[]
}

class AvroResolution {
  readonly #isHeadRead: boolean
  readonly #writer: AvroSchema
  readonly #reader: AvroSchema
  readonly #seen = new Pairs<object, true>()
  #isChanged = false
  /** The first place with other data that readers take, by the schema of the writer. */
  #resolved: string | null = null
  /** The first place where data is refused. */
  #refusal: string | null = null

  constructor(action: AsyncAction, base: AvroSchema, head: AvroSchema) {
    this.#isHeadRead = action === 'receive'
    this.#writer = this.#isHeadRead ? base : head
    this.#reader = this.#isHeadRead ? head : base
  }

  relate(): DefinitionChange {
    this.#visit(this.#writer.root, this.#reader.root, { path: [] })
    if (this.#refusal !== null) return { meaning: 'refused', detail: this.#refusal }
    if (this.#isChanged) return DEFINITION_CHANGED
    return this.#resolved === null ? DEFINITION_SAME : { meaning: 'compatible', detail: this.#resolved }
  }

  #change(): void {
    this.#isChanged = true
  }

  #resolve(place: ResolvedPlace, what: string): void {
    this.#resolved ??= inPlace(place, what)
  }

  #refuse(place: ResolvedPlace, why: string): void {
    this.#refusal ??= inPlace(place, why)
  }

  #visit(written: AvroType, read: AvroType, place: ResolvedPlace): void {
    // One refusal decides.
    if (this.#refusal !== null) return
    const [writer, reader] = [defined(written, this.#writer), defined(read, this.#reader)]
    if (this.#seen.get(writer, reader) === true) return
    this.#seen.set(writer, reader, true)
    if (writer.kind === 'unknown' || reader.kind === 'unknown') {
      if (writer.kind !== reader.kind || nameOf(writer) !== nameOf(reader)) this.#change()
    } else if (writer.kind === 'union' || reader.kind === 'union') this.#visitUnions(writer, reader, place)
    else if (writer.kind === 'primitive' && reader.kind === 'primitive') this.#visitPrimitives(writer, reader, place)
    else if (writer.kind === 'record' && reader.kind === 'record') this.#visitRecords(writer, reader, place)
    else if (writer.kind === 'enum' && reader.kind === 'enum') this.#visitEnums(writer, reader, place)
    else if (writer.kind === 'fixed' && reader.kind === 'fixed') this.#visitFixed(writer, reader, place)
    else if (isList(writer) && isList(reader) && writer.kind === reader.kind)
      this.#visit(writer.of, reader.of, { path: [...place.path, writer.kind === 'array' ? 'items' : 'values'] })
    else this.#refuse(place, `${nameOf(writer)} cannot be read as ${nameOf(reader)}`)
  }

  /** The first branch of the reader that matches each branch of the writer. */
  #visitUnions(writer: DefinedType, reader: DefinedType, place: ResolvedPlace): void {
    const sent = branchesOf(writer).map((branch) => defined(branch, this.#writer))
    const taken = branchesOf(reader).map((branch) => defined(branch, this.#reader))
    const isSame = writer.kind === reader.kind && sent.length === taken.length
    if (!isSame || sent.some((branch, index) => nameOf(branch) !== nameOf(taken[index] ?? null)))
      this.#resolve(place, `${namesOf(sent)} is read as ${namesOf(taken)}`)
    const byName = new Map(taken.map((one) => [nameOf(one), one]))
    const byPlainName = Map.groupBy(taken, plainNameOf)
    const byAlias = Map.groupBy(taken.flatMap(aliasesOf), ({ alias }) => alias)
    for (const branch of sent) {
      if (this.#refusal !== null) return
      const aliased = byAlias.get(nameOf(branch))?.map(({ type }) => type) ?? []
      const others = [...(byPlainName.get(plainNameOf(branch)) ?? []), ...aliased]
      const first = others.find((one) => isMatching(branch, one))
      const match = byName.get(nameOf(branch)) ?? first
      // Some readers take the first branch that matches, and others the one with the same name.
      if (first !== undefined && first !== match) this.#change()
      if (match !== undefined) this.#visit(branch, match, place)
      // A type that is not known may match.
      else if (branch.kind === 'unknown' || taken.some(({ kind }) => kind === 'unknown')) this.#change()
      else this.#refuse(place, `${nameOf(branch)} cannot be read as ${namesOf(taken)}`)
    }
  }

  #visitPrimitives(writer: AvroPrimitive, reader: AvroPrimitive, place: ResolvedPlace): void {
    if (writer.name !== reader.name) {
      const promotion = promotionOf(writer, reader)
      if (promotion === undefined) this.#refuse(place, `${writer.name} cannot be read as ${reader.name}`)
      else if (promotion === 'lossy') this.#change()
      else this.#resolve(place, `${writer.name} is read as ${reader.name}`)
    }
    this.#visitLogical(writer, reader, place)
  }

  /** Decimals match if precision and scale do. Readers ignore other logical types if they do not know them. */
  #visitLogical(writer: AvroPrimitive | AvroFixed, reader: AvroPrimitive | AvroFixed, place: ResolvedPlace): void {
    if (writer.logical === reader.logical) return
    this.#change()
    if (writer.logicalName === 'decimal' && reader.logicalName === 'decimal')
      this.#refuse(place, 'the decimals have another precision or scale')
    const [counted, expected] = [countOf(writer), countOf(reader)]
    if (counted !== null && expected !== null && counted !== expected)
      this.#refuse(place, `${counted} are read as ${expected}`)
  }

  /** Data of older schemas is read by the aliases of the base. One more takes nothing from anybody. */
  #visitAliases(writer: ReadonlySet<string>, reader: ReadonlySet<string>): void {
    const [before, after] = this.#isHeadRead ? [writer, reader] : [reader, writer]
    if (!before.isSubsetOf(after)) this.#change()
  }

  #visitNames(writer: AvroNamed, reader: AvroNamed, place: ResolvedPlace): void {
    if (writer.name !== reader.name) this.#change()
    this.#visitAliases(writer.aliases, reader.aliases)
    if (!isMatching(writer, reader)) this.#refuse(place, `${writer.name} cannot be read as ${reader.name}`)
  }

  #visitFixed(writer: AvroFixed, reader: AvroFixed, place: ResolvedPlace): void {
    this.#visitNames(writer, reader, place)
    if (writer.size !== reader.size)
      this.#refuse(place, `the size ${String(writer.size)} is not ${String(reader.size)}`)
    else this.#visitLogical(writer, reader, place)
  }

  #visitEnums(writer: AvroEnum, reader: AvroEnum, place: ResolvedPlace): void {
    this.#visitNames(writer, reader, place)
    this.#visitDefaults(writer.fallback, reader.fallback, place)
    // Their order is that of sorted values.
    if (!isSameOrder(writer.symbols, reader.symbols)) this.#change()
    if (reader.symbols.length !== writer.symbols.length) this.#resolve(place, 'the reader has other symbols')
    const known = new Set(reader.symbols)
    const missing = writer.symbols.find((symbol) => !known.has(symbol))
    if (missing === undefined) return
    // Readers before Avro 1.9 do not know the default of an enum.
    this.#change()
    if (reader.fallback === null) this.#refuse(place, `the reader does not have the symbol ${missing}`)
  }

  #visitRecords(writer: AvroRecord, reader: AvroRecord, { path }: ResolvedPlace): void {
    this.#visitNames(writer, reader, { path })
    if (writer.isError !== reader.isError) this.#change()
    if (fieldNames(writer) !== fieldNames(reader)) this.#resolve({ path }, 'fields are read by their names')
    const sent = new Map(writer.fields.map((field) => [field.name, field]))
    const unread = new Set(sent.keys())
    for (const field of reader.fields) {
      const place = { path: [...path, field.name] }
      const named = [field.name, ...field.aliases].find((name) => sent.has(name))
      const match = named === undefined ? undefined : sent.get(named)
      if (named !== undefined) unread.delete(named)
      // Readers need not know aliases.
      if (named !== undefined && named !== field.name) this.#change()
      if (match !== undefined) this.#visitFields(match, field, place)
      else if (field.fallback === null) this.#refuse(place, 'the reader needs it, and it has no default')
      // Readers of the base get the default in place of what they use.
      else if (!this.#isHeadRead) this.#change()
    }
    // The application does not use any more what others send.
    if (this.#isHeadRead && unread.size > 0) this.#change()
  }

  #visitFields(writer: AvroField, reader: AvroField, place: ResolvedPlace): void {
    // The order is that of sorted records.
    if (writer.order !== reader.order) this.#change()
    this.#visitDefaults(writer.fallback, reader.fallback, place)
    this.#visitAliases(writer.aliases, reader.aliases)
    this.#visit(writer.type, reader.type, place)
  }

  /** A default is for data of other schemas, which lacks the value. A first one takes nothing from anybody. */
  #visitDefaults(writer: string | null, reader: string | null, place: ResolvedPlace): void {
    if (writer === reader) return
    const before = this.#isHeadRead ? writer : reader
    if (before === null) this.#resolve(place, 'it got a default')
    else this.#change()
  }
}

function inPlace({ path }: ResolvedPlace, what: string): string {
  return path.length === 0 ? what : `${path.join('.')}: ${what}`
}

function promotionOf(writer: AvroPrimitive, reader: AvroPrimitive): 'exact' | 'lossy' | undefined {
  return PROMOTED[writer.name]?.[reader.name]
}

/** What a number counts. Null: no time that is known. */
function countOf({ logicalName }: AvroPrimitive | AvroFixed): string | null {
  return logicalName === null ? null : (COUNTS[logicalName] ?? null)
}

function isSameOrder(one: readonly string[], other: readonly string[]): boolean {
  const [names, others] = [new Set(one), new Set(other)]
  const kept = other.filter((name) => names.has(name))
  return one.filter((name) => others.has(name)).every((name, index) => name === kept[index])
}

function defined(type: AvroType, { types }: AvroSchema): DefinedType {
  if (type.kind !== 'reference') return type
  return types.get(type.name) ?? types.get(type.plain) ?? { kind: 'unknown', text: type.name }
}

function fieldNames({ fields }: AvroRecord): string {
  return fields.map(({ name }) => name).join(' ')
}

function isList(type: DefinedType): type is AvroList {
  return type.kind === 'array' || type.kind === 'map'
}

function branchesOf(type: DefinedType): readonly AvroType[] {
  return type.kind === 'union' ? type.branches : [type]
}

const MAX_NAMED = 5

function namesOf(types: readonly DefinedType[]): string {
  const names = types.slice(0, MAX_NAMED).map(nameOf)
  return [...names, ...(types.length > MAX_NAMED ? ['another type'] : [])].join(' or ')
}

function nameOf(type: DefinedType | null): string {
  if (type === null || type.kind === 'union') return 'a union'
  if (type.kind === 'unknown') return type.text
  return 'name' in type ? type.name : type.kind
}

/** Whether a reader takes the other type for its own, apart from what they contain. Names match without their namespaces. */
function isMatching(writer: DefinedType, reader: DefinedType): boolean {
  if (writer.kind === 'primitive' && reader.kind === 'primitive')
    return writer.name === reader.name || promotionOf(writer, reader) !== undefined
  if (writer.kind !== reader.kind) return false
  if (!('aliases' in writer) || !('aliases' in reader)) return isList(writer)
  return plainName(writer.name) === plainName(reader.name) || reader.aliases.has(writer.name)
}

/** Types that may match have one such name, or the one has the other's name as an alias. Primitive types may be promoted. */
function plainNameOf(type: DefinedType): string {
  return 'aliases' in type ? `${type.kind} ${plainName(type.name)}` : type.kind
}

function aliasesOf(type: DefinedType): readonly { readonly alias: string; readonly type: DefinedType }[] {
  return 'aliases' in type ? [...type.aliases].map((alias) => ({ alias, type })) : []
}

function plainName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}
