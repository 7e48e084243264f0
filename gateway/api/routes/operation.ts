/** What operators ask of one running gateway: its status, and the level of its log (docs/reference/api.md#get-apiv1status). */
import { Type } from '../../../engine/base.ts'
import { isOperatorTenant } from '../../callers/rights.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import { GatewayStatus, LOG_LEVELS } from '../../telemetry/inspection.ts'
import type { ApiDeps } from '../deps.ts'
import { callerOf, defineRoute, json } from '../route.ts'
import { CorrelationId } from '../schemas/shapes.ts'

export const StatusAnswer = Type.Object(
  { status: GatewayStatus, correlation_id: CorrelationId },
  { title: 'StatusAnswer' },
)

export const gatewayStatus = defineRoute({
  method: 'GET',
  paths: ['/api/v1/status'],
  operationId: 'getStatus',
  tag: 'discovery',
  summary: 'What needs attention at this gateway, and what it serves',
  access: 'read',
  answers: { 200: { description: 'Of the process that answers.', content: { 'application/json': StatusAnswer } } },
  async handle(exchange, deps) {
    requireOperatorTenant(callerOf(exchange))
    return json({ status: await inspectionOf(deps).status(), correlation_id: exchange.correlationId })
  },
})

const Level = Type.Enum(LOG_LEVELS, { description: 'Least severe level that is written, until a reload or a restart.' })
export const LogLevelAnswer = Type.Object(
  { level: Type.String(), before: Type.String(), correlation_id: CorrelationId },
  { title: 'LogLevelAnswer' },
)

export const changeLogLevel = defineRoute({
  method: 'POST',
  paths: ['/api/v1/log-level'],
  operationId: 'changeLogLevel',
  tag: 'discovery',
  summary: 'Change the level of the log of this gateway',
  access: 'operate',
  body: Type.Object({ level: Level }, { title: 'LogLevelRequest' }),
  answers: { 200: { description: 'The level in force.', content: { 'application/json': LogLevelAnswer } } },
  handle(exchange, deps) {
    const caller = callerOf(exchange)
    requireOperatorTenant(caller)
    const inspection = inspectionOf(deps)
    const before = inspection.logLevel()
    inspection.setLogLevel(exchange.body.level, caller.audience)
    return Promise.resolve(json({ level: exchange.body.level, before, correlation_id: exchange.correlationId }))
  },
})

function inspectionOf({ inspection }: Pick<ApiDeps, 'inspection'>) {
  if (inspection === null) throw new Error('nobody looks at this gateway')
  return inspection
}

function requireOperatorTenant(caller: ApiKey): void {
  if (!isOperatorTenant(caller))
    throw new GatewayError('FORBIDDEN', 'This is about the whole gateway: it needs a key of the tenant local.')
}
