/** Requests for a person's approval. */
import type { Approvers } from '../../engine/internal.ts'
import type { Grant } from './approvers.ts'

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
  /** Who has to grant it, as the policy required when it was opened. */
  readonly approvers: Approvers
  /** The span of the call that opened it, as `TRACE-SPAN`; null: it has none. Absent from gateways of an earlier version. */
  readonly openedIn?: string | null
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
  /**
   * The grants that count, each of another person, with the groups for which they count. The steps name those that ended too.
   */
  readonly grants: readonly Grant[]
  /** Set once the gateway has seen that its time, or that of its grant, passed; from then on no clock makes it valid again. */
  readonly endedAt: number | null
  /** The span of the request that decided it, as `TRACE-SPAN`; null: it has none. Absent from hubs of an earlier version. */
  readonly decidedIn?: string | null
}

interface PendingApprovals {
  readonly count: number
  /** When the oldest was opened, milliseconds since the epoch; null: there is none. */
  readonly oldestAt: number | null
}

/** Pending requests of a tenant, page by page. */
export interface PendingFilter extends Pick<ApprovalFilter, 'tenant' | 'limit' | 'now'> {
  /** Only those that expire after this request. */
  readonly after?: string
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
  /** Who has to grant it besides those whom the request itself requires: the configuration and the occasion add them. */
  readonly required: Approvers
  /** Grants of other people that count here too: of another request about the same change. */
  readonly earlier?: readonly Grant[]
  /** The span of the request that decides it, as `TRACE-SPAN`; absent or null: it has none. */
  readonly decidedIn?: string | null
}

/** A right to grant that an approver hands to another one for a time. Times are milliseconds since the epoch. */
export interface Delegation {
  readonly delegationId: string
  readonly tenant: string
  readonly by: string
  /** The groups that are handed over. */
  readonly groups: readonly string[]
  readonly to: string
  /** Only this request; null: every request. */
  readonly approvalId: string | null
  readonly reason: string
  readonly at: number
  readonly until: number
}

export interface DelegationEnd {
  readonly at: number
  readonly by: string
}

export interface DelegationRow extends Delegation {
  readonly ended: DelegationEnd | null
}

/** What happened to a request besides its opening and its decision. */
export const APPROVAL_STEPS = ['grant', 'comment', 'moot', 'acting', 'delegated', 'reminder'] as const

/** Never changed. Times are milliseconds since the epoch. */
export interface ApprovalStep {
  readonly stepId: string
  readonly approvalId: string
  /**
   * `grant`: one of several grants. `moot`: the change can no longer occur, so the request ended. `acting`: granted in place of the
   * approver in the text, who delegated it. `delegated`: handed to the approver in the text. `reminder`: it is about to expire.
   */
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
  /** The owners of requests, by approval id; unknown ones are left out. */
  tenants(approvalIds: readonly string[]): Promise<Readonly<Record<string, string>>>
  /**
   * Joins the request of the same key that is in force (pending, granted and valid, or denied until its end), else opens this
   * one. Returns the one in force.
   */
  open(opening: ApprovalOpening): Promise<ApprovalRow>
  byId(tenant: string, approvalId: string): Promise<ApprovalRow | null>
  /** Newest first. */
  list(filter: ApprovalFilter): Promise<readonly ApprovalRow[]>
  /** Those that expire next first; of one moment, the oldest first. */
  pending(filter: PendingFilter): Promise<readonly ApprovalRow[]>
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
  /** Records a reminder, once a request, for pending requests that expire until then; returns their ids. */
  remind(at: number, expireUntil: number): Promise<readonly string[]>
  /** False when the request that it is about does not exist or is no longer pending. */
  delegate(delegation: Delegation): Promise<boolean>
  /** Those in force and the newest others, newest first. */
  delegations(tenant: string, limit: number): Promise<readonly DelegationRow[]>
  /** Ends one in force. False when there is none. */
  endDelegation(tenant: string, delegationId: string, end: DelegationEnd): Promise<boolean>
  /** Records the end of approvals and break-glass exceptions whose time has passed at this time (milliseconds since the epoch); returns the ids of the
   * requests that nobody decided. */
  endExpired(at: number): Promise<readonly string[]>
}
