/** Statements on requests for approval. Whether a request is still valid is checked inside one transaction. */
import type { ApprovalFilter, ApprovalOpening, ApprovalRow, Approvals, ApprovalState } from '../approvals.ts'
import { identitiesOf } from './api-keys.ts'
import { endBreakGlasses } from './break-glass.ts'
import { integer, ownersOf, text, nullableText, type SqlRow } from './columns.ts'
import { approvalRow, selectApprovals } from './approval-rows.ts'
import { addStep, approvalSteps, newStepId } from './approval-steps.ts'
import { countGrant } from './granting.ts'
import { endDelegation, insertDelegation, listDelegations } from './delegations.ts'
import { lockText, isIn, locked, read, write, type Operations, type Sql } from './operation.ts'
import { withGrantsInForce } from './grants.ts'
import { journal } from './journal.ts'
import { recordNotice } from './notifications.ts'
import { listByPages, readPage, type TablePage } from './pages.ts'

/** State → condition on the row and the time; a literal of this program, never a caller's text. */
const STATE_CONDITIONS: Readonly<Record<ApprovalState, string>> = {
  // Without an index on the time: most requests expire later.
  pending: 'a.settled_state IS NULL AND a.ended_at IS NULL AND +a.expires_at > ?',
  expired: 'a.settled_state IS NULL AND (a.ended_at IS NOT NULL OR a.expires_at <= ?)',
  granted: `a.settled_state = 'granted' AND CAST(? AS bigint) IS NOT NULL`,
  denied: `a.settled_state = 'denied' AND CAST(? AS bigint) IS NOT NULL`,
}

/** Its time has passed: for a request that is pending or denied, its end; for a grant, the end of its validity. */
const OVER = `(CASE a.settled_state WHEN 'granted' THEN a.valid_until ELSE a.expires_at END) <= ?`

/**
 * A request is in force while it is pending, while its grant is valid, and after a denial until its end: a new request cannot
 * bypass a denial.
 */
const STANDING = `a.ended_at IS NULL AND NOT ${OVER}`

export interface ApprovalTable extends Approvals {
  /**
   * One page of a list: an operation of its own, so that other operations run before the next one.
   * @param before the sequence that ended the page before; null: this is the first one
   */
  page(filter: ApprovalFilter, before: number | null): Promise<TablePage<ApprovalRow>>
}

export const approvals: Operations<ApprovalTable> = {
  tenants: read(async (sql, ids) =>
    ownersOf(
      await sql.all(
        `SELECT approval_id AS id, tenant FROM approvals WHERE ${isIn(sql, 'approval_id')}`,
        JSON.stringify(ids),
      ),
    ),
  ),

  byId: read((sql, tenant, approvalId) => ownRow(sql, tenant, approvalId)),

  list: read(async (sql, filter) =>
    listByPages(filter.limit, null, (limit, before) => pageOf(sql, { ...filter, limit }, before)),
  ),

  page: read(pageOf),

  pending: read(async (sql, { tenant, limit, now, after }) => {
    const place = after === undefined ? undefined : await placeOf(sql, 'expires_at, sequence', tenant, after)
    // Nothing comes after an unknown one.
    if (after !== undefined && place === undefined) return []
    const rows = await sql.all(
      `${selectApprovals(sql)} WHERE a.tenant = ? AND a.settled_state IS NULL AND a.ended_at IS NULL AND a.expires_at > ?
         ${place === undefined ? '' : 'AND (a.expires_at, a.sequence) > (?, ?)'} ORDER BY a.expires_at, a.sequence LIMIT ?`,
      tenant,
      now,
      ...(place === undefined ? [] : [integer(place, 'expires_at'), integer(place, 'sequence')]),
      limit,
    )
    return withGrantsInForce(sql, rows.map(approvalRow))
  }),

  waiting: read(async (sql, now) => {
    const row = await sql.get(
      `SELECT count(*) AS count, min(a.opened_at) AS oldest FROM approvals a WHERE ${STATE_CONDITIONS.pending}`,
      now,
    )
    return {
      count: row === undefined ? 0 : integer(row, 'count'),
      oldestAt: row === undefined || row['oldest'] === null ? null : integer(row, 'oldest'),
    }
  }),

  open: write(async (sql, opening) => {
    await lockText(sql, `approval ${opening.tenant} ${opening.key}`)
    await endApprovals(sql, opening.openedAt)
    const standing = await sql.get(
      `SELECT a.approval_id, a.settled_state FROM approvals a
       WHERE a.key = ? AND a.tenant = ? AND ${STANDING} ORDER BY a.sequence DESC LIMIT 1${locked(sql)}`,
      opening.key,
      // Sidecars of different tenants make equal keys: each of them calls its own tenant "local".
      opening.tenant,
      opening.openedAt,
    )
    const approvalId = standing === undefined ? await insertApproval(sql, opening) : text(standing, 'approval_id')
    // A caller that uses a grant did not ask for it: only callers that joined a pending request are requesters.
    if (opening.requester !== null && (standing === undefined || nullableText(standing, 'settled_state') === null))
      await sql.run(
        'INSERT INTO approval_requesters (approval_id, audience) VALUES (?, ?) ON CONFLICT DO NOTHING',
        approvalId,
        opening.requester,
      )
    await journal(sql, 'approval', approvalId)
    if (standing === undefined)
      await recordNotice(sql, {
        kind: 'approval.requested',
        subject: approvalId,
        tenant: opening.tenant,
        at: opening.openedAt,
      })
    const row = await ownRow(sql, opening.tenant, approvalId)
    if (row === null) throw new TypeError(`approval ${approvalId} is not there`)
    return row
  }),

  decide: write(async (sql, request) => {
    const { approvalId, tenant, state, by, groups, comment, at, validUntil, decidedIn = null } = request
    await endApprovals(sql, at)
    // Holds the row: two grants at one moment are counted one after the other.
    await sql.run('UPDATE approvals SET ended_at = NULL WHERE approval_id = ? AND ended_at IS NULL', approvalId)
    const row = await ownRow(sql, tenant, approvalId)
    if (row === null) return 'missing'
    if (row.result !== null || row.endedAt !== null || row.expiresAt <= at) return 'conflict'
    const person = await identitiesOf(sql, by)
    if (request.isFourEyes && row.requesters.some((requester) => person.includes(requester))) return 'own'
    // Any approver may deny.
    const counted =
      state === 'granted' ? await countGrant(sql, row, request, person) : ({ result: 'settled', groups } as const)
    if (counted.result !== 'settled') return counted.result
    await sql.run(
      `UPDATE approvals SET settled_state = ?, settled_by = ?, settled_groups = ?, settled_comment = ?,
         settled_at = ?, valid_until = ?, settled_in = ?
       WHERE approval_id = ?`,
      state,
      by,
      JSON.stringify(counted.groups),
      comment,
      at,
      validUntil,
      decidedIn,
      approvalId,
    )
    await journal(sql, 'approval', approvalId)
    await recordNotice(sql, { kind: `approval.${state}`, subject: approvalId, tenant, at })
    return 'settled'
  }),

  steps: read(async (sql, tenant, approvalId) =>
    (await ownRow(sql, tenant, approvalId)) === null ? [] : approvalSteps(sql, approvalId),
  ),

  comment: write(async (sql, tenant, step) => {
    if ((await ownRow(sql, tenant, step.approvalId)) === null) return false
    await addStep(sql, step)
    return true
  }),

  endMoot: write(async (sql, route, by, at) => {
    await endApprovals(sql, at)
    const rows = await sql.all(
      `SELECT approval_id, tenant, settled_state FROM approvals
       WHERE route = ? AND target_id IS NOT NULL AND settled_state IS NULL AND ended_at IS NULL AND opened_at <= ?`,
      route,
      at,
    )
    const ended: string[] = []
    for (const row of rows) {
      const approvalId = text(row, 'approval_id')
      if (!(await endOne(sql, row, at))) continue
      const reason = 'The baseline of the route changed, so this change can no longer occur.'
      await addStep(sql, { stepId: newStepId(), approvalId, kind: 'moot', by, groups: [], text: reason, at })
      await recordNotice(sql, { ...noticeOn(row), kind: 'approval.moot', at })
      ended.push(approvalId)
    }
    return ended
  }),

  remind: write(async (sql, at, expireUntil) => {
    const rows = await sql.all(
      `SELECT a.approval_id, a.tenant FROM approvals a WHERE ${STATE_CONDITIONS.pending} AND a.expires_at <= ?
         AND NOT EXISTS (SELECT 1 FROM approval_steps s WHERE s.approval_id = a.approval_id AND s.kind = 'reminder')`,
      at,
      expireUntil,
    )
    const reminded: string[] = []
    for (const row of rows) {
      const approvalId = text(row, 'approval_id')
      // The id is the same at every gateway, so one of them reminds.
      const stepId = `stp_reminder_${approvalId}`
      const step = { stepId, approvalId, kind: 'reminder', by: 'gateway', groups: [], text: '', at } as const
      if (!(await addStep(sql, step))) continue
      await recordNotice(sql, { ...noticeOn(row), kind: 'approval.reminder', at })
      reminded.push(approvalId)
    }
    return reminded
  }),

  delegate: write(async (sql, delegation) => {
    const { approvalId, tenant, by, groups, to, at } = delegation
    if (approvalId !== null) {
      const row = await ownRow(sql, tenant, approvalId)
      if (row === null || row.result !== null || row.endedAt !== null || row.expiresAt <= at) return false
      await addStep(sql, { stepId: newStepId(), approvalId, kind: 'delegated', by, groups, text: to, at })
      await recordNotice(sql, { kind: 'approval.delegated', subject: approvalId, tenant, at })
    }
    await insertDelegation(sql, delegation)
    return true
  }),

  delegations: read(listDelegations),

  endDelegation: write(endDelegation),

  endExpired: write(async (sql, at) => {
    await endBreakGlasses(sql, at)
    return endApprovals(sql, at)
  }),
}

async function pageOf(sql: Sql, filter: ApprovalFilter, before: number | null): Promise<TablePage<ApprovalRow>> {
  const { tenant, requester, state, limit, now } = filter
  const first = before ?? (await sequenceOf(sql, filter))
  const conditions = ['a.tenant = ?']
  const values: (string | number)[] = [tenant]
  if (state !== undefined) {
    conditions.push(STATE_CONDITIONS[state])
    values.push(now)
  }
  if (requester !== undefined) {
    conditions.push(
      'EXISTS (SELECT 1 FROM approval_requesters o WHERE o.approval_id = a.approval_id AND o.audience = ?)',
    )
    values.push(requester)
  }
  const where = conditions.join(' AND ')
  return readPage(sql, { table: 'approvals', tenant, before: first }, async (range) => {
    const rows = await sql.all(
      `${selectApprovals(sql)} WHERE ${where} AND a.sequence >= ? AND a.sequence < ? ORDER BY a.sequence DESC LIMIT ?`,
      ...values,
      range.from,
      range.before,
      limit,
    )
    return withGrantsInForce(sql, rows.map(approvalRow))
  })
}

/** Of the request that the list begins after; null: it begins with the newest. Nothing comes after an unknown one. */
async function sequenceOf(sql: Sql, { before, tenant }: ApprovalFilter): Promise<number | null> {
  if (before === undefined) return null
  const row = await placeOf(sql, 'sequence', tenant, before)
  return row === undefined ? 0 : integer(row, 'sequence')
}

/** @param columns a literal of this program */
function placeOf(
  sql: Sql,
  columns: string,
  tenant: string,
  approvalId: string,
): SqlRow | undefined | Promise<SqlRow | undefined> {
  return sql.get(`SELECT ${columns} FROM approvals WHERE approval_id = ? AND tenant = ?`, approvalId, tenant)
}

async function ownRow(sql: Sql, tenant: string, approvalId: string): Promise<ApprovalRow | null> {
  const row = await sql.get(`${selectApprovals(sql)} WHERE a.approval_id = ? AND a.tenant = ?`, approvalId, tenant)
  if (row === undefined) return null
  const [own] = await withGrantsInForce(sql, [approvalRow(row)])
  return own ?? null
}

/** Records the end of requests and grants whose time has passed: setting the clock back does not make them valid again. */
async function endApprovals(sql: Sql, at: number): Promise<readonly string[]> {
  const expired: string[] = []
  for (const row of await sql.all(
    `SELECT a.approval_id, a.tenant, a.settled_state FROM approvals a WHERE a.ended_at IS NULL AND ${OVER}`,
    at,
  )) {
    if (!(await endOne(sql, row, at))) continue
    if (nullableText(row, 'settled_state') !== null) continue
    await recordNotice(sql, { ...noticeOn(row), kind: 'approval.expired', at })
    expired.push(text(row, 'approval_id'))
  }
  return expired
}

/** @param row as it was read. False: another gateway has ended or decided it meanwhile. */
async function endOne(sql: Sql, row: SqlRow, at: number): Promise<boolean> {
  const approvalId = text(row, 'approval_id')
  const ended = await sql.run(
    `UPDATE approvals SET ended_at = ? WHERE approval_id = ? AND ended_at IS NULL AND coalesce(settled_state, '') = ?`,
    at,
    approvalId,
    nullableText(row, 'settled_state') ?? '',
  )
  if (ended === 1) await journal(sql, 'approval', approvalId)
  return ended === 1
}

async function insertApproval(sql: Sql, opening: ApprovalOpening): Promise<string> {
  const values = {
    approval_id: opening.approvalId,
    key: opening.key,
    tenant: opening.tenant,
    decision_id: opening.decisionId,
    route: opening.route,
    operation: opening.operation,
    environment: opening.environment,
    repository: opening.repository,
    branch: opening.branch,
    pull_request: opening.pullRequest,
    target_id: opening.targetId,
    input_fingerprint: opening.inputFingerprint,
    policy_hash: opening.policyHash,
    summary: opening.summary,
    risk_score: opening.riskScore,
    reasons: opening.reasons,
    opened_at: opening.openedAt,
    expires_at: opening.expiresAt,
    approvers: JSON.stringify(opening.approvers.map(approversText)),
    opened_in: opening.openedIn ?? null,
  }
  const columns = Object.keys(values)
  await sql.run(
    `INSERT INTO approvals (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...Object.values(values),
  )
  return opening.approvalId
}

/** One person of a group is stored as the list of groups, as versions without numbers of people do. */
function approversText({ count, groups }: ApprovalRow['approvers'][number]): object {
  return count === 1 && groups.length > 0 ? groups : { count, groups }
}

/** @param row an approval */
function noticeOn(row: SqlRow): { readonly subject: string; readonly tenant: string } {
  return { subject: text(row, 'approval_id'), tenant: text(row, 'tenant') }
}
