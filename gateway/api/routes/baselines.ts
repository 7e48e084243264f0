/** The contracts that routes are judged against, and making a reviewed one the baseline (wire.md §9). */
import { Type } from 'typebox'
import type { BaselineRow } from '../../store/store.ts'
import { callerOf, defineRoute, json } from '../route.ts'
import { CorrelationId, DIGEST_PATTERN, nullable } from '../schemas/shapes.ts'

const Baseline = Type.Object(
  {
    route: Type.String(),
    artifact_id: Type.String(),
    type: Type.String(),
    digest: Type.String(),
    source: Type.String(),
    set_by: Type.String(),
    set_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Baseline', description: 'The contract that the calls of a route are judged against.' },
)

const Candidate = Type.Object(
  { digest: Type.String(), seen_at: Type.String({ format: 'date-time' }) },
  { title: 'BaselineCandidate', description: 'What the upstream offers now, when that is something else.' },
)

export const listBaselines = defineRoute({
  method: 'GET',
  paths: ['/api/v1/baselines'],
  operationId: 'listBaselines',
  tag: 'baselines',
  summary: 'Baselines of the routes, and what is offered instead',
  access: 'key',
  answers: {
    200: {
      description: 'One row a route that has been called.',
      content: {
        'application/json': Type.Object(
          {
            baselines: Type.Array(Type.Object({ baseline: Baseline, candidate: nullable(Candidate) })),
            correlation_id: CorrelationId,
          },
          { title: 'BaselineList' },
        ),
      },
    },
  },
  async handle({ correlationId }, deps) {
    const rows = await deps.baselines.list()
    const baselines = rows.map(({ baseline, candidate }) => ({
      baseline: baselineOf(baseline),
      candidate:
        candidate === null ? null : { digest: candidate.digest, seen_at: new Date(candidate.seenAt).toISOString() },
    }))
    return json({ baselines, correlation_id: correlationId })
  },
})

export const promoteBaseline = defineRoute({
  method: 'POST',
  paths: ['/api/v1/baselines/{route}/promote'],
  operationId: 'promoteBaseline',
  tag: 'baselines',
  summary: 'Make the reviewed contract the baseline of a route',
  access: 'approver',
  params: { route: 'Name of the route.' },
  body: Type.Object(
    {
      digest: Type.String({
        pattern: DIGEST_PATTERN,
        description: 'Of the contract that was reviewed; when another one is offered by now, nothing is promoted.',
      }),
    },
    { title: 'PromoteRequest' },
  ),
  answers: {
    200: {
      description: 'The new baseline.',
      content: {
        'application/json': Type.Object({ baseline: Baseline, correlation_id: CorrelationId }, { title: 'Promotion' }),
      },
    },
  },
  errors: ['NOT_FOUND', 'APPROVAL_CONFLICT'],
  async handle(exchange, deps) {
    const row = await deps.baselines.promote(
      exchange.params['route'] ?? '',
      exchange.body.digest,
      callerOf(exchange).audience,
    )
    return json({ baseline: baselineOf(row), correlation_id: exchange.correlationId })
  },
})

function baselineOf(row: BaselineRow): object {
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
