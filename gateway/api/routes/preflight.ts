/** POST /api/v1/preflight: analyze a change set, or authorize one operation on it (docs/reference/api.md#post-apiv1preflight). */
import type { Static } from 'typebox'
import { digestJson } from '../../../engine/base.ts'
import type { Artifact } from '../../../engine/internal.ts'
import { hasRight } from '../../callers/rights.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { Authorization, AuthorizeRequest } from '../../flow/flow.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import { RefusedRowError } from '../../store/store.ts'
import { artifactMistakes, requestedArtifacts, requestedContext, UNREAD_ARTIFACT_MEMBERS } from '../change-set.ts'
import type { ApiDeps } from '../deps.ts'
import { replayed, serially } from '../idempotency.ts'
import { analyzeAnswer, authorizeAnswer } from '../preflight-answer.ts'
import {
  type BodyMistake,
  callerOf,
  defineRoute,
  bodyMistake,
  json,
  type RouteAnswer,
  type RouteExchange,
} from '../route.ts'
import { SCM_TOKEN_HEADER } from '../identity.ts'
import { derivedSet, submittedSet, type ChangeSet } from '../submitted-set.ts'
import { PreflightAnswer, PreflightRequest } from '../schemas/preflight.ts'
import type { ApiSettings } from '../settings.ts'
import { addLinks } from '../../telemetry/approval-traces.ts'

type PreflightRequestBody = Static<typeof PreflightRequest>

export const preflight = defineRoute({
  method: 'POST',
  paths: ['/api/v1/preflight', '/api/v1/agent/preflight'],
  operationId: 'preflight',
  tag: 'preflight',
  summary: 'Analyze a change of contracts, or get a decision with a receipt for one operation',
  access: 'ask',
  counted: true,
  headers: SCM_TOKEN_HEADER,
  body: PreflightRequest,
  toleratesUnknown: true,
  codes: [
    { code: 'PREFLIGHT_MODE_REQUIRED', pointer: /^\/preflight_mode$/, keywords: ['required'] },
    { code: 'OPERATION_REQUIRED', pointer: /^\/context$/, keywords: ['required'] },
    {
      code: 'OPERATION_REQUIRED',
      pointer: /^\/context\/operation$/,
      keywords: ['required', 'type', 'minLength', 'pattern'],
    },
    { code: 'UNSUPPORTED_ARTIFACT_TYPE', pointer: /^\/artifacts\/\d+\/type$/, keywords: ['enum'] },
  ],
  mistakes: preflightMistakes,
  mistakesUnder: '/artifacts',
  mistakesUnread: UNREAD_ARTIFACT_MEMBERS,
  answers: {
    200: {
      description: 'The analysis, or the decision. REQUIRE_APPROVAL and BLOCK are good answers too.',
      content: { 'application/json': PreflightAnswer },
    },
  },
  errors: [
    'PREFLIGHT_MODE_REQUIRED',
    'OPERATION_REQUIRED',
    'UNSUPPORTED_ARTIFACT_TYPE',
    'DERIVATION_REQUIRES_BASE_HEAD',
    'BINDING_NOT_PROVEN',
    'REPOSITORY_INACCESSIBLE',
    'IDEMPOTENCY_CONFLICT',
    'SIGNER_UNAVAILABLE',
    'MONITORING_UNWIRED',
  ],
  handle: answerPreflight,
})

/** The same for the REST route and for the tool `preflight_change_set`; the body has been checked. */
async function answerPreflight(exchange: RouteExchange<PreflightRequestBody>, deps: ApiDeps): Promise<RouteAnswer> {
  return exchange.body.preflight_mode === 'analyze' ? analyze(exchange, deps) : answerAuthorize(exchange, deps)
}

function changeSetOf(exchange: RouteExchange<PreflightRequestBody>, deps: ApiDeps): Promise<ChangeSet> {
  const { derivation, artifacts = [] } = exchange.body
  return derivation === undefined
    ? submittedSet(exchange, requestedArtifacts(artifacts), deps)
    : derivedSet(exchange, deps)
}

async function analyze(exchange: RouteExchange<PreflightRequestBody>, deps: ApiDeps): Promise<RouteAnswer> {
  await exchange.spend()
  const assessment = await deps.flow.analyze({
    ...(await changeSetOf(exchange, deps)),
    context: requestedContext(exchange.body.context),
    scope: null,
    caller: callerOf(exchange),
  })
  return json(analyzeAnswer(assessment, { ...exchange, now: deps.now() }))
}

async function answerAuthorize(exchange: RouteExchange<PreflightRequestBody>, deps: ApiDeps): Promise<RouteAnswer> {
  const { tenant } = callerOf(exchange)
  const { idempotency_key: key, artifacts = [], derivation } = exchange.body
  if (key === undefined) return decideNow(exchange, { idempotency: null }, deps)
  // A set that is still to be derived is not part of the key: the same request gets the same answer, wherever its refs point by
  // now.
  const digests = await deps.flow.digests(requestedArtifacts(artifacts))
  const idempotency = { key, bodyDigest: requestDigest(exchange.body, digests.inputFingerprint) }
  const known = derivation === undefined ? { idempotency, digests } : { idempotency }
  const earlier = async (): Promise<RouteAnswer | null> => {
    const stored = await replayed(tenant, idempotency, exchange, deps)
    if (stored?.kind === 'json' && 'execution_action' in stored.body) requireWired(stored.body.execution_action, deps)
    return stored
  }
  return serially(
    deps.store,
    `${tenant}\0${key}`,
    async () => (await earlier()) ?? decideFirst(exchange, known, earlier, deps),
  )
}

/** Another gateway on the store may have the same request in the same moment: the first decision is the answer of both. */
async function decideFirst(
  exchange: RouteExchange<PreflightRequestBody>,
  known: Parameters<typeof decideNow>[1],
  earlier: () => Promise<RouteAnswer | null>,
  deps: ApiDeps,
): Promise<RouteAnswer> {
  try {
    return await decideNow(exchange, known, deps)
  } catch (error) {
    const first = error instanceof RefusedRowError ? await earlier() : null
    if (first === null) throw error
    return first
  }
}

async function decideNow(
  exchange: RouteExchange<PreflightRequestBody>,
  known: Pick<AuthorizeRequest, 'idempotency' | 'digests'>,
  deps: ApiDeps,
): Promise<RouteAnswer> {
  await exchange.spend()
  const changeSet = await changeSetOf(exchange, deps)
  const { body, settings, correlationId, observation } = exchange
  const { tenant, audience } = callerOf(exchange)
  const version = body.decision_spec_version ?? '2.0'
  // Made once: a replay is stored with exactly what is sent now.
  const answerOf = onFirstUse((authorization: Authorization) =>
    authorizeAnswer(authorization, version, { settings, correlationId, now: deps.now(), keys: deps.keys }),
  )
  const authorization = await deps.flow.authorize({
    ...changeSet,
    ...known,
    context: requestedContext(body.context),
    scope: null,
    caller: { tenant, audience },
    correlationId,
    stages: observation,
    requestBytes: observation.readBytes,
    route: null,
    decisionSpecVersion: version,
    previousReceipt: body.previous_receipt ?? null,
    response: known.idempotency === null ? null : (decided) => JSON.stringify(answerOf(decided)),
    beforeRecord: ({ envelope: { execution_action: action } }) => requireWired(action, deps),
  })
  const { envelope, approvalLinks } = authorization
  observation.decision = envelope.decision
  observation.decisionId = envelope.decision_id
  // A decision that waits is what the approval is about: it links to nothing.
  if (envelope.decision !== 'REQUIRE_APPROVAL') addLinks(approvalLinks, observation)
  if (envelope.execution_action === 'CONTINUE_WITH_MONITORING') {
    const { correlation_id: id, decision_id: decisionId } = envelope
    const window = { correlationId: id, decisionId, tenant, route: null, observer: 'caller' } as const
    if ((await deps.monitoring.open(window)) === null) {
      // The row is already durable, so its receipt is revoked before anybody holds the token.
      await deps.store.receipts.revoke(tenant, decisionId, 'MONITORING_UNWIRED', 'gateway', deps.now())
      throw unwired()
    }
  }
  await register(exchange, changeSet.artifacts, authorization, deps)
  return json(answerOf(authorization))
}

/**
 * docs/reference/telemetry.md#monitoring-windows: no decision that requires monitoring is issued while no telemetry sink is
 * wired.
 */
function requireWired(action: unknown, { monitoring }: Pick<ApiDeps, 'monitoring'>): void {
  if (action === 'CONTINUE_WITH_MONITORING' && !monitoring.isWired()) throw unwired()
}

function unwired(): GatewayError {
  return new GatewayError('MONITORING_UNWIRED', undefined, { headers: { 'Preflight-Action': 'STOP' } })
}

/**
 * docs/reference/api.md#baselines. The decision is valid even when the baseline cannot be stored: it can still be promoted
 * later.
 */
async function register(
  exchange: RouteExchange<PreflightRequestBody>,
  artifacts: readonly Artifact[],
  { envelope }: Authorization,
  { baselines, logger }: ApiDeps,
): Promise<void> {
  const { decision, decision_id: decisionId } = envelope
  const { tenant, audience: by, groups, role } = callerOf(exchange)
  const context = requestedContext(exchange.body.context)
  const isApprover = hasRight({ role }, 'approve')
  try {
    await baselines.registered({ tenant, isApprover, by, groups, artifacts, context, decision, decisionId })
  } catch (error) {
    logger.error(
      { event: 'baseline.set_failed', err: error, decision_id: decisionId },
      'baseline of a registration could not be stored',
    )
  }
}

function onFirstUse<Input, Output extends object>(make: (input: Input) => Output): (input: Input) => Output {
  let made: Output | null = null
  return (input) => (made ??= make(input))
}

/** Everything in the request that the answer depends on; texts are represented by their fingerprint. */
function requestDigest(body: PreflightRequestBody, inputFingerprint: string): string {
  const { artifacts = [], idempotency_key: _key, ...rest } = body
  const paths = artifacts.map(({ id, path }) => [id, path ?? null])
  const { preflight_mode = 'authorize', context, decision_spec_version = '2.0', previous_receipt = null } = rest
  return digestJson(
    {
      preflight_mode,
      context: { ...requestedContext(context) },
      decision_spec_version,
      previous_receipt,
      inputFingerprint,
      paths,
      ...(rest.derivation !== undefined && { derivation: rest.derivation, platform: context?.platform ?? null }),
    },
    sha256Hex,
  )
}

function preflightMistakes(body: PreflightRequestBody, settings: ApiSettings): readonly BodyMistake[] {
  const { artifacts, derivation, context } = body
  if (derivation === undefined) return artifactMistakes(artifacts ?? [], settings)
  if (artifacts !== undefined) return [bodyMistake('/derivation', 'cannot be combined with artifacts')]
  return (['base', 'head'] as const)
    .filter((ref) => typeof context?.[ref] !== 'string')
    .map((ref) => ({ code: 'DERIVATION_REQUIRES_BASE_HEAD', pointer: `/context/${ref}`, message: 'is required' }))
}
