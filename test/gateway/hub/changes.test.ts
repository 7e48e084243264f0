/** Changes that a hub pushes: the stream itself over a store of announcements, and real sidecars whose caches stay true. */
import assert from 'node:assert/strict'
import { createServer, request, type IncomingMessage } from 'node:http'
import { after, before, suite, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createFeed } from '../../../gateway/hub/feed.ts'
import type { Change } from '../../../gateway/store/changes.ts'
import { hubChanges } from '../../../gateway/store/hub/stream.ts'
import { run } from '../../fakes/command-io.ts'
import { startCuttingProxy } from '../../fakes/cutting-proxy.ts'
import {
  api,
  changedContract,
  keyOf,
  postTo,
  startHubCluster,
  type HubCluster,
  type HubScene,
  type SidecarScene,
} from '../../fakes/hub-scene.ts'
import { postgresMissing, startPostgres, type PostgresServer } from '../../fakes/postgres-server.ts'
import { until } from '../../fakes/until.ts'
import { listAt, textAt } from '../../json.ts'

let cluster: HubCluster
before(async () => {
  cluster = await startHubCluster()
})
after(() => cluster.close())

const refuse = () => Promise.reject(new Error('not asked'))

/** A feed over owners in memory, behind a listener whose connections can be cut. */
async function startFeed(t: TestContext, bound = 1) {
  const subscribers: ((change: Change) => void)[] = []
  const owners = { dec_a: 'team-a', dec_b: 'team-b' }
  const state = { lag: 0 as number | null, isReadable: true, callers: {} }
  const feed = createFeed({
    changes: { lag: () => state.lag, subscribe: (subscriber) => void subscribers.push(subscriber) },
    store: {
      receipts: { tenants: () => (state.isReadable ? Promise.resolve(owners) : refuse()) },
      approvals: { tenants: refuse },
      apiKeys: { byHash: refuse },
      breakGlass: { list: refuse },
    },
    bound,
    callers: () => state.callers,
    now: Date.now,
  })
  const identity = { tenant: 'team-a', role: 'sidecar', name: 'a', id: 'a', proof: 'key', endsAt: null } as const
  const server = createServer(({ headers }, response) => {
    const id = headers['last-event-id']
    feed.stream(identity, response, typeof id === 'string' ? id : null, performance.now())
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    feed.close()
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const open = (headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const taken = (answer: IncomingMessage): void => resolve(answer.on('error', () => {}))
      request({ port, host: '127.0.0.1', path: '/', headers, signal }, taken).on('error', reject).end()
    })
  const publish = (change: Change) => subscribers.forEach((subscriber) => subscriber(change))
  return { state, feed, server, open, publish, ask: () => Promise.resolve<unknown>(feed.clock()) }
}

type FeedScene = Awaited<ReturnType<typeof startFeed>>

const revoked = (id: string): Change => ({ kind: 'receipt_event', key: [id, 'revoked'] })

function follow(t: TestContext, { open, ask }: Pick<FeedScene, 'open' | 'ask'>, bound = 1) {
  const heard: Change[] = []
  const changes = hubChanges({
    connection: { stream: async (_, headers, signal) => ({ body: await open(headers, signal), ask }) },
    bound,
    onLive: () => {},
  })
  changes.subscribe((change) => void heard.push(change))
  changes.start()
  t.after(() => changes.close())
  return { changes, heard }
}

const ids = (heard: readonly Change[]) => heard.filter(({ kind }) => kind === 'receipt_event').map(({ key }) => key[0])

suite('the stream of changes', () => {
  test('has the changes of the own tenant, and proofs that keep answers fresh', async (t) => {
    const scene = await startFeed(t)
    const { changes, heard } = follow(t, scene)
    await until(() => changes.lag() !== null, 'a proof arrives')
    const mark = changes.mark(changes.begin(0), 0)
    assert.ok(changes.isFresh(mark, 0))
    for (const id of ['dec_b', 'dec_a', 'dec_b']) scene.publish(revoked(id))
    await until(() => ids(heard).length > 0, 'the change arrives')
    assert.deepEqual(ids(heard), ['dec_a'])
    assert.ok(changes.isFresh(mark, 0), 'what a change is about is the business of the cache')
  })

  test('marks nothing that was read while a change arrived', async (t) => {
    const scene = await startFeed(t)
    const { changes, heard } = follow(t, scene)
    await until(() => changes.lag() !== null, 'a proof arrives')
    const begin = changes.begin(0)
    scene.publish(revoked('dec_a'))
    await until(() => ids(heard).length > 0, 'the change arrives')
    assert.ok(!changes.isFresh(changes.mark(begin, 0), 0))
  })

  test('is fresh no longer than the bound after its last proof', async (t) => {
    const scene = await startFeed(t, 0.5)
    const { changes } = follow(t, scene, 0.5)
    await until(() => changes.lag() !== null, 'a proof arrives')
    const mark = changes.mark(changes.begin(0), 0)
    scene.state.lag = null
    await until(() => !changes.isFresh(mark, 0), 'the hub hears nothing itself')
    scene.state.lag = 10_000
    await pause(300)
    assert.ok(!changes.isFresh(mark, 0), 'a proof that is old when it is sent is not a proof')
    scene.state.lag = 0
    await until(() => changes.isFresh(mark, 0), 'nothing was missed')
  })

  test('is fresh after a slow beginning, once the clocks were compared', async (t) => {
    const scene = await startFeed(t)
    const open: FeedScene['open'] = async (...given) => {
      await pause(1500)
      return scene.open(...given)
    }
    const { changes } = follow(t, { ask: scene.ask, open })
    await until(() => changes.lag() !== null, 'a proof is of now')
  })

  test('is begun anew while its proofs are too old and only another clock answers', async (t) => {
    const scene = await startFeed(t)
    let opened = 0
    const open: FeedScene['open'] = async (...given) => {
      opened += 1
      if (opened === 1) await pause(1500)
      return scene.open(...given)
    }
    const { changes } = follow(t, { ask: () => Promise.resolve({ epoch: 'other', at: 0 }), open })
    await pause(2500)
    assert.equal(changes.lag(), null, 'the clock of another hub counts for nothing')
    await until(() => changes.lag() !== null, 'the next stream begins soon')
    assert.equal(opened, 2)
  })

  test('goes on without a gap after it was cut', async (t) => {
    const scene = await startFeed(t)
    const { changes, heard } = follow(t, scene)
    await until(() => changes.lag() !== null, 'a proof arrives')
    const mark = changes.mark(changes.begin(0), 0)
    scene.server.closeAllConnections()
    await until(() => !changes.isFresh(mark, 0), 'a cut stream proves nothing')
    for (let count = 0; count < 20; count += 1) scene.publish(revoked(count % 2 === 0 ? 'dec_a' : 'dec_b'))
    await until(() => ids(heard).length === 10, 'every missed change arrives once')
    await until(() => changes.isFresh(mark, 0), 'what was read before is fresh again')
  })

  test('says so when it cannot go on: another hub, or too many missed', async (t) => {
    const [one, other] = [await startFeed(t), await startFeed(t)]
    let scene = one
    const { changes, heard } = follow(t, { ask: () => scene.ask(), open: (...given) => scene.open(...given) })
    await until(() => changes.lag() !== null, 'a proof arrives')
    const mark = changes.mark(changes.begin(0), 0)
    heard.length = 0
    scene = other
    one.feed.close()
    await until(() => heard.length === 3, 'what has a state of its own reads it again')
    await until(() => changes.lag() !== null, 'a proof arrives')
    assert.ok(!changes.isFresh(mark, 0), 'nothing that was read before is fresh')
    const next = changes.mark(changes.begin(0), 0)
    other.server.closeAllConnections()
    for (let count = 0; count < 25_000; count += 1) other.publish(revoked('dec_b'))
    await until(() => heard.length >= 6, 'too many were missed')
    assert.ok(!changes.isFresh(next, 0))
  })

  test('tells everybody to look up what they use when owners cannot be read', async (t) => {
    const scene = await startFeed(t)
    const { changes, heard } = follow(t, scene)
    await until(() => changes.lag() !== null, 'a proof arrives')
    const mark = changes.mark(changes.begin(0), 0)
    scene.state.isReadable = false
    scene.publish(revoked('dec_b'))
    await until(() => !changes.isFresh(mark, 0), 'nothing that was read before is fresh')
    assert.ok(!ids(heard).includes('dec_b'), 'no id of another tenant is sent')
  })

  test('says that changes were missed before any later proof, and without a look at the store', async (t) => {
    const scene = await startFeed(t)
    const { changes } = follow(t, scene)
    await until(() => changes.lag() !== null, 'a proof arrives')
    const mark = changes.mark(changes.begin(0), 0)
    const missedAt = performance.now()
    scene.state.isReadable = false
    scene.publish({ kind: 'approval', key: [] })
    await until(() => (changes.proven()?.to ?? 0) > missedAt, 'a later proof arrives')
    assert.ok(!changes.isFresh(mark, 0), 'nothing that was read before is fresh')
    assert.ok((changes.proven()?.from ?? 0) > missedAt, 'what was missed is in no proven period')
    assert.ok(changes.isFresh(changes.mark(changes.begin(0), 0), 0))
  })

  test('ends when the settings of callers change, so that each proves again who it is', async (t) => {
    const scene = await startFeed(t)
    let opened = 0
    const open: FeedScene['open'] = (...given) => {
      opened += 1
      return scene.open(...given)
    }
    const { changes } = follow(t, { ask: scene.ask, open })
    await until(() => changes.lag() !== null, 'a proof arrives')
    scene.state.callers = {}
    await until(() => opened === 2, 'the stream is opened again')
  })

  test('does not wait for a caller that reads nothing', async (t) => {
    const scene = await startFeed(t)
    const stalled = await scene.open({}, AbortSignal.timeout(60_000))
    stalled.on('error', () => {})
    stalled.pause()
    const { changes } = follow(t, scene)
    await until(() => changes.lag() !== null, 'a proof arrives')
    const key = ['dec_a', 'x'.repeat(10_000)]
    for (let round = 0; scene.feed.count() > 1 && round < 500; round += 1) {
      for (let count = 0; count < 10; count += 1) scene.publish({ kind: 'receipt_event', key })
      await pause(5)
    }
    assert.equal(scene.feed.count(), 1, 'it was cut off')
    stalled.destroy()
  })
})

/** Milliseconds from an act to the first time that a condition holds, as the caller of a sidecar sees it. */
async function timeUntil(condition: () => Promise<boolean>): Promise<number> {
  const began = performance.now()
  await until(condition, 'the change is in force')
  return performance.now() - began
}

const newest = async (hub: HubScene, key: string) =>
  textAt(listAt(await api(hub, '/api/v1/ledger', key), 'entries')[0], 'decision_id')

for (const store of ['SQLite', 'PostgreSQL'] as const)
  suite(`sidecars of a hub over ${store}`, { skip: store === 'PostgreSQL' && postgresMissing() }, () => {
    let settings: object = {}
    let server: PostgresServer | null = null
    before(async () => {
      if (store === 'SQLite') return
      server = await startPostgres()
      settings = { store: { url: await server.database() } }
    })
    after(() => server?.stop())

    test('act on revocations, promotions and key changes within the bound, and ask nothing in between', async (t) => {
      const hub = await cluster.startHub(t, {}, settings)
      const sidecar = await cluster.startSidecar(t, hub.url)
      assert.equal(await sidecar.call(), 200)
      await until(() => asksNothing(sidecar), 'reuses of a decision ask the hub nothing')
      const approver = await keyOf(hub, 'approver', 'team-a')
      const first = await newest(hub, approver)
      const revocation = { decision_id: first, reason: 'wrong' }
      const answer = await fetch(`${hub.gateway.addresses.api}/api/v1/receipts/revoke`, {
        method: 'POST',
        headers: { authorization: `Bearer ${approver}`, 'content-type': 'application/json' },
        body: JSON.stringify(revocation),
      })
      assert.equal(answer.headers.get('preflight-in-force-within'), '1')
      const took = await timeUntil(async () => {
        await sidecar.call()
        return (await newest(hub, approver)) !== first
      })
      t.diagnostic(`a revocation took ${Math.round(took)} ms to reach the calls of a sidecar`)
      const before = await keyIds(hub)
      assert.deepEqual(await keyIds(sidecar), before)
      await run(['keys', 'rotate', '--overlap', '0', '--data-dir', hub.data])
      await until(async () => (await keyIds(hub)).length > before.length, 'the hub has its new key')
      const keysTook = await timeUntil(async () => (await keyIds(sidecar)).length > before.length)
      t.diagnostic(`a new key took ${Math.round(keysTook)} ms from the hub to its sidecar`)
      const replaced = await newest(hub, approver)
      const [revoked = ''] = before
      const { code, stderr } = await run(['keys', 'revoke', revoked, '--data-dir', hub.data])
      assert.equal(code, 0, stderr)
      await until(async () => {
        await sidecar.call()
        return (await newest(hub, approver)) !== replaced
      }, 'a decision whose key is revoked is made anew')
    })

    test('state the time since they last received changes, and that they receive none', async (t) => {
      const hub = await cluster.startHub(t, {}, settings)
      const sidecar = await cluster.startSidecar(t, hub.url)
      const lag = async (): Promise<number> => {
        const text = await (await fetch(`${sidecar.gateway.addresses.admin}/metrics`)).text()
        return Number(/^preflight_store_listener_lag_seconds (\S+)/m.exec(text)?.[1])
      }
      await until(async () => (await lag()) > 0, 'proofs arrive')
      await hub.gateway.close()
      await until(async () => Number.isNaN(await lag()), 'proofs are missing')
    })

    test('that are pushed a promotion use the accepted contract', async (t) => {
      const hub = await cluster.startHub(t, {}, settings)
      const namespace = 'team-p'
      const first = await cluster.startSidecar(t, hub.url, { namespace })
      assert.equal(await first.call(), 200)
      const second = await cluster.startSidecar(t, hub.url, { namespace, contract: changedContract() })
      assert.equal(await second.call(), 403)
      const approver = await keyOf(hub, 'approver', namespace)
      const [view] = listAt(await api(hub, '/api/v1/baselines', approver), 'baselines')
      const acceptance = { digest: textAt(view, 'candidate', 'digest'), comment: 'callers are adapted' }
      const path = `/api/v1/baselines/${namespace}:pets/promote`
      assert.equal(textAt(await api(hub, path, approver, acceptance), 'baseline', 'source'), 'promotion')
      const took = await timeUntil(async () => (await second.call('/pets?needed=1')) === 200)
      t.diagnostic(`a promotion took ${Math.round(took)} ms to reach the calls of a sidecar`)
    })
  })

test(
  'sidecars of a hub that heard nothing of its database look up what they use',
  { skip: postgresMissing() },
  async (t) => {
    const server = await startPostgres()
    t.after(() => server.stop())
    const url = await server.database()
    const listenUrl = new URL(url)
    const network = await startCuttingProxy(Number(listenUrl.port))
    t.after(() => network.close())
    listenUrl.port = String(network.port)
    const hub = await cluster.startHub(t, {}, { store: { url, listen_url: listenUrl.href } })
    const other = await cluster.startHub(t, {}, { store: { url } })
    const sidecar = await cluster.startSidecar(t, hub.url)
    const hears = async (): Promise<boolean> => {
      const text = await (await fetch(`${sidecar.gateway.addresses.admin}/metrics`)).text()
      return !Number.isNaN(Number(/^preflight_store_listener_lag_seconds (\S+)/m.exec(text)?.[1]))
    }
    assert.equal(await sidecar.call(), 200)
    await until(() => asksNothing(sidecar), 'reuses of a decision ask the hub nothing')
    const approver = await keyOf(other, 'approver', 'team-a')
    const used = await newest(other, approver)
    network.cut = 'all'
    await until(async () => !(await hears()), 'the hub hears nothing')
    await postTo(other.gateway.addresses.api, '/api/v1/receipts/revoke', approver, {
      decision_id: used,
      reason: 'wrong',
    })
    network.heal()
    await until(hears, 'the hub hears its database again')
    assert.equal(await sidecar.call(), 200)
    assert.notEqual(await newest(other, approver), used, 'the revoked decision is not used')
  },
)

/** Whether calls of more than the bound look nothing up at the hub. */
async function asksNothing(sidecar: SidecarScene): Promise<boolean> {
  const before = await lookUps(sidecar)
  for (let count = 0; count < 13; count += 1) {
    assert.equal(await sidecar.call(), 200)
    await pause(100)
  }
  return (await lookUps(sidecar)) === before
}

async function lookUps({ gateway }: SidecarScene): Promise<number> {
  const text = await (await fetch(`${gateway.addresses.admin}/metrics`)).text()
  const found = text.matchAll(
    /^preflight_store_seconds_count\{operation="(?:receipts\.state|baselines\.stamp|baselines\.byRoute)"\} (\d+)/gm,
  )
  return [...found].reduce((sum, [, count]) => sum + Number(count), 0)
}

async function keyIds({ gateway }: Pick<HubScene, 'gateway'>): Promise<readonly string[]> {
  const published: unknown = await (await fetch(`${gateway.addresses.api}/.well-known/jwks.json`)).json()
  return listAt(published, 'keys').map((key) => textAt(key, 'kid'))
}
