/** Who counts as one person, how many people have to grant, and which requests end because their change can no longer occur. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillScene, ORDERS_BROKEN, startConsoleScene } from '../fakes/console-scene.ts'
import { until } from '../fakes/until.ts'
import { at, listAt, textAt } from '../json.ts'

const MERGE = { operation: 'merge', repository: 'acme/orders', environment: 'production' }

test('a second key of the same person neither grants nor denies what the first one asked for', async (t) => {
  const scene = await startConsoleScene(t)
  const make = async (name: string, role: string, owner: string | null) => {
    const made = await scene.api('POST', '/api/v1/keys', { name, role, groups: ['payments'], owner })
    return textAt(made.body, 'api_key')
  }
  const requester = await make('Ana at her desk', 'approver', 'oidc:corp:ana')
  const other = await make('Ana on her phone', 'approver', 'oidc:corp:ana')
  const id = scene.requestIn(await scene.ask(MERGE, undefined, requester))
  for (const key of [requester, other])
    for (const act of ['grant', 'deny']) {
      const refused = await scene.api('POST', `/api/v1/approvals/${id}/${act}`, { comment: 'me' }, key)
      assert.equal(refused.status, 403)
      assert.match(textAt(refused.body, 'message'), /of the same person/)
    }
  const granted = await scene.api(
    'POST',
    `/api/v1/approvals/${id}/grant`,
    {},
    await make('Bo', 'approver', 'oidc:corp:bo'),
  )
  assert.equal(at(granted.body, 'approval', 'state'), 'granted')
})

test('two people of the group have to grant, each once, and every grant is in the ledger', async (t) => {
  const scene = await startConsoleScene(t, { approvals: { needed_by_group: { payments: 2 } } })
  const id = scene.requestIn(await scene.ask(MERGE, undefined, await scene.newKey('bot', 'agent')))
  const grant = (key: string) => scene.api('POST', `/api/v1/approvals/${id}/grant`, { comment: 'seen' }, key)
  const ana = await scene.newKey('Ana', 'approver', 'payments')
  const first = await grant(ana)
  assert.deepEqual([at(first.body, 'approval', 'state'), at(first.body, 'grants_needed')], ['pending', 2])
  assert.equal((await grant(ana)).status, 409)
  assert.equal((await grant(await scene.newKey('Cy', 'approver', 'support'))).status, 403)
  const second = await grant(await scene.newKey('Bo', 'approver', 'payments'))
  assert.equal(at(second.body, 'approval', 'state'), 'granted')
  assert.deepEqual(
    listAt(second.body, 'steps').map((step) => at(step, 'kind')),
    ['grant', 'grant'],
  )
  const again = await scene.ask({ ...MERGE })
  assert.equal(at(again, 'decision'), 'WARN')
})

test('one person alone does not promote what two have to grant', async (t) => {
  const scene = await startConsoleScene(t, { approvals: { needed: 2 } })
  await scene.change(ORDERS_BROKEN)
  const { body } = await scene.api('GET', '/api/v1/baselines')
  const digest = textAt(body, 'baselines', 0, 'candidate', 'digest')
  const promote = (key: string) =>
    scene.api('POST', '/api/v1/baselines/orders/promote', { digest, comment: 'adapted' }, key)
  const ana = await promote(await scene.newKey('Ana', 'approver', 'payments'))
  assert.equal(ana.status, 409)
  assert.match(textAt(ana.body, 'message'), /2 people have to grant/)
  // The decision to register and the pending call each need their two people.
  const bo = await scene.newKey('Bo', 'approver', 'payments')
  const second = await promote(bo)
  assert.ok([200, 409].includes(second.status))
  const still = await scene.api('GET', '/api/v1/baselines')
  if (second.status === 409) assert.notEqual(at(still.body, 'baselines', 0, 'baseline', 'digest'), digest)
})

test('a comment stays with the request, and a viewer may write one', async (t) => {
  const scene = await startConsoleScene(t)
  const id = scene.requestIn(await scene.ask(MERGE, undefined, await scene.newKey('bot', 'agent')))
  const viewer = await scene.newKey('Vi', 'viewer')
  const commented = await scene.api('POST', `/api/v1/approvals/${id}/comments`, { text: 'the shop knows' }, viewer)
  assert.deepEqual(
    listAt(commented.body, 'steps').map((step) => [at(step, 'kind'), at(step, 'text')]),
    [['comment', 'the shop knows']],
  )
  assert.equal((await scene.api('POST', `/api/v1/approvals/${id}/grant`, {}, viewer)).status, 403)
  assert.equal((await scene.api('POST', '/api/v1/approvals/apr_none/comments', { text: 'x' }, viewer)).status, 404)
})

test('a promotion ends the requests about other changes of the same baseline', async (t) => {
  const scene = await startConsoleScene(t)
  await fillScene(scene)
  const earlier = listAt((await scene.api('GET', '/api/v1/approvals?state=pending')).body, 'approvals')
  const called = earlier.find((row) => at(row, 'route') === 'orders')
  const later = ORDERS_BROKEN.replace('"region"', '"zone"')
  const candidate = async () =>
    textAt((await scene.api('GET', '/api/v1/baselines')).body, 'baselines', 0, 'candidate', 'digest')
  const first = await candidate()
  // Candidates are stored at most once a second.
  await until(async () => {
    await scene.change(later)
    return (await candidate()) !== first
  }, 'the other contract is the candidate')
  const digest = await candidate()
  const ana = await scene.newKey('Ana', 'approver', 'payments')
  const promoted = await scene.api('POST', '/api/v1/baselines/orders/promote', { digest, comment: 'adapted' }, ana)
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  const ended = await scene.api('GET', `/api/v1/approvals/${textAt(called, 'id')}`)
  assert.equal(at(ended.body, 'approval', 'state'), 'expired')
  assert.equal(at(ended.body, 'steps', 0, 'kind'), 'moot')
  const merge = earlier.find((row) => at(row, 'operation') === 'merge')
  const kept = await scene.api('GET', `/api/v1/approvals/${textAt(merge, 'id')}`)
  assert.equal(at(kept.body, 'approval', 'state'), 'pending')
})
