/** POST /api/v1/preflight over the wire: what analyze and authorize answer, replay, chain, legacy form, supersession. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { inputFingerprint, verifyReceipt } from '../../../engine/internal.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { pets, PETS, PETS_REORDERED, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { sha256 } from '../../fakes/keys.ts'
import { at, listAt, textAt } from '../../json.ts'

const PATH = '/api/v1/preflight'
const analyze = (after: string) => ({ preflight_mode: 'analyze', artifacts: [pets(after)] })
const authorize = (after: string, rest: object = {}) => ({
  preflight_mode: 'authorize',
  artifacts: [pets(after)],
  context: { operation: 'merge', repository: 'acme/pets', branch: 'main' },
  ...rest,
})

const NEVER_IN_ANALYZE = [
  'decision',
  'execution_action',
  'safe_for_agent',
  'decision_result',
  'chain_receipt',
  'control_envelope',
  'required_action_core',
]
const SHARED = [
  'risk_score',
  'breaking_changes',
  'breaking_changes_details',
  'patterns',
  'pattern_sources',
  'detected_patterns',
  'evidence',
  'evidence_quality',
  'requires_migration',
  'artifacts',
  'input_fingerprint',
  'blast_radius',
  'severity_summary',
  'human_report',
  'correlation_id',
  'timestamp',
  'scorer_version',
]

describe('analyze', () => {
  for (const [outcome, after] of [
    ['NO_BREAK_DETECTED', PETS_REORDERED],
    ['BREAKS_DETECTED', PETS_WITHOUT_DELETE],
    ['ANALYSIS_FAILED', 'openapi: ['],
  ] as const)
    it(`names one next step, and none that needs a receipt: ${outcome}`, async () => {
      const { body } = await api.post(PATH, analyze(after))
      assert.equal(at(body, 'analysis_outcome'), outcome)
      const steps = listAt(body, 'human_report', 'next_steps')
      assert.equal(steps.length, 1)
      assert.doesNotMatch(String(steps[0]), /receipt|remediation_transaction|approval/)
    })

  let api: ApiFake
  before(async () => {
    api = await startApi()
  })
  after(() => api.close())

  it('tells the risk and never carries anything that could be taken for permission', async () => {
    const { status, body } = await api.post(PATH, analyze(PETS_WITHOUT_DELETE))
    assert.equal(status, 200)
    assert.equal(at(body, 'analysis_outcome'), 'BREAKS_DETECTED')
    assert.equal(at(body, 'may_execute'), false)
    assert.equal(at(body, 'authorization_effect'), 'NONE')
    assert.equal(at(body, 'receipt_kind'), 'NONE')
    assert.equal(at(body, 'decision_spec_version'), '2.0')
    for (const member of NEVER_IN_ANALYZE) assert.equal(at(body, member), undefined, member)
    for (const row of listAt(body, 'artifacts')) assert.equal(at(row, 'decision'), undefined)
    for (const member of SHARED) assert.notEqual(at(body, member), undefined, member)
  })

  it('finds no break where only the order of members changed', async () => {
    const { body } = await api.post(PATH, analyze(PETS_REORDERED))
    assert.equal(at(body, 'analysis_outcome'), 'NO_BREAK_DETECTED')
    assert.equal(at(body, 'breaking_changes'), 0)
  })

  it('calls an unreadable artifact a failed analysis, not an error', async () => {
    const { status, body } = await api.post(PATH, analyze('openapi: ['))
    assert.equal(status, 200)
    assert.equal(at(body, 'analysis_outcome'), 'ANALYSIS_FAILED')
    assert.equal(at(body, 'artifacts', 0, 'status'), 'failed')
    assert.ok(textAt(body, 'artifacts', 0, 'error', 'code'))
  })

  it('records nothing', async () => {
    await api.post(PATH, analyze(PETS_WITHOUT_DELETE))
    const { body } = await api.get('/api/v1/ledger')
    assert.deepEqual(at(body, 'entries'), [])
  })
})

describe('authorize', () => {
  let api: ApiFake
  before(async () => {
    api = await startApi()
  })
  after(() => api.close())

  it('answers an allow decision with a receipt that verifies offline against the published keys', async () => {
    const { status, body } = await api.post(PATH, authorize(PETS_WITH_POST))
    assert.equal(status, 200)
    assert.equal(at(body, 'decision'), 'ALLOW')
    assert.equal(at(body, 'execution_action'), 'CONTINUE')
    assert.equal(at(body, 'safe_for_agent'), true)
    assert.equal(at(body, 'receipt_kind'), 'operation_authorization')
    assert.equal(at(body, 'control_envelope', 'receipt_view', 'currently_authorized'), true)
    for (const member of SHARED) assert.notEqual(at(body, member), undefined, member)
    const verdict = verifyReceipt({
      token: textAt(body, 'chain_receipt'),
      envelope: at(body, 'decision_result'),
      keys: api.keys.keySet(),
      now: Math.floor(Date.now() / 1000),
      context: { operation: 'merge', repository: 'acme/pets', branch: 'main' },
      state: 'unchecked',
      sha256,
    })
    assert.equal(verdict.currently_authorized, true, JSON.stringify(verdict))
  })

  it('binds the answer to the input, so that a consumer can recompute the fingerprint', async () => {
    const { body } = await api.post(PATH, authorize(PETS_WITH_POST))
    const expected = inputFingerprint([{ id: 'pets', type: 'openapi', before: PETS, after: PETS_WITH_POST }], sha256)
    assert.equal(at(body, 'input_fingerprint'), expected)
    assert.equal(at(body, 'decision_result', 'input_fingerprint'), expected)
    assert.equal(
      at(body, 'decision_result', 'artifact_digest'),
      `sha256:${sha256(sha256(PETS) + sha256(PETS_WITH_POST))}`,
    )
  })

  it('stops a breaking change, and the receipt of a stop authorizes nothing', async () => {
    const { status, body } = await api.post(PATH, authorize(PETS_WITHOUT_DELETE))
    assert.equal(status, 200)
    assert.equal(at(body, 'execution_action'), 'STOP')
    assert.equal(at(body, 'control_envelope', 'receipt_view', 'currently_authorized'), false)
    assert.ok(listAt(body, 'decision_result', 'blocking_reasons').length > 0)
    assert.ok(listAt(body, 'breaking_changes_details').length > 0)
  })

  it('blocks what it could not analyse, and says that it could not look', async () => {
    const { status, body } = await api.post(PATH, authorize('not: [closed'))
    assert.equal(status, 200)
    assert.equal(at(body, 'execution_action'), 'STOP')
    assert.equal(at(body, 'decision_result', 'analysis_complete'), false)
    assert.ok(listAt(body, 'decision_result', 'degraded_reasons').length > 0)
  })

  it('binds place, audience and mode into the envelope', async () => {
    const context = { operation: 'deploy', environment: 'prod', pull_request: 42, base: 'v1', head: 'v2' }
    const { body } = await api.post(PATH, authorize(PETS_WITH_POST, { context }))
    const envelope = at(body, 'decision_result')
    assert.equal(at(envelope, 'pull_request'), '42')
    assert.equal(at(envelope, 'environment'), 'prod')
    assert.equal(at(envelope, 'srcmode'), 'declared')
    assert.equal(at(envelope, 'preflight_mode'), 'authorize')
    assert.match(textAt(envelope, 'audience'), /^v:[0-9a-f]{12}$/)
    const unplaced = await api.post(PATH, authorize(PETS_WITH_POST, { context: { operation: 'deploy' } }))
    assert.equal(at(unplaced.body, 'decision_result', 'srcmode'), 'unbound')
  })

  it('takes over a well-formed correlation id and replaces another', async () => {
    const given = await api.post(PATH, authorize(PETS_WITH_POST), { 'x-correlation-id': 'run:42' })
    assert.equal(given.headers.get('x-correlation-id'), 'run:42')
    assert.equal(at(given.body, 'correlation_id'), 'run:42')
    assert.equal(at(given.body, 'decision_result', 'correlation_id'), 'run:42')
    const minted = await api.post(PATH, authorize(PETS_WITH_POST), { 'x-correlation-id': 'no spaces allowed' })
    assert.notEqual(minted.headers.get('x-correlation-id'), 'no spaces allowed')
    assert.equal(minted.headers.get('x-correlation-id'), at(minted.body, 'correlation_id'))
  })

  it('ignores members that it does not know, in the request and in its context', async () => {
    const context = { operation: 'merge', mood: 'good' }
    const { status } = await api.post(PATH, authorize(PETS_WITH_POST, { context, unheard_of: { a: 1 } }))
    assert.equal(status, 200)
  })

  it('gives the same fingerprint for the same input and another decision id', async () => {
    const [first, second] = [
      await api.post(PATH, authorize(PETS_WITH_POST)),
      await api.post(PATH, authorize(PETS_WITH_POST)),
    ]
    assert.equal(at(first.body, 'decision_result', 'fingerprint'), at(second.body, 'decision_result', 'fingerprint'))
    assert.notEqual(at(first.body, 'decision_result', 'decision_id'), at(second.body, 'decision_result', 'decision_id'))
  })

  it('supersedes the older decision of the same operation and place, and no other', async () => {
    const older = await api.post(PATH, authorize(PETS_WITH_POST, { context: { operation: 'merge', branch: 's' } }))
    const elsewhere = await api.post(PATH, authorize(PETS_WITH_POST, { context: { operation: 'merge', branch: 't' } }))
    await api.post(PATH, authorize(PETS_WITHOUT_DELETE, { context: { operation: 'merge', branch: 's' } }))
    const state = async (body: unknown) => {
      const id = textAt(body, 'decision_result', 'decision_id')
      return at((await api.get(`/api/v1/decisions/${id}`)).body, 'meta', 'receipt_state')
    }
    assert.equal(await state(older.body), 'superseded')
    assert.equal(await state(elsewhere.body), 'current')
  })

  it('chains receipts by the hash of the token before', async () => {
    const first = await api.post(PATH, authorize(PETS_WITH_POST))
    const token = textAt(first.body, 'chain_receipt')
    const second = await api.post(PATH, authorize(PETS_WITH_POST, { previous_receipt: token }))
    const verified = await api.post('/api/v1/verify-receipt', { token: at(second.body, 'chain_receipt') })
    assert.equal(at(verified.body, 'payload', 'prev'), `sha256:${sha256(token)}`)
    assert.equal(at(second.body, 'decision_result', 'fingerprint'), at(first.body, 'decision_result', 'fingerprint'))
  })

  it('accepts the legacy form, in which an absent mode means authorize', async () => {
    const { status, body } = await api.post(PATH, {
      decision_spec_version: '1.0',
      artifacts: [pets(PETS_WITH_POST)],
      context: { operation: 'merge' },
    })
    assert.equal(status, 200)
    assert.equal(at(body, 'decision_spec_version'), '1.0')
    assert.equal(at(body, 'decision_result', 'decision_spec_version'), '1.0')
    assert.equal(at(body, 'execution_action'), 'CONTINUE')
  })

  it('creates and deletes a contract by an empty side', async () => {
    const created = { id: 'new', type: 'openapi', before: '', after: PETS }
    const made = await api.post(PATH, { ...authorize(''), artifacts: [created] })
    assert.equal(at(made.body, 'decision_result', 'analysis_complete'), true)
    const deleted = { id: 'old', type: 'openapi', before: PETS, after: '' }
    const gone = await api.post(PATH, { ...authorize(''), artifacts: [deleted] })
    assert.equal(at(gone.body, 'execution_action'), 'STOP')
  })
})

describe('an idempotency key', () => {
  let api: ApiFake
  before(async () => {
    api = await startApi()
  })
  after(() => api.close())

  it('replays the stored answer for the same body and makes no second decision', async () => {
    const request = authorize(PETS_WITH_POST, { idempotency_key: 'once' })
    const first = await api.post(PATH, request, { 'x-correlation-id': 'first' })
    const again = await api.post(PATH, request, { 'x-correlation-id': 'again' })
    assert.equal(again.status, 200)
    assert.deepEqual(again.body, first.body)
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    assert.equal(again.headers.get('x-correlation-id'), at(again.body, 'correlation_id'))
  })

  it('makes one decision for many concurrent requests', async () => {
    const request = authorize(PETS_WITH_POST, { idempotency_key: 'at-once' })
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.post(PATH, request)))
    const ids = new Set(answers.map(({ body }) => at(body, 'decision_result', 'decision_id')))
    assert.equal(ids.size, 1)
  })

  it('is a conflict with another body', async () => {
    await api.post(PATH, authorize(PETS_WITH_POST, { idempotency_key: 'k' }))
    const { status, body } = await api.post(PATH, authorize(PETS_WITHOUT_DELETE, { idempotency_key: 'k' }))
    assert.equal(status, 409)
    assert.equal(at(body, 'error'), 'IDEMPOTENCY_CONFLICT')
  })

  it('belongs to the tenant', async () => {
    const other = await api.newKey('agent', { tenant: 'other' })
    await api.post(PATH, authorize(PETS_WITH_POST, { idempotency_key: 'mine' }))
    const theirs = await api.post(PATH, authorize(PETS_WITHOUT_DELETE, { idempotency_key: 'mine' }), {
      authorization: `Bearer ${other}`,
    })
    assert.equal(theirs.status, 200)
    assert.equal(at(theirs.body, 'execution_action'), 'STOP')
  })

  it('replays a revoked decision as no longer authorized', async () => {
    const approver = await api.newKey('approver')
    const request = authorize(PETS_WITH_POST, { idempotency_key: 'revoked-later' })
    const first = await api.post(PATH, request)
    const decision_id = at(first.body, 'decision_result', 'decision_id')
    await api.post('/api/v1/receipts/revoke', { decision_id, reason: 'wrong' }, { authorization: `Bearer ${approver}` })
    const again = await api.post(PATH, request)
    assert.equal(at(again.body, 'control_envelope', 'receipt_view', 'currently_authorized'), false)
    assert.deepEqual(at(again.body, 'decision_result'), at(first.body, 'decision_result'))
  })
})
