/**
 * The decision that lets a contract become a baseline (docs/reference/api.md#approvals, docs/reference/api.md#baselines):
 * operation `register`, under the policy, on the reviewed difference. When the difference needs an approval, here or at pending
 * calls, the acceptance counts as one. It needs the same role, group, four eyes and reason, and it grants the pending requests
 * about the same change.
 */
import { EMPTY_CONTEXT } from '../../engine/base.ts'
import type { Approvers, Envelope, Verdict } from '../../engine/internal.ts'
import { approvalState } from '../approvals/request.ts'
import { approverWords, mayGrant } from '../store/approvers.ts'
import { completeApproval, grantsNeeded } from '../approvals/resolve.ts'
import type { AcceptedRoute } from '../routing/sidecar-route.ts'
import { GatewayError } from '../errors/errors.ts'
import type { AnalyzeRequest, AuthorizeRequest, Flow } from '../flow/flow.ts'
import { LOCAL_TENANT } from '../callers/api-keys.ts'
import type { BaselinesConfig } from './settings.ts'
import type { ApprovalRow } from '../store/approvals.ts'
import type { BaselineRow } from '../store/baselines.ts'
import type { StorePart } from '../store/store.ts'
import { changeOf, ownerOf, REGISTER } from './promotion.ts'

/** A person who accepts a contract. */
export interface Acceptor {
  /** Audience of the key, or `cli:USER`. */
  readonly by: string
  readonly groups: readonly string[]
  /** Why; kept with the request and the decision. */
  readonly comment: string
}

type BaselineSide = Pick<BaselineRow, 'type' | 'content'>

/** A contract that is to become the baseline of a route. */
export interface Acceptance {
  /** Under the name of the baseline, which is the route's or `ROUTE/NAME`. */
  readonly route: AcceptedRoute
  readonly before: BaselineSide
  /** What becomes the baseline. */
  readonly after: BaselineSide
  /**
   * The contract that the upstream offers: pending calls are about it. It differs from `after` when only parts are accepted.
   */
  readonly offered: BaselineSide
  /** Whether a call of this target is about what is accepted. */
  readonly isAccepted: (target: string) => boolean
}

/** The members of a decision about the calls that acceptance depends on. */
type AcceptedVerdict = Pick<Verdict, 'decision' | 'safe_for_agent' | 'approver_groups'>

export interface AcceptanceDeps {
  readonly settings: () => { readonly config: BaselinesConfig }
  readonly flow: Pick<Flow, 'digests'> & {
    analyze(request: AnalyzeRequest): Promise<{ readonly verdict: AcceptedVerdict }>
    authorize(request: AuthorizeRequest): Promise<{ readonly envelope: Envelope; readonly approvalId: string | null }>
  }
  readonly store: StorePart<'approvals.byId' | 'approvals.list' | 'approvals.decide' | 'apiKeys.identities'>
  readonly now: () => number
}

/**
 * Decides, and grants the pending requests. Resolves when the contract may become the baseline. @throws GatewayError FORBIDDEN,
 * INVALID_INPUT or APPROVAL_CONFLICT
 */
export async function accept(acceptance: Acceptance, acceptor: Acceptor, deps: AcceptanceDeps): Promise<void> {
  const waiting = await requestsAbout(acceptance, deps)
  const called = await callVerdict(acceptance, deps)
  const first = await deps.flow.authorize(registration(acceptance))
  if (first.envelope.execution_action === 'STOP') throw blocked(first.envelope)
  const isApproval = first.envelope.execution_action === 'REQUEST_APPROVAL'
  const groups = [...called, ...waiting.flatMap(({ approvers }) => approvers)]
  if (isApproval || waiting.length > 0 || called.length > 0) assertReason(acceptor)
  const person = await deps.store.apiKeys.identities(acceptor.by)
  assertMay(acceptor, person, groups, waiting, deps.settings())
  if (isApproval) await grant(first.approvalId, LOCAL_TENANT, acceptor, deps)
  // The exception is a decision of its own in the ledger: it names who accepted which change.
  const decided = isApproval ? await deps.flow.authorize(registration(acceptance)) : first
  if (!decided.envelope.safe_for_agent) throw blocked(decided.envelope)
  for (const { approvalId, tenant } of waiting) await grantOthers(approvalId, tenant, acceptor, deps)
}

/** True when nobody has to approve: neither to register the difference nor to make calls under it. */
export async function mayPromoteItself(acceptance: Acceptance, deps: AcceptanceDeps): Promise<boolean> {
  for (const request of [registration(acceptance), calling(acceptance)]) {
    const { verdict } = await deps.flow.analyze(request)
    if (!verdict.safe_for_agent) return false
  }
  return (await deps.flow.authorize(registration(acceptance))).envelope.safe_for_agent
}

/** The groups that calls under the difference require, even when no call was made yet. */
async function callVerdict(acceptance: Acceptance, { flow }: AcceptanceDeps): Promise<Approvers> {
  const { verdict } = await flow.analyze(calling(acceptance))
  return verdict.decision === 'REQUIRE_APPROVAL' ? verdict.approver_groups : []
}

function calling(acceptance: Acceptance): AuthorizeRequest {
  const request = registration(acceptance)
  return { ...request, context: { ...request.context, operation: acceptance.route.operation } }
}

function registration({ route, before, after }: Acceptance): AuthorizeRequest {
  const artifact = changeOf(route.name, before, after)
  return {
    artifacts: [artifact],
    context: {
      ...EMPTY_CONTEXT,
      operation: REGISTER,
      environment: route.environment ?? null,
      target_id: route.name,
    },
    caller: { tenant: LOCAL_TENANT, audience: null },
    correlationId: `promote:${route.name.replace(/[^\w.:-]/g, ':')}`,
    route: ownerOf(route.name),
    decisionSpecVersion: '2.0',
    previousReceipt: null,
    scope: null,
    idempotency: null,
    response: null,
  }
}

const PAGE = 200

/** Requests for calls of the same route about the same two contracts, pending or denied with the denial still valid. */
async function requestsAbout(acceptance: Acceptance, deps: AcceptanceDeps): Promise<readonly ApprovalRow[]> {
  const { route, isAccepted } = acceptance
  const tenants = new Set([LOCAL_TENANT, ...route.tenants])
  const found: ApprovalRow[] = []
  const fingerprints = new Map<string, string>()
  for (const tenant of tenants)
    for (const state of ['pending', 'denied'] as const)
      for await (const row of approvalsOf(tenant, state, deps)) {
        const isOver = row.expiresAt <= deps.now()
        if (isOver || row.route !== ownerOf(route.name) || row.targetId === null || !isAccepted(row.targetId)) continue
        const known = fingerprints.get(row.targetId) ?? (await fingerprintAt(row.targetId, acceptance, deps))
        fingerprints.set(row.targetId, known)
        if (known === row.inputFingerprint) found.push(row)
      }
  return found
}

async function* approvalsOf(
  tenant: string,
  state: 'pending' | 'denied',
  { store, now }: AcceptanceDeps,
): AsyncGenerator<ApprovalRow> {
  let before: string | undefined
  for (;;) {
    const rows = await store.approvals.list({
      tenant,
      state,
      limit: PAGE,
      now: now(),
      ...(before !== undefined && { before }),
    })
    yield* rows
    before = rows.at(-1)?.approvalId
    if (rows.length < PAGE || before === undefined) return
  }
}

async function fingerprintAt(target: string, { before, offered }: Acceptance, deps: AcceptanceDeps): Promise<string> {
  return (await deps.flow.digests([changeOf(target, before, offered)])).inputFingerprint
}

function assertReason({ comment }: Acceptor): void {
  if (comment.trim() !== '') return
  const message = 'The policy requires an approval of this difference: give the reason why you accept it.'
  throw new GatewayError('INVALID_INPUT', message, { details: [{ pointer: '/comment', message: 'is required' }] })
}

function assertMay(
  { groups }: Acceptor,
  person: readonly string[],
  asked: Approvers,
  waiting: readonly ApprovalRow[],
  { config }: { readonly config: BaselinesConfig },
): void {
  const denied = waiting.find((row) => row.result?.state === 'denied')
  if (denied !== undefined) {
    const { approvalId, result } = denied
    const message = `${result?.by ?? 'An approver'} denied calls under this change (${approvalId}); the denial stands until ${new Date(denied.expiresAt).toISOString()}.`
    throw new GatewayError('APPROVAL_CONFLICT', message)
  }
  const own = config.approvals.four_eyes
    ? waiting.find(({ requesters }) => requesters.some((requester) => person.includes(requester)))
    : undefined
  if (own !== undefined) {
    const message = `This key, or another one of the same person, asked for the approval ${own.approvalId} of the same change; another approver has to accept it (four eyes).`
    throw new GatewayError('FORBIDDEN', message)
  }
  if (mayGrant(asked, groups)) return
  const message = `The policy requires an approver of the group ${approverWords(asked)}; this one is not.`
  throw new GatewayError('FORBIDDEN', message)
}

async function grant(
  approvalId: string | null,
  tenant: string,
  { by, groups, comment }: Acceptor,
  { settings, store, now }: AcceptanceDeps,
): Promise<void> {
  if (approvalId === null) throw new TypeError('a decision that needs an approval opened no request for it')
  const word = { state: 'granted', tenant, approvalId, by, groups, comment, validity: null, at: now() } as const
  const row = await completeApproval(word, settings().config, store)
  if (row.result !== null) return
  const message = `Your grant is recorded (${approvalId}). ${grantsNeeded(row, settings().config.approvals)} people have to grant it before the contract becomes the baseline.`
  throw new GatewayError('APPROVAL_CONFLICT', message)
}

/** A request that another approver decided meanwhile stays as it is, unless it was denied. */
async function grantOthers(
  approvalId: string,
  tenant: string,
  acceptor: Acceptor,
  deps: AcceptanceDeps,
): Promise<void> {
  try {
    await grant(approvalId, tenant, acceptor, deps)
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'APPROVAL_CONFLICT') throw error
    const row = await deps.store.approvals.byId(tenant, approvalId)
    if (row !== null && approvalState(row, deps.now()) === 'denied') throw error
  }
}

function blocked(envelope: Envelope): GatewayError {
  const reasons = [...envelope.blocking_reasons, ...(envelope.degraded_reasons ?? [])]
  return new GatewayError(
    'FORBIDDEN',
    `The policy does not let the candidate become the baseline (${envelope.summary}).`,
    { details: reasons.map(({ code, message }) => ({ pointer: '/digest', message: `${code}: ${message}` })) },
  )
}
