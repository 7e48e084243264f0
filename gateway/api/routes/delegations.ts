/** Delegations of the right to grant: listed, made and ended by approvers (docs/reference/api.md#approvals). */
import { Type } from '../../../engine/base.ts'
import {
  delegationView,
  handOver,
  shownDelegations as rowsOf,
  LONGEST_DELEGATION_SECONDS,
  takeBack,
} from '../../approvals/delegation.ts'
import { CorrelationId, instant, listAnswer, listMembers, nullable } from '../schemas/shapes.ts'
import { callerOf, defineRoute, json } from '../route.ts'

const PATH = '/api/v1/delegations'

const Delegation = Type.Object(
  {
    id: Type.String(),
    in_force: Type.Boolean(),
    by: Type.String({ description: 'Who handed it over.' }),
    to: Type.String({ description: 'Who may use it.' }),
    groups: Type.Array(Type.String(), { description: 'Groups whose requests may be granted with it.' }),
    approval_id: nullable(Type.String({ description: 'Only this request; null: every request.' })),
    reason: Type.String(),
    at: instant(),
    until: instant(),
    ended_at: nullable(instant()),
    ended_by: nullable(Type.String()),
  },
  { title: 'Delegation', description: 'The right to grant, handed from one approver to another for a time.' },
)
const one = {
  200: {
    description: 'The delegation.',
    content: {
      'application/json': Type.Object(
        { delegation: Delegation, correlation_id: CorrelationId },
        { title: 'DelegationAnswer' },
      ),
    },
  },
}
const shared = { tag: 'approvals', access: 'approve' } as const

export const listDelegations = defineRoute({
  ...shared,
  method: 'GET',
  paths: [PATH],
  operationId: 'listDelegations',
  summary: 'Delegations of the right to grant, newest first',
  answers: {
    200: {
      description: 'Those in force and earlier ones.',
      content: {
        'application/json': Type.Object(
          { ...listMembers('delegations', Type.Array(Delegation)), correlation_id: CorrelationId },
          { title: 'DelegationList' },
        ),
      },
    },
  },
  async handle(exchange, deps) {
    const rows = await rowsOf(callerOf(exchange).tenant, deps)
    const views = rows.map((row) => delegationView(row, deps.now()))
    return json({ ...listAnswer('delegations', views), correlation_id: exchange.correlationId })
  },
})

export const addDelegation = defineRoute({
  ...shared,
  method: 'POST',
  paths: [PATH],
  operationId: 'addDelegation',
  summary: 'Hand the right to grant to another approver for a time',
  body: Type.Object(
    {
      to: Type.String({ minLength: 3, maxLength: 300, description: 'Audience of a key, or oidc:PROVIDER:SUBJECT.' }),
      seconds: Type.Integer({ minimum: 60, maximum: LONGEST_DELEGATION_SECONDS, description: 'How long.' }),
      approval_id: Type.Optional(Type.String({ maxLength: 100, description: 'Only this request; default: all.' })),
      reason: Type.Optional(Type.String({ maxLength: 1000 })),
    },
    { title: 'DelegationRequest' },
  ),
  answers: one,
  errors: ['APPROVAL_CONFLICT'],
  async handle(exchange, deps) {
    const { to, seconds, approval_id: approvalId = null, reason = '' } = exchange.body
    const row = await handOver({ to, seconds, approvalId, reason }, callerOf(exchange), deps)
    return json({ delegation: delegationView(row, deps.now()), correlation_id: exchange.correlationId })
  },
})

export const endDelegation = defineRoute({
  ...shared,
  method: 'DELETE',
  paths: [`${PATH}/{id}`],
  operationId: 'endDelegation',
  summary: 'End a delegation before its time',
  params: { id: 'Id of the delegation.' },
  answers: one,
  errors: ['NOT_FOUND'],
  async handle(exchange, deps) {
    const { params, correlationId } = exchange
    const caller = callerOf(exchange)
    const id = params['id'] ?? ''
    await takeBack(id, caller, deps)
    const row = (await rowsOf(caller.tenant, deps)).find(({ delegationId }) => delegationId === id)
    return json({
      ...(row !== undefined && { delegation: delegationView(row, deps.now()) }),
      correlation_id: correlationId,
    })
  },
})
