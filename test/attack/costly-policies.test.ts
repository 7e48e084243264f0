/** Policies that a caller submits to try them out: what they cost is bounded before they are compiled, and while they are asked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../fakes/api.ts'

const values = (count: number): string => `[${Array.from({ length: count }, () => '1').join(',')}]`
const once = (count: number): string => `${values(count)}.exists(a, a < 0)`
const twice = (count: number): string => `${values(count)}.exists(a, ${values(count)}.exists(b, a + b < 0))`

const pack = (conditions: readonly string[], more: object = {}): object => ({
  apiVersion: 'preflight.dev/v1',
  kind: 'Policy',
  metadata: { name: 'tried' },
  rules: conditions.map((when, index) => ({ id: `rule-${index}`, when, then: 'WARN' })),
  ...more,
})
const repeated = (when: string, count: number): readonly string[] => Array.from({ length: count }, () => when)

const before = { type: 'object', properties: {} }
const properties = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`p${index}`, { type: 'string' }]))
const artifacts = [
  {
    id: 'a',
    type: 'json_schema',
    before: JSON.stringify({ ...before, properties }),
    after: JSON.stringify({ ...before, properties: {} }),
  },
]

const REFUSED: Readonly<Record<string, readonly [policy: object | string, message: RegExp]>> = {
  'loops over many values within one another': [pack([twice(60)]), /loops within one another/],
  'very many conditions': [pack(repeated(`'${'a'.repeat(2000)}' == ''`, 100)), /conditions of more than/],
  'a long policy': [pack(['true'], { metadata: { name: 'tried', description: 'a'.repeat(300_000) } }), /longer than/],
  'a long text': [`# ${'a'.repeat(300_000)}`, /./],
}

for (const [what, [policy, message]] of Object.entries(REFUSED))
  test(`a policy with ${what} is a mistake of the request`, async (t) => {
    const api = await startApi()
    t.after(() => api.close())
    const answer = await api.post('/api/v1/policy/simulate', { policy, artifacts })
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.text, message)
  })

test('conditions whose loops run for each of many findings leave the decision incomplete', async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  const policy = pack(repeated(`finding.message == '' || ${twice(50)}`, 60))
  const answer = await api.post('/api/v1/policy/simulate', { policy, artifacts })
  assert.equal(answer.status, 200, answer.text)
  assert.match(answer.text, /POLICY_CONDITION_FAILED/)
})

test('ordinary loops are asked', async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  const policy = pack([once(900), twice(40), "findings.exists(f, f.level in ['breaking', 'dangerous'])"])
  const answer = await api.post('/api/v1/policy/simulate', { policy, artifacts })
  assert.equal(answer.status, 200, answer.text)
  assert.doesNotMatch(answer.text, /POLICY_CONDITION_FAILED/)
})
