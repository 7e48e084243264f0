/** Statements on the baselines of routes, and on the candidates next to them. */
import type { BaselineRow, Baselines, CandidateRow } from '../baselines.ts'
import { integer, oneOf, text, type SqlRow } from './columns.ts'
import { journal } from './journal.ts'
import { recordNotice } from './notifications.ts'
import { read, statement, write, type Operations } from './operation.ts'

const SOURCES = ['file', 'url', 'git', 'first_use', 'promotion'] as const satisfies readonly BaselineRow['source'][]

/** Candidates of one route that are known to have been announced. */
const MAX_ANNOUNCED = 1000

const BY_KEY = 'SELECT * FROM baselines WHERE route = ? AND artifact_id = ?'

export const baselines: Operations<Baselines> = {
  byRoute: read(async (sql, route, artifactId) => {
    const row = await sql.get(BY_KEY, route, artifactId)
    return row === undefined ? null : baseline(row)
  }),

  /** Without the content, which can be large. */
  stamp: read(async (sql, route, artifactId) => {
    const row = await sql.get(
      'SELECT digest, set_at FROM baselines WHERE route = ? AND artifact_id = ?',
      route,
      artifactId,
    )
    return row === undefined ? null : { digest: text(row, 'digest'), setAt: integer(row, 'set_at') }
  }),

  list: read(async (sql) => (await sql.all('SELECT * FROM baselines ORDER BY route, artifact_id')).map(baseline)),

  set: write(async (sql, row, over) => {
    const changed = await sql.run(
      `INSERT INTO baselines (route, artifact_id, type, content, digest, source, set_by, set_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (route, artifact_id) DO UPDATE SET type = excluded.type, content = excluded.content,
         digest = excluded.digest, source = excluded.source, set_by = excluded.set_by, set_at = excluded.set_at
       WHERE baselines.digest = ?`,
      row.route,
      row.artifactId,
      row.type,
      row.content,
      row.digest,
      row.source,
      row.setBy,
      row.setAt,
      // No digest is empty: nothing that is there is replaced.
      over ?? '',
    )
    if (changed > 0) {
      await journal(sql, 'baseline', row.route, row.artifactId)
      return row
    }
    const inForce = await sql.get(BY_KEY, row.route, row.artifactId)
    if (inForce === undefined) throw new TypeError(`the baseline of ${row.route} is gone`)
    return baseline(inForce)
  }),

  candidate: read(async (sql, route) => {
    const row = await sql.get('SELECT * FROM baseline_candidates WHERE route = ?', route)
    return row === undefined ? null : candidate(row)
  }),

  candidates: read(async (sql) => (await sql.all('SELECT * FROM baseline_candidates ORDER BY route')).map(candidate)),

  setCandidate: statement(async (sql, row) => {
    await sql.run(
      `INSERT INTO baseline_candidates (route, type, content, digest, seen_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (route) DO UPDATE SET type = excluded.type, content = excluded.content, digest = excluded.digest,
         seen_at = CASE baseline_candidates.digest WHEN excluded.digest THEN baseline_candidates.seen_at
           ELSE excluded.seen_at END`,
      row.route,
      row.type,
      row.content,
      row.digest,
      row.seenAt,
    )
  }),

  dropCandidate: statement(async (sql, route) => {
    await sql.run('DELETE FROM baseline_candidates WHERE route = ?', route)
  }),

  announceCandidate: write(async (sql, route, digest, at) => {
    const added = await sql.run(
      'INSERT INTO announced_candidates (route, digest, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      route,
      digest,
      at,
    )
    if (added === 0) return false
    // An upstream that offers another contract to each caller must not fill the disk.
    await sql.run(
      `DELETE FROM announced_candidates WHERE route = ? AND digest NOT IN
         (SELECT digest FROM announced_candidates WHERE route = ? ORDER BY at DESC LIMIT ?)`,
      route,
      route,
      MAX_ANNOUNCED,
    )
    await recordNotice(sql, { kind: 'baseline.candidate', subject: route, tenant: 'local', at })
    return true
  }),
}

function baseline(row: SqlRow): BaselineRow {
  return {
    route: text(row, 'route'),
    artifactId: text(row, 'artifact_id'),
    type: text(row, 'type'),
    content: text(row, 'content'),
    digest: text(row, 'digest'),
    source: oneOf(SOURCES, row, 'source'),
    setBy: text(row, 'set_by'),
    setAt: integer(row, 'set_at'),
  }
}

function candidate(row: SqlRow): CandidateRow {
  return {
    route: text(row, 'route'),
    type: text(row, 'type'),
    content: text(row, 'content'),
    digest: text(row, 'digest'),
    seenAt: integer(row, 'seen_at'),
  }
}
