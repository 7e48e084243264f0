/** The fleet as the API and the console show it. */
import type { FleetRow } from '../store/fleet.ts'
import type { StorePart } from '../store/store.ts'
import { REPORT_INTERVAL, type FleetReports } from './reports.ts'
import { isoInstant } from '../runtime/iso-instant.ts'

/** Milliseconds without a report after which a process counts as lost. */
const LOST_AFTER = 3 * REPORT_INTERVAL

interface FleetDeps {
  readonly store: StorePart<'fleet.list'>
  readonly fleet: Pick<FleetReports, 'own'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

interface FleetQuery {
  /** Null: of every tenant, with the gateways. */
  readonly tenant: string | null
  readonly limit: number
}

export type FleetMember = ReturnType<typeof memberView>

/** Gateways first, then by tenant and name. This process is in it without a report. */
export async function fleetView(
  { tenant, limit }: FleetQuery,
  { store, fleet, now }: FleetDeps,
): Promise<readonly FleetMember[]> {
  const rows = await store.fleet.list({ limit, ...(tenant !== null && { tenant }) })
  const own = tenant === null ? fleet.own() : null
  const others = rows.filter(({ memberId }) => memberId !== own?.memberId)
  return [...(own === null ? [] : [own]), ...others].slice(0, limit).map((row) => memberView(row, now()))
}

function memberView(row: FleetRow, now: number) {
  return {
    id: row.memberId,
    kind: row.kind,
    name: row.name,
    proof: row.proof,
    tenant: row.tenant,
    host: row.host,
    hub: row.hub,
    version: row.version,
    tier: row.tier,
    mode: row.mode,
    config_hash: row.configHash,
    policy: row.policyName,
    policy_hash: row.policyHash,
    state: runState(row, now),
    started_at: isoInstant(row.startedAt),
    seen_at: isoInstant(row.seenAt),
    stopped_at: row.stoppedAt === null ? null : isoInstant(row.stoppedAt),
    lag_seconds: row.lag === null ? null : row.lag / 1000,
  } as const
}

function runState({ stoppedAt, seenAt }: FleetRow, now: number): 'running' | 'stopped' | 'lost' {
  if (stoppedAt !== null) return 'stopped'
  return now - seenAt < LOST_AFTER ? 'running' : 'lost'
}
