/** GET /api/v1/decisions/{decision_id}/explanation: why the policy decides so, in plain words (docs/reference/api.md). Never permission. */
import { Type } from '../../../engine/base.ts'
import { GatewayError } from '../../errors/errors.ts'
import { explainedDecision } from '../../flow/explained-decision.ts'
import { callerOf, defineRoute, json } from '../route.ts'
import { CorrelationId, Decision, nullable } from '../schemas/shapes.ts'

const Why = Type.Array(Type.String(), { description: 'Sentences, in the order in which a person reads them.' })

export const ExplanationAnswer = Type.Object(
  {
    decision_id: Type.String(),
    was: Decision,
    policy: Type.Object(
      { name: Type.String(), hash: Type.String() },
      { description: 'In force now. It is explained.' },
    ),
    is_same_policy: Type.Boolean({ description: 'False: another policy decided then.' }),
    problem: nullable(Type.String({ description: 'Why there is no explanation.' })),
    change_set: Type.Array(Type.Object({ rule: Type.String(), decision: Decision, why: Why })),
    changes: Type.Array(
      Type.Object({
        artifact: Type.String(),
        comparison_rule: Type.String(),
        level: Type.String(),
        location: Type.String(),
        places: Type.Integer({ minimum: 1 }),
        message: Type.String(),
        decision: Decision,
        rule: nullable(Type.String({ description: 'Rule of the policy that decides.' })),
        why: Why,
      }),
    ),
    changes_total: Type.Integer({ minimum: 0, description: 'The first 200 are listed.' }),
    correlation_id: CorrelationId,
  },
  { title: 'DecisionExplanation' },
)

export const explainDecision = defineRoute({
  method: 'GET',
  paths: ['/api/v1/decisions/{decision_id}/explanation'],
  operationId: 'explainDecision',
  tag: 'decisions',
  summary: 'Why the policy in force decides so on the input of a stored decision; never permission',
  access: 'read',
  params: { decision_id: 'Id of the decision.' },
  answers: {
    200: { description: 'Every rule for every change.', content: { 'application/json': ExplanationAnswer } },
  },
  errors: ['NOT_FOUND'],
  async handle(exchange, { store, flow }) {
    const { params, settings, correlationId } = exchange
    const row = await store.decisions.byId(callerOf(exchange).tenant, params['decision_id'] ?? '')
    if (row === null) throw new GatewayError('NOT_FOUND')
    const explained = await explainedDecision(row, { policy: settings.policy, flow, store })
    return json({ ...explained, correlation_id: correlationId })
  },
})
