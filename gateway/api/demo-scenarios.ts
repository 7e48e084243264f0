/** The built-in pairs of the abort demonstration: two small contracts before and after a change that hurts an agent. */
import type { Artifact } from '../../engine/internal.ts'

export interface Scenario {
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

export const SCENARIOS: Readonly<Record<'tool_result_shape_drift' | 'endpoint_removed', Scenario>> = {
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
