/**
 * Links of messages that lead to a request with a choice made: grant or deny. A link decides nothing. It opens the page, which
 * asks for sign-in and for a confirmation. The signature keeps others from making links that preselect a choice.
 */
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { StorePart } from '../store/store.ts'

export const CHOICES = ['granted', 'denied'] as const
export type ApprovalChoice = (typeof CHOICES)[number]

/** A choice about one request. */
interface OfferedChoice {
  readonly approvalId: string
  readonly choice: ApprovalChoice
  /** Milliseconds since the epoch: the link preselects nothing after it. */
  readonly until: number
}

/** Shared by all gateways on the store, and derived, so that nothing else uses the same key. */
export async function choiceKey(store: StorePart<'uses.salt'>): Promise<Uint8Array> {
  const salt = await store.uses.salt(randomBytes(32).toString('hex'))
  return new Uint8Array(hkdfSync('sha256', salt, '', 'preflight message link v1', 32))
}

/** The query of the link. */
export function choiceQuery(offered: OfferedChoice, key: Uint8Array): string {
  const { choice, until } = offered
  return new URLSearchParams({ choice, until: String(until), signature: signedChoice(offered, key) }).toString()
}

/** Null: the query makes no choice. `void`: the link has ended, or another one made it. */
export function choiceIn(
  query: URLSearchParams,
  approvalId: string,
  key: Uint8Array,
  now: number,
): ApprovalChoice | 'void' | null {
  const given = query.get('choice')
  if (given === null) return null
  const choice = CHOICES.find((known) => known === given)
  const until = Number(query.get('until'))
  if (choice === undefined || !Number.isSafeInteger(until) || until <= now) return 'void'
  const expected = Buffer.from(signedChoice({ approvalId, choice, until }, key))
  const signature = Buffer.from(query.get('signature') ?? '')
  return signature.length === expected.length && timingSafeEqual(signature, expected) ? choice : 'void'
}

function signedChoice({ approvalId, choice, until }: OfferedChoice, key: Uint8Array): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([approvalId, choice, until]))
    .digest('base64url')
}
