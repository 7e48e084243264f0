/**
 * The content of a refusal, as text for people and models and as the members of
 * docs/reference/wire-headers.md#refusals.
 */
import type { CallHead } from '../../calls/call.ts'
import { ERRORS } from '../../errors/errors.ts'
import type { PassingAction, RequiredReceipt, Refusal, RefusedAction } from './action.ts'
import type { Answer } from '../../calls/answer.ts'
import { traceMember } from '../../telemetry/trace-context.ts'

/** Forwarded unjudged. @param refuse the protocol's form of a refusal */
export function passingAction(name: string, refuse: PassingAction['refuse']): PassingAction {
  return { kind: 'pass', name, isStanding: false, watch: () => null, refuse }
}

/** Answered by the gateway, before anything is judged. @param refuse the protocol's form of a refusal */
export function stoppedAction(
  { correlationId }: Pick<CallHead, 'correlationId'>,
  { name, message, why }: Pick<RefusedAction, 'name' | 'why'> & { readonly message: string },
  refuse: PassingAction['refuse'],
): RefusedAction {
  const answer = refuse({ code: 'PREFLIGHT_STOP', message, correlationId, envelope: null, resource: null })
  const stopped = { ...answer, headers: { ...answer.headers, 'Preflight-Action': 'STOP' } }
  return { kind: 'refuse', name, answer: stopped, ...(why !== undefined && { why }) }
}

/** The members in every protocol's answer. */
export function refusalMembers(refusal: Refusal): Readonly<Record<string, unknown>> {
  return {
    error: refusal.code,
    message: refusal.message,
    correlation_id: refusal.correlationId,
    ...traceMember(),
    ...(refusal.envelope === null ? {} : { decision_result: refusal.envelope }),
    ...(refusal.requiredReceipt === undefined ? {} : { receipt_required: refusal.requiredReceipt }),
    ...(refusal.candidate === undefined ? {} : { candidate: refusal.candidate }),
  }
}

/** For clients that print a body unchanged: without the decision itself, which can be found by its id. */
export function briefMembers({
  code,
  message,
  correlationId,
  envelope,
  requiredReceipt,
  candidate,
}: Refusal): Readonly<Record<string, unknown>> {
  return {
    error: code,
    message,
    correlation_id: correlationId,
    ...traceMember(),
    ...(envelope === null ? {} : { decision_id: envelope.decision_id, execution_action: envelope.execution_action }),
    ...(requiredReceipt === undefined ? {} : { receipt_required: requiredReceipt }),
    // The message contains how to accept it.
    ...(candidate === undefined ? {} : { candidate: { baseline: candidate.baseline, digest: candidate.digest } }),
  }
}

/** One or two sentences for people: which receipt is missing, why the presented one is not valid, and how to get it. */
export function requiredReceiptText(name: string, { context, artifacts, reason, note }: RequiredReceipt): string {
  const about = artifacts.map(({ id, type }) => `${id} (${type})`).join(', ')
  // A preflight is always about a contract, also where the operation changes none.
  const on = about === '' ? 'the contracts that change, or on any unchanged contract' : about
  return (
    `Preflight stopped ${name}: it needs a receipt for exactly this operation. ` +
    `${reason === null ? note : `The presented receipt does not authorize it (${reason}): ${note}`} ` +
    `Run an authorize preflight (POST /api/v1/preflight) with the context ${JSON.stringify(context)}` +
    ` on ${on}, and send its chain_receipt in the Preflight-Receipt header.`
  )
}

/** What was stopped, why, and what to do next, for a model to read. */
export function refusalText(refusal: Refusal): string {
  const { envelope } = refusal
  const blocking = envelope === null ? [] : [...envelope.blocking_reasons, ...(envelope.degraded_reasons ?? [])]
  const reasons = blocking.map(({ code, message }) => `- ${code}: ${message}`)
  const steps = stepsAfter(refusal).map((text) => `- ${text}`)
  return [
    refusal.message,
    ...(reasons.length > 0 ? ['Why:', ...reasons] : []),
    ...(steps.length > 0 ? ['What to do next:', ...steps] : []),
    `The call was not sent. ${repetitionText(refusal)}`,
    `Correlation id: ${refusal.correlationId}`,
  ].join('\n')
}

/** The caller of an upstream that changed can neither fix the change nor submit another one: a person accepts it. */
function stepsAfter({ envelope, candidate }: Refusal): readonly string[] {
  const actions = envelope?.next_actions ?? []
  const own = actions.filter(({ type, precondition }) => type !== 'REMEDIATE' && precondition === null)
  const steps = (candidate === undefined ? actions : own).map(({ instruction, target }) =>
    target === null ? instruction : `${instruction.replace(/\.$/, '')} (${target}).`,
  )
  return candidate === undefined ? steps : [...steps, 'Ask a person to review and accept the new contract.']
}

/** Only what the gateway could not decide or reach may be repeated as it is. */
function repetitionText({ code, candidate }: Refusal): string {
  if (candidate !== undefined) return 'Do not repeat it before the new contract is accepted.'
  if (code === 'PREFLIGHT_APPROVAL_REQUIRED') return 'Do not repeat it before the approval is granted.'
  return ERRORS[code].status >= 500 ? 'You may retry it later.' : 'Do not repeat it unchanged.'
}

export function jsonAnswer(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) }
}

/** The plain HTTP form: the status of the code's row, 503 for calls that may be retried later. */
export function httpRefusal(refusal: Refusal): Answer {
  return jsonAnswer(ERRORS[refusal.code].status, refusalMembers(refusal))
}
