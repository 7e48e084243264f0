/**
 * POST /api/v1/policy/simulate: what another policy would decide on a change set, and which of its rules match
 * (docs/reference/api.md#post-apiv1policysimulate). Never permission.
 */
import type { Static } from 'typebox'
import { DEFAULT_DOCUMENT_LIMITS, Type } from '../../../engine/base.ts'
import { compilePolicy, readDocument, judge, type CompiledPolicy } from '../../../engine/internal.ts'
import { GatewayError } from '../../errors/errors.ts'
import { declaredConsumers } from '../../consumers/known.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import { artifactMistakes, artifactsOf, contextOf, UNREAD_ARTIFACT_MEMBERS } from '../change-set.ts'
import type { ApiDeps } from '../deps.ts'
import { MatchedRule, matchedRules } from '../matched-rules.ts'
import { defineRoute, json, type RouteAnswer, type RouteExchange } from '../route.ts'
import { Artifact, CorrelationId, Decision, DecisionContext as Context, ExecutionAction } from '../schemas/shapes.ts'

const LONGEST_POLICY = 1024 * 1024

const Reasons = Type.Array(Type.Object({ code: Type.String(), message: Type.String() }))

const SimulateRequest = Type.Object(
  {
    policy: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.String({ maxLength: LONGEST_POLICY })], {
      description: 'A policy pack (see /schemas/policy.json), or its YAML text.',
    }),
    artifacts: Type.Array(Artifact, { minItems: 1 }),
    context: Type.Optional(Context),
  },
  { title: 'SimulateRequest' },
)
type SimulateRequestBody = Static<typeof SimulateRequest>

export const simulatePolicy = defineRoute({
  method: 'POST',
  paths: ['/api/v1/policy/simulate', '/api/v1/policy-simulator'],
  operationId: 'simulatePolicy',
  tag: 'preflight',
  summary: 'What a policy would decide; nothing is recorded, and it is never permission',
  access: 'key',
  counted: true,
  body: SimulateRequest,
  codes: [{ code: 'UNSUPPORTED_ARTIFACT_TYPE', pointer: /^\/artifacts\/\d+\/type$/, keywords: ['enum'] }],
  mistakesUnder: '/artifacts',
  mistakesUnread: UNREAD_ARTIFACT_MEMBERS,
  mistakes: ({ artifacts }, settings) => artifactMistakes(artifacts, settings),
  answers: {
    200: {
      description: 'The decision that this policy would make.',
      content: {
        'application/json': Type.Object(
          {
            simulated: Type.Literal(true),
            authorization_effect: Type.Literal('NONE'),
            may_execute: Type.Literal(false),
            policy: Type.Object({ name: Type.String(), hash: Type.String(), mode: Type.String() }),
            decision: Decision,
            execution_action: ExecutionAction,
            observed_decision: Decision,
            summary: Type.String(),
            risk_score: Type.Integer(),
            blocking_reasons: Reasons,
            warnings: Reasons,
            degraded_reasons: Reasons,
            matched_rules: Type.Array(MatchedRule),
            correlation_id: CorrelationId,
          },
          { title: 'SimulateAnswer' },
        ),
      },
    },
  },
  errors: ['UNSUPPORTED_ARTIFACT_TYPE'],
  handle: runSimulate,
})

async function runSimulate(
  { body, correlationId, settings }: RouteExchange<SimulateRequestBody>,
  deps: ApiDeps,
): Promise<RouteAnswer> {
  const policy = policyOf(body.policy)
  const context = contextOf(body.context)
  const request = { artifacts: artifactsOf(body.artifacts), context, scope: null, policy }
  const { verdict, analyses } = await deps.flow.analyze(request)
  const now = Math.floor(deps.now() / 1000)
  const consumers = declaredConsumers(settings.config)
  return json({
    simulated: true,
    authorization_effect: 'NONE',
    may_execute: false,
    policy: { name: policy.name, hash: policy.hash, mode: policy.mode },
    decision: verdict.decision,
    execution_action: verdict.execution_action,
    observed_decision: verdict.observed_decision,
    summary: verdict.summary,
    risk_score: verdict.risk_score,
    blocking_reasons: verdict.blocking_reasons,
    warnings: verdict.warnings,
    degraded_reasons: verdict.degraded_reasons,
    matched_rules: matchedRules(judge(analyses, { policy, context, scope: null, now, consumers })),
    correlation_id: correlationId,
  })
}

/** @throws GatewayError INVALID_INPUT with every mistake of the policy. */
function policyOf(source: SimulateRequestBody['policy']): CompiledPolicy {
  const read =
    typeof source === 'string' ? readDocument(source, { ...DEFAULT_DOCUMENT_LIMITS, maxLength: LONGEST_POLICY }) : null
  if (read?.ok === false) {
    const { message, line, column } = read.problem
    const place = line === undefined ? '' : ` (line ${line}, column ${column ?? 1})`
    throw new GatewayError('INVALID_INPUT', undefined, { details: [{ pointer: '/policy', message: message + place }] })
  }
  const compiled = compilePolicy(read === null ? source : read.value.root, sha256Hex)
  if (compiled.ok) return compiled.value
  const details = compiled.problem
    .slice(0, 50)
    .map(({ pointer = '', message }) => ({ pointer: `/policy${pointer}`, message }))
  throw new GatewayError('INVALID_INPUT', 'The policy is not valid.', { details })
}
