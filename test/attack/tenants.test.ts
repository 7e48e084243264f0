/** Ids of another tenant at every endpoint that takes one: the answer is that for an id which does not exist, and nothing changes. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ROUTES } from '../../gateway/api/routes.ts'
import { startApi, type ApiFake } from '../fakes/api.ts'
import { pets, PETS_WITH_POST } from '../fakes/contracts.ts'
import { at, textAt } from '../json.ts'

interface Ids {
  readonly decision: string
  readonly fingerprint: string
  readonly approval: string
  readonly challenge: string
  readonly correlation: string
}
type Headers = Readonly<Record<string, string>>
type Ask = (api: ApiFake, ids: Ids, headers: Headers) => Promise<{ readonly status: number; readonly text: string }>

const tool = (name: string, args: object, api: ApiFake, headers: Headers) =>
  api.post(
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    { accept: 'application/json, text/event-stream', ...headers },
  )

/** Operation id of the route → how it is asked for a thing by its id. */
const ASKS: Readonly<Record<string, readonly Ask[]>> = {
  getDecision: [(api, { decision }, headers) => api.get(`/api/v1/decisions/${decision}`, headers)],
  getDecisionAttestation: [
    (api, { decision }, headers) => api.get(`/api/v1/decisions/${decision}/attestation`, headers),
  ],
  lookupDecision: [
    (api, { decision }, headers) => api.post('/api/v1/decisions/lookup', { decision_id: decision }, headers),
    (api, { fingerprint }, headers) => api.post('/api/v1/decisions/lookup', { fingerprint }, headers),
  ],
  listLedger: [
    (api, { decision }, headers) => api.get(`/api/v1/ledger?cursor=${decision}`, headers),
    (api, { decision }, headers) => api.get(`/api/v1/ledger?records=calls&cursor=${decision}`, headers),
  ],
  revokeReceipt: [
    (api, { decision }, headers) =>
      api.post('/api/v1/receipts/revoke', { decision_id: decision, reason: 'r' }, headers),
  ],
  listApprovals: [(api, { approval }, headers) => api.get(`/api/v1/approvals?cursor=${approval}`, headers)],
  getApproval: [(api, { approval }, headers) => api.get(`/api/v1/approvals/${approval}`, headers)],
  grantApproval: [
    (api, { approval }, headers) => api.post(`/api/v1/approvals/${approval}/grant`, { comment: 'c' }, headers),
  ],
  denyApproval: [
    (api, { approval }, headers) => api.post(`/api/v1/approvals/${approval}/deny`, { comment: 'c' }, headers),
  ],
  reportExecution: [
    (api, { correlation }, headers) =>
      api.post(
        '/api/v1/telemetry',
        {
          specversion: '1.0',
          id: 'e1',
          source: 's',
          type: 'preflight.execution.started',
          data: { correlation_id: correlation },
        },
        headers,
      ),
  ],
  proveBinding: [
    (api, { challenge }, headers) => api.post('/api/v1/bindings/prove', { challenge_id: challenge }, headers),
  ],
  mcp: [(api, { decision }, headers) => tool('get_decision_details', { decision_id: decision }, api, headers)],
}

/** Routes whose names are those of the configuration, or that are the operator's alone. */
const OTHERS: ReadonlySet<string> = new Set(['getBaseline', 'promoteBaseline', 'closeBreakGlass', 'getSchema'])

/** Without the ids that were asked for. */
function plain({ status, text }: Awaited<ReturnType<Ask>>, ids: Ids): string {
  const named = Object.values(ids).reduce((found, id) => found.replaceAll(id, 'ID'), text)
  return `${status} ${named.replaceAll(/"correlation_id\\*":\\*"[^"\\]*\\*"/g, '')}`
}

describe('a key of another tenant', () => {
  let api: ApiFake
  let own: Ids
  let token = ''
  const keys: Record<string, string> = {}
  const unknown: Ids = {
    decision: 'dec_00000000000000000000000000000000',
    fingerprint: `sha256:${'0'.repeat(64)}`,
    approval: 'apr_none',
    challenge: 'chl_none',
    correlation: 'cor_none',
  }
  before(async () => {
    api = await startApi({ config: { policy: 'strict' } })
    for (const role of ['agent', 'approver', 'admin'] as const)
      keys[role] = await api.newKey(role, { tenant: 'team-b' })
    const body = { preflight_mode: 'authorize', artifacts: [pets(PETS_WITH_POST)], context: { operation: 'merge' } }
    const { body: answer } = await api.post('/api/v1/preflight', body)
    token = textAt(answer, 'chain_receipt')
    const decision = textAt(answer, 'decision_result', 'decision_id')
    const row = await api.store.decisionById('local', decision)
    assert.ok(row)
    const approval = await api.store.openApproval({
      ...row,
      approvalId: 'apr_matrix',
      key: 'matrix',
      requester: textAt(answer, 'decision_result', 'audience'),
      branch: null,
      pullRequest: null,
      targetId: null,
      policyHash: 'p',
      summary: 's',
      riskScore: 1,
      reasons: '[]',
      openedAt: Date.now(),
      expiresAt: Date.now() + 60_000,
      approvers: [],
    })
    const challenge = await api.post('/api/v1/bindings/challenge', { platform: 'scm_a', repository: 'acme/pets' })
    own = {
      decision,
      fingerprint: textAt(answer, 'decision_result', 'fingerprint'),
      approval: approval.approvalId,
      challenge: textAt(challenge.body, 'challenge_id'),
      correlation: textAt(answer, 'decision_result', 'correlation_id'),
    }
  })
  after(() => api.close())

  for (const [operation, asks] of Object.entries(ASKS))
    for (const role of ['agent', 'approver', 'admin'])
      for (const [index, ask] of asks.entries())
        it(`${operation} ${index + 1}, ${role}: as for an id that does not exist`, async () => {
          const headers = { authorization: `Bearer ${keys[role]}` }
          const foreign = plain(await ask(api, own, headers), own)
          assert.equal(foreign, plain(await ask(api, unknown, headers), unknown))
          assert.ok(!foreign.startsWith('500'), foreign)
        })

  it('uses up no receipt, settles no request and revokes nothing', async () => {
    const headers = { authorization: `Bearer ${keys['admin']}` }
    const consume = { token, consume: true, context: { operation: 'merge' } }
    for (const answer of [
      await api.post('/api/v1/verify-receipt', consume, headers),
      await tool('verify_receipt', consume, api, headers),
    ])
      assert.ok(!/"currently_authorized\\?":\s*true/.test(answer.text), answer.text)
    const { body } = await api.get(`/api/v1/decisions/${own.decision}`)
    assert.equal(at(body, 'meta', 'receipt_state'), 'current')
    const approval = await api.get(`/api/v1/approvals/${own.approval}`)
    assert.equal(at(approval.body, 'approval', 'state'), 'pending')
  })

  it('every route with an id in its path or a member that names one is in the table', () => {
    const withIds = ROUTES.filter(({ paths }) => paths.some((path) => path.includes('{'))).map(
      ({ operationId }) => operationId,
    )
    assert.deepEqual(
      withIds.filter((id) => !(id in ASKS) && !OTHERS.has(id)),
      [],
    )
  })
})
