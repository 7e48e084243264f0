/**
 * An approver's decision: granted or denied, once, by a key other than the requester's, before the request expired
 * (docs/reference/api.md#approvals).
 */
import type { ApprovalsConfig } from './settings.ts'
import { GatewayError } from '../errors/errors.ts'
import { approverWords } from '../../engine/base.ts'
import type { Approvers, RequiredApproval } from '../../engine/internal.ts'
import type { Grant } from '../store/approvers.ts'
import type {
  ApprovalRow,
  ApprovalDecision,
  ApprovalDecisionRequest,
  ApprovalDecisionResult,
} from '../store/approvals.ts'
import type { StorePart } from '../store/store.ts'
import { currentSpan } from '../telemetry/trace-context.ts'

/** Who decides what on which request. */
export interface Word {
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
