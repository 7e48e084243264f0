/**
 * Stored decisions of the caller's tenant (docs/reference/api.md#decisions-and-ledger): by id, by id or fingerprint. "Never
 * existed" and "not yours" are one answer.
 */
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { checkProducerForm } from '../../../engine/internal.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { StoredDecision } from '../../store/decisions.ts'
import type { ApiDeps } from '../deps.ts'
import { controlFor } from '../preflight-answer.ts'
import { callerOf, defineRoute, json, type RouteAnswer, type RouteExchange } from '../route.ts'
import { envelopeFor, ownAudience } from '../visibility.ts'
import { ControlEnvelope, DecisionResult } from '../schemas/preflight.ts'
import { CorrelationId, Decision, DIGEST_PATTERN, ExecutionAction, ID_PATTERN } from '../schemas/shapes.ts'

const LookupRequest = Type.Object(
  {
    decision_id: Type.Optional(Type.String({ pattern: ID_PATTERN })),
    fingerprint: Type.Optional(Type.String({ pattern: DIGEST_PATTERN, description: 'The newest decision with it.' })),
  },
  {
    title: 'DecisionLookup',
    oneOf: [{ required: ['decision_id'] }, { required: ['fingerprint'] }],
  },
)
type LookupRequestBody = Static<typeof LookupRequest>

export const StoredDecisionAnswer = Type.Object(
  {
    decision: Decision,
    execution_action: ExecutionAction,
    decision_result: DecisionResult,
    control_envelope: ControlEnvelope,
    meta: Type.Object({
      decision_id: Type.String(),
      created_at: Type.String({ format: 'date-time' }),
      retrieval_mode: Type.Literal('stored'),
      receipt_state: Type.Enum(['current', 'superseded', 'revoked', 'consumed']),
    }),
    correlation_id: CorrelationId,
  },
  { title: 'StoredDecision' },
)

const answers = {
  200: {
    description: 'The decision as issued, and the present state of its receipt.',
    content: { 'application/json': StoredDecisionAnswer },
  },
}

export const lookupDecision = defineRoute({
  method: 'POST',
  paths: ['/api/v1/decisions/lookup'],
  operationId: 'lookupDecision',
  tag: 'decisions',
  summary: 'Find a stored decision by id or fingerprint',
  access: 'key',
  body: LookupRequest,
  answers,
  errors: ['NOT_FOUND'],
  handle: runLookup,
})

export const getDecision = defineRoute({
  method: 'GET',
  paths: ['/api/v1/decisions/{decision_id}'],
  operationId: 'getDecision',
  tag: 'decisions',
  summary: 'A stored decision',
  access: 'key',
  params: { decision_id: 'Id of the decision.' },
  answers,
  errors: ['NOT_FOUND'],
  async handle(exchange, deps) {
    const caller = callerOf(exchange)
    const row = await deps.store.decisions.byId(
      caller.tenant,
      exchange.params['decision_id'] ?? '',
      ownAudience(caller),
    )
    return decisionAnswer(row, exchange, deps)
  },
})

/** The same for the REST route and for the tool `get_decision_details`. */
async function runLookup(exchange: RouteExchange<LookupRequestBody>, deps: ApiDeps): Promise<RouteAnswer> {
  const caller = callerOf(exchange)
  const { tenant } = caller
  const { decision_id: id, fingerprint } = exchange.body
  const audience = ownAudience(caller)
  const row =
    id === undefined
      ? await deps.store.decisions.byFingerprint(tenant, fingerprint ?? '', audience)
      : await deps.store.decisions.byId(tenant, id, audience)
  return decisionAnswer(row, exchange, deps)
}

function decisionAnswer(row: StoredDecision | null, exchange: RouteExchange, deps: ApiDeps): RouteAnswer {
  const { settings, correlationId } = exchange
  if (row === null) throw new GatewayError('NOT_FOUND')
  const checked = checkProducerForm(JSON.parse(row.envelope))
  if (!checked.ok) {
    const cause = new Error(`the stored envelope of ${row.decisionId} breaks the producer schema`)
    throw new GatewayError('INTERNAL', undefined, { cause })
  }
  return json({
    decision: row.decision,
    execution_action: row.executionAction,
    decision_result: envelopeFor(checked.value, callerOf(exchange)),
    control_envelope: controlFor(checked.value, row.receiptState, { settings, now: deps.now(), keys: deps.keys }),
    meta: {
      decision_id: row.decisionId,
      created_at: new Date(row.evaluatedAt).toISOString(),
      retrieval_mode: 'stored',
      receipt_state: row.receiptState,
    },
    correlation_id: correlationId,
  })
}
