/** The media types of one request or response body, and their schemas. */
import type { MediaType } from '../../contracts/openapi/payloads.ts'
import { isBinary } from '../../schema/languages.ts'
import { isRecord, type Located } from '../../schema/located.ts'
import { isAnnotation } from '../../schema/shape.ts'
import { resolveSchema } from '../../schema/source.ts'
import { compareEncodings, fieldTypesOf } from './encodings.ts'
import { coverAmong, isMediaTypeWithin, matchMediaTypes, relationOf } from './media-types.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta.ts'
import { anySchema } from './serialization.ts'
import type { PayloadPlace, Walk } from './walk.ts'
import { writtenTypesOf } from './written-types.ts'

export function compareContent(
  walk: Walk,
  base: readonly MediaType[],
  head: readonly MediaType[],
  place: PayloadPlace,
): void {
  const { added, removed, kept } = matchMediaTypes(base, head)
  const facts = { of: place.of, status: place.status }
  const [coverBefore, coverAfter] = [coverAmong(base), coverAmong(head)]
  for (const media of removed) {
    const { name, located } = media
    const cover = coverAfter(name)
    if (cover !== null) compareMedia(walk, media, { ...cover, name }, place)
    if (place.direction === 'request' && cover !== null) continue
    reportRemoved(walk, 'media-type', { ...facts, action: 'removed', name }, { located, before: name })
  }
  for (const media of added) {
    const { name, located } = media
    const cover = coverBefore(name)
    if (cover !== null) compareMedia(walk, cover, media, place)
    if (place.direction === 'request' && cover !== null) continue
    // Receivers that a provider calls answered without a body.
    const action = base.length === 0 && place.of === 'callback-response' ? 'introduced' : 'added'
    reportAdded(walk, 'media-type', { ...facts, action, name }, { located, after: name })
  }
  for (const [before, after] of kept) {
    if (place.direction === 'request') reportRequestNames(walk, before, after, place)
    else reportResponseNames(walk, before, after, place)
    compareMedia(walk, before, after, place)
  }
}

/** For a request it matters which texts are refused from now on, and which are accepted. */
function reportRequestNames(walk: Walk, base: MediaType, head: MediaType, { of, status }: PayloadPlace): void {
  const facts = { of, status }
  if (!isMediaTypeWithin(base.name, head.name)) {
    reportRemoved(
      walk,
      'media-type',
      {
        ...facts,
        action: 'removed',
        name: base.name,
      },
      { located: base.located, before: base.name },
    )
  }
  if (!isMediaTypeWithin(head.name, base.name)) {
    reportAdded(
      walk,
      'media-type',
      { ...facts, action: 'added', name: head.name },
      { located: head.located, after: head.name },
    )
  }
}

function reportResponseNames(walk: Walk, base: MediaType, head: MediaType, { of, status }: PayloadPlace): void {
  const [before, after] = [base.name, head.name]
  const relation = relationOf(before, after)
  if (relation === 'same') return
  // Paired media types are related. If they were not, readers would get an unknown one.
  const action = relation === 'unrelated' ? 'exchanged' : relation
  const facts = { of, status, action, before, after }
  reportChanged(walk, 'media-type', facts, { located: head.located, before, after })
}

function compareMedia(walk: Walk, base: MediaType, head: MediaType, place: PayloadPlace): void {
  if (base.located.value === head.located.value) return
  reportSchemaPresence(walk, base, head, place)
  const { name } = head
  const use = {
    sites: place.sites,
    mediaType: name,
    fieldTypes: fieldTypesOf(head),
    operation: walk.operation,
    where: `${place.where}, ${name}`,
    parameter: null,
  }
  const [before, after] = comparableSchemas(walk, base, head)
  if (before !== null && after !== null) walk.use(use, before, after)
  if (base.itemSchema !== null && head.itemSchema !== null)
    walk.use({ ...use, where: `${use.where}, each item` }, base.itemSchema, head.itemSchema)
  compareEncodings(walk, base, head, place)
}

/**
 * A sequence is described as a whole or item by item (OpenAPI 3.2 §4.14). Before, the schema of a sequence was that of an
 * item to some.
 */
function comparableSchemas(walk: Walk, base: MediaType, head: MediaType): readonly [Located | null, Located | null] {
  if (base.itemSchema === null && head.itemSchema === null) return [base.schema, head.schema]
  if (base.schema === null && head.schema === null) return [null, null]
  if (base.itemSchema !== null && head.itemSchema !== null)
    return [base.schema ?? anyList(base), head.schema ?? anyList(head)]
  const isOfItems = [base.schema, head.schema].some((schema, index) => {
    const { documents } = index === 0 ? walk.base : walk.head
    return schema !== null && writtenTypesOf(schema, documents).some((type) => type !== 'array')
  })
  return [wholeSchema(base, isOfItems), wholeSchema(head, isOfItems)]
}

function anyList({ located }: MediaType): Located {
  return { ...anySchema(located), value: { type: 'array' } }
}

function wholeSchema({ schema, itemSchema, located }: MediaType, isOfItems: boolean): Located | null {
  if (itemSchema === null || isOfItems) return schema ?? itemSchema
  const at = { ...located.at, moved: new Map([['items', itemSchema.at]]) }
  const list = { type: 'array', items: itemSchema.value, ...(schema !== null && { allOf: [schema.value] }) }
  return { value: list, at, document: itemSchema.document }
}

/** A media type that gained or lost its schema. */
function reportSchemaPresence(walk: Walk, base: MediaType, head: MediaType, { of, status }: PayloadPlace): void {
  const [before, after] = [base.schema ?? base.itemSchema, head.schema ?? head.itemSchema]
  if ((before === null) === (after === null) || isMovedBinary(walk, before ?? after)) return
  if (isAnySchema(before ?? after, after === null ? walk.base : walk.head)) return
  const { name, located } = after === null ? base : head
  const facts = { of, status, name, action: before === null ? 'added' : 'removed' } as const
  if (after === null) reportRemoved(walk, 'media-type-schema', facts, { located, before: before?.value })
  else reportAdded(walk, 'media-type-schema', facts, { located, after: after.value })
}

/** A schema that says no more than none. The media type of a content is that of its key (OpenAPI 3.1.1 §4.4.2). */
function isAnySchema(schema: Located | null, { documents }: Walk['base']): boolean {
  if (schema === null) return true
  const { value } = resolveSchema(schema, documents)
  return Object.keys(value).every((keyword) => isAnnotation(keyword) || keyword === 'contentMediaType')
}

/** OpenAPI 3.0 writes binary text as a schema; 3.1 may leave the schema out. */
function isMovedBinary({ base, head }: Walk, schema: Located | null): boolean {
  const isMoved = base.documents.dialect !== head.documents.dialect
  return isMoved && schema !== null && isRecord(schema.value) && isBinary(schema.value)
}
