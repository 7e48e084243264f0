/**
 * Records destinations that requests named: refused ones, and tunnels, whose content is not read. Writes the log, a
 * metric and a row of the ledger.
 */
import { authorityText, DEFAULT_PORTS, readAuthority, type Authority } from '../network/authority.ts'
import type { EgressDenial } from './egress-policy.ts'
import type { TrafficPath } from '../routing/traffic-path.ts'
import type { Caller } from '../callers/rights.ts'
import type { Call } from '../calls/call.ts'
import type { StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { currentTraceId, isCurrentTraceSampled } from '../telemetry/trace-context.ts'

/** The name under which calls and connections without a route are counted and recorded. */
export const EGRESS_ROUTE = 'egress'

export interface EgressRecordDeps {
  readonly store: StorePart<'calls.record'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** A request for a destination; without its path, since nobody judged what is in it. */
export interface EgressRequest {
  readonly trafficPath: TrafficPath
  /** `CONNECT`, or the method of the request. */
  readonly method: string
  readonly authority: Authority
  readonly caller: Caller
  readonly correlationId: string
}

/** Never rejects: a refused request stays refused when its row cannot be written. */
export async function recordDenial(
  request: EgressRequest,
  denial: EgressDenial,
  deps: EgressRecordDeps,
): Promise<void> {
  const { trafficPath, correlationId, caller, authority } = request
  deps.metrics.count('preflight_egress_denials_total', { traffic_path: trafficPath, reason: denial.reason })
  deps.logger.warn(
    {
      event: 'egress.denied',
      correlation_id: correlationId,
      trafficPath,
      destination: authorityText(authority),
      reason: denial.reason,
      audience: caller.audience,
    },
    `egress denied: ${denial.message}`,
  )
  try {
    await record(request, 'STOP', deps)
  } catch (error) {
    deps.logger.error(
      { event: 'egress.record_failed', err: error, correlation_id: correlationId },
      'denied destination could not be recorded',
    )
  }
}

/** The same for a call to an allowed host name that resolves to a denied address. */
export function recordCallDenial(
  {
    trafficPath,
    method,
    origin,
    caller,
    correlationId,
  }: Pick<Call, 'trafficPath' | 'method' | 'origin' | 'caller' | 'correlationId'>,
  denial: EgressDenial,
  deps: EgressRecordDeps,
): Promise<void> {
  const { protocol, host } = new URL(origin)
  const read = readAuthority(host, protocol === 'https:' ? DEFAULT_PORTS.https : DEFAULT_PORTS.http)
  if (!read.ok) throw new Error(`${origin} is not an origin: ${read.problem}`)
  return recordDenial({ trafficPath, method, authority: read.authority, caller, correlationId }, denial, deps)
}

/** Writes the row before the first byte is sent. Rejects with STORE_UNAVAILABLE: the tunnel is then not opened. */
export async function recordTunnel(request: EgressRequest, deps: EgressRecordDeps): Promise<void> {
  await record(request, 'CONTINUE', deps)
  deps.logger.info(
    {
      event: 'tunnel.opened',
      correlation_id: request.correlationId,
      trafficPath: request.trafficPath,
      destination: authorityText(request.authority),
      audience: request.caller.audience,
    },
    'tunnel opened',
  )
}

async function record(
  { method, authority, caller, correlationId }: EgressRequest,
  executionAction: 'STOP' | 'CONTINUE',
  { store, now }: EgressRecordDeps,
): Promise<void> {
  await store.calls.record({
    correlationId,
    traceId: currentTraceId(),
    isTraceSampled: isCurrentTraceSampled(),
    tenant: caller.tenant,
    decisionId: null,
    route: EGRESS_ROUTE,
    protocol: EGRESS_ROUTE,
    action: `${method} ${authorityText(authority)}`,
    executionAction,
    enforced: true,
    effect: executionAction === 'STOP' ? 'stopped' : 'forwarded',
    breakGlassId: null,
    violations: null,
    at: now(),
  })
}
