/** A hostile agent on its way to where the gateway may not be used to go: other spellings of inside, names that change their mind, redirects. */
import assert from 'node:assert/strict'
import dns from 'node:dns'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { test, type TestContext } from 'node:test'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { listening } from '../fakes/listening.ts'
import { exchangeBytes, requestText, statusOf } from '../fakes/raw-http.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { openConnect } from '../fakes/through-proxy.ts'
import { TEST_KEY } from '../fakes/gateway.ts'
import { breakListing, startPetRoute } from '../fakes/pet-route.ts'
import { until } from '../fakes/until.ts'
import { at } from '../json.ts'

/** Whatever is behind the port is inside; the policy lets everything else through. */
async function scene(t: TestContext, egress: object = { default: 'allow' }) {
  const inside = await startHttpUpstream((_request, response) => response.end('inside'))
  const proxy = await startProxy({ routes: [], config: { egress } })
  t.after(async () => {
    await proxy.close()
    await inside.close()
  })
  const { port } = new URL(inside.origin)
  const forward = (host: string, path = '/') =>
    exchangeBytes(proxy.url, requestText(`GET http://${host}:${port}${path} HTTP/1.1\nHost: ${host}:${port}`))
  return { inside, proxy, port, forward }
}

const INSIDE = [
  '127.0.0.1',
  '127.1',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '2130706433',
  '127.0.0.1.',
  '0.0.0.0',
  '0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[fec0::1]',
  '[fe80::1%25eth0]',
  '[fe80::1%eth0]',
  '[::1%lo]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  'localho\u017Ft',
  '169.254.169.254',
  '[fd00:ec2::254]',
  'metadata.google.internal',
  'METADATA.google.internal.',
  'user@127.0.0.1',
  '127.0.0.1#',
  '127.0.0.1%2f',
  'example.com@127.0.0.1',
] as const

for (const host of INSIDE) {
  test(`${host} is not reached, by forward proxy or CONNECT`, async (t) => {
    const { inside, proxy, port, forward } = await scene(t)
    assert.ok([400, 403].includes(statusOf(await forward(host))), 'forward proxy')
    const connected = await openConnect(proxy.url, `${host}:${port}`)
    assert.ok([400, 403].includes(statusOf(connected.head)), connected.head)
    connected.socket.destroy()
    assert.equal(inside.seen.length, 0)
  })
}

for (const port of ['0', '65536', '080', '-1', '1e2', '+80', '8 0', '']) {
  test(`the port "${port}" is none`, async (t) => {
    const { proxy } = await scene(t)
    const { head, socket } = await openConnect(proxy.url, `example.com:${port}`)
    assert.equal(statusOf(head), 400)
    socket.destroy()
  })
}

/** Lets the system's look-up answer what the test says, one answer after the other. */
function resolveTo(t: TestContext, answers: readonly (readonly string[])[]): { readonly asked: () => number } {
  const real = dns.lookup
  let asked = 0
  const fake = (...parameters: readonly unknown[]): void => {
    const callback = parameters.at(-1)
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? []
    asked += 1
    if (typeof callback === 'function')
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
  }
  Object.assign(dns, { lookup: fake })
  syncBuiltinESMExports()
  t.after(() => {
    Object.assign(dns, { lookup: real })
    syncBuiltinESMExports()
  })
  return { asked: () => asked }
}

const FIRST_ONLY = { allow: ['rebind.example', '127.0.0.1'] }

test('a name that changes to another address between two connections is judged at each', async (t) => {
  const { inside, forward, proxy, port } = await scene(t, FIRST_ONLY)
  const names = resolveTo(t, [['127.0.0.1'], ['127.0.0.2']])
  assert.equal(statusOf(await forward('rebind.example')), 200)
  const { head } = await openConnect(proxy.url, `rebind.example:${port}`)
  assert.equal(statusOf(head), 403)
  assert.equal(names.asked(), 2, 'one look-up a connection: what was checked is what is connected to')
  assert.equal(inside.seen.length, 1)
})

for (const answers of [
  ['127.0.0.1', '127.0.0.2'],
  ['127.0.0.2', '127.0.0.1'],
  ['127.0.0.1', '::1'],
  ['127.0.0.1', '::ffff:169.254.169.254'],
  ['fe80::1%eth0'],
] as const) {
  test(`a name at ${answers.join(' and ')} is not connected to at all`, async (t) => {
    const { inside, forward } = await scene(t, FIRST_ONLY)
    resolveTo(t, [answers])
    assert.equal(statusOf(await forward('rebind.example')), 403)
    assert.equal(inside.seen.length, 0)
  })
}

test('the gateway’s own listeners are no destination, by any of their addresses', async (t) => {
  const { proxy } = await scene(t, { allow: ['127.0.0.0/8', '::/0', '0.0.0.0/8'] })
  const { port } = new URL(proxy.url)
  for (const host of ['127.0.0.1', '127.0.0.9', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0']) {
    const { head, socket } = await openConnect(proxy.url, `${host}:${port}`)
    assert.equal(statusOf(head), 403, host)
    socket.destroy()
  }
})

test('what the gateway sends itself follows nobody elsewhere, and its credentials stay where they belong', async (t) => {
  const elsewhere = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => elsewhere.close())
  const redirected: string[] = []
  const origin = await listening(
    t,
    createServer((request, response) => {
      request.resume()
      redirected.push(request.url ?? '')
      response.writeHead(307, { location: `${elsewhere.origin}${request.url}` }).end()
    }),
  )
  const { gateway, call, change } = await startPetRoute(
    t,
    {},
    {
      monitoring: {
        sinks: [
          { type: 'http', url: `${origin}/events`, header: 'Authorization: Bearer of-the-receiver' },
          { type: 'otlp', endpoint: `${origin}/v1/logs`, headers: { authorization: 'Bearer of-the-receiver' } },
        ],
      },
      diff: { allow_urls: [new URL(origin).host] },
      scm: { github: { api: origin } },
      policy: 'test/fakes/warn-pack.yaml',
    },
  )
  const api = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    fetch(gateway.addresses.api + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  change(breakListing)
  assert.equal((await call()).headers.get('preflight-action'), 'CONTINUE_WITH_MONITORING')
  await until(
    () => Promise.resolve(redirected.includes('/events') && redirected.includes('/v1/logs')),
    'events are sent',
  )
  await api('/api/diff', { base: `${origin}/a.yaml`, head: `${origin}/b.yaml` })
  const challenge = await api('/api/v1/bindings/challenge', { platform: 'scm_a', repository: 'acme/pets' })
  const id = at(await challenge.json(), 'challenge_id')
  const proof = await api('/api/v1/bindings/prove', { challenge_id: id }, { 'x-scm-token': 'scm-secret-token' })
  const reported = await proof.text()
  assert.equal(proof.status, 403)
  assert.doesNotMatch(reported, /scm-secret-token|of-the-receiver/)
  assert.equal(elsewhere.seen.length, 0)
  assert.doesNotMatch(JSON.stringify(gateway.log), /scm-secret-token|of-the-receiver/)
  assert.doesNotMatch(await gateway.metrics.text(), /scm-secret-token|of-the-receiver/)
})
