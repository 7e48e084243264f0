/** Statements on the steps of a request for approval, which are never changed. */
import { randomUUID } from 'node:crypto'
import { APPROVAL_STEPS, type ApprovalStep } from '../approvals.ts'
import { integer, oneOf, text, textList } from './columns.ts'
import { journal } from './journal.ts'
import type { Sql } from './operation.ts'

export function newStepId(): string {
  return `stp_${randomUUID().replaceAll('-', '')}`
}

/** False: a step with this id is there. */
export async function addStep(
  sql: Sql,
  { stepId, approvalId, kind, by, groups, text: words, at }: ApprovalStep,
): Promise<boolean> {
  const added = await sql.run(
    `INSERT INTO approval_steps (step_id, approval_id, kind, by_whom, groups_of_step, text, at) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
    stepId,
    approvalId,
    kind,
    by,
    JSON.stringify(groups),
    words,
    at,
  )
  if (added === 1) await journal(sql, 'approval_step', stepId)
  return added === 1
}

/** Oldest first. */
export async function approvalSteps(sql: Sql, approvalId: string): Promise<readonly ApprovalStep[]> {
  const rows = await sql.all(
    'SELECT * FROM approval_steps WHERE approval_id = ? ORDER BY at, kind, step_id',
    approvalId,
  )
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
