/** Earlier decisions of one scope, from the ledger, for policies that use history; they are not read for other policies. */
import { byCodeUnit, MAX_EARLIER_DECISIONS } from '../../engine/base.ts'
import type { CompiledPolicy, Digest, EarlierDecision } from '../../engine/internal.ts'
import type { StorePart } from '../store/store.ts'
import type { SupersessionKey } from '../store/decisions.ts'
import type { AnalyzeRequest } from './flow.ts'

/**
 * docs/reference/hashes.md#scope-key, Supersession: the members that a later decision must share with an earlier one to
 * supersede it. For intercepted calls the route and the tool are members too: a decision for one tool does not supersede one
 * for another.
 */
export function scopeKey({ context, artifacts, route = null, scope, commitSha }: AnalyzeRequest): SupersessionKey {
  const { operation, environment, repository, branch, pull_request, target_id } = context
  // The caller of an earlier decision holds its receipt; nobody holds that of a webhook.
  const webhook = commitSha === undefined ? [] : ['webhook']
  const ids = artifacts.map(({ id }) => id).sort(byCodeUnit)
  return JSON.stringify([
    operation,
    environment,
    repository,
    branch,
    pull_request,
    target_id,
    route,
    scope,
    ids,
    ...webhook,
  ])
}

interface HistoryQuery {
  readonly policy: Pick<CompiledPolicy, 'historyWindow'>
  readonly inputFingerprint: Digest
  /** Milliseconds since the epoch. */
  readonly now: number
}

/**
 * Newest first.
 * @throws GatewayError STORE_UNAVAILABLE: when history that the policy needs cannot be read, there is no decision
 */
export async function earlierDecisions(
  request: AnalyzeRequest,
  { policy: { historyWindow }, inputFingerprint, now }: HistoryQuery,
  store: StorePart<'decisions.history'>,
): Promise<readonly EarlierDecision[]> {
  if (historyWindow === null || request.caller === undefined) return []
  const rows = await store.decisions.history({
    tenant: request.caller.tenant,
    supersessionKey: scopeKey(request),
    since: now - historyWindow * 1000,
    limit: MAX_EARLIER_DECISIONS,
  })
  return rows.map(({ decision, inputFingerprint: earlier, evaluatedAt }) => ({
    decision,
    at: Math.floor(evaluatedAt / 1000),
    isSameInput: earlier === inputFingerprint,
  }))
}
