/**
 * What operators ask: the status of one running gateway, the level of its log (docs/reference/api.md#get-apiv1status), and the
 * processes that use its store (docs/reference/api.md#get-apiv1fleet).
 */
import { Type } from '../../../engine/base.ts'
import { isOperatorTenant, requireOperatorTenant } from '../../callers/rights.ts'
import { GatewayStatus, LOG_LEVELS } from '../../telemetry/inspection.ts'
import type { ApiDeps } from '../deps.ts'
import { callerOf, defineRoute, json } from '../route.ts'
import { CorrelationId, DIGEST_PATTERN, instant, listAnswer, listMembers, nullable } from '../schemas/shapes.ts'
import { fleetView } from '../../fleet/view.ts'

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
  if (inspection === null) throw new Error('this gateway has no inspection')
  return inspection
}

const hash = () => Type.String({ pattern: DIGEST_PATTERN })
const LONGEST_LIST = 10_000

const FleetMember = Type.Object(
  {
    id: Type.String(),
    kind: Type.Enum(['gateway', 'sidecar']),
    name: Type.String({
      description: 'NAMESPACE/POD of a sidecar, or the name of its certificate or key; else the host.',
    }),
    proof: nullable(Type.Enum(['token', 'certificate', 'key'], { description: 'How the hub knows the sidecar.' })),
    tenant: Type.String(),
    host: Type.String(),
    hub: nullable(Type.String({ description: 'Host of the hub that a sidecar reported to.' })),
    version: Type.String(),
    tier: Type.Enum(['sidecar', 'gateway', 'verifier']),
    mode: nullable(Type.Enum(['enforce', 'observe', 'mixed'], { description: 'What its routes do; null: no routes.' })),
    config_hash: Type.String({
      ...hash(),
      description: 'Equal where the settings in force are equal. Without data_dir, listen, store and credentials.',
    }),
    policy: Type.String(),
    policy_hash: hash(),
    state: Type.Enum(['running', 'stopped', 'lost'], { description: 'lost: not seen for 30 seconds.' }),
    started_at: instant(),
    seen_at: instant(),
    stopped_at: nullable(instant()),
    lag_seconds: nullable(
      Type.Number({
        minimum: 0,
        description: 'How late it receives changes. null: it receives none, and checks each reuse of a decision.',
      }),
    ),
  },
  { title: 'FleetMember' },
)

export const listFleet = defineRoute({
  method: 'GET',
  paths: ['/api/v1/fleet'],
  operationId: 'listFleet',
  tag: 'discovery',
  summary: 'Gateways and sidecars that use this store',
  access: 'read',
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LONGEST_LIST, default: 1000 })),
  }),
  answers: {
    200: {
      description:
        'Gateways first, then by tenant and name. A key of another tenant than local sees its sidecars only.',
      content: {
        'application/json': Type.Object(
          { ...listMembers('fleet', Type.Array(FleetMember)), correlation_id: CorrelationId },
          { title: 'FleetList' },
        ),
      },
    },
  },
  async handle(exchange, deps) {
    const caller = callerOf(exchange)
    const tenant = isOperatorTenant(caller) ? null : caller.tenant
    const members = await fleetView({ tenant, limit: exchange.query.limit ?? 1000 }, deps)
    return json({ ...listAnswer('fleet', members), correlation_id: exchange.correlationId })
  },
})
