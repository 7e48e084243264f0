/** Who is reached by a change, of those who are declared to use the contract; and a policy that protects one of them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { EMPTY_CONTEXT, type DecideInput, type DeclaredConsumer, type Verdict } from '../../../engine/index.ts'
import { reachedConsumers } from '../../../engine/decide/consumers.ts'
import { fakeGroup, type FakeFinding } from '../../fakes/comparisons.ts'
import { decideOn, fakePolicy } from '../../fakes/decisions.ts'

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

  test('is not reached by what only came or was told', () => {
    assert.deepEqual(reached(at('GET /pets', 'info'), at(null, 'info')), [])
  })

  test('is told by its tool as well', () => {
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
