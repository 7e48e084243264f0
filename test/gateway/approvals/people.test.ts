/** Who counts as one person, how many people have to grant, and which requests end because their change can no longer occur. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fillScene, ORDERS_BROKEN, startConsoleScene } from '../../fakes/console-scene.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

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

test('the grant of a key that was revoked counts for nothing, that of a person who signed out stays', async (t) => {
  const scene = await startConsoleScene(t, { approvals: { needed: 2 } })
  const id = scene.requestIn(await scene.ask(MERGE, undefined, await scene.newKey('bot', 'agent')))
  const grantBy = async (key: string) =>
    at((await scene.api('POST', `/api/v1/approvals/${id}/grant`, {}, key)).body, 'approval', 'state')
  const make = async (terms: object) => {
    const { body } = await scene.api('POST', '/api/v1/keys', {
      name: 'a person',
      role: 'approver',
      groups: ['payments'],
      ...terms,
    })
    return { key: textAt(body, 'api_key'), id: textAt(body, 'key', 'id') }
  }
  const leaked = await make({})
  assert.equal(await grantBy(leaked.key), 'pending')
  assert.equal((await scene.api('DELETE', `/api/v1/keys/${leaked.id}`)).status, 200)
  const signedIn = await make({ owner: 'oidc:corp:ana', lifetime: 3600 })
  assert.equal(await grantBy(signedIn.key), 'pending')
  assert.equal(at((await scene.api('POST', '/api/v1/sign-out', {}, signedIn.key)).body, 'revoked'), true)
  assert.equal(await grantBy((await make({})).key), 'granted')
})

test('the grant of a key that has left the group counts no more for it, while the request is pending', async (t) => {
  const scene = await startConsoleScene(t, { approvals: { needed_by_group: { payments: 2 } } })
  const id = scene.requestIn(await scene.ask(MERGE, undefined, await scene.newKey('bot', 'agent')))
  const grantBy = async (key: string) =>
    at((await scene.api('POST', `/api/v1/approvals/${id}/grant`, {}, key)).body, 'approval', 'state')
  const terms = { name: 'Ana', role: 'approver', groups: ['payments'] }
  const { body } = await scene.api('POST', '/api/v1/keys', terms)
  assert.equal(await grantBy(textAt(body, 'api_key')), 'pending')
  const left = await scene.api('POST', `/api/v1/keys/${textAt(body, 'key', 'id')}`, { groups: ['support'] })
  assert.equal(left.status, 200)
  assert.equal(await grantBy(await scene.newKey('Bo', 'approver', 'payments')), 'pending')
  assert.equal(await grantBy(await scene.newKey('Cy', 'approver', 'payments')), 'granted')
})

test('a promotion gathers the grants of two people in one request, and decides the others with it', async (t) => {
  const scene = await startConsoleScene(t, { approvals: { needed: 2 } })
  await scene.change(ORDERS_BROKEN)
  const pending = async () => listAt((await scene.api('GET', '/api/v1/approvals?state=pending')).body, 'approvals')
  assert.deepEqual(
    (await pending()).map((row) => at(row, 'route')),
    ['orders'],
  )
  const digest = textAt((await scene.api('GET', '/api/v1/baselines')).body, 'baselines', 0, 'candidate', 'digest')
  const promote = (key: string) =>
    scene.api('POST', '/api/v1/baselines/orders/promote', { digest, comment: 'adapted' }, key)
  const ana = await scene.newKey('Ana', 'approver', 'payments')
  const first = await promote(ana)
  assert.equal(first.status, 409)
  assert.match(
    textAt(first.body, 'message'),
    /2 people have to grant.* still required: an approver of the group payments/,
  )
  const again = await promote(ana)
  assert.equal(again.status, 409)
  assert.match(textAt(again.body, 'message'), /has granted the request already/)
  assert.equal((await promote(await scene.newKey('Cy', 'approver', 'support'))).status, 403)
  const second = await promote(await scene.newKey('Bo', 'approver', 'payments'))
  assert.equal(second.status, 200, JSON.stringify(second.body))
  assert.deepEqual(await pending(), [])
  const granted = listAt((await scene.api('GET', '/api/v1/approvals?state=granted')).body, 'approvals')
  for (const row of granted) {
    const { body } = await scene.api('GET', `/api/v1/approvals/${textAt(row, 'id')}`)
    assert.equal(listAt(body, 'steps').filter((step) => at(step, 'kind') === 'grant').length, 2)
  }
})

/** A pack whose rule names the number of people. */
function packOf(t: TestContext, approvals: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-pack-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'pack.yaml')
  const rule = `{ id: two, when: "finding.level == 'breaking'", then: REQUIRE_APPROVAL, approvals: ${approvals} }`
  writeFileSync(path, `apiVersion: preflight.dev/v1\nkind: Policy\nmetadata: { name: two }\nrules: [${rule}]\n`)
  return path
}

test('a rule of the policy asks for two people of a group', async (t) => {
  const scene = await startConsoleScene(t, { policy: packOf(t, '2 of payments') })
  const made = await scene.ask(MERGE, undefined, await scene.newKey('bot', 'agent'))
  assert.match(textAt(made, 'decision_result', 'required_action'), /from 2 approvers of the group payments/)
  const id = scene.requestIn(made)
  const grant = async (name: string, groups: string) =>
    scene.api('POST', `/api/v1/approvals/${id}/grant`, {}, await scene.newKey(name, 'approver', groups))
  assert.equal((await grant('Cy', 'support')).status, 403)
  const first = await grant('Ana', 'payments')
  assert.equal(at(first.body, 'approval', 'state'), 'pending')
  assert.deepEqual(at(first.body, 'approval', 'required_approvals'), [{ count: 2, groups: ['payments'] }])
  assert.equal(at((await grant('Bo', 'payments,security')).body, 'approval', 'state'), 'granted')
  assert.equal(at(await scene.ask(MERGE), 'decision'), 'WARN')
})

test('an approver hands the right over for a time: recorded, never twice, and not by the one who asked', async (t) => {
  const scene = await startConsoleScene(t, { policy: packOf(t, '2 of payments') })
  const approver = async (name: string, groups?: string) => {
    const key = await scene.newKey(name, 'approver', groups)
    return { key, id: `v:${createHash('sha256').update(key).digest('hex').slice(0, 12)}` }
  }
  const [ana, bo, cy] = [await approver('Ana', 'payments'), await approver('Bo'), await approver('Cy', 'payments')]
  const hand = (to: string, by: string, more: object = {}) =>
    scene.api('POST', '/api/v1/delegations', { to, seconds: 3600, reason: 'holiday', ...more }, by)
  const id = scene.requestIn(await scene.ask(MERGE, undefined, await scene.newKey('bot', 'agent')))
  const grant = (key: string) => scene.api('POST', `/api/v1/approvals/${id}/grant`, { comment: 'seen' }, key)
  assert.equal((await grant(bo.key)).status, 403)
  assert.equal((await hand('v:000000000000', ana.key)).status, 400)
  assert.equal((await hand(ana.id, ana.key)).status, 400)
  assert.equal((await hand(ana.id, bo.key)).status, 400, 'who is in no group has nothing to delegate')
  const made = await hand(bo.id, ana.key)
  assert.deepEqual(at(made.body, 'delegation', 'groups'), ['payments'])
  const counted = await grant(bo.key)
  assert.equal(at(counted.body, 'approval', 'state'), 'pending', JSON.stringify(counted.body))
  assert.equal((await grant(ana.key)).status, 409, 'the right of Ana was used')
  const granted = await grant(cy.key)
  assert.equal(at(granted.body, 'approval', 'state'), 'granted')
  assert.deepEqual(
    listAt(granted.body, 'steps').map((step) => [at(step, 'kind'), at(step, 'by')]),
    [
      ['acting', bo.id],
      ['grant', bo.id],
      ['grant', cy.id],
    ],
  )
  // Ana asks: nobody may use her right on it.
  const own = scene.requestIn(await scene.ask({ ...MERGE, pull_request: 7 }, undefined, ana.key))
  assert.equal((await scene.api('POST', `/api/v1/approvals/${own}/grant`, {}, bo.key)).status, 403)
  const delegation = textAt(made.body, 'delegation', 'id')
  assert.equal((await scene.api('DELETE', `/api/v1/delegations/${delegation}`, undefined, cy.key)).status, 403)
  assert.equal((await scene.api('DELETE', `/api/v1/delegations/${delegation}`, undefined, bo.key)).status, 200)
  const later = scene.requestIn(
    await scene.ask({ ...MERGE, pull_request: 8 }, undefined, await scene.newKey('b2', 'agent')),
  )
  assert.equal((await scene.api('POST', `/api/v1/approvals/${later}/grant`, {}, bo.key)).status, 403)
})

test('a request that is handed over is for this approver and this request only', async (t) => {
  const scene = await startConsoleScene(t)
  const bot = await scene.newKey('bot', 'agent')
  const [one, other] = [
    scene.requestIn(await scene.ask({ ...MERGE, pull_request: 1 }, undefined, bot)),
    scene.requestIn(await scene.ask({ ...MERGE, pull_request: 2 }, undefined, bot)),
  ]
  const bo = await scene.newKey('Bo', 'approver')
  const to = `v:${createHash('sha256').update(bo).digest('hex').slice(0, 12)}`
  const ana = await scene.newKey('Ana', 'approver', 'payments')
  const handed = await scene.api('POST', '/api/v1/delegations', { to, seconds: 600, approval_id: one }, ana)
  assert.equal(handed.status, 200)
  assert.equal((await scene.api('POST', `/api/v1/approvals/${other}/grant`, {}, bo)).status, 403)
  const granted = await scene.api('POST', `/api/v1/approvals/${one}/grant`, {}, bo)
  assert.equal(at(granted.body, 'approval', 'state'), 'granted')
  assert.deepEqual(
    listAt(granted.body, 'steps').map((step) => at(step, 'kind')),
    ['delegated', 'acting'],
  )
  assert.equal(at(await scene.ask({ ...MERGE, pull_request: 1 }), 'decision'), 'WARN')
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

for (const only of [['operation:listOrders'], ['operation:listOrders', 'operation:createOrder']])
  test(`nobody accepts ${only.join(' and ')} out of a change that was denied as a whole`, async (t) => {
    const scene = await startConsoleScene(t)
    await scene.change(ORDERS_BROKEN)
    // No operation is written so: the contract as a whole decides.
    const call = await fetch(`${scene.gateway.addresses.proxy}/orders/`)
    const asked = new URL(call.headers.get('location') ?? '', scene.url).pathname.split('/').at(-1) ?? ''
    const bo = await scene.newKey('Bo', 'approver', 'payments')
    const denied = await scene.api('POST', `/api/v1/approvals/${asked}/deny`, { comment: 'no' }, bo)
    assert.equal(at(denied.body, 'approval', 'target_id'), 'orders', JSON.stringify(denied.body))
    const digest = textAt((await scene.api('GET', '/api/v1/baselines')).body, 'baselines', 0, 'candidate', 'digest')
    const cy = await scene.newKey('Cy', 'approver', 'payments')
    const parts = { digest, only, comment: 'adapted' }
    const promoted = await scene.api('POST', '/api/v1/baselines/orders/promote', parts, cy)
    assert.equal(promoted.status, 409, JSON.stringify(promoted.body))
    assert.match(textAt(promoted.body, 'message'), /the denial stands/)
  })
