/** A request for approval as its row is read: with its requesters, its decision and its grants. */
import type { ApprovalDecision, ApprovalRow } from '../approvals.ts'
import type { Grant } from '../approvers.ts'
import { integer, integerOrNull, oneOf, text, textList, nullableText, storedTexts, type SqlRow } from './columns.ts'
import { joinedTexts, triplesOf, type Sql } from './operation.ts'

const DECIDED = ['granted', 'denied'] as const satisfies readonly ApprovalDecision['state'][]

/** Whose right a person used: a person grants a request once, so the step of this request names the approver. */
const principalOf = (person: string): string => `
  (SELECT min(p.text) FROM approval_steps p WHERE p.approval_id = a.approval_id AND p.kind = 'acting' AND p.by_whom = ${person})`

/** Audiences contain no comma. */
export const selectApprovals = (sql: Sql): string => `
  SELECT a.*, (SELECT ${joinedTexts(sql, 'r.audience')} FROM approval_requesters r WHERE r.approval_id = a.approval_id) AS requesters,
    (SELECT ${triplesOf(sql, ['s.by_whom', principalOf('s.by_whom'), 's.groups_of_step'], 's.at, s.step_id')}
     FROM approval_steps s WHERE s.approval_id = a.approval_id AND s.kind = 'grant') AS grants,
    ${principalOf('a.settled_by')} AS principal
  FROM approvals a`

export function approvalRow(row: SqlRow): ApprovalRow {
  const result = completionOf(row)
  const grants = grantsOf(row)
  const requesters = nullableText(row, 'requesters')
  return {
    approvalId: text(row, 'approval_id'),
    key: text(row, 'key'),
    tenant: text(row, 'tenant'),
    decisionId: text(row, 'decision_id'),
    route: nullableText(row, 'route'),
    operation: nullableText(row, 'operation'),
    environment: nullableText(row, 'environment'),
    repository: nullableText(row, 'repository'),
    branch: nullableText(row, 'branch'),
    pullRequest: nullableText(row, 'pull_request'),
    targetId: nullableText(row, 'target_id'),
    inputFingerprint: text(row, 'input_fingerprint'),
    policyHash: text(row, 'policy_hash'),
    summary: text(row, 'summary'),
    riskScore: integer(row, 'risk_score'),
    reasons: text(row, 'reasons'),
    openedAt: integer(row, 'opened_at'),
    expiresAt: integer(row, 'expires_at'),
    approvers: approversOf(row),
    requesters: requesters === null ? [] : requesters.split(','),
    result,
    grants: grants.length === 0 && result?.state === 'granted' ? [singleGrant(row, result)] : grants,
    endedAt: integerOrNull(row, 'ended_at'),
    openedIn: nullableText(row, 'opened_in'),
    decidedIn: nullableText(row, 'settled_in'),
  }
}

function approversOf(row: SqlRow): ApprovalRow['approvers'] {
  const lists: unknown = JSON.parse(text(row, 'approvers'))
  // An unreadable list must not let everybody grant.
  if (!Array.isArray(lists)) throw new TypeError('the approvers of an approval are not a list')
  return lists.map((list: unknown) => {
    if (Array.isArray(list)) return { count: 1, groups: storedTexts(list) }
    if (typeof list !== 'object' || list === null || !('count' in list) || !('groups' in list) || !isCount(list.count))
      throw new TypeError('an approver of an approval has another form')
    return { count: list.count, groups: storedTexts(list.groups) }
  })
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0
}

function grantsOf(row: SqlRow): readonly Grant[] {
  const triples: unknown = JSON.parse(nullableText(row, 'grants') ?? '[]')
  if (!Array.isArray(triples)) throw new TypeError('the grants of an approval are not a list')
  return triples.map((triple: unknown) => {
    const [by, principal, groups]: readonly unknown[] = Array.isArray(triple) ? triple : []
    if (typeof by !== 'string' || (typeof principal !== 'string' && principal !== null))
      throw new TypeError('a grant of an approval names no person')
    return { by, groups: storedTexts(groups), principal }
  })
}

/** A single grant is the decision itself. */
function singleGrant(row: SqlRow, { by, groups }: ApprovalDecision): Grant {
  return { by, groups, principal: nullableText(row, 'principal') }
}

function completionOf(row: SqlRow): ApprovalDecision | null {
  if (nullableText(row, 'settled_state') === null) return null
  return {
    state: oneOf(DECIDED, row, 'settled_state'),
    by: text(row, 'settled_by'),
    groups: textList(row, 'settled_groups'),
    comment: text(row, 'settled_comment'),
    at: integer(row, 'settled_at'),
    validUntil: integerOrNull(row, 'valid_until'),
  }
}
