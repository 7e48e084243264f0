/**
 * A message whose payload is one of several schemas, and a message for each of these schemas: what is sent is the same. They
 * match where every alternative is a message of the other side, and no value is of two alternatives.
 */
import { canonicalJson } from '../../common/hash.ts'
import type { AsyncMessage, MessageCounts } from '../../contracts/asyncapi/messages.ts'
import { isRecord, locatedItems, memberOf, type Located } from '../../schema/located.ts'
import { isAnnotation } from '../../schema/shape.ts'
import type { Sides } from '../sides.ts'
import { matchCounts, type MatchedCounts } from '../match.ts'
import { isSameContent } from './content.ts'
import { followed, type AsyncWalk } from './walk.ts'

/** More alternatives than these are not compared pair by pair. */
const MAX_ALTERNATIVES = 60

/** A message, or the part of one with a single alternative of its payload. */
interface PayloadAlternative {
  readonly message: AsyncMessage
  readonly payload: Located | null
  /** Whether the other alternatives refuse what this one admits. */
  readonly isExclusive: boolean
}

type CountedAlternatives = ReadonlyMap<PayloadAlternative, number>

/** Null: not all messages match, or none has alternatives. */
export function matchAlternatives(
  walk: AsyncWalk,
  base: MessageCounts,
  head: MessageCounts,
): MatchedCounts<AsyncMessage> | null {
  const [before, after] = [alternativesOf(base, walk, 'base'), alternativesOf(head, walk, 'head')]
  if (before.size === base.size && after.size === head.size) return null
  if (before.size !== after.size || before.size > MAX_ALTERNATIVES) return null
  const sides = new Map([
    ...[...before.keys()].map((one) => [one, contentOf(one, walk, 'base')] as const),
    ...[...after.keys()].map((one) => [one, contentOf(one, walk, 'head')] as const),
  ])
  const { added, removed, kept } = matchCounts(before, after, (one) => sides.get(one) ?? '')
  if (added.size > 0 || removed.size > 0) return null
  if (!kept.every(([one, other]) => isSameAlternative(one, other, walk)) || !areApart(kept, walk)) return null
  return { added: new Map(), removed: new Map(), kept: kept.map(([one, other]) => [part(one), part(other)]) }
}

function part({ message, payload }: PayloadAlternative): AsyncMessage {
  return { ...message, payload }
}

function alternativesOf(messages: MessageCounts, walk: AsyncWalk, side: keyof Sides<unknown>): CountedAlternatives {
  return new Map(
    [...messages].flatMap(([message, count]) => {
      const alternatives = payloadAlternatives(message, walk, side)
      return alternatives.map((alternative) => [alternative, count] as const)
    }),
  )
}

function payloadAlternatives(
  message: AsyncMessage,
  walk: AsyncWalk,
  side: keyof Sides<unknown>,
): readonly PayloadAlternative[] {
  const whole = [{ message, payload: message.payload, isExclusive: false }]
  const held = message.schemaFormat.payload === null ? followed(message.payload, walk[side]) : null
  if (held === null || !isRecord(held.value)) return whole
  const [keyword, ...others] = Object.keys(held.value).filter((name) => !isAnnotation(name))
  if (others.length > 0 || (keyword !== 'oneOf' && keyword !== 'anyOf')) return whole
  const items = locatedItems(memberOf(held, keyword))
  return items.length < 2 ? whole : items.map((payload) => ({ message, payload, isExclusive: keyword === 'oneOf' }))
}

/** What is sent, with the schema that a reference names. */
function contentOf({ message, payload }: PayloadAlternative, walk: AsyncWalk, side: keyof Sides<unknown>): string {
  const { contentType, headers, schemaFormat, draft } = message
  const [schema, fields] = [payload, headers].map((one) => followed(one, walk[side])?.value ?? null)
  return canonicalJson([contentType, schemaFormat, draft, schema, fields])
}

type MatchedAlternatives = readonly [before: PayloadAlternative, after: PayloadAlternative]

function isSameAlternative(before: PayloadAlternative, after: PayloadAlternative, walk: AsyncWalk): boolean {
  return (
    isSameContent(before.payload, after.payload, walk) &&
    isSameContent(before.message.headers, after.message.headers, walk)
  )
}

const QUESTION = {
  direction: 'narrowing',
  usage: 'request',
  convention: 'none',
  overlap: 'refused',
  isText: false,
} as const

/** Whether no value is of an exclusive alternative and of another one. As messages of their own, both would admit it. */
function areApart(kept: readonly MatchedAlternatives[], { schemas }: AsyncWalk): boolean {
  return kept.every(([before, after], index) =>
    kept.every(([, other], place) => {
      if (index === place || (!before.isExclusive && !after.isExclusive)) return true
      const [one, two] = [before.payload, other.payload]
      return one !== null && two !== null && schemas.prover.areApart(one, two, QUESTION)
    }),
  )
}
