/** What a policy may say of moment, place and route, through the whole gateway: API, simulation, test cases. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { compilePolicy, EMPTY_CONTEXT, type CompiledPolicy } from '../../../engine/internal.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { run } from '../../fakes/command-io.ts'
import { pets, PETS, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { at, listAt, textAt } from '../../json.ts'

const HEAD = { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'p' } }
const BREAKING = { id: 'breaking', when: "finding.level == 'breaking'", then: 'BLOCK' }
const FREEZE = {
  id: 'year-end',
  from: '2026-12-20T00:00:00Z',
  until: '2027-01-04T00:00:00Z',
  operations: ['deploy'],
  reason: 'Nobody is there',
}

function policyOf(pack: object): CompiledPolicy {
  const compiled = compilePolicy({ ...HEAD, rules: [BREAKING], ...pack }, sha256Hex)
  assert.ok(compiled.ok)
  return compiled.value
}

async function started(t: TestContext, pack: object, now: string): Promise<ApiFake> {
  const api = await startApi({ policy: policyOf(pack), now: () => Date.parse(now) })
  t.after(() => api.close())
  return api
}

const request = (operation: string, after = PETS_WITH_POST) => ({
  preflight_mode: 'authorize',
  artifacts: [pets(after)],
  context: { operation },
})

test('a decision before a freeze window ends with its beginning, and inside it is a stop', async (t) => {
  const api = await started(t, { freezes: [FREEZE] }, '2026-12-19T23:00:00Z')
  const { body } = await api.post('/api/v1/preflight', request('deploy'))
  assert.equal(at(body, 'decision'), 'ALLOW')
  assert.equal(at(body, 'decision_result', 'expires_at'), '2026-12-20T00:00:00Z')
  const inside = await started(t, { freezes: [FREEZE] }, '2026-12-31T23:00:00Z')
  const { body: stopped } = await inside.post('/api/v1/preflight', request('deploy'))
  assert.equal(at(stopped, 'execution_action'), 'STOP')
  assert.equal(at(stopped, 'decision_result', 'blocking_reasons', 0, 'code'), 'FREEZE_WINDOW')
  assert.equal(at((await inside.post('/api/v1/preflight', request('merge'))).body, 'decision'), 'ALLOW')
})

test('a simulation tells the rules about the change set beside those about findings', async (t) => {
  const api = await started(t, {}, '2026-12-31T23:00:00Z')
  const policy = {
    ...HEAD,
    rules: [{ ...BREAKING, for: 'change_set', when: 'change_set.info > 0', then: 'WARN' }],
    freezes: [FREEZE],
  }
  const { body } = await api.post('/api/v1/policy/simulate', {
    policy,
    artifacts: [pets(PETS_WITH_POST)],
    context: { operation: 'deploy' },
  })
  assert.equal(at(body, 'decision'), 'BLOCK')
  assert.deepEqual(
    listAt(body, 'matched_rules').map((row) => [at(row, 'rule'), at(row, 'decision'), at(row, 'findings')]),
    [
      ['year-end', 'BLOCK', 0],
      ['breaking', 'WARN', 0],
      ['none', 'ALLOW', 1],
    ],
  )
})

test('the length that the policy asks of a deprecation is judged by the comparison', async (t) => {
  const announced = PETS.replace('"delete":{', '"delete":{"deprecated":true,"x-sunset":"2027-01-15",')
  const now = '2026-11-21T00:00:00Z'
  const lenient = await started(t, {}, now)
  assert.equal(at((await lenient.post('/api/v1/preflight', request('merge', announced))).body, 'decision'), 'ALLOW')
  const strict = await started(t, { deprecation: { stable_days: 180 } }, now)
  const { body } = await strict.post('/api/v1/preflight', request('merge', announced))
  assert.equal(at(body, 'decision'), 'BLOCK')
  assert.match(textAt(body, 'decision_result', 'blocking_reasons', 0, 'code'), /SUNSET/)
})

test('the route of an intercepted call reaches the policy', async (t) => {
  const rules = [{ id: 'r', for: 'change_set', when: "route == 'payments'", then: 'BLOCK' }]
  const api = await started(t, { rules }, '2026-11-21T00:00:00Z')
  const decide = async (route: string | null) => {
    const { envelope } = await api.flow.authorize({
      artifacts: [{ id: 'pets', type: 'openapi', before: PETS, after: PETS_WITH_POST }],
      context: { ...EMPTY_CONTEXT, operation: 'tool_call' },
      scope: null,
      caller: { tenant: 'local', audience: null },
      correlationId: 'c-1',
      route,
      decisionSpecVersion: '2.0',
      previousReceipt: null,
      idempotency: null,
      response: null,
    })
    return envelope.execution_action
  }
  assert.deepEqual(
    [await decide('payments'), await decide('pets'), await decide(null)],
    ['STOP', 'CONTINUE', 'CONTINUE'],
  )
})

test('a test case of a pack says its moment and its route', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-occasion-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const rules = [{ id: 'r', for: 'change_set', when: "route == 'payments'", then: 'WARN' }]
  const pack = join(directory, 'pack.yaml')
  writeFileSync(pack, JSON.stringify({ ...HEAD, rules, freezes: [FREEZE] }))
  const context = { operation: 'deploy' }
  const cases = [
    {
      description: 'open',
      at: '2026-12-24T00:00:00Z',
      context,
      want: { decision: 'BLOCK', reason: 'FREEZE_WINDOW', rule: 'year-end' },
    },
    { description: 'over', at: '2027-01-04T00:00:00Z', context, want: { decision: 'ALLOW' } },
    {
      description: 'route',
      at: '2027-01-05T00:00:00Z',
      route: 'payments',
      context,
      want: { decision: 'WARN', warning: 'CHANGE_SET_RULE' },
    },
  ]
  writeFileSync(join(directory, 'cases.yaml'), JSON.stringify({ cases }))
  const { code, stdout } = await run(['policy', 'test', pack])
  assert.match(stdout, /3 passed, 0 failed/)
  assert.equal(code, 0)
})

test('consumers of the configuration are counted and can be protected', async (t) => {
  const rules = [{ id: 'protect', for: 'change_set', when: "'billing' in change_set.consumers", then: 'BLOCK' }]
  const consumers = [
    { name: 'billing', uses: [{ artifact: 'pets', operation: 'DELETE /pets' }] },
    { name: 'web', uses: [{ operation: 'GET /pets' }] },
  ]
  const api = await startApi({ policy: policyOf({ rules }), config: { consumers } })
  t.after(() => api.close())
  const { body } = await api.post('/api/v1/preflight', request('merge', PETS_WITHOUT_DELETE))
  assert.equal(at(body, 'decision'), 'BLOCK')
  assert.equal(at(body, 'blast_radius', 'consumers_declared'), 1)
  assert.equal(at(body, 'decision_result', 'blast_radius', 'graph_source'), 'declared')
  const { body: grown } = await api.post('/api/v1/preflight', request('merge'))
  assert.deepEqual([at(grown, 'decision'), at(grown, 'blast_radius', 'consumers_declared')], ['ALLOW', 0])
  const { body: simulated } = await api.post('/api/v1/policy/simulate', {
    policy: { ...HEAD, rules },
    artifacts: [pets(PETS_WITHOUT_DELETE)],
  })
  assert.equal(at(simulated, 'matched_rules', 0, 'rule'), 'protect')
})
