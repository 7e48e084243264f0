/** How complete a change set is: the mode, the binding, and the derivation. */
// What an envelope says of how far its change set is known to be all of the change.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildEnvelope, EMPTY_CONTEXT, type CompletenessFacts, type DecideInput } from '../../../engine/internal.ts'
import { decideOn, digest, NOW } from '../../fakes/decisions.ts'

const ROOT = { root: digest('root'), count: 3 }
const SUBMITTED = { kind: 'submitted', attested: ROOT } as const
const DERIVATION = { platform: 'scm_b', baseSha: 'a'.repeat(40), headSha: 'b'.repeat(40) } as const
const DERIVED = { kind: 'derived', derivation: DERIVATION, commitment: ROOT, problem: null } as const
const PROVEN_AT = '2026-11-20T10:00:00.000Z'
const PROBLEM = { code: 'DERIVATION_INCOMPLETE', message: 'The list was cut off.' }

function facts(changes: Partial<CompletenessFacts>): CompletenessFacts {
  return { origin: SUBMITTED, bindingProvenAt: null, selectorHash: digest('selector'), ...changes }
}

function envelopeOn(completeness: CompletenessFacts | undefined, changes: Partial<DecideInput> = {}) {
  const known = completeness === undefined ? {} : { completeness }
  const verdict = decideOn([], {
    context: { ...EMPTY_CONTEXT, operation: 'merge', repository: 'acme/pets' },
    ...known,
    ...changes,
  })
  return buildEnvelope(verdict, {
    decisionId: 'dec_1',
    correlationId: 'cor_1',
    evaluatedAt: NOW,
    audience: 'v:0123456789ab',
    decisionSpecVersion: '2.0',
    reportUrl: null,
    ...known,
  })
}

const MODES: readonly (readonly [
  name: string,
  facts: CompletenessFacts | undefined,
  mode: string,
  channel: string | null,
])[] = [
  ['artifacts of which nothing is known', undefined, 'UNBOUND', 'repository_binding'],
  ['artifacts for a declared repository', facts({}), 'ATTESTED_UNVERIFIED', 'repository_binding'],
  ['artifacts for a proven repository', facts({ bindingProvenAt: PROVEN_AT }), 'BOUND_ATTESTED', 'server_derivation'],
  [
    'a list of the gateway for a proven repository',
    facts({ origin: DERIVED, bindingProvenAt: PROVEN_AT }),
    'SERVER_DERIVED',
    null,
  ],
  ['a list of the gateway for one that is not proven', facts({ origin: DERIVED }), 'UNBOUND', 'repository_binding'],
  [
    'a list that is not whole',
    facts({ origin: { ...DERIVED, problem: PROBLEM }, bindingProvenAt: PROVEN_AT }),
    'UNESTABLISHABLE',
    null,
  ],
]

for (const [name, known, mode, channel] of MODES) {
  test(`the mode of ${name} is ${mode}`, () => {
    const envelope = envelopeOn(known)
    assert.equal(envelope.completeness_mode, mode)
    assert.equal(envelope.completeness_expected_channel, channel)
    const commits = mode !== 'UNBOUND'
    assert.equal(envelope.change_set_commitment, commits ? ROOT.root : null)
    assert.equal(envelope.change_set_commitment_alg, commits ? 'changeset.sorted-leaf.v1' : null)
    assert.equal(envelope.completeness_count, commits ? 3 : null)
    assert.equal(envelope.submitted_set_digest, digest('submitted set'))
  })
}

test('artifacts without a repository are unbound, whatever was handed in', () => {
  const envelope = envelopeOn(facts({}), { context: { ...EMPTY_CONTEXT, operation: 'merge' } })
  assert.deepEqual([envelope.completeness_mode, envelope.change_set_commitment], ['UNBOUND', null])
})

test('a proven binding is reported with its time, in binding and authority alike', () => {
  const bound = envelopeOn(facts({ bindingProvenAt: PROVEN_AT }))
  assert.deepEqual(bound.binding, { proven: true, proven_at: PROVEN_AT })
  assert.deepEqual(bound.authority, { audience: 'v:0123456789ab', tenant_scope: 'bound', binding_proven_at: PROVEN_AT })
  const unbound = envelopeOn(facts({}))
  assert.equal(unbound.binding, null)
  assert.deepEqual(unbound.authority, { audience: 'v:0123456789ab', tenant_scope: 'unbound' })
})

test('if the gateway listed the changes itself, the commits are reported; otherwise the member is absent', () => {
  assert.deepEqual(envelopeOn(facts({ origin: DERIVED })).derivation, {
    source: 'scm_b_compare',
    platform: 'scm_b',
    base_sha: DERIVATION.baseSha,
    head_sha: DERIVATION.headSha,
  })
  assert.ok(!('derivation' in envelopeOn(facts({}))))
})

test('a derived change set without a contract is whole and allows; an empty submission is not judged', () => {
  const derived = envelopeOn(facts({ origin: DERIVED }), { analyses: [] })
  assert.deepEqual([derived.decision, derived.analysis_complete, derived.degraded_reasons], ['ALLOW', true, []])
  const submitted = envelopeOn(facts({}), { analyses: [] })
  assert.deepEqual([submitted.decision, submitted.degraded_reasons?.[0]?.code], ['BLOCK', 'ANALYSIS_EMPTY'])
})

test('a list that is not whole is never an ALLOW, with and without contracts in it', () => {
  const completeness = facts({ origin: { ...DERIVED, problem: PROBLEM } })
  for (const changes of [{}, { analyses: [] }]) {
    const { decision, analysis_complete: isComplete, degraded_reasons: reasons } = envelopeOn(completeness, changes)
    assert.deepEqual([decision, isComplete, reasons?.[0]?.code], ['BLOCK', false, 'DERIVATION_INCOMPLETE'])
  }
})

test('where the change set came from changes nothing of the fingerprint', () => {
  assert.equal(
    envelopeOn(facts({ origin: DERIVED, bindingProvenAt: PROVEN_AT })).fingerprint,
    envelopeOn(undefined).fingerprint,
  )
})
