/**
 * The messages of one operation on both sides, matched by name; a single unmatched message on each side is one pair.
 * Schema families judge payload and headers.
 */
import type { AsyncAction } from '../../contracts/asyncapi/contract.ts'
import type { AsyncMessage } from '../../contracts/asyncapi/messages.ts'
import { RECEIVED_HEADERS, RECEIVED_PAYLOAD, SENT_HEADERS, SENT_PAYLOAD, type SitePair } from '../../schema/sites.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, stepInto, type Located } from '../../schema/located.ts'
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { canonicalJson } from '../../common/hash.ts'
import { matchByKey, matchRest } from '../match.ts'
import { isSameMediaType } from '../openapi/media-types.ts'
import { withHeadersInMessage } from './binding-headers.ts'
import { compareBindings } from './bindings.ts'
import type { AsyncWalk, AddAsyncChange } from './walk.ts'

const DIRECTIONS = {
  send: {
    payload: SENT_PAYLOAD,
    headers: SENT_HEADERS,
    added: 'asyncapi-sent-message-added',
    removed: 'asyncapi-sent-message-removed',
  },
  receive: {
    payload: RECEIVED_PAYLOAD,
    headers: RECEIVED_HEADERS,
    added: 'asyncapi-received-message-added',
    removed: 'asyncapi-received-message-removed',
  },
} as const

export function compareMessages(
  walk: AsyncWalk,
  action: AsyncAction,
  where: string,
  base: readonly AsyncMessage[],
  head: readonly AsyncMessage[],
  add: AddAsyncChange,
): void {
  const rules = DIRECTIONS[action]
  const byName = matchByKey(inOrder(base), inOrder(head), ({ name }) => name)
  // A name is not sent. The only unmatched message on either side, and one with the same content, is the same message.
  const isOnly = byName.added.length === 1 && byName.removed.length === 1 && byName.kept.length === 0
  const { added, removed, kept } = matchRest(byName, isOnly ? () => '' : contentOf)
  for (const { name, located } of removed) {
    add({ rule: rules.removed, subject: `${where} ${name}`, name, side: 'base', located, before: name })
  }
  for (const { name, located } of added) {
    add({ rule: rules.added, subject: `${where} ${name}`, name, side: 'head', located, after: name })
  }
  for (const [before, after] of kept) compareMessage(walk, action, where, ...withHeadersInMessage(before, after), add)
}

/** Of several messages with one content, the order of names decides which is which. */
function inOrder(messages: readonly AsyncMessage[]): readonly AsyncMessage[] {
  return messages.toSorted((one, other) => byCodeUnit(one.name, other.name))
}

/** What is sent, as written. */
function contentOf({ contentType, payload, headers, schemaFormat }: AsyncMessage): string {
  return canonicalJson([contentType, schemaFormat, payload?.value ?? null, headers?.value ?? null])
}

function compareMessage(
  walk: AsyncWalk,
  action: AsyncAction,
  where: string,
  before: AsyncMessage,
  after: AsyncMessage,
  add: AddAsyncChange,
): void {
  const title = after.name === '' ? where : `${where}, message ${after.name}`
  const within: AddAsyncChange = (change) =>
    add({ ...change, ...(after.name === '' ? {} : { detail: `message ${after.name}` }) })
  if (!isSameMediaType(before.contentType, after.contentType)) {
    const change = { subject: title, before: before.contentType, after: after.contentType, located: after.located }
    within({ ...change, rule: 'asyncapi-content-type-changed', side: 'head' })
  }
  compareCorrelation(before, after, title, within)
  const bindings = { before: before.bindings, after: after.bindings, of: title, action, endpoint: where }
  compareBindings(walk, bindings, within)
  for (const part of ['payload', 'headers'] as const) {
    const subject = part === 'payload' ? title : `${title}, headers`
    if (before.schemaFormat[part] === null && after.schemaFormat[part] === null)
      use(walk, DIRECTIONS[action][part], subject, before, after, part, where)
    else compareOtherLanguage(before, after, part, subject, within)
  }
}

function use(
  walk: AsyncWalk,
  sites: SitePair,
  where: string,
  before: AsyncMessage,
  after: AsyncMessage,
  part: 'payload' | 'headers',
  endpoint: string,
): void {
  const pair = walk.schemas.compare(partOrAny(before, part), partOrAny(after, part))
  const mediaType = part === 'headers' || !/^text\//i.test(after.contentType) ? 'application/json' : after.contentType
  walk.uses.push({ pair, use: { sites, mediaType }, where, endpoint })
}

/** A message without a payload or headers schema admits anything. */
function partOrAny(message: AsyncMessage, part: 'payload' | 'headers'): Located {
  const { located } = message
  return message[part] ?? { value: {}, at: stepInto(located.at, part), document: located.document }
}

/** JSON Schema payloads name their draft as the dialect. Other languages are compared as text. */
function compareOtherLanguage(
  base: AsyncMessage,
  head: AsyncMessage,
  part: 'payload' | 'headers',
  title: string,
  add: AddAsyncChange,
): void {
  const [before, after] = [base.schemaFormat[part] ?? 'JSON Schema', head.schemaFormat[part] ?? 'JSON Schema']
  const located = head[part] ?? head.located
  if (before !== after) {
    add({ rule: 'asyncapi-payload-language-changed', subject: title, side: 'head', located, before, after })
  } else if (!isEqual(base[part]?.value ?? null, head[part]?.value ?? null)) {
    const values = { before: base[part]?.value ?? null, after: head[part]?.value ?? null }
    add({ rule: 'asyncapi-payload-definition-changed', subject: title, name: after, side: 'head', located, ...values })
  }
}

function compareCorrelation(base: AsyncMessage, head: AsyncMessage, title: string, add: AddAsyncChange): void {
  const [before, after] = [placeOf(base.correlationId), placeOf(head.correlationId)]
  if (before === after) return
  if (before === null) {
    const located = head.correlationId ?? head.located
    add({ rule: 'asyncapi-correlation-added', subject: `${title} correlationId`, side: 'head', located, after })
    return
  }
  const place =
    head.correlationId === null ? { side: 'base', located: base.correlationId } : { located: head.correlationId }
  const side = place.side === 'base' ? 'base' : 'head'
  const located = place.located ?? head.located
  add({ rule: 'asyncapi-correlation-changed', subject: `${title} correlationId`, side, located, before, after })
}

function placeOf(correlation: Located | null): string | null {
  const location = isRecord(correlation?.value) ? correlation.value['location'] : undefined
  return typeof location === 'string' ? location : null
}
