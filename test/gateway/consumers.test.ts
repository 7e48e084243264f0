/** Consumers through the gateway: kept in a file of their own, and seen calling. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test, type TestContext } from 'node:test'
import { loadConfig } from '../../gateway/config/load.ts'
import { ConfigError } from '../../gateway/errors/mistake.ts'
import { openSettings } from '../../gateway/config/live-settings.ts'
import { createIdentity } from '../../gateway/consumers/identity.ts'
import { observedConsumers } from '../../gateway/consumers/known.ts'
import { createConsumerObserver } from '../../gateway/consumers/observer.ts'
import { openSqliteStore } from '../../gateway/store/sqlite/store.ts'
import type { ObservedUse } from '../../gateway/store/uses.ts'
import type { Store } from '../../gateway/store/store.ts'
import type { CurrentSettings } from '../../gateway/config/schema.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { fakePolicy } from '../fakes/decisions.ts'
import { breakListing, startPetRoute } from '../fakes/pet-route.ts'
import { until } from '../fakes/until.ts'
import { at } from '../json.ts'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'preflight-consumers-'))
  t.after(() => rmSync(path, { recursive: true, force: true, maxRetries: 9 }))
  return path
}

function written(t: TestContext, consumers: string): { readonly config: string; readonly consumers: string } {
  const directory = folder(t)
  const files = { config: join(directory, 'preflight.yaml'), consumers: join(directory, 'consumers.yaml') }
  writeFileSync(files.config, 'consumers_file: consumers.yaml\nconsumers: [{ name: web, uses: [{ tool: echo }] }]\n')
  writeFileSync(files.consumers, consumers)
  return files
}

const open = (file: string) => openSettings({ file, environment: {} })

suite('a consumers file', () => {
  test('adds to those of the configuration, and is read again when it changes', (t) => {
    const files = written(t, 'consumers:\n  - name: billing\n    uses: [{ operation: GET /pets }]\n')
    const live = open(files.config)
    t.after(() => live.close())
    assert.deepEqual(
      live.current().config.consumers.map(({ name }) => name),
      ['web', 'billing'],
    )
    assert.ok(live.files.includes(files.consumers))
    writeFileSync(files.consumers, 'consumers: []\n')
    assert.equal(live.reload().result, 'applied')
    assert.equal(live.current().config.consumers.length, 1)
    writeFileSync(files.consumers, 'consumers: [{ name: billing }]\n')
    const refused = live.reload()
    assert.ok(refused.result === 'refused')
    assert.equal(live.current().config.consumers.length, 1)
  })

  test('with a mistake stops the start, which says where', (t) => {
    const files = written(t, 'consumers:\n  - name: billing\n    use: []\n')
    assert.throws(
      () => open(files.config),
      (error) => error instanceof ConfigError && error.message.includes(`${files.consumers}:3:5`),
    )
    rmSync(files.consumers)
    assert.throws(() => open(files.config), /the consumers file cannot be read/)
  })
})

const jwt = (claims: object, signature: string) =>
  `Bearer ${[{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.${signature}`

suite('the identity of a caller', () => {
  const identity = createIdentity('salt')
  const of = (headers: Readonly<Record<string, string>>, audience: string | null = null) =>
    identity({ headers, audience })

  test('is the audience of our key, else of the credential, else the product of the user agent', () => {
    assert.equal(of({ authorization: 'Bearer x' }, 'v:0123456789ab'), 'v:0123456789ab')
    assert.match(of({ authorization: 'Bearer x' }), /^key:[0-9a-f]{12}$/)
    assert.equal(of({ 'x-api-key': 'x', 'user-agent': 'a' }), of({ 'x-api-key': 'x' }))
    assert.equal(of({ 'user-agent': 'acme-agent/2.1 (linux; someone@example.com)' }), 'agent:acme-agent')
    assert.equal(of({ 'user-agent': '\u0001' }), 'unnamed')
    assert.equal(of({}), 'unnamed')
  })

  test('tells credentials apart, by a salt that only this installation has', () => {
    assert.notEqual(of({ authorization: 'Bearer x' }), of({ authorization: 'Bearer y' }))
    assert.notEqual(
      of({ authorization: 'x' }),
      createIdentity('other')({ headers: { authorization: 'x' }, audience: null }),
    )
    assert.equal(of({ authorization: 'Bearer x' }), of({ authorization: 'Bearer x' }))
  })

  test('stays when an access token is renewed, and an opaque token with three parts is only a token', () => {
    const claims = { iss: 'https://idp', sub: 'agent-7' }
    assert.equal(
      of({ authorization: jwt({ ...claims, exp: 1 }, 'aa') }),
      of({ authorization: jwt({ ...claims, exp: 2 }, 'bb') }),
    )
    assert.notEqual(
      of({ authorization: jwt({ ...claims, sub: 'agent-8' }, 'aa') }),
      of({ authorization: jwt(claims, 'aa') }),
    )
    assert.notEqual(of({ authorization: 'Bearer a.b.c' }), of({ authorization: 'Bearer a.b.d' }))
    assert.notEqual(of({ authorization: jwt({ exp: 1 }, 'aa') }), of({ authorization: jwt({ exp: 2 }, 'aa') }))
  })
})

async function opened(t: TestContext, directory = folder(t)): Promise<Store> {
  const store = await openSqliteStore({ file: join(directory, 'ledger.db'), calls: 'batched', flushMilliseconds: 5 })
  t.after(() => store.close())
  return store
}

const subject = (tool: string) => ({ name: `tools/call ${tool}`, target: `tools/${tool}`, scope: { tool } })

const caller = (agent: string) => ({ headers: { 'user-agent': agent }, audience: null })

const use = (consumer: string, tool: string, at: number, calls = 1): ObservedUse => ({
  route: 'tools',
  target: `tools/${tool}`,
  operation: null,
  tool,
  consumer,
  calls,
  at,
})

suite('what was seen', () => {
  const DAY = 86_400_000
  const routes = [{ name: 'tools', match: { path: '/mcp' }, upstream: 'http://127.0.0.1:1', protocol: 'mcp' }]
  const settings = (changes: object = {}): CurrentSettings => {
    const loaded = loadConfig({ environment: {}, value: { routes, ...changes } })
    assert.ok(loaded.ok)
    const { config } = loaded.value
    return () => ({ config, policy: fakePolicy(), generation: 1 })
  }

  test('is found for the tool in the proxy, and for the route by its name, within the window', async (t) => {
    const store = await opened(t)
    let now = 100 * DAY
    const observer = await createConsumerObserver({
      settings: settings(),
      store,
      logger: createLogger('silent'),
      now: () => now,
    })
    t.after(() => observer.close())
    observer.note(caller('web/1'), 'tools', subject('echo'))
    observer.note(caller('web/1'), 'tools', subject('add'))
    observer.note(caller('web/2'), 'tools', subject('echo'))
    observer.note(caller('cron'), 'tools', subject('echo'))
    observer.note(caller('bot'), 'tools', { name: 'merge', target: 'acme/pets#7', scope: null })
    await observer.flush()
    const { config } = settings()()
    const seen = async (ids: readonly string[], isProxied: boolean) =>
      (await observedConsumers({ ids, isProxied }, config, now, store))
        ?.map(({ name, uses }) => [name, uses[0]?.tool])
        .sort()
    assert.deepEqual(await seen(['tools/echo'], true), [
      ['agent:cron', 'echo'],
      ['agent:web', 'echo'],
    ])
    assert.deepEqual(await seen(['tools'], false), [
      ['agent:cron', 'echo'],
      ['agent:web', 'add'],
      ['agent:web', 'echo'],
    ])
    assert.equal(await seen(['tools/echo'], false), undefined)
    assert.equal(await observedConsumers({ ids: ['other'], isProxied: false }, config, now, store), null)
    now += 31 * DAY
    assert.deepEqual(await seen(['tools/echo'], true), [])
  })

  test('is bounded: past the limit of one tool the rest counts as one, and what is old is forgotten', async (t) => {
    const store = await opened(t)
    const uses = ['a', 'b', 'c', 'd'].map((name, index) => use(name, 'echo', index))
    await store.uses.record({ uses, limit: 2, since: 0 })
    await store.uses.record({ uses: [use('a', 'echo', 9), use('e', 'add', 9)], limit: 2, since: 0 })
    const names = async () =>
      (await store.uses.of(['tools'], 0)).map(({ consumer, tool }) => `${consumer} ${tool}`).sort()
    assert.deepEqual(await names(), ['a echo', 'b echo', 'e add', 'others echo'])
    await store.uses.record({ uses: [], limit: 2, since: 4 })
    assert.deepEqual(await names(), ['a echo', 'e add'])
  })

  test('is named alike by every process on one store', async (t) => {
    const directory = folder(t)
    const [one, two] = [await opened(t, directory), await opened(t, directory)]
    assert.equal(await one.uses.salt('first'), 'first')
    assert.equal(await two.uses.salt('second'), 'first')
  })

  test('is not looked at where the window is closed, and what cannot be written holds up nothing', async () => {
    const faulty = { salt: () => Promise.resolve('s'), record: () => Promise.reject(new Error('gone')) }
    const closed = settings({ observed_consumers: { window: 0 } })
    const off = await createConsumerObserver({
      settings: closed,
      store: { uses: { ...faulty, record: () => assert.fail('nothing was to be written') } },
      logger: createLogger('silent'),
      now: () => 0,
    })
    off.note(caller('web'), 'tools', subject('echo'))
    await off.close()
    const lines: string[] = []
    const logger = createLogger('warn', { write: (line: string) => void lines.push(line) })
    const lossy = await createConsumerObserver({ settings: settings(), store: { uses: faulty }, logger, now: () => 0 })
    lossy.note(caller('web'), 'tools', subject('echo'))
    await lossy.close()
    assert.match(lines.join(), /consumers.write_failed/)
  })
})

suite('a call that is judged', () => {
  test('counts its caller, and the next change of the operation says how many it reaches', async (t) => {
    const { gateway, call, change, api } = await startPetRoute(t)
    for (const agent of ['web/1', 'web/2', 'cron/1']) {
      const answer = await call({ headers: { 'user-agent': agent } })
      assert.equal(answer.status, 200)
    }
    const database = new DatabaseSync(join(gateway.dataDir, 'ledger.db'), { readOnly: true })
    t.after(() => database.close())
    const seen = () => database.prepare('SELECT consumer FROM observed_uses ORDER BY consumer').all()
    await until(() => seen().length === 2, 'both consumers are written')
    assert.deepEqual(
      seen().map(({ consumer }) => consumer),
      ['agent:cron', 'agent:web'],
    )
    change(breakListing)
    const stopped = await call({ headers: { 'user-agent': 'web/1' } })
    assert.equal(stopped.status, 403)
    const { body } = await api('GET', `/api/v1/decisions/${stopped.headers.get('preflight-decision-id')}`)
    assert.deepEqual(at(body, 'decision_result', 'blast_radius'), {
      endpoints: 1,
      fields: 0,
      params: 1,
      consumers_declared: 0,
      consumers_observed: 2,
      graph_source: 'observed',
    })
  })
})
