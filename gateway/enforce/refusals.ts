/**
 * The reasons of refused calls, independent of protocols; each protocol renders them in its own form
 * (docs/reference/wire-headers.md#refusals).
 */
import type { ExecutionAction } from '../../engine/internal.ts'
import { ERRORS } from '../errors/errors.ts'
import type { JudgedAction, PassingAction, RefusedAction, Refusal } from '../protocols/common/action.ts'
import type { Call } from '../calls/call.ts'
import { candidateNotice, candidateText } from '../protocols/common/candidate.ts'
import { requiredReceiptText, httpRefusal } from '../protocols/common/refusal.ts'
import type { Reply } from '../listen/request-context.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { CallJudgement, ResourceVerdict } from './judge.ts'

/**
 * @param approvalAt where the approval decision for a pending call can be made
 * (docs/reference/wire-headers.md#refusals)
 */
export function stoppedReply(
  call: Call,
  action: JudgedAction,
  { resource, verdict }: ResourceVerdict,
  approvalAt: string | null,
): Reply {
  const headers = decisionHeaders(call, verdict.action, verdict.decisionId)
  const refused = { correlationId: call.correlationId, resource }
  if (verdict.basis === 'missing_receipt') {
    const message = requiredReceiptText(resource.name, verdict.requiredReceipt)
    const code = 'PREFLIGHT_RECEIPT_REQUIRED'
    return {
      answer: action.refuse({ ...refused, code, message, envelope: null, requiredReceipt: verdict.requiredReceipt }),
      headers,
    }
  }
  const isHeld = verdict.action === 'REQUEST_APPROVAL'
  const code = isHeld ? 'PREFLIGHT_APPROVAL_REQUIRED' : 'PREFLIGHT_STOP'
  const envelope = verdict.basis === 'decision' ? verdict.envelope : null
  const about = `Preflight ${isHeld ? 'holds' : 'stopped'} ${resource.name}: ${envelope?.summary ?? ERRORS[code].message}`
  const offered = verdict.basis === 'decision' ? verdict.candidate : null
  const candidate = offered === null || envelope === null ? null : candidateNotice(offered, envelope)
  const message = candidate === null ? about : `${about.replace(/[^.…]$/, '$&.')} ${candidateText(candidate)}`
  return {
    answer: action.refuse({ ...refused, code, message, envelope, ...(candidate !== null && { candidate }) }),
    headers: approvalAt === null ? headers : [...headers, 'Location', approvalAt],
  }
}

export function unmonitored(call: Call, action: JudgedAction, { resource, verdict }: ResourceVerdict): Reply {
  const refusal: Refusal = {
    code: 'MONITORING_UNWIRED',
    message: `MONITORING_UNWIRED: ${resource.name} must be monitored, and no telemetry sink takes events now.`,
    correlationId: call.correlationId,
    // The envelope permits the call and holds a receipt that would authorize it
    // (docs/reference/telemetry.md#monitoring-windows).
    envelope: null,
    resource,
  }
  return { answer: action.refuse(refusal), headers: decisionHeaders(call, 'STOP', verdict.decisionId) }
}

/**
 * In observe mode nothing is refused, not even an unreadable request: it is forwarded unchanged, counted and logged.
 * Null: it is refused.
 */
export function letOn(
  { route, correlationId }: Call,
  { name, why, isGuard }: RefusedAction,
  { metrics, logger }: { readonly metrics: Metrics; readonly logger: Logger },
): PassingAction | null {
  if (route.mode !== 'observe' || isGuard === true) return null
  metrics.count('preflight_observed_calls_total', { route: route.name, would: 'stopped' })
  const reason = why ?? NO_READING
  logger.warn(
    { event: 'call.would_be_refused', correlation_id: correlationId, route: route.name, reason },
    'request would have been refused',
  )
  return { kind: 'pass', name, isStanding: false, watch: () => null, refuse: httpRefusal }
}

/** The reason for a refused request whose recogniser gives none. */
export const NO_READING = 'it has no single reading'

/** Traffic after a switch of protocol is not read, so a verdict on the request alone does not cover it. */
export function coversUpgrade({ route }: Call, action: JudgedAction | PassingAction): boolean {
  return route.upgrade === 'allow' || action.coversUpgrade === true
}

/** @param protocol as written in the request */
export function unjudgedUpgrade(call: Call, action: JudgedAction | PassingAction, protocol: string): Reply {
  const { correlationId, route } = call
  const message =
    `Nothing that follows a switch to ${protocol} could be judged, so the route "${route.name}" refuses it. ` +
    'To forward it without judging, set upgrade: allow on that route.'
  const refusal: Refusal = { code: 'UPGRADE_REFUSED', message, correlationId, envelope: null, resource: null }
  return { answer: action.refuse(refusal), headers: decisionHeaders(call, 'STOP', null) }
}

export function undecidedReply(
  call: Call,
  action: JudgedAction,
  { error, refusal: upstream }: Extract<CallJudgement, { readonly kind: 'undecided' }>,
): Reply {
  const code = ERRORS[error.code].status >= 500 ? error.code : 'PREFLIGHT_UNDECIDED'
  const { correlationId } = call
  const refusal = action.refuse({ code, message: error.message, correlationId, envelope: null, resource: null })
  const answer = { ...refusal, headers: { ...refusal.headers, ...error.headers } }
  const headers = decisionHeaders(call, 'STOP', null)
  if (upstream === null) return { answer, headers }
  return {
    answer: { ...answer, status: upstream.status, headers: { ...answer.headers, ...upstream.headers } },
    headers,
  }
}

export function decisionHeaders(call: Call, action: ExecutionAction, decisionId: string | null): readonly string[] {
  const { correlationId } = call
  return decisionId === null
    ? ['Preflight-Action', action, 'X-Correlation-ID', correlationId]
    : ['Preflight-Action', action, 'Preflight-Decision-Id', decisionId, 'X-Correlation-ID', correlationId]
}
