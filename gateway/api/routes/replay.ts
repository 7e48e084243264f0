/**
 * POST /api/v1/policy/replay: the decisions of the ledger made again under a policy, one page a request
 * (docs/reference/api.md#post-apiv1policyreplay). Never permission.
 */
import { DECISIONS, Type } from '../../../engine/base.ts'
import { countsOf, replayed } from '../../flow/replayed-decisions.ts'
import { policyOf, PolicySource } from '../policy-source.ts'
import { callerOf, defineRoute, json } from '../route.ts'
import { CorrelationId, Decision, nullable } from '../schemas/shapes.ts'

/** Decisions in one request: each one may be a comparison. */
export const MOST_REPLAYS = 100

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 300, description }))
const instant = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))
const count = () => Type.Integer({ minimum: 0 })
const textOrNull = nullable(Type.String())

const ReplayRequest = Type.Object(
  {
    policy: Type.Optional(PolicySource),
    decision: Type.Optional(Type.Enum(DECISIONS, { description: 'Decisions of exactly this class.' })),
    operation: text('Decisions about exactly this operation.'),
    environment: text('Decisions about exactly this environment.'),
    repository: text('Decisions about exactly this repository.'),
    route: text('Intercepted on this route.'),
    from: instant('Evaluated at or after this instant.'),
    to: instant('Evaluated before this instant.'),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_REPLAYS, default: 50 })),
    cursor: Type.Optional(
      Type.String({ pattern: '^[0-9]{1,15}$', description: '`next_cursor` of the previous page.' }),
    ),
  },
  { title: 'ReplayRequest' },
)

const Replayed = Type.Object(
  {
    decision_id: Type.String(),
    evaluated_at: Type.String({ format: 'date-time' }),
    operation: textOrNull,
    environment: textOrNull,
    repository: textOrNull,
    route: textOrNull,
    was: Decision,
    would: nullable(Decision),
    would_observed: nullable(Decision),
    change: Type.Enum(['same', 'stricter', 'laxer', 'unknown'], { description: 'unknown: it could not be replayed.' }),
    ruleset_changed: Type.Boolean({ description: 'Decided by another version of the comparison rules.' }),
    reasons: Type.Array(Type.Object({ code: Type.String(), message: Type.String() })),
    not_replayed: nullable(Type.String({ description: 'Why it could not be replayed.' })),
  },
  { title: 'ReplayedDecision' },
)

export const ReplayAnswer = Type.Object(
  {
    replayed: Type.Literal(true),
    authorization_effect: Type.Literal('NONE'),
    policy: Type.Object({ name: Type.String(), hash: Type.String() }),
    counts: Type.Object({
      decisions: count(),
      same: count(),
      stricter: count(),
      laxer: count(),
      unknown: count(),
    }),
    decisions: Type.Array(Replayed),
    next_cursor: nullable(Type.String({ description: 'Null: this is the last page.' })),
    correlation_id: CorrelationId,
  },
  { title: 'ReplayAnswer' },
)

export const replayPolicy = defineRoute({
  method: 'POST',
  paths: ['/api/v1/policy/replay'],
  operationId: 'replayPolicy',
  tag: 'preflight',
  summary: 'What a policy would have decided on logged decisions; nothing is recorded, and it is never permission',
  access: 'read',
  counted: true,
  bodyOptional: true,
  body: ReplayRequest,
  answers: {
    200: { description: 'One page, newest first.', content: { 'application/json': ReplayAnswer } },
  },
  async handle(exchange, { store, flow }) {
    const { body, settings, correlationId } = exchange
    const { policy: source, from, to, cursor, limit = 50, ...filters } = body
    const policy = source === undefined ? settings.policy : policyOf(source)
    const filter = {
      ...filters,
      tenant: callerOf(exchange).tenant,
      limit,
      ...(from !== undefined && { from: Date.parse(from) }),
      ...(to !== undefined && { to: Date.parse(to) }),
      ...(cursor !== undefined && { before: Number(cursor) }),
    }
    const { rows, next } = await replayed(filter, { policy, flow, store }, store)
    return json({
      replayed: true,
      authorization_effect: 'NONE',
      policy: { name: policy.name, hash: policy.hash },
      counts: countsOf(rows),
      decisions: rows,
      next_cursor: next === null ? null : String(next),
      correlation_id: correlationId,
    })
  },
})
