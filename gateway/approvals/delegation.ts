/**
 * Handing over the right to grant: an approver lets another approver use the own groups for a time, for one request or for all
 * (docs/approvals.md). The delegate keeps the own role; four eyes hold for both.
 */
import { randomUUID } from 'node:crypto'
import { isKeyInForce } from '../callers/api-keys.ts'
import { hasRight } from '../callers/rights.ts'
import { GatewayError } from '../errors/errors.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { DelegationRow } from '../store/approvals.ts'
import type { StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'

/** A longer absence needs a change of groups. */
export const LONGEST_DELEGATION_SECONDS = 30 * 86_400
const SHOWN = 200

/** Who hands over. */
type Holder = Pick<ApiKey, 'audience' | 'tenant' | 'groups' | 'role'>

interface Handover {
  /** Audience of a key, or `oidc:PROVIDER:SUBJECT`. */
  readonly to: string
  readonly seconds: number
  /** Only this request; null: every request. */
  readonly approvalId: string | null
  readonly reason: string
}

interface DelegationDeps {
  readonly store: StorePart<
    'apiKeys.list' | 'apiKeys.identities' | 'approvals.delegate' | 'approvals.delegations' | 'approvals.endDelegation'
  >
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** @throws GatewayError INVALID_INPUT or APPROVAL_CONFLICT */
export async function handOver(
  { to, seconds, approvalId, reason }: Handover,
  { audience: by, tenant, groups }: Holder,
  deps: DelegationDeps,
): Promise<DelegationRow> {
  const { store, logger, now } = deps
  if (groups.length === 0) throw wrong('/to', 'You are in no group of approvers, so there is nothing to delegate.')
  if ((await store.apiKeys.identities(by)).includes(to)) throw wrong('/to', 'This is you. Choose another approver.')
  await assertApprover(to, tenant, deps)
  const at = now()
  const delegation = {
    delegationId: `dlg_${randomUUID().replaceAll('-', '')}`,
    tenant,
    by,
    groups,
    to,
    approvalId,
    reason,
    at,
    until: at + Math.min(seconds, LONGEST_DELEGATION_SECONDS) * 1000,
  }
  if (!(await store.approvals.delegate(delegation)))
    throw new GatewayError('APPROVAL_CONFLICT', 'There is no pending request with this id.')
  const { delegationId, until } = delegation
  const fields = { delegation_id: delegationId, by, to, groups, until: new Date(until).toISOString() }
  logger.info(
    { event: 'approval.delegated', ...fields, ...(approvalId !== null && { approval_id: approvalId }) },
    'an approver delegated the right to grant',
  )
  return { ...delegation, ended: null }
}

/** Whoever handed it over, whoever got it, and administrators may end it. @throws GatewayError NOT_FOUND or FORBIDDEN */
export async function takeBack(delegationId: string, holder: Holder, deps: DelegationDeps): Promise<void> {
  const { store, logger, now } = deps
  const { tenant, audience: by } = holder
  const found = (await store.approvals.delegations(tenant, SHOWN)).find((row) => row.delegationId === delegationId)
  if (found === undefined) throw new GatewayError('NOT_FOUND')
  const person = await store.apiKeys.identities(by)
  const isConcerned = person.includes(found.by) || person.includes(found.to)
  if (!isConcerned && !hasRight(holder, 'administer'))
    throw new GatewayError('FORBIDDEN', 'Only the two approvers and administrators may end this delegation.')
  if (!(await store.approvals.endDelegation(tenant, delegationId, { by, at: now() })))
    throw new GatewayError('NOT_FOUND')
  logger.info(
    { event: 'approval.delegation_ended', delegation_id: delegationId, by },
    'the right to grant was taken back',
  )
}

export function shownDelegations(tenant: string, { store }: Pick<DelegationDeps, 'store'>) {
  return store.approvals.delegations(tenant, SHOWN)
}

export function isDelegationInForce({ until, ended }: DelegationRow, now: number): boolean {
  return ended === null && now < until
}

/** Keys of approvers of the tenant that are in force. */
export async function approverKeys(
  tenant: string,
  { store, now }: Pick<DelegationDeps, 'now'> & { readonly store: StorePart<'apiKeys.list'> },
): Promise<readonly ApiKey[]> {
  const keys = await store.apiKeys.list()
  return keys.filter((key) => key.tenant === tenant && hasRight(key, 'approve') && isKeyInForce(key, now()))
}

async function assertApprover(to: string, tenant: string, deps: DelegationDeps): Promise<void> {
  // Whether a person of a provider may approve is known when that person decides.
  if (/^oidc:[a-z0-9-]{1,32}:[\x21-\x7e]{1,200}$/.test(to)) return
  if ((await approverKeys(tenant, deps)).some(({ audience }) => audience === to)) return
  throw wrong('/to', 'This names no approver here. Give the audience of an approver’s key, or oidc:PROVIDER:SUBJECT.')
}

function wrong(pointer: string, message: string): GatewayError {
  return new GatewayError('INVALID_INPUT', message, { details: [{ pointer, message }] })
}

const iso = (at: number): string => new Date(at).toISOString()

/** In its wire form. */
export function delegationView(row: DelegationRow, now: number) {
  const { delegationId: id, by, to, groups, approvalId, reason, at, until, ended } = row
  return {
    id,
    in_force: isDelegationInForce(row, now),
    by,
    to,
    groups,
    approval_id: approvalId,
    reason,
    at: iso(at),
    until: iso(until),
    ended_at: ended === null ? null : iso(ended.at),
    ended_by: ended?.by ?? null,
  }
}
