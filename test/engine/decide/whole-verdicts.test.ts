/** Verdicts, whole: every text, step and row that people and agents read, in situations that together show all there is. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { parse } from 'yaml'
import { assertProducerForm } from '../../../engine/decide/envelope.ts'
import { issueOn, decideOn, digest, fakePolicy, NOW } from '../../fakes/decisions.ts'
import { at } from '../../json.ts'
import type { Verdict } from '../../../engine/internal.ts'
import { failedAnalysis, fakeAnalysis, type FakeFinding } from '../../fakes/comparisons.ts'

const REMOVED: FakeFinding = {
  rule: 'api-removed-without-deprecation',
  level: 'breaking',
  places: ['DELETE /pets'],
  fix: 'Keep DELETE /pets, or deprecate it first.',
}
const REQUIRED: FakeFinding = {
  rule: 'request-property-became-required',
  level: 'breaking',
  location: '/components/schemas/Pet/properties/name',
  places: ['POST /pets', 'PUT /pets/{id}'],
}
const NARROWED: FakeFinding = { rule: 'response-property-enum-value-added', level: 'dangerous', places: ['GET /pets'] }
const DEPRECATED: FakeFinding = { rule: 'endpoint-deprecated', level: 'info', places: ['GET /owners'] }
const ADDED: FakeFinding = { rule: 'endpoint-added', level: 'info', places: ['GET /cats'] }
const TOOL: FakeFinding = { rule: 'tool-removed', level: 'breaking', places: ['clear_pets'], location: '/tools/1' }
const FREEZE = {
  id: 'year-end',
  from: '2026-11-20T00:00:00Z',
  until: '2026-11-21T05:00:00Z',
  operations: ['merge'],
  reason: 'Nobody is there',
}
const waiver = (expires: string) => ({
  waivers: [{ id: 'legacy', rule: REMOVED.rule, reason: 'nobody calls it', owner: 'pets team', expires }],
})
const consumers = [{ name: 'billing', uses: [{ artifact: null, operation: 'DELETE /pets', tool: null }] }]

const SITUATIONS: Readonly<Record<string, () => Verdict>> = {
  'nothing found': () => decideOn([]),
  'an addition': () => decideOn([ADDED]),
  'a deprecation': () => decideOn([DEPRECATED, ADDED]),
  'a danger': () => decideOn([NARROWED, ADDED], { consumers }),
  'breaks, dangers and notes': () => decideOn([ADDED, NARROWED, REQUIRED, REMOVED], { consumers, observed: [] }),
  'a tool that is gone': () => decideOn([TOOL]),
  'a request that waits': () =>
    decideOn([NARROWED], { approval: { state: 'requested', id: 'apr_1', address: '/api/v1/approvals/apr_1' } }),
  'a request that was granted': () =>
    decideOn([NARROWED], { approval: { state: 'granted', id: 'apr_1', approver: 'v:1', until: NOW + 60 } }),
  'a contract that cannot be read': () =>
    decideOn([], { analyses: [failedAnalysis('api'), fakeAnalysis('web', [ADDED])] }),
  'the same where a pack lets it go on': () =>
    decideOn([], { analyses: [failedAnalysis('api')], policy: fakePolicy({ on_incomplete: 'WARN' }) }),
  'no artifact': () => decideOn([], { analyses: [] }),
  'a freeze': () => decideOn([ADDED], { policy: fakePolicy({ freezes: [FREEZE] }) }),
  'a waiver': () => decideOn([REMOVED], { policy: fakePolicy(waiver('2027-06-01')) }),
  'a waiver that ends soon': () => decideOn([REMOVED], { policy: fakePolicy(waiver('2026-11-25')) }),
  'a waiver that has ended': () => decideOn([REMOVED], { policy: fakePolicy(waiver('2026-11-20')) }),
  'a pack that observes': () => decideOn([REMOVED, NARROWED, DEPRECATED], { policy: fakePolicy({ mode: 'observe' }) }),
  'another policy than the pinned one': () => decideOn([], { policyPin: digest('pin') }),
  'a call of one tool': () =>
    decideOn([TOOL, { ...NARROWED, places: ['echo'] }, REQUIRED], { scope: { tool: 'echo' } }),
  'a rule with a runbook and a reason': () =>
    decideOn([REMOVED], {
      policy: fakePolicy({
        rules: [
          {
            id: 'own',
            when: "finding.level == 'breaking'",
            then: 'BLOCK',
            reason: { code: 'OWN_CODE', message: 'Not on a Friday' },
            runbook: 'https://runbooks.test/1',
          },
        ],
      }),
    }),
  'runbooks of a finding and of a rule about the whole': () =>
    decideOn([REMOVED, NARROWED], {
      policy: fakePolicy({
        rules: [
          {
            id: 'finding',
            when: "finding.level == 'breaking'",
            then: 'BLOCK',
            runbook: 'https://runbooks.test/finding',
          },
          {
            id: 'whole',
            for: 'change_set',
            when: 'true',
            then: 'REQUIRE_APPROVAL',
            runbook: 'https://runbooks.test/whole',
          },
        ],
      }),
    }),
  'a rule about the whole that is stricter than the findings': () =>
    decideOn([DEPRECATED], {
      policy: fakePolicy({
        rules: [
          { id: 'finding', when: 'true', then: 'WARN', runbook: 'https://runbooks.test/finding' },
          { id: 'whole', for: 'change_set', when: 'true', then: 'BLOCK', runbook: 'https://runbooks.test/whole' },
        ],
      }),
    }),
  'a contract that cannot be read, at no place of its own': () =>
    decideOn([], {
      analyses: [
        { id: 'api', type: 'openapi', ok: false, problem: { code: 'ANALYSIS_TIMEOUT', message: 'It took too long.' } },
        { id: 'web', type: 'openapi', ok: false, problem: { code: 'ARTIFACT_UNREADABLE', message: 'Bad.', line: 3 } },
      ],
    }),
  'places that are not listed': () => {
    const [analysis] = [fakeAnalysis('api', [REMOVED])]
    if (!analysis?.ok) throw new TypeError('the analysis is a good one')
    const groups = analysis.comparison.groups.map((group) => ({ ...group, unlisted: 40 }))
    return decideOn([], { analyses: [{ ...analysis, comparison: { ...analysis.comparison, groups } }], consumers })
  },
  'more than an envelope may list': () =>
    decideOn(
      Array.from({ length: 120 }, (_, index) => ({
        ...REMOVED,
        location: `/paths/~1p${index}`,
        places: [`GET /p${index}`],
      })),
    ),
}

/** What people and agents read; of lists past ten, only the ends. */
function reported(verdict: Verdict): object {
  const { groups: _groups, policy_hash: _hash, ruleset_hash: _ruleset, context: _context, ...rest } = verdict
  const shortened: unknown = JSON.parse(JSON.stringify(rest), (_, value: unknown) =>
    Array.isArray(value) && value.length > 10 ? { length: value.length, first: value[0], last: value.at(-1) } : value,
  )
  return {
    ...rest,
    ...(typeof shortened === 'object' ? shortened : {}),
    policy_pin_status: verdict.policy_pin_status.match,
  }
}

const wanted: unknown = parse(readFileSync(new URL('whole-verdicts.yaml', import.meta.url), 'utf8'))

suite('a verdict says all of it', () => {
  for (const [name, verdictOf] of Object.entries(SITUATIONS))
    test(name, () => {
      const verdict = verdictOf()
      assert.deepEqual(JSON.parse(JSON.stringify(reported(verdict))), at(wanted, name))
      // What is said can be issued: within all bounds, by the published schema.
      assertProducerForm(issueOn(verdict).envelope)
    })
})
