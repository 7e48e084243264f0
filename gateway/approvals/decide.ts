/**
 * An approver's decision (docs/reference/api.md#approvals): granted or denied, once, by a key other than the requester's, before
 * the request expired. It is the same for the API and the console: stored, counted, logged, and seen by pending calls. Comments
 * change nothing else.
 */
import type {
  ApprovalRow,
  ApprovalDecision,
  ApprovalDecisionRequest,
  ApprovalDecisionResult,
} from '../store/approvals.ts'
import type { StorePart } from '../store/store.ts'
import type { LogFields, Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { ApprovalsConfig } from './settings.ts'
import { randomUUID } from 'node:crypto'
import { GatewayError } from '../errors/errors.ts'
import type { ApiKey } from '../store/api-keys.ts'
import { approverWords } from '../../engine/base.ts'
import type { Approvers, RequiredApproval } from '../../engine/internal.ts'
import type { Grant } from '../store/approvers.ts'
import { currentSpan } from '../telemetry/trace-context.ts'

/** Who decides what on which request. */
interface Word {
  readonly state: ApprovalDecision['state']
  readonly tenant: string
  readonly approvalId: string
  /** Audience of the approver's key. */
  readonly by: string
  /** Groups that the approver is in. */
  readonly groups: readonly string[]
  readonly comment: string
  /** Seconds that a grant is valid; null: the configured maximum. */
  readonly validity: number | null
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** What counts besides the request itself: its change is also another one that was granted, or that more people have to grant. */
export interface FurtherGrants {
  readonly required?: Approvers
  readonly earlier?: readonly Grant[]
}

const REFUSALS: Readonly<Record<Exclude<ApprovalDecisionResult, 'settled' | 'counted' | 'group'>, () => GatewayError>> =
  {
    missing: () => new GatewayError('NOT_FOUND'),
    conflict: () =>
      new GatewayError('APPROVAL_CONFLICT', 'The approval request has already been granted or denied, or has expired.'),
    own: () =>
      new GatewayError(
        'FORBIDDEN',
        'This key, or another one of the same person, asked for the approval; another approver has to decide it (four eyes).',
      ),
    again: () =>
      new GatewayError(
        'APPROVAL_CONFLICT',
        'This person has granted the request already; another approver has to grant it too.',
      ),
  }

/** @throws GatewayError NOT_FOUND, APPROVAL_CONFLICT or FORBIDDEN */
export async function completeApproval(
  word: Word,
  { approvals }: Pick<ApprovalsConfig, 'approvals'>,
  store: StorePart<'approvals.byId' | 'approvals.decide'>,
  further: FurtherGrants = {},
): Promise<ApprovalRow> {
  const { state, tenant, approvalId, by, groups, comment, at, validity } = word
  const seconds = Math.min(validity ?? approvals.validity, approvals.validity)
  // Whole seconds, as in decisions: a grant ends at the same moment for everybody.
  const validUntil = state === 'granted' ? (Math.floor(at / 1000) + seconds) * 1000 : null
  const isFourEyes = approvals.four_eyes
  const known = await store.approvals.byId(tenant, approvalId)
  const request: ApprovalDecisionRequest = {
    tenant,
    approvalId,
    isFourEyes,
    required: requiredFor([...(known?.approvers ?? []), ...(further.required ?? [])], approvals),
    earlier: further.earlier ?? [],
    state,
    by,
    groups,
    comment,
    at,
    validUntil,
    decidedIn: currentSpan(),
  }
  const result = await store.approvals.decide(request)
  if (result === 'group') throw await notOfGroup(tenant, approvalId, store)
  if (result !== 'settled' && result !== 'counted') throw REFUSALS[result]()
  const row = await store.approvals.byId(tenant, approvalId)
  if (row === null) throw new GatewayError('NOT_FOUND')
  return row
}

/** Number of people who have to grant a request, at least. */
export function grantsNeeded(required: Approvers): number {
  return Math.max(1, ...required.map(({ count }) => count))
}

/** Who has to grant a request: what the policy requires, and no fewer people than the configuration names. */
export function requiredFor(
  approvers: Approvers,
  { needed, needed_by_group: byGroup }: ApprovalsConfig['approvals'],
): Approvers {
  if (approvers.length === 0) return needed === 1 ? [] : [{ count: needed, groups: [] }]
  const largest = new Map<string, RequiredApproval>()
  for (const { count, groups } of approvers) {
    const named = groups.flatMap((group) => (Object.hasOwn(byGroup, group) ? [byGroup[group] ?? 1] : []))
    const name = groups.toSorted().join(' ')
    largest.set(name, { count: Math.max(count, needed, ...named, largest.get(name)?.count ?? 1), groups })
  }
  return [...largest.values()]
}

async function notOfGroup(
  tenant: string,
  approvalId: string,
  store: StorePart<'approvals.byId'>,
): Promise<GatewayError> {
  const row = await store.approvals.byId(tenant, approvalId)
  return notOfGroupError(row?.approvers ?? [])
}

export function notOfGroupError(required: Approvers): GatewayError {
  return new GatewayError('FORBIDDEN', `The policy requires ${approverWords(required)}; this one is not.`)
}

interface DecideDeps {
  readonly store: StorePart<'approvals.byId' | 'approvals.decide'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Calls that wait for the request check again immediately. */
  readonly approvalDecided: () => void
}

/** @throws GatewayError NOT_FOUND, APPROVAL_CONFLICT or FORBIDDEN */
export async function decideRequest(
  word: Word,
  config: Pick<ApprovalsConfig, 'approvals'>,
  correlationId: string,
  { store, metrics, logger, approvalDecided }: DecideDeps,
): Promise<ApprovalRow> {
  const row = await completeApproval(word, config, store)
  // One of several grants: the request is still pending.
  if (row.result === null) {
    logger.info(
      { event: 'approval.counted', ...approvalFields(row, word), correlation_id: correlationId },
      'grant counted; further people have to grant the request',
    )
    return row
  }
  approvalDecided()
  metrics.count('preflight_approvals_total', { event: word.state })
  const waited = Math.max(0, word.at - row.openedAt) / 1000
  metrics.observe('preflight_approval_wait_seconds', { decision: word.state }, waited)
  logger.info(
    { event: 'approval.decided', ...approvalFields(row, word), correlation_id: correlationId },
    `approval ${word.state}`,
  )
  return row
}

/** Members of a log record about a decision of a person. */
function approvalFields({ approvalId, tenant, route }: ApprovalRow, { by, state, groups }: Word) {
  return { approval_id: approvalId, state, by, groups, tenant, route }
}

/** The log record of a decision that was made elsewhere. */
export function approvalAct(row: ApprovalRow, word: Word): LogFields {
  return { event: row.result === null ? 'approval.counted' : 'approval.decided', ...approvalFields(row, word) }
}

interface CommentDeps {
  readonly store: StorePart<'approvals.byId' | 'approvals.comment'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** @throws GatewayError NOT_FOUND */
export async function commentOn(
  approvalId: string,
  text: string,
  { tenant, audience: by, groups }: Pick<ApiKey, 'tenant' | 'audience' | 'groups'>,
  { store, now }: CommentDeps,
): Promise<ApprovalRow> {
  const stepId = `stp_${randomUUID().replaceAll('-', '')}`
  await store.approvals.comment(tenant, { stepId, approvalId, kind: 'comment', by, groups, text, at: now() })
  const row = await store.approvals.byId(tenant, approvalId)
  if (row === null) throw new GatewayError('NOT_FOUND')
  return row
}
