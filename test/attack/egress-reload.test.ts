/** Egress that is tightened while connections are open: a kept connection is no way to an address or host that is denied now. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startTestGateway } from '../fakes/gateway.ts'
import { petContract, startHttpUpstream } from '../fakes/http-upstream.ts'
import { exchangeBytes, requestText, statusOf } from '../fakes/raw-http.ts'

const ROUTE = { name: 'pets', match: { host: 'localhost' }, protocol: 'http' }

async function scene(t: TestContext, routes: readonly object[]) {
  const inside = await startHttpUpstream((_request, response) => response.end('inside'))
  t.after(() => inside.close())
  // The gateway reads these objects again when it reloads.
  const egress = { allow: ['localhost', '127.0.0.1', '::1'], deny: [] as string[] }
  const list = [...routes]
  const gateway = await startTestGateway(t, { egress, routes: list })
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
