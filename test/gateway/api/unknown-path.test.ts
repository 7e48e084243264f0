/** A path that the API does not have: the answer names the one that is meant, or where all of them are described. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../../fakes/api.ts'
import { startProxy } from '../../fakes/proxy-under-test.ts'
import { textAt } from '../../json.ts'

const ALL = /GET \/openapi\.json describes all paths/

for (const [path, help] of [
  ['/v1/preflight', /Did you mean \/api\/v1\/preflight\?/],
  ['/api/v1/preflights', /Did you mean \/api\/v1\/preflight\?/],
  ['/api/v1/verify', /nothing at this address/],
  ['/API/DIFF', /Did you mean \/api\/diff\?/],
  ['/openapi.yaml', /Did you mean \/openapi\.json\?/],
  ['/', ALL],
  ['/graphql', ALL],
  [`/${'a'.repeat(8000)}`, ALL],
] as const)
  test(`${path.slice(0, 40)} is no path of the API`, async (t) => {
    const api = await startApi()
    t.after(() => api.close())
    const { status, body } = await api.get(path)
    assert.equal(status, 404)
    assert.match(textAt(body, 'message'), help)
  })

test('a request to the API that comes to the proxy gets the other address, and an ordinary one does not', async (t) => {
  const proxy = await startProxy({ routes: [] })
  t.after(() => proxy.close())
  for (const [path, isApi] of [
    ['/api/v1/preflight', true],
    ['/mcp', true],
    ['/console?a=b', true],
    ['/openapi.json', true],
    ['/apis', false],
    ['/', false],
  ] as const) {
    const answer = await fetch(proxy.url + path)
    assert.equal(answer.status, 404)
    assert.equal(textAt(await answer.json(), 'message').includes('listen.api'), isApi, path)
  }
})
