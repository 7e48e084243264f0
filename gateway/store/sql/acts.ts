/** Statements on acts that wait for their entry in the decision log. */
import type { EntryFacts } from '../../telemetry/decision-log/entry.ts'
import type { ActRow, Acts } from '../acts.ts'
import { integer, text, type SqlRow } from './columns.ts'
import { write, type Operations } from './operation.ts'

export const acts: Operations<Acts> = {
  add: write(async (sql, { id, at, isLogged, facts }) => {
    await sql.run(
      'INSERT INTO acts (id, at, is_logged, facts, claimed_until) VALUES (?, ?, ?, ?, 0) ON CONFLICT DO NOTHING',
      id,
      at,
      isLogged ? 1 : 0,
      JSON.stringify(facts),
    )
  }),

  claim: write(async (sql, now, until, limit) => {
    const rows = await sql.all('SELECT * FROM acts WHERE claimed_until <= ? ORDER BY at, id LIMIT ?', now, limit)
    const claimed: ActRow[] = []
    for (const row of rows.map(actRow)) {
      const won = await sql.run(
        'UPDATE acts SET claimed_until = ?, is_logged = 1 WHERE id = ? AND claimed_until <= ?',
        until,
        row.id,
        now,
      )
      if (won === 1) claimed.push(row)
    }
    return claimed
  }),

  remove: write(async (sql, id) => {
    await sql.run('DELETE FROM acts WHERE id = ?', id)
  }),
}

function actRow(row: SqlRow): ActRow {
  const facts: EntryFacts = JSON.parse(text(row, 'facts'))
  return { id: text(row, 'id'), at: integer(row, 'at'), isLogged: integer(row, 'is_logged') === 1, facts }
}
