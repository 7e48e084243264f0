/** Refusals as the Kubernetes API makes them: `Status` objects (docs/reference/wire-headers.md#refusals), whose message is what kubectl prints. */
import { currentTraceId } from '../../telemetry/trace-context.ts'
import { ERRORS } from '../../errors/errors.ts'
import { asClause } from '../../json/strict-json.ts'
import type { CallFault, Refusal } from '../common/action.ts'
import type { Answer } from '../../calls/answer.ts'
import { jsonAnswer } from '../common/refusal.ts'
import type { ResourcePath } from './path.ts'

/** Reasons of `metav1.Status` by HTTP status, those that the gateway itself answers with. */
const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

interface StatusDetails {
  readonly path: Pick<ResourcePath, 'group' | 'name'> | null
  readonly kind: string | null
  /** Machine-readable: what stopped it and under which decision. */
  readonly causes: readonly { readonly reason: string; readonly message: string }[]
}

const NO_DETAILS: StatusDetails = { path: null, kind: null, causes: [] }

/** @param code HTTP status; one without its own reason is reported as InternalError */
export function statusAnswer(
  code: number,
  message: string,
  { path, kind, causes }: StatusDetails = NO_DETAILS,
): Answer {
  const details = {
    ...(path === null || path.name === null ? {} : { name: path.name }),
    ...(path === null || path.group === '' ? {} : { group: path.group }),
    ...(kind === null ? {} : { kind }),
    ...(causes.length === 0 ? {} : { causes }),
  }
  return jsonAnswer(code, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: REASONS[code] ?? 'InternalError',
    details,
    code,
  })
}

function traceCauses() {
  const trace = currentTraceId()
  return trace === null ? [] : [{ reason: 'PREFLIGHT_TRACE_ID', message: trace }]
}

/** A status that does not describe the object: kubectl prints its message, scripts read its cause. */
export function faultStatus({ code, message, correlationId }: CallFault): Answer {
  const causes = [
    { reason: code, message },
    { reason: 'PREFLIGHT_CORRELATION_ID', message: correlationId },
    ...traceCauses(),
  ]
  const text = `${message} (correlation id ${correlationId})`
  return statusAnswer(ERRORS[code].status, text, { ...NO_DETAILS, causes })
}

/**
 * One that was judged, or could not be. What waits for an approval is Forbidden too: the API has no reason for it, and a
 * client must not take it for something to try again by itself.
 */
export function refusalStatus(refusal: Refusal, path: ResourcePath | null, kind: string | null): Answer {
  const { envelope, requiredReceipt, code, correlationId } = refusal
  const status = ERRORS[code].status >= 500 ? ERRORS[code].status : 403
  const reasons = envelope?.blocking_reasons.map(({ code: reason, message }) => ({ reason, message })) ?? []
  const steps = envelope?.next_actions.map(({ instruction }) => instruction) ?? []
  const sentences = [
    refusal.message,
    ...(requiredReceipt === undefined
      ? []
      : ['kubectl cannot send this header: put the receipt into the annotation preflight.dev/receipt of the object']),
    ...reasons.map(({ reason, message: why }) => `${reason}: ${why}`),
    ...steps,
  ].map((sentence) => `${asClause(sentence)}.`)
  const message = `${sentences.join(' ')} (correlation id ${correlationId})`
  const causes = [
    { reason: code, message: refusal.message },
    ...(envelope === null ? [] : [{ reason: 'PREFLIGHT_DECISION_ID', message: envelope.decision_id }]),
    ...reasons,
    { reason: 'PREFLIGHT_CORRELATION_ID', message: correlationId },
    ...traceCauses(),
  ]
  return statusAnswer(status, message, { path, kind, causes })
}
