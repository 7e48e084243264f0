/** Egress that is tightened while connections are open: a kept connection is no way to an address or host that is denied now. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { startTestGateway, TEST_KEY } from '../fakes/gateway.ts'
import { petContract, startHttpUpstream } from '../fakes/http-upstream.ts'
import { textAt } from '../json.ts'
import { openConnect, readHead } from '../fakes/through-proxy.ts'
import { until } from '../fakes/until.ts'
import { exchangeBytes, requestText, statusOf } from '../fakes/raw-http.ts'

const ROUTE = { name: 'pets', match: { host: 'localhost' }, protocol: 'http' }

async function scene(t: TestContext, routes: readonly object[], more: object = {}) {
  const inside = await startHttpUpstream((_request, response) => response.end('inside'))
  t.after(() => inside.close())
  // The gateway reads these objects again when it reloads.
  const egress = { allow: ['localhost', '127.0.0.1', '::1'], deny: [] as string[] }
  const list = [...routes]
  const gateway = await startTestGateway(t, { egress, routes: list, ...more })
  const { port } = new URL(inside.origin)
  return {
    gateway,
    inside,
    port,
    forward: async () =>
      statusOf(
        await exchangeBytes(
          gateway.addresses.proxy,
          requestText(`GET http://localhost:${port}/pets HTTP/1.1\nHost: localhost:${port}`),
        ),
      ),
    reload: (deny: readonly string[], further: readonly object[] = []) => {
      egress.deny = [...deny]
      list.push(...further)
      const { generation } = gateway.settings()
      gateway.reload()
      assert.equal(gateway.settings().generation, generation + 1)
    },
  }
}

for (const [what, routes] of [
  ['a route', [{ ...ROUTE, contract: { current: { file: petContract() } } }]],
  ['no route', []],
] as const)
  test(`a kept connection of ${what} to an address that is denied now takes no further request`, async (t) => {
    const { inside, forward, reload } = await scene(t, routes)
    assert.equal(await forward(), 200)
    assert.equal(await forward(), 200)
    assert.equal(inside.openSockets(), 1, 'the connection is kept')
    reload(['127.0.0.0/8', '::1'])
    assert.equal(await forward(), 403)
    assert.equal(inside.requests.length, 2)
    reload([])
    assert.equal(await forward(), 200)
  })

const CHANGES: readonly {
  readonly what: string
  readonly apply: (started: Awaited<ReturnType<typeof scene>>, keyId: string) => unknown
  readonly isOpenAfter?: true
}[] = [
  { what: 'its address is denied', apply: ({ reload }) => reload(['127.0.0.0/8', '::1']) },
  { what: 'its name is denied', apply: ({ reload }) => reload(['localhost']) },
  {
    what: 'a route names its host',
    apply: ({ reload }) => reload([], [{ ...ROUTE, contract: { current: { file: petContract() } } }]),
  },
  {
    what: 'the key of its client is revoked',
    apply: ({ gateway }, keyId) =>
      fetch(`${gateway.addresses.api}/api/v1/keys/${encodeURIComponent(keyId)}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${TEST_KEY}` },
      }),
  },
  { what: 'another address is denied', apply: ({ reload }) => reload(['192.0.2.0/24']), isOpenAfter: true },
]

for (const { what, apply, isOpenAfter = false } of CHANGES)
  test(`a tunnel that is open while ${what} ${isOpenAfter ? 'goes on' : 'is closed'}`, async (t) => {
    const started = await scene(t, [], { proxy_auth: 'required' })
    const { gateway, port, inside } = started
    const made = await fetch(`${gateway.addresses.api}/api/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'pod', role: 'agent' }),
    })
    const key: unknown = await made.json()
    const { socket, head } = await openConnect(gateway.addresses.proxy, `localhost:${port}`, [
      `Proxy-Authorization: Bearer ${textAt(key, 'api_key')}`,
    ])
    t.after(() => socket.destroy())
    assert.equal(statusOf(head), 200)
    const ask = async (): Promise<number> => {
      socket.write(`GET /pets HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`)
      const answer = statusOf(await readHead(socket))
      socket.read()
      return answer
    }
    assert.equal(await ask(), 200)
    await apply(started, textAt(key, 'key', 'id'))
    if (isOpenAfter) {
      await setTimeout(2500)
      assert.equal(await ask(), 200)
    } else {
      await until(() => Promise.resolve(inside.openSockets() === 0), 'the tunnel is closed')
      assert.ok(gateway.log.some(({ event }) => event === 'tunnel.no_longer_allowed'))
    }
  })
