/** Statements on status lists. The states come from the events of the receipts, so there is nothing to keep in step. */
import type { StatusLists } from '../status-lists.ts'
import { integer, text } from './columns.ts'
import { joinedTexts, read, write, type Operations } from './operation.ts'
import { receiptStateOf } from './receipts.ts'

export const statusLists: Operations<StatusLists> = {
  open: write(async (sql, { list, uri, size, openedAt }) => {
    await sql.run(
      'INSERT INTO status_lists (list, uri, size, opened_at) VALUES (?, ?, ?, ?)',
      list,
      uri,
      size,
      openedAt,
    )
  }),

  byId: read(async (sql, list) => {
    const row = await sql.get('SELECT uri, size, opened_at FROM status_lists WHERE list = ?', list)
    if (row === undefined) return null
    const ended = await sql.all(
      `SELECT d.status_index, ${joinedTexts(sql, 'e.state')} AS states
       FROM decisions d JOIN receipt_events e ON e.decision_id = d.decision_id
       WHERE d.status_list = ? GROUP BY d.status_index`,
      list,
    )
    return {
      list,
      uri: text(row, 'uri'),
      size: integer(row, 'size'),
      openedAt: integer(row, 'opened_at'),
      states: ended.map((entry) => [integer(entry, 'status_index'), receiptStateOf(text(entry, 'states'))] as const),
    }
  }),
}
