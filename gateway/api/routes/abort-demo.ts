/**
 * POST /api/v1/agent-abort-demo: a sample workflow in which the real engine, on a built-in pair, stops an agent or lets it
 * continue (docs/reference/api.md#post-apiv1agent-abort-demo). Nothing is recorded.
 */
import type { Static } from 'typebox'
import { EMPTY_CONTEXT, Type } from '../../../engine/base.ts'
import type { Artifact, Verdict } from '../../../engine/internal.ts'
import { defineRoute, json, type RouteAnswer, type RouteExchange, type RouteDeps } from '../route.ts'
import { CorrelationId, Decision, instant } from '../schemas/shapes.ts'

interface Scenario {
  readonly description: string
  readonly changeType: string
  readonly pair: Pick<Artifact, 'type' | 'before' | 'after'>
  /** What the agent planned. */
  readonly plan: string
  /** What would run after the decision, one after the other. */
  readonly steps: readonly { readonly agent: string; readonly action: string; readonly result: string }[]
}

const orderTool = (resultProperties: object, required: readonly string[]) =>
  JSON.stringify({
    tools: [
      {
        name: 'get_order',
        description: 'Reads one order.',
        inputSchema: { type: 'object', properties: { order_id: { type: 'string' } }, required: ['order_id'] },
        outputSchema: { type: 'object', properties: resultProperties, required },
      },
    ],
  })

const AMOUNT = { type: 'number', description: 'What the customer paid.' }
const STATUS = { type: 'string', enum: ['open', 'paid', 'shipped'] }

const refundApi = (paths: object) =>
  JSON.stringify({ openapi: '3.0.3', info: { title: 'Refunds', version: '1.0.0' }, paths })

const answer = { responses: { '200': { description: 'Done.' } } }

const SCENARIOS: Readonly<Record<'tool_result_shape_drift' | 'endpoint_removed', Scenario>> = {
  tool_result_shape_drift: {
    description:
      'A tool server stops sending the amount of an order. An agent that refunds orders would continue with a missing number.',
    changeType: 'RESPONSE_FIELD_REMOVED',
    pair: {
      type: 'mcp_manifest',
      before: orderTool({ status: STATUS, amount: AMOUNT }, ['status', 'amount']),
      after: orderTool({ status: STATUS }, ['status']),
    },
    plan: 'Refund order 4711: read the order, then pay back its amount',
    steps: [
      { agent: 'executor', action: 'tools/call get_order', result: 'The order was read.' },
      { agent: 'executor', action: 'Pay back the amount', result: 'The refund was paid.' },
      { agent: 'notifier', action: 'Notify the customer', result: 'The customer was notified.' },
    ],
  },
  endpoint_removed: {
    description: 'An API drops the operation that an agent was built on.',
    changeType: 'ENDPOINT_REMOVED',
    pair: {
      type: 'openapi',
      before: refundApi({ '/refunds': { post: answer, get: answer } }),
      after: refundApi({ '/refunds': { get: answer } }),
    },
    plan: 'Create a refund with POST /refunds',
    steps: [
      { agent: 'executor', action: 'POST /refunds', result: 'The refund was created.' },
      { agent: 'notifier', action: 'Notify the customer', result: 'The customer was notified.' },
    ],
  },
}

const SCENARIO_NAMES = ['tool_result_shape_drift', 'endpoint_removed'] as const

const DemoRequest = Type.Object({ scenario: Type.Optional(Type.Enum(SCENARIO_NAMES)) }, { title: 'DemoRequest' })
type DemoRequestBody = Static<typeof DemoRequest>

const TraceStep = Type.Object(
  {
    step: Type.Integer({ minimum: 1 }),
    agent: Type.String(),
    action: Type.String(),
    status: Type.String(),
    result: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    decision: Type.Optional(Type.String()),
    risk_score: Type.Optional(Type.Integer()),
  },
  { title: 'TraceStep' },
)
type TraceStep = Static<typeof TraceStep>

export const abortDemo = defineRoute({
  method: 'POST',
  paths: ['/api/v1/agent-abort-demo'],
  operationId: 'runAbortDemo',
  tag: 'preflight',
  summary: 'See a decision stop an agent',
  access: 'ask',
  body: DemoRequest,
  bodyOptional: true,
  answers: {
    200: {
      description: 'The trace. Its decision comes from the policy in force.',
      content: {
        'application/json': Type.Object(
          {
            service_version: Type.String(),
            decision: Decision,
            risk_score: Type.Integer({ minimum: 0, maximum: 100 }),
            safe_for_agent: Type.Boolean(),
            breaking_changes: Type.Integer({ minimum: 0 }),
            patterns: Type.Array(Type.String()),
            requires_migration: Type.Boolean(),
            evidence_quality: Type.Enum(['LOW', 'MEDIUM', 'HIGH']),
            timestamp: instant(),
            scenario: Type.Object({ name: Type.String(), description: Type.String(), change_type: Type.String() }),
            execution_trace: Type.Array(TraceStep),
            enforcement: Type.Object({
              agent_aborted: Type.Boolean(),
              abort_reason: Type.String(),
              cascade_stopped: Type.Boolean(),
              steps_prevented: Type.Integer({ minimum: 0 }),
              framework: Type.String(),
            }),
            reproduce: Type.Object({ curl: Type.String(), github: Type.String() }),
            correlation_id: CorrelationId,
          },
          { title: 'DemoAnswer' },
        ),
      },
    },
  },
  handle: runDemo,
})

async function runDemo(
  { body, settings, correlationId }: RouteExchange<DemoRequestBody>,
  deps: RouteDeps,
): Promise<RouteAnswer> {
  const name = body.scenario ?? 'tool_result_shape_drift'
  const scenario = SCENARIOS[name]
  const artifacts: readonly Artifact[] = [{ id: 'demo', ...scenario.pair }]
  const context = { ...EMPTY_CONTEXT, operation: 'tool_call' }
  const { verdict } = await deps.flow.analyze({ artifacts, context, scope: null })
  const base = settings.config.public_url ?? `http://${settings.config.listen.api}`
  return json({
    service_version: 'agent-abort-demo.v1',
    decision: verdict.decision,
    risk_score: verdict.risk_score,
    safe_for_agent: verdict.safe_for_agent,
    breaking_changes: verdict.breaking_changes,
    patterns: verdict.patterns,
    requires_migration: verdict.requires_migration,
    evidence_quality: verdict.evidence_quality,
    timestamp: new Date(deps.now()).toISOString(),
    scenario: { name, description: scenario.description, change_type: scenario.changeType },
    ...story(scenario, verdict),
    reproduce: {
      curl: `curl -sS -X POST ${base}/api/v1/agent-abort-demo -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"scenario":"${name}"}'`,
      // The wire format has this name; here it is the description of the API that ran the demo.
      github: `${base}/openapi.json`,
    },
    correlation_id: correlationId,
  })
}

/** The same four steps in every run; the verdict decides how many of them run. */
function story(
  scenario: Scenario,
  verdict: Verdict,
): { readonly execution_trace: readonly TraceStep[]; readonly enforcement: object } {
  const isAborted = !verdict.safe_for_agent
  const reason = verdict.blocking_reasons[0] ?? verdict.warnings[0]
  const because = reason === undefined ? verdict.summary : `${reason.code}: ${reason.message}`
  const steps = scenario.steps.map(({ agent, action, result }) =>
    isAborted
      ? { agent, action, status: 'aborted', reason: `Not run: execution_action was ${verdict.execution_action}.` }
      : { agent, action, status: 'executed', result },
  )
  const trace = [
    { agent: 'planner', action: scenario.plan, status: 'executed', result: 'The plan needs one tool.' },
    {
      agent: 'preflight',
      action: 'Compare the contract with the baseline, and decide',
      status: verdict.decision,
      decision: verdict.decision,
      risk_score: verdict.risk_score,
      reason: because,
    },
    ...steps,
  ]
  return {
    execution_trace: trace.map((row, index) => ({ step: index + 1, ...row })),
    enforcement: {
      agent_aborted: isAborted,
      abort_reason: isAborted ? because : '',
      cascade_stopped: isAborted && steps.length > 1,
      steps_prevented: isAborted ? steps.length : 0,
      framework: 'generic',
    },
  }
}
