/** Statements on requests for approval. Whether a request is still valid is checked inside one transaction. */
import { randomUUID } from 'node:crypto'
import {
  APPROVAL_STEPS,
  type ApprovalDecision,
  type ApprovalOpening,
  type ApprovalRow,
  type Approvals,
  type ApprovalState,
  type ApprovalStep,
} from '../approvals.ts'
import { mayGrant } from '../approvers.ts'
import { identitiesOf } from './api-keys.ts'
import { endBreakGlasses } from './break-glass.ts'
import { integer, integerOrNull, oneOf, text, textList, textOrNull, textsOf, type SqlRow } from './columns.ts'
import { listOf } from './dialect.ts'
import { journal } from './journal.ts'
import { notice } from './notifications.ts'
import { read, write, type Operations, type Sql } from './operation.ts'

const DECIDED = ['granted', 'denied'] as const satisfies readonly ApprovalDecision['state'][]

/** Audiences contain no comma. */
const select = (sql: Sql): string => `
  SELECT a.*, (SELECT ${listOf(sql, 'r.audience')} FROM approval_requesters r WHERE r.approval_id = a.approval_id) AS requesters
  FROM approvals a`

/** State → condition on the row and the time; a literal of this program, never a caller's text. */
const STATE_CONDITIONS: Readonly<Record<ApprovalState, string>> = {
  pending: 'a.settled_state IS NULL AND a.ended_at IS NULL AND a.expires_at > ?',
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

export const approvals: Operations<Approvals> = {
  byId: read((sql, tenant, approvalId) => ownRow(sql, tenant, approvalId)),

  list: read(async (sql, { tenant, requester, state, limit, before, now }) => {
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
    if (before !== undefined) {
      conditions.push('a.sequence < (SELECT sequence FROM approvals WHERE approval_id = ? AND tenant = ?)')
      values.push(before, tenant)
    }
    const where = conditions.join(' AND ')
    const rows = await sql.all(`${select(sql)} WHERE ${where} ORDER BY a.sequence DESC LIMIT ?`, ...values, limit)
    return rows.map(approvalRow)
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
    await endApprovals(sql, opening.openedAt)
    const standing = await sql.get(
      `SELECT a.approval_id, a.settled_state FROM approvals a
       WHERE a.key = ? AND ${STANDING} ORDER BY a.sequence DESC LIMIT 1`,
      opening.key,
      opening.openedAt,
    )
    const approvalId = standing === undefined ? await insert(sql, opening) : text(standing, 'approval_id')
    // A caller that uses a grant did not ask for it: only callers that joined a pending request are requesters.
    if (opening.requester !== null && (standing === undefined || textOrNull(standing, 'settled_state') === null))
      await sql.run(
        'INSERT INTO approval_requesters (approval_id, audience) VALUES (?, ?) ON CONFLICT DO NOTHING',
        approvalId,
        opening.requester,
      )
    await journal(sql, 'approval', approvalId)
    if (standing === undefined) await notice(sql, 'approval.requested', approvalId, opening.tenant, opening.openedAt)
    const row = await ownRow(sql, opening.tenant, approvalId)
    if (row === null) throw new TypeError(`approval ${approvalId} is not there`)
    return row
  }),

  decide: write(async (sql, request) => {
    const { approvalId, tenant, state, by, groups, comment, at, validUntil, isFourEyes, needed } = request
    await endApprovals(sql, at)
    // Holds the row: two grants at one moment are counted one after the other.
    await sql.run('UPDATE approvals SET ended_at = NULL WHERE approval_id = ? AND ended_at IS NULL', approvalId)
    const row = await ownRow(sql, tenant, approvalId)
    if (row === null) return 'missing'
    if (row.result !== null || row.endedAt !== null || row.expiresAt <= at) return 'conflict'
    const person = await identitiesOf(sql, by)
    if (isFourEyes && row.requesters.some((requester) => person.includes(requester))) return 'own'
    // Any approver may deny.
    if (state === 'granted' && !mayGrant(row.approvers, groups)) return 'group'
    if (state === 'granted' && needed > 1) {
      const grants = (await stepsOf(sql, approvalId)).filter(({ kind }) => kind === 'grant')
      if (grants.some((step) => person.includes(step.by))) return 'again'
      await addStep(sql, { stepId: newStepId(), approvalId, kind: 'grant', by, groups, text: comment, at })
      if (grants.length + 1 < needed) return 'counted'
    }
    await sql.run(
      `UPDATE approvals SET settled_state = ?, settled_by = ?, settled_groups = ?, settled_comment = ?,
         settled_at = ?, valid_until = ?
       WHERE approval_id = ?`,
      state,
      by,
      JSON.stringify(groups),
      comment,
      at,
      validUntil,
      approvalId,
    )
    await journal(sql, 'approval', approvalId)
    await notice(sql, `approval.${state}`, approvalId, tenant, at)
    return 'settled'
  }),

  steps: read(async (sql, tenant, approvalId) =>
    (await ownRow(sql, tenant, approvalId)) === null ? [] : stepsOf(sql, approvalId),
  ),

  comment: write(async (sql, tenant, step) => {
    if ((await ownRow(sql, tenant, step.approvalId)) === null) return false
    await addStep(sql, step)
    return true
  }),

  endMoot: write(async (sql, route, by, at) => {
    await endApprovals(sql, at)
    const rows = await sql.all(
      `SELECT approval_id, tenant FROM approvals
       WHERE route = ? AND target_id IS NOT NULL AND settled_state IS NULL AND ended_at IS NULL AND opened_at <= ?`,
      route,
      at,
    )
    const ended = rows.map((row) => text(row, 'approval_id'))
    for (const approvalId of ended) {
      await sql.run('UPDATE approvals SET ended_at = ? WHERE approval_id = ?', at, approvalId)
      await journal(sql, 'approval', approvalId)
      const reason = 'The baseline of the route changed, so this change can no longer occur.'
      await addStep(sql, { stepId: newStepId(), approvalId, kind: 'moot', by, groups: [], text: reason, at })
    }
    for (const row of rows) await notice(sql, 'approval.moot', text(row, 'approval_id'), text(row, 'tenant'), at)
    return ended
  }),

  endExpired: write(async (sql, at) => {
    await endBreakGlasses(sql, at)
    await endApprovals(sql, at)
  }),
}

function newStepId(): string {
  return `stp_${randomUUID().replaceAll('-', '')}`
}

async function addStep(
  sql: Sql,
  { stepId, approvalId, kind, by, groups, text: words, at }: ApprovalStep,
): Promise<void> {
  await sql.run(
    `INSERT INTO approval_steps (step_id, approval_id, kind, by_whom, groups_of_step, text, at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    stepId,
    approvalId,
    kind,
    by,
    JSON.stringify(groups),
    words,
    at,
  )
  await journal(sql, 'approval_step', stepId)
}

async function stepsOf(sql: Sql, approvalId: string): Promise<readonly ApprovalStep[]> {
  const rows = await sql.all('SELECT * FROM approval_steps WHERE approval_id = ? ORDER BY at, step_id', approvalId)
  return rows.map((row) => ({
    stepId: text(row, 'step_id'),
    approvalId: text(row, 'approval_id'),
    kind: oneOf(APPROVAL_STEPS, row, 'kind'),
    by: text(row, 'by_whom'),
    groups: textList(row, 'groups_of_step'),
    text: text(row, 'text'),
    at: integer(row, 'at'),
  }))
}

async function ownRow(sql: Sql, tenant: string, approvalId: string): Promise<ApprovalRow | null> {
  const row = await sql.get(`${select(sql)} WHERE a.approval_id = ? AND a.tenant = ?`, approvalId, tenant)
  return row === undefined ? null : approvalRow(row)
}

/** Records the end of requests and grants whose time has passed: setting the clock back does not make them valid again. */
async function endApprovals(sql: Sql, at: number): Promise<void> {
  for (const row of await sql.all(
    `SELECT a.approval_id, a.tenant, a.settled_state FROM approvals a WHERE a.ended_at IS NULL AND ${OVER}`,
    at,
  )) {
    await sql.run('UPDATE approvals SET ended_at = ? WHERE approval_id = ?', at, text(row, 'approval_id'))
    await journal(sql, 'approval', text(row, 'approval_id'))
    if (textOrNull(row, 'settled_state') === null)
      await notice(sql, 'approval.expired', text(row, 'approval_id'), text(row, 'tenant'), at)
  }
}

async function insert(sql: Sql, opening: ApprovalOpening): Promise<string> {
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
    approvers: JSON.stringify(opening.approvers),
  }
  const columns = Object.keys(values)
  await sql.run(
    `INSERT INTO approvals (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...Object.values(values),
  )
  return opening.approvalId
}

function approvalRow(row: SqlRow): ApprovalRow {
  const requesters = textOrNull(row, 'requesters')
  return {
    approvalId: text(row, 'approval_id'),
    key: text(row, 'key'),
    tenant: text(row, 'tenant'),
    decisionId: text(row, 'decision_id'),
    route: textOrNull(row, 'route'),
    operation: textOrNull(row, 'operation'),
    environment: textOrNull(row, 'environment'),
    repository: textOrNull(row, 'repository'),
    branch: textOrNull(row, 'branch'),
    pullRequest: textOrNull(row, 'pull_request'),
    targetId: textOrNull(row, 'target_id'),
    inputFingerprint: text(row, 'input_fingerprint'),
    policyHash: text(row, 'policy_hash'),
    summary: text(row, 'summary'),
    riskScore: integer(row, 'risk_score'),
    reasons: text(row, 'reasons'),
    openedAt: integer(row, 'opened_at'),
    expiresAt: integer(row, 'expires_at'),
    approvers: approversOf(row),
    requesters: requesters === null ? [] : requesters.split(','),
    result: completionOf(row),
    endedAt: integerOrNull(row, 'ended_at'),
  }
}

function approversOf(row: SqlRow): ApprovalRow['approvers'] {
  const lists: unknown = JSON.parse(text(row, 'approvers'))
  // An unreadable list must not let everybody grant.
  if (!Array.isArray(lists)) throw new TypeError('the approvers of an approval are not a list')
  return lists.map(textsOf)
}

function completionOf(row: SqlRow): ApprovalDecision | null {
  if (textOrNull(row, 'settled_state') === null) return null
  return {
    state: oneOf(DECIDED, row, 'settled_state'),
    by: text(row, 'settled_by'),
    groups: textList(row, 'settled_groups'),
    comment: text(row, 'settled_comment'),
    at: integer(row, 'settled_at'),
    validUntil: integerOrNull(row, 'valid_until'),
  }
}
