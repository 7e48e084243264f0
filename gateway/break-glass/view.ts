/** A break-glass exception as the API and the command line show it. */
import type { BreakGlassRow } from '../store/break-glass.ts'
import { isInForce } from './break-glass.ts'

export function breakGlassView(row: BreakGlassRow, now: number) {
  return {
    id: row.id,
    route: row.route,
    state: isInForce(row, now) ? 'open' : row.closedAt === null ? 'ended' : 'closed',
    reason: row.reason,
    opened_by: row.openedBy,
    opened_at: iso(row.openedAt),
    expires_at: iso(row.expiresAt),
    closed_by: row.closedBy,
    closed_at: row.closedAt === null ? null : iso(row.closedAt),
    calls: row.calls,
  } as const
}

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
