/** Where things are on pages of the console: the names of decisions in lists, and the way to a form on a small screen. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillScene, ORDERS_BROKEN, startConsoleScene } from '../../fakes/console-scene.ts'
import { visitorWith } from '../../fakes/console-visitor.ts'

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
    '/console': /href="\/console\/approvals\/apr_\w+">\s*<strong>Call <bdi>tools\/echo<\/bdi></,
    '/console/ledger': /href="\/console\/decisions\/dec_\w+"\s*>Call <bdi>tools\/echo<\/bdi></,
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

test('the pages of a decision and of its request title each card beside them, count places, and mark where they belong', async (t) => {
  const scene = await startConsoleScene(t)
  await fillScene(scene)
  const visitor = await visitorWith(scene.url, scene.admin)
  const first = async (list: string, path: string) => {
    const [, found = ''] = new RegExp(`href="(${path}/\\w+)"`).exec(await (await visitor.get(list)).text()) ?? []
    return { path: found, text: await (await visitor.get(found)).text() }
  }
  const request = await first('/console/approvals', '/console/approvals')
  const decision = await first(request.path, '/console/decisions')
  const pages = { '/console/approvals': request.text, '/console/ledger': decision.text }
  for (const [path, text] of Object.entries(pages)) {
    assert.match(text, new RegExp(`<a href="${path}"\\s+aria-current="page"\\s*>`))
    const [, rail = ''] = /<aside class="rail"([^]*)<\/aside>/.exec(text) ?? []
    const cards = rail.split(/class="card pad/).slice(1)
    assert.ok(cards.length >= 2, path)
    for (const card of cards) assert.match(card, /<h2[ >]|<summary>/, `${path}: ${card.slice(0, 200)}`)
    assert.match(text, /\d changes? at \d places|1 change</)
    // As in reports, a finding names the place in its message.
    assert.match(text, /<p class="what">[^]*? \((?:query parameter|request body|response 200)[^)]*\)<\/p>/)
  }
})

const READ_AS: readonly (readonly [what: string, repository: string, title: string])[] = [
  ['an override of direction', 'acme/\u202Esredro', 'acme/\\u{202e}sredro'],
  ['an isolate', 'acme/\u2067orders\u2069', 'acme/\\u{2067}orders\\u{2069}'],
  ['an invisible character', 'acme/or\u200Bders', 'acme/or\\u{200b}ders'],
  ['a joiner between ASCII letters', 'acme/or\u200Dders', 'acme/or\\u{200d}ders'],
  ['a control character', 'acme/\u009B31m', 'acme/\\u{9b}31m'],
  ['a script from right to left', 'acme/خدمة', 'acme/خدمة'],
  ['a joiner of a script', 'می\u200Cخواهم', 'می\u200Cخواهم'],
  ['a joined emoji', '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}', '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}'],
]

test('a name is shown to an approver as it is, and does not reorder the rest of the title', async (t) => {
  const scene = await startConsoleScene(t)
  const visitor = await visitorWith(scene.url, await scene.newKey('Ana', 'approver', 'payments'))
  for (const [what, repository, title] of READ_AS) {
    const asked = await scene.ask({ operation: 'merge', environment: 'test', repository, pull_request: 7 })
    const page = await (await visitor.get(`/console/approvals/${scene.requestIn(asked)}`)).text()
    assert.ok(page.includes(`<h1>Merge <bdi>${title}</bdi> #7 → <bdi>test</bdi></h1>`), what)
    assert.ok(page.includes(`<title>Merge ${title} #7 → test · Approvals · Preflight</title>`), what)
  }
})
