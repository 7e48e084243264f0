/** A refused write as npm prints it: npm shows only `error` of the body, so it contains the complete message. */
import { ERRORS } from '../../errors/errors.ts'
import type { Refusal } from '../common/action.ts'
import type { Answer } from '../../calls/answer.ts'
import { jsonAnswer, refusalMembers } from '../common/refusal.ts'

export function npmRefusal(refusal: Refusal): Answer {
  const { code, message, envelope, correlationId } = refusal
  const reasons = (envelope?.blocking_reasons ?? []).map((reason) => `${reason.code}: ${reason.message}`)
  const text = [`${code}: ${message}`, ...reasons, `Correlation id: ${correlationId}`].join(' | ')
  return jsonAnswer(ERRORS[code].status, { ...refusalMembers(refusal), code, error: text, reason: text })
}
