/**
 * Stored decisions of the caller's tenant (docs/reference/api.md#decisions-and-ledger): by id, by id or fingerprint, as a signed
 * statement, and explained. "Never existed" and "not yours" are one answer.
 */
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { checkProducerForm, prepareAttestation } from '../../../engine/internal.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { StoredDecision } from '../../store/decisions.ts'
import type { ApiDeps } from '../deps.ts'
import { controlFor } from '../preflight-answer.ts'
import { callerOf, defineRoute, json, type RouteAnswer, type RouteExchange } from '../route.ts'
import { envelopeFor, ownAudience } from '../visibility.ts'
import { ControlEnvelope, DecisionResult } from '../schemas/preflight.ts'
import {
  CorrelationId,
  Decision,
  DIGEST_PATTERN,
  ExecutionAction,
  ID_PATTERN,
  instant,
  nullable,
} from '../schemas/shapes.ts'
import { receiptSignature } from '../../keys/receipt-signer.ts'
import { explainedDecision } from '../../flow/explained-decision.ts'

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
      created_at: instant(),
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

const Attestation = Type.Object(
  {
    payloadType: Type.Literal('application/vnd.in-toto+json'),
    payload: Type.String({ description: 'base64 of an in-toto statement v1 whose predicate is the decision.' }),
    signatures: Type.Array(
      Type.Object({
        keyid: Type.String({ description: 'A key of /.well-known/jwks.json.' }),
        sig: Type.String({ description: 'base64 of an Ed25519 signature over the DSSE pre-authentication encoding.' }),
      }),
    ),
  },
  { title: 'Attestation', description: 'A DSSE envelope. It records what was decided and authorizes nothing.' },
)

/** A stored decision as a signed in-toto statement, for tools that read those. */
export const getAttestation = defineRoute({
  method: 'GET',
  paths: ['/api/v1/decisions/{decision_id}/attestation'],
  operationId: 'getDecisionAttestation',
  tag: 'decisions',
  summary: 'A stored decision as a DSSE envelope with an in-toto statement',
  access: 'ask',
  params: { decision_id: 'Id of the decision.' },
  answers: {
    200: { description: 'The attestation, signed now.', content: { 'application/json': Attestation } },
  },
  errors: ['NOT_FOUND', 'SIGNER_UNAVAILABLE'],
  async handle(exchange, { store, keys }) {
    const caller = callerOf(exchange)
    const row = await store.decisions.byId(caller.tenant, exchange.params['decision_id'] ?? '', ownAudience(caller))
    if (row === null) throw new GatewayError('NOT_FOUND')
    const checked = checkProducerForm(JSON.parse(row.envelope))
    if (!checked.ok) {
      const cause = new Error(`the stored envelope of ${row.decisionId} breaks the producer schema`)
      throw new GatewayError('INTERNAL', undefined, { cause })
    }
    const signer = keys.signer()
    const prepared = prepareAttestation(envelopeFor(checked.value, caller), signer.keyId)
    return json(prepared.finish(await receiptSignature(signer, prepared.signingInput)))
  },
})

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

/** Why the policy decides so, in plain words. Never permission. */
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
