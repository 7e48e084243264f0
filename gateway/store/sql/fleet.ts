/** Statements on the processes that use the store. */
import type { Fleet, FleetRow } from '../fleet.ts'
import { integer, integerOrNull, oneOf, text, nullableText, type SqlRow } from './columns.ts'
import { read, write, type Operations } from './operation.ts'

export const fleet: Operations<Fleet> = {
  report: write(async (sql, rows, forget) => {
    // In one order, so that hubs that report at the same time do not wait for each other in a circle.
    for (const row of rows.toSorted((a, b) => (a.memberId < b.memberId ? -1 : 1)))
      await sql.run(
        `INSERT INTO fleet_members (member_id, kind, name, proof, tenant, host, hub, version, tier, mode, config_hash,
           policy_name, policy_hash, started_at, seen_at, stopped_at, lag)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (member_id) DO UPDATE SET kind = excluded.kind, name = excluded.name, proof = excluded.proof,
           tenant = excluded.tenant, host = excluded.host, hub = excluded.hub, version = excluded.version,
           tier = excluded.tier, mode = excluded.mode, config_hash = excluded.config_hash,
           policy_name = excluded.policy_name, policy_hash = excluded.policy_hash, started_at = excluded.started_at,
           seen_at = excluded.seen_at, stopped_at = excluded.stopped_at, lag = excluded.lag`,
        row.memberId,
        row.kind,
        row.name,
        row.proof,
        row.tenant,
        row.host,
        row.hub,
        row.version,
        row.tier,
        row.mode,
        row.configHash,
        row.policyName,
        row.policyHash,
        row.startedAt,
        row.seenAt,
        row.stoppedAt,
        row.lag,
      )
    await sql.run('DELETE FROM fleet_members WHERE seen_at < ?', forget)
  }),

  list: read(async (sql, { tenant, limit }) => {
    const order = 'ORDER BY kind, tenant, name, member_id LIMIT ?'
    const rows =
      tenant === undefined
        ? await sql.all(`SELECT * FROM fleet_members ${order}`, limit)
        : await sql.all(`SELECT * FROM fleet_members WHERE tenant = ? ${order}`, tenant, limit)
    return rows.map(fleetRow)
  }),
}

const KINDS = ['gateway', 'sidecar'] as const
const PROOFS = ['token', 'certificate', 'key'] as const
const MODES = ['enforce', 'observe', 'mixed'] as const

function fleetRow(row: SqlRow): FleetRow {
  return {
    memberId: text(row, 'member_id'),
    kind: oneOf(KINDS, row, 'kind'),
    name: text(row, 'name'),
    proof: row['proof'] === null ? null : oneOf(PROOFS, row, 'proof'),
    tenant: text(row, 'tenant'),
    host: text(row, 'host'),
    hub: nullableText(row, 'hub'),
    version: text(row, 'version'),
    tier: text(row, 'tier'),
    mode: row['mode'] === null ? null : oneOf(MODES, row, 'mode'),
    configHash: text(row, 'config_hash'),
    policyName: text(row, 'policy_name'),
    policyHash: text(row, 'policy_hash'),
    startedAt: integer(row, 'started_at'),
    seenAt: integer(row, 'seen_at'),
    stoppedAt: integerOrNull(row, 'stopped_at'),
    lag: integerOrNull(row, 'lag'),
  }
}
