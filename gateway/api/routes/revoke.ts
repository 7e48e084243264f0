/**
 * POST /api/v1/receipts/revoke: an approver revokes a receipt, which authorizes nothing from then on
 * (docs/reference/api.md#post-apiv1receiptsrevoke).
 */
import { Type } from '../../../engine/base.ts'
import { GatewayError } from '../../errors/errors.ts'
import { callerOf, defineRoute, json } from '../route.ts'
import { CorrelationId, ID_PATTERN } from '../schemas/shapes.ts'

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
      description: 'The receipt is revoked; revoking twice is no error.',
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
