/** Who is reached by a change, of those who are declared to use the contract; and a policy that protects one of them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  compare,
  EMPTY_CONTEXT,
  type DecideInput,
  type DeclaredConsumer,
  type Verdict,
} from '../../../engine/internal.ts'
import { reachedConsumers } from '../../../engine/decide/consumers.ts'
import { fakeGroup, type FakeFinding } from '../../fakes/comparisons.ts'
import { decideOn, fakePolicy } from '../../fakes/decisions.ts'
import { sha256 } from '../../fakes/keys.ts'

const consumer = (name: string, ...uses: readonly Partial<DeclaredConsumer['uses'][number]>[]): DeclaredConsumer => ({
  name,
  uses: uses.map((use) => ({ artifact: null, operation: null, tool: null, ...use })),
})
const WEB = consumer('web', { operation: 'GET /pets' }, { operation: 'GET /owners' })
const BILLING = consumer('billing', { artifact: 'api', operation: 'DELETE /pets' })
const OTHER = consumer('other', { artifact: 'elsewhere' })
const WHOLE = consumer('whole', { artifact: 'api' })
const ALL = [WEB, BILLING, OTHER, WHOLE]

const at = (place: string | null, level: FakeFinding['level'] = 'dangerous'): FakeFinding => ({
  rule: 'response-property-removed',
  level,
  ...(place !== null && { places: [place] }),
})

function reached(...findings: readonly FakeFinding[]): readonly string[] {
  return reachedConsumers(ALL, [{ id: 'api', groups: findings.map(fakeGroup) }])
}

function under(when: string, consumers: readonly DeclaredConsumer[], changes: Partial<DecideInput> = {}): Verdict {
  const policy = fakePolicy({ rules: [{ id: 'protect', for: 'change_set', when, then: 'BLOCK' }] })
  return decideOn([at('DELETE /pets')], { policy, consumers, ...changes })
}

suite('a declared consumer', () => {
  test('is reached by what it uses, and by nothing else', () => {
    assert.deepEqual(reached(at('GET /pets')), ['web', 'whole'])
    assert.deepEqual(reached(at('DELETE /pets')), ['billing', 'whole'])
    assert.deepEqual(reached(at('POST /pets')), ['whole'])
    assert.deepEqual(reached(at('GET /owners'), at('DELETE /pets')), ['billing', 'web', 'whole'])
    assert.deepEqual(reached(), [])
  })

  test('is reached by a change of the contract as a whole, whatever it uses of it', () => {
    assert.deepEqual(reached(at(null)), ['billing', 'web', 'whole'])
  })

  test('is not reached by additions and information', () => {
    assert.deepEqual(reached(at('GET /pets', 'info'), at(null, 'info')), [])
  })

  test('is identified by its tool as well', () => {
    const group = {
      ...fakeGroup(at('GET /pets')),
      occurrences: [{ operation: null, tool: 'echo', message: 'm', fingerprint: 'f' }],
    }
    const consumers = [consumer('agent', { tool: 'echo' }), consumer('shell', { tool: 'exec' })]
    assert.deepEqual(reachedConsumers(consumers, [{ id: 'tools', groups: [group] }]), ['agent'])
  })
})

function radius(consumers?: readonly DeclaredConsumer[]): Verdict['blast_radius'] {
  return decideOn([at('GET /pets')], consumers === undefined ? {} : { consumers }).blast_radius
}

suite('a decision', () => {
  test('counts who is reached, and says whether anybody is declared at all', () => {
    assert.deepEqual([radius(ALL).consumers_declared, radius(ALL).graph_source], [2, 'declared'])
    assert.deepEqual([radius([BILLING]).consumers_declared, radius([BILLING]).graph_source], [0, 'declared'])
    assert.deepEqual([radius([]).consumers_declared, radius([]).graph_source], [0, 'none'])
    assert.deepEqual(radius(), radius([]))
  })

  test('may rest on who is reached, and then they are part of its identity', () => {
    const protect = "'billing' in change_set.consumers"
    assert.equal(under(protect, ALL).decision, 'BLOCK')
    assert.equal(under(protect, [WEB]).decision, 'ALLOW')
    const counting = 'change_set.consumers.size() > 9'
    assert.notEqual(under(counting, [BILLING]).fingerprint, under(counting, [WEB]).fingerprint)
    const blind = 'change_set.breaking > 9'
    assert.equal(under(blind, [BILLING]).fingerprint, under(blind, [WEB]).fingerprint)
    assert.equal(under(blind, ALL, { context: EMPTY_CONTEXT }).decision, 'ALLOW')
  })
})

function decided(before: string, after: string, changes: Partial<DecideInput> = {}): Verdict {
  const compared = compare({ id: 'api', type: 'openapi', before, after }, {}, sha256)
  assert.ok(compared.ok)
  return decideOn([], {
    analyses: [{ id: 'api', type: 'openapi', ok: true, comparison: compared.value }],
    ...changes,
  })
}

const seen = (name: string, operation: string) => consumer(name, { artifact: 'api', operation })

suite('consumers that a contract names itself', () => {
  const paths = (remaining: object) => ({
    '/pets': { get: operation(['web', { name: 'billing', team: 'money' }]), ...remaining },
  })
  const contract = (remaining: object, whole: unknown = ['archive']) =>
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Pets', version: '1.0.0' },
      'x-consumers': whole,
      paths: paths(remaining),
    })
  const del = { delete: operation(['cleaner']) }

  test('are reached by what takes their operation away, and those of the document by anything', () => {
    const { blast_radius: radius } = decided(contract(del), contract({}))
    assert.deepEqual([radius.consumers_declared, radius.graph_source], [2, 'declared'])
  })

  test('join those of the configuration, and a policy can protect them', () => {
    const verdict = decided(contract(del), contract({}), {
      consumers: [WHOLE, consumer('cleaner', { operation: 'GET /pets' })],
      policy: fakePolicy({
        rules: [{ id: 'never', when: 'false', then: 'WARN' }],
        protected_consumers: { names: ['cleaner', 'web'], then: 'BLOCK' },
      }),
    })
    assert.equal(verdict.blast_radius.consumers_declared, 3)
    assert.equal(verdict.blocking_reasons[0]?.message, 'the change reaches the protected consumer cleaner')
  })

  test('are measured as nobody where a contract names some and none is reached', () => {
    const { blast_radius: radius } = decided(contract(del), contract(del))
    assert.deepEqual([radius.consumers_declared, radius.graph_source], [0, 'declared'])
  })

  test('that are written in another way are nobody', () => {
    for (const whole of ['web', { web: true }, [1, '', null, {}, 'x'.repeat(201)], undefined]) {
      const text = JSON.stringify({
        openapi: '3.1.0',
        info: { title: 'P', version: '1' },
        paths: {},
        ...(whole !== undefined && { 'x-consumers': whole }),
      })
      assert.equal(decided(text, text).blast_radius.graph_source, 'none', JSON.stringify(whole))
    }
  })
})

suite('consumers that were seen calling', () => {
  test('are counted where the change reaches what they called, each once', () => {
    const observed = [seen('key:1', 'GET /pets'), seen('key:1', 'GET /owners'), seen('key:2', 'GET /owners')]
    const { blast_radius: radius } = decideOn([at('GET /pets')], { observed })
    assert.deepEqual([radius.consumers_declared, radius.consumers_observed, radius.graph_source], [0, 1, 'observed'])
    const both = decideOn([at('GET /owners')], { observed, consumers: ALL }).blast_radius
    assert.deepEqual([both.consumers_observed, both.graph_source], [2, 'declared+observed'])
  })

  test('are nothing that a verdict depends on', () => {
    const policy = fakePolicy({ protected_consumers: { names: ['key:1'], then: 'BLOCK' } })
    const [without, with1] = [null, [seen('key:1', 'GET /pets')]].map((observed) =>
      decideOn([at('GET /pets')], { observed, policy }),
    )
    assert.equal(with1?.fingerprint, without?.fingerprint)
    assert.equal(with1?.decision, 'REQUIRE_APPROVAL')
    assert.equal(without?.blast_radius.graph_source, 'none')
    assert.equal(decideOn([], { observed: [] }).blast_radius.graph_source, 'observed')
  })
})

function operation(consumers: readonly unknown[]): object {
  return { 'x-consumers': consumers, responses: { 200: { description: 'ok' } } }
}
