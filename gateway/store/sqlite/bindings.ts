/** Operations on bindings of tenants to repositories, and on the challenges that prove them (docs/reference/api.md#bindings). */
import type { BindingRow, ChallengeRow } from '../store.ts'
import { journal } from './journal.ts'
import { integer, oneOf, text, type SqlRow, type Statements } from './statements.ts'

const PLATFORMS = ['scm_a', 'scm_b', 'scm_c'] as const satisfies readonly BindingRow['platform'][]

export const bindingReads = {
  bindings: (sql: Statements, tenant: string): readonly BindingRow[] =>
    sql.all('SELECT * FROM bindings WHERE tenant = ? ORDER BY platform, repository', tenant).map(binding),
  challenge: (
    sql: Statements,
    args: { readonly tenant: string; readonly challengeId: string },
  ): ChallengeRow | null => {
    const row = sql.get(
      'SELECT * FROM binding_challenges WHERE tenant = ? AND challenge_id = ?',
      args.tenant,
      args.challengeId,
    )
    return row === undefined ? null : challenge(row)
  },
} as const

export const bindingWrites = {
  /** Challenges that can no longer be proven are deleted with the next one. */
  openChallenge: (sql: Statements, row: ChallengeRow): null => {
    sql.run('DELETE FROM binding_challenges WHERE expires_at <= ?', row.createdAt)
    sql.run(
      `INSERT INTO binding_challenges (challenge_id, tenant, platform, repository, marker, created_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      row.challengeId,
      row.tenant,
      row.platform,
      row.repository,
      row.marker,
      row.createdAt,
      row.expiresAt,
    )
    return null
  },

  /** The time of the last proof stays. */
  recordBinding: (sql: Statements, row: BindingRow): null => {
    sql.run(
      `INSERT INTO bindings (tenant, platform, repository, proven_at, proven_by) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET proven_at = excluded.proven_at, proven_by = excluded.proven_by`,
      row.tenant,
      row.platform,
      row.repository,
      row.provenAt,
      row.provenBy,
    )
    journal(sql, 'binding', row.tenant, row.platform, row.repository)
    return null
  },
} as const

function binding(row: SqlRow): BindingRow {
  return {
    tenant: text(row, 'tenant'),
    platform: oneOf(PLATFORMS, row, 'platform'),
    repository: text(row, 'repository'),
    provenAt: integer(row, 'proven_at'),
    provenBy: text(row, 'proven_by'),
  }
}

function challenge(row: SqlRow): ChallengeRow {
  return {
    challengeId: text(row, 'challenge_id'),
    tenant: text(row, 'tenant'),
    platform: oneOf(PLATFORMS, row, 'platform'),
    repository: text(row, 'repository'),
    marker: text(row, 'marker'),
    createdAt: integer(row, 'created_at'),
    expiresAt: integer(row, 'expires_at'),
  }
}
