/** Statements on monitoring windows. */
import { RefusedRowError } from '../store.ts'
import type { MonitoringWindowRow, Windows } from '../windows.ts'
import { integer, integerOrNull, oneOf, text, nullableText, type SqlRow } from './columns.ts'
import { read, statement, type Operations } from './operation.ts'

const OBSERVERS = ['gateway', 'caller'] as const satisfies readonly MonitoringWindowRow['observer'][]

/** What a window is; the rest is its outcome. */
const SAME_WINDOW = ['correlation_id', 'decision_id', 'tenant', 'route', 'observer', 'opened_at']

export const windows: Operations<Windows> = {
  open: statement(async (sql, row) => {
    // A repeated row changes nothing; it may have been closed meanwhile.
    const found = await sql.run(
      `INSERT INTO monitoring_windows
         (window_id, correlation_id, decision_id, tenant, route, observer, opened_at, closed_at, outcome)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (window_id) DO UPDATE SET window_id = excluded.window_id
       WHERE ${SAME_WINDOW.map((column) => `monitoring_windows.${column} IS NOT DISTINCT FROM excluded.${column}`).join(' AND ')}`,
      row.windowId,
      row.correlationId,
      row.decisionId,
      row.tenant,
      row.route,
      row.observer,
      row.openedAt,
      row.closedAt,
      row.outcome,
    )
    if (found === 0) throw new RefusedRowError(`the window ${row.windowId} is another one`)
  }),

  close: statement(async (sql, windowId, outcome, at) => {
    const closed = await sql.run(
      'UPDATE monitoring_windows SET closed_at = ?, outcome = ? WHERE window_id = ? AND closed_at IS NULL',
      at,
      outcome,
      windowId,
    )
    return closed === 1
  }),

  listOpen: read(async (sql) =>
    (await sql.all('SELECT * FROM monitoring_windows WHERE closed_at IS NULL ORDER BY opened_at')).map(window),
  ),
}

function window(row: SqlRow): MonitoringWindowRow {
  return {
    windowId: text(row, 'window_id'),
    correlationId: text(row, 'correlation_id'),
    decisionId: text(row, 'decision_id'),
    tenant: text(row, 'tenant'),
    route: nullableText(row, 'route'),
    observer: oneOf(OBSERVERS, row, 'observer'),
    openedAt: integer(row, 'opened_at'),
    closedAt: integerOrNull(row, 'closed_at'),
    outcome: nullableText(row, 'outcome'),
  }
}
