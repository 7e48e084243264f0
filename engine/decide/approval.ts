/**
 * An approval decision as input of a verdict (docs/reference/api.md#approvals): requested or granted. A granted
 * approval lowers REQUIRE_APPROVAL to WARN and does nothing else.
 */
import type { Evidence, Reason } from './envelope-members.ts'
import { ENVELOPE_BOUNDS } from './envelope-vocabulary.ts'
import { reason } from './reasons.ts'
import { clip, counted, instantText } from './text.ts'

/** Not approved so far. The request names the page of the approval. */
export interface ApprovalRequested {
  readonly state: 'requested'
  readonly id: string
  /** Where the request can be viewed and decided. */
  readonly address: string
}

export interface ApprovalGranted {
  readonly state: 'granted'
  readonly id: string
  /** The approver as the gateway identifies them. */
  readonly approver: string
  /** Seconds since the epoch. The decision is not valid after it. */
  readonly until: number
  /** The approver's reason. Absent or empty: none was given. */
  readonly comment?: string
}

export type ApprovalFacts = ApprovalRequested | ApprovalGranted

export function approvedException(grant: ApprovalGranted): Reason {
  return reason(
    'APPROVED_EXCEPTION',
    `${grant.approver} approved this as an exception until ${instantText(grant.until)} (${grant.id}).`,
  )
}

/** A breaking contract of another owner was accepted as a baseline. @param breaking how many changes break */
export function acceptedBreak({ approver, id, comment = '' }: ApprovalGranted, breaking: number): Reason {
  const why = comment === '' ? '' : `: ${comment}`
  return reason(
    'BREAK_ACCEPTED',
    `${approver} accepted ${counted(breaking, 'breaking change')} as the new baseline (${id})${why}`,
  )
}

/** The approval's row in the evidence; its source is the id. */
export function approvalEvidence(approval: ApprovalFacts): Evidence {
  const finding =
    approval.state === 'granted'
      ? `Granted by ${approval.approver} until ${instantText(approval.until)}.`
      : `Waits for an approver: ${approval.address}`
  return { type: 'APPROVAL', source: approval.id, finding: clip(finding, ENVELOPE_BOUNDS.finding), severity: 'INFO' }
}
