/** A refused write as npm prints it: npm shows only `error` of the body, so it contains the complete message. */
import { ERRORS } from '../../errors/errors.ts'
import type { Refusal } from '../common/action.ts'
import type { Answer } from '../../calls/answer.ts'
import { jsonAnswer, refusalMembers } from '../common/refusal.ts'

export function npmRefusal(refusal: Refusal): Answer {
  const { code, message, envelope, correlationId } = refusal
  const reasons = (envelope?.blocking_reasons ?? []).map((reason) => `${reason.code}: ${reason.message}`)
  const text = [`${code}: ${message}`, ...reasons, shownId(correlationId)].join(' | ')
  return jsonAnswer(ERRORS[code].status, { ...refusalMembers(refusal), code, error: text, reason: text })
}

/** npm prints `***` for a UUID, unless a letter, a digit or an underscore stands directly before it. */
function shownId(correlationId: string): string {
  return UUID.test(correlationId)
    ? `Correlation id (after the underscore): _${correlationId}`
    : `Correlation id: ${correlationId}`
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
