/** A break-glass exception as the API and the command line show it. */
import type { BreakGlassRow } from '../store/break-glass.ts'
import { isInForce } from './break-glass.ts'
import { isoInstant, isoInstantOrNull } from '../runtime/iso-instant.ts'

export function breakGlassView(row: BreakGlassRow, now: number) {
  return {
    id: row.id,
    route: row.route,
    state: isInForce(row, now) ? 'open' : row.closedAt === null ? 'ended' : 'closed',
    reason: row.reason,
    opened_by: row.openedBy,
    opened_at: isoInstant(row.openedAt),
    expires_at: isoInstant(row.expiresAt),
    closed_by: row.closedBy,
    closed_at: isoInstantOrNull(row.closedAt),
    calls: row.calls,
  } as const
}
