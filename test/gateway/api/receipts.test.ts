/** Receipts over the wire: verified against an attempt, used once, revoked; decisions found again by their owner only; the ledger. */
import assert from 'node:assert/strict'
import { createPublicKey, verify as verifySignature } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { consumePresented, type PresentedDeps } from '../../../gateway/enforce/presented-receipt.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { pets, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt, textsAt } from '../../json.ts'

const VERIFY = '/api/v1/verify-receipt'
const PLACE = { operation: 'deploy', environment: 'prod', repository: 'acme/pets' }

describe('a receipt', () => {
  let api: ApiFake
  let approver: string
  before(async () => {
    api = await startApi()
    approver = await api.newKey('approver')
  })
  after(() => api.close())

  let count = 0
  const issue = async (context: object = PLACE, after = PETS_WITH_POST) => {
    count += 1
    const artifacts = [pets(after, `pets-${count}`)]
    const { body } = await api.post('/api/v1/preflight', { preflight_mode: 'authorize', artifacts, context })
    return { body, token: textAt(body, 'chain_receipt'), id: textAt(body, 'decision_result', 'decision_id') }
  }
  /** A verifier holds a token and no key. */
  const verify = async (question: object) => (await api.post(VERIFY, question, { authorization: '' })).body

  it('is authentic without a context, and says nothing of permission then', async () => {
    const { token } = await issue()
    const body = await verify({ token })
    assert.equal(at(body, 'valid'), true)
    assert.equal(at(body, 'currently_authorized'), null)
    assert.equal(at(body, 'status'), 'VERIFIED_CURRENT')
  })

  it('authorizes the attempt that it was issued for, stated in a context or at the top level', async () => {
    const { token, body } = await issue()
    assert.equal(at(await verify({ token, context: PLACE }), 'currently_authorized'), true)
    assert.equal(at(await verify({ receipt: token, ...PLACE }), 'currently_authorized'), true)
    const decision_result = at(body, 'decision_result')
    assert.equal(at(await verify({ token, context: PLACE, decision_result }), 'currently_authorized'), true)
  })

  it('authorizes no other operation, place or audience, and no attempt that leaves out a signed member', async () => {
    const { token, body } = await issue()
    const cases: readonly (readonly [object, string])[] = [
      [{ ...PLACE, operation: 'merge' }, 'operation_mismatch'],
      [{ ...PLACE, environment: 'test' }, 'environment_mismatch'],
      [{ ...PLACE, repository: 'acme/dogs' }, 'place_mismatch'],
      [{ ...PLACE, audience: 'v:000000000000' }, 'audience_mismatch'],
      [{ ...PLACE, input_fingerprint: `sha256:${'0'.repeat(64)}` }, 'fingerprint_mismatch'],
      [{ operation: 'deploy' }, 'context_incomplete'],
    ]
    for (const [context, reason] of cases) {
      const answer = await verify({ token, context })
      assert.equal(at(answer, 'currently_authorized'), false, reason)
      assert.equal(at(answer, 'reason'), reason)
    }
    const tampered = { ...Object(at(body, 'decision_result')), summary: 'All is well.' }
    assert.equal(at(await verify({ token, context: PLACE, decision_result: tampered }), 'reason'), 'body_hash_mismatch')
  })

  it('of a stop never authorizes', async () => {
    const { token } = await issue(PLACE, PETS_WITHOUT_DELETE)
    const body = await verify({ token, context: PLACE })
    assert.equal(at(body, 'valid'), true)
    assert.equal(at(body, 'currently_authorized'), false)
    assert.equal(at(body, 'reason'), 'decision_not_allow')
  })

  it('can be used once, by exactly one of many concurrent callers', async () => {
    const { token, id } = await issue()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => verify({ token, context: PLACE, consume: true })),
    )
    assert.equal(answers.filter((body) => at(body, 'currently_authorized') === true).length, 1)
    assert.equal(at(await verify({ token, context: PLACE }), 'status'), 'VERIFIED_CONSUMED')
    assert.ok(api.changed.includes(id))
  })

  it('is used up with the others of its call, or not at all', async () => {
    const { receipts } = api.store
    /** As it is seen by a call whose second receipt ends, or whose use cannot be recorded, after it was verified. */
    const cases: readonly (readonly [
      string,
      (id: string) => Promise<unknown>,
      PresentedDeps['store'],
      string | null,
    ])[] = [
      ['used', (id) => receipts.consume([id], Date.now()), api.store, 'consumed'],
      ['revoked', (id) => receipts.revoke('local', id, 'leaked', 'v:1', Date.now()), api.store, 'revoked'],
      [
        'store away',
        () => Promise.resolve(),
        { receipts: { state: (id) => receipts.state(id), consume: () => Promise.reject(new Error('away')) } },
        'state_unknown',
      ],
      ['good', () => Promise.resolve(), api.store, null],
    ]
    for (const [name, end, store, reason] of cases) {
      const [first, second] = [await issue(), await issue()]
      let isVerified = 0
      const meanwhile: PresentedDeps['store']['receipts'] = {
        async state(id) {
          const state = await store.receipts.state(id)
          isVerified += 1
          if (isVerified === 2) await end(second.id)
          return state
        },
        consume: (ids, at) => store.receipts.consume(ids, at),
      }
      const failures: unknown[] = []
      const questions = [first, second].map(({ token }) => ({ token, context: PLACE }))
      const verdicts = await consumePresented(questions, {
        keys: api.keys,
        store: { receipts: meanwhile },
        logger: createLogger('silent'),
        now: Date.now,
        receiptChanged: () => {},
        storeFailed: (error) => failures.push(error),
      })
      const isGood = name === 'good'
      assert.equal(await receipts.state(first.id), isGood ? 'consumed' : 'current', name)
      assert.equal(
        verdicts.every((verdict) => verdict.currently_authorized === true),
        isGood,
        name,
      )
      assert.equal(verdicts[1]?.reason ?? null, reason, name)
      assert.equal(failures.length, name === 'store away' ? 1 : 0)
    }
  })

  it('is of one tenant: a key of another can neither have it authorized nor use it up, by REST or as a tool', async () => {
    const { token } = await issue()
    const other = { authorization: `Bearer ${await api.newKey('admin', { tenant: 'team-b' })}` }
    const question = { token, context: PLACE, consume: true }
    const tool = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'verify_receipt', arguments: question },
    }
    const accept = { accept: 'application/json, text/event-stream' }
    const { text } = await api.post('/mcp', tool, { ...other, ...accept })
    assert.match(text, /tenant_mismatch/)
    for (const consume of [true, false]) {
      const { body } = await api.post(VERIFY, { ...question, consume }, other)
      assert.deepEqual([at(body, 'currently_authorized'), at(body, 'reason')], [false, 'tenant_mismatch'])
    }
    assert.equal(at(await verify({ token, context: { ...PLACE, tenant: 'team-b' } }), 'reason'), 'tenant_mismatch')
    assert.equal(at(await verify({ token, context: { ...PLACE, tenant: 'local' } }), 'currently_authorized'), true)
    assert.equal(at((await api.post(VERIFY, question)).body, 'currently_authorized'), true, 'its own key may')
  })

  it('is not used up by an attempt that it does not authorize', async () => {
    const { token } = await issue()
    await verify({ token, context: { ...PLACE, operation: 'merge' }, consume: true })
    assert.equal(at(await verify({ token, context: PLACE }), 'currently_authorized'), true)
  })

  it('is revoked by an approver, not by an agent, and not by a stranger', async () => {
    const { token, id } = await issue()
    const revoke = (key: string) =>
      api.post(
        '/api/v1/receipts/revoke',
        { decision_id: id, reason: 'wrong window' },
        { authorization: `Bearer ${key}` },
      )
    assert.equal((await revoke(api.key)).status, 403)
    const stranger = await api.newKey('admin', { tenant: 'elsewhere' })
    assert.equal((await revoke(stranger)).status, 404)
    assert.equal(at(await verify({ token, context: PLACE }), 'currently_authorized'), true)
    assert.equal((await revoke(approver)).status, 200)
    assert.equal((await revoke(approver)).status, 200)
    const body = await verify({ token, context: PLACE })
    assert.equal(at(body, 'status'), 'VERIFIED_REVOKED')
    assert.equal(at(body, 'currently_authorized'), false)
    assert.ok(api.changed.includes(id))
  })

  it('that was never ours is refused without more', async () => {
    assert.equal(at(await verify({ token: 'abc', context: PLACE }), 'status'), 'MALFORMED')
    const { token } = await issue()
    const forged = `${token.slice(0, -4)}${token.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`
    const body = await verify({ token: forged, context: PLACE })
    assert.equal(at(body, 'valid'), false)
    assert.equal(at(body, 'currently_authorized'), false)
    assert.equal(at(body, 'payload'), null)
  })

  it('needs a token, one reading of the context, and a context to be used up', async () => {
    const { token } = await issue()
    for (const question of [
      {},
      { token, consume: true },
      { token, operation: 'merge', context: { operation: 'deploy' } },
      { token, receipt: 'another' },
    ]) {
      const { status, body } = await api.post(VERIFY, question)
      assert.equal(status, 400, JSON.stringify(question))
      assert.equal(at(body, 'error'), 'INVALID_INPUT')
    }
  })
})

describe('a stored decision', () => {
  let api: ApiFake
  before(async () => {
    api = await startApi()
  })
  after(() => api.close())

  const decide = async (operation: string) => {
    const artifacts = [pets(PETS_WITH_POST)]
    const { body } = await api.post('/api/v1/preflight', {
      preflight_mode: 'authorize',
      artifacts,
      context: { operation },
    })
    return at(body, 'decision_result')
  }

  it('is found by id and by fingerprint, as it was issued', async () => {
    const envelope = await decide('merge')
    const decision_id = textAt(envelope, 'decision_id')
    const answers = [
      await api.get(`/api/v1/decisions/${decision_id}`),
      await api.post('/api/v1/decisions/lookup', { decision_id }),
      await api.post('/api/v1/decisions/lookup', { fingerprint: at(envelope, 'fingerprint') }),
    ]
    for (const { status, body } of answers) {
      assert.equal(status, 200)
      assert.deepEqual(at(body, 'decision_result'), envelope)
      assert.equal(at(body, 'meta', 'retrieval_mode'), 'stored')
      assert.equal(at(body, 'meta', 'receipt_state'), 'current')
      assert.equal(at(body, 'control_envelope', 'receipt_view', 'currently_authorized'), true)
    }
  })

  it('is not found by another tenant, in the words of what never existed', async () => {
    const id = textAt(await decide('merge'), 'decision_id')
    const other = {
      authorization: `Bearer ${await api.newKey('admin', { tenant: 'other' })}`,
      'x-correlation-id': 'same',
    }
    const theirs = await api.get(`/api/v1/decisions/${id}`, other)
    const nobodys = await api.get('/api/v1/decisions/dec_0', other)
    assert.equal(theirs.status, 404)
    assert.deepEqual(theirs.body, nobodys.body)
    assert.deepEqual(listAt((await api.get('/api/v1/ledger', other)).body, 'entries'), [])
  })

  it('is asked for by id or by fingerprint, not by both and not by neither', async () => {
    const both = { decision_id: 'dec_1', fingerprint: `sha256:${'0'.repeat(64)}` }
    for (const body of [{}, both]) assert.equal((await api.post('/api/v1/decisions/lookup', body)).status, 400)
  })
})

describe('the ledger', () => {
  let api: ApiFake
  before(async () => {
    api = await startApi()
    for (const [index, operation] of ['merge', 'deploy', 'merge', 'publish', 'merge'].entries()) {
      const artifacts = [pets(index === 1 ? PETS_WITHOUT_DELETE : PETS_WITH_POST, `a${index}`)]
      await api.post('/api/v1/preflight', { preflight_mode: 'authorize', artifacts, context: { operation } })
    }
  })
  after(() => api.close())

  const entries = async (query: string) => listAt((await api.get(`/api/v1/ledger${query}`)).body, 'entries')
  /** Calls under nobody's decision are the approvers' to see. */
  const listed = async (query: string) => {
    const headers = { authorization: `Bearer ${await api.newKey('approver')}` }
    return listAt((await api.get(`/api/v1/ledger?records=calls${query}`, headers)).body, 'entries')
  }

  it('lists decisions newest first, each with the hash of the one before', async () => {
    const rows = await entries('')
    assert.equal(rows.length, 5)
    for (const [index, row] of rows.slice(0, -1).entries()) {
      assert.equal(at(row, 'previous_hash'), at(rows[index + 1], 'hash'))
    }
  })

  it('filters by what a decision was about', async () => {
    assert.deepEqual(textsAt(await entries('?operation=merge'), 'operation'), ['merge', 'merge', 'merge'])
    assert.deepEqual(textsAt(await entries('?decision=BLOCK'), 'operation'), ['deploy'])
    assert.equal((await entries('?from=2000-01-01T00:00:00Z')).length, 5)
    assert.equal((await entries('?to=2000-01-01T00:00:00Z')).length, 0)
  })

  it('goes page by page without loss or repetition', async () => {
    const seen: unknown[] = []
    let query: string | null = '?limit=2'
    while (query !== null) {
      const { body } = await api.get(`/api/v1/ledger${query}`)
      seen.push(...listAt(body, 'entries').map((row) => at(row, 'sequence')))
      query = at(body, 'next_cursor') === null ? null : `?limit=2&cursor=${textAt(body, 'next_cursor')}`
    }
    assert.deepEqual(seen, [5, 4, 3, 2, 1])
  })

  it('is exported as lines, all of it', async () => {
    const { headers, text } = await api.get('/api/v1/ledger?limit=2', { accept: 'application/x-ndjson' })
    assert.equal(headers.get('content-type'), 'application/x-ndjson')
    assert.equal(text.trim().split('\n').length, 5)
  })

  it('lists what was done with calls, and finds those that depart from their contract', async () => {
    const call = {
      correlationId: 'c1',
      tenant: 'local',
      decisionId: 'dec_1',
      route: 'shop',
      protocol: 'mcp',
      action: 'tools/call search',
      executionAction: 'CONTINUE',
      enforced: true,
      effect: 'forwarded',
      breakGlassId: null,
      traceId: null,
      violations: null,
      at: Date.parse('2026-01-31T12:00:00Z'),
    } as const
    const violations = [{ where: 'structuredContent', message: 'is missing' }]
    await api.store.calls.record(call)
    await api.store.calls.record({ ...call, effect: 'drifted', violations })
    await api.store.calls.record({ ...call, tenant: 'other' })
    await until(async () => (await listed('')).length === 2, 'the call records are written')
    const [drifted] = await listed('&effect=drifted&route=shop')
    assert.equal(at(drifted, 'pattern'), 'TOOL_RESULT_SHAPE_DRIFT')
    assert.deepEqual(at(drifted, 'violations'), violations)
    assert.equal(at(drifted, 'at'), '2026-01-31T12:00:00.000Z')
    assert.equal((await listed('&to=2026-01-31T12:00:00Z')).length, 0)
    assert.equal((await listed('&correlation_id=c1')).length, 2)
    assert.equal((await listed('&correlation_id=c2')).length, 0)
    const headers = { accept: 'application/x-ndjson', authorization: `Bearer ${await api.newKey('approver')}` }
    const { text } = await api.get('/api/v1/ledger?records=calls', headers)
    assert.equal(text.trim().split('\n').length, 2)
  })

  it('refuses filters that it does not understand', async () => {
    for (const query of [
      '?effect=drifted',
      '?correlation_id=c1',
      '?records=calls&decision=BLOCK',
      '?records=calls&effect=gone',
      '?limit=0',
      '?limit=501',
      '?limit=2&limit=3',
      '?decision=MAYBE',
      '?from=yesterday',
      '?cursor=x',
    ]) {
      const { status, body } = await api.get(`/api/v1/ledger${query}`)
      assert.equal(status, 400, query)
      assert.ok(listAt(body, 'details').length > 0)
    }
  })
})

describe('the attestation of a decision', () => {
  let api: ApiFake
  before(async () => {
    api = await startApi()
  })
  after(() => api.close())

  it('is a DSSE envelope that the published key set verifies, for the tenant of the decision only', async () => {
    const request = { preflight_mode: 'authorize', artifacts: [pets(PETS_WITHOUT_DELETE)], context: PLACE }
    const decided = (await api.post('/api/v1/preflight', request)).body
    const path = `/api/v1/decisions/${textAt(decided, 'decision_result', 'decision_id')}/attestation`
    const { status, body } = await api.get(path)
    assert.equal(status, 200)
    const payload = Buffer.from(textAt(body, 'payload'), 'base64')
    const type = textAt(body, 'payloadType')
    const { body: published } = await api.get('/.well-known/jwks.json')
    const jwk = listAt(published, 'keys').find((key) => at(key, 'kid') === textAt(body, 'signatures', 0, 'keyid'))
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: textAt(jwk, 'x') }, format: 'jwk' })
    const signed = Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${type} ${payload.length} `), payload])
    assert.ok(verifySignature(null, signed, key, Buffer.from(textAt(body, 'signatures', 0, 'sig'), 'base64')))
    const statement: unknown = JSON.parse(payload.toString('utf8'))
    assert.deepEqual(at(statement, 'predicate', 'decision_result'), at(decided, 'decision_result'))
    const stranger = await api.newKey('agent', { tenant: 'other' })
    assert.equal((await api.get(path, { authorization: `Bearer ${stranger}` })).status, 404)
    assert.equal((await api.get('/api/v1/decisions/dec_none/attestation')).status, 404)
  })
})
