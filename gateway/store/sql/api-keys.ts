/** Statements on API keys and sign-ups. */
import type { ApiKey, ApiKeys, Role } from '../api-keys.ts'
import { integer, integerOrNull, oneOf, text, textList, type SqlRow } from './columns.ts'
import { journal } from './journal.ts'
import { read, write, type Operations, type Sql } from './operation.ts'

const ROLES = ['agent', 'approver', 'admin'] as const satisfies readonly Role[]

export const apiKeys: Operations<ApiKeys> = {
  byHash: read(async (sql, hash) => {
    const row = await sql.get('SELECT * FROM api_keys WHERE hash = ?', hash)
    return row === undefined ? null : apiKey(row)
  }),

  list: read(async (sql) => (await sql.all('SELECT * FROM api_keys ORDER BY created_at, hash')).map(apiKey)),

  create: write(insert),

  revoke: write(async (sql, hash, at) => {
    const found = await sql.run('UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE hash = ?', at, hash)
    if (found === 1) await journal(sql, 'api_key', hash)
    return found === 1
  }),

  signUp: write(async (sql, key, mail) => {
    const added = await sql.run(
      'INSERT INTO signups (mail, audience, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      mail,
      key.audience,
      key.createdAt,
    )
    if (added === 1) await insert(sql, key)
    return added === 1
  }),
}

async function insert(sql: Sql, key: ApiKey): Promise<void> {
  await sql.run(
    `INSERT INTO api_keys (hash, audience, tenant, name, role, plan, groups_of_key, created_at, revoked_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    key.hash,
    key.audience,
    key.tenant,
    key.name,
    key.role,
    key.plan,
    JSON.stringify(key.groups),
    key.createdAt,
    key.revokedAt,
  )
  await journal(sql, 'api_key', key.hash)
}

function apiKey(row: SqlRow): ApiKey {
  return {
    hash: text(row, 'hash'),
    audience: text(row, 'audience'),
    tenant: text(row, 'tenant'),
    name: text(row, 'name'),
    role: oneOf(ROLES, row, 'role'),
    plan: text(row, 'plan'),
    groups: textList(row, 'groups_of_key'),
    createdAt: integer(row, 'created_at'),
    revokedAt: integerOrNull(row, 'revoked_at'),
  }
}
