/** Statements on the keys behind grants: which grants of a pending request still count, and for which groups. */
import type { Grant } from '../approvers.ts'
import { OF_SIGN_IN } from './api-keys.ts'
import { integerOrNull, text, textList } from './columns.ts'
import type { Sql } from './operation.ts'

/**
 * Until a request is decided, the grant of a key that was revoked does not count. The grant of a key that has left a group does not
 * count for this group. The key of a sign-in is revoked by the sign-out of its person, whose grant stays.
 */
export async function grantsInForce(sql: Sql, grants: readonly Grant[]): Promise<readonly Grant[]> {
  const standing: Grant[] = []
  for (const grant of grants) {
    const key = await keyOfGrant(sql, grant.by)
    if (key?.isRevoked === true) continue
    const principals = await principalsOf(sql, grant)
    const holders = principals.length === 0 ? [key] : await Promise.all(principals.map((by) => keyOfGrant(sql, by)))
    const isHeld = (group: string): boolean => holders.some((holder) => holder?.groups.includes(group) ?? true)
    standing.push({ ...grant, groups: grant.groups.filter(isHeld) })
  }
  return standing
}

/** Null: a person of a provider, or the key of a sign-in: the groups when it granted count. */
async function keyOfGrant(
  sql: Sql,
  by: string,
): Promise<{ readonly isRevoked: boolean; readonly groups: readonly string[] } | null> {
  const key = await sql.get(
    `SELECT k.groups_of_key, k.revoked_at FROM api_keys k LEFT JOIN api_key_terms t ON t.hash = k.hash
     WHERE k.audience = ? AND NOT coalesce(${OF_SIGN_IN}, FALSE)`,
    by,
  )
  if (key === undefined) return null
  const isRevoked = integerOrNull(key, 'revoked_at') !== null
  return { isRevoked, groups: isRevoked ? [] : textList(key, 'groups_of_key') }
}

/** Whose groups somebody granted with, as a delegate. */
async function principalsOf(sql: Sql, { by, groups }: Grant): Promise<readonly string[]> {
  const rows = await sql.all(
    "SELECT DISTINCT text FROM approval_steps WHERE kind = 'acting' AND by_whom = ? AND groups_of_step = ?",
    by,
    JSON.stringify(groups),
  )
  return rows.map((row) => text(row, 'text'))
}
