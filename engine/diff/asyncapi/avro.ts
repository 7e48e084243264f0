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
import { Pairs } from '../../schema/inclusion/pair-map.ts'
import type { Located } from '../../schema/located.ts'
import type { AsyncAction, AsyncApi } from '../../contracts/asyncapi/contract.ts'
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
  return new AvroResolution(action, before, after).relate()
}

/** Primitive types that a reader takes for another one. */
const PROMOTED: ReadonlyMap<string, readonly string[]> = new Map([
  ['int', ['long', 'float', 'double']],
  ['long', ['float', 'double']],
  ['float', ['double']],
  ['string', ['bytes']],
  ['bytes', ['string']],
])

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
    return this.#isChanged ? DEFINITION_CHANGED : DEFINITION_SAME
  }

  #change(): void {
    this.#isChanged = true
  }

  #refuse({ path }: ResolvedPlace, why: string): void {
    this.#refusal ??= path.length === 0 ? why : `${path.join('.')}: ${why}`
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
    if (!isSame || sent.some((branch, index) => nameOf(branch) !== nameOf(taken[index] ?? null))) this.#change()
    const byName = new Map(taken.map((one) => [nameOf(one), one]))
    const byPlainName = Map.groupBy(taken, plainNameOf)
    const byAlias = Map.groupBy(taken.flatMap(aliasesOf), ({ alias }) => alias)
    for (const branch of sent) {
      if (this.#refusal !== null) return
      const aliased = byAlias.get(nameOf(branch))?.map(({ type }) => type) ?? []
      const others = [...(byPlainName.get(plainNameOf(branch)) ?? []), ...aliased]
      const match = byName.get(nameOf(branch)) ?? others.find((one) => isMatching(branch, one))
      if (match !== undefined) this.#visit(branch, match, place)
      // A type that is not known may match.
      else if (branch.kind === 'unknown' || taken.some(({ kind }) => kind === 'unknown')) this.#change()
      else this.#refuse(place, `${nameOf(branch)} cannot be read as ${namesOf(taken)}`)
    }
  }

  #visitPrimitives(writer: AvroPrimitive, reader: AvroPrimitive, place: ResolvedPlace): void {
    if (writer.name !== reader.name && PROMOTED.get(writer.name)?.includes(reader.name) !== true)
      this.#refuse(place, `${writer.name} cannot be read as ${reader.name}`)
    else this.#visitLogical(writer, reader, place)
    if (writer.name !== reader.name) this.#change()
  }

  /** Decimals match if precision and scale do. Readers ignore other logical types if they do not know them. */
  #visitLogical(writer: AvroPrimitive | AvroFixed, reader: AvroPrimitive | AvroFixed, place: ResolvedPlace): void {
    if (writer.logical === reader.logical) return
    this.#change()
    if (writer.isDecimal && reader.isDecimal) this.#refuse(place, 'the decimals have another precision or scale')
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
    const isSame = writer.symbols.join(' ') === reader.symbols.join(' ') && writer.fallback === reader.fallback
    if (!isSame) this.#change()
    const missing = writer.symbols.find((symbol) => !reader.symbols.includes(symbol))
    if (missing !== undefined && reader.fallback === null)
      this.#refuse(place, `the reader does not have the symbol ${missing}`)
  }

  #visitRecords(writer: AvroRecord, reader: AvroRecord, { path }: ResolvedPlace): void {
    this.#visitNames(writer, reader, { path })
    if (writer.isError !== reader.isError || fieldNames(writer) !== fieldNames(reader)) this.#change()
    const sent = new Map(writer.fields.map((field) => [field.name, field]))
    for (const field of reader.fields) {
      const place = { path: [...path, field.name] }
      const named = [field.name, ...field.aliases].find((name) => sent.has(name))
      const match = named === undefined ? undefined : sent.get(named)
      if (match !== undefined) this.#visitFields(match, field, place)
      else if (field.fallback === null) this.#refuse(place, 'the reader needs it, and it has no default')
    }
  }

  #visitFields(writer: AvroField, reader: AvroField, place: ResolvedPlace): void {
    if (writer.fallback !== reader.fallback || writer.order !== reader.order) this.#change()
    this.#visitAliases(writer.aliases, reader.aliases)
    this.#visit(writer.type, reader.type, place)
  }
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
    return writer.name === reader.name || PROMOTED.get(writer.name)?.includes(reader.name) === true
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
