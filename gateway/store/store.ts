/**
 * The state of the gateway, behind one interface (docs/architecture.md, State). A promise resolves when its row is durable. It
 * rejects with STORE_UNAVAILABLE when the row could not be made durable, and then nothing of it is stored.
 */
import type { Approvers, Decision, ExecutionAction } from '../../engine/internal.ts'
import type { CallFilter, CallPage, InterceptionRow } from './call.ts'
import type { CheckpointRow, HeldCheckpoint, LedgerHead, LedgerReport } from './ledger.ts'

export type Role = 'agent' | 'approver' | 'admin'

/** An API key as stored: its SHA-256 only (docs/reference/api.md#authentication). Times are milliseconds since the epoch. */
export interface ApiKey {
  /** 64 hex digits: SHA-256 of the key. */
  readonly hash: string
  /** `v:` and the first 12 digits of the hash. */
  readonly audience: string
  readonly tenant: string
  readonly name: string
  readonly role: Role
  readonly plan: string
  /** Groups of approvers that the holder is in. */
  readonly groups: readonly string[]
  readonly createdAt: number
  readonly revokedAt: number | null
}

/**
 * The members by which a later decision supersedes an earlier one (docs/reference/hashes.md#scope-key), joined into one text.
 */
export type SupersessionKey = string

export interface DecisionRow {
  readonly decisionId: string
  readonly tenant: string
  readonly route: string | null
  readonly decision: Decision
  readonly executionAction: ExecutionAction
  readonly operation: string | null
  readonly environment: string | null
  readonly repository: string | null
  readonly fingerprint: string
  readonly inputFingerprint: string
  readonly evaluatedAt: number
  readonly expiresAt: number
  readonly supersessionKey: SupersessionKey
  /** The envelope as issued, JSON text. */
  readonly envelope: string
  /** The whole authorize answer, JSON text; null for intercepted calls. */
  readonly response: string | null
  readonly idempotency: { readonly key: string; readonly bodyDigest: string } | null
}

export type ReceiptState = 'current' | 'superseded' | 'revoked' | 'consumed'

export interface StoredDecision extends DecisionRow {
  readonly receiptState: ReceiptState
  /** Position in the ledger, from 1; `hash` covers the row and the previous hash. */
  readonly sequence: number
  readonly previousHash: string
  readonly hash: string
}

/** An exception to enforcement on one route, opened by a person for a time. Times are milliseconds since the epoch. */
export interface BreakGlassRow {
  readonly id: string
  readonly route: string
  readonly reason: string
  /** Audience of the key, or `cli:USER`. */
  readonly openedBy: string
  readonly openedAt: number
  readonly expiresAt: number
  /** Set when it was closed before its time. */
  readonly closedBy: string | null
  readonly closedAt: number | null
  /** Set once the gateway has seen that its time passed; from then on no clock makes it valid again. */
  readonly endedAt: number | null
  /** Calls that were forwarded because of it. */
  readonly calls: number
}

export interface BreakGlassFilter {
  /** Only those in force at this moment, milliseconds since the epoch. */
  readonly openAt?: number
  readonly route?: string
  readonly limit: number
}

export interface LedgerFilter {
  readonly tenant: string
  /** Only decisions that were issued to this audience. */
  readonly audience?: string
  readonly repository?: string
  readonly decision?: Decision
  readonly operation?: string
  readonly environment?: string
  readonly route?: string
  readonly from?: number
  readonly to?: number
  readonly limit: number
  /** Only rows with a smaller sequence. */
  readonly before?: number
}

/** The contract that a route's calls are compared with, stored whole (docs/reference/api.md#baselines). */
export interface BaselineRow {
  readonly route: string
  readonly artifactId: string
  readonly type: string
  readonly content: string
  readonly digest: string
  readonly source: 'file' | 'url' | 'git' | 'first_use' | 'promotion'
  readonly setBy: string
  readonly setAt: number
}

/** The contract that a route's upstream was last seen to offer, when it is not the baseline. */
export interface CandidateRow extends Pick<BaselineRow, 'route' | 'type' | 'content' | 'digest'> {
  /** When it was first seen, milliseconds since the epoch. */
  readonly seenAt: number
}

export interface MonitoringWindowRow {
  readonly windowId: string
  /** Chosen by the caller: several windows may have the same one. */
  readonly correlationId: string
  readonly decisionId: string
  readonly tenant: string
  readonly route: string | null
  /** Who reports the outcome. */
  readonly observer: 'gateway' | 'caller'
  readonly openedAt: number
  readonly closedAt: number | null
  readonly outcome: string | null
}

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
}

/**
 * `conflict`: already granted, denied or expired. `own`: four eyes are required, and requester and approver are the same.
 * `group`: another group must grant it.
 */
export type ApprovalDecisionResult = 'settled' | 'missing' | 'conflict' | 'own' | 'group'

/** The earlier decisions of one scope. Times are milliseconds since the epoch. */
export interface HistoryFilter {
  readonly tenant: string
  readonly supersessionKey: SupersessionKey
  readonly since: number
  readonly limit: number
}

export type HistoryRow = Pick<DecisionRow, 'decision' | 'inputFingerprint' | 'evaluatedAt'>

/** The input of a decision, without the texts that it names by digest. */
export interface KeptInput {
  readonly decisionId: string
  /** JSON text; the flow defines its form. */
  readonly input: string
  readonly digests: readonly string[]
  readonly at: number
}

export interface KeptContent {
  readonly digest: string
  /** Compressed; the flow defines how. */
  readonly packed: Uint8Array
}

/** Calls of one consumer since the last write. */
export interface ObservedUse {
  readonly route: string
  /** The target: the route, and the tool or operation when it is known. */
  readonly target: string
  readonly operation: string | null
  readonly tool: string | null
  readonly consumer: string
  readonly calls: number
  readonly at: number
}

export interface ObservedUses {
  readonly uses: readonly ObservedUse[]
  /** Maximum number of distinct consumers of one target; the rest counts as one. */
  readonly limit: number
  /** Uses last seen before this are deleted. */
  readonly since: number
}

export interface KnownUse extends Pick<ObservedUse, 'consumer' | 'operation' | 'tool'> {
  /** The requested one. */
  readonly artifact: string
}

/** Control of a tenant over a repository, proven by a file in it (docs/reference/api.md#bindings). Times are milliseconds since the epoch. */
export interface BindingRow {
  readonly tenant: string
  readonly platform: 'scm_a' | 'scm_b' | 'scm_c'
  /** `owner/name`. */
  readonly repository: string
  readonly provenAt: number
  /** Audience of the key that proved it. */
  readonly provenBy: string
}

export interface ChallengeRow extends Pick<BindingRow, 'tenant' | 'platform' | 'repository'> {
  readonly challengeId: string
  /** Required content of the marker file. */
  readonly marker: string
  readonly createdAt: number
  readonly expiresAt: number
}

export interface Store {
  /** A description for the start-up summary and readiness, e.g. `sqlite /var/lib/preflight/ledger.db`. */
  readonly description: string
  /** Makes the decision durable and marks older ones of the same tenant and supersession key superseded, in one transaction. */
  recordDecision(row: DecisionRow): Promise<void>
  /**
   * Many calls share a commit. `durable` resolves after it, `batched` resolves immediately (the rows follow within
   * `ledger.flush_ms`).
   */
  recordInterception(row: InterceptionRow): Promise<void> | void
  /** @param audience issued to it only; null or absent: to anybody of the tenant */
  decisionById(tenant: string, decisionId: string, audience?: string | null): Promise<StoredDecision | null>
  /** The newest with this fingerprint. */
  decisionByFingerprint(tenant: string, fingerprint: string, audience?: string | null): Promise<StoredDecision | null>
  decisionByIdempotencyKey(
    tenant: string,
    key: string,
    since: number,
    audience?: string | null,
  ): Promise<StoredDecision | null>
  /** Newest first. */
  history(filter: HistoryFilter): Promise<readonly HistoryRow[]>
  /** Stores the input of a decision; returns the digests of the texts that are missing. */
  keepInput(input: KeptInput): Promise<readonly string[]>
  /** All texts together have at most `bound` bytes: the least recently used are removed. */
  keepContent(content: KeptContent, at: number, bound: number): Promise<void>
  keptInput(decisionId: string): Promise<string | null>
  keptContent(digest: string): Promise<Uint8Array | null>
  /** A secret of this installation, made of `fresh` when there is none yet. */
  observationSalt(fresh: string): Promise<string>
  recordUses(uses: ObservedUses): Promise<void>
  /** @param artifacts targets of intercepted calls, or names of routes */
  usesOf(artifacts: readonly string[], since: number): Promise<readonly KnownUse[]>
  ledger(filter: LedgerFilter): Promise<readonly StoredDecision[]>
  /** Newest first. */
  calls(filter: CallFilter): Promise<CallPage>
  /** For any tenant: a verifier has a token, not a key. Null when this store never issued it. */
  receiptState(decisionId: string): Promise<ReceiptState | null>
  /** Marks the receipt used; true for exactly one caller, ever. */
  consumeReceipt(decisionId: string, at: number): Promise<boolean>
  /** True when the decision exists for the tenant; revoking twice is no error. */
  revokeReceipt(tenant: string, decisionId: string, reason: string, by: string, at: number): Promise<boolean>
  /**
   * Joins the request of the same key that is in force (pending, granted and valid, or denied until its end), else opens this
   * one. Returns the one in force.
   */
  openApproval(opening: ApprovalOpening): Promise<ApprovalRow>
  approval(tenant: string, approvalId: string): Promise<ApprovalRow | null>
  /** Newest first. */
  approvals(filter: ApprovalFilter): Promise<readonly ApprovalRow[]>
  /** Decides a pending request once: exactly one caller gets `settled`. */
  decideApproval(request: ApprovalDecisionRequest): Promise<ApprovalDecisionResult>
  openBreakGlass(row: BreakGlassRow): Promise<void>
  /** Newest first. */
  breakGlasses(filter: BreakGlassFilter): Promise<readonly BreakGlassRow[]>
  /** The row after the call; null when there is none. Closing an ended exception changes nothing. */
  closeBreakGlass(id: string, by: string, at: number): Promise<BreakGlassRow | null>
  /** Counts one call on the exception in force of the route; null when there is none. */
  useBreakGlass(route: string, at: number): Promise<BreakGlassRow | null>
  /** All of a tenant's. */
  bindings(tenant: string): Promise<readonly BindingRow[]>
  recordBinding(row: BindingRow): Promise<void>
  openChallenge(row: ChallengeRow): Promise<void>
  challenge(tenant: string, challengeId: string): Promise<ChallengeRow | null>
  baseline(route: string, artifactId: string): Promise<BaselineRow | null>
  /** Digest and time of a baseline, without its content: to check whether it is still the known one. */
  baselineStamp(route: string, artifactId: string): Promise<Pick<BaselineRow, 'digest' | 'setAt'> | null>
  baselineCandidate(route: string): Promise<CandidateRow | null>
  baselineCandidates(): Promise<readonly CandidateRow[]>
  /** The time of the first sight of the same content stays. */
  setBaselineCandidate(row: CandidateRow): Promise<void>
  dropBaselineCandidate(route: string): Promise<void>
  /** True for exactly one caller, ever: the one that may announce this candidate of a route. */
  announceCandidate(route: string, digest: string, at: number): Promise<boolean>
  baselines(): Promise<readonly BaselineRow[]>
  setBaseline(row: BaselineRow): Promise<void>
  openWindow(row: MonitoringWindowRow): Promise<void>
  /** False when no window by this id is open. */
  closeWindow(windowId: string, outcome: string, at: number): Promise<boolean>
  /** Oldest first. */
  openWindows(): Promise<readonly MonitoringWindowRow[]>
  apiKey(hash: string): Promise<ApiKey | null>
  apiKeys(): Promise<readonly ApiKey[]>
  createApiKey(key: ApiKey): Promise<void>
  revokeApiKey(hash: string, at: number): Promise<boolean>
  /** @param mail digest of the address; false, and no key, when it has one already */
  createSignup(key: ApiKey, mail: string): Promise<boolean>
  /**
   * Adds one to the tenant's count of the month (`YYYY-MM`) unless it has reached `limit`; returns the new count, or null when
   * full.
   */
  countUse(tenant: string, month: string, limit: number): Promise<number | null>
  /** The tenant's count of the month so far. */
  usesInMonth(tenant: string, month: string): Promise<number>
  /** Throws STORE_UNAVAILABLE unless a write reaches the disk now. */
  probe(): Promise<void>
  /** Records the end of exceptions and approvals whose time has passed at this time (milliseconds since the epoch). */
  endExpired(at: number): Promise<void>
  /** Recomputes the hash chain of the decisions; the first sequence that does not fit, or null. */
  verifyChain(): Promise<number | null>
  /** Checks everything under the chain. It takes long and delays this store's writes: for the command line. */
  inspectLedger(): Promise<LedgerReport>
  /** Null: the chain was removed. */
  ledgerHead(): Promise<LedgerHead | null>
  /** Hash of one entry; null when the chain has none there. */
  journalHash(chain: string, sequence: number): Promise<string | null>
  /** The newest signed head of a chain in the ledger; null: none. */
  newestCheckpoint(chain: string): Promise<HeldCheckpoint | null>
  recordCheckpoint(row: CheckpointRow): Promise<void>
  /** A person accepts this ledger in place of the one that the last checkpoint is about. */
  acceptLedger(by: string, reason: string): Promise<void>
  close(): Promise<void>
}
