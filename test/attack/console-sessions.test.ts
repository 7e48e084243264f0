/** Sign-in to the console: copies of a cookie are worth nothing after the sign-out or a revocation, at any gateway; no link leads away. */
import assert from 'node:assert/strict'
import { after, before, suite, test, type TestContext } from 'node:test'
import { nextPath } from '../../gateway/console/serving/sign-in.ts'
import { startTestGateway, TEST_KEY, type TestGateway } from '../fakes/gateway.ts'
import { visitorWith } from '../fakes/console-visitor.ts'
import { keyOf, startHubCluster } from '../fakes/hub-scene.ts'
import { postgresMissing, startPostgres, type PostgresServer } from '../fakes/postgres-server.ts'
import { listAt, textAt } from '../json.ts'

type Start = (t: TestContext) => Promise<readonly TestGateway[]>

const KEY = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' }

/** Sign-in happens at the first gateway, everything else at the last: with one, both are the same. */
function holds(start: Start): void {
  test('a copy of a cookie is worth nothing after the sign-out; other sessions of the key go on', async (t) => {
    const gateways = await start(t)
    const urls = gateways.map(({ addresses }) => addresses.api)
    const [first = '', last = ''] = [urls[0], urls.at(-1)]
    const [visitor, other] = [await visitorWith(first, TEST_KEY), await visitorWith(first, TEST_KEY)]
    const open = (one: typeof visitor, url: string) =>
      fetch(`${url}/console`, { headers: { cookie: one.cookie }, redirect: 'manual' })
    for (const url of urls) assert.equal((await open(visitor, url)).status, 200)
    assert.equal((await visitor.post('/console/sign-out', {})).status, 303)
    for (const url of [first, last]) {
      assert.equal((await open(visitor, url)).status, 303)
      assert.equal((await open(other, url)).status, 200)
    }
    assert.equal((await fetch(`${last}/api/v1/whoami`, { headers: KEY })).status, 200, 'the key itself stays')
  })

  test('an administrator ends one session, and its key is not a credential', async (t) => {
    const gateways = await start(t)
    const [first = '', last = ''] = [gateways[0]?.addresses.api, gateways.at(-1)?.addresses.api]
    const visitor = await visitorWith(first, TEST_KEY)
    const keys = async () => listAt(await (await fetch(`${last}/api/v1/keys`, { headers: KEY })).json(), 'keys')
    const sessions = (await keys()).filter((key) => textAt(key, 'name').endsWith('(console)'))
    const [session] = sessions
    assert.equal(sessions.length, 1)
    assert.match(textAt(session, 'owner'), /^console:v:[0-9a-f]{12}$/)
    assert.equal(textAt(session, 'role'), 'viewer')
    assert.equal(textAt(session, 'plan'), 'console-session')
    assert.match(await (await visitor.get('/console/keys?state=sessions')).text(), /bootstrap \(console\)/)
    assert.doesNotMatch(await (await visitor.get('/console/keys')).text(), /bootstrap \(console\)/)
    const ended = await fetch(`${last}/api/v1/keys/${textAt(session, 'id')}`, { method: 'DELETE', headers: KEY })
    assert.equal(ended.status, 200)
    assert.equal((await visitor.get('/console')).status, 303)
  })
}

suite('sessions of one gateway', () => {
  holds(async (t) => [await startTestGateway(t)])
})

suite('sessions of several gateways on one PostgreSQL', { skip: postgresMissing() }, () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.stop())
  holds(async (t) => {
    const store = { url: await server.database() }
    return [await startTestGateway(t, { store }), await startTestGateway(t, { store })]
  })
})

test('a sidecar, which cannot end sessions, begins none', async (t) => {
  const cluster = await startHubCluster()
  t.after(() => cluster.close())
  const hub = await cluster.startHub(t)
  const { gateway } = await cluster.startSidecar(t, hub.url)
  const key = await keyOf(hub, 'admin', 'team-a')
  const { api: url } = gateway.addresses
  const form = { method: 'POST', headers: { origin: url }, body: new URLSearchParams({ key }) }
  const answer = await fetch(`${url}/console/sign-in`, form)
  assert.equal(answer.status, 403)
  assert.equal(answer.headers.get('set-cookie'), null)
  assert.match(await answer.text(), /at the hub/)
})

/** What a link states as the page after the sign-in, and the page that the person goes to. */
const NEXT_PAGES: readonly (readonly [given: string | null, page: string])[] = [
  [null, '/console'],
  ['/console', '/console'],
  ['/console?x=1', '/console?x=1'],
  ['/console/approvals?state=pending', '/console/approvals?state=pending'],
  ['/console/ledger?route=a/../b', '/console/ledger?route=a/../b'],
  ['/console/a/../approvals', '/console/a/../approvals'],
  ['/console/../openapi.json', '/console'],
  ['/console/a/../../api/v1/ledger', '/console'],
  ['/console/%2e%2e/openapi.json', '/console'],
  ['/console/.%2E/openapi.json', '/console'],
  ['/console/%2E./openapi.json?x', '/console'],
  ['/console/a/../sign-out', '/console'],
  ['/console/./sign-out', '/console'],
  ['/console/sign-out', '/console'],
  ['/consolex', '/console'],
  ['//evil.example/console', '/console'],
  ['https://evil.example/console', '/console'],
  [String.raw`/console\..\evil`, '/console'],
  ['/console/\t../x', '/console'],
]

test('no link leads out of the console after the sign-in', () => {
  assert.deepEqual(
    NEXT_PAGES.map(([given]) => nextPath(given)),
    NEXT_PAGES.map(([, page]) => page),
  )
})
