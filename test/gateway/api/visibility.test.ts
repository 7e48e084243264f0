/** Role × endpoint × owner: who sees a decision, and who its token. "Never existed" and "not yours" are one answer. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { signupTenant } from '../../../gateway/callers/api-keys.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { approvalFor } from '../../fakes/approval-for.ts'
import { pets, PETS_WITH_POST } from '../../fakes/contracts.ts'
import { until } from '../../fakes/until.ts'
import { at, textAt } from '../../json.ts'

const PREFLIGHT = '/api/v1/preflight'

interface Facts {
  readonly id: string
  readonly fingerprint: string
  readonly approvalId: string
  readonly body: object
}

interface Endpoint {
  readonly name: string
  /** What shows that the decision, or what belongs to it, is seen. */
  readonly mark: (facts: Facts) => string
  readonly ask: (
    api: ApiFake,
    facts: Facts,
    headers: Readonly<Record<string, string>>,
  ) => Promise<{ readonly text: string }>
}

const decisionId = ({ id }: Facts): string => id

const ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'GET /decisions/{id}',
    mark: decisionId,
    ask: (api, { id }, headers) => api.get(`/api/v1/decisions/${id}`, headers),
  },
  {
    name: 'GET /decisions/{id}/attestation',
    mark: () => 'payloadType',
    ask: (api, { id }, headers) => api.get(`/api/v1/decisions/${id}/attestation`, headers),
  },
  {
    name: 'POST /decisions/lookup by id',
    mark: decisionId,
    ask: (api, { id }, headers) => api.post('/api/v1/decisions/lookup', { decision_id: id }, headers),
  },
  {
    name: 'POST /decisions/lookup by fingerprint',
    mark: decisionId,
    ask: (api, { fingerprint }, headers) => api.post('/api/v1/decisions/lookup', { fingerprint }, headers),
  },
  { name: 'GET /ledger', mark: decisionId, ask: (api, _facts, headers) => api.get('/api/v1/ledger', headers) },
  {
    name: 'GET /ledger as lines',
    mark: decisionId,
    ask: (api, _facts, headers) => api.get('/api/v1/ledger', { accept: 'application/x-ndjson', ...headers }),
  },
  {
    name: 'GET /ledger of calls',
    mark: decisionId,
    ask: (api, _facts, headers) => api.get('/api/v1/ledger?records=calls', headers),
  },
  {
    name: 'GET /approvals',
    mark: ({ approvalId }) => approvalId,
    ask: (api, _facts, headers) => api.get('/api/v1/approvals', headers),
  },
  {
    name: 'GET /approvals/{id}',
    mark: ({ approvalId }) => `"${approvalId}"`,
    ask: (api, { approvalId }, headers) => api.get(`/api/v1/approvals/${approvalId}`, headers),
  },
  {
    name: 'the tool get_decision_details',
    mark: decisionId,
    ask: (api, { id }, headers) => {
      const params = { name: 'get_decision_details', arguments: { decision_id: id } }
      const accept = 'application/json, text/event-stream'
      return api.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, { accept, ...headers })
    },
  },
]

/** Who asks → whether they see what the first one decided. Only the first one sees the token. */
const CALLERS = {
  owner: true,
  'another agent of the tenant': false,
  'an approver of the tenant': true,
  'an admin of the tenant': true,
  'an agent of another tenant': false,
  'an admin of another tenant': false,
  'a key from sign-up': false,
} as const

/** Whether the text contains the token or its signature, in plain text or in base64. */
function holdsToken(text: string, token: string): boolean {
  const [, , signature = ''] = token.split('.')
  const payload = /"payload":"([A-Za-z0-9+/=]+)"/.exec(text)?.[1] ?? ''
  return text.includes(signature) || Buffer.from(payload, 'base64').toString('utf8').includes(signature)
}

describe('what the holder of a key sees', () => {
  let api: ApiFake
  let facts: Facts
  let token: string
  const keys: Record<string, string> = {}
  before(async () => {
    api = await startApi({ config: { policy: 'strict' } })
    keys['owner'] = api.key
    keys['another agent of the tenant'] = await api.newKey('agent')
    keys['an approver of the tenant'] = await api.newKey('approver')
    keys['an admin of the tenant'] = await api.newKey('admin')
    keys['an agent of another tenant'] = await api.newKey('agent', { tenant: 'team-b' })
    keys['an admin of another tenant'] = await api.newKey('admin', { tenant: 'team-b' })
    keys['a key from sign-up'] = await api.newKey('agent', { tenant: signupTenant() })
    const body = {
      preflight_mode: 'authorize',
      artifacts: [pets(PETS_WITH_POST)],
      context: { operation: 'merge' },
      idempotency_key: 'k1',
    }
    const { body: answer } = await api.post(PREFLIGHT, body)
    token = textAt(answer, 'chain_receipt')
    const id = textAt(answer, 'decision_result', 'decision_id')
    const fingerprint = textAt(answer, 'decision_result', 'fingerprint')
    const approval = await approvalFor(answer, api.store)
    await api.store.calls.record({
      correlationId: 'c1',
      tenant: 'local',
      decisionId: id,
      route: 'shop',
      protocol: 'http',
      action: 'GET /',
      executionAction: 'CONTINUE',
      enforced: true,
      effect: 'forwarded',
      breakGlassId: null,
      traceId: null,
      violations: null,
      at: Date.now(),
    })
    facts = { id, fingerprint, approvalId: approval.approvalId, body }
  })
  after(() => api.close())

  for (const { name, mark, ask } of ENDPOINTS)
    for (const [caller, isSeen] of Object.entries(CALLERS))
      it(`${name}, ${caller}: ${isSeen ? 'seen' : 'not there'}`, async () => {
        const seen = async (): Promise<string> =>
          (await ask(api, facts, { authorization: `Bearer ${keys[caller]}` })).text
        // Call records are written in batches.
        if (isSeen) await until(async () => (await seen()).includes(mark(facts)), 'it is seen')
        const text = await seen()
        const shown = text.includes('"error"') ? false : text.includes(mark(facts))
        assert.equal(shown, isSeen, text)
        if (caller !== 'owner') assert.equal(holdsToken(text, token), false, text)
      })

  it('a stored decision keeps its token for the one to whom it was issued', async () => {
    for (const [caller, isOwner] of [
      ['owner', true],
      ['an admin of the tenant', false],
    ] as const) {
      const headers = { authorization: `Bearer ${keys[caller]}` }
      const { body } = await api.get(`/api/v1/decisions/${facts.id}`, headers)
      assert.equal(at(body, 'decision_result', 'receipt', 'token') === token, isOwner)
    }
  })

  it('the same idempotency key under another API key gives a decision of its own, not the stored token', async () => {
    const headers = { authorization: `Bearer ${keys['another agent of the tenant']}` }
    const again = await api.post(PREFLIGHT, facts.body, headers)
    assert.equal(again.status, 200)
    assert.equal(holdsToken(again.text, token), false)
    assert.notEqual(at(again.body, 'decision_result', 'decision_id'), facts.id)
    const own = await api.post(PREFLIGHT, facts.body)
    assert.equal(at(own.body, 'decision_result', 'decision_id'), facts.id, 'the first one is replayed to its owner')
    const other = { ...facts.body, context: { operation: 'deploy' } }
    assert.equal((await api.post(PREFLIGHT, other, headers)).status, 409)
  })
})
