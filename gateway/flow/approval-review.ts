/** What a person needs to decide on a request for approval: the findings, whom they reach, who may decide, and what a grant does. */
import { approverWords, occurrenceText } from '../../engine/base.ts'
import type { Approvers, Finding, FindingGroup, JudgedChangeSet } from '../../engine/internal.ts'
import { hasRight } from '../callers/rights.ts'
import { approvalState } from '../approvals/request.ts'
import { requiredFor } from '../approvals/decide.ts'
import { approvalWithSteps } from '../approvals/view.ts'
import type { ApprovalsConfig } from '../approvals/settings.ts'
import { groupsIn, mayGrant, stillRequired } from '../store/approvers.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { ApprovalRow } from '../store/approvals.ts'
import type { StorePart } from '../store/store.ts'
import type { Flow } from './flow.ts'
import { keptAssessment, type KeptAssessment } from './kept-assessment.ts'
import type { Replaying } from './replay.ts'
import type { FlowSettings } from './settings.ts'

/** Findings and places beyond these are counted. */
const MOST_FINDINGS = 200
const MOST_PLACES = 50

/** The person who looks at it; null: a user of the data directory. */
type Reviewer = Pick<ApiKey, 'role' | 'groups' | 'audience'> | null

interface ReviewDeps {
  readonly settings: FlowSettings & { readonly config: ApprovalsConfig }
  readonly flow: Pick<Flow, 'analyze'>
  readonly store: Replaying['store'] & StorePart<'decisions.byId' | 'apiKeys.identities' | 'approvals.steps'>
  /** Milliseconds since the epoch. */
  readonly now: number
}

interface ReviewFinding extends Pick<
  Finding,
  'rule' | 'level' | 'location' | 'side' | 'line' | 'column' | 'message' | 'explanation' | 'fix'
> {
  readonly artifact: string
  /** The command line reads it from a gateway, as any JSON. */
  readonly before: unknown
  readonly after: unknown
  /** As `GET /pets` or `tool search`. */
  readonly places: readonly string[]
  /** Rule of the policy that decided on it; null: none. */
  readonly policy_rule: string | null
}

interface ApprovalReview {
  /** Why the findings cannot be shown; null: they are. */
  readonly problem: string | null
  readonly findings: readonly ReviewFinding[]
  readonly findings_total: number
  readonly blast_radius: { readonly endpoints: number; readonly fields: number; readonly params: number } | null
  /** Names of those whom the change reaches; null: not measured. */
  readonly consumers: readonly string[] | null
  readonly risk_factors: readonly {
    readonly id: string
    readonly points: number
    readonly weight: number
    readonly because: string
  }[]
  readonly who_may_grant: string
  /** Why the one who asks may not grant it; null: they may. */
  readonly you_may_not_grant: string | null
  readonly on_grant: string
}

export type ReviewedApproval = ReturnType<typeof approvalWithSteps> & { readonly review: ApprovalReview }

/** The request, its steps, and the review. */
export async function reviewedApproval(
  row: ApprovalRow,
  reviewer: Reviewer,
  deps: ReviewDeps,
): Promise<ReviewedApproval> {
  const steps = await deps.store.approvals.steps(row.tenant, row.approvalId)
  const { config } = deps.settings
  const review = await approvalReview(row, reviewer, deps)
  return { ...approvalWithSteps(row, steps, config, deps.now), review }
}

async function approvalReview(row: ApprovalRow, reviewer: Reviewer, deps: ReviewDeps): Promise<ApprovalReview> {
  const { approvals } = deps.settings.config
  const required = requiredFor(row.approvers, approvals)
  const left = stillRequired(required, row.grants)
  return {
    ...(await assessed(row, deps)),
    who_may_grant: whoMayGrant(required, row.grants.length, left, approvals.four_eyes),
    you_may_not_grant: await hindrance(row, reviewer, deps),
    on_grant: onGrant(row, Math.max(0, ...left.map(({ count }) => count)), approvals.validity),
  }
}

type Assessed = Omit<ApprovalReview, 'who_may_grant' | 'you_may_not_grant' | 'on_grant'>

async function assessed(row: ApprovalRow, deps: ReviewDeps): Promise<Assessed> {
  const decision = await deps.store.decisions.byId(row.tenant, row.decisionId)
  if (decision === null) return withoutFindings('its decision is no longer stored')
  const kept = await keptAssessment(decision, deps)
  return kept.ok ? shownAssessment(kept.value) : withoutFindings(kept.problem)
}

function withoutFindings(problem: string): Assessed {
  return { problem, findings: [], findings_total: 0, blast_radius: null, consumers: null, risk_factors: [] }
}

function shownAssessment({ verdict, judged }: KeptAssessment): Assessed {
  const judgements = judged.artifacts.flatMap((artifact) => artifact.judgements)
  return {
    problem: null,
    findings: judgements.slice(0, MOST_FINDINGS).map(({ artifact, group, effect }) => ({
      artifact,
      ...findingOf(group),
      policy_rule: effect.ruleId === 'none' ? null : effect.ruleId,
    })),
    findings_total: judgements.length,
    blast_radius: verdict.blast_radius,
    consumers: touchedConsumers(judged),
    risk_factors: verdict.risk_factors.map(({ id, points, weight, because }) => ({ id, points, weight, because })),
  }
}

function findingOf(group: FindingGroup): Omit<ReviewFinding, 'artifact' | 'policy_rule'> {
  const { rule, level, location, side, line, column, message, explanation, fix, before, after } = group
  const places = [...new Set(group.occurrences.map(occurrenceText))]
    .filter((place) => place !== '')
    .slice(0, MOST_PLACES)
  return { rule, level, location, side, line, column, message, explanation, fix, before, after, places }
}

function touchedConsumers({ reach: { declared, observed } }: JudgedChangeSet): readonly string[] | null {
  if (declared === null && observed === null) return null
  return [...new Set([...(declared ?? []), ...(observed ?? [])])].toSorted()
}

function whoMayGrant(required: Approvers, granted: number, left: Approvers, isFourEyes: boolean): string {
  const who = required.length === 0 ? 'an approver' : approverWords(required)
  const isBegun = granted > 0 && left.length > 0
  const several = isBegun ? `; ${granted} granted, still required: ${approverWords(left)}` : ''
  return `${who}${isFourEyes ? ', not the one who asked' : ''}${several}`
}

async function hindrance(row: ApprovalRow, reviewer: Reviewer, { settings, store, now }: ReviewDeps) {
  const state = approvalState(row, now)
  if (state !== 'pending') return `it is ${state}`
  if (reviewer === null) return null
  if (!hasRight(reviewer, 'approve')) return `your role is ${reviewer.role}`
  const own = await store.apiKeys.identities(reviewer.audience)
  if (settings.config.approvals.four_eyes && row.requesters.some((asked) => own.includes(asked)))
    return 'you asked for it (four eyes)'
  if (mayGrant(row.approvers, reviewer.groups)) return null
  return `you are not in the group ${groupsIn(row.approvers).join(' or ')}`
}

function onGrant({ route }: ApprovalRow, people: number, validity: number): string {
  const first = people > 1 ? `${people} further people have to grant it. Then the` : 'The'
  const calls = route === null ? '' : ` Calls of the route ${route} that wait for it are judged again, then forwarded.`
  return (
    `${first} next preflight of exactly this change in this place continues under monitoring, for at most ${validity} seconds. ` +
    `The decision that asked stays as it is. Another change, place or policy needs its own approval.${calls}`
  )
}
