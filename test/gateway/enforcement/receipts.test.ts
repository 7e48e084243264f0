/** Receipts that come with a call: what they let through, what they cannot, and that one for one use serves one call. */
import assert from 'node:assert/strict'
import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { breakListing, LIST_PETS, startPetRoute, type PetRoute } from '../../fakes/pet-route.ts'
import { at, listAt, textAt } from '../../json.ts'

const withReceipt = (token: string): RequestInit => ({ headers: { 'preflight-receipt': token } })

test('a route that requires a receipt tells which one, takes exactly that, and sends it on', async (t) => {
  const { call, api, upstream, preflight } = await startPetRoute(t, { receipts: { require: true } })
  const refused = await call()
  assert.equal(refused.status, 403)
  assert.equal(refused.headers.get('preflight-action'), 'STOP')
  const body: unknown = await refused.json()
  assert.equal(at(body, 'error'), 'PREFLIGHT_RECEIPT_REQUIRED')
  assert.match(textAt(body, 'message'), /No receipt came with the call.*POST \/api\/v1\/preflight/)
  assert.equal(upstream.requests.length, 0)

  const issued = await preflight(Object(at(body, 'receipt_required', 'context')))
  assert.equal(
    at(issued, 'decision_result', 'input_fingerprint'),
    at(body, 'receipt_required', 'context', 'input_fingerprint'),
  )
  const token = textAt(issued, 'chain_receipt')
  const good = await call(withReceipt(token))
  assert.equal(good.status, 200)
  const decisionId = at(issued, 'decision_result', 'decision_id')
  assert.equal(good.headers.get('preflight-decision-id'), decisionId)
  assert.equal(upstream.requests[0]?.headers['preflight-receipt'], token)
  const { body: ledger } = await api('GET', '/api/v1/ledger')
  assert.equal(listAt(ledger, 'entries').length, 1, 'no further decision was made')
})

test('a receipt that is accepted stands for a decision; without one, or with one for something else, the call is judged anew', async (t) => {
  const { call, receipt, upstream } = await startPetRoute(t, { receipts: { accept: true } })
  const token = await receipt()
  const accepted = await call(withReceipt(token))
  const anew = await call()
  const other = await call(withReceipt(await receipt({ target_id: 'pets/POST /pets' })))
  assert.deepEqual([accepted.status, anew.status, other.status], [200, 200, 200])
  assert.notEqual(accepted.headers.get('preflight-decision-id'), anew.headers.get('preflight-decision-id'))
  assert.equal(other.headers.get('preflight-decision-id'), anew.headers.get('preflight-decision-id'))
  assert.notEqual(upstream.requests[2]?.headers['preflight-receipt'], token)
})

test('a route that takes no receipts strips them and judges for itself', async (t) => {
  const { call, receipt, upstream } = await startPetRoute(t)
  const token = await receipt()
  assert.equal((await call(withReceipt(token))).status, 200)
  assert.notEqual(upstream.requests[0]?.headers['preflight-receipt'], token)
})

test('no receipt makes a blocked change pass: none for the base content, none of the block itself, no forged one', async (t) => {
  const { call, change, receipt, preflight, upstream } = await startPetRoute(t, { receipts: { accept: true } })
  const before = await receipt()
  change(breakListing)
  const stop = await preflight()
  assert.equal(at(stop, 'execution_action'), 'STOP')
  const ofStop = textAt(stop, 'chain_receipt')
  const [head = '', claims = '', signature = ''] = ofStop.split('.')
  const forged = Buffer.from(claims, 'base64url').toString('utf8').replace('"STOP"', '"CONTINUE"')
  for (const token of [before, ofStop, `${head}.${Buffer.from(forged).toString('base64url')}.${signature}`]) {
    const answer = await call(withReceipt(token))
    assert.equal(answer.status, 403)
    assert.equal(at(await answer.json(), 'error'), 'PREFLIGHT_STOP')
  }
  assert.equal(upstream.requests.length, 0)
})

test('the decision beside a receipt must be the one that was signed', async (t) => {
  const { call, preflight } = await startPetRoute(t, { receipts: { require: true } })
  const issued = await preflight()
  const receipt = textAt(issued, 'chain_receipt')
  const sendWith = (envelope: unknown) => {
    const decision = Buffer.from(JSON.stringify(envelope)).toString('base64url')
    return call({ headers: { 'preflight-receipt': receipt, 'preflight-decision': decision } })
  }
  assert.equal((await sendWith(at(issued, 'decision_result'))).status, 200)
  const tampered = await sendWith({ ...Object(at(issued, 'decision_result')), summary: 'All is well.' })
  assert.equal(tampered.status, 403)
  assert.equal(at(await tampered.json(), 'receipt_required', 'reason'), 'body_hash_mismatch')
})

test('a receipt for one use serves exactly one of fifty concurrent calls, and none later', async (t) => {
  const { call, receipt, upstream, api } = await startPetRoute(t, { receipts: { require: true, consume: true } })
  const token = await receipt()
  const answers = await Promise.all(Array.from({ length: 50 }, () => call(withReceipt(token))))
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [200, ...Array.from({ length: 49 }, () => 403)],
  )
  assert.equal(upstream.requests.length, 1)
  const later = await call(withReceipt(token))
  assert.equal(at(await later.json(), 'receipt_required', 'reason'), 'consumed')
  const context = { operation: 'tool_call', environment: 'prod', target_id: LIST_PETS }
  const { body } = await api('POST', '/api/v1/verify-receipt', { token, context })
  assert.equal(at(body, 'status'), 'VERIFIED_CONSUMED')
})

test('a receipt that was revoked, or that a newer decision replaced, lets nothing through from then on', async (t) => {
  const { call, preflight, api } = await startPetRoute(t, { receipts: { require: true } })
  const first = await preflight()
  const token = textAt(first, 'chain_receipt')
  assert.equal((await call(withReceipt(token))).status, 200)
  const second = await preflight()
  const superseded = await call(withReceipt(token))
  assert.equal(at(await superseded.json(), 'receipt_required', 'reason'), 'superseded')
  const id = at(second, 'decision_result', 'decision_id')
  await api('POST', '/api/v1/receipts/revoke', { decision_id: id, reason: 'a test' })
  const revoked = await call(withReceipt(textAt(second, 'chain_receipt')))
  assert.equal(at(await revoked.json(), 'receipt_required', 'reason'), 'revoked')
})

test('a receipt of a watched decision opens a window, and closes it with the outcome', async (t) => {
  const { call, receipt, change, preflight, gateway } = await startPetRoute(
    t,
    { receipts: { require: true } },
    { policy: 'test/fakes/warn-pack.yaml' },
  )
  assert.ok(await receipt())
  change(breakListing)
  const issued = await preflight()
  assert.equal(at(issued, 'execution_action'), 'CONTINUE_WITH_MONITORING')
  const answer = await call(withReceipt(textAt(issued, 'chain_receipt')))
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('preflight-action'), 'CONTINUE_WITH_MONITORING')
  await answer.text()
  const text = await gateway.metrics.text()
  assert.match(text, /preflight_receipts_presented_total\{[^}]*result="authorized"[^}]*\} 1/)
})

const AUTHZ: Readonly<Record<string, (pets: PetRoute, init: RequestInit) => Promise<Response>>> = {
  'the proxy': ({ call }, init) => call(init),
  ext_authz: ({ gateway }, init) => fetch(`${gateway.addresses.api}/authz/pets`, init),
}

for (const [how, ask] of Object.entries(AUTHZ))
  test(`a store that takes no writes is an outage by ${how}: 503 with a time to retry, and the receipt is still good`, async (t) => {
    const pets = await startPetRoute(t, { receipts: { require: true, consume: true } })
    const { dataDir } = pets.gateway
    const token = await pets.receipt()
    const files = readdirSync(dataDir).filter((name) => name.startsWith('ledger.db') && !name.endsWith('.lock'))
    for (const name of files) renameSync(join(dataDir, name), join(dataDir, `aside-${name}`))
    const away = await ask(pets, withReceipt(token))
    assert.equal(away.status, 503)
    assert.equal(away.headers.get('retry-after'), '5')
    assert.equal(away.headers.get('preflight-action'), 'STOP')
    assert.equal(at(await away.json(), 'error'), 'STORE_UNAVAILABLE')
    for (const name of files) renameSync(join(dataDir, `aside-${name}`), join(dataDir, name))
    assert.deepEqual(
      [(await ask(pets, withReceipt(token))).status, (await ask(pets, withReceipt(token))).status],
      [200, 403],
    )
  })

/** What is wrong with the store → how it is put wrong, and right again. */
const OUTAGES = {
  'the state of receipts cannot be read': [
    'ALTER TABLE receipt_events RENAME TO receipt_events_away',
    'ALTER TABLE receipt_events_away RENAME TO receipt_events',
  ],
  'no use of a receipt can be recorded': [
    'ALTER TABLE receipt_events RENAME TO receipt_events_away; CREATE VIEW receipt_events AS SELECT * FROM receipt_events_away',
    'DROP VIEW receipt_events; ALTER TABLE receipt_events_away RENAME TO receipt_events',
  ],
} as const

for (const [what, [wrong, right]] of Object.entries(OUTAGES))
  for (const failure of ['closed', 'open'])
    test(`${what}: with failure: ${failure} a call that requires a receipt is not forwarded, and its receipt is good later`, async (t) => {
      const route = { receipts: { require: true, consume: true }, failure }
      const { call, receipt, upstream, gateway } = await startPetRoute(t, route)
      const token = await receipt()
      const database = new DatabaseSync(join(gateway.dataDir, 'ledger.db'))
      t.after(() => database.close())
      database.exec(wrong)
      const refused = await call(withReceipt(token))
      assert.equal(refused.status, 503)
      assert.equal(refused.headers.get('retry-after'), '5')
      assert.equal(at(await refused.json(), 'error'), 'STORE_UNAVAILABLE')
      assert.equal(upstream.requests.length, 0)
      database.exec(right)
      assert.equal((await call(withReceipt(token))).status, 200)
      assert.equal((await call(withReceipt(token))).status, 403)
      assert.equal(upstream.requests.length, 1)
      const metrics = await (await fetch(`${gateway.addresses.admin}/metrics`)).text()
      assert.match(metrics, /preflight_calls_total\{route="pets",outcome="undecided"\} 1/)
      assert.match(metrics, /preflight_calls_total\{route="pets",outcome="failed_open"\} 0/)
    })
