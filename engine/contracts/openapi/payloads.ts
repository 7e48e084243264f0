/**
 * Payloads of operations: request bodies, responses, headers and their media types. Swagger 2.0 is converted to the
 * form of 3.x.
 */
import { lookupTable } from '../../common/lookup-table.ts'
import { isRecord, memberOf, stepInto, type JsonRecord, type Located, type Place } from '../../schema/located.ts'
import {
  membersAt,
  objectAt,
  sentParameters,
  type OpenApiContract,
  type ApiOperation,
  type Parameter,
  type PathItem,
} from './contract.ts'
import { withKnownMembers } from './version-members.ts'

interface Body {
  readonly located: Located
  readonly isRequired: boolean
  readonly content: readonly MediaType[]
}

export interface MediaType {
  readonly name: string
  readonly located: Located
  /** Null if the media type has no schema. */
  readonly schema: Located | null
  /** Schema of each item of a sequential media type (OpenAPI 3.2). */
  readonly itemSchema: Located | null
  /** Serialisation of form fields, by field. */
  readonly encoding: JsonRecord
}

export interface Response {
  readonly status: string
  readonly located: Located
  readonly headers: readonly Header[]
  readonly content: readonly MediaType[]
}

export interface Header {
  readonly name: string
  readonly located: Located
  readonly isRequired: boolean
  readonly schema: Located | null
}

const NOTHING: JsonRecord = {}

/** The request body of an operation; in Swagger 2.0 its body parameter, or its form fields as one object. */
export function effectiveBody(contract: OpenApiContract, item: PathItem, operation: ApiOperation): Body | null {
  if (contract.isSwagger) return swaggerBody(contract, item, operation)
  const member = memberOf(operation.located, 'requestBody')
  const body = member === null ? null : objectAt(contract.documents, member)
  if (body === null) return null
  return { located: body, isRequired: body.value.required === true, content: contentOf(contract, body) }
}

export function responsesOf(contract: OpenApiContract, operation: ApiOperation): readonly Response[] {
  const responses: Response[] = []
  for (const [status, located] of membersAt(operation.located, 'responses')) {
    const found = status.startsWith('x-') ? null : objectAt(contract.documents, located)
    if (found === null) continue
    const response = withKnownMembers(contract, 'response', found)
    const content = contract.isSwagger ? swaggerContent(contract, operation, response) : contentOf(contract, response)
    responses.push({ status, located: response, headers: headersOf(contract, response), content })
  }
  return responses
}

export function contentOf(contract: OpenApiContract, owner: Located): readonly MediaType[] {
  const content: MediaType[] = []
  for (const [name, located] of membersAt(owner, 'content')) {
    const media = mediaTypeAt(contract, located)
    if (media === null) continue
    const schema = memberOf(media, 'schema')
    const itemSchema = memberOf(media, 'itemSchema')
    content.push({ name, located: media, schema, itemSchema, encoding: encodingMembers(media.value) })
  }
  return content
}

function mediaTypeAt(contract: OpenApiContract, located: Located): (Located & { readonly value: JsonRecord }) | null {
  const target = objectAt(contract.documents, withKnownMembers(contract, 'media type', located))
  if (target === null || contract.isStrict !== true) return target
  const media = withKnownMembers(contract, 'media type', target)
  const { encoding } = media.value
  if (!isRecord(encoding)) return media
  const known = Object.entries(encoding).map(([name, value]) => {
    const located = { value, at: media.at, document: media.document }
    return [name, withKnownMembers(contract, 'encoding', located).value]
  })
  return { ...media, value: { ...media.value, encoding: Object.fromEntries(known) } }
}

/** The name of the encoding of all items beyond those by position. */
export const EACH_ITEM = 'each item'

/** By field; in 3.2 also by position, and of each item beyond those. */
export function encodingMembers({ encoding, prefixEncoding, itemEncoding }: JsonRecord): JsonRecord {
  const fields = isRecord(encoding) ? encoding : NOTHING
  if (prefixEncoding === undefined && itemEncoding === undefined) return fields
  const positions = Array.isArray(prefixEncoding) ? prefixEncoding : []
  return {
    ...fields,
    ...Object.fromEntries(positions.map((position: unknown, index) => [`#${index + 1}`, position])),
    ...(itemEncoding === undefined ? {} : { [EACH_ITEM]: itemEncoding }),
  }
}

/** The schema of a parameter, or of the one media type that it holds in `content`. */
export function schemaOfParameter(contract: OpenApiContract, { located }: Parameter): Located | null {
  if (contract.isSwagger) return located
  return memberOf(located, 'schema') ?? contentOf(contract, located)[0]?.schema ?? null
}

/** The header fields that a response, or one part of a multipart body, names. */
export function headersOf(contract: OpenApiContract, owner: Located): readonly Header[] {
  return membersAt(owner, 'headers').flatMap(([name, located]) => {
    const header = objectAt(contract.documents, located)
    if (header === null) return []
    const schema = contract.isSwagger
      ? header
      : (memberOf(header, 'schema') ?? contentOf(contract, header)[0]?.schema ?? null)
    return [{ name, located: header, isRequired: header.value.required === true, schema }]
  })
}

function swaggerContent(contract: OpenApiContract, operation: ApiOperation, response: Located): readonly MediaType[] {
  const schema = memberOf(response, 'schema')
  if (schema === null) return []
  return mediaNames(contract, operation, 'produces').map((name) => swaggerMedia(name, response, schema))
}

function swaggerMedia(name: string, located: Located, schema: Located): MediaType {
  return { name, located, schema, itemSchema: null, encoding: NOTHING }
}

/** Media types of an operation, or of the whole contract. JSON if none is stated. */
function mediaNames(
  contract: OpenApiContract,
  operation: ApiOperation,
  member: 'consumes' | 'produces',
): readonly string[] {
  const own = requiredNamesIn(operation.value[member])
  const names = own ?? (isRecord(contract.root.value) ? requiredNamesIn(contract.root.value[member]) : null)
  return names === null || names.length === 0 ? ['application/json'] : names
}

function requiredNamesIn(value: unknown): readonly string[] | null {
  return Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : null
}

function swaggerBody(contract: OpenApiContract, item: PathItem, operation: ApiOperation): Body | null {
  const parameters = sentParameters(contract, item, operation)
  const body = parameters.find(({ place }) => place === 'body')
  if (body !== undefined) {
    const schema = memberOf(body.located, 'schema')
    const content =
      schema === null
        ? []
        : mediaNames(contract, operation, 'consumes').map((name) => swaggerMedia(name, body.located, schema))
    return { located: body.located, isRequired: body.isRequired, content }
  }
  const fields = parameters.filter(({ place }) => place === 'formData')
  return fields.length === 0 ? null : formBody(contract, operation, fields)
}

function formBody(contract: OpenApiContract, operation: ApiOperation, fields: readonly Parameter[]): Body {
  const value = {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, swaggerFieldSchema(field.value)])),
    required: fields.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  }
  const located: Located = {
    value,
    at: placeOfFields(operation, fields),
    document: operation.located.document,
  }
  const consumed = mediaNames(contract, operation, 'consumes').filter((name) => !name.endsWith('json'))
  const names = consumed.length > 0 ? consumed : ['application/x-www-form-urlencoded']
  return {
    located,
    isRequired: fields.some(({ isRequired }) => isRequired),
    content: names.map((name) => ({
      ...swaggerMedia(name, located, located),
      encoding: fieldEncodings(fields, contract),
    })),
  }
}

/** In 3.x each item of a list is a field of its own by default. */
function fieldEncodings(fields: readonly Parameter[], contract: OpenApiContract): JsonRecord {
  const entries = fields.flatMap(({ name, located }) => {
    const style = listStyleOf(located, contract)
    return style === null || (style.explode && style.style === 'form') ? [] : [[name, style] as const]
  })
  return Object.fromEntries(entries)
}

interface ListStyle {
  readonly style: string
  readonly explode: boolean
}

/** The 3.x style for a Swagger 2.0 separator; the default is commas. Null if the value is not a list. */
export function listStyleOf(list: Located, contract: OpenApiContract, joined = 'form'): ListStyle | null {
  if (!isRecord(list.value) || list.value['type'] !== 'array') return null
  const format = list.value['collectionFormat']
  const within = separatorsOf(memberOf(list, 'items'), contract)
  if (format === 'multi') return { style: `form${within}`, explode: true }
  return { style: `${LIST_STYLES[String(format)] ?? joined}${within}`, explode: false }
}

const LIST_STYLES: Readonly<Record<string, string>> = lookupTable({
  ssv: 'spaceDelimited',
  tsv: 'tabDelimited',
  pipes: 'pipeDelimited',
})

/** Lists are nested at most this deep. Deeper, a list may contain itself. */
const MAX_LISTS = 32

/** Nested lists have separators of their own. */
function separatorsOf(items: Located | null, contract: OpenApiContract, depth = 0): string {
  const list = items === null || depth > MAX_LISTS ? null : objectAt(contract.documents, items)
  if (list === null || list.value['type'] !== 'array') return ''
  const style = LIST_STYLES[String(list.value['collectionFormat'])]
  const within = separatorsOf(memberOf(list, 'items'), contract, depth + 1)
  return `${style === undefined ? '' : `, items ${style}`}${within}`
}

/** Fields keep their places in the parameter list, and are the properties of a form. */
function placeOfFields({ located: { at: operation, document } }: ApiOperation, fields: readonly Parameter[]): Place {
  const list = stepInto(operation, 'parameters')
  const own = fields.filter(({ located }) => located.document === document)
  const moved = new Map(own.map(({ name, located }) => [name, located.at]))
  return { ...list, moved: new Map([['properties', { ...list, moved }]]) }
}

/** A form field as the schema of a property, without the members that concern the field and not its value. */
function swaggerFieldSchema(field: JsonRecord): JsonRecord {
  const { name: _name, in: _in, required: _required, description: _description, ...schema } = field
  return schema
}
