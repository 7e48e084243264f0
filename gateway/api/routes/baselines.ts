/**
 * The contracts that calls are compared with, and the promotion of a reviewed contract to the baseline
 * (docs/reference/api.md#baselines).
 */
import { countFindings, Type } from '../../../engine/base.ts'
import type { Level } from '../../../engine/internal.ts'
import type { BaselineView } from '../../baselines/baselines.ts'
import { promotedArtifact } from '../../baselines/promotion.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { Flow } from '../../flow/flow.ts'
import type { BaselineRow, CandidateRow } from '../../store/baselines.ts'
import type { ApiDeps } from '../deps.ts'
import { CorrelationId, DIGEST_PATTERN, instant, listAnswer, listMembers, nullable } from '../schemas/shapes.ts'
import { callerOf, defineRoute, json, type RouteExchange } from '../route.ts'
import { seesRoute } from '../visibility.ts'

const count = () => Type.Integer({ minimum: 0 })

export const Baseline = Type.Object(
  {
    route: Type.String(),
    artifact_id: Type.String(),
    type: Type.String(),
    digest: Type.String(),
    source: Type.String(),
    set_by: Type.String(),
    set_at: instant(),
  },
  { title: 'Baseline', description: 'The contract that the calls of a route are compared with.' },
)

const Counts = Type.Object(
  { breaking: count(), dangerous: count(), info: count() },
  { title: 'BaselineDifference', description: 'Findings between the baseline and the candidate, by level.' },
)

export const Candidate = Type.Object(
  {
    digest: Type.String(),
    seen_at: instant('When it was first seen.'),
    summary: nullable(Counts),
  },
  { title: 'BaselineCandidate', description: 'What the upstream offers now, when it differs from the baseline.' },
)

export const listBaselines = defineRoute({
  method: 'GET',
  paths: ['/api/v1/baselines'],
  operationId: 'listBaselines',
  tag: 'baselines',
  summary: 'Baselines of the routes, and the candidates that upstreams offer',
  access: 'key',
  answers: {
    200: {
      description: 'One row for each route that has been called.',
      content: {
        'application/json': Type.Object(
          {
            ...listMembers(
              'baselines',
              Type.Array(Type.Object({ baseline: Baseline, candidate: nullable(Candidate) })),
            ),
            correlation_id: CorrelationId,
          },
          { title: 'BaselineList' },
        ),
      },
    },
  },
  async handle(exchange, deps) {
    const { correlationId } = exchange
    const views = (await deps.baselines.list()).filter(({ baseline }) => isSeen(baseline.route, exchange))
    const baselines = await Promise.all(views.map((view) => baselineDetails(view, deps)))
    return json({ ...listAnswer('baselines', baselines), correlation_id: correlationId })
  },
})

const Text = Type.String({ description: 'The whole contract.' })

export const BaselineAnswer = Type.Object(
  {
    baseline: Type.Object({ ...Baseline.properties, content: Text }, { title: 'BaselineText' }),
    candidate: nullable(Type.Object({ ...Candidate.properties, content: Text }, { title: 'BaselineCandidateText' })),
    correlation_id: CorrelationId,
  },
  { title: 'BaselineAnswer' },
)

export const getBaseline = defineRoute({
  method: 'GET',
  paths: ['/api/v1/baselines/{route}'],
  operationId: 'getBaseline',
  tag: 'baselines',
  summary: 'The baseline of a route and its candidate, with their texts',
  access: 'key',
  params: { route: 'Name of the route.' },
  answers: {
    200: {
      description: 'Both sides, in the form that an authorize preflight takes.',
      content: {
        'application/json': BaselineAnswer,
      },
    },
  },
  errors: ['NOT_FOUND'],
  async handle(exchange, deps) {
    const { params, correlationId } = exchange
    const name = params['route'] ?? ''
    const view = isSeen(name, exchange) ? await deps.baselines.view(name) : null
    if (view === null) throw noBaseline()
    const { baseline, candidate } = await baselineDetails(view, deps)
    return json({
      baseline: { ...baseline, content: view.baseline.content },
      candidate: candidate === null ? null : { ...candidate, content: view.candidate?.content ?? '' },
      correlation_id: correlationId,
    })
  },
})

export const Promotion = Type.Object({ baseline: Baseline, correlation_id: CorrelationId }, { title: 'Promotion' })

export const promoteBaseline = defineRoute({
  method: 'POST',
  paths: ['/api/v1/baselines/{route}/promote'],
  operationId: 'promoteBaseline',
  tag: 'baselines',
  summary: 'Make the reviewed contract the baseline of a route',
  access: 'approve',
  params: { route: 'Name of the route.' },
  body: Type.Object(
    {
      digest: Type.String({
        pattern: DIGEST_PATTERN,
        description:
          'Digest of the reviewed contract; when the upstream offers another one by now, nothing is promoted. Where the route has a contract.max_age, the digest of the baseline itself confirms it: its age counts from now.',
      }),
      comment: Type.Optional(
        Type.String({
          maxLength: 1000,
          description: 'Why it is accepted; required where the policy asks for an approval of the difference.',
        }),
      ),
      only: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
          minItems: 1,
          maxItems: 1000,
          description:
            'Parts to accept: `tool:NAME`, `prompt:NAME`, `resource:URI`, `template:URI` of an MCP manifest, `operation:ID` or `operation:METHOD /path` of an OpenAPI contract. The rest of the baseline stays as it was. Absent: all of it.',
        }),
      ),
    },
    { title: 'PromoteRequest' },
  ),
  answers: {
    200: {
      description: 'The new baseline.',
      content: {
        'application/json': Promotion,
      },
    },
  },
  errors: ['NOT_FOUND', 'APPROVAL_CONFLICT', 'FORBIDDEN'],
  async handle(exchange, deps) {
    const { params, body, correlationId } = exchange
    const { tenant, audience: by, groups } = callerOf(exchange)
    const name = params['route'] ?? ''
    if (!isSeen(name, exchange)) throw noBaseline()
    const acceptor = { tenant, by, groups, comment: body.comment ?? '' }
    const row = await deps.baselines.promote(name, body.digest, acceptor, body.only ?? [])
    deps.approvalDecided()
    deps.logger.info(
      { event: 'baseline.promoted', route: name, digest: row.digest, by, correlation_id: correlationId },
      'baseline promoted',
    )
    return json({ baseline: pinnedView(row), correlation_id: correlationId })
  },
})

function noBaseline(): GatewayError {
  return new GatewayError('NOT_FOUND', 'This route has no baseline yet.')
}

/** Routes of other tenants are not listed. */
function isSeen(route: string, exchange: RouteExchange): boolean {
  return seesRoute(route, callerOf(exchange), exchange.settings.config.routes)
}

async function baselineDetails({ baseline, candidate }: BaselineView, { flow }: Pick<ApiDeps, 'flow'>) {
  if (candidate === null) return { baseline: pinnedView(baseline), candidate: null }
  const { digest, seenAt } = candidate
  const summary = await levelCounts(baseline, candidate, flow)
  return { baseline: pinnedView(baseline), candidate: { digest, seen_at: new Date(seenAt).toISOString(), summary } }
}

/** Null when the two cannot be compared: then no decision on them is possible either. */
async function levelCounts(
  baseline: BaselineRow,
  candidate: CandidateRow,
  flow: Pick<Flow, 'compare'>,
): Promise<Readonly<Record<Level, number>> | null> {
  const comparison = await flow.compare(promotedArtifact(baseline.route, baseline, candidate), {})
  if (!comparison.ok) return null
  const { groups } = comparison.value
  return {
    breaking: countFindings(groups, 'breaking'),
    dangerous: countFindings(groups, 'dangerous'),
    info: countFindings(groups, 'info'),
  }
}

function pinnedView(row: BaselineRow) {
  return {
    route: row.route,
    artifact_id: row.artifactId,
    type: row.type,
    digest: row.digest,
    source: row.source,
    set_by: row.setBy,
    set_at: new Date(row.setAt).toISOString(),
  }
}
