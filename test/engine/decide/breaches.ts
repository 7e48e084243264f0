/** Envelopes that break one rule of the interface each: as data, for the schemas and for the rules. */
import assert from 'node:assert/strict'
import type { Envelope } from '../../../engine/internal.ts'
import type { FakeFinding } from '../../fakes/comparisons.ts'
import { decideOn, issueOn } from '../../fakes/decisions.ts'

export const FINDINGS: Readonly<Record<string, readonly FakeFinding[]>> = {
  ALLOW: [],
  WARN: [{ rule: 'x-deprecated', level: 'info' }],
  REQUIRE_APPROVAL: [{ rule: 'x', level: 'dangerous' }],
  BLOCK: [{ rule: 'x', level: 'breaking' }],
}
const ISSUED = new Map(
  Object.entries(FINDINGS).map(([decision, findings]) => [decision, issueOn(decideOn(findings)).envelope]),
)

/** An envelope of this class as it is issued. */
export function issued(decision: string): Envelope {
  const envelope = ISSUED.get(decision)
  assert.ok(envelope)
  return envelope
}

interface Breach {
  readonly what: string
  readonly decision: string
  readonly changes: Readonly<Record<string, unknown>>
  /** Consumers take it: the root may grow. */
  readonly tolerated?: true
  /** It breaks a rule about several members, which envelopeViolations knows too. */
  readonly crossField?: true
}

export const reason = { code: 'X_CHANGED', message: 'm' }
const long = (length: number) => 'x'.repeat(length)
const approval = issued('REQUIRE_APPROVAL')

const measured = { name: 'X', source: 'contract_diff', evidence_kind: 'measured' }
const row = {
  name: 'X',
  severity: 'HIGH',
  description: '',
  consequence: '',
  affected_path: '',
  affected_field: '',
}
const asSent = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

export const BREACHES: readonly Breach[] = [
  { what: 'another major version', decision: 'ALLOW', changes: { spec_version: 'decision-result.v2' } },
  { what: 'an unknown decision', decision: 'ALLOW', changes: { decision: 'PASS' } },
  { what: 'an unknown directive', decision: 'ALLOW', changes: { execution_action: 'GO' } },
  { what: 'a directive of another class', decision: 'ALLOW', changes: { execution_action: 'STOP' } },
  { what: 'a flag of another class', decision: 'BLOCK', changes: { safe_for_agent: true } },
  { what: 'an id with a blank', decision: 'ALLOW', changes: { decision_id: 'a b' } },
  { what: 'an id of 201 characters', decision: 'ALLOW', changes: { correlation_id: long(201) } },
  { what: 'a time with a fraction', decision: 'ALLOW', changes: { evaluated_at: '2026-11-21T04:00:00.5Z' } },
  { what: 'no summary', decision: 'ALLOW', changes: { summary: '' } },
  { what: 'a summary of 501 characters', decision: 'ALLOW', changes: { summary: long(501) } },
  {
    what: 'a lower-case reason code',
    decision: 'BLOCK',
    changes: { blocking_reasons: [{ ...reason, code: 'changed' }] },
  },
  {
    what: 'a message of 301 characters',
    decision: 'BLOCK',
    changes: { blocking_reasons: [{ ...reason, message: long(301) }] },
  },
  { what: '51 reasons', decision: 'BLOCK', changes: { blocking_reasons: Array.from({ length: 51 }, () => reason) } },
  { what: 'a hash in upper case', decision: 'ALLOW', changes: { fingerprint: `sha256:${'A'.repeat(64)}` } },
  { what: 'a plain-text report address', decision: 'ALLOW', changes: { report_url: 'http://x' } },
  { what: 'a confidence without calibration', decision: 'ALLOW', changes: { confidence: 0.5 } },
  { what: 'a calibration without confidence', decision: 'ALLOW', changes: { calibration_version: 'c1' } },
  { what: 'a confidence over one', decision: 'ALLOW', changes: { confidence: 1.1, calibration_version: 'c1' } },
  {
    what: 'an ALLOW of an incomplete analysis',
    decision: 'ALLOW',
    changes: { analysis_complete: false, degraded_reasons: [reason] },
  },
  { what: 'an incomplete analysis without a reason', decision: 'BLOCK', changes: { analysis_complete: false } },
  { what: 'a complete analysis with a degraded reason', decision: 'BLOCK', changes: { degraded_reasons: [reason] } },
  { what: 'a receipt without a key id', decision: 'ALLOW', changes: { receipt: { ...approval.receipt, key_id: '' } } },
  { what: 'an unknown evidence quality', decision: 'ALLOW', changes: { evidence_quality: 'SUPERB' } },
  { what: 'an ALLOW that blocks', decision: 'ALLOW', changes: { blocking_reasons: [reason] }, crossField: true },
  { what: 'an ALLOW that warns', decision: 'ALLOW', changes: { warnings: [reason] }, crossField: true },
  { what: 'an ALLOW that requires something', decision: 'ALLOW', changes: { required_action: 'x' }, crossField: true },
  {
    what: 'an ALLOW with severe evidence and no rule',
    decision: 'ALLOW',
    changes: { evidence: [{ type: 'X', source: 's', finding: 'f', severity: 'CRITICAL' }] },
    crossField: true,
  },
  { what: 'a WARN without a warning', decision: 'WARN', changes: { warnings: [] }, crossField: true },
  {
    what: 'a WARN with a required action',
    decision: 'WARN',
    changes: { next_actions: approval.next_actions },
    crossField: true,
  },
  {
    what: 'an approval that nobody is asked for',
    decision: 'REQUIRE_APPROVAL',
    changes: { next_actions: [] },
    crossField: true,
  },
  { what: 'a BLOCK without a reason', decision: 'BLOCK', changes: { blocking_reasons: [] }, crossField: true },
  { what: 'a BLOCK without evidence', decision: 'BLOCK', changes: { evidence: [] }, crossField: true },
  { what: 'a BLOCK that requires nothing', decision: 'BLOCK', changes: { next_actions: [] }, crossField: true },
  {
    what: 'a remediation of what is not blocked',
    decision: 'WARN',
    changes: { remediation_transaction: issued('BLOCK').remediation_transaction },
    crossField: true,
  },
  {
    what: 'a next step of what may proceed',
    decision: 'ALLOW',
    changes: { next_agent_step: approval.next_agent_step },
    crossField: true,
  },
  { what: 'an unbound source with a branch', decision: 'ALLOW', changes: { branch: 'main' }, crossField: true },
  { what: 'a member that is not in the interface', decision: 'ALLOW', changes: { extra: 1 }, tolerated: true },
  { what: 'a risk over a hundred', decision: 'ALLOW', changes: { risk_score: 101 } },
  {
    what: 'an unknown completeness mode',
    decision: 'ALLOW',
    changes: { completeness_mode: 'TRUST_ME' },
  },
  ...['repository', 'branch', 'pull_request', 'base', 'head'].map((slot) => ({
    what: `an unbound source with ${slot}`,
    decision: 'WARN',
    changes: { [slot]: '' },
    crossField: true as const,
  })),
  { what: 'a declared source without one', decision: 'WARN', changes: { srcmode: 'declared' }, crossField: true },
  { what: 'an unknown srcmode', decision: 'ALLOW', changes: { srcmode: 'guessed' } },
  {
    what: 'an approval whose request is optional',
    decision: 'REQUIRE_APPROVAL',
    changes: {
      next_actions: approval.next_actions.map((row) => ({ ...row, required: row.type !== 'REQUEST_APPROVAL' })),
    },
    crossField: true,
  },
  ...['REQUIRE_APPROVAL', 'BLOCK'].flatMap((decision) =>
    ['blocking_reasons', 'next_actions', 'evidence'].map((member) => ({
      what: `a ${decision} without ${member}`,
      decision,
      changes: { [member]: [] },
      crossField: true as const,
    })),
  ),
  { what: 'a WARN that blocks', decision: 'WARN', changes: { blocking_reasons: [reason] }, crossField: true },
  {
    what: 'an ALLOW with a required next action',
    decision: 'ALLOW',
    changes: { next_actions: approval.next_actions },
    crossField: true,
  },
  {
    what: 'a decision of type none that is not an ALLOW',
    decision: 'WARN',
    changes: { required_action_core: { type: 'none', reason_code: 'X_X', recheck_required: false } },
    crossField: true,
  },
  {
    what: 'a required action without a choice',
    decision: 'WARN',
    changes: {
      required_action_core: { type: 'proceed_with_note', reason_code: 'X_X', recheck_required: false, choices: [] },
    },
  },
  {
    what: 'a commitment of an unbound change set',
    decision: 'ALLOW',
    changes: { completeness_mode: 'UNBOUND', change_set_commitment: `sha256:${'a'.repeat(64)}` },
    crossField: true,
  },
  {
    what: 'a time of a binding that is not there',
    decision: 'ALLOW',
    changes: { authority: { audience: null, tenant_scope: 'unbound', binding_proven_at: '2026-11-21T04:00:00Z' } },
  },
  ...Object.entries({
    'an unknown source': { source: 'rumour' },
    'a source that is a name of every object': { source: 'constructor' },
    'an unknown evidence kind': { evidence_kind: 'guessed' },
    'no source': { source: undefined },
    'no evidence kind': { evidence_kind: undefined },
    'a further member': { trust: 1 },
    'a negative index': { detected_pattern_indices: [-1] },
    'measured codes': { basis_codes: ['x'] },
    'a measured rule': { rule_id: 'x' },
    'derived rows': { evidence_kind: 'derived', detected_pattern_indices: [0] },
  }).map(([what, changes]) => ({
    what: `a pattern source with ${what}`,
    decision: 'BLOCK',
    changes: { patterns: ['X'], pattern_sources: [asSent({ ...measured, ...changes })] },
  })),
  {
    what: 'a side of another pattern than ENUM_NARROWING',
    decision: 'BLOCK',
    changes: { detected_patterns: [{ ...row, side: 'request' }] },
  },
  {
    what: 'a pattern row with a further member',
    decision: 'BLOCK',
    changes: { detected_patterns: [{ ...row, x: 1 }] },
  },
  { what: 'a negative count of changes', decision: 'ALLOW', changes: { breaking_changes: -1 } },
  { what: 'a broken risk', decision: 'ALLOW', changes: { risk_score: 0.5 } },
  { what: 'an audience in clear text', decision: 'ALLOW', changes: { audience: 'alice' } },
  { what: 'an unknown mode of preflight', decision: 'ALLOW', changes: { preflight_mode: 'permit' } },
  {
    what: 'an unknown precondition',
    decision: 'BLOCK',
    changes: { next_actions: issued('BLOCK').next_actions.map((next) => ({ ...next, precondition: 'NEVER' })) },
  },
  {
    what: 'an unknown next step',
    decision: 'BLOCK',
    changes: { next_agent_step: { action: 'shrug', reason: 'x', resume_condition: '', then_call: null } },
  },
  {
    what: 'a blast radius without a count',
    decision: 'ALLOW',
    changes: { blast_radius: { endpoints: 0, graph_source: 'none' } },
  },
  { what: 'a binding without its time', decision: 'ALLOW', changes: { binding: { proven: true } } },
  {
    what: 'a derivation by an unknown source',
    decision: 'ALLOW',
    changes: { derivation: { source: 'rumour', base_sha: 'a', head_sha: 'b' } },
  },
  {
    what: 'a remediation that permits what was modified',
    decision: 'BLOCK',
    changes: {
      remediation_transaction: { ...issued('BLOCK').remediation_transaction, next_preflight_required: false },
    },
  },
]
