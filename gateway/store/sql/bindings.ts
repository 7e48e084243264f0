/** Statements on bindings of tenants to repositories, and on the challenges that prove them (docs/reference/api.md#bindings). */
import type { BindingRow, Bindings, ChallengeRow } from '../bindings.ts'
import { integer, oneOf, text, type SqlRow } from './columns.ts'
import { journal } from './journal.ts'
import { lockText, read, write, type Operations } from './operation.ts'

const PLATFORMS = ['scm_a', 'scm_b', 'scm_c'] as const satisfies readonly BindingRow['platform'][]

export const bindings: Operations<Bindings> = {
  list: read(async (sql, tenant) =>
    (await sql.all('SELECT * FROM bindings WHERE tenant = ? ORDER BY platform, repository', tenant)).map(binding),
  ),

  /** The time of the last proof stays. */
  record: write(async (sql, row) => {
    await lockText(sql, `binding ${row.tenant} ${row.platform} ${row.repository.toLowerCase()}`)
    // In any letter case it is the same repository; its first spelling stays.
    const known = await sql.get(
      `UPDATE bindings SET proven_at = ?, proven_by = ?
       WHERE tenant = ? AND platform = ? AND lower(repository) = lower(?) RETURNING repository`,
      row.provenAt,
      row.provenBy,
      row.tenant,
      row.platform,
      row.repository,
    )
    if (known === undefined)
      await sql.run(
        'INSERT INTO bindings (tenant, platform, repository, proven_at, proven_by) VALUES (?, ?, ?, ?, ?)',
        row.tenant,
        row.platform,
        row.repository,
        row.provenAt,
        row.provenBy,
      )
    const spelling = known === undefined ? row.repository : text(known, 'repository')
    await journal(sql, 'binding', row.tenant, row.platform, spelling)
  }),

  /** Challenges that can no longer be proven are deleted with the next one. */
  openChallenge: write(async (sql, row) => {
    await sql.run('DELETE FROM binding_challenges WHERE expires_at <= ?', row.createdAt)
    await sql.run(
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
  }),

  challenge: read(async (sql, tenant, challengeId) => {
    const row = await sql.get(
      'SELECT * FROM binding_challenges WHERE tenant = ? AND challenge_id = ?',
      tenant,
      challengeId,
    )
    return row === undefined ? null : challenge(row)
  }),
}

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
