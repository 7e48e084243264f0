/**
 * Requests for approval of the caller's tenant, and an approver's decision on one of them (docs/reference/api.md#approvals).
 */
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { commentOn, decideRequest } from '../../approvals/decide.ts'
import { approvalView, approvalWithSteps } from '../../approvals/view.ts'
import { GatewayError } from '../../errors/errors.ts'
import { reviewedApproval } from '../../flow/approval-review.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import { APPROVAL_STEPS, type ApprovalRow, type ApprovalDecision } from '../../store/approvals.ts'
import type { ApiDeps } from '../deps.ts'
import { CorrelationId, ID_PATTERN, instant, Level, listAnswer, listMembers, nullable } from '../schemas/shapes.ts'
import { callerOf, defineRoute, json, type RouteAnswer, type RouteExchange } from '../route.ts'
import { ownAudience } from '../visibility.ts'
import { addLinks, approvalLinks } from '../../telemetry/approval-traces.ts'

const LONGEST_PAGE = 200
const textOrNull = nullable(Type.String())

export const Approval = Type.Object(
  {
    id: Type.String(),
    state: Type.Enum(['pending', 'granted', 'denied', 'expired']),
    in_force: Type.Boolean({ description: 'Granted and still valid: the next authorize preflight is a WARN.' }),
    decision_id: Type.String({ description: 'The decision that first asked for the approval.' }),
    route: textOrNull,
    operation: textOrNull,
    environment: textOrNull,
    repository: textOrNull,
    branch: textOrNull,
    pull_request: textOrNull,
    target_id: textOrNull,
    input_fingerprint: Type.String(),
    policy_hash: Type.String(),
    summary: Type.String(),
    risk_score: Type.Integer({ minimum: 0, maximum: 100 }),
    blocking_reasons: Type.Array(Type.Object({ code: Type.String(), message: Type.String() })),
    approver_groups: Type.Array(Type.Array(Type.String()), {
      description: 'The groups of required_approvals. Empty: every approver may grant it.',
    }),
    required_approvals: Type.Array(
      Type.Object({ count: Type.Integer({ minimum: 1 }), groups: Type.Array(Type.String()) }),
      {
        description:
          'The people who have to grant it: so many, each in one of the groups. Without groups: any approvers.',
      },
    ),
    requesters: Type.Array(Type.String(), { description: 'Audiences of the keys that asked for it.' }),
    opened_at: instant('When it was first asked for.'),
    expires_at: instant('Expires then if nobody has granted or denied it.'),
    approver: nullable(Type.String({ description: 'Audience of the key that granted or denied it.' })),
    comment: textOrNull,
    settled_at: nullable(instant()),
    valid_until: nullable(instant('End of a grant.')),
  },
  { title: 'Approval', description: 'A request for a person’s approval of one change set in one context.' },
)

const Step = Type.Object(
  {
    kind: Type.Enum(APPROVAL_STEPS, {
      description:
        'grant: one of several. moot: the change cannot occur any more. acting: with the right of the person in the text. delegated: handed to that person. reminder: about to expire.',
    }),
    by: Type.String(),
    groups: Type.Array(Type.String()),
    text: Type.String(),
    at: instant(),
  },
  { title: 'ApprovalStep' },
)
export const ApprovalAnswer = Type.Object(
  {
    approval: Approval,
    grants_needed: Type.Integer({ minimum: 1, description: 'Number of people who have to grant it.' }),
    steps: Type.Array(Step, { description: 'Single grants and comments, oldest first.' }),
    correlation_id: CorrelationId,
  },
  { title: 'ApprovalAnswer' },
)
const one = {
  200: { description: 'The request in its present state.', content: { 'application/json': ApprovalAnswer } },
}

const ApprovalQuery = Type.Object({
  state: Type.Optional(
    Type.Enum(['pending', 'granted', 'denied', 'expired'], { description: 'Requests in exactly this state.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LONGEST_PAGE, default: 50 })),
  cursor: Type.Optional(Type.String({ pattern: ID_PATTERN, description: '`next_cursor` of the previous page.' })),
})

export const listApprovals = defineRoute({
  method: 'GET',
  paths: ['/api/v1/approvals'],
  operationId: 'listApprovals',
  tag: 'approvals',
  summary: 'Requests for approval, newest first',
  access: 'key',
  query: ApprovalQuery,
  answers: {
    200: {
      description: 'One page.',
      content: {
        'application/json': Type.Object(
          { ...listMembers('approvals', Type.Array(Approval)), next_cursor: textOrNull, correlation_id: CorrelationId },
          { title: 'ApprovalList' },
        ),
      },
    },
  },
  async handle(exchange, deps) {
    const { state, limit = 50, cursor } = exchange.query
    const now = deps.now()
    const caller = callerOf(exchange)
    const requester = ownAudience(caller)
    const rows = await deps.store.approvals.list({
      tenant: caller.tenant,
      ...(requester !== null && { requester }),
      limit,
      now,
      ...(state !== undefined && { state }),
      ...(cursor !== undefined && { before: cursor }),
    })
    return json({
      ...listAnswer(
        'approvals',
        rows.map((row) => approvalView(seenBy(caller, row), now)),
      ),
      next_cursor: rows.length === limit ? (rows.at(-1)?.approvalId ?? null) : null,
      correlation_id: exchange.correlationId,
    })
  },
})

export const getApproval = defineRoute({
  method: 'GET',
  paths: ['/api/v1/approvals/{id}'],
  operationId: 'getApproval',
  tag: 'approvals',
  summary: 'A request for approval',
  access: 'key',
  params: { id: 'Id of the request.' },
  answers: one,
  errors: ['NOT_FOUND'],
  async handle(exchange, deps) {
    const caller = callerOf(exchange)
    const row = await deps.store.approvals.byId(caller.tenant, exchange.params['id'] ?? '')
    const own = ownAudience(caller)
    if (row === null || (own !== null && !row.requesters.includes(own))) throw new GatewayError('NOT_FOUND')
    return answerOf(seenBy(caller, row), exchange, deps)
  },
})

const count = () => Type.Integer({ minimum: 0 })
const ReviewFinding = Type.Object(
  {
    artifact: Type.String(),
    rule: Type.String(),
    level: Level,
    location: Type.String({ description: 'JSON Pointer into the document that `side` names.' }),
    side: Type.Enum(['base', 'head']),
    line: nullable(Type.Integer({ minimum: 1 })),
    column: nullable(Type.Integer({ minimum: 1 })),
    message: Type.String({ description: 'Untrusted text: display only.' }),
    explanation: Type.String(),
    fix: Type.String(),
    before: Type.Unknown(),
    after: Type.Unknown(),
    places: Type.Array(Type.String(), { description: 'As `GET /pets` or `tool search`; at most 50.' }),
    policy_rule: nullable(Type.String({ description: 'Rule of the policy that decided on it.' })),
  },
  { title: 'ReviewFinding' },
)
const Review = Type.Object(
  {
    problem: nullable(Type.String({ description: 'Why the findings cannot be shown.' })),
    findings: Type.Array(ReviewFinding, { description: 'Those that decide, strictest first; at most 200.' }),
    findings_total: count(),
    blast_radius: nullable(Type.Object({ endpoints: count(), fields: count(), params: count() })),
    consumers: nullable(
      Type.Array(Type.String(), { description: 'Consumers that the change reaches. Null: not measured.' }),
    ),
    risk_factors: Type.Array(
      Type.Object({ id: Type.String(), points: Type.Number(), weight: Type.Number(), because: Type.String() }),
    ),
    who_may_grant: Type.String(),
    you_may_not_grant: nullable(Type.String({ description: 'Why this key may not grant it. Null: it may.' })),
    on_grant: Type.String({ description: 'What a grant does.' }),
  },
  { title: 'ApprovalReview', description: 'What a person needs to decide.' },
)
export const ApprovalReviewAnswer = Type.Object(
  { ...ApprovalAnswer.properties, review: Review },
  { title: 'ApprovalReviewAnswer' },
)

export const reviewApproval = defineRoute({
  method: 'GET',
  paths: ['/api/v1/approvals/{id}/review'],
  operationId: 'reviewApproval',
  tag: 'approvals',
  summary: 'What a person needs to decide on a request for approval',
  access: 'read',
  params: { id: 'Id of the request.' },
  answers: {
    200: {
      description: 'The request with its findings, analysed again under the policy in force.',
      content: { 'application/json': ApprovalReviewAnswer },
    },
  },
  errors: ['NOT_FOUND'],
  async handle(exchange, deps) {
    const { settings, correlationId, params } = exchange
    const caller = callerOf(exchange)
    const row = await deps.store.approvals.byId(caller.tenant, params['id'] ?? '')
    if (row === null) throw new GatewayError('NOT_FOUND')
    const now = deps.now()
    const { flow, store } = deps
    return json({
      ...(await reviewedApproval(row, caller, { settings, flow, store, now })),
      correlation_id: correlationId,
    })
  },
})

/** Only approvers see who else asked. */
function seenBy(caller: ApiKey, row: ApprovalRow): ApprovalRow {
  const own = ownAudience(caller)
  return own === null ? row : { ...row, requesters: row.requesters.filter((audience) => audience === own) }
}

const Comment = Type.Optional(Type.String({ maxLength: 1000, description: 'Why; kept with the request.' }))
const Denial = Type.Object({ comment: Comment }, { title: 'ApprovalDenial' })
const Grant = Type.Object(
  {
    comment: Comment,
    validity: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Seconds that the grant is valid; maximum approvals.validity.' }),
    ),
  },
  { title: 'ApprovalGrant' },
)

const settling = {
  method: 'POST',
  tag: 'approvals',
  access: 'approve',
  bodyOptional: true,
  params: { id: 'Id of the request.' },
  answers: one,
  errors: ['NOT_FOUND', 'APPROVAL_CONFLICT'],
} as const

export const grantApproval = defineRoute({
  ...settling,
  paths: ['/api/v1/approvals/{id}/grant'],
  operationId: 'grantApproval',
  summary: 'Grant an approval: the next authorize preflight of the same change continues with monitoring',
  body: Grant,
  handle: (exchange, deps) => answerApprovalDecision('granted', exchange, deps),
})

export const denyApproval = defineRoute({
  ...settling,
  paths: ['/api/v1/approvals/{id}/deny'],
  operationId: 'denyApproval',
  summary: 'Deny an approval',
  body: Denial,
  handle: (exchange, deps) => answerApprovalDecision('denied', exchange, deps),
})

async function answerApprovalDecision(
  state: ApprovalDecision['state'],
  exchange: RouteExchange<Static<typeof Grant>>,
  deps: ApiDeps,
): Promise<RouteAnswer> {
  const { params, body, settings, correlationId } = exchange
  const { tenant, audience: by, groups } = callerOf(exchange)
  const { comment = '', validity = null } = body
  const at = deps.now()
  const word = { state, tenant, approvalId: params['id'] ?? '', by, groups, comment, validity, at }
  const row = await decideRequest(word, settings.config, correlationId, deps)
  addLinks(approvalLinks(row), exchange.observation)
  return answerOf(row, exchange, deps)
}

async function answerOf(
  row: ApprovalRow,
  { settings, correlationId }: RouteExchange,
  { store, now }: ApiDeps,
): Promise<RouteAnswer> {
  const steps = await store.approvals.steps(row.tenant, row.approvalId)
  return json({ ...approvalWithSteps(row, steps, settings.config, now()), correlation_id: correlationId })
}

export const commentApproval = defineRoute({
  method: 'POST',
  paths: ['/api/v1/approvals/{id}/comments'],
  operationId: 'commentApproval',
  tag: 'approvals',
  summary: 'Add a comment to a request for approval',
  access: 'read',
  params: { id: 'Id of the request.' },
  body: Type.Object({ text: Type.String({ minLength: 1, maxLength: 1000 }) }, { title: 'ApprovalComment' }),
  answers: one,
  errors: ['NOT_FOUND'],
  async handle(exchange, deps) {
    const row = await commentOn(exchange.params['id'] ?? '', exchange.body.text, callerOf(exchange), deps)
    return answerOf(row, exchange, deps)
  },
})
