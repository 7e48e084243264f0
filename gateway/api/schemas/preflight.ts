/** Request and answers of the preflight (docs/reference/api.md#post-apiv1preflight), served as `/schemas/preflight-request.json` and `/schemas/preflight-response.json`. */
import type { Static, TSchema } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { decisionResultConsumerSchema } from '../../../engine/internal.ts'
import {
  Artifact,
  BlastRadius,
  CorrelationId,
  Decision,
  DecisionContext,
  DetectedPattern,
  Digest,
  Evidence,
  ExecutionAction,
  Finding,
  Ignored,
  instant,
  nullable,
  PatternSource,
} from './shapes.ts'

const isMode = (mode: string) => ({ properties: { preflight_mode: { const: mode } }, required: ['preflight_mode'] })
const isLegacy = { properties: { decision_spec_version: { const: '1.0' } }, required: ['decision_spec_version'] }

export const PreflightRequest = Type.Object(
  {
    preflight_mode: Type.Optional(
      Type.Enum(['analyze', 'authorize'], {
        description: 'analyze: risk only, never permission. authorize: a decision with a receipt for one operation.',
      }),
    ),
    artifacts: Type.Optional(Type.Array(Artifact, { minItems: 1, description: 'The change set.' })),
    context: Type.Optional(DecisionContext),
    derivation: Type.Optional(
      Type.Enum(['server'], {
        description: 'The server lists the change set itself; needs a proven binding, base and head.',
      }),
    ),
    decision_spec_version: Type.Optional(
      Type.Enum(['1.0', '2.0'], {
        default: '2.0',
        description: '1.0 is the legacy form: preflight_mode may be absent and means authorize.',
      }),
    ),
    idempotency_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Replays the stored authorize answer for 24 hours; with another body it is a conflict.',
      }),
    ),
    previous_receipt: Type.Optional(
      Type.String({
        minLength: 20,
        maxLength: 8192,
        description: 'Receipt that this one follows; its hash becomes the `prev` claim.',
      }),
    ),
  },
  {
    title: 'PreflightRequest',
    allOf: [
      { if: isLegacy, else: { required: ['preflight_mode'] } },
      { if: { required: ['derivation'] }, else: { required: ['artifacts'] } },
      {
        if: isMode('authorize'),
        then: {
          required: ['context'],
          properties: { context: { required: ['operation'], properties: { operation: { type: 'string' } } } },
        },
      },
    ],
  },
)
export type PreflightRequest = Static<typeof PreflightRequest>

const RiskScore = Type.Integer({ minimum: 0, maximum: 100 })

const ArtifactRow = {
  id: Type.String(),
  type: Type.String(),
  status: Type.Enum(['analyzed', 'failed']),
  risk_score: RiskScore,
  breaking_changes: Type.Integer({ minimum: 0 }),
  patterns: Type.Array(Type.String()),
  error: Type.Optional(
    Type.Object({
      code: Type.String(),
      message: Type.String(),
      line: Type.Optional(Type.Integer()),
      column: Type.Optional(Type.Integer()),
    }),
  ),
}

const shared = (artifact: Record<string, TSchema>) => ({
  risk_score: RiskScore,
  breaking_changes: Type.Integer({ minimum: 0 }),
  breaking_changes_details: Type.Array(Finding),
  breaking_changes_truncated: Type.Integer({ minimum: 0, description: 'Findings left out of the list.' }),
  patterns: Type.Array(Type.String()),
  pattern_sources: Type.Array(PatternSource),
  detected_patterns: Type.Array(DetectedPattern),
  evidence: Type.Array(Evidence),
  evidence_quality: Type.Enum(['LOW', 'MEDIUM', 'HIGH']),
  analysis_complete: Type.Boolean(),
  requires_migration: Type.Boolean(),
  artifacts: Type.Array(Type.Object(artifact)),
  input_fingerprint: Digest,
  blast_radius: BlastRadius,
  severity_summary: Type.Object({
    breaking: Type.Integer({ minimum: 0 }),
    dangerous: Type.Integer({ minimum: 0 }),
    info: Type.Integer({ minimum: 0 }),
  }),
  risk_factors: Type.Array(
    Type.Object({ id: Type.String(), weight: Type.Number(), points: Type.Number(), because: Type.String() }),
  ),
  human_report: Type.Object({
    summary: Type.String(),
    breaking_highlights: Type.Array(Type.String()),
    suggestions: Type.Array(Type.String()),
    next_steps: Type.Array(Type.String()),
  }),
  ignored: Ignored,
  correlation_id: CorrelationId,
  timestamp: instant(),
  scorer_version: Type.String(),
})

const AnalyzeAnswer = Type.Object(
  {
    preflight_mode: Type.Literal('analyze'),
    analysis_outcome: Type.Enum(['NO_BREAK_DETECTED', 'BREAKS_DETECTED', 'ANALYSIS_FAILED']),
    authorization_effect: Type.Literal('NONE'),
    may_execute: Type.Literal(false),
    receipt_kind: Type.Literal('NONE'),
    decision_spec_version: Type.Literal('2.0'),
    ...shared(ArtifactRow),
  },
  {
    title: 'AnalyzeAnswer',
    description: 'Risk only. There is no decision in it and it is never permission.',
    not: {
      anyOf: [
        'decision',
        'execution_action',
        'safe_for_agent',
        'decision_result',
        'chain_receipt',
        'control_envelope',
        'required_action_core',
      ].map((member) => ({ required: [member] })),
    },
  },
)

/** The envelope as a reader may rely on it; openapi.json holds it once, under this title. */
export const DecisionResult = Type.Unsafe<Readonly<Record<string, unknown>>>({
  ...decisionResultConsumerSchema,
  title: 'DecisionResult',
})

export const ControlEnvelope = Type.Object(
  {
    control_version: Type.String(),
    decision: Decision,
    execution_action: ExecutionAction,
    safe_for_agent: Type.Boolean(),
    receipt_view: Type.Object({
      present: Type.Boolean(),
      verified: Type.Boolean(),
      binds_to: Type.Record(Type.String(), nullable(Type.String())),
      expires_at: Type.String(),
      currently_authorized: Type.Boolean({ description: 'Act only on true.' }),
    }),
    required_action: nullable(Type.String()),
    next_agent_step: nullable(Type.Record(Type.String(), Type.Unknown())),
    enforcement: Type.Object({
      mode: Type.Enum(['enforce', 'observe']),
      tier: Type.String(),
      traffic: Type.Enum(['transparent', 'explicit'], {
        description: 'transparent: connections are redirected to this gateway. explicit: agents are configured for it.',
      }),
    }),
  },
  { title: 'ControlEnvelope' },
)

const AuthorizeAnswer = Type.Object(
  {
    preflight_mode: Type.Literal('authorize'),
    decision: Decision,
    execution_action: ExecutionAction,
    safe_for_agent: Type.Boolean(),
    receipt_kind: Type.Literal('operation_authorization'),
    chain_receipt: Type.String({ description: 'The receipt, a compact JWS.' }),
    decision_result: DecisionResult,
    control_envelope: ControlEnvelope,
    decision_spec_version: Type.Enum(['1.0', '2.0']),
    ...shared({ ...ArtifactRow, decision: Decision }),
  },
  { title: 'AuthorizeAnswer', description: 'A decision that is already recorded, with its receipt.' },
)

export const PreflightAnswer = Type.Union([AnalyzeAnswer, AuthorizeAnswer], { title: 'PreflightAnswer' })
