/** The messages of one operation on both sides: matched by name, or as the only ones; payload and headers by the families. */
import type { AsyncAction } from '../../contracts/asyncapi/contract.ts'
import type { AsyncMessage } from '../../contracts/asyncapi/messages.ts'
import { RECEIVED_HEADERS, RECEIVED_PAYLOAD, SENT_HEADERS, SENT_PAYLOAD, type SitePair } from '../../rules/sites.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, stepInto, type Located } from '../../schema/located.ts'
import { matchByKey, matchRest } from '../match.ts'
import { withHeadersInMessage } from './binding-headers.ts'
import { compareBindings } from './bindings.ts'
import type { AsyncWalk, SayAsync } from './walk.ts'

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
  old: readonly AsyncMessage[],
  now: readonly AsyncMessage[],
  say: SayAsync,
): void {
  const rules = DIRECTIONS[action]
  const byName = matchByKey(old, now, ({ name }) => name)
  // The only message that is left on either side is the same one under another name.
  const isOnly = byName.added.length === 1 && byName.removed.length === 1 && byName.kept.length === 0
  const { added, removed, kept } = isOnly ? matchRest(byName, () => '') : byName
  for (const { name, located } of removed) {
    say({ rule: rules.removed, subject: `${where} ${name}`, name, side: 'base', located, before: name })
  }
  for (const { name, located } of added) {
    say({ rule: rules.added, subject: `${where} ${name}`, name, side: 'head', located, after: name })
  }
  for (const [was, is] of kept) compareMessage(walk, action, where, ...withHeadersInMessage(was, is), say)
}

function compareMessage(
  walk: AsyncWalk,
  action: AsyncAction,
  where: string,
  was: AsyncMessage,
  is: AsyncMessage,
  say: SayAsync,
): void {
  const title = is.name === '' ? where : `${where}, message ${is.name}`
  const within: SayAsync = (change) => say({ ...change, ...(is.name === '' ? {} : { detail: `message ${is.name}` }) })
  if (was.contentType !== is.contentType) {
    const change = { subject: title, before: was.contentType, after: is.contentType, located: is.located }
    within({ ...change, rule: 'asyncapi-content-type-changed', side: 'head' })
  }
  compareCorrelation(was, is, title, within)
  const bindings = { was: was.bindings, is: is.bindings, of: title, action, endpoint: where }
  compareBindings(walk, bindings, within)
  const { payload, headers } = DIRECTIONS[action]
  if (was.schemaFormat === null && is.schemaFormat === null) {
    use(walk, payload, title, was, is, 'payload', where)
  } else compareOtherLanguage(was, is, title, within)
  use(walk, headers, `${title}, headers`, was, is, 'headers', where)
}

function use(
  walk: AsyncWalk,
  sites: SitePair,
  where: string,
  was: AsyncMessage,
  is: AsyncMessage,
  part: 'payload' | 'headers',
  endpoint: string,
): void {
  const pair = walk.schemas.compare(partOrAny(was, part), partOrAny(is, part))
  const mediaType = part === 'headers' || !/^text\//i.test(is.contentType) ? 'application/json' : is.contentType
  walk.uses.push({ pair, use: { sites, mediaType }, where, lead: [], endpoint, identity: { by: 'place' } })
}

/** A message that does not say what it holds may hold anything. */
function partOrAny(message: AsyncMessage, part: 'payload' | 'headers'): Located {
  const { located } = message
  return message[part] ?? { value: {}, at: stepInto(located.at, part), document: located.document }
}

/** JSON Schema names a draft as its dialect; the rest is compared as it stands. */
function compareOtherLanguage(was: AsyncMessage, is: AsyncMessage, title: string, say: SayAsync): void {
  const [before, after] = [was.schemaFormat ?? 'JSON Schema', is.schemaFormat ?? 'JSON Schema']
  const located = is.payload ?? is.located
  if (before !== after) {
    say({ rule: 'asyncapi-payload-language-changed', subject: title, side: 'head', located, before, after })
  } else if (!isEqual(was.payload?.value ?? null, is.payload?.value ?? null)) {
    const values = { before: was.payload?.value ?? null, after: is.payload?.value ?? null }
    say({ rule: 'asyncapi-payload-definition-changed', subject: title, name: after, side: 'head', located, ...values })
  }
}

function compareCorrelation(was: AsyncMessage, is: AsyncMessage, title: string, say: SayAsync): void {
  const [before, after] = [placeOf(was.correlationId), placeOf(is.correlationId)]
  // Said for the first time, it takes nothing from anyone.
  if (before === null || before === after) return
  const place = is.correlationId === null ? { side: 'base', located: was.correlationId } : { located: is.correlationId }
  const side = place.side === 'base' ? 'base' : 'head'
  const located = place.located ?? is.located
  say({ rule: 'asyncapi-correlation-changed', subject: `${title} correlationId`, side, located, before, after })
}

function placeOf(correlation: Located | null): string | null {
  const location = isRecord(correlation?.value) ? correlation.value['location'] : undefined
  return typeof location === 'string' ? location : null
}
