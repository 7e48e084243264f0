/** Break-glass over the API: an exception to enforcement on one route, opened with a reason and for a time, listed and closed. */
import { Type } from '../../../engine/base.ts'
import { openBreakGlass } from '../../break-glass/break-glass.ts'
import { breakGlassView } from '../../break-glass/view.ts'
import { GatewayError } from '../../errors/errors.ts'
import { LOCAL_TENANT } from '../../callers/api-keys.ts'
import { isOperatorTenant, requireOperatorTenant } from '../../callers/rights.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import { CorrelationId, ID_PATTERN, instant, listAnswer, listMembers, nullable } from '../schemas/shapes.ts'
import { callerOf, defineRoute, json, type RouteExchange } from '../route.ts'

const PATH = '/api/v1/break-glass'
const LONGEST_LIST = 500

export const BreakGlass = Type.Object(
  {
    id: Type.String(),
    route: Type.String(),
    state: Type.Enum(['open', 'closed', 'ended'], { description: 'closed: by a person. ended: its time ran out.' }),
    reason: Type.String(),
    opened_by: Type.String({ description: 'Audience of the key, or cli:USER.' }),
    opened_at: instant(),
    expires_at: instant(),
    closed_by: nullable(Type.String()),
    closed_at: nullable(instant()),
    calls: Type.Integer({ minimum: 0, description: 'Calls that continued only because of it.' }),
  },
  { title: 'BreakGlass', description: 'An exception to enforcement on one route.' },
)
export const BreakGlassAnswer = Type.Object(
  { break_glass: BreakGlass, correlation_id: CorrelationId },
  { title: 'BreakGlassAnswer' },
)
const one = {
  200: { description: 'The exception in its present state.', content: { 'application/json': BreakGlassAnswer } },
}

const Opening = Type.Object(
  {
    route: Type.String({ minLength: 1, description: 'Name of the route.' }),
    reason: Type.String({
      minLength: 10,
      maxLength: 1000,
      description: 'The reason, for the record: an incident, a ticket.',
    }),
    duration: Type.Integer({ minimum: 1, description: 'Seconds; maximum break_glass.maximum.' }),
  },
  { title: 'BreakGlassRequest' },
)

export const listBreakGlass = defineRoute({
  method: 'GET',
  paths: [PATH],
  operationId: 'listBreakGlass',
  tag: 'break-glass',
  summary: 'Exceptions to enforcement, newest first',
  access: 'read',
  query: Type.Object({ state: Type.Optional(Type.Enum(['open'], { description: 'Only those in force.' })) }),
  answers: {
    200: {
      description: `At most the newest ${LONGEST_LIST}.`,
      content: {
        'application/json': Type.Object(
          { ...listMembers('break_glass', Type.Array(BreakGlass)), correlation_id: CorrelationId },
          { title: 'BreakGlassList' },
        ),
      },
    },
  },
  async handle(exchange, deps) {
    const { query, correlationId } = exchange
    requireOperatorTenant(callerOf(exchange))
    const now = deps.now()
    const rows = await deps.store.breakGlass.list({
      limit: LONGEST_LIST,
      ...(query.state === 'open' && { openAt: now }),
    })
    return json({
      ...listAnswer(
        'break_glass',
        rows.map((row) => breakGlassView(row, now)),
      ),
      correlation_id: correlationId,
    })
  },
})

export const openBreakGlassRoute = defineRoute({
  method: 'POST',
  paths: [PATH],
  operationId: 'openBreakGlass',
  tag: 'break-glass',
  summary: 'Let the calls of a route continue for a time, whatever the decision on them',
  access: 'read',
  body: Opening,
  answers: one,
  errors: ['NOT_FOUND'],
  async handle(exchange, deps) {
    const { body, settings, correlationId } = exchange
    const { audience } = authorizedCaller(exchange)
    if (!settings.config.routes.some(({ name }) => name === body.route))
      throw new GatewayError('NOT_FOUND', `There is no route "${body.route}" in the configuration.`)
    const now = deps.now()
    const row = await openBreakGlass({ ...body, by: audience }, settings.config.break_glass.maximum, deps.store, now)
    await deps.breakGlass.refresh()
    deps.approvalDecided()
    return json({ break_glass: breakGlassView(row, now), correlation_id: correlationId })
  },
})

export const closeBreakGlass = defineRoute({
  method: 'DELETE',
  paths: [`${PATH}/{id}`],
  operationId: 'closeBreakGlass',
  tag: 'break-glass',
  summary: 'Close an exception before its time',
  access: 'read',
  params: { id: 'Id of the exception.' },
  answers: one,
  errors: ['NOT_FOUND'],
  async handle(exchange, deps) {
    const { params, correlationId } = exchange
    const { audience } = authorizedCaller(exchange)
    const id = params['id'] ?? ''
    const now = deps.now()
    const row = new RegExp(ID_PATTERN).test(id) ? await deps.store.breakGlass.close(id, audience, now) : null
    if (row === null) throw new GatewayError('NOT_FOUND')
    await deps.breakGlass.refresh()
    deps.logger.warn(
      { event: 'break_glass.closed', break_glass_id: id, route: row.route, by: audience, calls: row.calls },
      'break-glass closed',
    )
    return json({ break_glass: breakGlassView(row, now), correlation_id: correlationId })
  },
})

/**
 * A route serves every caller of the gateway, so keys of other tenants are refused. So are roles that the configuration does
 * not name.
 */
function authorizedCaller(exchange: RouteExchange): ApiKey {
  const caller = callerOf(exchange)
  const { roles } = exchange.settings.config.break_glass
  if (isOperatorTenant(caller) && roles.some((role) => role === caller.role)) return caller
  const message = `This needs a key of the tenant "${LOCAL_TENANT}" with the role ${roles.join(' or ')}.`
  throw new GatewayError('FORBIDDEN', message)
}
