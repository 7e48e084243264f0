/**
 * A hub and its sidecars: real gateways on loopback, with service account tokens of a stand-in cluster. One file, since every
 * test needs the same cluster.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { after, before, suite, test, type TestContext } from 'node:test'
import { createLocalJWKSet, generateKeyPair, jwtVerify, type CryptoKey, type JSONWebKeySet } from 'jose'
import { contractDigest } from '../../../gateway/baselines/baselines.ts'
import { hashApiKey } from '../../../gateway/callers/api-keys.ts'
import { connectToHub } from '../../../gateway/store/hub/connection.ts'
import { TEST_KEY } from '../../fakes/gateway.ts'
import { petContract } from '../../fakes/http-upstream.ts'
import { interception } from '../../fakes/interception.ts'
import {
  api,
  ask,
  changedContract,
  keyOf,
  operate,
  startHubCluster,
  startSilently,
  type HubCluster,
} from '../../fakes/hub-scene.ts'
import { listening } from '../../fakes/listening.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

const HUB_KEY = 'pf_hub_0123456789abcdefghijklmnopqrstuvwxyz'

let cluster: HubCluster
let foreignKey: CryptoKey
before(async () => {
  cluster = await startHubCluster()
  foreignKey = (await generateKeyPair('ES256')).privateKey
})
after(() => cluster.close())

const startHub = (t: TestContext, hub?: object) => cluster.startHub(t, hub)
const startSidecar = (...given: Parameters<HubCluster['startSidecar']>) => cluster.startSidecar(...given)
const token = (...given: Parameters<HubCluster['token']>) => cluster.token(...given)

suite('a sidecar with a hub', () => {
  test('has its decisions signed and recorded there, under its tenant', async (t) => {
    const hub = await startHub(t)
    const sidecar = await startSidecar(t, hub.url)
    assert.equal(await sidecar.call(), 200)
    const viewer = await keyOf(hub, 'approver', 'team-a')
    const entries = listAt(await api(hub, '/api/v1/ledger', viewer), 'entries')
    assert.deepEqual([entries.length, at(entries[0], 'route')], [1, 'team-a:pets'])
    const sent = String(cluster.upstream.requests.at(-1)?.headers['preflight-receipt'])
    const keys: JSONWebKeySet = JSON.parse(
      await (await fetch(`${hub.gateway.addresses.api}/.well-known/jwks.json`)).text(),
    )
    const { payload } = await jwtVerify(sent, createLocalJWKSet(keys), { typ: 'preflight-receipt+jwt' })
    assert.equal(payload['tnt'], 'team-a')
    assert.ok(at(payload, 'status', 'status_list', 'uri'))
    const own = await (await fetch(`${sidecar.gateway.addresses.api}/.well-known/jwks.json`)).json()
    assert.deepEqual(own, keys, 'the sidecar publishes the keys of the hub')
    const ready = await fetch(`${sidecar.gateway.addresses.admin}/readyz`)
    assert.equal(textAt(await ready.json(), 'checks', 'signer', 'detail'), 'the hub signs')
  })

  test('keeps the pins of its tenant when its pod is replaced', async (t) => {
    const hub = await startHub(t)
    const first = await startSidecar(t, hub.url)
    assert.equal(await first.call(), 200)
    await first.gateway.close()
    const second = await startSidecar(t, hub.url, { contract: changedContract() })
    assert.equal(await second.call(), 403, 'the breaking change is compared with the pin of the first pod')
    const other = await startSidecar(t, hub.url, { contract: changedContract(), namespace: 'team-b' })
    assert.equal(await other.call(), 200, 'another tenant has pins of its own')
  })

  test('calls with a changed contract once a person of its tenant has accepted it at the hub', async (t) => {
    const hub = await startHub(t)
    const first = await startSidecar(t, hub.url)
    await first.call()
    const second = await startSidecar(t, hub.url, { contract: changedContract() })
    assert.equal(await second.call(), 403)
    const approver = await keyOf(hub, 'approver', 'team-a')
    const [view] = listAt(await api(hub, '/api/v1/baselines', approver), 'baselines')
    assert.equal(textAt(view, 'baseline', 'route'), 'team-a:pets')
    const acceptance = { digest: textAt(view, 'candidate', 'digest'), comment: 'callers are adapted' }
    const foreign = await keyOf(hub, 'approver', 'team-b')
    const path = '/api/v1/baselines/team-a:pets/promote'
    assert.equal(at(await api(hub, path, foreign, acceptance), 'error'), 'NOT_FOUND')
    assert.equal(textAt(await api(hub, path, approver, acceptance), 'baseline', 'source'), 'promotion')
    await until(async () => (await second.call('/pets?needed=1')) === 200, 'the sidecar uses the accepted contract')
  })

  test('shares decisions in force with its replicas', async (t) => {
    const hub = await startHub(t)
    const contract = petContract()
    const replicas = await Promise.all([1, 2, 3].map(() => startSidecar(t, hub.url, { contract })))
    assert.equal(await replicas[0]?.call(), 200)
    for (const replica of replicas) assert.equal(await replica.call(), 200)
    const viewer = await keyOf(hub, 'approver', 'team-a')
    assert.equal(listAt(await api(hub, '/api/v1/ledger', viewer), 'entries').length, 1)
    const calls = () => api(hub, '/api/v1/ledger?records=calls', viewer)
    await until(async () => listAt(await calls(), 'entries').length === 4, 'the calls of all replicas are recorded')
  })

  test('sees a revocation at the hub', async (t) => {
    const hub = await startHub(t)
    const sidecar = await startSidecar(t, hub.url)
    await sidecar.call()
    const approver = await keyOf(hub, 'approver', 'team-a')
    const entries = async () => listAt(await api(hub, '/api/v1/ledger', approver), 'entries')
    const id = textAt((await entries())[0], 'decision_id')
    await api(hub, '/api/v1/receipts/revoke', approver, { decision_id: id, reason: 'wrong' })
    await until(async () => {
      await sidecar.call()
      return (await entries()).length === 2
    }, 'a decision in place of the revoked one')
  })

  test('refuses new decisions while the hub is away, uses known ones up to their age, and recovers', async (t) => {
    const hub = await startHub(t)
    let now = Date.now()
    const sidecar = await startSidecar(t, hub.url, { access: { max_age: 3600, timeout: 1 } })
    assert.equal(await sidecar.call(), 200)
    await until(async () => (await sidecar.call()) === 200 && Date.now() - now > 1200, 'the state was looked up again')
    await hub.gateway.close()
    now = Date.now()
    await until(async () => (await sidecar.call()) === 200 && Date.now() - now > 1200, 'the state was looked up again')
    assert.equal(await sidecar.call('/pets/7'), 503, 'what was not decided before is refused')
    const ready = await fetch(`${sidecar.gateway.addresses.admin}/readyz`)
    assert.equal(ready.status, 503)
    hub.gateway = await startSilently(cluster.hubConfig(new URL(hub.url).host, hub.data))
    await until(async () => (await sidecar.call('/pets/7')) === 200, 'decisions are made again')
  })

  test('uses nothing that is older than store.hub.max_age', async (t) => {
    const hub = await startHub(t)
    const sidecar = await startSidecar(t, hub.url, { access: { max_age: 0, timeout: 1 } })
    assert.equal(await sidecar.call(), 200)
    await hub.gateway.close()
    await until(async () => (await sidecar.call()) === 503, 'the decision in use is too old')
  })

  test('starts while the hub is away: refuses calls, is not ready, and serves once the hub is there', async (t) => {
    const hub = await startHub(t)
    await hub.gateway.close()
    const sidecar = await startSidecar(t, hub.url, { access: { timeout: 2 } })
    assert.equal(await sidecar.call(), 503)
    const ready = async () => (await fetch(`${sidecar.gateway.addresses.admin}/readyz`)).status
    assert.equal(await ready(), 503)
    hub.gateway = await startSilently(cluster.hubConfig(new URL(hub.url).host, hub.data))
    await until(async () => (await sidecar.call()) === 200, 'decisions are made')
    await until(async () => (await ready()) === 200, 'it is ready')
    assert.ok(cluster.upstream.requests.length > 0)
  })

  test('begins with one hub of its list at random, so that each hub has its share', async (t) => {
    const asked: [number, number] = [0, 0]
    const origins = await Promise.all(
      asked.map((_, hub) =>
        listening(
          t,
          createServer((_request, response) => {
            asked[hub] = (asked[hub] ?? 0) + 1
            response.end('{}')
          }),
        ),
      ),
    )
    for (let sidecar = 0; sidecar < 64; sidecar += 1) {
      const connection = connectToHub(origins.join(','), { timeout: 20, max_age: 0 }, {}, Date.now)
      await connection.ask('GET', '/hub/v1/clock', null, true)
      await connection.close()
    }
    assert.equal(asked[0] + asked[1], 64)
    assert.ok(asked.every((count) => count > 0))
  })

  test('asks the hub of its stream for the clock of the stream, whichever hub the other questions go to', async (t) => {
    const urls = await Promise.all(
      ['one', 'two'].map((name) =>
        listening(
          t,
          createServer((_request, response) => void response.end(JSON.stringify(name))),
        ),
      ),
    )
    for (let sidecar = 0; sidecar < 32; sidecar += 1) {
      const connection = connectToHub(urls.join(','), { timeout: 20, max_age: 0 }, {}, Date.now)
      const { body, ask } = await connection.stream('/hub/v1/changes', {}, AbortSignal.timeout(20_000))
      const name: unknown = await json(Readable.from(body))
      // Opens another stream, so the first hub that is asked is any of them.
      const other = await connection.stream('/hub/v1/changes', {}, AbortSignal.timeout(20_000))
      await json(Readable.from(other.body))
      assert.equal(await ask('/hub/v1/clock'), name)
      await connection.close()
    }
  })

  test('goes on with the token that replaces the one that ended', async (t) => {
    const hub = await startHub(t)
    const file = join(cluster.root, 'replaced-token')
    writeFileSync(file, await token('team-a', { life: '5s' }))
    const sidecar = await startSidecar(t, hub.url, { access: { token_file: file, max_age: 0 } })
    assert.equal(await sidecar.call(), 200)
    await until(async () => (await sidecar.call('/pets/7')) === 503, 'the token has ended', 30_000)
    writeFileSync(file, await token('team-a'))
    await until(async () => (await sidecar.call('/pets/7')) === 200, 'the file is read again', 30_000)
  })

  test('of a tenant with a colon in its name is refused: it could write the rows of another one', async (t) => {
    const hub = await startHub(t, { identities: [{ namespace: 'team-a', tenant: 'team-b:x' }] })
    await assert.rejects(startSidecar(t, hub.url), /no colon in its name/)
  })

  test('does not start with a hub that refuses it, and says where to look', async (t) => {
    const hub = await startHub(t, { identities: [{ namespace: 'team-b' }] })
    await assert.rejects(startSidecar(t, hub.url), /hub\.identities has no entry for team-a\/agent/)
    const other = await startSidecar(t, hub.url, { namespace: 'team-b' })
    assert.equal(await other.call(), 200)
  })

  test('outside Kubernetes connects with a hub key', async (t) => {
    const keys = [{ name: 'laptop', tenant: 'team-c', sha256: hashApiKey(HUB_KEY) }]
    const hub = await startHub(t, { keys })
    const file = join(cluster.root, 'hub-key')
    writeFileSync(file, `${HUB_KEY}\n`)
    const sidecar = await startSidecar(t, hub.url, { access: { token_file: undefined, key_file: file } })
    assert.equal(await sidecar.call(), 200)
    const viewer = await keyOf(hub, 'approver', 'team-c')
    assert.equal(listAt(await api(hub, '/api/v1/ledger', viewer), 'entries').length, 1)
  })
})

suite('a caller of the hub', () => {
  test('is refused without a credential that proves it', async (t) => {
    const hub = await startHub(t)
    const credentials: Readonly<Record<string, string | null>> = {
      none: null,
      'an API key': TEST_KEY,
      'a hub key that is not listed': HUB_KEY,
      'no token': 'x.y.z',
      'a token of another key': await token('team-a', { key: foreignKey }),
      'a token for another audience': await token('team-a', { audience: 'api' }),
      'a token of another issuer': await token('team-a', { issuer: 'https://other.test' }),
      'a token that has expired': await token('team-a', { life: '-1m' }),
      'a token that is bound to no pod': await token('team-a', {
        claims: { 'kubernetes.io': { namespace: 'team-a' } },
      }),
      'an unsigned token': `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`,
    }
    for (const [name, credential] of Object.entries(credentials)) {
      const { status, body } = await ask(hub.url, '/hub/v1/keys', credential)
      assert.deepEqual([status, at(body, 'error')], [401, 'UNAUTHENTICATED'], name)
    }
  })

  test('reaches nothing of another tenant', async (t) => {
    const hub = await startHub(t)
    const sidecar = await startSidecar(t, hub.url)
    await sidecar.call()
    const approver = await keyOf(hub, 'approver', 'team-a')
    const [entry] = listAt(await api(hub, '/api/v1/ledger', approver), 'entries')
    const [id, fingerprint] = [textAt(entry, 'decision_id'), textAt(entry, 'fingerprint')]
    const b = await token('team-b')
    const nothing: readonly (readonly [string, ...unknown[]])[] = [
      ['decisions.byId', 'team-b', id],
      ['decisions.byId', 'local', id],
      ['decisions.byFingerprint', 'local', fingerprint],
      ['receipts.state', id],
      ['apiKeys.byHash', hashApiKey(approver)],
      ['baselines.byRoute', 'pets', 'pets'],
      ['baselines.byRoute', 'team-a:pets', 'team-a:pets'],
    ]
    for (const [name, ...values] of nothing)
      assert.deepEqual(await operate(hub.url, name, b, ...values), { status: 200, body: { value: null } }, name)
    assert.equal(at((await operate(hub.url, 'receipts.consume', b, [id], 1)).body, 'value'), false)
    assert.equal(at((await operate(hub.url, 'receipts.revoke', b, 'local', id, 'x', 'y', 1)).body, 'value'), false)
    for (const name of ['baselines.list', 'baselines.candidates', 'windows.listOpen'])
      assert.deepEqual(at((await operate(hub.url, name, b)).body, 'value'), [], name)
    const foreign: readonly (readonly [string, ...unknown[]])[] = [
      ['decisions.byId', 'team-a', id],
      ['decisions.list', { tenant: 'team-a', limit: 10 }],
      ['calls.list', { tenant: 'team-a', limit: 10 }],
      ['approvals.list', { tenant: 'team-a', limit: 10, now: 1 }],
      ['approvals.pending', { tenant: 'team-a', limit: 10, now: 1 }],
      ['approvals.byId', 'team-a', 'apr_1'],
      ['bindings.list', 'team-a'],
      ['quotas.used', 'team-a', '2026-01'],
      ['receipts.revoke', 'team-a', id, 'x', 'y', 1],
      ['decisions.history', { tenant: 'team-a', supersessionKey: 'x', since: 0, limit: 1 }],
    ]
    for (const [name, ...values] of foreign)
      assert.equal((await operate(hub.url, name, b, ...values)).status, 403, name)
    assert.equal(at((await operate(hub.url, 'receipts.state', await token('team-a'), id)).body, 'value'), 'current')
  })

  test('does not do what a person does, or the hub', async (t) => {
    const hub = await startHub(t)
    const a = await token('team-a')
    const baseline = {
      route: 'pets',
      artifactId: 'pets',
      type: 'openapi',
      content: '{}',
      digest: contractDigest('{}'),
      setAt: 1,
    }
    const refused: readonly (readonly [string, ...unknown[]])[] = [
      ['approvals.decide', {}],
      ['approvals.endMoot', 'pets', 'x', 1],
      ['apiKeys.create', {}],
      ['apiKeys.list'],
      ['breakGlass.open', {}],
      ['bindings.record', {}],
      ['ledger.inspect'],
      ['ledger.recordCuts', []],
      ['ledger.accept', 'x', 'y'],
      ['decisions.record', {}],
      ['statusLists.open', {}],
      ['inputs.byDecision', 'dec_1'],
      ['baselines.set', { ...baseline, source: 'promotion', setBy: 'v:1' }, null],
    ]
    for (const [name, ...values] of refused)
      assert.equal((await operate(hub.url, name, a, ...values)).status, 403, name)
    assert.equal((await operate(hub.url, 'nothing.known', a)).status, 404)
    assert.equal((await ask(hub.url, '/hub/v1/other', a, {})).status, 404)
  })

  test('sends values of the right form, or none of them reach the store', async (t) => {
    const hub = await startHub(t)
    const a = await token('team-a')
    const bad: readonly (readonly [string, ...unknown[]])[] = [
      ['decisions.byId', 'team-a'],
      ['decisions.byId', 'team-a', { $ne: 1 }],
      ['decisions.byId', 'team-a', 'x', null, 'more'],
      ['receipts.state', 7],
      ['decisions.list', { tenant: 'team-a', limit: 1e9 }],
      ['decisions.list', { tenant: 'team-a', limit: 1, other: 1 }],
      ['baselines.byRoute', null, null],
    ]
    for (const [name, ...values] of bad)
      assert.equal((await operate(hub.url, name, a, ...values)).status, 400, JSON.stringify([name, ...values]))
    assert.equal((await ask(hub.url, '/hub/v1/decisions', a, { draft: {} })).status, 400)
    for (const values of [[{}], [], [[], []]])
      assert.equal((await ask(hub.url, '/hub/v1/calls', a, { values })).status, 400, JSON.stringify(values))
  })

  test('gets its answer when its call records are durable, not when the hub has queued them', async (t) => {
    const hub = await cluster.startHub(t, {}, { ledger: { calls: 'batched', flush: 60 } })
    const a = await token('team-a')
    const rows = ['c1', 'c2'].map((id) => interception(id, { at: Date.now() }))
    assert.deepEqual((await ask(hub.url, '/hub/v1/calls', a, { values: [rows] })).body, { value: 2, refused: [] })
    const viewer = await keyOf(hub, 'viewer', 'team-a')
    assert.equal(listAt(await api(hub, '/api/v1/ledger?records=calls', viewer), 'entries').length, 2)
  })

  test('of the role verifier checks receipts, and does nothing else', async (t) => {
    const hub = await startHub(t, { identities: [{ namespace: 'team-a', role: 'verifier' }] })
    const a = await token('team-a')
    assert.equal((await operate(hub.url, 'receipts.state', a, 'dec_1')).status, 200)
    assert.equal((await operate(hub.url, 'baselines.list', a)).status, 403)
    assert.equal((await ask(hub.url, '/hub/v1/decisions', a, { draft: {} })).status, 403)
  })
})
