/** A comment on a request for approval. It stays with the request and changes nothing else. */
import { randomUUID } from 'node:crypto'
import { GatewayError } from '../errors/errors.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { ApprovalRow } from '../store/approvals.ts'
import type { StorePart } from '../store/store.ts'

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
