/** Statements on delegations: which approver hands which groups to whom, and with whose right a person grants. */
import type { Approvers } from '../../../engine/internal.ts'
import type { Delegation, DelegationEnd, DelegationRow } from '../approvals.ts'
import { mayGrant, stillRequired, type Grant } from '../approvers.ts'
import { identitiesOf } from './api-keys.ts'
import { integer, integerOrNull, text, textList, nullableText, type SqlRow } from './columns.ts'
import { journal } from './journal.ts'
import type { Sql } from './operation.ts'

interface Occasion {
  readonly tenant: string
  readonly approvalId: string
  /** Every identity of the person who grants. */
  readonly person: readonly string[]
  readonly own: readonly string[]
  readonly required: Approvers
  /** Grants that count already. */
  readonly before: readonly Grant[]
  /** Whose right cannot be used: those who asked, and those who have granted. */
  readonly excluded: readonly string[]
  readonly at: number
}

interface ApproverRight {
  readonly groups: readonly string[]
  /** Whose right it is; null: the person's own. */
  readonly principal: string | null
}

/** The right with which a person grants: the own one, else a delegated one that is still required. Null: there is none. */
export async function rightOf(sql: Sql, occasion: Occasion): Promise<ApproverRight | null> {
  const { person, own, required, before, excluded } = occasion
  const left = stillRequired(required, before)
  if (mayGrant(left, own)) return { groups: own, principal: null }
  for (const delegation of await delegationsTo(sql, occasion)) {
    const principals = await identitiesOf(sql, delegation.by)
    if (principals.some((identity) => excluded.includes(identity) || person.includes(identity))) continue
    const groups = await groupsStillHeld(sql, delegation, occasion.at)
    if (groups.length > 0 && mayGrant(left, groups)) return { groups, principal: delegation.by }
  }
  return mayGrant(required, own) ? { groups: own, principal: null } : null
}

async function delegationsTo(
  sql: Sql,
  { tenant, approvalId, person, at }: Occasion,
): Promise<readonly DelegationRow[]> {
  const found: DelegationRow[] = []
  for (const identity of person) {
    const rows = await sql.all(
      `SELECT * FROM approval_delegations WHERE tenant = ? AND to_whom = ? AND until > ? AND ended_at IS NULL
         AND (approval_id IS NULL OR approval_id = ?) ORDER BY at, delegation_id`,
      tenant,
      identity,
      at,
      approvalId,
    )
    found.push(...rows.map(delegationOf))
  }
  return found
}

/** A key that was revoked, has ended or left a group has nothing to hand over any more. */
async function groupsStillHeld(sql: Sql, { by, groups }: Delegation, at: number): Promise<readonly string[]> {
  const key = await sql.get(
    `SELECT k.groups_of_key, k.role, k.revoked_at, t.expires_at FROM api_keys k
     LEFT JOIN api_key_terms t ON t.hash = k.hash WHERE k.audience = ?`,
    by,
  )
  // A person of a provider: what the provider named when it was handed over counts until its end.
  if (key === undefined) return groups
  const end = integerOrNull(key, 'expires_at')
  if (integerOrNull(key, 'revoked_at') !== null || (end !== null && end <= at)) return []
  const held = textList(key, 'groups_of_key')
  return groups.filter((group) => held.includes(group))
}

export async function insertDelegation(sql: Sql, delegation: Delegation): Promise<void> {
  const { delegationId, tenant, by, groups, to, approvalId, reason, at, until } = delegation
  await sql.run(
    `INSERT INTO approval_delegations
       (delegation_id, tenant, by_whom, groups_of_delegation, to_whom, approval_id, reason, at, until)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    delegationId,
    tenant,
    by,
    JSON.stringify(groups),
    to,
    approvalId,
    reason,
    at,
    until,
  )
  await journal(sql, 'approval_delegation', delegationId)
}

export async function listDelegations(sql: Sql, tenant: string, limit: number): Promise<readonly DelegationRow[]> {
  const rows = await sql.all(
    'SELECT * FROM approval_delegations WHERE tenant = ? ORDER BY at DESC, delegation_id LIMIT ?',
    tenant,
    limit,
  )
  return rows.map(delegationOf)
}

export async function endDelegation(
  sql: Sql,
  tenant: string,
  delegationId: string,
  { by, at }: DelegationEnd,
): Promise<boolean> {
  const ended = await sql.run(
    `UPDATE approval_delegations SET ended_at = ?, ended_by = ?
     WHERE tenant = ? AND delegation_id = ? AND ended_at IS NULL AND until > ?`,
    at,
    by,
    tenant,
    delegationId,
    at,
  )
  if (ended === 1) await journal(sql, 'approval_delegation', delegationId)
  return ended === 1
}

function delegationOf(row: SqlRow): DelegationRow {
  const endedAt = integerOrNull(row, 'ended_at')
  return {
    delegationId: text(row, 'delegation_id'),
    tenant: text(row, 'tenant'),
    by: text(row, 'by_whom'),
    groups: textList(row, 'groups_of_delegation'),
    to: text(row, 'to_whom'),
    approvalId: nullableText(row, 'approval_id'),
    reason: text(row, 'reason'),
    at: integer(row, 'at'),
    until: integer(row, 'until'),
    ended: endedAt === null ? null : { at: endedAt, by: nullableText(row, 'ended_by') ?? '' },
  }
}
