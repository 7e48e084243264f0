/** POST /api/v1/preflight: analyze a change set, or authorize one operation on it (wire.md §4). */
import type { Static } from 'typebox'
import { digestJson, type Artifact } from '../../../engine/index.ts'
import { GatewayError } from '../../errors.ts'
import type { Authorization, AuthorizeRequest } from '../../flow/flow.ts'
import { sha256Hex } from '../../hash.ts'
import { artifactMistakes, artifactsOf, contextOf, UNREAD_ARTIFACT_MEMBERS } from '../change-set.ts'
import type { ApiDeps } from '../deps.ts'
import { replayed, serially } from '../idempotency.ts'
import { analyzeAnswer, authorizeAnswer } from '../preflight-answer.ts'
import { callerOf, defineRoute, json, type Answer, type Exchange, type Mistake } from '../route.ts'
import { PreflightAnswer, PreflightRequest } from '../schemas/preflight.ts'
import type { Settings } from '../../settings.ts'

type Request = Static<typeof PreflightRequest>

export const preflight = defineRoute({
  method: 'POST',
  paths: ['/api/v1/preflight'],
  operationId: 'preflight',
  tag: 'preflight',
  summary: 'Analyze a change of contracts, or get a decision with a receipt for one operation',
  access: 'key',
  counted: true,
  body: PreflightRequest,
  codes: [
    { code: 'PREFLIGHT_MODE_REQUIRED', pointer: /^\/preflight_mode$/, keywords: ['required'] },
    { code: 'OPERATION_REQUIRED', pointer: /^\/context$/, keywords: ['required'] },
    { code: 'OPERATION_REQUIRED', pointer: /^\/context\/operation$/, keywords: ['required', 'type', 'minLength'] },
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
    'IDEMPOTENCY_CONFLICT',
    'SIGNER_UNAVAILABLE',
  ],
  handle: runPreflight,
})

/** The same for the REST route and for the tool `preflight_change_set`; the body has been checked. */
export async function runPreflight(exchange: Exchange<Request>, deps: ApiDeps): Promise<Answer> {
  const { body } = exchange
  if (body.derivation !== undefined) {
    throw new GatewayError('BINDING_NOT_PROVEN', 'derivation "server" needs a proven binding; this tenant has none.')
  }
  const artifacts = artifactsOf(body.artifacts ?? [])
  return body.preflight_mode === 'analyze' ? analyze(exchange, artifacts, deps) : authorize(exchange, artifacts, deps)
}

async function analyze(exchange: Exchange<Request>, artifacts: readonly Artifact[], deps: ApiDeps): Promise<Answer> {
  await exchange.spend()
  const assessment = await deps.flow.analyze({
    artifacts,
    context: contextOf(exchange.body.context),
    scope: null,
    caller: callerOf(exchange),
  })
  return json(analyzeAnswer(assessment, { ...exchange, now: deps.now() }))
}

async function authorize(exchange: Exchange<Request>, artifacts: readonly Artifact[], deps: ApiDeps): Promise<Answer> {
  const { tenant } = callerOf(exchange)
  const { idempotency_key: key } = exchange.body
  const digests = await deps.flow.digests(artifacts)
  if (key === undefined) return decideNow(exchange, { artifacts, digests, idempotency: null }, deps)
  const idempotency = { key, bodyDigest: bodyDigest(exchange.body, digests.inputFingerprint) }
  return serially(deps.store, `${tenant}\0${key}`, async () => {
    const stored = await replayed(tenant, idempotency, exchange, deps)
    return stored ?? decideNow(exchange, { artifacts, digests, idempotency }, deps)
  })
}

async function decideNow(
  exchange: Exchange<Request>,
  input: Pick<AuthorizeRequest, 'artifacts' | 'digests' | 'idempotency'>,
  deps: ApiDeps,
): Promise<Answer> {
  await exchange.spend()
  const { body, settings, correlationId } = exchange
  const { tenant, audience } = callerOf(exchange)
  const version = body.decision_spec_version ?? '2.0'
  // Made once: what is stored for a replay is what is sent now.
  const answerOf = once((authorization: Authorization) =>
    authorizeAnswer(authorization, version, { settings, correlationId, now: deps.now() }),
  )
  const authorization = await deps.flow.authorize({
    ...input,
    context: contextOf(body.context),
    scope: null,
    caller: { tenant, audience },
    correlationId,
    route: null,
    decisionSpecVersion: version,
    previousReceipt: body.previous_receipt ?? null,
    response: input.idempotency === null ? null : (decided) => JSON.stringify(answerOf(decided)),
  })
  const { envelope } = authorization
  if (envelope.execution_action === 'CONTINUE_WITH_MONITORING') {
    const window = { correlationId: envelope.correlation_id, decisionId: envelope.decision_id, tenant, route: null }
    await deps.monitoring.open(window)
  }
  await register(exchange, input.artifacts, authorization, deps)
  return json(answerOf(authorization))
}

/** wire.md §9. The decision stands, whatever becomes of the baseline: it can still be promoted. */
async function register(
  exchange: Exchange<Request>,
  artifacts: readonly Artifact[],
  { envelope }: Authorization,
  { baselines, logger }: ApiDeps,
): Promise<void> {
  const { decision, decision_id: decisionId } = envelope
  const { tenant } = callerOf(exchange)
  try {
    await baselines.registered({ tenant, artifacts, context: contextOf(exchange.body.context), decision, decisionId })
  } catch (error) {
    logger.error({ err: error, decision_id: decisionId }, 'what may be registered could not be made the baseline')
  }
}

function once<Input, Output extends object>(make: (input: Input) => Output): (input: Input) => Output {
  let made: Output | null = null
  return (input) => (made ??= make(input))
}

/** Everything of the request that the answer depends on; the texts stand in it by their fingerprint. */
function bodyDigest(body: Request, inputFingerprint: string): string {
  const { artifacts = [], idempotency_key: _key, ...rest } = body
  const paths = artifacts.map(({ id, path }) => [id, path ?? null])
  const { preflight_mode = 'authorize', context, decision_spec_version = '2.0', previous_receipt = null } = rest
  return digestJson(
    {
      preflight_mode,
      context: { ...contextOf(context) },
      decision_spec_version,
      previous_receipt,
      inputFingerprint,
      paths,
    },
    sha256Hex,
  )
}

function preflightMistakes(body: Request, settings: Settings): readonly Mistake[] {
  const { artifacts, derivation, context } = body
  if (derivation === undefined) return artifactMistakes(artifacts ?? [], settings)
  if (artifacts !== undefined) {
    return [{ code: 'INVALID_INPUT', pointer: '/derivation', message: 'cannot stand together with artifacts' }]
  }
  return (['base', 'head'] as const)
    .filter((ref) => typeof context?.[ref] !== 'string')
    .map((ref) => ({ code: 'DERIVATION_REQUIRES_BASE_HEAD', pointer: `/context/${ref}`, message: 'is required' }))
}
