/**
 * The cross-field rules of docs/reference/envelope.md#rules-between-members, one row each: rules that a JSON Schema
 * cannot express, and rules that are checked before an envelope is built.
 */
import { DECISION_CLASSES } from '../model/decision.ts'
import type { EnvelopeDraft } from './envelope-schema.ts'

interface EnvelopeRule {
  readonly statement: string
  readonly holds: (envelope: EnvelopeDraft) => boolean
}

const SOURCE_SLOTS = ['repository', 'branch', 'pull_request', 'base', 'head'] as const

/** The gateway listed the change set itself, from a proven binding. */
const DERIVED_MODES: ReadonlySet<EnvelopeDraft['completeness_mode']> = new Set([
  'SERVER_DERIVED',
  'CROSS_VERIFIED',
  'DIVERGED',
])

const RULES: readonly EnvelopeRule[] = [
  {
    statement: 'execution_action and safe_for_agent are those of the decision class',
    holds: ({ decision, execution_action: action, safe_for_agent: safe }) =>
      DECISION_CLASSES[decision].action === action && DECISION_CLASSES[decision].safeForAgent === safe,
  },
  {
    statement: 'expires_at is later than evaluated_at',
    // The form has a fixed width: the order of the texts is the order of the instants.
    holds: ({ evaluated_at: from, expires_at: until }) => until > from,
  },
  {
    statement: 'blocking_reasons are given exactly when the decision holds up',
    holds: ({ decision, blocking_reasons: reasons }) =>
      DECISION_CLASSES[decision].safeForAgent === (reasons.length === 0),
  },
  {
    statement: 'an ALLOW has neither warnings nor a required action',
    holds: ({ decision, warnings, required_action: action }) =>
      decision !== 'ALLOW' || (warnings.length === 0 && action === null),
  },
  { statement: 'a WARN has a warning', holds: ({ decision, warnings }) => decision !== 'WARN' || warnings.length > 0 },
  {
    statement: 'next actions are required only of a decision that holds up, and then at least one is',
    holds: ({ decision, next_actions: actions }) =>
      DECISION_CLASSES[decision].safeForAgent !== actions.some(({ required }) => required),
  },
  {
    statement: 'REQUIRE_APPROVAL requires the action REQUEST_APPROVAL',
    holds: ({ decision, next_actions: actions }) =>
      decision !== 'REQUIRE_APPROVAL' || actions.some(({ type, required }) => type === 'REQUEST_APPROVAL' && required),
  },
  {
    statement: 'a decision that holds up has evidence',
    holds: ({ decision, evidence }) => DECISION_CLASSES[decision].safeForAgent || evidence.length > 0,
  },
  {
    statement: 'an ALLOW with severe evidence names the policy rule that it rests on',
    holds: ({ decision, evidence }) =>
      decision !== 'ALLOW' ||
      !evidence.some(({ severity }) => severity === 'HIGH' || severity === 'CRITICAL') ||
      evidence.some(({ type }) => type === 'POLICY_RULE'),
  },
  {
    statement: 'an incomplete analysis gives its reasons and is never an ALLOW, a complete one has none',
    holds: ({ decision, analysis_complete: isComplete, degraded_reasons: reasons = [] }) =>
      isComplete === (reasons.length === 0) && (isComplete || decision !== 'ALLOW'),
  },
  {
    statement: 'confidence and calibration_version come together',
    holds: ({ confidence, calibration_version: calibration }) =>
      confidence === null ? (calibration ?? null) === null : typeof calibration === 'string' && calibration !== '',
  },
  {
    statement: 'srcmode says whether a source slot is filled',
    holds: (envelope) =>
      (envelope.srcmode === 'declared') === SOURCE_SLOTS.some((slot) => (envelope[slot] ?? null) !== null),
  },
  {
    statement: 'only a BLOCK has a remediation, and only a decision that holds up a next agent step',
    holds: ({ decision, remediation_transaction: remediation, next_agent_step: step }) =>
      (decision === 'BLOCK') === Boolean(remediation) && (step ? !DECISION_CLASSES[decision].safeForAgent : true),
  },
  {
    statement: 'every pattern source is about a pattern that is carried',
    holds: ({ patterns, pattern_sources: sources }) =>
      !patterns || !sources || sources.every(({ name }) => patterns.includes(name)),
  },
  {
    statement: 'a required action core of type none belongs to an ALLOW',
    holds: ({ decision, required_action_core: core }) => !core || (core.type === 'none') === (decision === 'ALLOW'),
  },
  {
    statement:
      'a change set that the gateway listed itself from a proven binding says from which commits, and commits to the list',
    holds: ({ completeness_mode: mode, derivation, binding, change_set_commitment: commitment }) =>
      !DERIVED_MODES.has(mode ?? null) || (Boolean(derivation) && Boolean(binding?.proven) && Boolean(commitment)),
  },
  {
    statement: 'binding and authority agree, and an unbound change set commits to nothing',
    holds: ({ completeness_mode: mode, binding, authority, change_set_commitment: commitment }) =>
      (authority?.tenant_scope === 'bound') === Boolean(binding?.proven) && (mode !== 'UNBOUND' || !commitment),
  },
  {
    statement: 'a commit reported by webhook belongs to a decision without an audience',
    holds: ({ commit_sha: commit, audience }) => !commit || (audience ?? null) === null,
  },
  {
    statement: 'authority names the audience of the envelope',
    holds: ({ audience, authority }) => !authority || authority.audience === (audience ?? null),
  },
]

/** The violated rules as text. Empty for an envelope that may be issued. */
export function envelopeViolations(envelope: EnvelopeDraft): readonly string[] {
  return RULES.filter(({ holds }) => !holds(envelope)).map(({ statement }) => statement)
}
