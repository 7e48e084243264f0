/**
 * Receipts: whether a token is ours and authorizes exactly this attempt (docs/reference/receipts.md#verification-steps), which any
 * holder of a token may ask, and the end of one (docs/reference/api.md#post-apiv1receiptsrevoke).
 */
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import type { IntendedContext } from '../../../engine/internal.ts'
import { consumePresented, verifyPresented } from '../../enforce/presented-receipt.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { ApiDeps } from '../deps.ts'
import { identify } from '../identity.ts'
import {
  type BodyMistake,
  callerOf,
  defineRoute,
  bodyMistake,
  json,
  type RouteAnswer,
  type RouteExchange,
} from '../route.ts'
import { CorrelationId, ExactInteger, Ignored, maybe, nullable, ID_PATTERN } from '../schemas/shapes.ts'

const text = () => maybe(Type.String({ maxLength: 2000 }))

const INTENDED = {
  operation: text(),
  environment: text(),
  target_id: text(),
  repository: text(),
  branch: text(),
  pull_request: Type.Optional(Type.Union([Type.String({ maxLength: 2000 }), ExactInteger, Type.Null()])),
  base: text(),
  head: text(),
  fingerprint: text(),
  input_fingerprint: text(),
  artifact_digest: text(),
  audience: text(),
  tenant: text(),
}
const MEMBERS = Object.keys(INTENDED).filter((name): name is keyof typeof INTENDED => Object.hasOwn(INTENDED, name))

const Intended = Type.Object(INTENDED, {
  title: 'IntendedContext',
  description: 'What the holder is about to do. Every member given must equal the signed one.',
})

const VerifyRequest = Type.Object(
  {
    token: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384, description: 'The receipt.' })),
    receipt: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384, description: 'Alias of token.' })),
    decision_result: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'The envelope; must hash to the signed body hash.' }),
    ),
    context: maybe(Intended),
    consume: Type.Optional(
      Type.Boolean({ default: false, description: 'Marks an authorized receipt used: once, atomically.' }),
    ),
    ...INTENDED,
  },
  {
    title: 'VerifyRequest',
    description: 'The members of `context` are accepted at the top level too.',
    anyOf: [{ required: ['token'] }, { required: ['receipt'] }],
  },
)
type VerifyRequestBody = Static<typeof VerifyRequest>

const VerifyAnswer = Type.Object(
  {
    valid: Type.Boolean({ description: 'Authentic. Does not cover time, state or scope.' }),
    status: Type.String(),
    reason: nullable(Type.String()),
    payload: nullable(Type.Record(Type.String(), Type.Unknown())),
    currently_authorized: nullable(Type.Boolean({ description: 'Act only on true.' })),
    authz_status: Type.String(),
    authz_reason: nullable(Type.String()),
    authz_note: Type.String(),
    mismatches: Type.Array(
      Type.Object({
        member: Type.String(),
        expected: nullable(Type.String()),
        stated: nullable(Type.String()),
      }),
    ),
    ignored: Ignored,
    correlation_id: CorrelationId,
  },
  { title: 'VerifyAnswer' },
)

export const verifyReceiptRoute = defineRoute({
  method: 'POST',
  paths: ['/api/v1/verify-receipt'],
  operationId: 'verifyReceipt',
  tag: 'receipts',
  summary: 'Verify a receipt, and learn whether it authorizes an attempt',
  access: 'public',
  body: VerifyRequest,
  toleratesUnknown: true,
  mistakes: verifyMistakes,
  answers: {
    200: { description: 'The verdict on the token.', content: { 'application/json': VerifyAnswer } },
  },
  handle: answerVerify,
})
export { VerifyRequest }

/** The same for the REST route and for the tool `verify_receipt`. A key opens and consumes receipts of its own tenant only. */
async function answerVerify(exchange: RouteExchange<VerifyRequestBody>, deps: ApiDeps): Promise<RouteAnswer> {
  const { body, correlationId } = exchange
  const context = contextInBody(body)
  const tenant = exchange.caller?.tenant ?? (await callerTenant(exchange, deps))
  const question = {
    token: body.token ?? body.receipt ?? '',
    ...(context !== null && { context }),
    ...(tenant !== null && { tenants: [tenant] }),
    ...(body.decision_result !== undefined && { envelope: body.decision_result }),
  }
  const [consumed] = body.consume === true ? await consumePresented([question], deps) : []
  const verdict = consumed ?? (await verifyPresented(question, deps))
  return json({ ...verdict, correlation_id: correlationId })
}

/**
 * The tenant of the key that was sent; null: no valid key, or the store is unreachable, and then nothing is authorized anyway.
 */
async function callerTenant({ headers }: RouteExchange, { store, now }: ApiDeps): Promise<string | null> {
  try {
    return (await identify(headers, store, now()))?.tenant ?? null
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'STORE_UNAVAILABLE') return null
    throw error
  }
}

/** Null when the caller described no part of the attempt: then only authenticity is checked. */
function contextInBody(body: VerifyRequestBody): IntendedContext | null {
  const stated = MEMBERS.flatMap((member) => {
    const value = body.context?.[member] ?? body[member]
    return value === undefined || value === null ? [] : [[member, String(value)] as const]
  })
  return stated.length === 0 && (body.context === undefined || body.context === null)
    ? null
    : Object.fromEntries(stated)
}

function verifyMistakes(body: VerifyRequestBody): readonly BodyMistake[] {
  const mistakes: BodyMistake[] = []
  const addMistake = (pointer: string, message: string) => mistakes.push(bodyMistake(pointer, message))
  if (body.token !== undefined && body.receipt !== undefined && body.token !== body.receipt) {
    addMistake('/receipt', 'is another token than /token; give one of them')
  }
  for (const member of MEMBERS) {
    const [inner, outer] = [body.context?.[member], body[member]]
    const isStated = inner !== undefined && inner !== null && outer !== undefined && outer !== null
    if (isStated && String(inner) !== String(outer))
      addMistake(`/${member}`, `differs from /context/${member}; give one of them`)
  }
  if (body.consume === true && contextInBody(body) === null) {
    addMistake('/consume', 'needs the context of the attempt, operation at least')
  }
  return mistakes
}

/** An approver revokes a receipt, which authorizes nothing from then on. */
export const revokeReceipt = defineRoute({
  method: 'POST',
  paths: ['/api/v1/receipts/revoke'],
  operationId: 'revokeReceipt',
  tag: 'receipts',
  summary: 'Revoke the receipt of a decision',
  access: 'revoke',
  body: Type.Object(
    { decision_id: Type.String({ pattern: ID_PATTERN }), reason: Type.String({ minLength: 1, maxLength: 500 }) },
    { title: 'RevokeRequest' },
  ),
  answers: {
    200: {
      description: 'The receipt is revoked; revoking twice is not an error.',
      content: {
        'application/json': Type.Object(
          {
            decision_id: Type.String(),
            receipt_state: Type.Literal('revoked'),
            correlation_id: CorrelationId,
          },
          { title: 'RevokeAnswer' },
        ),
      },
    },
  },
  errors: ['NOT_FOUND'],
  async handle(exchange, deps) {
    const { decision_id: id, reason } = exchange.body
    const { tenant, audience } = callerOf(exchange)
    if (!(await deps.store.receipts.revoke(tenant, id, reason, audience, deps.now())))
      throw new GatewayError('NOT_FOUND')
    deps.receiptChanged(id)
    deps.logger.info(
      { event: 'receipt.revoked', decision_id: id, by: audience, correlation_id: exchange.correlationId },
      'receipt revoked',
    )
    return json({ decision_id: id, receipt_state: 'revoked', correlation_id: exchange.correlationId })
  },
})
