/** The decision log: every call, decision and act has one entry of one schema, in every sink, and none is lost in silence. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { loadConfig } from '../../../gateway/config/load.ts'
import { DecisionLogEntry, ENTRY_FIELDS } from '../../../gateway/telemetry/decision-log/entry.ts'
import { run } from '../../fakes/command-io.ts'
import { TEST_KEY } from '../../fakes/gateway.ts'
import { petContract } from '../../fakes/http-upstream.ts'
import { breakListing, startPetRoute, type PetRoute } from '../../fakes/pet-route.ts'
import { until } from '../../fakes/until.ts'
import { at, textAt } from '../../json.ts'
import { entriesIn, type LoggedEntry } from '../../fakes/decision-log-file.ts'

const isEntry = new Ajv2020({ strict: false }).compile(DecisionLogEntry)

interface Scene extends PetRoute {
  readonly file: string
  readonly entries: () => readonly LoggedEntry[]
  /** Entries of calls. */
  readonly calls: () => readonly LoggedEntry[]
}

const freshFile = (): string => join(mkdtempSync(join(tmpdir(), 'preflight-log-')), 'decisions.ndjson')

async function scene(t: TestContext, settings: object = {}, route: object = {}, config: object = {}): Promise<Scene> {
  const file = freshFile()
  const decision_log = { sinks: [{ type: 'file', path: file }], ...settings }
  const entries = () => entriesIn(file)
  const calls = () => entries().filter(({ kind }) => kind === 'call')
  return { ...(await startPetRoute(t, route, { decision_log, ...config })), file, entries, calls }
}

test('a call that is allowed and one that is stopped have entries of one schema', async (t) => {
  const { call, change, calls } = await scene(t)
  await call({ headers: { 'x-correlation-id': 'first' } })
  change(breakListing)
  assert.equal((await call({ headers: { 'x-correlation-id': 'second' } })).status, 403)
  await until(() => calls().length === 2, 'both calls are logged')
  const [allowed, stopped] = calls()
  for (const entry of calls()) {
    assert.ok(isEntry(entry), JSON.stringify(isEntry.errors))
    assert.deepEqual(Object.keys(entry).toSorted(), [...ENTRY_FIELDS].toSorted())
    assert.equal(entry['route'], 'pets')
    assert.equal(entry['action'], 'GET /pets')
    assert.match(String(entry['policy_hash']), /^sha256:/)
    assert.ok(typeof at(entry, 'latency_ms', 'decide') === 'number')
  }
  assert.deepEqual(
    [allowed?.['decision'], allowed?.['effect'], allowed?.['correlation_id']],
    ['ALLOW', 'forwarded', 'first'],
  )
  assert.deepEqual(
    [stopped?.['decision'], stopped?.['effect'], stopped?.['correlation_id']],
    ['BLOCK', 'stopped', 'second'],
  )
  assert.ok(Array.isArray(stopped?.['reasons']) && stopped['reasons'].length > 0)
  assert.deepEqual(stopped['rules'], ['default/breaking-blocks'])
  for (const entry of calls()) assert.match(String(entry['receipt_key']), /^[\w-]{43}$/)
})

test('decisions over the API and what people do are logged too', async (t) => {
  const { preflight, api, entries, gateway } = await scene(t)
  const decided = await preflight()
  await api('POST', '/api/v1/break-glass', { route: 'pets', reason: 'an incident', duration: 60 })
  await until(() => entries().some(({ act }) => act === 'break_glass.opened'), 'the act is logged')
  const [decision] = entries()
  assert.equal(decision?.['kind'], 'decision')
  assert.equal(decision['decision_id'], at(decided, 'decision_result', 'decision_id'))
  assert.equal(decision['receipt_key'], at(decided, 'decision_result', 'receipt', 'key_id'))
  // The body of the preflight has the contract twice.
  assert.ok(Number(decision['request_bytes']) > 2 * readFileSync(petContract()).length, 'the bytes of the body')
  for (const stage of ['intercept', 'analyze', 'decide'])
    assert.equal(typeof at(decision, 'latency_ms', stage), 'number', stage)
  const act = entries().find(({ kind }) => kind === 'act')
  assert.ok(isEntry(act))
  assert.equal(act.route, 'pets')
  assert.equal(gateway.log.filter(({ event }) => event === 'break_glass.opened').length, 1)
  for (const entry of entries()) assert.ok(isEntry(entry), JSON.stringify(isEntry.errors))
})

const BODY = '"some bytes of a body"'

/** How a body is sent, whether the gateway reads it, and the bytes that its entry has. */
const LENGTHS: readonly {
  readonly name: string
  readonly validate: 'off' | 'enforce'
  readonly body: () => string | ReadableStream | null
  readonly bytes: number | null
}[] = [
  { name: 'streamed with its length', validate: 'off', body: () => BODY, bytes: BODY.length },
  { name: 'streamed without a length', validate: 'off', body: () => inPieces(), bytes: null },
  { name: 'read, with its length', validate: 'enforce', body: () => BODY, bytes: BODY.length },
  { name: 'read, without a length', validate: 'enforce', body: () => inPieces(), bytes: BODY.length },
  { name: 'empty', validate: 'off', body: () => null, bytes: 0 },
]

/** The gateway reads a body only to check it. */
const content = { 'application/json': { schema: { type: 'string' } } }

/** Sent in chunks. */
const inPieces = (): ReadableStream => new Blob([BODY]).stream()

for (const { name, validate, body, bytes } of LENGTHS) {
  test(`the entry of a call has ${bytes === null ? 'no bytes' : 'the bytes'} of a body that is ${name}`, async (t) => {
    const file = petContract((paths) => {
      const post = { responses: { 200: { description: 'good' } }, requestBody: { content } }
      paths['/pets'] = { post }
    })
    const { gateway, calls } = await scene(t, {}, { validate, contract: { current: { file }, refresh: 0 } })
    const init: RequestInit = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: body(),
      duplex: 'half',
    }
    await (await fetch(`${gateway.addresses.proxy}/pets`, init)).text()
    await until(() => calls().length === 1, 'the call is logged')
    const [entry] = calls()
    assert.ok(isEntry(entry), JSON.stringify(isEntry.errors))
    assert.equal(entry.request_bytes, bytes)
  })
}

test('a call that could not be judged is logged with the reason', async (t) => {
  const contract = { current: { url: 'http://127.0.0.1:9/openapi.json' }, refresh: 0 }
  const { call, calls, gateway } = await scene(t, {}, { contract })
  assert.equal((await call()).status, 503)
  await until(() => calls().length === 1, 'the call is logged')
  assert.deepEqual([calls()[0]?.['decision'], calls()[0]?.['effect']], ['undecided', 'undecided'])
  assert.ok(gateway.log.length > 0)
})

test('what the configuration drops is not written, and what it masks cannot be read', async (t) => {
  const { call, change, calls, gateway } = await scene(t, {
    drop: ['entry.decision == "ALLOW"'],
    mask: [{ fields: ['correlation_id', 'reasons', 'risk_score'], when: 'entry.route.startsWith("pe")' }],
  })
  await call({ headers: { 'x-correlation-id': 'dropped' } })
  change(breakListing)
  await call({ headers: { 'x-correlation-id': 'hidden' } })
  await until(() => calls().length === 1, 'the stopped call is logged')
  const [entry] = calls()
  assert.ok(isEntry(entry))
  assert.deepEqual([entry.correlation_id, entry.reasons, entry.risk_score], ['[masked]', [], null])
  assert.match(await gateway.metrics.text(), /^preflight_decision_log_entries_total\{result="dropped"\} 1$/m)
})

test('nothing is forwarded or decided without a durable entry where on_full is block', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-log-'))
  const file = join(folder, 'decisions.ndjson')
  mkdirSync(file)
  const settings = { sinks: [{ type: 'file', path: file }], on_full: 'block' }
  const { call, upstream, preflight, gateway } = await scene(t, settings)
  const refused = await call()
  assert.equal(refused.status, 503)
  assert.equal(at(await refused.json(), 'error'), 'DECISION_LOG_UNWRITABLE')
  assert.equal(upstream.requests.length, 0)
  assert.equal(at(await preflight(), 'error'), 'DECISION_LOG_UNWRITABLE')
  assert.match(await gateway.metrics.text(), /^preflight_decision_log_entries_total\{result="lost"\} [1-9]/m)
  rmSync(file, { recursive: true })
  assert.equal((await call()).status, 200)
  assert.equal(entriesIn(file).filter(({ kind }) => kind === 'call').length, 1)
})

test('a decision whose entry was not durable is replayed only with a durable entry', async (t) => {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-log-')), 'decisions.ndjson')
  mkdirSync(file)
  const { gateway } = await scene(t, { sinks: [{ type: 'file', path: file }], on_full: 'block' })
  const ask = async () => {
    const answer = await fetch(`${gateway.addresses.api}/api/v1/preflight`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TEST_KEY}`,
        'content-type': 'application/json',
        'idempotency-key': 'the-same-request',
      },
      body: JSON.stringify({
        preflight_mode: 'authorize',
        idempotency_key: 'the-same-request',
        artifacts: [{ id: 'a', type: 'json_schema', before: '{}', after: '{}' }],
        context: { operation: 'deploy' },
      }),
    })
    return { replayed: answer.headers.get('idempotency-replayed'), body: await answer.json() }
  }
  for (const _ of ['decided', 'replayed']) assert.equal(at((await ask()).body, 'error'), 'DECISION_LOG_UNWRITABLE')
  rmSync(file, { recursive: true })
  const { replayed, body } = await ask()
  assert.equal(replayed, 'true')
  const [entry, ...others] = entriesIn(file)
  assert.ok(isEntry(entry), JSON.stringify(isEntry.errors))
  assert.deepEqual(others, [])
  assert.equal(entry.decision_id, at(body, 'decision_result', 'decision_id'))
  assert.deepEqual(entry.details, { replayed: true })
  assert.ok(Number(entry.request_bytes) > 0, 'the bytes of the body')
})

test('an act that no sink took waits in the store, and is written when one does', async (t) => {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-log-')), 'decisions.ndjson')
  mkdirSync(file)
  const { api, gateway } = await scene(t, { sinks: [{ type: 'file', path: file }], on_full: 'block' })
  const made = await api('POST', '/api/v1/keys', { name: 'someone', role: 'viewer' })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  await until(
    async () => /^preflight_decision_log_entries_total\{result="lost"\} [1-9]/m.test(await gateway.metrics.text()),
    'the sink did not take it',
  )
  rmSync(file, { recursive: true })
  await until(() => entriesIn(file).length > 0, 'it is written later')
  const [entry] = entriesIn(file)
  assert.ok(isEntry(entry), JSON.stringify(isEntry.errors))
  assert.deepEqual([entry.act, at(entry.details, 'change')], ['keys.api_key_changed', 'created'])
  assert.equal(gateway.log.filter(({ event }) => event === 'keys.api_key_changed').length, 1)
})

test('a lost entry is counted and costs no call where on_full is drop_and_count', async (t) => {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-log-')), 'decisions.ndjson')
  mkdirSync(file)
  const { call, gateway } = await scene(t, { sinks: [{ type: 'file', path: file }] })
  assert.equal((await call()).status, 200)
  await until(
    async () => /^preflight_decision_log_entries_total\{result="lost"\} [1-9]/m.test(await gateway.metrics.text()),
    'the entry is counted',
  )
})

const part = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))

test('a call under a receipt has an entry with the receipt and the key that signed it', async (t) => {
  const { call, receipt, calls } = await scene(t, {}, { receipts: { require: true } })
  const token = await receipt()
  assert.equal((await call({ headers: { 'preflight-receipt': token } })).status, 200)
  await until(() => calls().some(({ decision }) => decision === 'receipt'), 'the call is logged')
  const entry = calls().find(({ decision }) => decision === 'receipt')
  const [header = '', claims = ''] = token.split('.')
  assert.equal(entry?.['receipt_key'], at(part(header), 'kid'))
  assert.equal(entry?.['receipt_id'], at(part(claims), 'jti'))
})

for (const [settings, wanted] of [
  [{ drop: ['entry.decison == "ALLOW"'] }, /reads entry\.decison, which does not exist/],
  [{ drop: ['request.path == "/"'] }, /reads request, which does not exist; there is entry/],
  [{ mask: [{ fields: ['id'] }] }, /no member "id" that can be masked/],
  [{ mask: [{ fields: ['target'], when: 'entry.' }] }, /the expression/],
  [{ sinks: [{ type: 'stdout' }, { type: 'stdout' }] }, /sinks\[0\] writes the same entries/],
] as const) {
  test(`${JSON.stringify(settings)} is a mistake`, () => {
    const loaded = loadConfig({ environment: {}, value: { decision_log: settings } })
    assert.ok(!loaded.ok)
    assert.match(loaded.problem.map(({ message }) => message).join('\n'), wanted)
  })
}

test('the published schema is the schema of the entries', async (t) => {
  const { gateway } = await scene(t)
  const answer = await fetch(`${gateway.addresses.api}/schemas/decision-log-entry.json`)
  const served: unknown = await answer.json()
  assert.equal(textAt(served, 'title'), 'Entry of the decision log')
  assert.deepEqual(Object.keys(Object(at(served, 'properties'))), [...ENTRY_FIELDS])
})

test('preflight logs tail shows what was decided, filtered', async (t) => {
  const { call, change, calls, file } = await scene(t)
  await call()
  change(breakListing)
  await call({ headers: { 'x-correlation-id': 'stopped-one' } })
  await until(() => calls().length === 2, 'both calls are logged')
  const shown = await run(['logs', 'tail', '--file', file, '--decision', 'BLOCK'])
  assert.equal(shown.code, 0, shown.stderr)
  assert.match(shown.stdout, /^\S+  BLOCK  stopped  pets  GET \/pets  .*stopped-one\n$/)
  const json = await run(['logs', 'tail', '--file', file, '--lines', '1', '--format', 'json'])
  assert.equal(textAt(JSON.parse(json.stdout), 'decision'), 'BLOCK')
  const none = await run(['logs', 'tail', '--file', `${file}.none`])
  assert.equal(none.code, 2)
  assert.match(none.stderr, /\.none does not exist; make it, or name another file/)
  const folder = await run(['logs', 'tail', '--file', dirname(file)])
  assert.equal(folder.code, 2)
  assert.match(folder.stderr, /is a directory; name a file in it/)
  const unnamed = await run(['logs', 'tail'])
  assert.match(unnamed.stderr, /no sink of type file in decision_log\.sinks/)
})
