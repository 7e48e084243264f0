/** The fleet: gateways and sidecars report themselves, and `GET /api/v1/fleet` lists them. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { hashApiKey } from '../../../gateway/callers/api-keys.ts'
import { configHash } from '../../../gateway/fleet/reports.ts'
import { FREE_PORTS, TEST_KEY } from '../../fakes/gateway.ts'
import { api, ask, keyOf, startHubCluster, startSilently, type HubCluster } from '../../fakes/hub-scene.ts'
import { postgresMissing, startPostgres } from '../../fakes/postgres-server.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

let cluster: HubCluster
before(async () => {
  cluster = await startHubCluster()
})
after(() => cluster.close())

const fleetOf = async (gateway: Parameters<typeof api>[0], key = TEST_KEY) =>
  listAt(await api(gateway, '/api/v1/fleet', key), 'fleet')

/** What a caller of the hub says of itself. */
const member = (memberId: string) => ({
  memberId,
  host: 'h',
  version: '1',
  tier: 'sidecar',
  mode: null,
  configHash: `sha256:${'0'.repeat(64)}`,
  policyName: 'p',
  policyHash: `sha256:${'0'.repeat(64)}`,
  startedAt: 1,
  stoppedAt: null,
  lag: null,
})

const sink = (url: string) => ({ type: 'webhook', url, header: 'authorization: secret', timeout: 5 })

suite('the fleet', () => {
  test('of a gateway with its own store is that gateway', async (t) => {
    const data = cluster.folder()
    const gateway = await startSilently({ listen: FREE_PORTS, data_dir: data, tier: 'gateway' })
    t.after(() => gateway.close())
    const members = await fleetOf({ gateway })
    assert.equal(members.length, 1)
    const [member] = members
    assert.deepEqual(
      ['kind', 'tenant', 'tier', 'mode', 'state', 'proof', 'hub', 'policy', 'lag_seconds', 'stopped_at'].map((name) =>
        at(member, name),
      ),
      ['gateway', 'local', 'gateway', null, 'running', null, null, 'default', 0, null],
    )
  })

  test('of a hub has its sidecars by their proven names, and each tenant sees its own', async (t) => {
    const hub = await cluster.startHub(t)
    const a = await cluster.startSidecar(t, hub.url)
    await cluster.startSidecar(t, hub.url, { namespace: 'team-b', route: { mode: 'observe' } })
    await until(async () => (await fleetOf(hub)).length === 3, 'hub and sidecars are listed')
    const members = await fleetOf(hub)
    assert.deepEqual(
      members.map((member) => ['kind', 'tenant', 'mode', 'proof', 'state'].map((name) => at(member, name))),
      [
        ['gateway', 'local', null, null, 'running'],
        ['sidecar', 'team-a', 'enforce', 'token', 'running'],
        ['sidecar', 'team-b', 'observe', 'token', 'running'],
      ],
    )
    assert.match(textAt(members[1], 'name'), /^team-a\/pod-/)
    assert.notEqual(at(members[1], 'config_hash'), at(members[2], 'config_hash'), 'their modes differ')
    assert.equal(at(members[1], 'policy_hash'), at(members[2], 'policy_hash'))
    const viewer = await keyOf(hub, 'viewer', 'team-b')
    assert.deepEqual(
      (await fleetOf(hub, viewer)).map((member) => at(member, 'tenant')),
      ['team-b'],
    )
    const seenThere = await fleetOf(a, await keyOf(hub, 'viewer', 'team-a'))
    assert.deepEqual(
      seenThere.map((member) => at(member, 'tenant')),
      ['team-a'],
      'a sidecar shows its own tenant',
    )
    await a.gateway.close()
    const stateOfA = async () => at((await fleetOf(hub))[1], 'state')
    await until(async () => (await stateOfA()) === 'stopped', 'a sidecar that stops says so')
  })

  test('of a hub is not filled or changed by one that claims to be others', async (t) => {
    const key = 'pf_hub_0123456789abcdefghijklmnopqrstuvwxyz'
    const keys = [{ name: 'laptop', tenant: 'team-c', sha256: hashApiKey(key) }]
    const hub = await cluster.startHub(t, { keys })
    const [own] = await fleetOf(hub)
    const report = (body: object) => ask(hub.url, '/hub/v1/heartbeat', key, { member: body })
    assert.equal((await report(member(textAt(own, 'id')))).status, 200)
    for (let count = 0; count < 210; count += 1) await report(member(`mem_${count.toString(16).padStart(32, '0')}`))
    assert.equal((await report({ ...member(`mem_${'1'.repeat(32)}`), tenant: 'local' })).status, 400)
    await until(async () => (await fleetOf(hub)).length > 1, 'reports are stored')
    const members = await fleetOf(hub)
    assert.ok(members.length <= 201)
    assert.deepEqual(new Set(members.slice(1).map((row) => at(row, 'tenant'))), new Set(['team-c']))
    assert.equal(at(members[0], 'id'), at(own, 'id'))
    assert.equal(at(members[0], 'kind'), 'gateway')
  })

  test('of one PostgreSQL has all gateways', { skip: postgresMissing() }, async (t) => {
    const server = await startPostgres()
    t.after(() => server.stop())
    const url = await server.database()
    const data = [cluster.folder(), cluster.folder()]
    const gateways = await Promise.all(
      data.map((folder) => startSilently({ listen: FREE_PORTS, data_dir: folder, tier: 'gateway', store: { url } })),
    )
    for (const gateway of gateways) t.after(() => gateway.close())
    const [first, second] = gateways
    assert.ok(first && second)
    const list = () => fleetOf({ gateway: first })
    await until(async () => (await list()).length === 2, 'both are listed')
    const hashes = new Set((await list()).map((member) => textAt(member, 'config_hash')))
    assert.equal(hashes.size, 1, 'places of a gateway are not in the hash')
    await second.close()
    const states = async () => (await list()).map((member) => textAt(member, 'state')).toSorted()
    await until(async () => (await states()).join() === 'running,stopped', 'a gateway that stops says so')
  })
})

suite('the hash of settings', () => {
  const base = { tier: 'gateway', data_dir: 'a', monitoring: { sinks: [sink('http://a')] }, routes: [{ name: 'r' }] }
  test('does not depend on the order of members', () => {
    const { tier, ...rest } = base
    assert.equal(configHash(base), configHash({ ...rest, tier }))
    assert.notEqual(configHash(base), configHash({ ...base, tier: 'sidecar' }))
    assert.notEqual(configHash(base), configHash({ ...base, routes: [{ name: 's' }] }))
    assert.equal(configHash(base), configHash({ ...base, data_dir: 'b' }))
  })
  test('holds no credential that could be guessed', () => {
    assert.equal(configHash(base), configHash({ ...base, monitoring: { sinks: [sink('http://token@b')] } }))
    const channel = (secret: string) => ({ ...base, notifications: { channels: [{ name: 'x', secret }] } })
    assert.equal(configHash(channel('a')), configHash(channel('b')))
  })
})
