/**
 * POST /api/v1/policy/simulate: what another policy would decide on a change set, and which of its rules match
 * (docs/reference/api.md#post-apiv1policysimulate). Never permission.
 */
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { judge } from '../../../engine/internal.ts'
import { declaredConsumers } from '../../consumers/known.ts'
import { artifactMistakes, requestedArtifacts, requestedContext, UNREAD_ARTIFACT_MEMBERS } from '../change-set.ts'
import type { ApiDeps } from '../deps.ts'
import { MatchedRule, matchedRules } from '../matched-rules.ts'
import { policyOf, PolicySource } from '../policy-source.ts'
import { defineRoute, json, type RouteAnswer, type RouteExchange } from '../route.ts'
import { Artifact, CorrelationId, Decision, DecisionContext as Context, ExecutionAction } from '../schemas/shapes.ts'

const Reasons = Type.Array(Type.Object({ code: Type.String(), message: Type.String() }))

const SimulateRequest = Type.Object(
  {
    policy: PolicySource,
    artifacts: Type.Array(Artifact, { minItems: 1 }),
    context: Type.Optional(Context),
  },
  { title: 'SimulateRequest' },
)
type SimulateRequestBody = Static<typeof SimulateRequest>

export const SimulateAnswer = Type.Object(
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
)

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
        'application/json': SimulateAnswer,
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
  const context = requestedContext(body.context)
  const request = { artifacts: requestedArtifacts(body.artifacts), context, scope: null, policy }
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
