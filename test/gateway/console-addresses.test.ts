/** `public_url`: where answers of the API, of calls and of MCP lead people to pages of the console. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ORDERS_BROKEN, startConsoleScene } from '../fakes/console-scene.ts'
import { visitorWith } from '../fakes/console-visitor.ts'
import { at, listAt, textAt } from '../json.ts'

test('every answer that names a decision or a request names its page, when clients know the address of the console', async (t) => {
  const base = 'https://preflight.test/console'
  const scene = await startConsoleScene(t, { public_url: 'https://preflight.test' })
  const held = await scene.change(ORDERS_BROKEN)
  assert.equal(held.status, 428)
  const location = held.headers.get('location') ?? ''
  assert.match(location, new RegExp(`^${base}/approvals/apr_[0-9a-f]{32}$`))
  const asked = await scene.ask({ operation: 'merge', repository: 'acme/orders', environment: 'production' })
  const id = textAt(asked, 'decision_result', 'decision_id')
  const evidence = listAt(asked, 'decision_result', 'evidence').find((row) => at(row, 'type') === 'APPROVAL')
  const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
  const tool = { ...rpc, params: { name: 'get_decision_details', arguments: { decision_id: id } } }
  const answers: Readonly<Record<string, unknown>> = {
    preflight: asked,
    'stored decision': (await scene.api('GET', `/api/v1/decisions/${id}`)).body,
    lookup: (await scene.api('POST', '/api/v1/decisions/lookup', { decision_id: id })).body,
    'MCP tool': await (
      await fetch(`${scene.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${scene.admin}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(tool),
      })
    ).text(),
  }
  for (const [name, answer] of Object.entries(answers)) {
    const addresses = [...JSON.stringify(answer).matchAll(/report_url\\*":\\*"([^"\\]*)/g)].map(([, url]) => url)
    assert.ok(addresses.length > 0, `${name} has no report_url: ${JSON.stringify(answer).slice(0, 300)}`)
    for (const url of addresses) assert.equal(url, `${base}/decisions/${id}`, name)
  }
  const visitor = await visitorWith(scene.url, scene.admin)
  const request = textAt(evidence, 'source')
  for (const url of [location, `${base}/decisions/${id}`, `${base}/approvals/${request}`])
    assert.equal((await visitor.get(new URL(url).pathname)).status, 200, url)
})
