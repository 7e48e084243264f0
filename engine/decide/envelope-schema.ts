/**
 * The decision result envelope as a schema (docs/reference/envelope.md): one list of members, two JSON Schemas made from it.
 * The producer form is what we hold ourselves to before anything leaves: closed, bounded, with the cross-field rules of
 * "States". The consumer form is what a reader may rely on: open, tolerant of what later versions add.
 */
import type { Static, TObject, TSchema } from 'typebox'
import { DECISIONS, EXECUTION_ACTIONS } from '../model/decision.ts'
import { CROSS_FIELD_RULES } from './envelope-conditions.ts'
import { anyText, count, digest, instant, nullable, optional, text } from './envelope-types.ts'
import {
  Authority,
  Binding,
  BlastRadius,
  Derivation,
  DetectedPatternRow,
  Evidence,
  NextAction,
  NextAgentStep,
  PatternSourceRow,
  PolicyPinStatus,
  Reason,
  Receipt,
  RemediationTransaction,
  RequiredActionCore,
} from './envelope-members.ts'
import { COMPLETENESS_MODES, ENVELOPE_BOUNDS, EVIDENCE_QUALITIES, PRECONDITIONS } from './envelope-vocabulary.ts'
import { Type } from '../common/type-builder.ts'

const IDENTIFIER = '^[A-Za-z0-9_.:-]{1,200}$'

const REQUIRED_MEMBERS = {
  spec_version: Type.String({ pattern: '^decision-result\\.v1(\\.[0-9]+)?$' }),
  decision: Type.Enum(DECISIONS),
  safe_for_agent: Type.Boolean({ description: 'Deprecated for branching: branch on execution_action.' }),
  execution_action: Type.Enum(EXECUTION_ACTIONS, { description: 'The one directive that consumers branch on.' }),
  decision_id: Type.String({ pattern: IDENTIFIER }),
  correlation_id: Type.String({ pattern: IDENTIFIER }),
  evaluated_at: instant(),
  expires_at: instant(),
  summary: text(ENVELOPE_BOUNDS.summary),
  blocking_reasons: Type.Array(Reason, { maxItems: ENVELOPE_BOUNDS.reasons }),
  warnings: Type.Array(Reason, { maxItems: ENVELOPE_BOUNDS.reasons }),
  required_action: nullable(text(ENVELOPE_BOUNDS.requiredAction, 0)),
  next_actions: Type.Array(NextAction, { maxItems: ENVELOPE_BOUNDS.nextActions }),
  fingerprint: digest(),
  input_fingerprint: digest(),
  decision_body_hash: nullable(digest()),
  receipt: Receipt,
  report_url: nullable(Type.String({ pattern: '^https://', maxLength: 2000 })),
  evidence_quality: Type.Enum(EVIDENCE_QUALITIES),
  confidence: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  evidence: Type.Array(Evidence, { maxItems: ENVELOPE_BOUNDS.evidence }),
  analysis_complete: Type.Boolean(),
}

const OPTIONAL_MEMBERS = {
  calibration_version: optional(text(100)),
  degraded_reasons: Type.Optional(Type.Array(Reason, { maxItems: ENVELOPE_BOUNDS.degradedReasons })),
  receipt_type: optional(Type.Enum(['bundle_preflight', 'spec_preflight'])),
  operation: optional(anyText()),
  environment: optional(anyText()),
  repository: optional(anyText()),
  branch: optional(anyText()),
  pull_request: optional(anyText()),
  base: optional(anyText()),
  head: optional(anyText()),
  target_id: optional(anyText()),
  target_uri: optional(anyText()),
  srcmode: optional(Type.Enum(['declared', 'unbound'])),
  preflight_mode: optional(Type.Enum(['analyze', 'authorize'])),
  artifact_digest: optional(digest()),
  policy_hash: optional(digest()),
  ruleset_hash: optional(digest()),
  decision_spec_version: optional(Type.Enum(['1.0', '2.0'])),
  audience: optional(Type.String({ pattern: '^v:[0-9a-f]{12}$' })),
  authorization_scope_hash: optional(anyText()),
  engine_build_id: optional(anyText()),
  deployment_id: optional(anyText()),
  commit_sha: optional(anyText()),
  risk_score: optional(Type.Integer({ minimum: 0, maximum: 100 })),
  breaking_changes: optional(count()),
  patterns: optional(Type.Array(anyText())),
  pattern_sources: optional(Type.Array(PatternSourceRow)),
  detected_patterns: optional(Type.Array(DetectedPatternRow)),
  completeness_mode: optional(Type.Enum(COMPLETENESS_MODES)),
  change_set_commitment: optional(anyText()),
  change_set_commitment_alg: optional(anyText()),
  contract_selector_hash: optional(digest()),
  completeness_count: optional(count()),
  submitted_set_digest: optional(digest()),
  completeness_expected_channel: optional(anyText()),
  binding: optional(Binding),
  authority: optional(Authority),
  derivation: optional(Derivation),
  fingerprint_binding_expected: optional(Type.Boolean()),
  required_action_core: optional(RequiredActionCore),
  next_agent_step: optional(NextAgentStep),
  remediation_transaction: optional(RemediationTransaction),
  scorer_version: optional(text(200)),
  policy_pin_status: optional(PolicyPinStatus),
  blast_radius: Type.Optional(BlastRadius),
}

/** Texts that the interface leaves open, though this version issues them in one form. */
const CONSUMED_AS_TEXT = {
  receipt_type: optional(anyText()),
  artifact_digest: optional(anyText()),
  policy_hash: optional(anyText()),
  ruleset_hash: optional(anyText()),
  decision_spec_version: optional(anyText()),
  contract_selector_hash: optional(anyText()),
  submitted_set_digest: optional(anyText()),
}

/** Every member of an envelope that this version issues. */
export const EnvelopeDocument = Type.Object(
  { ...REQUIRED_MEMBERS, ...OPTIONAL_MEMBERS },
  {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'decision-result.v1.producer.json',
    title: 'Decision result, producer form',
    additionalProperties: false,
    allOf: CROSS_FIELD_RULES,
  },
)
export type EnvelopeDocument = Static<typeof EnvelopeDocument>

export type Envelope = Readonly<EnvelopeDocument>

/** An envelope whose receipt is not made yet. */
export type EnvelopeDraft = Omit<Envelope, 'receipt' | 'decision_body_hash'>

/** JSON Schema that every envelope meets before it leaves (served as `/schemas/decision-result.v1.producer.json`). */
export const decisionResultProducerSchema: TSchema = EnvelopeDocument

/**
 * What a consumer may rely on. The root and every object that may grow are open; values of open vocabularies are any text.
 * Closed enums, the objects without additional properties and the cross-field rules are those of the producer: a value that
 * is not known is not permission (docs/reference/envelope.md#rules-between-members).
 */
export const ConsumedEnvelope = Type.Object(
  {
    ...REQUIRED_MEMBERS,
    next_actions: Type.Array(
      open(NextAction, {
        type: anyText(),
        target: optional(text(ENVELOPE_BOUNDS.target, 0)),
        precondition: optional(Type.Enum(PRECONDITIONS)),
      }),
      { maxItems: ENVELOPE_BOUNDS.nextActions },
    ),
    receipt: open(Receipt, {}),
    evidence: Type.Array(open(Evidence, { severity: anyText() }), { maxItems: ENVELOPE_BOUNDS.evidence }),
    blocking_reasons: Type.Array(open(Reason, {}), { maxItems: ENVELOPE_BOUNDS.reasons }),
    warnings: Type.Array(open(Reason, {}), { maxItems: ENVELOPE_BOUNDS.reasons }),
    ...OPTIONAL_MEMBERS,
    ...CONSUMED_AS_TEXT,
    degraded_reasons: Type.Optional(Type.Array(open(Reason, {}), { maxItems: ENVELOPE_BOUNDS.degradedReasons })),
    detected_patterns: optional(Type.Array(open(DetectedPatternRow, { severity: anyText() }, false))),
    authority: optional(open(Authority, { binding_proven_at: optional(anyText()) })),
    remediation_transaction: optional(
      open(
        RemediationTransaction,
        {
          required_changes: Type.Array(Type.Object({})),
          resubmission: open(RemediationTransaction.properties.resubmission, {}),
          recheck_scope: Type.Object({}),
          escalation: open(RemediationTransaction.properties.escalation, {}),
        },
        false,
      ),
    ),
    policy_pin_status: optional(open(PolicyPinStatus, { pinned: optional(anyText()) }, false)),
  },
  {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'decision-result.v1.consumer.json',
    title: 'Decision result, consumer form',
    allOf: CROSS_FIELD_RULES,
  },
)
export type ConsumedEnvelope = Static<typeof ConsumedEnvelope>

/** JSON Schema for those who read envelopes (served as `/schemas/decision-result.v1.consumer.json`). */
export const decisionResultConsumerSchema: TSchema = ConsumedEnvelope

function open<T extends Record<string, TSchema>, L extends Record<string, TSchema>>(
  schema: TObject<T>,
  loosened: L,
  additionalProperties = true,
) {
  return Type.Object({ ...schema.properties, ...loosened }, additionalProperties ? {} : { additionalProperties })
}
