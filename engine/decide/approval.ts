/** A person's word on a decision, as the decision sees it (docs/reference/api.md#approvals): asked for, or given. Given lowers REQUIRE_APPROVAL to WARN and nothing else. */
import type { Evidence, Reason } from './envelope-members.ts'
import { ENVELOPE_BOUNDS } from './envelope-vocabulary.ts'
import { instantText } from './instant.ts'
import { reason } from './reasons.ts'
import { clip, counted } from './text.ts'

/** Nobody has approved (yet); the request says where it can be. */
export interface ApprovalRequested {
  readonly state: 'requested'
  readonly id: string
  /** Where the request can be seen and settled. */
  readonly address: string
}

export interface ApprovalGranted {
  readonly state: 'granted'
  readonly id: string
  /** Who granted it, as the gateway knows them. */
  readonly approver: string
  /** Seconds since the epoch; the decision is valid no longer than this. */
  readonly until: number
  /** Why, in their words; absent or empty: they gave no reason. */
  readonly comment?: string
}

export type ApprovalFacts = ApprovalRequested | ApprovalGranted

export function approvedException(grant: ApprovalGranted): Reason {
  return reason(
    'APPROVED_EXCEPTION',
    `${grant.approver} approved this as an exception until ${instantText(grant.until)} (${grant.id}).`,
  )
}

/** A breaking contract that somebody else owns was accepted as a baseline. @param breaking how many changes break */
export function acceptedBreak({ approver, id, comment = '' }: ApprovalGranted, breaking: number): Reason {
  const why = comment === '' ? '' : `: ${comment}`
  return reason(
    'BREAK_ACCEPTED',
    `${approver} accepted ${counted(breaking, 'breaking change')} as the new baseline (${id})${why}`,
  )
}

/** The approval's row in the evidence; its source is the id. */
export function approvalRow(approval: ApprovalFacts): Evidence {
  const finding =
    approval.state === 'granted'
      ? `Granted by ${approval.approver} until ${instantText(approval.until)}.`
      : `Waits for an approver: ${approval.address}`
  return { type: 'APPROVAL', source: approval.id, finding: clip(finding, ENVELOPE_BOUNDS.finding), severity: 'INFO' }
}
