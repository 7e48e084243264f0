/**
 * POST /api/v1/agent-readiness-score: how well an agent can use a manifest or an API, as a score with the signals that it is
 * made of (docs/reference/api.md#post-apiv1agent-readiness-score). Informs; never permission.
 */
import type { Static } from 'typebox'
import { canonicalArtifactType, DEFAULT_DOCUMENT_LIMITS, Type } from '../../../engine/base.ts'
import { readDocument } from '../../../engine/internal.ts'
import { GatewayError } from '../../errors/errors.ts'
import { engine } from '../../loading/lazy-engine.ts'
import type { ApiDeps } from '../deps.ts'
import { READINESS_SIGNALS } from '../readiness/signals.ts'
import { SCORED_TYPES, unitsOf, type ScoredType } from '../readiness/units.ts'
import { defineRoute, json, type RouteAnswer, type RouteExchange } from '../route.ts'
import { CorrelationId, Ignored } from '../schemas/shapes.ts'

const Source = Type.Optional(
  Type.Union([Type.String({ minLength: 1 }), Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Unknown())], {
    description: 'The manifest or API description: its text (JSON or YAML), or the value itself.',
  }),
)

const NAMES = ['manifest', 'spec', 'content'] as const

const ReadinessRequest = Type.Object(
  {
    manifest: Source,
    spec: Source,
    content: Source,
    type: Type.Optional(
      Type.Enum([...SCORED_TYPES, 'mcp'], { description: '`mcp` means `mcp_manifest`. Absent: detected.' }),
    ),
  },
  { title: 'ReadinessRequest', anyOf: NAMES.map((name) => ({ required: [name] })) },
)
type ReadinessRequestBody = Static<typeof ReadinessRequest>

const GRADES = ['A', 'B', 'C', 'D', 'F'] as const
const count = Type.Integer({ minimum: 0 })

export const readinessScore = defineRoute({
  method: 'POST',
  paths: ['/api/v1/agent-readiness-score'],
  operationId: 'scoreReadiness',
  tag: 'preflight',
  summary: 'How well an agent can use a manifest or an API: a score with its signals',
  access: 'ask',
  counted: true,
  body: ReadinessRequest,
  toleratesUnknown: true,
  codes: [{ code: 'UNSUPPORTED_ARTIFACT_TYPE', pointer: /^\/type$/, keywords: ['enum'] }],
  answers: {
    200: {
      description: 'The score. It informs; it is never permission.',
      content: {
        'application/json': Type.Object(
          {
            score: Type.Integer({ minimum: 0, maximum: 100, description: 'The sum of the points of all signals.' }),
            grade: Type.Enum(GRADES, { description: 'A from 90, B from 75, C from 60, D from 40, else F.' }),
            type: Type.Enum(SCORED_TYPES),
            subjects: Type.Integer({ minimum: 0, description: 'Tools or operations.' }),
            signals: Type.Array(
              Type.Object({
                id: Type.String(),
                weight: count,
                points: count,
                passed: count,
                total: count,
                description: Type.String(),
                failing: Type.Array(Type.String(), { description: 'The first 20 names. Untrusted text.' }),
              }),
            ),
            recommendations: Type.Array(Type.String(), { description: 'What raises the score most, first.' }),
            ignored: Ignored,
            correlation_id: CorrelationId,
          },
          { title: 'ReadinessAnswer' },
        ),
      },
    },
  },
  errors: ['UNSUPPORTED_ARTIFACT_TYPE', 'ARTIFACT_UNREADABLE'],
  handle: runReadiness,
})

const MAX_FAILING = 20

async function runReadiness(exchange: RouteExchange<ReadinessRequestBody>, deps: ApiDeps): Promise<RouteAnswer> {
  const { body, correlationId } = exchange
  const name = NAMES.find((one) => body[one] !== undefined) ?? 'manifest'
  const source = body[name] ?? ''
  const text = typeof source === 'string' ? source : JSON.stringify(source)
  const type = await scoredType(body.type, text, name, deps)
  await exchange.spend()
  const document = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
  if (!document.ok) throw unreadableMember(name, document.problem.message)
  const suspicious = await suspiciousTexts(text, type, name, deps)
  const facts = { units: unitsOf(type, document.value.root), suspicious }
  const signals = READINESS_SIGNALS.map(({ id, weight, description, advice, measure }) => {
    const { passed, total, failing } = measure(facts)
    // Nothing to measure is no fault; a manifest without tools has nothing to use.
    const share = total === 0 ? (facts.units.length === 0 ? 0 : 1) : passed / total
    const points = Math.round(weight * share)
    return { row: { id, weight, points, passed, total, description, failing: failing.slice(0, MAX_FAILING) }, advice }
  })
  const score = signals.reduce((sum, { row }) => sum + row.points, 0)
  const open = signals.filter(({ row }) => row.points < row.weight)
  return json({
    score,
    grade: gradeOf(score),
    type,
    subjects: facts.units.length,
    signals: signals.map(({ row }) => row),
    recommendations: open
      .toSorted((a, b) => b.row.weight - b.row.points - (a.row.weight - a.row.points))
      .map(({ advice }) => advice),
    correlation_id: correlationId,
  })
}

async function scoredType(named: string | undefined, text: string, member: string, deps: ApiDeps): Promise<ScoredType> {
  const sniffed = named === undefined ? await deps.flow.sniff('', text) : null
  if (sniffed?.ok === false) throw unreadableMember(member, sniffed.problem.message)
  const type = sniffed?.ok === true ? sniffed.value : canonicalArtifactType(named ?? '')
  const scored = SCORED_TYPES.find((one) => one === type)
  if (scored !== undefined) return scored
  const details = [{ pointer: '/type', message: `must be one of ${SCORED_TYPES.join(', ')}` }]
  throw new GatewayError('UNSUPPORTED_ARTIFACT_TYPE', undefined, { details })
}

/** Places of texts with signs of poisoning: every text of a new contract is searched. */
async function suspiciousTexts(
  text: string,
  type: ScoredType,
  member: string,
  deps: ApiDeps,
): Promise<readonly string[]> {
  const today = new Date(deps.now()).toISOString().slice(0, 10)
  const compared = await deps.flow.compare({ id: 'readiness', type, before: '', after: text }, { today })
  if (!compared.ok) throw unreadableMember(member, compared.problem.message)
  const { ruleOf } = engine()
  const signs = compared.value.groups.filter(({ rule }) => ruleOf(rule)?.kind === 'poisoning')
  return [...new Set(signs.map(({ location }) => location))]
}

function unreadableMember(member: string, message: string): GatewayError {
  return new GatewayError('ARTIFACT_UNREADABLE', undefined, { details: [{ pointer: `/${member}`, message }] })
}

function gradeOf(score: number): (typeof GRADES)[number] {
  return score >= 90 ? 'A' : score >= 75 ? 'B' : score >= 60 ? 'C' : score >= 40 ? 'D' : 'F'
}
