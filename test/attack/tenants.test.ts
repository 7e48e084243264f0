/** Ids of another tenant at every endpoint that takes one, and every list: the answer is that for an id which does not exist, and nothing changes. The command line works on the data directory, or sends a preflight as any client. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ROUTES } from '../../gateway/api/serving/routes.ts'
import { startApi, type ApiFake } from '../fakes/api.ts'
import { approvalFor } from '../fakes/approval-for.ts'
import { pets, PETS_WITH_POST } from '../fakes/contracts.ts'
import { at, textAt } from '../json.ts'

interface Ids {
  readonly decision: string
  readonly fingerprint: string
  readonly approval: string
  readonly delegation: string
  readonly challenge: string
  readonly correlation: string
  readonly route: string
  readonly breakGlass: string
  /** Audience of an API key. */
  readonly key: string
}
type Headers = Readonly<Record<string, string>>
type Ask = (api: ApiFake, ids: Ids, headers: Headers) => Promise<{ readonly status: number; readonly text: string }>

const tool = (name: string, args: object, api: ApiFake, headers: Headers) =>
  api.post(
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    { accept: 'application/json, text/event-stream', ...headers },
  )

async function remove(api: ApiFake, path: string, headers: Headers): ReturnType<Ask> {
  const response = await fetch(api.url + path, { method: 'DELETE', headers })
  return { status: response.status, text: await response.text() }
}

/** Operation id of the route → how it is asked for a thing by its id. */
const ASKS: Readonly<Record<string, readonly Ask[]>> = {
  getDecision: [(api, { decision }, headers) => api.get(`/api/v1/decisions/${decision}`, headers)],
  explainDecision: [(api, { decision }, headers) => api.get(`/api/v1/decisions/${decision}/explanation`, headers)],
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
  commentApproval: [
    (api, { approval }, headers) => api.post(`/api/v1/approvals/${approval}/comments`, { text: 't' }, headers),
  ],
  reviewApproval: [(api, { approval }, headers) => api.get(`/api/v1/approvals/${approval}/review`, headers)],
  endDelegation: [(api, { delegation }, headers) => remove(api, `/api/v1/delegations/${delegation}`, headers)],
  changeKey: [(api, { key }, headers) => api.post(`/api/v1/keys/${key}`, { groups: ['payments'] }, headers)],
  rotateKey: [(api, { key }, headers) => api.post(`/api/v1/keys/${key}/rotate`, { overlap: 0 }, headers)],
  revokeKey: [(api, { key }, headers) => remove(api, `/api/v1/keys/${key}`, headers)],
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
  getBaseline: [
    (api, { route }, headers) => api.get(`/api/v1/baselines/${route}`, headers),
    (api, { route }, headers) => api.get(`/api/v1/baselines/${route}%2Fagent`, headers),
  ],
  promoteBaseline: [
    (api, { route }, headers) =>
      api.post(`/api/v1/baselines/${route}/promote`, { digest: CANDIDATE, comment: 'c' }, headers),
    (api, { route }, headers) =>
      api.post(`/api/v1/baselines/${route}/promote`, { digest: CANDIDATE, only: ['tool:a'] }, headers),
  ],
  openBreakGlass: [
    (api, { route }, headers) =>
      api.post('/api/v1/break-glass', { route, reason: 'an incident', duration: 60 }, headers),
  ],
  closeBreakGlass: [(api, { breakGlass }, headers) => remove(api, `/api/v1/break-glass/${breakGlass}`, headers)],
  mcp: [(api, { decision }, headers) => tool('get_decision_details', { decision_id: decision }, api, headers)],
}

/** Lists: what is in them is the caller's own. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  listLedger: [
    '/api/v1/ledger',
    '/api/v1/ledger?records=calls',
    '/api/v1/ledger?tenant=local',
    '/api/v1/ledger?format=jsonl',
  ],
  listApprovals: ['/api/v1/approvals', '/api/v1/approvals?state=pending'],
  listBaselines: ['/api/v1/baselines'],
  listBreakGlass: ['/api/v1/break-glass', '/api/v1/break-glass?state=open'],
  listBindings: ['/api/v1/bindings'],
  listKeys: ['/api/v1/keys'],
  listDelegations: ['/api/v1/delegations'],
  listFleet: ['/api/v1/fleet'],
}

/** Routes that name nothing of a tenant. */
const OTHERS: ReadonlySet<string> = new Set([
  'exportLedger',
  'pruneLedger',
  'getSchema',
  'getStatusList',
  'listIntegrationSnippets',
  'listProviders',
])
const ROUTE = { name: 'of-local', match: { path: '/' }, upstream: 'http://127.0.0.1:9', protocol: 'mcp' }
const CANDIDATE = `sha256:${'c'.repeat(64)}`
const REPOSITORY = 'acme/of-local'

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
    delegation: 'del_none',
    challenge: 'chl_none',
    correlation: 'cor_none',
    route: 'nowhere',
    breakGlass: 'bg_none',
    key: 'v:000000000000',
  }
  before(async () => {
    api = await startApi({ config: { policy: 'strict', routes: [ROUTE] } })
    for (const role of ['agent', 'approver', 'admin'] as const)
      keys[role] = await api.newKey(role, { tenant: 'team-b' })
    const body = { preflight_mode: 'authorize', artifacts: [pets(PETS_WITH_POST)], context: { operation: 'merge' } }
    const { body: answer } = await api.post('/api/v1/preflight', body)
    token = textAt(answer, 'chain_receipt')
    const decision = textAt(answer, 'decision_result', 'decision_id')
    const approval = await approvalFor(answer, api.store)
    await api.store.approvals.delegate({
      delegationId: 'del_matrix',
      tenant: 'local',
      by: 'oidc:corp:a',
      groups: [],
      to: 'oidc:corp:b',
      approvalId: null,
      reason: 'a holiday',
      at: Date.now(),
      until: Date.now() + 60_000,
    })
    const challenge = await api.post('/api/v1/bindings/challenge', { platform: 'scm_a', repository: 'acme/pets' })
    const baseline = { route: ROUTE.name, artifactId: ROUTE.name, type: 'mcp_manifest', setAt: 1 } as const
    const first = { content: '{"tools":[]}', digest: `sha256:${'b'.repeat(64)}`, source: 'first_use' } as const
    await api.store.baselines.set({ ...baseline, ...first, setBy: 'route' }, null)
    await api.store.baselines.setCandidate({
      route: ROUTE.name,
      type: 'mcp_manifest',
      content: '{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}',
      digest: CANDIDATE,
      seenAt: 1,
    })
    const at = Date.now()
    await api.store.breakGlass.open({
      id: 'bg_matrix',
      route: ROUTE.name,
      reason: 'an incident of local',
      openedBy: 'cli:x',
      openedAt: at,
      expiresAt: at + 60_000,
      closedBy: null,
      closedAt: null,
      endedAt: null,
      calls: 0,
    })
    await api.store.bindings.record({
      tenant: 'local',
      platform: 'scm_a',
      repository: REPOSITORY,
      provenAt: 1,
      provenBy: 'x',
    })
    const [key] = (await api.store.apiKeys.list()).filter(({ tenant }) => tenant === 'local')
    own = {
      key: key?.audience ?? '',
      route: ROUTE.name,
      breakGlass: 'bg_matrix',
      decision,
      fingerprint: textAt(answer, 'decision_result', 'fingerprint'),
      approval: approval.approvalId,
      delegation: 'del_matrix',
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

  for (const [operation, paths] of Object.entries(LISTS))
    for (const role of ['agent', 'approver', 'admin'])
      for (const path of paths)
        it(`${operation}, ${role}, ${path}: holds nothing of another tenant`, async () => {
          const { text } = await api.get(path, { authorization: `Bearer ${keys[role]}` })
          for (const id of [...Object.values(own), REPOSITORY, 'cli:x']) assert.ok(!text.includes(id), text)
        })

  it('finds the same lists full under a key of the tenant itself', async () => {
    const headers = { authorization: `Bearer ${await api.newKey('admin')}` }
    const texts = await Promise.all(
      Object.values(LISTS).map(async ([path]) => (await api.get(path ?? '', headers)).text),
    )
    for (const id of [own.decision, own.approval, own.delegation, own.route, own.breakGlass, own.key, REPOSITORY])
      assert.ok(
        texts.some((text) => text.includes(id)),
        id,
      )
  })

  it('consumes no receipt, decides no approval, promotes nothing, closes nothing and revokes nothing', async () => {
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
    assert.equal((await api.baselines.view(ROUTE.name))?.candidate?.digest, CANDIDATE)
    assert.deepEqual(
      (await api.store.breakGlass.list({ limit: 10 })).map(({ id, closedAt }) => [id, closedAt]),
      [['bg_matrix', null]],
    )
  })

  it('every route with an id in its path, and every list, is in the tables', () => {
    const ofTenants = ROUTES.filter(
      ({ paths, operationId }) => operationId.startsWith('list') || paths.some((path) => path.includes('{')),
    ).map(({ operationId }) => operationId)
    assert.deepEqual(
      ofTenants.filter((id) => !(id in ASKS) && !(id in LISTS) && !OTHERS.has(id)),
      [],
    )
  })
})
