/** The Encoding Objects of one media type: how fields of a form and parts of a multipart body are serialised. */
import { isSince32, itemAt } from '../../contracts/openapi/contract.ts'
import {
  contentOf,
  EACH_ITEM,
  encodingMembers,
  headersOf,
  type Header,
  type MediaType,
} from '../../contracts/openapi/payloads.ts'
import { isEqual } from '../../schema/equality.ts'
import { isBinary } from '../../schema/languages.ts'
import { isRecord, memberOf, textAt, type JsonRecord, type Located } from '../../schema/located.ts'
import { EnteredSchemas } from '../../schema/looked-at.ts'
import { isDangling, resolveSchema, type SchemaSource } from '../../schema/source.ts'
import { COMPOSITIONS, itemsOf, locate, locateItem, membersOf, textsOf } from '../../schema/subschemas.ts'
import { matchByKey } from '../match.ts'
import { isMediaTypeWithin } from './media-types.ts'
import { reportChanged } from './delta.ts'
import type { PayloadPlace, Walk } from './walk.ts'
import { anySchema, effectOn, writingChange, type Style } from './serialization.ts'
import { isOfAnyType, writtenTypesOf } from './written-types.ts'

/** Encodings matter to forms and multipart bodies only (OpenAPI 3.1.0 §4.8.14.1). A range may contain them. */
export function compareEncodings(walk: Walk, base: MediaType, head: MediaType, place: PayloadPlace): void {
  for (const field of [...encodedFields(walk, base, head), ...untypedParts(walk, base, head)]) {
    const reportPart: ReportEncodingPart = (before, after) => {
      const facts = { of: place.of, status: place.status, name: head.name, field, before, after }
      reportChanged(walk, 'media-type-encoding', facts, { located: head.located, before, after })
    }
    const change = fieldChange(walk, { base, head, field }, place.direction)
    if (change !== null) reportPart(change.before, change.after)
    new PartHeaders(walk, { base, head, field }, place, reportPart).compare()
    const [part, other] = [partOf(walk.base, base, field), partOf(walk.head, head, field)]
    if (part !== null && other !== null) compareEncodings(walk, part, other, place)
  }
}

/** A field that is written in another way. */
interface FieldChange {
  readonly field: string
  readonly before: string
  readonly after: string
}

/** The fields of a form that are written in another way, without the header fields of parts. */
export function fieldChanges(
  walk: Walk,
  base: MediaType,
  head: MediaType,
  direction: PayloadPlace['direction'],
): readonly FieldChange[] {
  return encodedFields(walk, base, head).flatMap((field) => fieldChange(walk, { base, head, field }, direction) ?? [])
}

/**
 * Encodings by position apply to multipart bodies only (OpenAPI 3.2.0 §4.14.5). An encoding by name is of a property of the
 * schema (3.1.1 §4.8.14.1): any other one is ignored. That a property comes or goes is reported as such.
 */
function encodedFields(walk: Walk, base: MediaType, head: MediaType): readonly string[] {
  const sides = [base, head]
  if (sides.every(({ encoding }) => Object.keys(encoding).length === 0)) return []
  if (!sides.every(({ name }) => hasFields(name))) return []
  const stated = sides.flatMap((media) => {
    const fields = Object.keys(media.encoding)
    return isMultipartType(media.name) ? fields : fields.filter((field) => positionOf(media, field) === null)
  })
  return [...new Set(stated)].filter(
    (field) =>
      sides.some((media) => positionOf(media, field) !== null) ||
      (mayDescribe(walk.base, base, field) && mayDescribe(walk.head, head, field)),
  )
}

/**
 * Parts without an encoding that get a type, or lose it: without one a part is bytes, with one it is text or JSON
 * (OpenAPI 3.1.1 §4.8.15.1.1). The values alone only become more, or fewer.
 */
function untypedParts(walk: Walk, base: MediaType, head: MediaType): readonly string[] {
  if (!isMultipartType(base.name) || !isMultipartType(head.name)) return []
  const after = new Set(partNames(walk.head, head))
  return partNames(walk.base, base).filter((name) => {
    const isStated = [base, head].some(({ encoding }) => Object.hasOwn(encoding, name))
    if (!after.has(name) || isStated) return false
    const isUntyped = ([contract, media]: readonly [Walk['base'], MediaType]): boolean => {
      const schema = propertySchema(contract, media, name)
      return schema !== null && isOfAnyType(schema, contract.documents)
    }
    return isUntyped([walk.base, base]) !== isUntyped([walk.head, head])
  })
}

function partNames(contract: Walk['base'], { schema }: MediaType): readonly string[] {
  return schema === null ? [] : Object.keys(membersOf(resolveSchema(schema, contract.documents).value, 'properties'))
}

function fieldChange(
  walk: Walk,
  { base, head, field }: FieldPair,
  direction: PayloadPlace['direction'],
): FieldChange | null {
  const [before, after] = [encodingOf(walk.base, base, field), encodingOf(walk.head, head, field)]
  if (isEncodingAccepted(before, after, direction)) return null
  return { field, before: encodingText(before), after: encodingText(after) }
}

/** A part that may hold parts of its own (OpenAPI 3.2 §4.15.1.1). */
function partOf(contract: Walk['base'], media: MediaType, field: string): MediaType | null {
  const located = locatedEncoding(media.located, field)
  const name = textAt(located?.value, 'contentType')
  if (located === null || name === null || !isRecord(located.value)) return null
  const position = positionOf(media, field)
  const schema = position === null ? propertySchema(contract, media, field) : partSchema(contract, media, position)
  return { name, located, schema, itemSchema: null, encoding: encodingMembers(located.value) }
}

const NO_FIELD_TYPES: ReadonlyMap<string, string> = new Map()

/** The media types that are stated for fields, where the media type has fields. */
export function fieldTypesOf({ name, encoding }: MediaType): ReadonlyMap<string, string> {
  const stated = Object.entries(encoding)
  if (stated.length === 0 || !hasFields(name)) return NO_FIELD_TYPES
  return new Map(stated.map(([field, one]) => [field, textAt(one, 'contentType') ?? '']))
}

function hasFields(name: string): boolean {
  return STYLED_FORMS.some((form) => isMediaTypeWithin(form, name)) || isMultipartType(name)
}

function isMultipartType(name: string): boolean {
  return name.toLowerCase().startsWith('multipart/')
}

type ReportEncodingPart = (before: string, after: string) => void

interface FieldEncoding {
  /** The content types that are named, or that the schema of the field implies. Null if they are unknown. */
  readonly contentTypes: readonly string[] | null
  /** Null if the field is written in a content type. */
  readonly style: Style | null
  /** A stated style replaces the content type, stated or not (OpenAPI 3.1.0 §4.8.15.1). OpenAPI 3.0 does not say so. */
  readonly isTypeIgnored: boolean
}

const FORM = 'application/x-www-form-urlencoded'
/** In other media types a style has no meaning. */
const STYLED_FORMS = [FORM, 'multipart/form-data']

function encodingOf(contract: Walk['base'], media: MediaType, field: string): FieldEncoding {
  const stated = Object.hasOwn(media.encoding, field) ? media.encoding[field] : encodingOfRest(media, field)
  const { contentType, style, explode, allowReserved } = isRecord(stated) ? stated : NOTHING
  const types = typeof contentType === 'string' ? contentType.split(',').map((name) => name.trim()) : null
  const isStated = [style, explode, allowReserved].some((member) => member !== undefined)
  const isStyled = isStated && STYLED_FORMS.some((form) => isMediaTypeWithin(form, media.name))
  const implied = impliedTypesOf(contract, media, field)
  if (!isStyled && !isMediaTypeWithin(media.name, FORM)) {
    return { contentTypes: types ?? implied, style: null, isTypeIgnored: false }
  }
  // In a style, texts are written as texts, and nothing else as in a media type. Before OpenAPI 3.2 it is not clear whether
  // objects without any encoding are JSON.
  const isJson = implied?.includes(JSON_TYPE) ?? false
  const own = isJson && (isStyled || !isSince32(contract)) ? null : implied
  const isTypeIgnored =
    isStyled &&
    contract.documents.dialect !== 'openapi-3.0' &&
    STYLED_FORMS.some((form) => isMediaTypeWithin(media.name, form))
  const name = typeof style === 'string' ? style : 'form'
  const isExploded = typeof explode === 'boolean' ? explode : name === 'form'
  const written = writtenTypesOf(propertySchema(contract, media, field), contract.documents)
  return {
    contentTypes: isTypeIgnored ? own : (types ?? own),
    style: effectOn(written, { name, isExploded, isReserved: allowReserved === true && !isUnencoded(contract, media) }),
    isTypeIgnored,
  }
}

const NOTHING: JsonRecord = {}
const JSON_TYPE = 'application/json'

/** Parts of a multipart body are not percent-encoded (OpenAPI 3.2.0 §4.15.1.2). */
function isUnencoded(contract: Walk['base'], { name }: MediaType): boolean {
  return isSince32(contract) && isMultipartType(name)
}

/** The encoding of items applies to those without an own position. */
function encodingOfRest(media: MediaType, field: string): unknown {
  return positionOf(media, field) === null ? undefined : media.encoding[EACH_ITEM]
}

/** The content types of a field, or of a part by its position: there a list is a value like any other (OpenAPI 3.2.0 §4.15.1.1). */
function impliedTypesOf(contract: Walk['base'], media: MediaType, field: string): readonly string[] | null {
  const position = positionOf(media, field)
  if (position === null) return impliedTypes(contract, propertySchema(contract, media, field))
  const schema = partSchema(contract, media, position)
  const types = schema === null ? [] : writtenTypesOf(schema, contract.documents)
  return types.length === 1 && types[0] === 'array' ? [JSON_TYPE] : impliedTypes(contract, schema)
}

/** The number of the part that is named by position, from 0; -1 for those without one; null for a name. */
function positionOf({ encoding, located }: MediaType, field: string): number | null {
  const names = memberOf(located, 'encoding')
  if (isRecord(names?.value) && Object.hasOwn(names.value, field)) return null
  if (field === EACH_ITEM) return -1
  const number = /^#(\d+)$/.exec(field)?.[1]
  const isPositional = encoding[EACH_ITEM] !== undefined || memberOf(located, 'prefixEncoding') !== null
  return number === undefined || !(isPositional || names === null) ? null : Number(number) - 1
}

function partSchema(contract: Walk['base'], { schema, itemSchema }: MediaType, position: number): Located | null {
  if (schema === null) return itemSchema
  const resolved = resolveSchema(schema, contract.documents)
  const parts = itemsOf(resolved.value, 'prefixItems')
  if (position >= 0 && position < parts.length) return locateItem(resolved, parts, 'prefixItems', position)
  return memberOf(resolved, 'items') ?? itemSchema
}

/** The schema of a field, through references and the members of `allOf`. Null if none describes it. */
function propertySchema(contract: Walk['base'], { schema }: MediaType, field: string): Located | null {
  return schema === null ? null : propertyOf(schema, field, contract.documents)
}

function propertyOf(
  schema: Located,
  name: string,
  source: SchemaSource,
  entered = new EnteredSchemas(),
  depth = 0,
): Located | null {
  const resolved = resolveSchema(schema, source)
  if (!entered.enter(resolved.value, depth)) return null
  const properties = membersOf(resolved.value, 'properties')
  if (Object.hasOwn(properties, name)) return locate(resolved, properties, 'properties', name)
  if (depth > MAX_DEPTH) return null
  const parts = itemsOf(resolved.value, 'allOf')
  for (const index of parts.keys()) {
    const found = propertyOf(locateItem(resolved, parts, 'allOf', index), name, source, entered, depth + 1)
    if (found !== null) return found
  }
  return null
}

const MAX_DEPTH = 8

/** Whether a schema describes a field on any branch, as far as it is looked into. A media type without a schema may. */
function mayDescribe(contract: Walk['base'], { schema }: MediaType, field: string): boolean {
  return schema === null || mayName(schema, field, contract.documents, new EnteredSchemas(), 0)
}

/** Keywords that hold schemas for the same object. */
const IN_PLACE = {
  lists: COMPOSITIONS,
  named: ['dependentSchemas', 'dependencies'],
  single: ['not', 'if', 'then', 'else'],
} as const

function mayName(schema: Located, name: string, source: SchemaSource, entered: EnteredSchemas, depth: number): boolean {
  const resolved = resolveSchema(schema, source)
  const { value } = resolved
  if (isDangling(resolved) || value['$dynamicRef'] !== undefined || value['$recursiveRef'] !== undefined) return true
  if (!entered.enter(value, depth)) return false
  const others = [value.additionalProperties, value.unevaluatedProperties]
  if (Object.hasOwn(membersOf(value, 'properties'), name) || textsOf(value.required).includes(name)) return true
  if (value.patternProperties !== undefined || others.some((one) => one !== undefined && one !== false)) return true
  const parts = [
    ...IN_PLACE.lists.flatMap((keyword) =>
      itemsOf(value, keyword).map((_, index, list) => locateItem(resolved, list, keyword, index)),
    ),
    ...IN_PLACE.named.flatMap((keyword) => {
      const members = membersOf(value, keyword)
      return Object.keys(members).map((member) => locate(resolved, members, keyword, member))
    }),
    ...IN_PLACE.single.flatMap((keyword) => memberOf(resolved, keyword) ?? []),
  ]
  return parts.some((part) => depth > MAX_DEPTH || mayName(part, name, source, entered, depth + 1))
}

/** OpenAPI 3.0.3 §4.7.15.1, 3.1.1 §4.8.15.1: JSON for objects, bytes for binary texts, and text for other scalars. */
function impliedTypes(contract: Walk['base'], schema: Located | null, depth = 0): readonly string[] | null {
  if (schema === null || depth > MAX_DEPTH) return null
  const resolved = resolveSchema(schema, contract.documents)
  const types = writtenTypesOf(schema, contract.documents)
  if (types.length === 1 && types[0] === 'array') {
    const items = memberOf(resolved, 'items')
    return items === null ? null : impliedTypes(contract, items, depth + 1)
  }
  if (types.length === 1 && types[0] === 'object') return [JSON_TYPE]
  // Before OpenAPI 3.1 nothing is stated of a value of any type.
  if (isOfAnyType(schema, contract.documents) && contract.documents.dialect === 'json-schema')
    return ['application/octet-stream']
  // A file of Swagger 2.0 is of none of these types.
  if (isBinary(resolved.value)) return ['application/octet-stream']
  if (types.length === 0 || types.includes('array') || types.includes('object')) return null
  return [resolved.value.contentEncoding === undefined ? 'text/plain' : 'application/octet-stream']
}

/** Whether readers of the field still understand all that is sent. */
function isEncodingAccepted(
  before: FieldEncoding,
  after: FieldEncoding,
  direction: PayloadPlace['direction'],
): boolean {
  if (!isEqual(before.style, after.style)) return false
  if (before.isTypeIgnored && after.isTypeIgnored) return true
  const [sent, read] = direction === 'request' ? [before, after] : [after, before]
  if (sent.contentTypes === null || read.contentTypes === null) return sent.contentTypes === read.contentTypes
  return sent.contentTypes.every((one) => read.contentTypes?.some((other) => isMediaTypeWithin(one, other)))
}

function encodingText({ contentTypes, style }: FieldEncoding): string {
  const words = [
    ...(contentTypes === null ? [] : [`contentType ${contentTypes.join(', ')}`]),
    ...(style === null
      ? []
      : [`style ${style.name}`, `explode ${style.isExploded}`, `allowReserved ${style.isReserved}`]),
  ]
  return words.length === 0 ? 'the default' : words.join(', ')
}

interface FieldPair {
  readonly base: MediaType
  readonly head: MediaType
  readonly field: string
}

/** The header fields of one part of a multipart body (OpenAPI 3.1.0 §4.8.15), written by the author of the body. */
class PartHeaders {
  readonly #walk: Walk
  readonly #pair: FieldPair
  readonly #place: PayloadPlace
  readonly #tell: ReportEncodingPart

  constructor(walk: Walk, pair: FieldPair, place: PayloadPlace, reportPart: ReportEncodingPart) {
    this.#walk = walk
    this.#pair = pair
    this.#place = place
    this.#tell = reportPart
  }

  compare(): void {
    const { base, head, field } = this.#pair
    if (!isMultipartType(head.name) && !head.name.includes('*')) return
    const [before, after] = [headersIn(base, field, this.#walk, 'base'), headersIn(head, field, this.#walk, 'head')]
    const { added, removed, kept } = matchByKey(before, after, ({ name }) => name.toLowerCase())
    const isRequest = this.#place.direction === 'request'
    // The reader of a part ignores unknown header fields and requires its required ones.
    for (const { name, isRequired } of isRequest ? added : removed) {
      if (isRequest && !isRequired) continue
      const [without, within] = [`no header ${name}`, `the header ${name}`]
      this.#tell(isRequest ? without : within, isRequest ? within : without)
    }
    for (const [before, after] of kept) this.#header(before, after)
  }

  #header(before: Header, after: Header): void {
    const { name } = after
    if (before.isRequired !== after.isRequired && after.isRequired === (this.#place.direction === 'request')) {
      const words = (isRequired: boolean): string => `the ${isRequired ? 'required' : 'optional'} header ${name}`
      this.#tell(words(before.isRequired), words(after.isRequired))
    }
    const walk = this.#walk
    const writing = writingChange(walk, { ...before, place: 'header' }, { ...after, place: 'header' })
    if (writing !== null) {
      this.#tell(`the header ${name} in ${writing.before}`, `the header ${name} in ${writing.after}`)
      if (writing.isOtherKind) return
    }
    if (before.schema === null && after.schema === null) return
    const use = {
      sites: this.#place.sites,
      mediaType: contentOf(walk.head, after.located)[0]?.name ?? 'text/plain',
      operation: walk.operation,
      where: `${this.#place.where}, field ${this.#pair.field}, header ${name}`,
      parameter: null,
    }
    walk.use(use, before.schema ?? anySchema(before.located), after.schema ?? anySchema(after.located))
  }
}

/** `Content-Type` has a member of its own and is ignored here (OpenAPI 3.1.0 §4.8.15.1). */
function headersIn(media: MediaType, field: string, { base, head }: Walk, side: 'base' | 'head'): readonly Header[] {
  const stated = locatedEncoding(media.located, field)
  if (stated === null) return []
  return headersOf(side === 'base' ? base : head, stated).filter(({ name }) => name.toLowerCase() !== 'content-type')
}

/** By field, or by position (OpenAPI 3.2). */
function locatedEncoding(media: Located, field: string): Located | null {
  const fields = memberOf(media, 'encoding')
  const stated = fields === null ? null : memberOf(fields, field)
  if (stated !== null) return stated
  if (field === EACH_ITEM) return memberOf(media, 'itemEncoding')
  return itemAt(media, 'prefixEncoding', Number(field.slice(1)) - 1)
}
