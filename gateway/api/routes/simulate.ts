/**
 * POST /api/v1/policy/simulate: what another policy would decide on a change set, and which of its rules match
 * (docs/reference/api.md#post-apiv1policysimulate). Never permission.
 */
import type { Static } from 'typebox'
import { DEFAULT_DOCUMENT_LIMITS, Type } from '../../../engine/base.ts'
import {
  compilePolicy,
  readDocument,
  judge,
  type CompiledPolicy,
  type JudgedChangeSet,
  type PolicyEffect,
} from '../../../engine/internal.ts'
import { GatewayError } from '../../errors/errors.ts'
import { declaredConsumers } from '../../consumers/known.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import { artifactMistakes, artifactsOf, contextOf, UNREAD_ARTIFACT_MEMBERS } from '../change-set.ts'
import type { ApiDeps } from '../deps.ts'
import { defineRoute, json, type RouteAnswer, type RouteExchange } from '../route.ts'
import {
  Artifact,
  CorrelationId,
  Decision,
  DecisionContext as Context,
  ExecutionAction,
  nullable,
} from '../schemas/shapes.ts'

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

const MatchedRule = Type.Object(
  {
    rule: Type.String({ description: 'Id of the policy rule; `none` where no rule matches.' }),
    decision: Decision,
    observed: nullable(
      Type.Object(
        { rule: Type.String(), decision: Decision },
        { description: 'What a rule in observe mode would have decided, when that is stricter.' },
      ),
    ),
    waiver: nullable(Type.Object({ id: Type.String(), standing: Type.String() })),
    findings: Type.Integer({
      minimum: 0,
      description: '0 for a rule or freeze window about the change set as a whole.',
    }),
    comparison_rules: Type.Array(Type.String(), { description: 'Ids of the comparison rules of those findings.' }),
  },
  { title: 'MatchedRule' },
)

export const simulatePolicy = defineRoute({
  method: 'POST',
  paths: ['/api/v1/policy/simulate'],
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

interface RuleTally {
  readonly rule: string
  readonly decision: string
  readonly observed: { readonly rule: string; readonly decision: string } | null
  readonly waiver: { readonly id: string; readonly standing: string } | null
  findings: number
  readonly comparisonRules: Set<string>
}

/** Which rule decided which findings, once for each effect it had; rules about the change set as a whole come first. */
function matchedRules({ artifacts, rulings }: JudgedChangeSet): readonly object[] {
  const tallies = new Map<string, RuleTally>()
  for (const { effect, group, places } of artifacts.flatMap(({ judgements }) => judgements)) {
    const ruling = rulingOf(effect)
    const key = JSON.stringify(ruling)
    const tally = tallies.get(key) ?? { ...ruling, findings: 0, comparisonRules: new Set<string>() }
    tally.findings += places
    tally.comparisonRules.add(group.rule)
    tallies.set(key, tally)
  }
  const whole = rulings.map(({ ruleId: rule, decision, observed }) => ({
    rule,
    decision,
    observed: observed === null ? null : { rule, decision: observed },
    waiver: null,
    findings: 0,
    comparison_rules: [],
  }))
  const found = [...tallies.values()].map(({ comparisonRules, ...tally }) => ({
    ...tally,
    comparison_rules: [...comparisonRules],
  }))
  return [...whole, ...found]
}

function rulingOf({ ruleId, decision, observed, waiver }: PolicyEffect) {
  return {
    rule: ruleId,
    decision,
    observed: observed === null ? null : { rule: observed.ruleId, decision: observed.decision },
    waiver: waiver === null ? null : { id: waiver.id, standing: waiver.standing },
  }
}
