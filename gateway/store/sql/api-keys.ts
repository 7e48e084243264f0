/** Statements on API keys and sign-ups. */
import { ROLES, type ApiKey, type ApiKeyChange, type ApiKeys } from '../api-keys.ts'
import { integer, integerOrNull, oneOf, text, textList, nullableText, type SqlRow } from './columns.ts'
import { journal, journalRemoval } from './journal.ts'
import { read, write, type Operations, type Sql } from './operation.ts'

const SELECT = `
  SELECT k.*, t.expires_at, t.owner, u.used_at
  FROM api_keys k LEFT JOIN api_key_terms t ON t.hash = k.hash LEFT JOIN api_key_uses u ON u.hash = k.hash`

export const apiKeys: Operations<ApiKeys> = {
  byHash: read((sql, hash) => found(sql, hash)),

  list: read(async (sql) => (await sql.all(`${SELECT} ORDER BY k.created_at, k.hash`)).map(apiKey)),

  identities: read((sql, identity) => identitiesOf(sql, identity)),

  create: write(insertKey),

  revoke: write(async (sql, hash, at) => {
    const found = await sql.run('UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE hash = ?', at, hash)
    if (found === 1) await journal(sql, 'api_key', hash)
    return found === 1
  }),

  change: write((sql, hash, changed) => change(sql, hash, changed)),

  rotate: write(async (sql, hash, fresh, until) => {
    const old = await found(sql, hash)
    if (old === null || old.revokedAt !== null) return false
    await insertKey(sql, fresh)
    return change(sql, hash, { expiresAt: Math.min(until, old.expiresAt ?? until) })
  }),

  touch: write(async (sql, hash, at) => {
    await sql.run(
      'INSERT INTO api_key_uses (hash, used_at) VALUES (?, ?) ON CONFLICT (hash) DO UPDATE SET used_at = excluded.used_at',
      hash,
      at,
    )
  }),

  endExpired: write(async (sql, at) => {
    const rows = await sql.all('SELECT hash FROM api_key_terms WHERE expires_at > 0 AND expires_at <= ?', at)
    for (const row of rows) {
      const hash = text(row, 'hash')
      // Another gateway on the store may have been first.
      const ended = await sql.run(
        'UPDATE api_key_terms SET expires_at = -expires_at WHERE hash = ? AND expires_at > 0 AND expires_at <= ?',
        hash,
        at,
      )
      if (ended === 1) await journal(sql, 'api_key_terms', hash)
    }
  }),

  removeEndedSignIns: write(async (sql, before, limit) => {
    const rows = await sql.all(ENDED_SIGN_INS, before, before, limit)
    for (const row of rows) await remove(sql, text(row, 'hash'))
    return rows.length
  }),

  signUp: write(async (sql, key, mail) => {
    const added = await sql.run(
      'INSERT INTO signups (mail, audience, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      mail,
      key.audience,
      key.createdAt,
    )
    if (added === 1) await insertKey(sql, key)
    return added === 1
  }),
}

/** Columns that name who did something. */
const NAMING: readonly (readonly [table: string, column: string])[] = [
  ['approval_requesters', 'audience'],
  ['approvals', 'settled_by'],
  ['approval_steps', 'by_whom'],
  ['approval_delegations', 'by_whom'],
  ['approval_delegations', 'to_whom'],
  ['approval_delegations', 'ended_by'],
  ['baselines', 'set_by'],
  ['bindings', 'proven_by'],
  ['break_glass', 'opened_by'],
  ['break_glass', 'closed_by'],
  ['receipt_events', 'by'],
]

/** Whether the terms `t` of a key are those of a sign-in at a command line, or of a session of the console. */
export const OF_SIGN_IN = `(t.owner IS NOT NULL AND t.expires_at IS NOT NULL
  AND (substr(t.owner, 1, 5) = 'oidc:' OR substr(t.owner, 1, 8) = 'console:'))`

const ENDED_SIGN_INS = `
  SELECT k.hash FROM api_keys k JOIN api_key_terms t ON t.hash = k.hash
  WHERE ${OF_SIGN_IN} AND (abs(t.expires_at) < ? OR k.revoked_at < ?)
    AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.tenant = k.tenant AND d.audience = k.audience)
    ${NAMING.map(([table, column]) => `AND k.audience NOT IN (SELECT ${column} FROM ${table} WHERE ${column} IS NOT NULL)`).join(' ')}
  ORDER BY k.created_at, k.hash LIMIT ?`

async function remove(sql: Sql, hash: string): Promise<void> {
  await sql.run('DELETE FROM api_key_uses WHERE hash = ?', hash)
  // Another gateway on the store may have removed it.
  if ((await sql.run('DELETE FROM api_key_terms WHERE hash = ?', hash)) === 0) return
  await sql.run('DELETE FROM api_keys WHERE hash = ?', hash)
  await journalRemoval(sql, 'api_key_terms', hash)
  await journalRemoval(sql, 'api_key', hash)
}

async function insertKey(sql: Sql, key: ApiKey): Promise<void> {
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
  if (key.expiresAt !== null || key.owner !== null) await setTerms(sql, key.hash, key)
}

/** Keys of one owner count as one person. */
export async function identitiesOf(sql: Sql, identity: string): Promise<readonly string[]> {
  const rows = await sql.all(
    `SELECT k.audience FROM api_keys k JOIN api_key_terms t ON t.hash = k.hash
     WHERE t.owner = ? OR t.owner IN
       (SELECT o.owner FROM api_key_terms o JOIN api_keys m ON m.hash = o.hash WHERE m.audience = ? AND o.owner IS NOT NULL)`,
    identity,
    identity,
  )
  const owners = await sql.all(
    'SELECT t.owner FROM api_key_terms t JOIN api_keys k ON k.hash = t.hash WHERE k.audience = ? AND t.owner IS NOT NULL',
    identity,
  )
  return [
    ...new Set([identity, ...rows.map((row) => text(row, 'audience')), ...owners.map((row) => text(row, 'owner'))]),
  ]
}

async function found(sql: Sql, hash: string): Promise<ApiKey | null> {
  const row = await sql.get(`${SELECT} WHERE k.hash = ?`, hash)
  return row === undefined ? null : apiKey(row)
}

async function change(sql: Sql, hash: string, { groups, expiresAt, owner }: ApiKeyChange): Promise<boolean> {
  const old = await found(sql, hash)
  if (old === null) return false
  if (groups !== undefined) {
    await sql.run('UPDATE api_keys SET groups_of_key = ? WHERE hash = ?', JSON.stringify(groups), hash)
    await journal(sql, 'api_key', hash)
  }
  if (expiresAt !== undefined || owner !== undefined)
    await setTerms(sql, hash, {
      expiresAt: expiresAt === undefined ? old.expiresAt : expiresAt,
      owner: owner === undefined ? old.owner : owner,
    })
  return true
}

async function setTerms(
  sql: Sql,
  hash: string,
  { expiresAt, owner }: Pick<ApiKey, 'expiresAt' | 'owner'>,
): Promise<void> {
  await sql.run(
    `INSERT INTO api_key_terms (hash, expires_at, owner) VALUES (?, ?, ?)
     ON CONFLICT (hash) DO UPDATE SET expires_at = excluded.expires_at, owner = excluded.owner`,
    hash,
    expiresAt,
    owner,
  )
  await journal(sql, 'api_key_terms', hash)
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
    expiresAt: integerOrNull(row, 'expires_at'),
    owner: nullableText(row, 'owner'),
    usedAt: integerOrNull(row, 'used_at'),
  }
}
