/** What an operation takes and answers: request body, responses, their headers, links, media types and schemas. */
import { membersAt } from '../../contracts/openapi/contract.ts'
import { bodyOf, responsesOf, type MediaType, type Response } from '../../contracts/openapi/payloads.ts'
import type { Operation as OperationName } from '../../finding.ts'
import {
  CALLBACK_REQUEST,
  CALLBACK_RESPONSE,
  REQUEST_BODY,
  RESPONSE_BODY,
  RESPONSE_HEADER,
  type SitePair,
} from '../../rules/sites.ts'
import { isEqual } from '../../schema/equality.ts'
import { isBinary } from '../../schema/languages.ts'
import { isRecord, type Located } from '../../schema/located.ts'
import { matchByKey, matchRest } from '../match.ts'
import { isMediaTypeWithin, matchMediaTypes, relationOf } from './media-types.ts'
import type { OperationSide } from './operation.ts'
import { tellAdded, tellChanged, tellRemoved } from './telling.ts'
import type { Walk } from './walk.ts'

type Caller = 'operation' | 'callback'

/** Where a payload stands, for the rules and in words. */
interface Place {
  readonly of: 'request' | 'response'
  readonly status: string
  readonly sites: SitePair
  readonly where: string
}

export function comparePayloads(
  walk: Walk,
  before: OperationSide,
  after: OperationSide,
  name: OperationName,
  caller: Caller,
): void {
  compareBodies(walk, before, after, name, caller)
  compareResponses(walk, before, after, name, caller)
}

function compareBodies(
  walk: Walk,
  before: OperationSide,
  after: OperationSide,
  operation: OperationName,
  caller: Caller,
): void {
  const old = bodyOf(walk.base, before.item, before.operation)
  const now = bodyOf(walk.head, after.item, after.operation)
  if (old === null && now === null) return
  const change = caller === 'operation' ? 'request-body' : 'callback-body'
  if (old === null || now === null) {
    const facts = { action: old === null ? 'added' : 'removed', isRequired: now?.isRequired ?? false }
    const located = (now ?? old)?.located ?? after.operation.located
    walk.say({ change, facts, operation, side: now === null ? 'base' : 'head', located, before: null, after: null })
    return
  }
  if (old.isRequired !== now.isRequired) {
    const facts = { action: now.isRequired ? 'became' : 'ceased' }
    tellChanged(walk, change, operation, now.located, [old.isRequired, now.isRequired], facts)
  }
  const place: Place =
    caller === 'operation'
      ? { of: 'request', status: '', sites: REQUEST_BODY, where: 'request body' }
      : { of: 'response', status: 'callback', sites: CALLBACK_REQUEST, where: 'callback request body' }
  compareContent(walk, old.content, now.content, place, operation)
}

function compareResponses(
  walk: Walk,
  before: OperationSide,
  after: OperationSide,
  operation: OperationName,
  caller: Caller,
): void {
  const old = responsesOf(walk.base, before.operation)
  const now = responsesOf(walk.head, after.operation)
  const { added, removed, kept } = matchByKey(old, now, ({ status }) => status.toUpperCase())
  if (caller === 'operation') {
    for (const response of removed) tellStatus(walk, response, 'removed', operation)
    for (const response of added) tellStatus(walk, response, 'added', operation)
  }
  for (const [was, is] of kept) {
    if (was.located.value === is.located.value) continue
    const { status } = is
    const place: Place =
      caller === 'operation'
        ? { of: 'response', status, sites: RESPONSE_BODY, where: `response ${status}` }
        : { of: 'request', status, sites: CALLBACK_RESPONSE, where: `callback response ${status}` }
    compareContent(walk, was.content, is.content, place, operation)
    if (caller === 'callback') continue
    compareHeaders(walk, was, is, operation)
    compareLinks(walk, was, is, operation)
  }
}

function tellStatus(
  walk: Walk,
  { status, located }: Response,
  action: 'added' | 'removed',
  operation: OperationName,
): void {
  // `default` stands for every status that is not listed: it names no outcome of its own.
  if (status === 'default') return
  const facts = { action, status, isSuccess: /^2(\d\d|XX)$/i.test(status) }
  const [before, after] = action === 'added' ? [null, status] : [status, null]
  walk.say({
    change: 'response-status',
    facts,
    operation,
    side: action === 'added' ? 'head' : 'base',
    located,
    before,
    after,
  })
}

function compareContent(
  walk: Walk,
  old: readonly MediaType[],
  now: readonly MediaType[],
  place: Place,
  operation: OperationName,
): void {
  const { added, removed, kept } = matchMediaTypes(old, now)
  const facts = { of: place.of, status: place.status }
  for (const { name, located } of removed) {
    if (place.of === 'request' && now.some((media) => isMediaTypeWithin(name, media.name))) continue
    tellRemoved(walk, 'media-type', operation, located, name, { ...facts, action: 'removed', name })
  }
  for (const { name, located } of added) {
    tellAdded(walk, 'media-type', operation, located, name, { ...facts, action: 'added', name })
  }
  for (const [was, is] of kept) {
    if (place.of === 'request') tellRequestNames(walk, was, is, operation)
    else tellResponseNames(walk, was, is, place.status, operation)
    compareMedia(walk, was, is, place, operation)
  }
}

/** To a request it matters which texts are refused from now on, and which are accepted. */
function tellRequestNames(walk: Walk, old: MediaType, now: MediaType, operation: OperationName): void {
  const facts = { of: 'request', status: '' }
  if (!isMediaTypeWithin(old.name, now.name)) {
    tellRemoved(walk, 'media-type', operation, old.located, old.name, { ...facts, action: 'removed', name: old.name })
  }
  if (!isMediaTypeWithin(now.name, old.name)) {
    tellAdded(walk, 'media-type', operation, now.located, now.name, { ...facts, action: 'added', name: now.name })
  }
}

function tellResponseNames(walk: Walk, old: MediaType, now: MediaType, status: string, operation: OperationName): void {
  const [before, after] = [old.name, now.name]
  const action = relationOf(before, after)
  if (action === 'same') return
  const facts = { of: 'response', status, action, before, after }
  tellChanged(walk, 'media-type', operation, now.located, [before, after], facts)
}

function compareMedia(walk: Walk, old: MediaType, now: MediaType, place: Place, operation: OperationName): void {
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
  { of, status }: Place,
  operation: OperationName,
): void {
  if (isMovedBinary(walk, was ?? is)) return
  const facts = { of, status, name, action: was === null ? 'added' : 'removed' }
  if (is === null) tellRemoved(walk, 'media-type-schema', operation, located, was?.value, facts)
  else tellAdded(walk, 'media-type-schema', operation, located, is.value, facts)
}

/** What 3.0 writes as a text of bytes, 3.1 need not write at all. */
function isMovedBinary({ base, head }: Walk, schema: Located | null): boolean {
  const isMoved = base.documents.dialect !== head.documents.dialect
  return isMoved && schema !== null && isRecord(schema.value) && isBinary(schema.value)
}

/** OpenAPI's default serialisation of a field depends on its schema: a field that says nothing differs only from one that says something. */
function compareEncodings(walk: Walk, old: MediaType, now: MediaType, place: Place, operation: OperationName): void {
  for (const field of new Set([...Object.keys(old.encoding), ...Object.keys(now.encoding)])) {
    const [before, after] = [encodingOf(old.encoding[field]), encodingOf(now.encoding[field])]
    if (isEqual(before, after)) continue
    const facts = {
      of: place.of,
      status: place.status,
      name: now.name,
      field,
      before: wordsOf(before),
      after: wordsOf(after),
    }
    tellChanged(walk, 'media-type-encoding', operation, now.located, [before, after], facts)
  }
}

function encodingOf(value: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return {}
  const { contentType, style, explode, allowReserved } = value
  return { contentType, style, explode, allowReserved }
}

function wordsOf(encoding: Readonly<Record<string, unknown>>): string {
  const said = Object.entries(encoding).filter(([, value]) => value !== undefined)
  return said.length === 0 ? 'the default' : said.map(([name, value]) => `${name} ${String(value)}`).join(', ')
}

function compareHeaders(walk: Walk, old: Response, now: Response, operation: OperationName): void {
  const { status } = now
  const byName = matchByKey(old.headers, now.headers, ({ name }) => name)
  const { added, removed, kept } = matchRest(byName, ({ name }) => name.toLowerCase())
  for (const { name, isRequired, located } of removed) {
    tellRemoved(walk, 'header-removed', operation, located, name, { name, status, isRequired })
  }
  for (const { name, located } of added) {
    tellAdded(walk, 'header-added', operation, located, name, { name, status })
  }
  for (const [was, is] of kept) {
    const { name, located } = is
    if (was.isRequired !== is.isRequired) {
      const facts = { name, status, action: is.isRequired ? 'became' : 'ceased' }
      tellChanged(walk, 'header-requiredness', operation, located, [was.isRequired, is.isRequired], facts)
    }
    const use = {
      sites: RESPONSE_HEADER,
      mediaType: null,
      operation,
      where: `response ${status}, header ${name}`,
      parameter: null,
    }
    if (was.schema !== null && is.schema !== null) walk.use(use, was.schema, is.schema)
  }
}

function compareLinks(walk: Walk, old: Response, now: Response, operation: OperationName): void {
  const { status } = now
  const { added, removed, kept } = matchByKey(
    membersAt(old.located, 'links'),
    membersAt(now.located, 'links'),
    ([name]) => name,
  )
  for (const [name, located] of removed) {
    tellRemoved(walk, 'link', operation, located, name, { name, status, action: 'removed' })
  }
  for (const [name, located] of added) {
    tellAdded(walk, 'link', operation, located, name, { name, status, action: 'added' })
  }
  for (const [[name, one], [, other]] of kept) {
    const [before, after] = [walk.base.documents.follow(one)?.value, walk.head.documents.follow(other)?.value]
    if (isEqual(linkOf(before), linkOf(after))) continue
    tellChanged(walk, 'link', operation, other, [before, after], { name, status, action: 'changed' })
  }
}

function linkOf(value: unknown): unknown {
  if (!isRecord(value)) return value
  const { operationId, operationRef, parameters, requestBody } = value
  return { operationId, operationRef, parameters, requestBody }
}
