/** Operations on the candidates of routes next to their baselines, and on the stamps of baselines. */
import type { CandidateRow } from '../store.ts'
import { integer, text, type SqlRow, type Statements } from './statements.ts'

/** Candidates of one route that are known to have been announced. */
const MAX_ANNOUNCED = 1000

export const candidateReads = {
  /** Without the content, which can be large. */
  baselineStamp: (sql: Statements, args: { readonly route: string; readonly artifactId: string }) => {
    const row = sql.get(
      'SELECT digest, set_at FROM baselines WHERE route = ? AND artifact_id = ?',
      args.route,
      args.artifactId,
    )
    return row === undefined ? null : { digest: text(row, 'digest'), setAt: integer(row, 'set_at') }
  },
  baselineCandidate: (sql: Statements, route: string): CandidateRow | null => {
    const row = sql.get('SELECT * FROM baseline_candidates WHERE route = ?', route)
    return row === undefined ? null : candidate(row)
  },
  baselineCandidates: (sql: Statements): readonly CandidateRow[] =>
    sql.all('SELECT * FROM baseline_candidates ORDER BY route').map(candidate),
} as const

export const candidateWrites = {
  setBaselineCandidate: (sql: Statements, row: CandidateRow): null => {
    sql.run(
      `INSERT INTO baseline_candidates (route, type, content, digest, seen_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET type = excluded.type, content = excluded.content, digest = excluded.digest,
         seen_at = CASE digest WHEN excluded.digest THEN seen_at ELSE excluded.seen_at END`,
      row.route,
      row.type,
      row.content,
      row.digest,
      row.seenAt,
    )
    return null
  },
  announceCandidate: (
    sql: Statements,
    { route, digest, at }: { readonly route: string; readonly digest: string; readonly at: number },
  ): boolean => {
    const added = sql.run(
      'INSERT OR IGNORE INTO announced_candidates (route, digest, at) VALUES (?, ?, ?)',
      route,
      digest,
      at,
    )
    if (added === 0) return false
    // An upstream that offers another contract to each caller must not fill the disk.
    sql.run(
      `DELETE FROM announced_candidates WHERE route = ? AND digest NOT IN
         (SELECT digest FROM announced_candidates WHERE route = ? ORDER BY at DESC LIMIT ?)`,
      route,
      route,
      MAX_ANNOUNCED,
    )
    return true
  },
  dropBaselineCandidate: (sql: Statements, route: string): null => {
    sql.run('DELETE FROM baseline_candidates WHERE route = ?', route)
    return null
  },
} as const

function candidate(row: SqlRow): CandidateRow {
  return {
    route: text(row, 'route'),
    type: text(row, 'type'),
    content: text(row, 'content'),
    digest: text(row, 'digest'),
    seenAt: integer(row, 'seen_at'),
  }
}
