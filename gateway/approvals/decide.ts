/**
 * An approver's decision from its request to its effect, the same for the API and the console: stored, counted, logged, and seen
 * by pending calls. Comments stay with the request and change nothing else.
 */
import type { ApprovalRow } from '../store/approvals.ts'
import type { StorePart } from '../store/store.ts'
import type { LogFields, Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { completeApproval, type Word } from './resolve.ts'
import type { ApprovalsConfig } from './settings.ts'
import { randomUUID } from 'node:crypto'
import { GatewayError } from '../errors/errors.ts'
import type { ApiKey } from '../store/api-keys.ts'

interface DecideDeps {
  readonly store: StorePart<'approvals.byId' | 'approvals.decide'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Calls that wait for the request check again immediately. */
  readonly wordGiven: () => void
}

/** @throws GatewayError NOT_FOUND, APPROVAL_CONFLICT or FORBIDDEN */
export async function decideRequest(
  word: Word,
  config: Pick<ApprovalsConfig, 'approvals'>,
  correlationId: string,
  { store, metrics, logger, wordGiven }: DecideDeps,
): Promise<ApprovalRow> {
  const row = await completeApproval(word, config, store)
  // One of several grants: the request is still pending.
  if (row.result === null) {
    logger.info(
      { event: 'approval.counted', ...named(row, word), correlation_id: correlationId },
      'grant counted; further people have to grant the request',
    )
    return row
  }
  wordGiven()
  metrics.count('preflight_approvals_total', { event: word.state })
  const waited = Math.max(0, word.at - row.openedAt) / 1000
  metrics.observe('preflight_approval_wait_seconds', { decision: word.state }, waited)
  logger.info(
    { event: 'approval.decided', ...named(row, word), correlation_id: correlationId },
    `approval ${word.state}`,
  )
  return row
}

/** Members of a log record about a decision of a person. */
function named({ approvalId, tenant, route }: ApprovalRow, { by, state, groups }: Word) {
  return { approval_id: approvalId, state, by, groups, tenant, route }
}

/** The log record of a decision that was made elsewhere. */
export function approvalAct(row: ApprovalRow, word: Word): LogFields {
  return { event: row.result === null ? 'approval.counted' : 'approval.decided', ...named(row, word) }
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
