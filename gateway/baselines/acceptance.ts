/**
 * The decision that lets a contract become a baseline (docs/reference/api.md#approvals, docs/reference/api.md#baselines):
 * operation `register`, under the policy, on the reviewed difference. When the difference needs an approval, here or at pending
 * calls, the acceptance counts as one. It needs the same role, group, four eyes and reason, and it grants the pending requests
 * about the same change.
 */
import { approverWords, EMPTY_CONTEXT } from '../../engine/base.ts'
import type { Approvers, Envelope, Verdict } from '../../engine/internal.ts'
import { approvalState } from '../approvals/request.ts'
import {
  completeApproval,
  grantsNeeded,
  notOfGroupError,
  requiredFor,
  type FurtherGrants,
} from '../approvals/decide.ts'
import { isGrantedBy, stillRequired, type Grant } from '../store/approvers.ts'
import type { AcceptedRoute } from '../routing/sidecar-route.ts'
import { GatewayError } from '../errors/errors.ts'
import type { AnalyzeRequest, AuthorizeRequest, Flow } from '../flow/flow.ts'
import { LOCAL_TENANT } from '../callers/api-keys.ts'
import type { BaselinesConfig } from './settings.ts'
import type { ApprovalRow } from '../store/approvals.ts'
import type { BaselineRow } from '../store/baselines.ts'
import type { StorePart } from '../store/store.ts'
import { promotedArtifact, ownerOf, REGISTER } from './promotion.ts'

/** A person who accepts a contract. */
export interface Acceptor {
  readonly tenant: string
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

/** The whole offer. */
export function acceptanceOf(route: AcceptedRoute, before: BaselineSide, offered: BaselineSide): Acceptance {
  return { route, before, after: offered, offered, isAccepted: () => true }
}

/** The members of a decision about the calls that acceptance depends on. */
type AcceptedVerdict = Pick<Verdict, 'decision' | 'safe_for_agent' | 'required_approvals'>

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
 * Decides, and grants the pending requests. Where several people have to grant, their grants are gathered in one request: that to
 * register the difference, else that of a call. Resolves when the contract may become the baseline.
 * @throws GatewayError FORBIDDEN, INVALID_INPUT or APPROVAL_CONFLICT
 */
export async function accept(acceptance: Acceptance, acceptor: Acceptor, deps: AcceptanceDeps): Promise<void> {
  const concerned = await requestsAbout(acceptance, deps)
  const waiting = concerned.filter(({ targetId }) => acceptance.isAccepted(targetId ?? ''))
  const called = await callVerdict(acceptance, deps)
  const first = await deps.flow.authorize(registration(acceptance))
  if (first.envelope.execution_action === 'STOP') throw blocked(first.envelope)
  const registered = first.approvalId === null ? null : await deps.store.approvals.byId(LOCAL_TENANT, first.approvalId)
  const isApproval = first.envelope.execution_action === 'REQUEST_APPROVAL'
  if (isApproval || waiting.length > 0 || called !== null) assertReason(acceptor)
  await assertNotRefused(acceptor, concerned, deps)
  const required = [...(called ?? []), ...waiting.flatMap(({ approvers }) => approvers)]
  const gathering: Gathering = { required, earlier: isApproval ? [] : (registered?.grants ?? []), acceptor, deps }
  const requests = [...(isApproval && registered !== null ? [registered] : []), ...waiting]
  if (requests.length === 0 && called !== null) requests.push(...(await requestToCall(acceptance, gathering)))
  await grantAll(requests, gathering)
  // The exception is a decision of its own in the ledger: it names who accepted which change.
  const decided = isApproval ? await deps.flow.authorize(registration(acceptance)) : first
  if (!decided.envelope.safe_for_agent) throw blocked(decided.envelope)
}

/** An acceptance while its grants are gathered. */
interface Gathering {
  /** What calls under the difference require, besides the requests themselves. */
  readonly required: Approvers
  /** Grants of the same difference that count. */
  readonly earlier: readonly Grant[]
  readonly acceptor: Acceptor
  readonly deps: AcceptanceDeps
}

/**
 * Nobody has called yet, so nobody asked: a request is opened when this person alone may not grant what calls would require.
 */
async function requestToCall(
  acceptance: Acceptance,
  { required, earlier, acceptor, deps }: Gathering,
): Promise<readonly ApprovalRow[]> {
  const asked = requiredFor(required, deps.settings().config.approvals)
  if (isGrantedBy(asked, [{ by: acceptor.by, groups: acceptor.groups }])) return []
  // The store counts earlier grants: it knows which of them still count, and which keys are one person's.
  if (earlier.length === 0 && grantsNeeded(asked) === 1 && asked.length === 1) throw notOfGroupError(asked)
  const { approvalId } = await deps.flow.authorize(calling(acceptance))
  const row = approvalId === null ? null : await deps.store.approvals.byId(LOCAL_TENANT, approvalId)
  return row === null ? [] : [row]
}

/** The first request gathers; its grants are those of the others. */
async function grantAll(requests: readonly ApprovalRow[], gathering: Gathering): Promise<void> {
  const [first, ...others] = requests
  if (first === undefined) return
  const { required, earlier, acceptor, deps } = gathering
  const row = await grant(first, { required, earlier }, acceptor, deps)
  for (const other of others) await grantOther(other, { earlier: row.grants }, acceptor, deps)
}

/** True when nobody has to approve: neither to register the difference nor to make calls under it. */
export async function mayPromoteItself(acceptance: Acceptance, deps: AcceptanceDeps): Promise<boolean> {
  for (const request of [registration(acceptance), calling(acceptance)]) {
    const { verdict } = await deps.flow.analyze(request)
    if (!verdict.safe_for_agent) return false
  }
  return (await deps.flow.authorize(registration(acceptance))).envelope.safe_for_agent
}

/** The approvers that calls under the difference require, even when no call was made yet; null: calls need no approval. */
async function callVerdict(acceptance: Acceptance, { flow }: AcceptanceDeps): Promise<Approvers | null> {
  const { verdict } = await flow.analyze(calling(acceptance))
  return verdict.decision === 'REQUIRE_APPROVAL' ? verdict.required_approvals : null
}

function calling(acceptance: Acceptance): AuthorizeRequest {
  const request = registration(acceptance)
  return { ...request, context: { ...request.context, operation: acceptance.route.operation } }
}

function registration({ route, before, after }: Acceptance): AuthorizeRequest {
  const artifact = promotedArtifact(route.name, before, after)
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

/**
 * Requests for calls of the same route about the same two contracts, pending or denied with the denial still valid. A request
 * about the contract as a whole, or about a resource, may rest on any of its parts.
 */
async function requestsAbout(acceptance: Acceptance, deps: AcceptanceDeps): Promise<readonly ApprovalRow[]> {
  const { route, isAccepted } = acceptance
  const owner = ownerOf(route.name)
  const isConcerned = (target: string): boolean =>
    isAccepted(target) || target === owner || target.startsWith(`${owner}#resource/`)
  const tenants = new Set([LOCAL_TENANT, ...route.tenants])
  const found: ApprovalRow[] = []
  const fingerprints = new Map<string, string>()
  for (const tenant of tenants)
    for (const state of ['pending', 'denied'] as const)
      for await (const row of approvalsOf(tenant, state, deps)) {
        const isOver = row.expiresAt <= deps.now()
        if (isOver || row.route !== owner || row.targetId === null || !isConcerned(row.targetId)) continue
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
  return (await deps.flow.digests([promotedArtifact(target, before, offered)])).inputFingerprint
}

function assertReason({ comment }: Acceptor): void {
  if (comment.trim() !== '') return
  const message = 'The policy requires an approval of this difference: give the reason why you accept it.'
  throw new GatewayError('INVALID_INPUT', message, { details: [{ pointer: '/comment', message: 'is required' }] })
}

/** A denial stands, and nobody accepts what they asked for. */
async function assertNotRefused(
  { by }: Acceptor,
  concerned: readonly ApprovalRow[],
  { settings, store }: AcceptanceDeps,
): Promise<void> {
  const denied = concerned.find((row) => row.result?.state === 'denied')
  if (denied !== undefined) {
    const { approvalId, result } = denied
    const message = `${result?.by ?? 'An approver'} denied calls under this change (${approvalId}); the denial stands until ${new Date(denied.expiresAt).toISOString()}.`
    throw new GatewayError('APPROVAL_CONFLICT', message)
  }
  if (!settings().config.approvals.four_eyes) return
  const person = await store.apiKeys.identities(by)
  const own = concerned.find(({ requesters }) => requesters.some((requester) => person.includes(requester)))
  if (own === undefined) return
  const message = `This key, or another one of the same person, asked for the approval ${own.approvalId} of the same change; another approver has to accept it (four eyes).`
  throw new GatewayError('FORBIDDEN', message)
}

async function grant(
  { approvalId, tenant }: ApprovalRow,
  further: FurtherGrants,
  { by, groups, comment }: Acceptor,
  { settings, store, now }: AcceptanceDeps,
): Promise<ApprovalRow> {
  const word = { state: 'granted', tenant, approvalId, by, groups, comment, validity: null, at: now() } as const
  const { approvals } = settings().config
  const row = await completeApproval(word, { approvals }, store, further)
  if (row.result !== null) return row
  const required = requiredFor([...row.approvers, ...(further.required ?? [])], approvals)
  const left = approverWords(stillRequired(required, [...row.grants, ...(further.earlier ?? [])]))
  const message = `Your grant is recorded in ${approvalId}. ${grantsNeeded(required)} people have to grant it before the contract becomes the baseline; still required: ${left}.`
  throw new GatewayError('APPROVAL_CONFLICT', message)
}

/** A request that another approver decided meanwhile stays as it is, unless it was denied. */
async function grantOther(
  other: ApprovalRow,
  further: FurtherGrants,
  acceptor: Acceptor,
  deps: AcceptanceDeps,
): Promise<void> {
  try {
    await grant(other, further, acceptor, deps)
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'APPROVAL_CONFLICT') throw error
    const row = await deps.store.approvals.byId(other.tenant, other.approvalId)
    if (row === null || approvalState(row, deps.now()) !== 'granted') throw error
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
