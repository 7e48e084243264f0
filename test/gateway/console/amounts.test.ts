/** What the console states of amounts: where the ledger begins after pruning, what the plans of keys leave for the month, and many keys page by page. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../../fakes/command-io.ts'
import { ORDERS, startConsoleScene } from '../../fakes/console-scene.ts'
import { visitorWith } from '../../fakes/console-visitor.ts'
import { startTestGateway, TEST_KEY } from '../../fakes/gateway.ts'
import { listAt, textAt } from '../../json.ts'

test('the ledger page states where its chain begins after the oldest entries were removed', async (t) => {
  // Receipts of then have ended: their decisions may go.
  const gateway = await startTestGateway(t, {}, { now: () => Date.parse('2026-01-05T12:00:00Z') })
  const url = gateway.addresses.api
  for (const repository of ['acme/a', 'acme/b', 'acme/c']) {
    const answer = await fetch(`${url}/api/v1/preflight`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        preflight_mode: 'authorize',
        artifacts: [{ id: 'a', type: 'json_schema', before: '{}', after: '{}' }],
        context: { operation: 'merge', repository },
      }),
    })
    assert.equal(answer.status, 200)
  }
  const visitor = await visitorWith(url, TEST_KEY)
  const page = async () => (await visitor.get('/console/ledger')).text()
  assert.match(await page(), /: \d+ entries, none removed, head/)
  const place = ['--data-dir', gateway.dataDir]
  const ledger = async (...argv: readonly string[]) => {
    const { code, stdout, stderr } = await run(['ledger', ...argv, ...place])
    assert.equal(code, 0, stderr)
    return stdout
  }
  await ledger('checkpoint')
  const stated = await ledger('prune', '--before', '2026-01-06')
  const begins = /begins at entry (\d+)/.exec(stated)?.[1] ?? assert.fail(stated)
  const pruned = await page()
  assert.ok(pruned.includes(`: entries ${begins} to `), pruned)
  assert.match(pruned, /the earlier\s+ones removed <time/)
})

test('the keys page shows what each plan allows, what is used of it and when it resets', async (t) => {
  // The plan of the first key is not among them.
  const scene = await startConsoleScene(t, { plans: { small: { monthly: 2 }, open: { monthly: null } } })
  const keyOf = async (role: string, plan: string) => {
    const made = await scene.api('POST', '/api/v1/keys', { name: `${plan} ${role}`, role, plan, tenant: 'team-a' })
    assert.equal(made.status, 201)
    return textAt(made.body, 'api_key')
  }
  const [limited, other] = [await keyOf('admin', 'small'), await keyOf('agent', 'open')]
  const quotasFor = async (key: string) => {
    const page = await (await (await visitorWith(scene.url, key)).get('/console/keys')).text()
    const [, table = ''] = /<section aria-labelledby="quotas">([\s\S]*?)<\/section>/.exec(page) ?? []
    const [, body = ''] = /<tbody[^>]*>([\s\S]*)<\/tbody>/.exec(table) ?? []
    assert.match(table, /600 counted requests a minute/)
    return body.split('</tr>').flatMap((row) => {
      const cells = [...row.matchAll(/<td[^>]*>([\s\S]*?)<\/td>/g)].map(([, cell = '']) => cell)
      return cells.length === 0 ? [] : [cells.map((cell) => cell.replaceAll(/<[^>]+>/g, '').trim())]
    })
  }
  const open = ['team-a', 'open', '1', '–', 'unlimited', 'unlimited', '–']
  const small = async () => (await quotasFor(limited)).find(([, plan]) => plan === 'small')?.slice(0, 6)
  assert.deepEqual((await quotasFor(limited))[0], open)
  assert.deepEqual(await small(), ['team-a', 'small', '1', '0', '2', '2'])
  await scene.ask({ operation: 'deploy', repository: 'acme/a' }, ORDERS, limited)
  await scene.ask({ operation: 'deploy', repository: 'acme/b' }, ORDERS, other)
  assert.deepEqual(await small(), ['team-a', 'small', '1', '1', '2', '1'])
  await scene.ask({ operation: 'deploy', repository: 'acme/c' }, ORDERS, limited)
  assert.deepEqual(await small(), ['team-a', 'small', '1', '2', '2', 'None'])
  const all = await quotasFor(scene.admin)
  assert.deepEqual(
    all.map(([tenant, plan, , , limit]) => [tenant, plan, limit]),
    [
      ['local', 'enterprise', 'Plan not configured'],
      ['team-a', 'open', 'unlimited'],
      ['team-a', 'small', '2'],
    ],
  )
  assert.equal((await quotasFor(limited)).length, 2)
  const page = await (await (await visitorWith(scene.url, limited)).get('/console/keys')).text()
  const now = new Date()
  const reset = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString()
  assert.ok(page.includes(`datetime="${reset}"`), 'the month ends in UTC')
})

const listed = (text: string) => [...text.matchAll(/<strong>(key \d+)<\/strong>/g)].map(([, name]) => name)

test('keys are listed page by page, and those that have ended apart', async (t) => {
  const scene = await startConsoleScene(t)
  const ids: string[] = []
  for (let n = 0; n < 60; n += 1) {
    const { body } = await scene.api('POST', '/api/v1/keys', { name: `key ${n}`, role: 'agent' })
    ids.push(textAt(body, 'key', 'id'))
  }
  const visitor = await visitorWith(scene.url, scene.admin)
  const page = async (query: string) => (await visitor.get(`/console/keys${query}`)).text()
  const first = await page('')
  assert.deepEqual([listed(first).length, listed(first)[0]], [50, 'key 59'])
  const [, older = ''] = /href="\/console\/keys(\?[^"]*from=50)"/.exec(first) ?? []
  assert.equal(listed(await page(older.replaceAll('&amp;', '&'))).length, 10)
  assert.match(await page('?state=ended'), /No keys/)
  const revoked = await visitor.post(`/console/keys/${ids[0]}`, { action: 'revoke' })
  assert.equal(revoked.headers.get('location'), '/console/keys?state=ended')
  assert.deepEqual(listed(await page('?state=ended')), ['key 0'])
  assert.ok(!listed(await page('?from=50')).includes('key 0'))
})

test('what waits is counted up to 100, and more than that is stated as more', async (t) => {
  const scene = await startConsoleScene(t)
  const visitor = await visitorWith(scene.url, scene.admin)
  const stated = async () => {
    const page = await (await visitor.get('/console')).text()
    return [/class="count">([^<]+)</, />All ([^<]+)</].map((pattern) => pattern.exec(page)?.[1])
  }
  const ask = (from: number, count: number) =>
    Promise.all(
      Array.from({ length: count }, async (_, index) =>
        scene.requestIn(await scene.ask({ operation: 'merge', repository: `acme/shop-${from + index}` })),
      ),
    )
  for (const from of [0, 25, 50, 75]) await ask(from, 25)
  assert.deepEqual(await stated(), ['100', '100'])
  await ask(100, 1)
  assert.deepEqual(await stated(), ['100+', '100+'])
  // Every page follows the one before it, so the request that expires next is the first of all.
  const shown: string[] = []
  const pages: number[] = []
  for (let path: string | undefined = '/console/approvals'; path !== undefined;) {
    const text: string = await (await visitor.get(path)).text()
    const ids = [...text.matchAll(/class="entry" href="\/console\/approvals\/(apr_\w+)"/g)].map(([, id = '']) => id)
    shown.push(...ids)
    pages.push(ids.length)
    path = /href="(\/console\/approvals\?[^"]*)"\s*>Requests that expire later</
      .exec(text)?.[1]
      ?.replaceAll('&amp;', '&')
  }
  const { body } = await scene.api('GET', '/api/v1/approvals?limit=200')
  const opened = listAt(body, 'approvals').map((row) => [textAt(row, 'expires_at'), textAt(row, 'id')] as const)
  const expected = opened.toReversed().toSorted(([a], [b]) => a.localeCompare(b))
  assert.deepEqual(
    shown,
    expected.map(([, id]) => id),
  )
  assert.deepEqual(pages, [100, 1])
  const overview = await (await visitor.get('/console')).text()
  assert.ok(overview.includes(`/console/approvals/${expected[0]?.[1]}"`), 'it is on the overview')
})
