/** Whatever connects somewhere names address and reason when nobody answers there, and the setting where it has one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProviders } from '../../gateway/callers/providers.ts'
import { errorCode, messageOf, notReached } from '../../gateway/errors/startup-error.ts'
import { openExternalSigner } from '../../gateway/keys/external-signer.ts'
import { deliver } from '../../gateway/notifications/deliver.ts'
import { connectToHub } from '../../gateway/store/hub/connection.ts'
import { createReceiver } from '../../gateway/telemetry/sinks/receiver.ts'
import { run } from '../fakes/command-io.ts'
import { startDesk, startLineClient } from '../fakes/desk.ts'
import { freePort } from '../fakes/listening.ts'
import { at, textAt } from '../json.ts'

const COMMANDS: readonly (readonly string[])[] = [
  ['status'],
  ['approvals', 'list'],
  ['baselines', 'list'],
  ['break-glass', 'list'],
  ['keys', 'list'],
  ['ledger', 'list'],
  ['log-level'],
]

for (const command of COMMANDS)
  test(`preflight ${command.join(' ')} names address, reason and setting when no gateway answers`, async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const url = `http://${host}:${await freePort()}`
      const environment = { PREFLIGHT_URL: url, PREFLIGHT_API_KEY: 'pf_test_0123456789abcdef' }
      const { code, stderr } = await run(command, { environment })
      assert.equal(code, 3)
      assert.ok(stderr.includes(url), stderr)
      assert.match(stderr, /ECONNREFUSED.*--url or PREFLIGHT_URL/)
    }
  })

const KEY = 'A'.repeat(43)

/** What connects → the reason that it gives, for an address with a secret in its path. */
const CONNECTORS: Readonly<Record<string, (url: string) => Promise<string>>> = {
  'a webhook of notifications': async (url) => {
    const message = { id: 'a', channel: 'b', kind: 'test', subject: 'c', payload: '{}', createdAt: 0 } as const
    const row = { ...message, attempts: 0, nextAt: 0, deliveredAt: null, failedAt: null, problem: null, thread: null }
    const outcome = await deliver(row, { name: 'b', type: 'slack', url, tenants: [], min_risk: 0 }, 5000)
    return outcome.problem ?? ''
  },
  'a receiver of telemetry': async (url) => {
    const protocol = {
      url,
      contentType: 'a/b',
      headers: {},
      encode: () => '',
      read: () => ({ rejected: 0, why: null }),
    }
    const receiver = createReceiver(protocol, 5000)
    const delivered = await receiver.deliver(['{}'], AbortSignal.timeout(5000))
    await receiver.close()
    return delivered.kind === 'refused' ? delivered.problem : ''
  },
  'console.providers[].issuer': async (issuer) => {
    const provider = { name: 'corp', issuer, client_id: 'a', scopes: ['openid'], groups_claim: 'groups', roles: [] }
    const begun = createProviders(Date.now).beginDevice({ ...provider, tenant: 'local', session: 60 })
    return begun.then(() => '', messageOf)
  },
  'signer.url': async (url) => {
    const signer = await openExternalSigner({ url, public_key: KEY, timeout: 5 })
    const problem = await (signer?.sign('a') ?? Promise.resolve()).then(() => '', messageOf)
    await signer?.close()
    return problem
  },
  'store.url': async (url) => {
    const access = { timeout: 5, max_age: 0 }
    const problems: string[] = []
    const onWritable = (_: boolean, cause?: unknown) => void problems.push(messageOf(cause))
    const hub = connectToHub(new URL(url).origin, access, { onWritable }, Date.now)
    const error: unknown = await hub.ask('GET', '/hub/x', null, true).catch((one: unknown) => one)
    await hub.close()
    assert.equal(error instanceof Error && errorCode(error.cause), 'ECONNREFUSED')
    return problems.join()
  },
}

for (const [name, problemAt] of Object.entries(CONNECTORS))
  test(`${name} names address and reason when nobody answers, and no secret`, async () => {
    const origin = `http://127.0.0.1:${await freePort()}`
    const problem = await problemAt(`${origin}/secret-path?token=secret`)
    assert.ok(problem.includes(`at ${origin} was not reached: connect ECONNREFUSED`), problem)
    assert.doesNotMatch(problem, /secret/)
    if (name.includes('.')) assert.ok(problem.includes(name), problem)
  })

for (const [host, reason] of [
  ['127.0.0.1', 'ECONNREFUSED'],
  ['nowhere.invalid', 'ENOTFOUND'],
] as const)
  test(`preflight mcp --url names address and reason (${reason}) to its client`, async (t) => {
    const desk = startDesk(t)
    const origin = `http://${host}:${await freePort()}`
    const client = startLineClient(desk, ['--name', 'far', '--url', `${origin}/mcp?token=secret`], [])
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } }
    const { error } = await client.ask('init', 'initialize', params)
    const message = textAt(error, 'message')
    assert.ok(message.startsWith(`UPSTREAM_UNREACHABLE: the server at ${origin} was not reached: `), message)
    assert.match(message, new RegExp(reason))
    assert.doesNotMatch(message, /secret/)
    assert.equal(at(error, 'data', 'error'), 'UPSTREAM_UNREACHABLE')
  })

test('preflight mcp --sse names address and reason to its client', async (t) => {
  const origin = `http://localhost:${await freePort()}`
  const client = startLineClient(startDesk(t), ['--name', 'far', '--sse', `${origin}/sse?token=secret`], [])
  client.send({ id: 'init', method: 'initialize', params: {} })
  const { error } = await client.answer('init')
  assert.match(textAt(error, 'message'), /^the server at http:\/\/localhost:\d+ was not reached: .*ECONNREFUSED/)
  assert.doesNotMatch(textAt(error, 'message'), /secret/)
})

test('an address without a host is named as it is, and a failure keeps its code', () => {
  const failure = notReached('the signer', 'unix:/run/s.sock', Object.assign(new Error('away'), { code: 'ENOENT' }))
  assert.equal(failure.message, 'the signer at unix:/run/s.sock was not reached: away')
  assert.equal(at(failure, 'code'), 'ENOENT')
})
