/** What a caller of the hub may do is what its identity may: every endpoint and every method, for each kind of caller. One table of values serves all tests. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, suite, test } from 'node:test'
import { hashApiKey } from '../../../gateway/callers/api-keys.ts'
import { contractDigest } from '../../../gateway/baselines/baselines.ts'
import { HUB_METHODS, type HubMethod } from '../../../gateway/hub/methods.ts'
import { ask, keyOf, operate, postTo, startHubCluster, type HubCluster, type HubScene } from '../../fakes/hub-scene.ts'
import { interception } from '../../fakes/interception.ts'
import { draftNow } from '../../fakes/simulated-sidecars.ts'
import { at, listAt, textAt } from '../../json.ts'

/** In the rows of team-a, but not in the names that both tenants use. */
const MARK = 'canary'
const AT = Date.now()
const DAY = 86_400_000
const ROUTE = 'pets'
const HASH = `sha256:${'a'.repeat(64)}`

/** Rows of team-a that its people and its sidecar have made. */
interface Made {
  readonly decision: string
  readonly fingerprint: string
  readonly key: string
  readonly approval: string
}

const contractOf = (content: string) => ({ type: 'openapi', content, digest: contractDigest(content) })
const manifestOf = (members: object) => ({ ...contractOf(JSON.stringify(members)), type: 'mcp_manifest' })
const baseline = {
  route: ROUTE,
  artifactId: ROUTE,
  ...contractOf(`content of ${MARK}`),
  source: 'first_use',
  setBy: 'first use',
  setAt: AT,
}
const candidate = { route: ROUTE, ...contractOf(`offered ${MARK}`), seenAt: AT }
const newApproval = () => `apr_${randomBytes(16).toString('hex')}`
const approval = ({ decision, approval: approvalId }: Made, tenant: string) => ({
  approvalId,
  key: HASH,
  tenant,
  requester: null,
  decisionId: decision,
  route: ROUTE,
  operation: null,
  environment: null,
  repository: MARK,
  branch: null,
  pullRequest: null,
  targetId: null,
  inputFingerprint: HASH,
  policyHash: HASH,
  summary: MARK,
  riskScore: 1,
  reasons: '[]',
  openedAt: AT,
  expiresAt: AT + DAY,
  approvers: [],
})
const use = { route: ROUTE, target: MARK, operation: null, tool: null, consumer: MARK, calls: 1, at: AT }
const openWindow = (id: string, tenant: string) => ({
  windowId: id,
  correlationId: MARK,
  decisionId: MARK,
  tenant,
  route: ROUTE,
  observer: 'gateway',
  openedAt: AT,
  closedAt: null,
  outcome: null,
})

/** Values of each method that a sidecar may use, about rows of team-a. Methods without a tenant among them ignore it. */
const VALUES: Readonly<Record<string, (made: Made, tenant: string) => readonly unknown[]>> = {
  'apiKeys.byHash': ({ key }) => [hashApiKey(key)],
  'apiKeys.touch': ({ key }) => [hashApiKey(key), AT],
  'approvals.open': (made, tenant) => [
    { ...approval({ ...made, approval: newApproval() }, tenant), key: `sha256:${randomBytes(32).toString('hex')}` },
  ],
  'approvals.byId': (made, tenant) => [tenant, made.approval],
  'approvals.list': (_, tenant) => [{ tenant, limit: 100, now: AT }],
  'approvals.pending': (_, tenant) => [{ tenant, limit: 100, now: AT }],
  'approvals.steps': (made, tenant) => [tenant, made.approval],
  'baselines.byRoute': () => [ROUTE, ROUTE],
  'baselines.stamp': () => [ROUTE, ROUTE],
  'baselines.list': () => [],
  'baselines.set': () => [baseline, null],
  'baselines.candidate': () => [ROUTE],
  'baselines.candidates': () => [],
  'baselines.setCandidate': () => [candidate],
  'baselines.dropCandidate': () => [`none-${ROUTE}`],
  'baselines.announceCandidate': () => [ROUTE, HASH, AT],
  'bindings.list': (_, tenant) => [tenant],
  'breakGlass.list': () => [{ openAt: AT, limit: 100 }],
  'breakGlass.use': () => [ROUTE, AT],
  'calls.list': (_, tenant) => [{ tenant, limit: 100 }],
  'decisions.byId': ({ decision }, tenant) => [tenant, decision],
  'decisions.byFingerprint': ({ fingerprint }, tenant) => [tenant, fingerprint],
  'decisions.byIdempotencyKey': (_, tenant) => [tenant, MARK, 0],
  'decisions.list': (_, tenant) => [{ tenant, limit: 100 }],
  'decisions.counts': (_, tenant) => [{ tenant, from: 0, period: DAY }],
  'decisions.history': (_, tenant) => [{ tenant, supersessionKey: MARK, since: 0, limit: 10 }],
  'ledger.keepTime': () => [AT],
  'fleet.list': (_, tenant) => [{ tenant, limit: 100 }],
  'quotas.count': (_, tenant) => [tenant, '2026-01', 10],
  'quotas.used': (_, tenant) => [tenant, '2026-01'],
  'receipts.state': ({ decision }) => [decision],
  'receipts.consume': ({ decision }) => [[decision], AT],
  'receipts.revoke': ({ decision }, tenant) => [tenant, decision, 'wrong', 'nobody', AT],
  'uses.salt': () => ['0'.repeat(32)],
  'uses.record': () => [{ uses: [use], limit: 100, since: 0 }],
  'uses.of': () => [[ROUTE], 0],
  'windows.open': (_, tenant) => [openWindow(newApproval(), tenant)],
  'windows.close': ({ decision }) => [`${MARK}-${decision}`, 'SUCCEEDED', AT],
  'windows.listOpen': () => [],
}

/** Their answer says whether, or how often, it was done before, or what time it is. */
const COUNTED: ReadonlySet<string> = new Set([
  'approvals.open',
  'baselines.announceCandidate',
  'fleet.list',
  'ledger.keepTime',
  'quotas.count',
  'receipts.consume',
  'windows.close',
])

const PETS = {
  openapi: '3.0.3',
  info: { title: 'Pets', version: '1' },
  paths: { '/pets': { get: { responses: { '200': { description: 'all' } } } } },
}

interface Endpoint {
  readonly path: string
  readonly body?: object
  /** Roles that may use it. */
  readonly roles: readonly string[]
}

const ENDPOINTS: readonly Endpoint[] = [
  { path: '/hub/v1/keys', roles: ['sidecar', 'verifier'] },
  { path: '/hub/v1/clock', roles: ['sidecar', 'verifier'] },
  { path: '/hub/v1/changes', roles: ['sidecar'] },
  { path: '/hub/v1/heartbeat', body: {}, roles: ['sidecar'] },
  { path: '/hub/v1/calls', body: { values: [[]] }, roles: ['sidecar'] },
  { path: '/hub/v1/decisions', body: {}, roles: ['sidecar'] },
]

type Row = HubMethod<never[]> | { readonly refused: string }
const METHODS = Object.entries<Row>(HUB_METHODS)
const rolesOf = (row: Row): readonly string[] => ('refused' in row ? [] : row.roles)

suite('a caller of the hub may do what its identity may', () => {
  let cluster: HubCluster
  let hub: HubScene
  let made: Made
  let a: string
  let b: string
  let verifier: string
  before(async () => {
    cluster = await startHubCluster()
    const gateway = await startHub(cluster)
    hub = gateway
    ;[a, b, verifier] = [await cluster.token('team-a'), await cluster.token('team-b'), await cluster.token('checks')]
    made = await makeRows(hub, a)
  })
  after(async () => {
    await hub.gateway.close()
    await cluster.close()
  })

  const everything = (): readonly Endpoint[] => [
    ...ENDPOINTS,
    ...METHODS.map(([name, row]) => ({
      path: `/hub/v1/operations/${name}`,
      body: { values: VALUES[name]?.(made, 'local') ?? [] },
      roles: rolesOf(row),
    })),
  ]

  test('the table of values has every method that a sidecar may use, and no other', () => {
    const allowed = METHODS.filter(([, row]) => rolesOf(row).includes('sidecar')).map(([name]) => name)
    assert.deepEqual(Object.keys(VALUES).toSorted(), allowed.toSorted())
  })

  test('who is not proven is refused everywhere', async () => {
    const callers: Readonly<Record<string, string | null>> = {
      nobody: null,
      'an expired token': await cluster.token('team-a', { life: '-1m' }),
      'a token for another audience': await cluster.token('team-a', { audience: 'api' }),
      'an API key of the tenant': made.key,
      'an unknown hub key': `pf_hub_${'0'.repeat(40)}`,
    }
    for (const [who, credential] of Object.entries(callers))
      for (const { path, body } of everything()) {
        const answer = await ask(hub.url, path, credential, body)
        assert.deepEqual([answer.status, at(answer.body, 'error')], [401, 'UNAUTHENTICATED'], `${who}: ${path}`)
      }
  })

  test('each role does what its rows name, and nothing else', async () => {
    for (const { path, body, roles } of everything()) {
      // The values of a verifier are checked like those of a sidecar, so only what is forbidden counts here.
      for (const [role, credential] of Object.entries({ sidecar: a, verifier })) {
        const status = await statusOf(hub.url, path, credential, body)
        assert.equal(status === 403, !roles.includes(role), `${role} at ${path}: ${status}`)
      }
    }
  })

  test('a sidecar reaches its own rows by every method', async () => {
    for (const [name, values] of Object.entries(VALUES)) {
      const { status, body } = await operate(hub.url, name, a, ...values(made, 'team-a'))
      assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
    }
  })

  test('a request whose answer was lost may be repeated: no method takes it for a fault', async () => {
    for (const [name, values] of Object.entries(VALUES)) {
      const repeated = values(await makeRows(hub, a), 'team-a')
      const answers = [await operate(hub.url, name, a, ...repeated), await operate(hub.url, name, a, ...repeated)]
      for (const { status, body } of answers) assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
      if (!COUNTED.has(name)) assert.deepEqual(answers[1], answers[0], `${name} answers the same`)
    }
  })

  test('a request with the id of another row is refused as a conflict, within the tenant and across', async () => {
    const own = await makeRows(hub, a)
    const id = `${MARK}-${own.decision}`
    const opened = { ...approval(own, 'local'), approvalId: newApproval(), key: `sha256:${'b'.repeat(64)}` }
    assert.equal((await operate(hub.url, 'approvals.open', a, opened)).status, 200)
    const conflicts: readonly (readonly [string, string, unknown])[] = [
      ['windows.open', a, { ...openWindow(id, 'local'), correlationId: 'other' }],
      ['approvals.open', a, { ...opened, key: `sha256:${'c'.repeat(64)}` }],
      ['approvals.open', b, opened],
    ]
    for (const [name, credential, row] of conflicts) {
      const { status, body } = await operate(hub.url, name, credential, row)
      assert.deepEqual([status, at(body, 'error')], [409, 'IDEMPOTENCY_CONFLICT'], name)
    }
    const kept = listAt((await operate(hub.url, 'windows.listOpen', a)).body, 'value')
    const window = kept.find((row) => at(row, 'windowId') === id)
    assert.equal(at(window, 'correlationId'), MARK)
  })

  test('a decision is recorded once, however often and by whomever it is asked for', async () => {
    const draft = draftNow()
    const request = { draft, route: ROUTE, previous: null, supersessionKey: draft.decision_id, mayJoin: false }
    const ask3 = await Promise.all([1, 2, 3].map(() => ask(hub.url, '/hub/v1/decisions', a, request)))
    for (const answer of [...ask3, await ask(hub.url, '/hub/v1/decisions', a, request)])
      assert.deepEqual(answer, ask3[0])
    assert.equal(ask3[0]?.status, 200)
    const other = { ...request, draft: { ...draft, fingerprint: `sha256:${'c'.repeat(64)}` } }
    for (const [credential, body] of [
      [a, other],
      [b, request],
    ] as const)
      assert.equal((await ask(hub.url, '/hub/v1/decisions', credential, body)).status, 409)
  })

  test('a sidecar writes the baselines that are its own to write, and no others', async () => {
    const route = `pins-${randomBytes(4).toString('hex')}`
    const set = (row: object, over: string | null) =>
      operate(hub.url, 'baselines.set', a, { ...baseline, route, artifactId: route, ...row }, over)
    const statusOfSet = async (...given: Parameters<typeof set>) => (await set(...given)).status
    const pets = (changes: object = {}) => contractOf(JSON.stringify({ ...PETS, ...changes }))
    const auto = { source: 'promotion', setBy: 'auto_promote: info' }
    assert.equal(await statusOfSet({ ...pets(), ...auto }, null), 403, 'there is nothing to compare with')
    assert.equal(await statusOfSet({ ...pets(), setBy: 'v:0123456789ab' }, null), 403, 'in the name of a person')
    assert.equal(await statusOfSet({ ...pets(), digest: HASH }, null), 400, 'another digest')
    assert.equal(await statusOfSet(pets(), null), 200)
    const { digest } = pets()
    assert.equal(await statusOfSet(pets({ paths: {} }), digest), 403, 'a first use that drops what is pinned')
    assert.equal(await statusOfSet({ ...pets({ paths: {} }), ...auto }, digest), 403, 'a breaking change')
    assert.equal(await statusOfSet({ ...pets({ paths: {} }), ...auto, setBy: 'v:0123456789ab' }, digest), 403)
    assert.equal(await statusOfSet({ ...pets(), source: 'file', setBy: 'v:0123456789ab' }, digest), 403)
    const harmless = pets({ paths: { ...PETS.paths, '/owners': PETS.paths['/pets'] } })
    const petsNow = async () =>
      textAt((await operate(hub.url, 'baselines.byRoute', a, route, route)).body, 'value', 'digest')
    assert.equal(await statusOfSet({ ...harmless, ...auto }, HASH), 200)
    assert.equal(await petsNow(), digest, 'a change of another baseline replaces none')
    for (const _ of [1, 2])
      assert.equal(await statusOfSet({ ...harmless, ...auto }, digest), 200, 'a change for nobody')
    assert.equal(await petsNow(), harmless.digest)
    assert.equal(await statusOfSet({ ...pets(), source: 'file', setBy: 'configuration' }, harmless.digest), 200)
    assert.equal(await petsNow(), digest)
    const [tools, more] = [manifestOf({ tools: [] }), manifestOf({ prompts: [], tools: [] })]
    const other = { route: `${route}-mcp`, artifactId: `${route}-mcp` }
    assert.equal(await statusOfSet({ ...tools, ...other }, null), 200)
    assert.equal(await statusOfSet({ ...more, ...other }, tools.digest), 200, 'a list that was not seen before')
    assert.equal(await statusOfSet({ ...manifestOf({ tools: [] }), ...other }, more.digest), 403, 'a list that is gone')
    const offered = { ...candidate, route, digest: HASH }
    assert.equal((await operate(hub.url, 'baselines.setCandidate', a, offered)).status, 400)
  })

  test('a time that a sidecar states ends nothing, removes nothing and is never later than now, by any method', async () => {
    const own = await makeRows(hub, a)
    const { api } = hub.gateway.addresses
    for (const digit of ['d', 'e']) {
      const opening = { ...approval({ ...own, approval: newApproval() }, 'team-a'), key: `sha256:${digit.repeat(64)}` }
      assert.equal((await operate(hub.url, 'approvals.open', a, opening)).status, 200)
      const path = `/api/v1/approvals/${opening.approvalId}/grant`
      if (digit === 'd') assert.equal((await postTo(api, path, own.key, {})).status, 200)
    }
    const admin = await keyOf(hub, 'admin', 'local')
    const exception = { route: 'shop', reason: 'an incident', duration: 600 }
    assert.equal((await postTo(api, '/api/v1/break-glass', admin, exception)).status, 200)
    const headers = { authorization: `Bearer ${admin}` }
    const open = async () => (await fetch(`${api}/api/v1/break-glass?state=open`, { headers })).json()
    const snapshot = async () => ({
      rows: await rowsOf(hub.url, a, own),
      exceptions: listAt(await open(), 'break_glass').map((one) => at(one, 'reason')),
    })
    const kept = await snapshot()
    for (const word of ['"granted"', '"result":null', 'an incident', '"consumer"'])
      assert.ok(JSON.stringify(kept).includes(word), `${word} is not in ${JSON.stringify(kept)}`)
    for (const time of [0, 8_640_000_000_000_000])
      for (const [name, values] of Object.entries(VALUES)) {
        // Each number of a value that is a time, and none that counts something.
        const written = JSON.stringify(withoutMark(name, values(own, 'team-b')))
        const moved = written.replaceAll(new RegExp(`\\b(?:${AT}|${AT + DAY})\\b|(?<="since":)0`, 'g'), String(time))
        await operate(hub.url, name, b, ...JSON.parse(moved))
      }
    assert.deepEqual(await snapshot(), kept)
    const written = JSON.stringify(await rowsOf(hub.url, b, own))
    const latest = Math.max(...[...written.matchAll(/"(?:\w+At|at)":(\d+)/g)].map(([, time]) => Number(time)))
    assert.ok(latest > AT && latest <= Date.now() + DAY, `${latest}: ${written}`)
  })

  test('no value of a sidecar is a fault of the hub, and what it writes can be read afterwards', async () => {
    const own = await makeRows(hub, a)
    const { api, admin } = hub.gateway.addresses
    const headers = { authorization: `Bearer ${own.key}` }
    for (const [name, values] of Object.entries(VALUES))
      for (let index = 0, { length } = junkIn(values(own, 'team-a')); index < length; index += 1) {
        // Made anew, with other ids: a row that is there would be joined.
        const changed = junkIn(values(own, 'team-a'))[index] ?? []
        const { status, body } = await operate(hub.url, name, a, ...changed)
        assert.ok(status < 500, `${name} ${JSON.stringify(changed)}: ${status} ${JSON.stringify(body)}`)
      }
    const call = interception('cor-junk', { route: ROUTE, action: MARK, at: AT })
    const decision = () => ({ draft: draftNow(), route: ROUTE, previous: null, supersessionKey: MARK, mayJoin: false })
    const named = { host: 'pod', version: '1', policyName: 'default', configHash: HASH, policyHash: HASH }
    const memberId = `mem_${'0'.repeat(32)}`
    const member = { memberId, ...named, tier: 'sidecar', mode: null, startedAt: AT, stoppedAt: null, lag: null }
    for (const [path, body] of [
      ['/hub/v1/decisions', decision],
      ['/hub/v1/calls', () => ({ values: [[call]] })],
      ['/hub/v1/heartbeat', () => ({ member })],
    ] as const)
      for (let index = 0, { length } = variantsOf(body()); index < length; index += 1) {
        const changed = Object(variantsOf(body())[index])
        // Members are stored a second later: those of team-a stay as they are.
        const answer = await ask(hub.url, path, path.endsWith('heartbeat') ? b : a, changed)
        assert.ok(answer.status < 500, `${path} ${JSON.stringify(changed)}: ${JSON.stringify(answer)}`)
      }
    assert.equal((await fetch(`${admin}/readyz`)).status, 200)
    for (const path of ['approvals', 'baselines', 'ledger', 'ledger?records=calls', 'fleet'])
      assert.equal((await fetch(`${api}/api/v1/${path}`, { headers })).status, 200, path)
  })

  test('no secret of the installation is made of what a sidecar sends', async () => {
    const asked: string[] = []
    const store = {
      uses: {
        salt: (fresh: string) => {
          asked.push(fresh)
          return Promise.resolve(fresh)
        },
      },
    }
    const row: Row = HUB_METHODS['uses.salt']
    assert.ok('run' in row)
    await Reflect.apply(row.run, undefined, [{ store, secret: (of: string) => of }, 'known'])
    assert.equal(asked.includes('known'), false)
  })

  test('a sidecar of another tenant reads and changes none of them, by any method', async () => {
    const own = await makeRows(hub, a)
    const snapshot = () => rowsOf(hub.url, a, own)
    const kept = await snapshot()
    assert.ok(JSON.stringify(kept).includes(MARK))
    for (const [name, values] of Object.entries(VALUES))
      for (const tenant of ['team-a', 'local']) {
        const { status, body } = await operate(hub.url, name, b, ...withoutMark(name, values(own, tenant)))
        const isNamed = JSON.stringify(values(own, tenant)).includes('team-a')
        if (isNamed && name !== 'fleet.list') assert.equal(status, 403, `${name} of team-a`)
        else assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
        const answered = JSON.stringify(body)
        assert.ok(!answered.includes(MARK) && !answered.includes('team-a'), `${name} of ${tenant} shows ${answered}`)
      }
    assert.deepEqual(await snapshot(), kept, 'nothing of team-a has changed')
  })
})

async function startHub(cluster: HubCluster): Promise<HubScene> {
  const ends: (() => unknown)[] = []
  const context = { after: (end: () => unknown) => void ends.push(end) }
  const identities = [
    { namespace: 'team-a' },
    { namespace: 'team-b' },
    { namespace: 'checks', tenant: 'team-a', role: 'verifier' },
  ]
  const routes = [{ name: 'shop', match: { path: '/' }, upstream: cluster.upstream.origin, protocol: 'mcp' }]
  return cluster.startHub(context, { identities }, { routes })
}

/** Rows of team-a: a decision, an approval request, pins, calls, an exception and so on. */
async function makeRows(hub: HubScene, a: string): Promise<Made> {
  const draft = draftNow()
  const answer = await ask(hub.url, '/hub/v1/decisions', a, {
    draft,
    route: ROUTE,
    previous: null,
    supersessionKey: MARK,
    mayJoin: false,
  })
  const decision = textAt(answer.body, 'envelope', 'decision_id')
  const key = await keyOf(hub, 'approver', 'team-a')
  const made = { decision, fingerprint: draft.fingerprint, key, approval: newApproval() }
  const rows: readonly (readonly [string, ...unknown[]])[] = [
    ['baselines.set', baseline, null],
    ['baselines.setCandidate', candidate],
    ['approvals.open', approval(made, 'local')],
    ['uses.record', { uses: [use], limit: 100, since: 0 }],
    ['windows.open', openWindow(`${MARK}-${decision}`, 'local')],
  ]
  for (const [name, ...values] of rows) assert.equal((await operate(hub.url, name, a, ...values)).status, 200, name)
  const call = interception(`cor-${decision}`, { route: ROUTE, action: MARK, decisionId: decision, at: AT })
  assert.equal((await ask(hub.url, '/hub/v1/calls', a, { values: [[call]] })).status, 200)
  return made
}

/** What team-a sees of its own rows. */
async function rowsOf(url: string, a: string, made: Made): Promise<Readonly<Record<string, unknown>>> {
  const reads = Object.keys(VALUES).filter((name) =>
    /\.(?:by\w+|list\w*|stamp|candidates?|state|steps|used|of)$/.test(name),
  )
  const rows: Record<string, unknown> = {}
  for (const name of reads) rows[name] = (await operate(url, name, a, ...(VALUES[name]?.(made, 'team-a') ?? []))).body
  return rows
}

/** What the other tenant writes is its own, without the mark; what it asks for are the names of team-a. */
function withoutMark(name: string, values: readonly unknown[]): readonly unknown[] {
  const isWrite = ['baselines.set', 'baselines.setCandidate', 'approvals.open', 'uses.record', 'windows.open'].includes(
    name,
  )
  if (!isWrite) return values
  const own = listAt(JSON.parse(JSON.stringify({ values }).replaceAll(MARK, 'own')), 'values')
  return own.map((value) => {
    const content = at(value, 'content')
    return typeof value === 'object' && typeof content === 'string'
      ? { ...value, digest: contractDigest(content) }
      : value
  })
}

const JUNK: readonly unknown[] = [
  '',
  'x',
  '\u0000',
  -1,
  1.5,
  1e300,
  null,
  [],
  [5],
  ['x'],
  {},
  { count: 'x', groups: 'x' },
]

/** The values with junk in the place of one of them, at any depth. */
function junkIn(values: readonly unknown[]): readonly (readonly unknown[])[] {
  return values.flatMap((value, index) => variantsOf(value).map((variant) => values.with(index, variant)))
}

function variantsOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return JUNK
  if (Array.isArray(value)) return [...JUNK, ...junkIn(value)]
  const members = Object.entries(value).flatMap(([name, member]) =>
    variantsOf(member).map((variant) => ({ ...value, [name]: variant })),
  )
  return [...JUNK, ...members]
}

/** The stream of changes has no end, so its body is not read. */
async function statusOf(url: string, path: string, credential: string, body?: object): Promise<number> {
  const ending = new AbortController()
  const answer = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    signal: ending.signal,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const { status } = answer
  ending.abort()
  return status
}
