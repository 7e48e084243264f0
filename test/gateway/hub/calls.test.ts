/** Call records of sidecars: the hub refuses single records, and the sidecar drops those and keeps the others. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { after, before, suite, test, type TestContext } from 'node:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectToHub } from '../../../gateway/store/hub/connection.ts'
import { openHubStore, type HubStore, type RefusedCallRecord } from '../../../gateway/store/hub/store.ts'
import { hubChanges } from '../../../gateway/store/hub/stream.ts'
import { api, ask, keyOf, startHubCluster, type HubCluster, type HubScene } from '../../fakes/hub-scene.ts'
import { interception } from '../../fakes/interception.ts'
import { listening } from '../../fakes/listening.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

const row = (id: string, changes: object = {}) => ({ ...interception(id, { at: Date.now() }), ...changes })
/** A record that no hub takes. */
const overlong = () => row('c'.repeat(300))

let cluster: HubCluster
before(async () => {
  cluster = await startHubCluster()
})
after(() => cluster.close())

async function openSidecar(
  t: TestContext,
  url: string,
  calls: 'batched' | 'durable',
): Promise<{ readonly store: HubStore['store']; readonly refused: RefusedCallRecord[] }> {
  const file = join(cluster.folder() + '-token')
  writeFileSync(file, await cluster.token('team-a'))
  const connection = connectToHub(url, { token_file: file, timeout: 20, max_age: 0 }, {}, Date.now)
  const changes = hubChanges({ connection, bound: 1, onLive: () => {} })
  const refused: RefusedCallRecord[] = []
  const { store } = openHubStore({
    connection,
    changes,
    calls,
    flushMilliseconds: 5,
    maxAge: 0,
    onFault: undefined,
    onRefusedCall: (one) => void refused.push(one),
    now: Date.now,
  })
  t.after(() => store.close())
  return { store, refused }
}

async function recorded(hub: HubScene): Promise<readonly string[]> {
  const viewer = await keyOf(hub, 'viewer', 'team-a')
  const entries = listAt(await api(hub, '/api/v1/ledger?records=calls', viewer), 'entries')
  return entries.map((entry) => textAt(entry, 'correlation_id')).toSorted()
}

suite('call records at a hub', () => {
  test('are refused one by one: the others of the batch are durable', async (t) => {
    const hub = await cluster.startHub(t)
    const a = await cluster.token('team-a')
    const batch = [row('c1'), { tenant: 'local' }, row('c2', { tenant: 'team-b' }), null, overlong(), row('c3')]
    const { status, body } = await ask(hub.url, '/hub/v1/calls', a, { values: [batch] })
    assert.deepEqual([status, at(body, 'value')], [200, 2])
    assert.deepEqual(
      listAt(body, 'refused').map((one) => at(one, 'index')),
      [1, 2, 3, 4],
    )
    assert.deepEqual(await recorded(hub), ['c1', 'c3'])
  })

  test('that the hub refuses are dropped and reported by the sidecar, and hold up no other', async (t) => {
    const hub = await cluster.startHub(t)
    const { store, refused } = await openSidecar(t, hub.url, 'batched')
    for (const one of [row('c1'), overlong(), row('c2')]) await store.calls.record(one)
    await until(async () => (await recorded(hub)).length === 2, 'the others are recorded')
    await store.calls.record(row('c3'))
    await until(async () => (await recorded(hub)).length === 3, 'later ones are recorded')
    assert.deepEqual(await recorded(hub), ['c1', 'c2', 'c3'], 'each once')
    assert.deepEqual(
      refused.map(({ correlationId }) => correlationId),
      ['c'.repeat(300)],
    )
    assert.match(refused[0]?.reason ?? '', /^\/correlationId /)
  })

  test('that must be durable before a call refuse the call when the hub refuses them', async (t) => {
    const hub = await cluster.startHub(t)
    const { store, refused } = await openSidecar(t, hub.url, 'durable')
    await assert.rejects(async () => store.calls.record(overlong()), { code: 'STORE_UNAVAILABLE' })
    await store.calls.record(row('c1'))
    assert.deepEqual([refused.length, await recorded(hub)], [1, ['c1']])
  })

  test('of a batch that is refused as a whole are sent by halves, until only what cannot be sent is left', async (t) => {
    const taken: unknown[] = []
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const text = (await request.setEncoding('utf8').toArray()).join('')
      const [batch] = text === '' ? [] : listAt(JSON.parse(text), 'values')
      const ids = Array.isArray(batch) ? batch.map((one) => textAt(one, 'correlationId')) : []
      const isRefused = ids.includes('large')
      if (!isRefused) taken.push(...ids)
      response.writeHead(isRefused ? 413 : 200, { 'content-type': 'application/json' })
      const body = isRefused ? { error: 'PAYLOAD_TOO_LARGE', message: 'large' } : { value: 1, refused: [] }
      response.end(JSON.stringify(body))
    }
    const serve: RequestListener = (request, response) => void answer(request, response)
    const { store, refused } = await openSidecar(t, await listening(t, createServer(serve)), 'batched')
    const ids = ['c1', 'c2', 'large', 'c3', 'c4', 'c5']
    await store.calls.recordAll(ids.map((id) => row(id)))
    assert.deepEqual(taken, ['c1', 'c2', 'c3', 'c4', 'c5'])
    assert.deepEqual(
      refused.map(({ correlationId }) => correlationId),
      ['large'],
    )
  })
})
