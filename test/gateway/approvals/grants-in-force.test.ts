/** Which grants of a request for approval count, in both stores: whose right each of them uses, and what became of that right. */
import assert from 'node:assert/strict'
import { after, suite, test, type TestContext } from 'node:test'
import { apiKeyRow, mintApiKey } from '../../../gateway/callers/api-keys.ts'
import type { ApiKey } from '../../../gateway/store/api-keys.ts'
import type { ApprovalDecisionRequest } from '../../../gateway/store/approvals.ts'
import type { Store } from '../../../gateway/store/store.ts'
import { approvalOpening } from '../../fakes/aggregate-rows.ts'
import { STORE_KINDS } from '../../fakes/stores.ts'

async function keyOf(store: Store, name: string, groups: readonly string[], owner: string | null = null) {
  const key: ApiKey = { ...apiKeyRow({ key: mintApiKey(), name, role: 'approver', at: 1, owner }), groups: [...groups] }
  await store.apiKeys.create(key)
  return key
}

function openIn(store: Store, approvalId: string, count = 2) {
  const approvers = [{ count, groups: ['payments'] }]
  return store.approvals.open(approvalOpening({ approvalId, key: approvalId, expiresAt: 900, approvers }))
}

function grant(store: Store, approvalId: string, key: ApiKey, more: Partial<ApprovalDecisionRequest> = {}) {
  const word = { tenant: 'local', approvalId, state: 'granted', comment: '', at: 10, validUntil: 500 } as const
  const person = { by: key.audience, groups: key.groups, isFourEyes: true, required: [] }
  return store.approvals.decide({ ...word, ...person, ...more })
}

async function handOver(store: Store, from: ApiKey, to: ApiKey, approvalId: string | null = null) {
  const handed = { tenant: 'local', groups: ['payments'], reason: 'away', at: 2, until: 900 }
  const delegationId = `dlg_${from.audience}_${to.audience}`
  await store.approvals.delegate({ ...handed, delegationId, by: from.audience, to: to.audience, approvalId })
}

/** How many of the grants count for the group, looked up by id and in the list. */
async function counting(store: Store, approvalId: string): Promise<readonly number[]> {
  const listed = await store.approvals.list({ tenant: 'local', limit: 50, now: 20 })
  return [await store.approvals.byId('local', approvalId), listed.find((row) => row.approvalId === approvalId)].map(
    (row) => (row?.grants ?? []).filter(({ groups }) => groups.includes('payments')).length,
  )
}

const ENDS = [
  ['is revoked', (store: Store, key: ApiKey) => store.apiKeys.revoke(key.hash, 11)],
  ['leaves the group', (store: Store, key: ApiKey) => store.apiKeys.change(key.hash, { groups: ['support'] })],
] as const

/** Bo grants for Ana, who handed over to him, then by his own right. */
async function grantsOfBothRights(store: Store) {
  const [ana, bo] = [await keyOf(store, 'Ana', ['payments']), await keyOf(store, 'Bo', [])]
  await handOver(store, ana, bo)
  await openIn(store, 'apr_former')
  assert.equal(await grant(store, 'apr_former', bo), 'counted')
  await store.apiKeys.change(bo.hash, { groups: ['payments'] })
  await openIn(store, 'apr_now')
  assert.equal(await grant(store, 'apr_now', { ...bo, groups: ['payments'] }), 'counted')
  return { ana, bo }
}

for (const kind of STORE_KINDS) {
  suite(`grants in ${kind.name}`, { skip: kind.missing() }, () => {
    const stores = kind.start()
    after(() => stores.stop())
    const open = async (t: TestContext): Promise<Store> => {
      const store = await stores.open()
      t.after(() => store.close())
      return store
    }

    test('a grant by the own right is not decided by somebody for whom the person once acted', async (t) => {
      const store = await open(t)
      const { ana } = await grantsOfBothRights(store)
      await store.apiKeys.change(ana.hash, { groups: [] })
      assert.deepEqual(await counting(store, 'apr_former'), [0, 0])
      assert.deepEqual(await counting(store, 'apr_now'), [1, 1])
    })

    test('a grant by the own right ends with it, although somebody else who handed over has the group', async (t) => {
      const store = await open(t)
      const { bo } = await grantsOfBothRights(store)
      await store.apiKeys.change(bo.hash, { groups: [] })
      assert.deepEqual(await counting(store, 'apr_now'), [0, 0])
      assert.deepEqual(await counting(store, 'apr_former'), [1, 1])
      const cy = await keyOf(store, 'Cy', ['payments'])
      assert.equal(await grant(store, 'apr_now', cy), 'counted')
    })

    for (const [name, end] of ENDS)
      test(`the list shows no grant of a key that ${name}, own or by its right`, async (t) => {
        const store = await open(t)
        const [ana, bo, cy] = [
          await keyOf(store, 'Ana', ['payments']),
          await keyOf(store, 'Bo', []),
          await keyOf(store, 'Cy', ['payments']),
        ]
        await handOver(store, ana, bo)
        await openIn(store, 'apr_1', 3)
        assert.equal(await grant(store, 'apr_1', bo), 'counted')
        assert.equal(await grant(store, 'apr_1', cy), 'counted')
        assert.deepEqual(await counting(store, 'apr_1'), [2, 2])
        await end(store, ana)
        assert.deepEqual(await counting(store, 'apr_1'), [1, 1])
        await end(store, cy)
        assert.deepEqual(await counting(store, 'apr_1'), [0, 0])
      })

    test('a grant that joins another request keeps whose right it is', async (t) => {
      const store = await open(t)
      const [ana, bo] = [await keyOf(store, 'Ana', ['payments']), await keyOf(store, 'Bo', [])]
      const [cy, di] = [await keyOf(store, 'Cy', ['payments']), await keyOf(store, 'Di', ['payments'])]
      await handOver(store, ana, bo)
      await openIn(store, 'apr_1', 3)
      assert.equal(await grant(store, 'apr_1', bo), 'counted')
      const { grants: earlier } = (await store.approvals.byId('local', 'apr_1')) ?? assert.fail()
      await openIn(store, 'apr_2', 4)
      assert.equal(await grant(store, 'apr_2', cy, { earlier }), 'counted')
      assert.deepEqual(await counting(store, 'apr_2'), [2, 2])
      assert.equal(await grant(store, 'apr_2', ana), 'again', 'the right of Ana was used')
      await store.apiKeys.revoke(ana.hash, 11)
      assert.deepEqual(await counting(store, 'apr_2'), [1, 1])
      assert.equal(await grant(store, 'apr_2', di), 'counted')
      assert.deepEqual((await store.ledger.inspect()).faults, [])
    })

    test('one right counts once, whoever uses it, by whichever key, in requests that are counted together', async (t) => {
      const store = await open(t)
      const bo = await keyOf(store, 'Bo', [])
      const [desk, phone] = [
        await keyOf(store, 'Ana at her desk', ['payments'], 'oidc:corp:ana'),
        await keyOf(store, 'Ana on her phone', ['payments'], 'oidc:corp:ana'),
      ]
      const cy = await keyOf(store, 'Cy', ['payments'])
      await handOver(store, desk, bo)
      await openIn(store, 'apr_1', 3)
      assert.equal(await grant(store, 'apr_1', bo), 'counted')
      const { grants: delegated } = (await store.approvals.byId('local', 'apr_1')) ?? assert.fail()
      await openIn(store, 'apr_2', 3)
      assert.equal(await grant(store, 'apr_2', desk), 'counted')
      const { grants: own } = (await store.approvals.byId('local', 'apr_2')) ?? assert.fail()
      for (const [approvalId, first, earlier] of [
        ['apr_3', phone, delegated],
        ['apr_4', phone, own],
      ] as const) {
        await openIn(store, approvalId, 3)
        assert.equal(await grant(store, approvalId, first), 'counted')
        assert.equal(await grant(store, approvalId, cy, { earlier }), 'counted', approvalId)
        assert.deepEqual(await counting(store, approvalId), [2, 2])
      }
      // The person whose right was used grants too.
      await openIn(store, 'apr_5', 2)
      assert.notEqual(await grant(store, 'apr_5', phone, { earlier: delegated }), 'settled')
    })

    test('a grant that was over before the decision is not counted when more people have to grant later', async (t) => {
      const store = await open(t)
      const [ana, bo, cy] = [
        await keyOf(store, 'Ana', ['payments']),
        await keyOf(store, 'Bo', ['payments']),
        await keyOf(store, 'Cy', ['payments']),
      ]
      await openIn(store, 'apr_1')
      assert.equal(await grant(store, 'apr_1', ana), 'counted')
      await store.apiKeys.revoke(ana.hash, 11)
      assert.equal(await grant(store, 'apr_1', bo, { at: 12 }), 'counted')
      assert.equal(await grant(store, 'apr_1', cy, { at: 13 }), 'settled')
      assert.deepEqual(await counting(store, 'apr_1'), [2, 2])
      await store.apiKeys.revoke(bo.hash, 20)
      assert.deepEqual(await counting(store, 'apr_1'), [2, 2], 'the decision stands')
      assert.deepEqual((await store.approvals.steps('local', 'apr_1')).length, 3)
    })

    for (const [name, end] of ENDS)
      test(`a key that ${name} while its request is on the way grants nothing`, async (t) => {
        const store = await open(t)
        const ana = await keyOf(store, 'Ana', ['payments'])
        await openIn(store, 'apr_1', 1)
        await end(store, ana)
        assert.equal(await grant(store, 'apr_1', ana), 'group')
        assert.deepEqual(await store.approvals.steps('local', 'apr_1'), [])
      })

    test('who asked for a request grants it neither there nor through another one', async (t) => {
      const store = await open(t)
      const [ana, bo] = [await keyOf(store, 'Ana', ['payments']), await keyOf(store, 'Bo', ['payments'])]
      await openIn(store, 'apr_1')
      assert.equal(await grant(store, 'apr_1', ana), 'counted')
      const { grants: earlier } = (await store.approvals.byId('local', 'apr_1')) ?? assert.fail()
      const approvers = [{ count: 2, groups: ['payments'] }]
      const requester = ana.audience
      await store.approvals.open(
        approvalOpening({ approvalId: 'apr_2', key: 'k2', expiresAt: 900, approvers, requester }),
      )
      assert.equal(await grant(store, 'apr_2', bo, { earlier }), 'counted')
      assert.equal(await grant(store, 'apr_2', bo, { earlier, isFourEyes: false }), 'settled')
    })

    test('a single grant says whose right it used', async (t) => {
      const store = await open(t)
      const [ana, bo] = [await keyOf(store, 'Ana', ['payments']), await keyOf(store, 'Bo', [])]
      await handOver(store, ana, bo)
      await openIn(store, 'apr_1', 1)
      assert.equal(await grant(store, 'apr_1', bo), 'settled')
      const { grants: earlier } = (await store.approvals.byId('local', 'apr_1')) ?? assert.fail()
      await store.apiKeys.revoke(ana.hash, 11)
      await openIn(store, 'apr_2')
      const cy = await keyOf(store, 'Cy', ['payments'])
      assert.equal(await grant(store, 'apr_2', cy, { earlier }), 'counted')
    })
  })
}
