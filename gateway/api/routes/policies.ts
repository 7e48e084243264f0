/**
 * What another policy would decide: on a change set (docs/reference/api.md#post-apiv1policysimulate), and on the decisions of the
 * ledger, one page a request (docs/reference/api.md#post-apiv1policyreplay). Never permission.
 */
import type { Static } from 'typebox'
import { Type, DECISIONS } from '../../../engine/base.ts'
import { judgeChangeSet } from '../../../engine/internal.ts'
import { declaredConsumers } from '../../consumers/known.ts'
import { artifactMistakes, requestedArtifacts, requestedContext, UNREAD_ARTIFACT_MEMBERS } from '../change-set.ts'
import type { ApiDeps } from '../deps.ts'
import { MatchedRule, matchedRules } from '../matched-rules.ts'
import { policyOf, PolicySource } from '../policy-source.ts'
import { defineRoute, json, type RouteAnswer, type RouteExchange, callerOf } from '../route.ts'
import {
  Artifact,
  CorrelationId,
  Decision,
  DecisionContext as Context,
  ExecutionAction,
  instant,
  nullable,
} from '../schemas/shapes.ts'
import { changeCounts, replayedDecisions } from '../../flow/replayed-decisions.ts'

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
  handle: answerSimulate,
})

async function answerSimulate(
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
    matched_rules: matchedRules(judgeChangeSet(analyses, { policy, context, scope: null, now, consumers })),
    correlation_id: correlationId,
  })
}

/** Decisions in one request: each one may be a comparison. */
export const MOST_REPLAYS = 100

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 300, description }))
const count = () => Type.Integer({ minimum: 0 })
const textOrNull = nullable(Type.String())

const ReplayRequest = Type.Object(
  {
    policy: Type.Optional(PolicySource),
    decision: Type.Optional(Type.Enum(DECISIONS, { description: 'Decisions of exactly this class.' })),
    operation: text('Decisions about exactly this operation.'),
    environment: text('Decisions about exactly this environment.'),
    repository: text('Decisions about exactly this repository.'),
    route: text('Intercepted on this route.'),
    from: Type.Optional(instant('Evaluated at or after this instant.')),
    to: Type.Optional(instant('Evaluated before this instant.')),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_REPLAYS, default: 50 })),
    cursor: Type.Optional(
      Type.String({ pattern: '^[0-9]{1,15}$', description: '`next_cursor` of the previous page.' }),
    ),
  },
  { title: 'ReplayRequest' },
)

const Replayed = Type.Object(
  {
    decision_id: Type.String(),
    evaluated_at: instant(),
    operation: textOrNull,
    environment: textOrNull,
    repository: textOrNull,
    route: textOrNull,
    was: Decision,
    would: nullable(Decision),
    would_observed: nullable(Decision),
    change: Type.Enum(['same', 'stricter', 'laxer', 'unknown'], { description: 'unknown: it could not be replayed.' }),
    ruleset_changed: Type.Boolean({ description: 'Decided by another version of the comparison rules.' }),
    reasons: Type.Array(Type.Object({ code: Type.String(), message: Type.String() })),
    not_replayed: nullable(Type.String({ description: 'Why it could not be replayed.' })),
  },
  { title: 'ReplayedDecision' },
)

export const ReplayAnswer = Type.Object(
  {
    replayed: Type.Literal(true),
    authorization_effect: Type.Literal('NONE'),
    policy: Type.Object({ name: Type.String(), hash: Type.String() }),
    counts: Type.Object({
      decisions: count(),
      same: count(),
      stricter: count(),
      laxer: count(),
      unknown: count(),
    }),
    decisions: Type.Array(Replayed),
    next_cursor: nullable(Type.String({ description: 'Null: this is the last page.' })),
    correlation_id: CorrelationId,
  },
  { title: 'ReplayAnswer' },
)

export const replayPolicy = defineRoute({
  method: 'POST',
  paths: ['/api/v1/policy/replay'],
  operationId: 'replayPolicy',
  tag: 'preflight',
  summary: 'What a policy would have decided on logged decisions; nothing is recorded, and it is never permission',
  access: 'read',
  counted: true,
  bodyOptional: true,
  body: ReplayRequest,
  answers: {
    200: { description: 'One page, newest first.', content: { 'application/json': ReplayAnswer } },
  },
  async handle(exchange, { store, flow }) {
    const { body, settings, correlationId } = exchange
    const { policy: source, from, to, cursor, limit = 50, ...filters } = body
    const policy = source === undefined ? settings.policy : policyOf(source)
    const filter = {
      ...filters,
      tenant: callerOf(exchange).tenant,
      limit,
      ...(from !== undefined && { from: Date.parse(from) }),
      ...(to !== undefined && { to: Date.parse(to) }),
      ...(cursor !== undefined && { before: Number(cursor) }),
    }
    const { rows, next } = await replayedDecisions(filter, { policy, flow, store }, store)
    return json({
      replayed: true,
      authorization_effect: 'NONE',
      policy: { name: policy.name, hash: policy.hash },
      counts: changeCounts(rows),
      decisions: rows,
      next_cursor: next === null ? null : String(next),
      correlation_id: correlationId,
    })
  },
})
