/**
 * The last check before an answer is sent: an envelope in it must be valid (docs/reference/envelope.md#rules-between-members).
 */
import { checkProducerForm } from '../../engine/internal.ts'
import { GatewayError } from '../errors/errors.ts'
import type { RouteAnswer } from './route.ts'

/** @throws GatewayError INTERNAL, whose cause names the violations. */
export function assertEnvelopes(answer: RouteAnswer): void {
  if (answer.kind === 'json' && 'decision_result' in answer.body) assertEnvelope(answer.body.decision_result)
}

/** @throws GatewayError INTERNAL, whose cause names the violations. */
function assertEnvelope(envelope: unknown): void {
  const checked = checkProducerForm(envelope)
  if (checked.ok) return
  const cause = new Error(`an envelope breaks the producer schema: ${JSON.stringify(checked.problem)}`)
  throw new GatewayError('INTERNAL', undefined, { cause })
}
