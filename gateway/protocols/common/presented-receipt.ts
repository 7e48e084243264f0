/**
 * Receipts that come with a call, with their envelope (docs/reference/receipts.md#transport): in its header, or in the
 * annotations of an object.
 */
import { jsonOrNull } from '../../json/unchecked-json.ts'
import type { PresentedReceipt } from './action.ts'

/** An envelope belongs to a single receipt: with several it is ignored. @param envelope JSON, or base64url of it */
export function presentedReceipts(tokens: readonly string[], envelope: unknown): readonly PresentedReceipt[] {
  const [only, ...others] = tokens
  if (only === undefined || others.length > 0 || typeof envelope !== 'string') return tokens.map((token) => ({ token }))
  return [{ token: only, envelope: envelopeOf(envelope) }]
}

/** Text that cannot be decoded is not an envelope, and no receipt covers it. */
function envelopeOf(text: string): unknown {
  return jsonOrNull(text.trimStart().startsWith('{') ? text : Buffer.from(text, 'base64url').toString('utf8'))
}
