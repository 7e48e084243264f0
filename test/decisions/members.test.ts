/**
 * Every optional member of docs/reference/envelope.md has a producer, shown here by a situation in which it says something, or a reason why it is
 * null. A member that is added without either fails.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  buildEnvelope,
  decisionResultProducerSchema,
  detectPatterns,
  EMPTY_CONTEXT,
  issueReceipt,
  type Envelope,
  type Issuance,
  type Verdict,
} from '../../engine/internal.ts'
import { fakeComparison, type FakeFinding } from '../fakes/comparisons.ts'
import { decideOn, digest, fakePolicy, NOW } from '../fakes/decisions.ts'
import { fakeKey, sha256 } from '../fakes/keys.ts'
import { at } from '../json.ts'

const BREAKING: FakeFinding = { rule: 'api-removed-without-deprecation', level: 'breaking', places: ['DELETE /pets'] }
const DECLARED = {
  ...EMPTY_CONTEXT,
  operation: 'merge',
  environment: 'prod',
  repository: 'acme/pets',
  branch: 'main',
  pull_request: '7',
  base: 'a1',
  head: 'b2',
  target_id: 'pets',
  target_uri: 'https://pets.test',
}

function issued(verdict: Verdict, issuance: Partial<Issuance> = {}): Envelope {
  const draft = buildEnvelope(verdict, {
    decisionId: 'dec_1',
    correlationId: 'cor_1',
    evaluatedAt: NOW,
    audience: 'v:0123456789ab',
    decisionSpecVersion: '2.0',
    reportUrl: null,
    ...issuance,
  })
  return issueReceipt(draft, fakeKey().signer, sha256, { issuer: 'i', tenant: 'local', previous: null, status: null })
    .envelope
}

const compared = fakeComparison([BREAKING])
const comparison = { ...compared, ...detectPatterns(compared.groups) }
const blocked = () =>
  issued(decideOn([], { context: DECLARED, analyses: [{ id: 'api', type: 'openapi', ok: true, comparison }] }))
const incomplete = () => issued(decideOn([], { analyses: [] }))
const bound = () => issued(decideOn([], { policy: fakePolicy({ fingerprint_binding: ['merge'] }) }))
const pinned = () => issued(decideOn([], { policyPin: digest('pin') }))
const reported = () => issued(decideOn([]), { reportUrl: 'https://preflight.test/d/1' })
const derived = () =>
  issued(decideOn([], { context: DECLARED }), {
    completeness: {
      origin: {
        kind: 'derived',
        derivation: { platform: 'scm_a', baseSha: 'a1', headSha: 'b2' },
        commitment: { root: digest('root'), count: 3 },
        problem: null,
      },
      bindingProvenAt: '2026-11-01T00:00:00Z',
      selectorHash: digest('selector'),
    },
  })
const submitted = () =>
  issued(decideOn([], { context: DECLARED }), {
    completeness: {
      origin: { kind: 'submitted', attested: { root: digest('root'), count: 3 } },
      bindingProvenAt: null,
      selectorHash: null,
    },
  })

/** Member → an envelope in which it says something. */
const PRODUCED: Readonly<Record<string, () => Envelope>> = {
  ...Object.fromEntries(Object.keys(DECLARED).map((member) => [member, blocked])),
  degraded_reasons: incomplete,
  report_url: reported,
  receipt_type: blocked,
  srcmode: blocked,
  preflight_mode: blocked,
  artifact_digest: blocked,
  policy_hash: blocked,
  ruleset_hash: blocked,
  decision_spec_version: blocked,
  audience: blocked,
  risk_score: blocked,
  breaking_changes: blocked,
  patterns: blocked,
  pattern_sources: blocked,
  detected_patterns: blocked,
  completeness_mode: blocked,
  submitted_set_digest: blocked,
  completeness_expected_channel: submitted,
  change_set_commitment: derived,
  change_set_commitment_alg: derived,
  completeness_count: derived,
  contract_selector_hash: derived,
  binding: derived,
  authority: blocked,
  derivation: derived,
  fingerprint_binding_expected: bound,
  required_action_core: blocked,
  next_agent_step: blocked,
  remediation_transaction: blocked,
  scorer_version: blocked,
  policy_pin_status: pinned,
  blast_radius: blocked,
  required_action: blocked,
  decision_body_hash: blocked,
}

/** docs/reference/envelope.md itself says that nothing produces them. */
const UNPRODUCED: Readonly<Record<string, string>> = {
  confidence: 'null until a calibrated model ships',
  calibration_version: 'null when confidence is null',
  authorization_scope_hash: 'no producer yet; null',
  engine_build_id: 'no producer yet; null',
  deployment_id: 'no producer yet; null',
  commit_sha: 'webhook-scoped; null on API and tool paths',
}

/** Those that need not be there, and those that may be null. */
function optionalMembers(): readonly string[] {
  const schema: unknown = JSON.parse(JSON.stringify(decisionResultProducerSchema))
  const required = textsOf(at(schema, 'required'))
  const isNullable = (name: string) => {
    const member = at(schema, 'properties', name)
    const forms = at(member, 'anyOf')
    return JSON.stringify([
      at(member, 'type'),
      Array.isArray(forms) ? forms.map((form) => at(form, 'type')) : [],
    ]).includes('"null"')
  }
  return Object.keys(Object(at(schema, 'properties'))).filter((name) => !required.includes(name) || isNullable(name))
}

function textsOf(list: unknown): readonly string[] {
  assert.ok(Array.isArray(list))
  return list.map(String)
}

suite('an optional member of the envelope', () => {
  test('has a producer or a reason, and never both', () => {
    const reported = [...Object.keys(PRODUCED), ...Object.keys(UNPRODUCED)]
    assert.deepEqual(reported.toSorted(), optionalMembers().toSorted())
  })

  for (const [member, envelope] of Object.entries(PRODUCED))
    test(`${member} says something`, () => {
      const value = at(envelope(), member)
      assert.notEqual(value ?? null, null)
      assert.notDeepEqual(value, [])
    })

  for (const [member, why] of Object.entries(UNPRODUCED))
    test(`${member} is null: ${why}`, () => {
      for (const envelope of [blocked, derived, submitted, bound, incomplete])
        assert.equal(at(envelope(), member), null)
    })
})

test('a derived change set says where it comes from, and a submitted one does not carry the member at all', () => {
  assert.deepEqual(derived().derivation, { source: 'scm_a_compare', platform: 'scm_a', base_sha: 'a1', head_sha: 'b2' })
  assert.equal(Object.hasOwn(blocked(), 'derivation'), false)
  assert.equal(derived().completeness_mode, 'SERVER_DERIVED')
})
