/** The call that waits, its approval and the call that rests on it are linked, each in a gateway of its own. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { petContract, startHttpUpstream } from '../../fakes/http-upstream.ts'
import { api, changedContract, keyOf, startHubCluster, startSilently } from '../../fakes/hub-scene.ts'
import { FREE_PORTS, TEST_KEY } from '../../fakes/gateway.ts'
import { startOtlpReceiver, type OtlpReceiver } from '../../fakes/otlp-receiver.ts'
import { postgresMissing, startPostgres } from '../../fakes/postgres-server.ts'
import { listAt, textAt } from '../../json.ts'

const SERVER = 2
const POLICY = join(import.meta.dirname, '../../fakes/asking-pack.yaml')
const CONTRACT = { baseline: { file: petContract() }, current: { file: changedContract() }, refresh: 0 }

const newTrace = (): string => randomBytes(16).toString('hex')

async function statusOf(origin: string, trace: string): Promise<number> {
  const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` }
  return (await fetch(`${origin}/pets`, { headers })).status
}

/** Spans of requests with a link, by their trace: the traces that they link to, each with its relation. */
function linksIn({ spans }: OtlpReceiver, trace: string): readonly (readonly [string, unknown])[] {
  const linked = spans.filter(({ kind, traceId }) => kind === SERVER && traceId === trace)
  return linked.flatMap(({ links }) => links.map(({ traceId, relation }) => [traceId, relation] as const))
}

/** The settings of a store that outlives each gateway. */
interface Kept {
  readonly name: string
  readonly missing: () => string | false
  readonly settings: (t: TestContext) => Promise<object>
}

const KEPT: readonly Kept[] = [
  {
    name: 'SQLite',
    missing: () => false,
    settings(t) {
      const directory = mkdtempSync(join(tmpdir(), 'preflight-links-'))
      t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 9 }))
      return Promise.resolve({ data_dir: directory })
    },
  },
  {
    name: 'PostgreSQL',
    missing: postgresMissing,
    async settings(t) {
      const server = await startPostgres()
      const directory = mkdtempSync(join(tmpdir(), 'preflight-links-'))
      t.after(() => server.stop())
      t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 9 }))
      return { data_dir: directory, store: { url: await server.database() } }
    },
  },
]

for (const { name, missing, settings } of KEPT) {
  test(`links lead past a restart where the store is ${name}`, { skip: missing() }, async (t) => {
    const receiver = await startOtlpReceiver()
    const upstream = await startHttpUpstream((_request, response) => response.end('good'))
    t.after(() => Promise.all([receiver.close(), upstream.close()]))
    const route = { name: 'pets', match: { path: '/' }, upstream: `${upstream.origin}/v1`, protocol: 'http' }
    const value = {
      listen: FREE_PORTS,
      policy: POLICY,
      otel: { endpoint: receiver.endpoint, protocol: 'http/json' },
      routes: [{ ...route, contract: CONTRACT }],
      ...(await settings(t)),
    }
    const [held, granted, resumed] = [newTrace(), newTrace(), newTrace()]
    const first = await startSilently(value)
    assert.equal(await statusOf(first.addresses.proxy, held), 428)
    await first.close()
    const second = await startSilently(value)
    const pending = await api({ gateway: second }, '/api/v1/approvals?state=pending', TEST_KEY)
    const [approval] = listAt(pending, 'approvals')
    const answer = await fetch(`${second.addresses.api}/api/v1/approvals/${textAt(approval, 'id')}/grant`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TEST_KEY}`,
        'content-type': 'application/json',
        traceparent: `00-${granted}-00f067aa0ba902b7-01`,
      },
      body: '{}',
    })
    assert.equal(answer.status, 200)
    await second.close()
    const third = await startSilently(value)
    assert.equal(await statusOf(third.addresses.proxy, resumed), 200)
    await third.close()
    assert.deepEqual(linksIn(receiver, held), [])
    assert.deepEqual(linksIn(receiver, granted), [[held, 'pending_call']])
    assert.deepEqual(linksIn(receiver, resumed), [
      [held, 'pending_call'],
      [granted, 'approval'],
    ])
  })
}

test('links lead from one sidecar through its hub to another', async (t) => {
  const cluster = await startHubCluster()
  const receiver = await startOtlpReceiver()
  t.after(() => Promise.all([receiver.close(), cluster.close()]))
  const settings = { otel: { endpoint: receiver.endpoint, protocol: 'http/json' } }
  const hub = await cluster.startHub(t, {}, settings)
  const options = { settings: { ...settings, policy: POLICY }, route: { contract: CONTRACT } }
  const [held, resumed] = [newTrace(), newTrace()]
  const first = await cluster.startSidecar(t, hub.url, options)
  assert.equal(await statusOf(first.gateway.addresses.proxy, held), 428)
  await first.gateway.close()
  const key = await keyOf(hub, 'approver', 'team-a')
  const [approval] = listAt(await api(hub, '/api/v1/approvals?state=pending', key), 'approvals')
  await api(hub, `/api/v1/approvals/${textAt(approval, 'id')}/grant`, key, { comment: 'seen' })
  const second = await cluster.startSidecar(t, hub.url, options)
  assert.equal(await statusOf(second.gateway.addresses.proxy, resumed), 200)
  await second.gateway.close()
  await hub.gateway.close()
  const grant = receiver.spans.find(({ name }) => name === 'POST /api/v1/approvals/{id}/grant') ?? assert.fail('a span')
  assert.deepEqual(linksIn(receiver, grant.traceId), [[held, 'pending_call']])
  assert.deepEqual(linksIn(receiver, resumed), [
    [held, 'pending_call'],
    [grant.traceId, 'approval'],
  ])
})
