/**
 * The messages of one operation on both sides, matched by name; a single unmatched message on each side is one pair.
 * Schema families judge payload and headers.
 */
import type { AsyncAction } from '../../contracts/asyncapi/contract.ts'
import type { AsyncMessage, MessageCounts } from '../../contracts/asyncapi/messages.ts'
import { RECEIVED_HEADERS, RECEIVED_PAYLOAD, SENT_HEADERS, SENT_PAYLOAD } from '../../schema/sites.ts'
import { isRecord, stepInto, type Located } from '../../schema/located.ts'
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { canonicalJson } from '../../common/hash.ts'
import { matchCounts, type MatchedCounts } from '../match.ts'
import { isSameMediaType } from '../openapi/media-types.ts'
import { isAvro, languageOf, relateAvro } from './avro.ts'
import { DEFINITION_CHANGED, type DefinitionChange } from '../definition-change.ts'
import { relateProtobuf } from '../protobuf/compare.ts'
import { withHeadersInMessage } from './binding-headers.ts'
import { compareBindings } from './bindings.ts'
import { isSameContent } from './content.ts'
import { isEqual } from '../../schema/equality.ts'
import { matchAlternatives } from './message-alternatives.ts'
import { followed, walkInto, type AsyncWalk } from './walk.ts'

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

/** The messages of one direction. `where` names the operation, channel or reply that has them. */
interface MessagePlace {
  readonly action: AsyncAction
  readonly where: string
}

export function compareMessages(walk: AsyncWalk, place: MessagePlace, base: MessageCounts, head: MessageCounts): void {
  const { action, where } = place
  const rules = DIRECTIONS[action]
  const matched = matchMessages(walk, messagesByName(base), messagesByName(head))
  const isEach = matched.added.size === 0 && matched.removed.size === 0
  const { added, removed, kept } = (isEach ? null : matchAlternatives(walk, base, head)) ?? matched
  for (const { name, located } of removed.keys()) {
    walk.add({ rule: rules.removed, subject: `${where} ${name}`, name, side: 'base', located, before: name })
  }
  for (const { name, located } of added.keys()) {
    walk.add({ rule: rules.added, subject: `${where} ${name}`, name, side: 'head', located, after: name })
  }
  for (const [before, after] of kept) compareAsyncMessage(walk, place, ...withHeadersInMessage(before, after))
}

/** A name is not sent: messages of the same contents are the same messages, also where they exchanged their names. */
function matchMessages(walk: AsyncWalk, base: MessageCounts, head: MessageCounts): MatchedCounts<AsyncMessage> {
  const byName = matchCounts(base, head, ({ name }) => name)
  if (byName.kept.some(([before, after]) => messageContent(before) !== messageContent(after))) {
    const same = matchCounts(base, head, (message) => `${messageContent(message)} ${message.name}`)
    const exchanged = matchCounts(same.removed, same.added, messageContent)
    const isEach = exchanged.removed.size === 0 && exchanged.added.size === 0
    if (isEach && exchanged.kept.every(([before, after]) => areSameContents(walk, before, after)))
      return { ...exchanged, kept: [...same.kept, ...exchanged.kept] }
  }
  // The only unmatched message on either side is the same message, too.
  const isOnly = isOne(byName.added) && isOne(byName.removed) && byName.kept.length === 0
  const further = matchCounts(byName.removed, byName.added, isOnly ? () => '' : messageContent)
  return { ...further, kept: [...byName.kept, ...further.kept] }
}

/** Of several messages with one content, the order of names decides which is which. */
function messagesByName(messages: MessageCounts): MessageCounts {
  return new Map([...messages].sort(([one], [other]) => byCodeUnit(one.name, other.name)))
}

function isOne(messages: MessageCounts): boolean {
  const [count, ...others] = messages.values()
  return count === 1 && others.length === 0
}

/** Whether what is sent is the same, also behind references. */
function areSameContents(walk: AsyncWalk, before: AsyncMessage, after: AsyncMessage): boolean {
  return (['payload', 'headers'] as const).every((part) => isSameContent(before[part], after[part], walk))
}

/** Whether receivers of the one can read the other in the same way. */
export function isSameMessage(walk: AsyncWalk, one: AsyncMessage, other: AsyncMessage): boolean {
  const isSameForm = one.contentType === other.contentType && isEqual(one.schemaFormat, other.schemaFormat)
  return isSameForm && areSameContents(walk, one, other)
}

/** By message: many operations may have the same ones. */
const contents = new WeakMap<AsyncMessage, string>()

/** What is sent, as written. */
function messageContent(message: AsyncMessage): string {
  const { contentType, payload, headers, schemaFormat } = message
  const content =
    contents.get(message) ?? canonicalJson([contentType, schemaFormat, payload?.value ?? null, headers?.value ?? null])
  contents.set(message, content)
  return content
}

function compareAsyncMessage(walk: AsyncWalk, place: MessagePlace, before: AsyncMessage, after: AsyncMessage): void {
  const { action, where } = place
  const title = after.name === '' ? where : `${where}, message ${after.name}`
  const message = after.name === '' ? walk : walkInto(walk, { detail: `message ${after.name}` })
  if (!isSameMediaType(before.contentType, after.contentType)) {
    const change = { subject: title, before: before.contentType, after: after.contentType, located: after.located }
    message.add({ ...change, rule: 'asyncapi-content-type-changed', side: 'head' })
  }
  compareCorrelation(message, before, after, title)
  const bindings = { before: before.bindings, after: after.bindings, of: title, action, endpoint: where }
  compareBindings(message, bindings)
  for (const part of ['payload', 'headers'] as const) {
    const subject = part === 'payload' ? title : `${title}, headers`
    const isSchema = before.schemaFormat[part] === null && after.schemaFormat[part] === null
    if (!isSchema) compareOtherLanguage(message, { action, part, subject }, before, after)
    if (isSchema && before.draft[part] !== after.draft[part]) reportLanguage(message, { part, subject }, before, after)
    if (isSchema) useSchemas(walk, { ...place, part, subject }, before, after)
  }
}

interface MessagePart {
  readonly part: 'payload' | 'headers'
  readonly subject: string
}

function useSchemas(
  walk: AsyncWalk,
  { action, part, subject, where: endpoint }: MessagePart & MessagePlace,
  before: AsyncMessage,
  after: AsyncMessage,
): void {
  const pair = walk.schemas.compare(partOrAny(before, part), partOrAny(after, part))
  const mediaType = part === 'headers' || !/^text\//i.test(after.contentType) ? 'application/json' : after.contentType
  walk.uses.push({ pair, use: { sites: DIRECTIONS[action][part], mediaType }, where: subject, endpoint })
}

/** A message without a payload or headers schema admits anything. */
function partOrAny(message: AsyncMessage, part: 'payload' | 'headers'): Located {
  const { located } = message
  return message[part] ?? { value: {}, at: stepInto(located.at, part), document: located.document }
}

function payloadLanguageOf({ schemaFormat, draft }: AsyncMessage, part: MessagePart['part']): string {
  return schemaFormat[part] ?? `JSON Schema ${draft[part] ?? 'draft-07'}`
}

function reportLanguage(walk: AsyncWalk, { part, subject }: MessagePart, base: AsyncMessage, head: AsyncMessage): void {
  const [before, after] = [payloadLanguageOf(base, part), payloadLanguageOf(head, part)]
  const located = head[part] ?? head.located
  walk.add({ rule: 'asyncapi-payload-language-changed', subject, side: 'head', located, before, after })
}

const DEFINITION_RULES = {
  compatible: 'asyncapi-payload-definition-compatible',
  changed: 'asyncapi-payload-definition-changed',
  refused: 'asyncapi-payload-definition-refused',
} as const

/** Other languages than JSON Schema are compared by value, Avro and protobuf by their own rules. */
function compareOtherLanguage(
  walk: AsyncWalk,
  { action, part, subject }: MessagePart & Pick<MessagePlace, 'action'>,
  base: AsyncMessage,
  head: AsyncMessage,
): void {
  const [before, after] = [base.schemaFormat[part], head.schemaFormat[part]]
  if (before === null || after === null || languageOf(before) !== languageOf(after))
    return reportLanguage(walk, { part, subject }, base, head)
  if (isSameContent(base[part], head[part], walk)) return
  const change = relateDefinitions(walk, action, base, head, { format: after, part })
  if (change.meaning === 'same') return
  const located = head[part] ?? head.located
  const values = { before: base[part]?.value ?? null, after: head[part]?.value ?? null }
  const language = payloadLanguageOf(head, part)
  const name = 'detail' in change ? `${language}; ${change.detail}` : language
  walk.add({ rule: DEFINITION_RULES[change.meaning], subject, name, side: 'head', located, ...values })
}

interface DefinedPart extends Pick<MessagePart, 'part'> {
  readonly format: string
}

const PROTOBUF = /^application\/(?:vnd\.google\.|x-)?protobuf(?=\s*;|$)/i

function relateDefinitions(
  walk: AsyncWalk,
  action: AsyncAction,
  base: AsyncMessage,
  head: AsyncMessage,
  { format, part }: DefinedPart,
): DefinitionChange {
  const [before, after] = [base[part], head[part]]
  if (before === null || after === null) return DEFINITION_CHANGED
  if (isAvro(format)) return relateAvro(action, { schema: before, side: walk.base }, { schema: after, side: walk.head })
  if (!PROTOBUF.test(format)) return DEFINITION_CHANGED
  const [one, other] = [followed(before, walk.base)?.value, followed(after, walk.head)?.value]
  return typeof one === 'string' && typeof other === 'string' ? relateProtobuf(one, other) : DEFINITION_CHANGED
}

function compareCorrelation(walk: AsyncWalk, base: AsyncMessage, head: AsyncMessage, title: string): void {
  const [before, after] = [correlationLocation(base.correlationId), correlationLocation(head.correlationId)]
  if (before === after) return
  if (before === null) {
    const located = head.correlationId ?? head.located
    walk.add({ rule: 'asyncapi-correlation-added', subject: `${title} correlationId`, side: 'head', located, after })
    return
  }
  const place =
    head.correlationId === null ? { side: 'base', located: base.correlationId } : { located: head.correlationId }
  const side = place.side === 'base' ? 'base' : 'head'
  const located = place.located ?? head.located
  walk.add({ rule: 'asyncapi-correlation-changed', subject: `${title} correlationId`, side, located, before, after })
}

function correlationLocation(correlation: Located | null): string | null {
  const location = isRecord(correlation?.value) ? correlation.value['location'] : undefined
  return typeof location === 'string' ? location : null
}
