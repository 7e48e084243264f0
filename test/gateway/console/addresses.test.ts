/** `public_url`: where answers of the API, of calls and of MCP lead people to pages of the console. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGES } from '../../../gateway/console/serving/pages.ts'
import { ORDERS_BROKEN, startConsoleScene } from '../../fakes/console-scene.ts'
import { visitorWith } from '../../fakes/console-visitor.ts'
import { at, listAt, textAt } from '../../json.ts'

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

/** Query → what the page states of it. */
const WRONG_QUERIES: Readonly<Record<string, RegExp>> = {
  '/console?x=1': /x is not known; this path takes no query parameters/,
  '/console/approvals?state=open': /state must be one of pending, granted, denied, expired/,
  '/console/approvals?state=pending&state=granted': /state is given more than once/,
  '/console/approvals?after=%27+OR+1': /after must be an id/,
  '/console/approvals?sate=pending': /sate is not known; did you mean &quot;state&quot;/,
  '/console/ledger?from=abc': /from must be a date and time of UTC, such as 2026-01-31T12:00/,
  '/console/ledger?to=2026-06-31T00:00': /to must be a date and time/,
  '/console/ledger?from=2026-01-02T00:00Z': /from must be a date and time/,
  '/console/ledger?from=2026-01-02T00:00&to=2026-01-01T00:00': /from must be before to/,
  '/console/ledger?before=x': /before must be a cursor/,
  '/console/ledger?decision=Block': /decision must be one of ALLOW, WARN, REQUIRE_APPROVAL, BLOCK/,
  '/console/ledger?records=call': /records must be one of decisions, calls/,
  '/console/ledger?records=calls&effect=drift': /effect must be one of/,
  '/console/ledger?records=calls&decision=BLOCK': /decision is not a filter of calls/,
  '/console/ledger?correlationId=a': /correlationId is not a filter of decisions/,
  '/console/ledger?records=calls&correlationId=%24': /correlationId must be an id/,
  '/console/ledger?traceId=abc': /traceId must be the id of a trace/,
  [`/console/ledger?route=${'r'.repeat(301)}`]: /route must have at most 300 characters/,
  '/console/ledger/export?from=abc': /from must be a date and time/,
  '/console/ledger/export?decision=none': /decision must be one of/,
  [`/console/contracts?q=${'q'.repeat(201)}`]: /q must have at most 200 characters/,
  '/console/keys?state=revoked': /state must be one of ended, sessions/,
  '/console/keys?from=-5': /from must be 0 or more/,
  '/console/keys?from=x': /from must be integer/,
  '/console/keys?from=1.5': /from must be integer/,
  '/console/notifications?done=2': /done must be one of 1/,
  '/console/ledger?from=%3Cb%3E&%3Cb%3E=1': /&lt;b&gt; is not known/,
}

const RIGHT_QUERIES = [
  '/console/approvals?state=granted&after=apr_1',
  '/console/ledger?decision=&operation=+merge+&repository=&environment=&route=&traceId=&from=2026-01-01T00%3A00&to=2026-01-01T00%3A00%3A01',
  '/console/ledger?records=calls&effect=drifted&correlationId=a&before=10',
  '/console/ledger/export?records=calls&from=',
  '/console/contracts?q=order',
  '/console/keys?state=&from=50',
  '/console/keys?from=1e9',
  '/console/notifications?done=1',
]

test('a parameter of a page that is unknown or has another form is named with status 400, as by the API', async (t) => {
  const scene = await startConsoleScene(t)
  const visitor = await visitorWith(scene.url, scene.admin)
  for (const [path, stated] of Object.entries(WRONG_QUERIES)) {
    const answer = await visitor.get(path)
    assert.equal(answer.status, 400, path)
    const page = await answer.text()
    assert.match(page, stated, path)
    assert.doesNotMatch(page, /<b>/)
    const isSearch = path.startsWith('/console/ledger?')
    assert.equal(/<form class="filters"/.test(page), isSearch, `${path}: what was searched can be corrected`)
  }
  for (const path of RIGHT_QUERIES) assert.equal((await visitor.get(path)).status, 200, path)
  for (const { method, path } of PAGES) {
    if (method === 'POST' || path.includes(':')) continue
    assert.equal((await visitor.get(`${path}?colour=red`)).status, 400, path)
  }
})
