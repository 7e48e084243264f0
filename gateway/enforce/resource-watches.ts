/** The monitoring windows of a call, one for each of its resources that is monitored: all are open before it is forwarded, or none. */
import type { JudgedResource } from '../calls/judged-resource.ts'
import type { Call } from '../calls/call.ts'
import type { Monitoring, Watch } from '../monitoring/monitoring.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Decided } from './judge.ts'

/** A monitoring window, and the resource whose outcome it waits for. */
export interface ResourceWatch {
  readonly resource: JudgedResource
  readonly watch: Watch
}

interface MonitoredCall {
  readonly call: Call
  readonly deps: { readonly monitoring: Pick<Monitoring, 'open'>; readonly logger: Logger }
}

export const UNWATCHED: readonly ResourceWatch[] = []
const NOT_SENT = { outcome: 'NOT_SENT', status: null, durationMs: 0, bytes: 0 } as const

export async function closeUnsent(watches: readonly ResourceWatch[]): Promise<void> {
  for (const { watch } of watches) await watch.finish(NOT_SENT)
}

/**
 * A window for each resource that is monitored: a batch may name many. Null: one could not be opened, and none is left
 * open.
 */
export async function openWindows(
  { verdicts }: Decided,
  pending: MonitoredCall,
): Promise<readonly ResourceWatch[] | null> {
  const watches: ResourceWatch[] = []
  for (const { resource, verdict } of verdicts) {
    if (verdict.action !== 'CONTINUE_WITH_MONITORING' || verdict.decisionId === null) continue
    const watch = await openWindow(verdict.decisionId, pending)
    if (watch === null) {
      await closeUnsent(watches)
      return null
    }
    watches.push({ resource, watch })
  }
  return watches
}

/** Null when no sink takes the telemetry, or the window cannot be made durable: the call is then not forwarded. */
async function openWindow(decisionId: string, { call, deps }: MonitoredCall): Promise<Watch | null> {
  const { correlationId, route, caller, trafficPath } = call
  // The gateway does not see the answer to a call that another proxy or the API server makes.
  const observer = trafficPath === 'ext_authz' || trafficPath === 'admission' ? 'caller' : 'gateway'
  try {
    return await deps.monitoring.open({ correlationId, decisionId, route: route.name, tenant: caller.tenant, observer })
  } catch (error) {
    deps.logger.error(
      { event: 'monitoring.open_failed', err: error, correlation_id: correlationId },
      'monitoring window could not be opened',
    )
    return null
  }
}
