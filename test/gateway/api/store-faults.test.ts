/** What cannot be recorded is not decided: a store or a signer out of order gives an error and no receipt, and the process recovers. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { GatewayError } from '../../../gateway/errors/errors.ts'
import type { Store } from '../../../gateway/store/store.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { pets, PETS_WITH_POST } from '../../fakes/contracts.ts'
import { at, listAt, textAt } from '../../json.ts'

const PREFLIGHT = '/api/v1/preflight'
const request = { preflight_mode: 'authorize', artifacts: [pets(PETS_WITH_POST)], context: { operation: 'merge' } }

const diskFull = () =>
  Promise.reject(new GatewayError('STORE_UNAVAILABLE', undefined, { cause: new Error('disk full') }))

describe('a store that cannot be written', () => {
  let api: ApiFake
  let isFull = false

  before(async () => {
    api = await startApi({
      storeFaults: (store: Store) => ({
        decisions: { record: (row) => (isFull ? diskFull() : store.decisions.record(row)) },
        receipts: {
          consume: (id, at) => (isFull ? diskFull() : store.receipts.consume(id, at)),
          state: (id) => (isFull ? diskFull() : store.receipts.state(id)),
        },
      }),
    })
  })
  after(() => api.close())

  it('gives 503 without decision or receipt, and decides again when there is space', async () => {
    isFull = true
    const { status, body, text, headers } = await api.post(PREFLIGHT, request)
    assert.equal(status, 503)
    assert.equal(headers.get('retry-after'), '5')
    assert.equal(at(body, 'error'), 'STORE_UNAVAILABLE')
    assert.doesNotMatch(text, /eyJ|decision_result|disk full/)
    assert.ok(api.log.some((line) => line.includes('disk full')))
    isFull = false
    assert.deepEqual(at((await api.get('/api/v1/ledger')).body, 'entries'), [])
    const recovered = await api.post(PREFLIGHT, request)
    assert.equal(at(recovered.body, 'execution_action'), 'CONTINUE')
  })

  it('does not hold back an analysis, which records nothing', async () => {
    isFull = true
    const { status, body } = await api.post(PREFLIGHT, { ...request, preflight_mode: 'analyze' })
    isFull = false
    assert.equal(status, 200)
    assert.equal(at(body, 'may_execute'), false)
  })

  it('replays nothing under the idempotency key of a decision that was not recorded', async () => {
    isFull = true
    const keyed = { ...request, idempotency_key: 'lost' }
    assert.equal((await api.post(PREFLIGHT, keyed)).status, 503)
    isFull = false
    const { status, headers } = await api.post(PREFLIGHT, keyed)
    assert.equal(status, 200)
    assert.equal(headers.get('idempotency-replayed'), null)
  })

  it('leaves a receipt undecidable, which authorizes nothing, and does not use it up', async () => {
    const { body } = await api.post(PREFLIGHT, request)
    const question = { token: textAt(body, 'chain_receipt'), context: { operation: 'merge' }, consume: true }
    isFull = true
    const during = await api.post('/api/v1/verify-receipt', question)
    isFull = false
    assert.equal(during.status, 200)
    assert.equal(at(during.body, 'status'), 'UNDECIDABLE')
    assert.equal(at(during.body, 'currently_authorized'), false)
    const later = await api.post('/api/v1/verify-receipt', question)
    assert.equal(at(later.body, 'currently_authorized'), true)
  })
})

describe('other things that fail on the decision path', () => {
  it('give 503 when no key can sign', async () => {
    const api = await startApi()
    // The key that signs, and the one that stands by for it.
    const { keys } = api.keys.published()
    assert.ok(keys.length > 0)
    for (const { kid } of keys) api.keys.revoke(kid)
    const { status, body, text } = await api.post(PREFLIGHT, request)
    assert.equal(status, 503)
    assert.equal(at(body, 'error'), 'SIGNER_UNAVAILABLE')
    assert.doesNotMatch(text, /eyJ/)
    assert.deepEqual(listAt((await api.get('/api/v1/ledger')).body, 'entries'), [])
    await api.close()
  })

  it('give 500 with the cause in the log only, and no decision, when something breaks that nobody foresaw', async () => {
    const api = await startApi({
      storeFaults: () => ({ decisions: { record: () => Promise.reject(new TypeError('secret of the inside')) } }),
    })
    const { status, body, text } = await api.post(PREFLIGHT, request)
    assert.equal(status, 500)
    assert.equal(at(body, 'error'), 'INTERNAL')
    assert.doesNotMatch(text, /secret of the inside/)
    assert.ok(api.log.some((line) => line.includes('secret of the inside')))
    await api.close()
  })

  it('never send a stored envelope that breaks the producer schema', async () => {
    const api = await startApi({
      storeFaults: (store) => ({
        decisions: {
          byId: async (tenant, id) => {
            const row = await store.decisions.byId(tenant, id)
            return row && { ...row, envelope: row.envelope.replace('"safe_for_agent":true', '"safe_for_agent":false') }
          },
        },
      }),
    })
    const { body } = await api.post(PREFLIGHT, request)
    const answer = await api.get(`/api/v1/decisions/${textAt(body, 'decision_result', 'decision_id')}`)
    assert.equal(answer.status, 500)
    assert.equal(at(answer.body, 'decision_result'), undefined)
    await api.close()
  })
})
