/** Where things are on pages of the console: the names of decisions in lists, and the way to a form on a small screen. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ORDERS_BROKEN, startConsoleScene } from '../fakes/console-scene.ts'
import { visitorWith } from '../fakes/console-visitor.ts'

test('lists of decisions name the tool or operation of each', async (t) => {
  const scene = await startConsoleScene(t)
  const { status } = await scene.api('POST', '/api/v1/preflight', {
    preflight_mode: 'authorize',
    artifacts: [{ id: 'a', type: 'json_schema', before: '{"type":"string"}', after: '{"type":"integer"}' }],
    context: { operation: 'tool_call', target_id: 'tools/echo' },
  })
  assert.equal(status, 200)
  const visitor = await visitorWith(scene.url, scene.admin)
  const lists = {
    '/console': /href="\/console\/approvals\/apr_\w+">\s*<strong>Call tools\/echo</,
    '/console/ledger': /href="\/console\/decisions\/dec_\w+">Call tools\/echo</,
  }
  for (const [path, named] of Object.entries(lists))
    assert.ok(named.test(await (await visitor.get(path)).text()), `${path} names the tool`)
})

test('the page of a changed route leads past the changes to the form that accepts them', async (t) => {
  const scene = await startConsoleScene(t)
  const visitor = await visitorWith(scene.url, scene.admin)
  const page = async () => (await visitor.get('/console/routes/orders')).text()
  assert.ok(!(await page()).includes('href="#accept"'), 'there is nothing to accept')
  await scene.change(ORDERS_BROKEN)
  const changed = await page()
  assert.match(changed, /<a class="button jump" href="#accept">/)
  assert.match(changed, /<aside [^>]*id="accept"[^>]*>\s*<form /)
})
