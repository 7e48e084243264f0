/**
 * The one place where an error becomes an answer (docs/reference/api.md#errors), and the last check of an answer that is none. An
 * error that is not a GatewayError is INTERNAL: its cause goes to the log only.
 */
import { GatewayError, knownError } from '../errors/errors.ts'
import type { Logger } from '../telemetry/log.ts'
import { currentTraceId } from '../telemetry/trace-context.ts'
import { json, type RouteAnswer } from './route.ts'
import { checkProducerForm } from '../../engine/internal.ts'

export function errorAnswer(error: unknown, correlationId: string, logger: Logger): RouteAnswer {
  const refusal = knownError(error)
  const { code, status, headers, cause } = refusal
  if (status >= 500)
    logger.error(
      { event: 'api.request_failed', err: cause ?? refusal, code, correlation_id: correlationId },
      'API request failed',
    )
  return json(errorBody(refusal, correlationId), status, headers)
}

/** The body of an error in the API, the MCP tools and the answers to broken requests. */
export function errorBody(error: GatewayError, correlationId: string): object {
  const { code, message, details } = error
  const traceId = currentTraceId()
  return {
    error: code,
    message,
    correlation_id: correlationId,
    ...(traceId !== null && { trace_id: traceId }),
    ...(details.length > 0 && { details }),
  }
}

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
