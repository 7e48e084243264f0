/** Statements on observed use: counts by tool or operation and consumer, bounded, deleted after the window. */
import type { Uses } from '../uses.ts'
import { integer, text, nullableText } from './columns.ts'
import { read, write, type Operations, type Sql } from './operation.ts'

/** Counts all consumers past the limit. */
const OTHERS = 'others'

export const uses: Operations<Uses> = {
  of: read(async (sql, artifacts, since) => {
    if (artifacts.length === 0) return []
    const list = artifacts.map(() => '?').join(', ')
    const rows = await sql.all(
      `SELECT target AS artifact, consumer, operation, tool FROM observed_uses WHERE target IN (${list}) AND last_at >= ?
       UNION SELECT route, consumer, operation, tool FROM observed_uses WHERE route IN (${list}) AND last_at >= ?
       ORDER BY 1, 2`,
      ...artifacts,
      since,
      ...artifacts,
      since,
    )
    return rows.map((row) => ({
      artifact: text(row, 'artifact'),
      consumer: text(row, 'consumer'),
      operation: nullableText(row, 'operation'),
      tool: nullableText(row, 'tool'),
    }))
  }),

  /** The existing salt, else this one: all processes on one store use the same name for a caller. */
  salt: write(async (sql, fresh) => {
    await sql.run(`INSERT INTO secrets (name, value) VALUES ('observation-salt', ?) ON CONFLICT DO NOTHING`, fresh)
    const row = await sql.get(`SELECT value FROM secrets WHERE name = 'observation-salt'`)
    return row === undefined ? fresh : text(row, 'value')
  }),

  record: write(async (sql, { uses: observed, limit, since }) => {
    await sql.run('DELETE FROM observed_uses WHERE last_at < ?', since)
    for (const use of observed) {
      const consumer = (await isKnownUse(sql, use)) || (await hasRoom(sql, use.target, limit)) ? use.consumer : OTHERS
      await sql.run(
        `INSERT INTO observed_uses (target, consumer, route, operation, tool, calls, first_at, last_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (target, consumer) DO UPDATE SET calls = observed_uses.calls + excluded.calls,
           last_at = CASE WHEN observed_uses.last_at > excluded.last_at THEN observed_uses.last_at ELSE excluded.last_at END`,
        use.target,
        consumer,
        use.route,
        use.operation,
        use.tool,
        use.calls,
        use.at,
        use.at,
      )
    }
  }),
}

async function isKnownUse(
  sql: Sql,
  { target, consumer }: { readonly target: string; readonly consumer: string },
): Promise<boolean> {
  const row = await sql.get('SELECT 1 AS n FROM observed_uses WHERE target = ? AND consumer = ?', target, consumer)
  return row !== undefined
}

async function hasRoom(sql: Sql, target: string, limit: number): Promise<boolean> {
  const row = await sql.get('SELECT count(*) AS held FROM observed_uses WHERE target = ?', target)
  return row !== undefined && integer(row, 'held') < limit
}
