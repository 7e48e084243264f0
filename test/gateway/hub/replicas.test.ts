/** Hubs behind one address, on one PostgreSQL: their sidecars go on when one is killed, and receive changes that another made. */
import assert from 'node:assert/strict'
import { after, before, suite, test, type TestContext } from 'node:test'
import { metricOf, startHubProcess, type HubProcess } from '../../fakes/hub-process.ts'
import { keyAt, postTo, startHubCluster, type HubCluster } from '../../fakes/hub-scene.ts'
import { postgresMissing, startPostgres, type PostgresServer } from '../../fakes/postgres-server.ts'
import { until as untilWithin } from '../../fakes/until.ts'
import { startBalancer } from '../../fakes/web-servers.ts'
import { textAt } from '../../json.ts'

/** A machine that does much else starts processes slowly. */
const until: typeof untilWithin = (isTrue, what) => untilWithin(isTrue, what, 60_000)

suite('hubs behind one address', { skip: postgresMissing() }, () => {
  let cluster: HubCluster
  let server: PostgresServer
  before(async () => {
    cluster = await startHubCluster()
    server = await startPostgres()
  })
  after(async () => {
    await cluster.close()
    await server.stop()
  })

  /** Null, with the test skipped: there is no load balancer. */
  const startHubs = async (t: TestContext, store: object = {}) => {
    const balancer = await startBalancer(t)
    if (balancer === null) return null
    const settings = { store: { url: await server.database(), ...store } }
    const hubs = [await startHubProcess(cluster, settings), await startHubProcess(cluster, settings)] as const
    t.after(() => Promise.all(hubs.map((hub) => hub.kill())))
    await balancer.add('s1', hubs[0].url)
    await balancer.add('s2', hubs[1].url)
    return { balancer, hubs }
  }

  test('bring a revocation at one to a sidecar of the other, within the bound that the answer names', async (t) => {
    const scene = await startHubs(t)
    if (scene === null) return
    const { hubs } = scene
    const sidecar = await cluster.startSidecar(t, scene.balancer.url)
    assert.equal(await sidecar.call(), 200)
    const approver = await keyAt(hubs[0].api(), 'approver', 'team-a')
    for (const round of [1, 2, 3]) {
      // A sidecar that hears nothing for long, as on a busy machine, connects again and may come to the other hub.
      const [listening, other] = await byStream(hubs)
      const used = await newestDecision(listening, approver)
      const answer = await revoke(other, approver, used)
      assert.equal(answer.headers.get('preflight-in-force-within'), '1')
      const began = performance.now()
      await until(async () => {
        assert.equal(await sidecar.call(), 200)
        return (await newestDecision(listening, approver)) !== used
      }, 'a decision in place of the revoked one')
      t.diagnostic(`revocation ${round} took ${Math.round(performance.now() - began)} ms to reach the sidecar`)
    }
  })

  test('serve a sidecar whose hub is killed, and it receives changes that it missed', async (t) => {
    const scene = await startHubs(t)
    if (scene === null) return
    const { balancer, hubs } = scene
    const sidecar = await cluster.startSidecar(t, balancer.url)
    assert.equal(await sidecar.call(), 200)
    const [killed, other] = await byStream(hubs)
    const approver = await keyAt(other.api(), 'approver', 'team-a')
    const used = await newestDecision(other, approver)
    await killed.kill()
    // The address still leads to the killed hub: every second request gets no answer.
    await revoke(other, approver, used)
    await until(
      async () => (await newestDecision(other, approver)) !== used || !(await isServed(sidecar)),
      'not reused',
    )
    // A sidecar that has not noticed yet that its hub is gone may use the decision for as long as the answer named.
    const forwarded = cluster.upstream.requests.length
    await until(() => isServed(sidecar, '/pets/7'), 'a new decision is made while half of the hubs is gone')
    await balancer.remove(nameOf(hubs, killed))
    await until(async () => (await metricOf(other, 'preflight_hub_streams')) === 1, 'the stream leads to the other hub')
    for (let count = 0; count < 20; count += 1) assert.equal(await sidecar.call(), 200)
    const receipts = cluster.upstream.requests.slice(forwarded).map(({ headers }) => headers['preflight-receipt'])
    assert.ok(receipts.length >= 20 && receipts.every((receipt) => !decisionIn(receipt).includes(used)))
    await killed.start()
    await balancer.add(nameOf(hubs, killed), killed.url)
    for (const hub of hubs) {
      const latest = await newestDecision(hub, approver)
      await revoke(hub, approver, latest)
      await until(async () => {
        for (const path of ['/pets', '/pets/7']) assert.equal(await sidecar.call(path), 200)
        return (await newestDecision(hub, approver)) !== latest
      }, 'a revocation at each hub is in force')
    }
  })

  test('lose no record of a call while one of them is killed again and again', async (t) => {
    const scene = await startHubs(t)
    if (scene === null) return
    const { balancer, hubs } = scene
    const sidecar = await cluster.startSidecar(t, balancer.url, { namespace: 'team-r' })
    const forwarded = cluster.upstream.requests.length
    const kills = { isOver: false }
    const calling = (async () => {
      for (let count = 0; !kills.isOver; count += 1) await sidecar.call(`/pets/${count % 40}`)
    })()
    for (let round = 0; round < 3; round += 1) {
      const [first, second] = hubs
      const hub = round % 2 === 0 ? first : second
      await hub.kill()
      const reached = cluster.upstream.requests.length
      await until(() => cluster.upstream.requests.length > reached + 20, 'calls are served by the other hub')
      await hub.start()
    }
    kills.isOver = true
    await calling
    const sent = cluster.upstream.requests
      .slice(forwarded)
      .map(({ headers }) => decisionIn(headers['preflight-receipt']))
    const approver = await keyAt(hubs[0].api(), 'approver', 'team-r')
    const decided = await entriesOf(hubs[0], approver)
    const ids = new Set(decided.map((entry) => textAt(entry, 'decision_id')))
    assert.deepEqual(
      sent.filter((id) => !ids.has(id)),
      [],
      'every receipt that left has its row',
    )
    const wanted = new Set(
      cluster.upstream.requests.slice(forwarded).map(({ headers }) => String(headers['x-correlation-id'])),
    )
    await until(async () => {
      const calls = await entriesOf(hubs[0], approver, 'records=calls')
      for (const call of calls) wanted.delete(textAt(call, 'correlation_id'))
      return wanted.size === 0
    }, 'every forwarded call has its record')
  })
})

/** The hub that pushes changes to the only sidecar, and the other one. */
async function byStream(hubs: readonly [HubProcess, HubProcess]): Promise<readonly [HubProcess, HubProcess]> {
  const [first, second] = hubs
  await until(async () => (await streams(first)) + (await streams(second)) === 1, 'the sidecar receives changes')
  return (await streams(first)) === 1 ? [first, second] : [second, first]
}

const streams = (hub: HubProcess) => metricOf(hub, 'preflight_hub_streams')

function nameOf([first]: readonly [HubProcess, HubProcess], hub: HubProcess) {
  return hub === first ? 's1' : 's2'
}

async function isServed(sidecar: { call(path?: string): Promise<number> }, path?: string): Promise<boolean> {
  const status = await sidecar.call(path)
  assert.ok(status === 200 || status === 503, `it is served or refused, not ${status}`)
  return status === 200
}

const revoke = (hub: HubProcess, key: string, decision: string) =>
  postTo(hub.api(), '/api/v1/receipts/revoke', key, { decision_id: decision, reason: 'wrong' })

/** All entries of a tenant, newest first. */
async function entriesOf(hub: HubProcess, key: string, query = ''): Promise<readonly unknown[]> {
  const headers = { authorization: `Bearer ${key}`, accept: 'application/x-ndjson' }
  const text = await (await fetch(`${hub.api()}/api/v1/ledger?${query}`, { headers })).text()
  return text.split('\n').flatMap((line): unknown[] => (line === '' ? [] : [JSON.parse(line)]))
}

async function newestDecision(hub: HubProcess, key: string): Promise<string> {
  return textAt((await entriesOf(hub, key))[0], 'decision_id')
}

/** The decision of a receipt that arrived at the upstream. */
function decisionIn(receipt: string | readonly string[] | undefined): string {
  const payload = String(receipt).split('.')[1] ?? ''
  return textAt(JSON.parse(Buffer.from(payload, 'base64url').toString()), 'jti')
}
