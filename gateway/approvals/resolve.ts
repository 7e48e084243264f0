/**
 * An approver's decision: granted or denied, once, by a key other than the requester's, before the request expired
 * (docs/reference/api.md#approvals).
 */
import type { ApprovalsConfig } from './settings.ts'
import { GatewayError } from '../errors/errors.ts'
import { approverWords } from '../store/approvers.ts'
import type {
  ApprovalRow,
  ApprovalDecision,
  ApprovalDecisionRequest,
  ApprovalDecisionResult,
} from '../store/approvals.ts'
import type { StorePart } from '../store/store.ts'

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
): Promise<ApprovalRow> {
  const { state, tenant, approvalId, by, groups, comment, at, validity } = word
  const seconds = Math.min(validity ?? approvals.validity, approvals.validity)
  // Whole seconds, as in decisions: a grant ends at the same moment for everybody.
  const validUntil = state === 'granted' ? (Math.floor(at / 1000) + seconds) * 1000 : null
  const isFourEyes = approvals.four_eyes
  const request: ApprovalDecisionRequest = {
    tenant,
    approvalId,
    isFourEyes,
    needed: await neededFor(word, approvals, store),
    state,
    by,
    groups,
    comment,
    at,
    validUntil,
  }
  const result = await store.approvals.decide(request)
  if (result === 'group') throw await notOfGroup(tenant, approvalId, store)
  if (result !== 'settled' && result !== 'counted') throw REFUSALS[result]()
  const row = await store.approvals.byId(tenant, approvalId)
  if (row === null) throw new GatewayError('NOT_FOUND')
  return row
}

async function neededFor(
  { state, tenant, approvalId }: Word,
  settings: ApprovalsConfig['approvals'],
  store: StorePart<'approvals.byId'>,
): Promise<number> {
  const row = state === 'granted' ? await store.approvals.byId(tenant, approvalId) : null
  return row === null ? 1 : grantsNeeded(row, settings)
}

/** Number of people who have to grant a request: the largest number that the configuration names for it. */
export function grantsNeeded(
  { approvers }: Pick<ApprovalRow, 'approvers'>,
  { needed, needed_by_group: byGroup }: ApprovalsConfig['approvals'],
): number {
  const named = approvers.flat().flatMap((group) => (Object.hasOwn(byGroup, group) ? [byGroup[group] ?? 1] : []))
  return Math.max(needed, ...named)
}

async function notOfGroup(
  tenant: string,
  approvalId: string,
  store: StorePart<'approvals.byId'>,
): Promise<GatewayError> {
  const row = await store.approvals.byId(tenant, approvalId)
  const asked = approverWords(row?.approvers ?? [])
  return new GatewayError('FORBIDDEN', `The policy requires an approver of the group ${asked}; this one is not.`)
}
