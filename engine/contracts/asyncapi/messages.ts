/** The messages of an AsyncAPI operation or channel, in any notation: one, `oneOf`, a list, or by name. */
import { isRecord, locatedItems, memberOf, pointerOf, type JsonRecord, type Located } from '../../schema/located.ts'
import type { OpenApiDocuments } from '../documents.ts'
import { statedDraft } from './payload-drafts.ts'
import { partWithTraits, type TraitOrder } from './traits.ts'

export interface AsyncMessage {
  /** Its own name, else its key or the name in the reference. Empty if it has none. */
  readonly name: string
  readonly located: Located
  readonly contentType: string
  readonly payload: Located | null
  readonly headers: Located | null
  /** The language in which the payload and the headers are described if it is not JSON Schema, else null. */
  readonly schemaFormat: { readonly payload: string | null; readonly headers: string | null }
  /** The draft of JSON Schema that is stated for them. Null: the one of AsyncAPI’s own schemas. */
  readonly draft: { readonly payload: string | null; readonly headers: string | null }
  readonly correlationId: Located | null
  readonly bindings: Located | null
}

/** Messages, with the number of operations that have each of them. */
export type MessageCounts = ReadonlyMap<AsyncMessage, number>

/** Lists that many operations share are counted as one. */
export function countedMessages(lists: readonly (readonly AsyncMessage[])[]): MessageCounts {
  const counts = new Map<AsyncMessage, number>()
  for (const [list, { length }] of Map.groupBy(lists, (list) => list))
    for (const message of list) counts.set(message, (counts.get(message) ?? 0) + length)
  return counts
}

/** Defaults for all messages of a document. */
interface MessageDefaults {
  readonly contentType: string
  readonly traits: TraitOrder
}

/** Reads the messages of one document. Many operations may have one message: it is read once. */
export class AsyncMessageReader {
  readonly #documents: OpenApiDocuments
  readonly #defaults: MessageDefaults
  /** By key and place. */
  readonly #known = new Map<string, AsyncMessage>()

  constructor(documents: OpenApiDocuments, defaults: MessageDefaults) {
    this.#documents = documents
    this.#defaults = defaults
  }

  /** In the order of the document, each with its traits. */
  read(held: Located | null): readonly AsyncMessage[] {
    return messageEntries(held, this.#documents).flatMap(([key, entry]) => {
      const located = this.#documents.follow(entry)
      return located === null || !isRecord(located.value) ? [] : [this.#messageAt(key, located)]
    })
  }

  #messageAt(key: string, located: Located): AsyncMessage {
    const id = JSON.stringify([key, pointerOf(located.at, located.document)])
    const message = this.#known.get(id) ?? asyncMessage(key, located, this.#documents, this.#defaults)
    this.#known.set(id, message)
    return message
  }
}

function messageEntries(held: Located | null, documents: OpenApiDocuments): readonly (readonly [string, Located])[] {
  if (held === null) return []
  if (Array.isArray(held.value)) return locatedItems(held).map((item) => [referredName(item), item])
  const followed = documents.follow(held)
  const oneOf = followed === null ? null : memberOf(followed, 'oneOf')
  if (oneOf !== null && Array.isArray(oneOf.value)) return locatedItems(oneOf).map((item) => [referredName(item), item])
  const isMessage = held.at.step === 'message'
  if (isMessage || !isRecord(held.value)) return [[referredName(held), held]]
  return Object.keys(held.value).flatMap((name) => {
    const member = memberOf(held, name)
    return member === null ? [] : [[name, member] as const]
  })
}

function referredName({ value }: Located): string {
  const reference = isRecord(value) ? value['$ref'] : undefined
  return typeof reference === 'string' ? (reference.split('/').at(-1) ?? '') : ''
}

function asyncMessage(
  key: string,
  located: Located,
  documents: OpenApiDocuments,
  defaults: MessageDefaults,
): AsyncMessage {
  const part = (member: string): Located | null => partWithTraits(located, member, defaults.traits, documents)
  const contentType = part('contentType')?.value
  const name = part('name')?.value
  const format = part('schemaFormat')?.value
  const payload = payloadSchema(part('payload'), documents)
  const headers = payloadSchema(part('headers'), documents)
  return {
    name: typeof name === 'string' ? name : key,
    located,
    contentType: typeof contentType === 'string' ? contentType : defaults.contentType,
    payload: payload.schema,
    headers: headers.schema,
    // The member of 2.x is about the payload alone.
    schemaFormat: {
      payload: otherLanguage(payload.format ?? format) ?? schemaLanguage(payload.schema, documents),
      headers: otherLanguage(headers.format) ?? schemaLanguage(headers.schema, documents),
    },
    draft: { payload: statedDraft(payload.format ?? format), headers: statedDraft(headers.format) },
    correlationId: followedOrNull(part('correlationId'), documents),
    bindings: followedOrNull(part('bindings'), documents),
  }
}

function followedOrNull(located: Located | null, documents: OpenApiDocuments): Located | null {
  return located === null ? null : documents.follow(located)
}

/** 3.x may wrap a schema to state its language (Multi Format Schema Object). */
function payloadSchema(
  held: Located | null,
  documents: OpenApiDocuments,
): { readonly schema: Located | null; readonly format: unknown } {
  const target = followedOrNull(held, documents)
  const value: JsonRecord = target !== null && isRecord(target.value) ? target.value : {}
  const inner = target === null ? null : memberOf(target, 'schema')
  if (value['schemaFormat'] === undefined || inner === null) return { schema: held, format: undefined }
  return { schema: inner, format: value['schemaFormat'] }
}

const JSON_SCHEMA = /^application\/(?:vnd\.aai\.asyncapi(?:\+(?:json|yaml))?|schema\+(?:json|yaml))(?:\s*;|$)/

/** What a stated format names if it is not JSON Schema. */
export function otherLanguage(format: unknown): string | null {
  return typeof format === 'string' && !JSON_SCHEMA.test(format) ? format : null
}

function schemaLanguage(schema: Located | null, documents: OpenApiDocuments): string | null {
  const target = followedOrNull(schema, documents)
  return target === null ? null : unstatedLanguage(target.value)
}

const TYPES: ReadonlySet<unknown> = new Set([
  'object',
  'array',
  'string',
  'number',
  'integer',
  'boolean',
  'null',
  'file',
])

/** What is no JSON Schema, where no `schemaFormat` says so: Avro has records, lists for unions, and names of types. */
export function unstatedLanguage(value: unknown): string | null {
  if (typeof value === 'boolean') return null
  if (!isRecord(value)) return 'another language'
  const { type } = value
  const foreign = (Array.isArray(type) ? type : [type]).find((name) => name !== undefined && !TYPES.has(name))
  if (foreign === undefined) return null
  return typeof foreign === 'string' ? `a language with the type ${foreign}` : 'another language'
}
