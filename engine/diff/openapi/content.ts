/** The media types of one body or answer: which ones there are, and what each describes. */
import type { MediaType } from '../../contracts/openapi/payloads.ts'
import type { Operation as OperationName } from '../../finding.ts'
import type { SitePair } from '../../rules/sites.ts'
import { isBinary } from '../../schema/languages.ts'
import { isRecord, type Located } from '../../schema/located.ts'
import { compareEncodings } from './encodings.ts'
import { coveringMediaType, isMediaTypeWithin, matchMediaTypes, relationOf } from './media-types.ts'
import { tellAdded, tellChanged, tellRemoved } from './telling.ts'
import type { Walk } from './walk.ts'

/** Where a payload stands, for the rules and in words. */
export interface PayloadPlace {
  /** Who writes it: a client writes requests, the provider responses. Of a callback it is the other way round. */
  readonly direction: 'request' | 'response'
  /** What the rows call it. */
  readonly of: 'request' | 'response' | 'callback-request' | 'callback-response'
  readonly status: string
  readonly sites: SitePair
  readonly where: string
}

export function compareContent(
  walk: Walk,
  old: readonly MediaType[],
  now: readonly MediaType[],
  place: PayloadPlace,
  operation: OperationName,
): void {
  const { added, removed, kept } = matchMediaTypes(old, now)
  const facts = { of: place.of, status: place.status }
  for (const media of removed) {
    const { name, located } = media
    const cover = coveringMediaType(now, name)
    if (cover !== null) compareMedia(walk, media, { ...cover, name }, place, operation)
    if (place.direction === 'request' && cover !== null) continue
    tellRemoved(walk, 'media-type', operation, located, name, { ...facts, action: 'removed', name })
  }
  for (const media of added) {
    const { name, located } = media
    const cover = coveringMediaType(old, name)
    if (cover !== null) compareMedia(walk, cover, media, place, operation)
    if (place.direction === 'request' && cover !== null) continue
    tellAdded(walk, 'media-type', operation, located, name, { ...facts, action: 'added', name })
  }
  for (const [was, is] of kept) {
    if (place.direction === 'request') tellRequestNames(walk, was, is, place, operation)
    else tellResponseNames(walk, was, is, place, operation)
    compareMedia(walk, was, is, place, operation)
  }
}

/** To a request it matters which texts are refused from now on, and which are accepted. */
function tellRequestNames(
  walk: Walk,
  old: MediaType,
  now: MediaType,
  { of, status }: PayloadPlace,
  operation: OperationName,
): void {
  const facts = { of, status }
  if (!isMediaTypeWithin(old.name, now.name)) {
    tellRemoved(walk, 'media-type', operation, old.located, old.name, { ...facts, action: 'removed', name: old.name })
  }
  if (!isMediaTypeWithin(now.name, old.name)) {
    tellAdded(walk, 'media-type', operation, now.located, now.name, { ...facts, action: 'added', name: now.name })
  }
}

function tellResponseNames(
  walk: Walk,
  old: MediaType,
  now: MediaType,
  { of, status }: PayloadPlace,
  operation: OperationName,
): void {
  const [before, after] = [old.name, now.name]
  const relation = relationOf(before, after)
  if (relation === 'same') return
  // What is paired is related; were it not, readers would get what they do not know.
  const action = relation === 'unrelated' ? 'exchanged' : relation
  const facts = { of, status, action, before, after }
  tellChanged(walk, 'media-type', operation, now.located, [before, after], facts)
}

function compareMedia(walk: Walk, old: MediaType, now: MediaType, place: PayloadPlace, operation: OperationName): void {
  if (old.located.value === now.located.value) return
  const [was, is] = [old.schema ?? old.itemSchema, now.schema ?? now.itemSchema]
  if ((was === null) !== (is === null)) tellSchema(walk, was, is, is === null ? old : now, place, operation)
  const { name } = now
  const use = { sites: place.sites, mediaType: name, operation, where: `${place.where}, ${name}`, parameter: null }
  if (old.schema !== null && now.schema !== null) walk.use(use, old.schema, now.schema)
  if (old.itemSchema !== null && now.itemSchema !== null)
    walk.use({ ...use, where: `${use.where}, each item` }, old.itemSchema, now.itemSchema)
  compareEncodings(walk, old, now, place, operation)
}

/** A media type that says something of what it holds, and did not, or the other way round. */
function tellSchema(
  walk: Walk,
  was: Located | null,
  is: Located | null,
  { name, located }: MediaType,
  { of, status }: PayloadPlace,
  operation: OperationName,
): void {
  if (isMovedBinary(walk, was ?? is)) return
  const facts = { of, status, name, action: was === null ? 'added' : 'removed' } as const
  if (is === null) tellRemoved(walk, 'media-type-schema', operation, located, was?.value, facts)
  else tellAdded(walk, 'media-type-schema', operation, located, is.value, facts)
}

/** What 3.0 writes as a text of bytes, 3.1 need not write at all. */
function isMovedBinary({ base, head }: Walk, schema: Located | null): boolean {
  const isMoved = base.documents.dialect !== head.documents.dialect
  return isMoved && schema !== null && isRecord(schema.value) && isBinary(schema.value)
}
