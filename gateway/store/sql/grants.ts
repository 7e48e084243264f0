/** Statements on the keys behind grants: which grants of a request count, and for which groups. */
import type { ApprovalRow } from '../approvals.ts'
import type { Grant } from '../approvers.ts'
import { OF_SIGN_IN } from './api-keys.ts'
import { integerOrNull, text, textList } from './columns.ts'
import { isIn, type Sql } from './operation.ts'

interface KeyState {
  /** Milliseconds since the epoch; null: it is not revoked. */
  readonly revokedAt: number | null
  readonly groups: readonly string[]
}

/** By audience. Missing: a person of a provider, or the key of a sign-in, whose groups when it granted count. */
type KeyStates = ReadonlyMap<string, KeyState>

/**
 * Until a request is decided, the grant of a key that was revoked does not count. The grant of a key that has left a group does not
 * count for this group. The key of a sign-in is revoked by the sign-out of its person, whose grant stays. Of a grant by a delegated
 * right, the key of the principal decides on the groups.
 */
export async function grantsInForce(sql: Sql, grants: readonly Grant[]): Promise<readonly Grant[]> {
  return stillInForce(grants, await keyStates(sql, grants))
}

/** Requests with the grants that count: those of a pending one as their keys are now, those of a decided one as they were then. */
export async function withGrantsInForce(sql: Sql, rows: readonly ApprovalRow[]): Promise<readonly ApprovalRow[]> {
  const keys = await keyStates(
    sql,
    rows.flatMap(({ grants }) => grants),
  )
  return rows.map((row) => {
    const { grants, result } = row
    return { ...row, grants: result === null ? stillInForce(grants, keys) : inForceAt(result.at, grants, keys) }
  })
}

function stillInForce(grants: readonly Grant[], keys: KeyStates): readonly Grant[] {
  return grants
    .filter(({ by }) => (keys.get(by)?.revokedAt ?? null) === null)
    .map((grant) => {
      const holder = keys.get(grant.principal ?? grant.by)
      const held = holder?.revokedAt == null ? holder?.groups : []
      return { ...grant, groups: held === undefined ? grant.groups : grant.groups.filter((one) => held.includes(one)) }
    })
}

/** Which groups a key was in then is not known: those when it granted count. */
function inForceAt(at: number, grants: readonly Grant[], keys: KeyStates): readonly Grant[] {
  const wasRevoked = (audience: string): boolean => (keys.get(audience)?.revokedAt ?? Number.POSITIVE_INFINITY) <= at
  return grants
    .filter(({ by }) => !wasRevoked(by))
    .map((grant) => (wasRevoked(grant.principal ?? grant.by) ? { ...grant, groups: [] } : grant))
}

async function keyStates(sql: Sql, grants: readonly Grant[]): Promise<KeyStates> {
  const audiences = new Set(grants.flatMap(({ by, principal }) => [by, ...(principal == null ? [] : [principal])]))
  if (audiences.size === 0) return new Map()
  const rows = await sql.all(
    `SELECT k.audience, k.groups_of_key, k.revoked_at FROM api_keys k LEFT JOIN api_key_terms t ON t.hash = k.hash
     WHERE ${isIn(sql, 'k.audience')} AND NOT coalesce(${OF_SIGN_IN}, FALSE)`,
    JSON.stringify([...audiences]),
  )
  return new Map(
    rows.map((row) => [
      text(row, 'audience'),
      { revokedAt: integerOrNull(row, 'revoked_at'), groups: textList(row, 'groups_of_key') },
    ]),
  )
}
