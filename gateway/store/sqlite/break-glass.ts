/** Operations on break-glass exceptions. A row is closed once, and counts its calls while it is open. */
import type { BreakGlassFilter, BreakGlassRow } from '../store.ts'
import { journal } from './journal.ts'
import { integer, integerOrNull, text, textOrNull, type SqlRow, type Statements } from './statements.ts'

const IN_FORCE = 'closed_at IS NULL AND ended_at IS NULL AND expires_at > ?'

export const breakGlassReads = {
  breakGlasses: (sql: Statements, { openAt, route, limit }: BreakGlassFilter): readonly BreakGlassRow[] => {
    const conditions = ['1 = 1']
    const values: (string | number)[] = []
    if (openAt !== undefined) {
      conditions.push(IN_FORCE)
      values.push(openAt)
    }
    if (route !== undefined) {
      conditions.push('route = ?')
      values.push(route)
    }
    const where = conditions.join(' AND ')
    return sql
      .all(`SELECT * FROM break_glass WHERE ${where} ORDER BY opened_at DESC, id LIMIT ?`, ...values, limit)
      .map(breakGlass)
  },
} as const

export const breakGlassWrites = {
  openBreakGlass: (sql: Statements, row: BreakGlassRow): null => {
    sql.run(
      `INSERT INTO break_glass (id, route, reason, opened_by, opened_at, expires_at, calls)
       VALUES (?, ?, ?, ?, ?, ?, 0)`,
      row.id,
      row.route,
      row.reason,
      row.openedBy,
      row.openedAt,
      row.expiresAt,
    )
    journal(sql, 'break_glass', row.id)
    return null
  },

  /** Null when there is no such exception. Closing an exception that has ended or was closed before changes nothing. */
  closeBreakGlass: (
    sql: Statements,
    { id, by, at }: { readonly id: string; readonly by: string; readonly at: number },
  ): BreakGlassRow | null => {
    endBreakGlasses(sql, at)
    if (
      sql.run(`UPDATE break_glass SET closed_by = ?, closed_at = ? WHERE id = ? AND ${IN_FORCE}`, by, at, id, at) === 1
    )
      journal(sql, 'break_glass', id)
    const row = sql.get('SELECT * FROM break_glass WHERE id = ?', id)
    return row === undefined ? null : breakGlass(row)
  },

  /** When several are open, the one that ends last counts the call. */
  useBreakGlass: (
    sql: Statements,
    { route, at }: { readonly route: string; readonly at: number },
  ): BreakGlassRow | null => {
    endBreakGlasses(sql, at)
    const row = sql.get(
      `UPDATE break_glass SET calls = calls + 1 WHERE id =
         (SELECT id FROM break_glass WHERE route = ? AND ${IN_FORCE} ORDER BY expires_at DESC, id LIMIT 1)
       RETURNING *`,
      route,
      at,
    )
    return row === undefined ? null : breakGlass(row)
  },
} as const

/** Records the end of exceptions whose time has passed: setting the clock back does not make them valid again. */
export function endBreakGlasses(sql: Statements, at: number): void {
  const ended = sql.all(
    'SELECT id FROM break_glass WHERE closed_at IS NULL AND ended_at IS NULL AND expires_at <= ?',
    at,
  )
  for (const row of ended) {
    sql.run('UPDATE break_glass SET ended_at = ? WHERE id = ?', at, text(row, 'id'))
    journal(sql, 'break_glass', text(row, 'id'))
  }
}

function breakGlass(row: SqlRow): BreakGlassRow {
  return {
    id: text(row, 'id'),
    route: text(row, 'route'),
    reason: text(row, 'reason'),
    openedBy: text(row, 'opened_by'),
    openedAt: integer(row, 'opened_at'),
    expiresAt: integer(row, 'expires_at'),
    closedBy: textOrNull(row, 'closed_by'),
    closedAt: integerOrNull(row, 'closed_at'),
    endedAt: integerOrNull(row, 'ended_at'),
    calls: integer(row, 'calls'),
  }
}
