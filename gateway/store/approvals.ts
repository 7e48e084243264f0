/** Requests for a person's approval. */
import type { Approvers } from '../../engine/internal.ts'

/** `granted` stays after its validity; `validUntil` counts then. */
export type ApprovalState = 'pending' | 'granted' | 'denied' | 'expired'

/**
 * A request for a person's approval of one change set in one context (docs/reference/api.md#approvals). Times are milliseconds
 * since the epoch.
 */
export interface ApprovalOpening {
  readonly approvalId: string
  /** Digest of the approval's content: equal requests share one row. */
  readonly key: string
  readonly tenant: string
  /** Audience of the caller; null for an intercepted call without a key. */
  readonly requester: string | null
  /** The decision that first asked for it. */
  readonly decisionId: string
  readonly route: string | null
  readonly operation: string | null
  readonly environment: string | null
  readonly repository: string | null
  readonly branch: string | null
  readonly pullRequest: string | null
  readonly targetId: string | null
  readonly inputFingerprint: string
  readonly policyHash: string
  readonly summary: string
  readonly riskScore: number
  /** Blocking reasons, JSON text: the approver takes responsibility for them. */
  readonly reasons: string
  readonly openedAt: number
  /** Expires then if nobody has granted or denied it. */
  readonly expiresAt: number
  /** Groups that may grant it, as the policy required when it was opened. */
  readonly approvers: Approvers
}

export interface ApprovalDecision {
  readonly state: 'granted' | 'denied'
  /** Audience of the approver's key. */
  readonly by: string
  /** Groups that the approver was in then. */
  readonly groups: readonly string[]
  readonly comment: string
  readonly at: number
  /** End of a grant; null for a denial. */
  readonly validUntil: number | null
}

export interface ApprovalRow extends Omit<ApprovalOpening, 'requester'> {
  /** All requesters, in no order; callers without a key are not included. */
  readonly requesters: readonly string[]
  readonly result: ApprovalDecision | null
  /** Set once the gateway has seen that its time, or that of its grant, passed; from then on no clock makes it valid again. */
  readonly endedAt: number | null
}

export interface PendingApprovals {
  readonly count: number
  /** When the oldest was opened, milliseconds since the epoch; null: there is none. */
  readonly oldestAt: number | null
}

export interface ApprovalFilter {
  readonly tenant: string
  /** Only those that this audience asked for. */
  readonly requester?: string
  readonly state?: ApprovalState
  readonly limit: number
  /** Only those opened before this one. */
  readonly before?: string
  /** Milliseconds since the epoch: pending ones past their end are expired. */
  readonly now: number
}

export interface ApprovalDecisionRequest extends ApprovalDecision {
  readonly tenant: string
  readonly approvalId: string
  /** A requester may not grant or deny their own request. */
  readonly isFourEyes: boolean
  /** Number of people who have to grant it. */
  readonly needed: number
}

/** What happened to a request besides its opening and its decision. */
export const APPROVAL_STEPS = ['grant', 'comment', 'moot'] as const

/** Never changed. Times are milliseconds since the epoch. */
export interface ApprovalStep {
  readonly stepId: string
  readonly approvalId: string
  /** `grant`: one of several grants. `moot`: the change can no longer occur, so the request ended. */
  readonly kind: (typeof APPROVAL_STEPS)[number]
  /** Who; of `moot`, what made it so. */
  readonly by: string
  readonly groups: readonly string[]
  readonly text: string
  readonly at: number
}

/**
 * `conflict`: already granted, denied or expired. `own`: four eyes are required, and requester and approver are the same.
 * `group`: another group must grant it. `counted`: granted, and further people have to grant it. `again`: this person has granted it
 * already.
 */
export type ApprovalDecisionResult = 'settled' | 'missing' | 'conflict' | 'own' | 'group' | 'counted' | 'again'

export interface Approvals {
  /**
   * Joins the request of the same key that is in force (pending, granted and valid, or denied until its end), else opens this
   * one. Returns the one in force.
   */
  open(opening: ApprovalOpening): Promise<ApprovalRow>
  byId(tenant: string, approvalId: string): Promise<ApprovalRow | null>
  /** Newest first. */
  list(filter: ApprovalFilter): Promise<readonly ApprovalRow[]>
  /** The pending requests of all tenants. @param now milliseconds since the epoch */
  waiting(now: number): Promise<PendingApprovals>
  /** Decides a pending request once: exactly one caller gets `settled`. */
  decide(request: ApprovalDecisionRequest): Promise<ApprovalDecisionResult>
  /** Oldest first. */
  steps(tenant: string, approvalId: string): Promise<readonly ApprovalStep[]>
  /** False when there is no such request. */
  comment(tenant: string, step: ApprovalStep): Promise<boolean>
  /** Ends the pending requests of a route that were opened until then; returns their ids. */
  endMoot(route: string, by: string, at: number): Promise<readonly string[]>
  /** Records the end of approvals and break-glass exceptions whose time has passed at this time (milliseconds since the epoch). */
  endExpired(at: number): Promise<void>
}
