/** Two gateways on one PostgreSQL: what is done on one is in force on the other. */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { holdServingLock } from '../../../gateway/store/sqlite/serving-lock.ts'
import { openPostgresStore } from '../../../gateway/store/postgres/store.ts'
import { startTestGateway, TEST_KEY, type TestGateway } from '../../fakes/gateway.ts'
import { petContract, startHttpUpstream } from '../../fakes/http-upstream.ts'
import { startOtlpReceiver } from '../../fakes/otlp-receiver.ts'
import { postgresMissing, startPostgres, type PostgresServer } from '../../fakes/postgres-server.ts'
import { postgresOptions } from '../../fakes/stores.ts'
import { until } from '../../fakes/until.ts'

/** Kind of a span. */
const CLIENT = 3

const KEY = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' }

const AUTHORIZE = JSON.stringify({
  preflight_mode: 'authorize',
  artifacts: [{ id: 'a', type: 'json_schema', before: '{}', after: '{}' }],
  context: { operation: 'merge' },
})

const decisionOf = async (gateway: TestGateway): Promise<string> => {
  const answer = await fetch(`${gateway.addresses.proxy}/pets`)
  await answer.arrayBuffer()
  return answer.headers.get('preflight-decision-id') ?? `status ${answer.status}`
}

const statusAt = async ({ addresses }: TestGateway, path: string): Promise<number> => {
  const answer = await fetch(addresses.proxy + path)
  await answer.arrayBuffer()
  return answer.status
}

const keysOf = async (gateway: TestGateway) => {
  const answer = await fetch(`${gateway.addresses.api}/.well-known/jwks.json`)
  const body: { readonly keys: readonly { readonly kid: string; readonly status: string }[] } = JSON.parse(
    await answer.text(),
  )
  return body.keys
}

const statusOf = async (gateway: TestGateway, kid: string) =>
  (await keysOf(gateway)).find((key) => key.kid === kid)?.status

suite('two gateways on one PostgreSQL', { skip: postgresMissing() }, () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.stop())

  test('one data directory serves one gateway at a time, also where the database is shared', async (t) => {
    const store = { url: await server.database() }
    const one = await startTestGateway(t, { store })
    const config = { store, data_dir: one.dataDir }
    const keys = await keysOf(one)
    await assert.rejects(startTestGateway(t, config), (error: Error) =>
      error.message.startsWith('Another gateway serves from'),
    )
    const two = await startTestGateway(t, { store })
    assert.ok((await keysOf(two)).length > keys.length, 'another directory has a key of its own')
    await one.close()
    const next = await startTestGateway(t, config)
    assert.ok((await keysOf(next)).some(({ kid }) => kid === keys[0]?.kid))
    await next.close()
  })

  test('a gateway holds its data directory again when the lock was removed, and writes nothing if another has it', async (t) => {
    const store = { url: await server.database() }
    const one = await startTestGateway(t, { store })
    const lock = join(one.dataDir, 'serving.lock')
    const decided = async () => {
      const answer = await fetch(`${one.addresses.api}/api/v1/preflight`, {
        method: 'POST',
        headers: KEY,
        body: AUTHORIZE,
      })
      await answer.arrayBuffer()
      return answer.status
    }
    rmSync(lock)
    assert.equal(await decided(), 200)
    await assert.rejects(startTestGateway(t, { store, data_dir: one.dataDir }), /Another gateway serves from/)
    rmSync(lock)
    const other = holdServingLock(lock)
    t.after(() => other.isOpen && other.close())
    assert.equal(await decided(), 503)
    other.close()
    assert.equal(await decided(), 200)
  })

  test('a receipt that is revoked on one is not used again on the other, which was notified', async (t) => {
    const url = await server.database()
    const upstream = await startHttpUpstream((_request, response) => response.end('[]'))
    t.after(() => upstream.close())
    const contract = { current: { file: petContract() } }
    const routes = [{ name: 'pets', match: { path: '/' }, upstream: upstream.origin, protocol: 'http', contract }]
    // An hour: only an announcement brings the change in this time.
    const config = { routes, store: { url, in_force_within: 3600 } }
    const [one, two] = await Promise.all([startTestGateway(t, config), startTestGateway(t, config)])
    for (const { log } of [one, two])
      await until(() => log.some(({ event }) => event === 'store.listening'), 'it receives changes')
    const used = await decisionOf(two)
    assert.match(used, /^dec_/)
    assert.equal(await decisionOf(two), used, 'one decision serves its scope')
    const revoked = await fetch(`${one.addresses.api}/api/v1/receipts/revoke`, {
      method: 'POST',
      headers: KEY,
      body: JSON.stringify({ decision_id: used, reason: 'a test' }),
    })
    assert.equal(revoked.status, 200)
    assert.equal(revoked.headers.get('preflight-in-force-within'), '3600')
    await until(async () => (await decisionOf(two)) !== used, 'the revocation is in force on the other')
  })

  test('each has the keys of all, and a key that is revoked on one command line ends on its own gateway', async (t) => {
    const url = await server.database()
    const config = { store: { url, in_force_within: 3600 } }
    const [one, two] = await Promise.all([startTestGateway(t, config), startTestGateway(t, config)])
    await until(async () => (await keysOf(one)).length === 4, 'two keys of each gateway')
    await until(async () => (await keysOf(two)).length === 4, 'two keys of each gateway')
    assert.equal(await statusOf(two, one.keyId), 'active')
    // Another machine: it has no key files, and names the store only.
    const elsewhere = await openPostgresStore(postgresOptions(url))
    t.after(() => elsewhere.close())
    assert.equal(await elsewhere.receiptKeys.revoke(one.keyId, Math.floor(Date.now() / 1000)), true)
    assert.equal(await elsewhere.receiptKeys.revoke('none', 1), false)
    await until(async () => (await statusOf(two, one.keyId)) === 'revoked', 'the other gateway knows')
    await until(async () => (await statusOf(one, one.keyId)) === 'revoked', 'its own gateway knows')
    // Its next key signs now, and one that stands by for it is published everywhere.
    await until(async () => (await keysOf(two)).length === 5, 'the new key is everywhere')
    assert.ok(one.log.some(({ event }) => event === 'keys.revoked_elsewhere'))
    assert.equal((await fetch(`${one.addresses.admin}/readyz`)).status, 200)
    assert.deepEqual((await elsewhere.ledger.inspect()).faults, [])
  })

  test('both pin the first contract of a route in the same moment: one pin wins, and both judge by it', async (t) => {
    const url = await server.database()
    const upstream = await startHttpUpstream((_request, response) => response.end('[]'))
    t.after(() => upstream.close())
    const names = Array.from({ length: 12 }, (_, n) => `pets-${n}`)
    // Each is offered a contract that breaks callers of the other one.
    const configOf = (required: string) => {
      const parameters = [{ name: required, in: 'query', required: true, schema: { type: 'string' } }]
      const get = { operationId: 'listPets', parameters, responses: { 200: { description: 'good' } } }
      const current = { file: petContract((paths) => (paths['/pets'] = { get })) }
      const shared = { upstream: `${upstream.origin}/v1`, protocol: 'http', contract: { current } }
      return { routes: names.map((name) => ({ name, match: { path: `/${name}` }, ...shared })), store: { url } }
    }
    const gateways = await Promise.all(['one', 'two'].map((name) => startTestGateway(t, configOf(name))))
    for (const name of names) {
      const answers = await Promise.all(gateways.map((gateway) => statusAt(gateway, `/${name}/pets`)))
      assert.deepEqual(
        answers.toSorted((a, b) => a - b),
        [200, 403],
        name,
      )
      const pinned = gateways.flatMap(({ log }) =>
        log.filter(({ event, route }) => event === 'baseline.set' && route === name),
      )
      assert.equal(pinned.length, 1, name)
      assert.deepEqual(await Promise.all(gateways.map((gateway) => statusAt(gateway, `/${name}/pets`))), answers, name)
    }
  })

  test('each operation of the database that a call waits for is a span of the call, and a failed one says so', async (t) => {
    const own = await startPostgres()
    const receiver = await startOtlpReceiver()
    const upstream = await startHttpUpstream((_request, response) => response.end('[]'))
    t.after(() => Promise.all([own.stop(), receiver.close(), upstream.close()]))
    const contract = { current: { file: petContract() } }
    const gateway = await startTestGateway(t, {
      otel: { endpoint: receiver.endpoint, protocol: 'http/json' },
      routes: [{ name: 'pets', match: { path: '/' }, upstream: upstream.origin, protocol: 'http', contract }],
      store: { url: await own.database(), connect_timeout: 1 },
    })
    const statusIn = async (trace: string): Promise<number> => {
      const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` }
      return (await fetch(`${gateway.addresses.proxy}/pets/mine`, { headers })).status
    }
    const [decided, refused] = ['a'.repeat(32), 'b'.repeat(32)]
    assert.equal(await statusIn(decided), 200)
    await own.kill()
    assert.equal(await statusIn(refused), 503)
    await gateway.close()
    const queriesOf = (trace: string) => {
      const spans = receiver.spans.filter(({ traceId }) => traceId === trace)
      const ids = new Set(spans.map(({ spanId }) => spanId))
      const queries = spans.filter(({ attributes }) => attributes['db.system.name'] !== undefined)
      assert.ok(queries.length > 0, 'operations of the database are spans')
      for (const { name, kind, parentId, attributes } of queries) {
        assert.equal(kind, CLIENT, name)
        assert.equal(attributes['db.system.name'], 'postgresql', name)
        assert.equal(attributes['server.address'], '127.0.0.1', name)
        assert.equal(attributes['server.port'], own.port, name)
        assert.equal(name, `${String(attributes['db.operation.name'])} ${String(attributes['db.collection.name'])}`)
        assert.ok(ids.has(parentId ?? ''), `${name} is inside a span of the call`)
      }
      return queries
    }
    const recorded = queriesOf(decided).find(({ name }) => name === 'record decisions')
    assert.ok(recorded, 'the decision is recorded')
    assert.equal(recorded.attributes['error.type'], undefined)
    assert.ok(queriesOf(refused).some(({ attributes }) => attributes['error.type'] !== undefined))
  })

  test('a gateway that hears nothing looks at the store before each reuse, and refuses when it is away', async (t) => {
    const own = await startPostgres()
    t.after(() => own.stop())
    const upstream = await startHttpUpstream((_request, response) => response.end('[]'))
    t.after(() => upstream.close())
    const contract = { current: { file: petContract() } }
    const routes = [{ name: 'pets', match: { path: '/' }, upstream: upstream.origin, protocol: 'http', contract }]
    const store = { url: await own.database(), in_force_within: 0.5, connect_timeout: 1 }
    const gateway = await startTestGateway(t, { routes, store })
    const used = await decisionOf(gateway)
    assert.match(used, /^dec_/)
    await own.kill()
    await until(async () => !(await decisionOf(gateway)).startsWith('dec_'), 'reuse is refused without the store')
    const forwarded = upstream.requests.length
    await decisionOf(gateway)
    assert.equal(upstream.requests.length, forwarded)
    await own.start()
    await until(async () => (await decisionOf(gateway)) === used, 'the decision is used again')
  })
})
