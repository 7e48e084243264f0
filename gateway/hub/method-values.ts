/** The forms of the values that hub methods accept. A value of another form never reaches the store. */
import type { TSchema } from 'typebox'
import { ARTIFACT_TYPES, DECISIONS, EXECUTION_ACTIONS, Type } from '../../engine/base.ts'
import { EFFECTS, type InterceptionRow } from '../store/calls.ts'

const text = (maxLength = 500) => Type.String({ maxLength })
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
const time = () => Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 })
const object = (properties: Readonly<Record<string, TSchema>>) =>
  Type.Object({ ...properties }, { additionalProperties: false })
/** Longer contracts are refused by the limits of every gateway. */
const CONTRACT = text(32 * 1024 * 1024)
const LIMIT = Type.Integer({ minimum: 1, maximum: 1000 })
const ID = text(200)
const ROUTE = text(200)
const DIGEST = text(100)
const TRACE_ID = Type.String({ pattern: '^[0-9a-f]{32}$' })
const optional = (schema: TSchema) => Type.Optional(schema)

/** A list of values: the form of each, and how many may be left out at the end. */
function values(forms: readonly TSchema[], leftOut = 0): TSchema {
  return Type.Unsafe<readonly unknown[]>({
    type: 'array',
    // JSON Schema knows no empty list of forms.
    ...(forms.length > 0 && { prefixItems: forms, items: false }),
    minItems: forms.length - leftOut,
    maxItems: forms.length,
  })
}

/** Everybody who may see all routes reads it: one that nobody knows would be a fault for all of them. */
const CONTRACT_TYPE = Type.Enum(ARTIFACT_TYPES)

const BASELINE = object({
  route: ROUTE,
  artifactId: ROUTE,
  type: CONTRACT_TYPE,
  content: CONTRACT,
  digest: DIGEST,
  source: Type.Enum(['file', 'url', 'git', 'first_use', 'promotion']),
  setBy: text(),
  setAt: time(),
})

const CANDIDATE = object({ route: ROUTE, type: CONTRACT_TYPE, content: CONTRACT, digest: DIGEST, seenAt: time() })

const APPROVAL = object({
  approvalId: ID,
  key: DIGEST,
  tenant: ID,
  requester: orNull(ID),
  decisionId: ID,
  route: orNull(ROUTE),
  operation: orNull(text()),
  environment: orNull(text()),
  repository: orNull(text()),
  branch: orNull(text()),
  pullRequest: orNull(text()),
  targetId: orNull(text()),
  inputFingerprint: DIGEST,
  policyHash: DIGEST,
  summary: text(4000),
  riskScore: Type.Integer({ minimum: 0, maximum: 100 }),
  reasons: text(262_144),
  openedAt: time(),
  expiresAt: time(),
  approvers: Type.Array(
    object({ count: Type.Integer({ minimum: 1, maximum: 1000 }), groups: Type.Array(text(63), { maxItems: 100 }) }),
    { maxItems: 100 },
  ),
  openedIn: optional(orNull(text(49))),
})

const APPROVAL_FILTER = object({
  tenant: ID,
  requester: optional(ID),
  state: optional(Type.Enum(['pending', 'granted', 'denied', 'expired'])),
  limit: LIMIT,
  before: optional(ID),
  now: time(),
})

const PENDING_FILTER = object({ tenant: ID, limit: LIMIT, after: optional(ID), now: time() })

const LEDGER_FILTER = object({
  tenant: ID,
  audience: optional(ID),
  repository: optional(text()),
  decision: optional(Type.Enum(DECISIONS)),
  operation: optional(text()),
  environment: optional(text()),
  route: optional(ROUTE),
  traceId: optional(TRACE_ID),
  from: optional(time()),
  to: optional(time()),
  limit: LIMIT,
  before: optional(time()),
})

const CALL_FILTER = object({
  tenant: ID,
  audience: optional(ID),
  route: optional(ROUTE),
  effect: optional(Type.Enum(EFFECTS)),
  correlationId: optional(ID),
  traceId: optional(TRACE_ID),
  from: optional(time()),
  to: optional(time()),
  limit: LIMIT,
  before: optional(time()),
})

/** Members that sidecars of an earlier version do not send. */
type LaterMember = 'traceId' | 'isTraceSampled'

/** One call record. */
export const CALL = Type.Unsafe<Omit<InterceptionRow, LaterMember> & Partial<Pick<InterceptionRow, LaterMember>>>(
  object({
    correlationId: ID,
    traceId: optional(orNull(TRACE_ID)),
    isTraceSampled: optional(Type.Boolean()),
    tenant: ID,
    decisionId: orNull(ID),
    route: ROUTE,
    protocol: text(40),
    action: text(4000),
    executionAction: Type.Enum(EXECUTION_ACTIONS),
    enforced: Type.Boolean(),
    effect: Type.Enum(EFFECTS),
    breakGlassId: orNull(ID),
    violations: orNull(Type.Array(Type.Unknown(), { maxItems: 100 })),
    at: time(),
  }),
)

const WINDOW = object({
  windowId: ID,
  correlationId: ID,
  decisionId: ID,
  tenant: ID,
  route: orNull(ROUTE),
  observer: Type.Enum(['gateway', 'caller']),
  openedAt: time(),
  closedAt: orNull(time()),
  outcome: orNull(text()),
})

const USES = object({
  uses: Type.Array(
    object({
      route: ROUTE,
      target: text(),
      operation: orNull(text()),
      tool: orNull(text()),
      consumer: text(),
      calls: Type.Integer({ minimum: 1 }),
      at: time(),
    }),
    { maxItems: 10_000 },
  ),
  limit: Type.Integer({ minimum: 1, maximum: 10_000 }),
  since: time(),
})

/** The records of one batch. Each of them is checked on its own. */
export const CALL_BATCH: TSchema = values([Type.Array(Type.Unknown(), { maxItems: 10_000 })])

export const VALUES = {
  none: values([]),
  at: values([time()]),
  hash: values([Type.String({ pattern: '^[0-9a-f]{64}$' })]),
  hashAt: values([Type.String({ pattern: '^[0-9a-f]{64}$' }), time()]),
  ownedId: values([ID, ID]),
  ownedIdFor: values([ID, ID, orNull(ID)], 1),
  ownedKeyFor: values([ID, ID, time(), orNull(ID)], 1),
  idsAt: values([Type.Array(ID, { minItems: 1, maxItems: 100 }), time()]),
  approval: values([APPROVAL]),
  approvals: values([APPROVAL_FILTER]),
  pendingApprovals: values([PENDING_FILTER]),
  artifact: values([ROUTE, ROUTE]),
  route: values([ROUTE]),
  routeAt: values([ROUTE, time()]),
  baseline: values([BASELINE, orNull(DIGEST)]),
  candidate: values([CANDIDATE]),
  announcement: values([ROUTE, DIGEST, time()]),
  tenant: values([ID]),
  breakGlass: values([object({ openAt: optional(time()), route: optional(ROUTE), limit: LIMIT })]),
  fleet: values([object({ tenant: optional(ID), limit: Type.Integer({ minimum: 1, maximum: 10_000 }) })]),
  calls: values([CALL_FILTER]),
  ledger: values([LEDGER_FILTER]),
  counts: values([object({ tenant: ID, from: time(), period: Type.Integer({ minimum: 60_000 }) })]),
  history: values([object({ tenant: ID, supersessionKey: text(8000), since: time(), limit: LIMIT })]),
  quota: values([ID, text(10), Type.Integer({ minimum: 0 })]),
  month: values([ID, text(10)]),
  id: values([ID]),
  revocation: values([ID, ID, text(), text(), time()]),
  salt: values([text()]),
  uses: values([USES]),
  usesOf: values([Type.Array(text(), { maxItems: 1000 }), time()]),
  window: values([WINDOW]),
  windowEnd: values([ID, text(), time()]),
} as const
