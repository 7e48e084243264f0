/** Observed use: counts by tool or operation and consumer, bounded, deleted after the window. */
import type { KnownUse, ObservedUses } from '../store.ts'
import { integer, text, textOrNull, type Statements } from './statements.ts'

/** Counts all consumers past the limit. */
const OTHERS = 'others'

export const useReads = {
  usesOf: (
    sql: Statements,
    { artifacts, since }: { readonly artifacts: readonly string[]; readonly since: number },
  ): readonly KnownUse[] =>
    artifacts.flatMap((artifact) =>
      sql
        .all(
          `SELECT consumer, operation, tool FROM observed_uses WHERE target = ? AND last_at >= ?
           UNION SELECT consumer, operation, tool FROM observed_uses WHERE route = ? AND last_at >= ?`,
          artifact,
          since,
          artifact,
          since,
        )
        .map((row) => ({
          artifact,
          consumer: text(row, 'consumer'),
          operation: textOrNull(row, 'operation'),
          tool: textOrNull(row, 'tool'),
        })),
    ),
} as const

export const useWrites = {
  /** The existing salt, else this one: all processes on one store use the same name for a caller. */
  observationSalt: (sql: Statements, fresh: string): string => {
    sql.run(`INSERT OR IGNORE INTO secrets (name, value) VALUES ('observation-salt', ?)`, fresh)
    const row = sql.get(`SELECT value FROM secrets WHERE name = 'observation-salt'`)
    return row === undefined ? fresh : text(row, 'value')
  },

  recordUses: (sql: Statements, { uses, limit, since }: ObservedUses): null => {
    sql.run('DELETE FROM observed_uses WHERE last_at < ?', since)
    for (const use of uses) {
      const consumer = isKnown(sql, use) || hasRoom(sql, use.target, limit) ? use.consumer : OTHERS
      sql.run(
        `INSERT INTO observed_uses (target, consumer, route, operation, tool, calls, first_at, last_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, last_at = max(last_at, excluded.last_at)`,
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
    return null
  },
} as const

function isKnown(
  sql: Statements,
  { target, consumer }: { readonly target: string; readonly consumer: string },
): boolean {
  return sql.get('SELECT 1 FROM observed_uses WHERE target = ? AND consumer = ?', target, consumer) !== undefined
}

function hasRoom(sql: Statements, target: string, limit: number): boolean {
  const row = sql.get('SELECT count(*) AS held FROM observed_uses WHERE target = ?', target)
  return row !== undefined && integer(row, 'held') < limit
}
