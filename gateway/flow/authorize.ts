/** The decision path: analyze → decide → record, in that order. No failure on it ends in ALLOW (law 2 of CONTRIBUTING.md). */
import { engine } from '../loading/lazy-engine.ts'
import { randomUUID } from 'node:crypto'
import { digestText, REASON_CODES } from '../../engine/base.ts'
import type {
  ArtifactAnalysis,
  CompareOptions,
  CompiledPolicy,
  DecideInput,
  IssuedReceipt,
  Verdict,
} from '../../engine/internal.ts'
import { declaredConsumers, observedConsumers } from '../consumers/known.ts'
import { approvalFacts, approvalOpening } from '../approvals/request.ts'
import { pageAddress, type AddressConfig } from '../settings/public-address.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { MemoryBudget } from '../runtime/memory-budget.ts'
import type { CurrentFlowSettings, FlowSettings } from './settings.ts'
import type { StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import { operationLabel, type Metrics } from '../telemetry/metrics.ts'
import { createAnalyst, type Analyst, compareOptions } from './analyst.ts'
import { earlierDecisions, scopeKey } from './history.ts'
import { GatewayError } from '../errors/errors.ts'
import { envelopeFacts } from './decision-facts.ts'
import type { DecisionLog } from '../telemetry/decision-log/decision-log.ts'
import { approvalLinks } from '../telemetry/approval-traces.ts'
import { currentTraceId } from '../telemetry/trace-context.ts'
import type { InputKeeper } from './input-store.ts'
import type { DecisionRecorder } from './recorder.ts'
import type { AnalyzeRequest, Assessment, Authorization, AuthorizeRequest, Flow } from './flow.ts'

interface FlowDeps {
  readonly settings: CurrentFlowSettings
  readonly store: StorePart<'approvals.open' | 'decisions.history' | 'uses.of'>
  /** Signs and stores the decision. */
  readonly recorder: DecisionRecorder
  /** The memory for large analyses; absent: a budget of its own. */
  readonly memory?: MemoryBudget
  /** Stores the inputs of decisions; null: inputs are not stored. */
  readonly inputs: Pick<InputKeeper, 'keep'> | null
  /** Absent: no entry is written. */
  readonly decisionLog?: Pick<DecisionLog, 'isOn' | 'write'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Builds the flow; workers start with the first large input and end when idle. */
export function createFlow(deps: FlowDeps): Flow {
  const analyst = createAnalyst(deps)
  return {
    compare: (artifact, options) => analyst.compare(artifact, options),
    digests: (artifacts) => analyst.digests(artifacts),
    sniff: (before, after) => analyst.sniff(before, after),
    fileReferences: (text) => analyst.fileReferences(text),
    bundle: (root, texts, site) => analyst.bundle(root, texts, site),
    compose: (baseline, candidate, operations) => analyst.compose(baseline, candidate, operations),
    readJson: (bytes, origin) => analyst.readJson(bytes, origin),
    analyze: async (request) => {
      const input = await gatherInput(request, deps.settings(), { ...deps, analyst }, deps.now())
      return { verdict: engine().decide(input), analyses: input.analyses }
    },
    authorize: (request) => authorize(request, deps, analyst),
    close: () => analyst.close(),
  }
}

async function authorize(request: AuthorizeRequest, deps: FlowDeps, analyst: Analyst): Promise<Authorization> {
  const decisionId = `dec_${randomUUID().replaceAll('-', '')}`
  const { stages } = request
  stages?.enter('analyze')
  const { input, settings, evaluatedAt } = await inputInForce(request, deps, analyst)
  stages?.enter('decide')
  const { decidedOn, verdict, ...approval } = await approved(input, { request, decisionId, settings }, deps)
  const assessment = { verdict, analyses: input.analyses }
  stages?.enter('record')
  const authorization = await recordDecision(
    request,
    { ...assessment, ...approval },
    { decisionId, evaluatedAt, settings },
    deps,
  )
  if (request.isCall !== true) await logDecision(request, authorization, deps)
  deps.inputs?.keep(authorization.envelope.decision_id, request, decidedOn)
  countDecision(request, authorization, { metrics: deps.metrics, policy: input.policy })
  return authorization
}

/** A policy that changes during every one of so many comparisons decides nothing. */
const MOST_COMPARISONS = 5

interface InputInForce extends Pick<Issuing, 'settings' | 'evaluatedAt'> {
  readonly input: DecideInput
}

/** Comparing may take a minute. The policy in force afterwards decides, not that of the question. */
async function inputInForce(request: AuthorizeRequest, deps: FlowDeps, analyst: Analyst): Promise<InputInForce> {
  for (let count = 0; count < MOST_COMPARISONS; count += 1) {
    const settings = deps.settings()
    const evaluatedAt = Math.floor(deps.now() / 1000)
    const input = await gatherInput(request, settings, { ...deps, analyst }, evaluatedAt * 1000)
    if (deps.settings().policy.hash === settings.policy.hash) return { input, settings, evaluatedAt }
  }
  throw new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `The policy changed during each of ${MOST_COMPARISONS} comparisons, so nothing was decided. Send the request again.`,
  )
}

/** The entry of a decision that no call waits for. With `on_full: block`, it is not issued without a durable one. */
async function logDecision(
  request: AuthorizeRequest,
  { envelope, approvalId }: Authorization,
  { decisionLog }: FlowDeps,
): Promise<void> {
  if (decisionLog?.isOn !== true) return
  const { tenant, audience } = request.caller
  const { correlationId, route, stages, requestBytes = null } = request
  const facts = {
    ...envelopeFacts(envelope),
    tenant,
    audience,
    route,
    approval_id: approvalId,
    latency_ms: stages?.latencies() ?? {},
    request_bytes: requestBytes,
  }
  const entry = { kind: 'decision', correlation_id: correlationId, trace_id: currentTraceId(), ...facts } as const
  if (!(await decisionLog.write([entry]))) throw new GatewayError('DECISION_LOG_UNWRITABLE')
}

type ApprovalUse = Pick<Authorization, 'approvalId' | 'approvalLinks'>

interface DecisionOccasion {
  readonly request: AuthorizeRequest
  readonly decisionId: string
  readonly settings: FlowSettings
}

/**
 * The verdict. A verdict that needs an approval is decided again with the approval facts. The request is durable before the
 * decision names it.
 */
async function approved(
  input: DecideInput,
  { request, decisionId, settings }: DecisionOccasion,
  { store, metrics }: FlowDeps,
): Promise<ApprovalUse & { readonly decidedOn: DecideInput; readonly verdict: Verdict }> {
  const verdict = engine().decide(input)
  if (verdict.decision !== 'REQUIRE_APPROVAL') return { decidedOn: input, verdict, approvalId: null, approvalLinks: [] }
  const now = input.now * 1000
  const ownId = `apr_${randomUUID().replaceAll('-', '')}`
  const opening = approvalOpening(request, verdict, settings.config, { approvalId: ownId, decisionId, now })
  const row = await store.approvals.open(opening)
  const approval = approvalFacts(row, verdict.required_approvals, settings.config, now)
  const event = approval.state === 'granted' ? 'used' : row.approvalId === ownId ? 'opened' : 'joined'
  metrics.count('preflight_approvals_total', { event })
  const decidedOn = { ...input, approval }
  return {
    decidedOn,
    verdict: engine().decide(decidedOn),
    approvalId: row.approvalId,
    approvalLinks: approvalLinks(row),
  }
}

/** Everything that the decision is made from. */
async function gatherInput(
  request: AnalyzeRequest,
  settings: FlowSettings,
  { analyst, store }: Pick<FlowDeps, 'store'> & { readonly analyst: Analyst },
  now: number,
): Promise<DecideInput> {
  const policy = request.policy ?? settings.policy
  const options = compareOptions(policy, now)
  const isProxied = (request.route ?? null) !== null
  const ids = request.artifacts.map(({ id }) => id)
  // The store is asked while the contracts are compared: a decision waits for no read of its own.
  const [observed, digests, analyses] = await Promise.all([
    observedConsumers({ ids, isProxied }, settings.config, now, store),
    request.digests ?? analyst.digests(request.artifacts),
    Promise.all(request.artifacts.map((artifact) => analyse(artifact, options, analyst))),
  ])
  const unreadable = (request.unreadable ?? []).map((artifact) => ({ ...artifact, ok: false }) as const)
  const history = await earlierDecisions(request, { policy, inputFingerprint: digests.inputFingerprint, now }, store)
  return {
    analyses: [...analyses, ...unreadable],
    context: request.context,
    policy,
    scope: request.scope,
    route: request.route ?? null,
    ...(request.release !== undefined && { release: request.release }),
    consumers: declaredConsumers(settings.config),
    observed,
    history,
    ...digests,
    rulesetHash: engine().rulesetHash(sha256Hex),
    policyPin: settings.config.policy_pin ?? null,
    now: Math.floor(now / 1000),
    sha256: sha256Hex,
    ...(request.completeness !== undefined && { completeness: request.completeness }),
  }
}

async function analyse(
  artifact: AnalyzeRequest['artifacts'][number],
  options: CompareOptions,
  analyst: Analyst,
): Promise<ArtifactAnalysis> {
  const result = await analyst.compare(artifact, options)
  const { id, type } = artifact
  return result.ok ? { id, type, ok: true, comparison: result.value } : { id, type, ok: false, problem: result.problem }
}

interface Issuing {
  readonly decisionId: string
  /** Seconds since the epoch. */
  readonly evaluatedAt: number
  readonly settings: FlowSettings
}

/** Nothing is sent yet: without a durable row the token never leaves the recorder. */
async function recordDecision(
  request: AuthorizeRequest,
  assessment: Assessment & ApprovalUse,
  { decisionId, evaluatedAt, settings }: Issuing,
  { recorder }: FlowDeps,
): Promise<Authorization> {
  const { caller, response } = request
  const draft = engine().buildEnvelope(assessment.verdict, {
    decisionId,
    correlationId: request.correlationId,
    evaluatedAt,
    audience: caller.audience,
    decisionSpecVersion: request.decisionSpecVersion,
    reportUrl: reportAddress(decisionId, settings.config),
    ...(request.commitSha !== undefined && { commitSha: request.commitSha }),
    ...(request.completeness !== undefined && { completeness: request.completeness }),
  })
  const withReceipt = (issued: IssuedReceipt): Authorization => ({
    ...assessment,
    ...issued,
    expiresAt: Date.parse(issued.envelope.expires_at),
  })
  request.beforeRecord?.({ envelope: draft })
  const issued = await recorder.record({
    draft,
    tenant: caller.tenant,
    route: request.route,
    previous: request.previousReceipt === null ? null : digestText(request.previousReceipt, sha256Hex),
    supersessionKey: scopeKey(request),
    idempotency: request.idempotency,
    mayJoin: request.mayJoin === true,
    answerOf: (complete) => (response === null ? null : response(withReceipt(complete))),
  })
  return withReceipt(issued)
}

/** An envelope names pages behind TLS only (docs/reference/envelope.md). */
function reportAddress(decisionId: string, config: AddressConfig): string | null {
  const address = pageAddress(`decisions/${decisionId}`, config)
  return address?.startsWith('https://') === true ? address : null
}

function countDecision(
  request: AuthorizeRequest,
  { verdict }: Pick<Assessment, 'verdict'>,
  { metrics, policy }: Counting,
): void {
  const labels = { route: request.route ?? 'api', operation: operationLabel(request.context.operation) }
  metrics.count('preflight_decisions_total', { execution_action: verdict.execution_action, ...labels })
  if (policy.observes)
    metrics.count('preflight_observed_decisions_total', { would: verdict.observed_decision, ...labels })
  if (verdict.decision !== 'ALLOW')
    metrics.count('preflight_decision_reasons_total', { decision: verdict.decision, reason: firstReasonCode(verdict) })
  for (const level of ['breaking', 'dangerous', 'info'] as const) {
    metrics.count('preflight_findings_total', { level }, verdict.severity_summary[level])
  }
}

/** Callers and policies choose the other codes, so they are one value. */
function firstReasonCode({ blocking_reasons: blocking, degraded_reasons: degraded, warnings }: Verdict): string {
  const code = (blocking[0] ?? degraded[0] ?? warnings[0])?.code ?? 'none'
  return Object.hasOwn(REASON_CODES, code) ? code : 'finding'
}

interface Counting {
  readonly metrics: Metrics
  readonly policy: CompiledPolicy
}
