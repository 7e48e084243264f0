/**
 * Serves one API request, from its head to the last byte of its answer. Loaded with the first request, since it loads every
 * route.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { discardRest } from '../../network/discard-body.ts'
import type { ApiDeps } from '../deps.ts'
import { dispatch, type Dispatched, type DispatchDeps } from './dispatch.ts'
import { createMinuteRate } from '../quota.ts'
import { createRouteTable } from './route-table.ts'
import { ROUTES } from './routes.ts'
import { sendAnswer } from './send.ts'
import { withTrace } from '../../telemetry/trace-context.ts'

/** Answers one request; never rejects. */
export type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** @param isClosing no further request is taken */
export function createServe(deps: ApiDeps, isClosing: () => boolean): Serve {
  const inner: DispatchDeps = { ...deps, routes: ROUTES, table: createRouteTable(ROUTES), rate: createMinuteRate() }
  return (request, response) => serveApi(request, response, inner, isClosing)
}

async function serveApi(
  request: IncomingMessage,
  response: ServerResponse,
  deps: DispatchDeps,
  isClosing: () => boolean,
): Promise<void> {
  const observation = deps.observer.begin(request)
  observation.protocol = 'api'
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const dispatched = await withTrace(observation.trace, () => dispatch(request, observation, gone.signal, deps))
  const { correlationId } = observation
  // A connection left open would delay the drain until its idle timeout.
  if (isClosing()) response.shouldKeepAlive = false
  try {
    await sendAnswer(response, dispatched.answer, {
      ...dispatched.headers,
      'X-Correlation-ID': answeredId(dispatched, correlationId),
    })
    discardRest(request)
  } catch (error) {
    // The client disconnected, or the store failed in the middle of an export: the answer cannot be completed.
    deps.logger.warn(
      { event: 'api.response_aborted', err: error, correlation_id: correlationId },
      'API response aborted',
    )
    response.destroy()
  }
  const { endpoint } = dispatched
  observation.action = endpoint
  observation.status = response.statusCode
  deps.observer.end(observation)
  deps.metrics.count('preflight_api_requests_total', { endpoint, status: String(response.statusCode) })
  deps.metrics.observe(
    'preflight_api_request_seconds',
    { endpoint },
    (performance.now() - observation.startedAt) / 1000,
  )
}

/**
 * A replayed answer has the id of the request that it first answered; header and body agree
 * (docs/reference/api.md#conventions).
 */
function answeredId({ answer }: Dispatched, correlationId: string): string {
  if (answer.kind !== 'json' || !('correlation_id' in answer.body)) return correlationId
  const { correlation_id: id } = answer.body
  return typeof id === 'string' ? id : correlationId
}
