/** The processes that use this store, over the API: gateways, and the sidecars of hubs (docs/reference/api.md#get-apiv1fleet). */
import { Type } from '../../../engine/base.ts'
import { isOperatorTenant } from '../../callers/rights.ts'
import { fleetView } from '../../fleet/view.ts'
import { listMembers, listAnswer, CorrelationId, nullable } from '../schemas/shapes.ts'
import { callerOf, defineRoute, json } from '../route.ts'

const instant = () => Type.String({ format: 'date-time' })
const hash = () => Type.String({ pattern: '^sha256:[0-9a-f]{64}$' })
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
        description: 'How late it hears of changes. null: it hears of none, and checks each reuse of a decision.',
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
