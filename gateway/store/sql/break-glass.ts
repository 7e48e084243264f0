/** Statements on break-glass exceptions. A row is closed once, and counts its calls while it is open. */
import type { BreakGlassExceptions, BreakGlassRow } from '../break-glass.ts'
import { integer, integerOrNull, text, nullableText, type SqlRow } from './columns.ts'
import { journal } from './journal.ts'
import { recordNotice } from './notifications.ts'
import { read, write, type Operations, type Sql } from './operation.ts'

const IN_FORCE = 'closed_at IS NULL AND ended_at IS NULL AND expires_at > ?'

export const breakGlass: Operations<BreakGlassExceptions> = {
  list: read(async (sql, { openAt, route, limit }) => {
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
    const rows = await sql.all(
      `SELECT * FROM break_glass WHERE ${where} ORDER BY opened_at DESC, id LIMIT ?`,
      ...values,
      limit,
    )
    return rows.map(exception)
  }),

  open: write(async (sql, row) => {
    await sql.run(
      `INSERT INTO break_glass (id, route, reason, opened_by, opened_at, expires_at, calls)
       VALUES (?, ?, ?, ?, ?, ?, 0)`,
      row.id,
      row.route,
      row.reason,
      row.openedBy,
      row.openedAt,
      row.expiresAt,
    )
    await journal(sql, 'break_glass', row.id)
    await recordNotice(sql, { kind: 'break_glass.opened', subject: row.id, tenant: 'local', at: row.openedAt })
  }),

  close: write(async (sql, id, by, at) => {
    await endBreakGlasses(sql, at)
    const closed = await sql.run(
      `UPDATE break_glass SET closed_by = ?, closed_at = ? WHERE id = ? AND ${IN_FORCE}`,
      by,
      at,
      id,
      at,
    )
    if (closed === 1) {
      await journal(sql, 'break_glass', id)
      await recordNotice(sql, { kind: 'break_glass.closed', subject: id, tenant: 'local', at })
    }
    const row = await sql.get('SELECT * FROM break_glass WHERE id = ?', id)
    return row === undefined ? null : exception(row)
  }),

  use: write(async (sql, route, at) => {
    await endBreakGlasses(sql, at)
    const row = await sql.get(
      `UPDATE break_glass SET calls = calls + 1 WHERE id =
         (SELECT id FROM break_glass WHERE route = ? AND ${IN_FORCE} ORDER BY expires_at DESC, id LIMIT 1)
       RETURNING *`,
      route,
      at,
    )
    return row === undefined ? null : exception(row)
  }),
}

/** Records the end of exceptions whose time has passed: setting the clock back does not make them valid again. */
export async function endBreakGlasses(sql: Sql, at: number): Promise<void> {
  const ended = await sql.all(
    'SELECT id FROM break_glass WHERE closed_at IS NULL AND ended_at IS NULL AND expires_at <= ?',
    at,
  )
  for (const row of ended) {
    const changed = await sql.run(
      'UPDATE break_glass SET ended_at = ? WHERE id = ? AND ended_at IS NULL AND closed_at IS NULL',
      at,
      text(row, 'id'),
    )
    // Another gateway may have ended it meanwhile.
    if (changed === 1) await journal(sql, 'break_glass', text(row, 'id'))
  }
}

function exception(row: SqlRow): BreakGlassRow {
  return {
    id: text(row, 'id'),
    route: text(row, 'route'),
    reason: text(row, 'reason'),
    openedBy: text(row, 'opened_by'),
    openedAt: integer(row, 'opened_at'),
    expiresAt: integer(row, 'expires_at'),
    closedBy: nullableText(row, 'closed_by'),
    closedAt: integerOrNull(row, 'closed_at'),
    endedAt: integerOrNull(row, 'ended_at'),
    calls: integer(row, 'calls'),
  }
}
