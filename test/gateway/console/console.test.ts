/** The console over HTTP: who gets in, what its answers carry, which forms it takes, and that no text of a contract becomes markup. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { PAGES } from '../../../gateway/console/serving/pages.ts'
import { receiptBadge } from '../../../gateway/console/parts.ts'
import { fillScene, ORDERS, ORDERS_BROKEN, startConsoleScene, type ConsoleScene } from '../../fakes/console-scene.ts'
import { consoleAddresses } from '../../fakes/console-pages.ts'
import { visitorWith, type ConsoleVisitor } from '../../fakes/console-visitor.ts'
import { until } from '../../fakes/until.ts'
import { textAt } from '../../json.ts'

async function heldRequest(scene: ConsoleScene): Promise<string> {
  const bot = await scene.newKey('release bot', 'agent')
  const asked = await scene.ask(
    { operation: 'merge', repository: 'acme/orders', environment: 'production' },
    undefined,
    bot,
  )
  return scene.requestIn(asked)
}

test('a visitor without a session is led to the sign-in and back to the page', async (t) => {
  const { url } = await startConsoleScene(t)
  const answer = await fetch(`${url}/console/approvals?state=denied`, { redirect: 'manual' })
  assert.equal(answer.status, 303)
  assert.equal(answer.headers.get('location'), '/console/sign-in?next=%2Fconsole%2Fapprovals%3Fstate%3Ddenied')
  const away = await fetch(`${url}/console/sign-in?next=https://evil.example/`, { redirect: 'manual' })
  assert.doesNotMatch(await away.text(), /evil\.example/)
  const unknown = await fetch(`${url}/console/sign-in`, {
    method: 'POST',
    headers: { origin: url },
    body: new URLSearchParams({ key: 'pf_live_nobody' }),
  })
  assert.equal(unknown.status, 401)
  assert.match(await unknown.text(), /not known here/)
})

test('the page of a decision links to its trace where the operator says, and the ledger is searched by it', async (t) => {
  const scene = await startConsoleScene(t, {
    console: { trace_url: 'https://traces.test/trace/{trace_id}?from=preflight' },
  })
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const answer = await fetch(`${scene.url}/api/v1/preflight`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${scene.admin}`,
      'content-type': 'application/json',
      traceparent: `00-${trace}-00f067aa0ba902b7-01`,
    },
    body: JSON.stringify({
      preflight_mode: 'authorize',
      artifacts: [{ id: 'a', type: 'json_schema', before: '{}', after: '{}' }],
      context: { operation: 'merge' },
    }),
  })
  const id = textAt(await answer.json(), 'decision_result', 'decision_id')
  const visitor = await visitorWith(scene.url, scene.admin)
  const page = await (await visitor.get(`/console/decisions/${id}`)).text()
  assert.ok(page.includes(`href="https://traces.test/trace/${trace}?from=preflight"`), page)
  const found = async (query: string) => (await visitor.get(`/console/ledger?traceId=${query}`)).text()
  assert.ok((await found(trace)).includes(id))
  assert.ok(!(await found('0'.repeat(32))).includes(id))
})

test('the page of a decision leads to its request, names whom the receipt was issued to, and shows no refusal as good', async (t) => {
  const scene = await startConsoleScene(t)
  const id = await heldRequest(scene)
  const visitor = await visitorWith(scene.url, scene.admin)
  const request = await (await visitor.get(`/console/approvals/${id}`)).text()
  const [, decision = ''] = /href="(\/console\/decisions\/dec_[0-9a-f]+)"/.exec(request) ?? []
  assert.doesNotMatch(request, /Other decisions of this scope/, 'the first decision has no others')
  const page = await (await visitor.get(decision)).text()
  assert.ok(page.includes(`href="/console/approvals/${id}"`))
  assert.match(page, /Issued to<\/dt>\s*<dd>release bot \(v:[0-9a-f]{12}\)/)
  const ledger = await (await visitor.get('/console/ledger')).text()
  for (const text of [page, ledger]) {
    assert.match(text, /class="badge none">Current</)
    assert.doesNotMatch(text, /class="badge good">Current</)
  }
})

test('a receipt that has ended is shown as expired', () => {
  const row = { decision: 'ALLOW', receiptState: 'current', expiresAt: 100 } as const
  assert.match(receiptBadge(row, 99).toString(), /good">Current/)
  assert.match(receiptBadge(row, 100).toString(), /none">Expired/)
  assert.match(receiptBadge({ ...row, receiptState: 'revoked' }, 100).toString(), /bad">Revoked/)
})

test('a key of an agent does not sign in, and a revoked key ends its sessions', async (t) => {
  const { url, newKey, gateway } = await startConsoleScene(t)
  const agent = await newKey('bot', 'agent')
  const form = { method: 'POST', headers: { origin: url }, body: new URLSearchParams({ key: agent }) }
  assert.equal((await fetch(`${url}/console/sign-in`, form)).status, 403)
  const key = await newKey('Ana', 'approver')
  const visitor = await visitorWith(url, key)
  assert.equal((await visitor.get('/console')).status, 200)
  const { run } = await import('../../fakes/command-io.ts')
  const listed = await run(['keys', 'list', '--format', 'json', '--data-dir', gateway.dataDir])
  const audience =
    /"audience": "(v:[0-9a-f]{12})",[^}]*"name": "Ana"|"name": "Ana"[^}]*"audience": "(v:[0-9a-f]{12})"/.exec(
      listed.stdout,
    )
  const found = audience?.[1] ?? audience?.[2] ?? assert.fail(listed.stdout)
  assert.equal((await run(['keys', 'revoke', found, '--data-dir', gateway.dataDir])).code, 0)
  assert.equal((await visitor.get('/console')).status, 303)
})

test('every answer forbids scripts and styles of others, framing, sniffing and storing', async (t) => {
  const { url, admin } = await startConsoleScene(t)
  const visitor = await visitorWith(url, admin)
  for (const path of ['/console', '/console/nowhere', '/console/sign-in']) {
    const { headers } = await visitor.get(path)
    assert.match(
      headers.get('content-security-policy') ?? '',
      /default-src 'none'; style-src 'self'; script-src 'self'/,
    )
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('cache-control'), 'no-store')
  }
  const page = await (await visitor.get('/console')).text()
  const assets = [...page.matchAll(/(?:href|src)="(\/console\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
  assert.equal(assets.length, 3)
  let bytes = page.length
  for (const path of assets) {
    const asset = await fetch(url + path)
    assert.equal(asset.status, 200)
    bytes += (await asset.text()).length
  }
  assert.ok(bytes < 100_000, `the first page has ${bytes} bytes`)
})

test('a form is taken only from a page of the same session and origin', async (t) => {
  const scene = await startConsoleScene(t)
  const id = await heldRequest(scene)
  const visitor = await visitorWith(scene.url, await scene.newKey('Ana', 'approver', 'payments'))
  const path = `/console/approvals/${id}`
  const foreign = await visitor.post(path, { state: 'granted' }, { origin: 'https://evil.example' })
  assert.equal(foreign.status, 403)
  const forged = await visitor.post(path, { state: 'granted', csrf: 'AAAAAAAAAAAAAAAAAAAAAAAA' })
  assert.equal(forged.status, 403)
  const { body } = await scene.api('GET', `/api/v1/approvals/${id}`)
  assert.match(JSON.stringify(body), /"state":"pending"/)
  const own = await visitor.post(path, { state: 'granted', comment: 'agreed' })
  assert.equal(own.headers.get('location'), `/console/approvals/${id}?done=1`)
  assert.match(JSON.stringify((await scene.api('GET', `/api/v1/approvals/${id}`)).body), /"comment":"agreed"/)
})

test('the console holds the group and four eyes as the API does, and a decided request is final', async (t) => {
  const scene = await startConsoleScene(t)
  const id = await heldRequest(scene)
  const path = `/console/approvals/${id}`
  const other = await visitorWith(scene.url, await scene.newKey('Bo', 'approver', 'support'))
  assert.match(await (await other.get(path)).text(), /Only an approver of the group payments may grant it/)
  const refused = await other.post(path, { state: 'granted' })
  assert.equal(refused.status, 403)
  assert.match(await refused.text(), /requires an approver of the group payments/)
  const denied = await other.post(path, { state: 'denied', comment: 'not today' })
  assert.equal(denied.status, 303)
  assert.match(await (await other.get(path)).text(), /Denied by Bo/)
  assert.equal((await other.post(path, { state: 'denied' })).status, 409)
  const requester = await scene.newKey('Cy', 'approver', 'payments')
  const own = await scene.ask(
    { operation: 'merge', repository: 'acme/own', environment: 'production' },
    undefined,
    requester,
  )
  const page = await (
    await (await visitorWith(scene.url, requester)).get(`/console/approvals/${scene.requestIn(own)}`)
  ).text()
  assert.match(page, /Somebody else has to decide/)
})

/** Texts that become markup, scripts or other texts where something does not escape them. */
const NAUGHTY = [
  '<script>document.title="owned"</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</textarea><svg/onload=alert(1)>',
  '{{constructor.constructor("alert(1)")()}}',
  '${7*7}',
  '\u202Eevil\u202C',
  '&lt;b&gt;',
]

test('texts of contracts, policies, keys, calls and comments stay text on every page', async (t) => {
  const nasty = NAUGHTY.join(' ')
  const folder = mkdtempSync(join(tmpdir(), 'preflight-naughty-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }))
  const policy = join(folder, 'pack.yaml')
  writeFileSync(policy, packWith(nasty))
  const scene = await startConsoleScene(t, { policy })
  await fillScene(scene)
  const broken = ORDERS_BROKEN.replaceAll('"USD"', JSON.stringify(nasty))
    .replaceAll('"region"', JSON.stringify(nasty))
    .replace('"Orders"', JSON.stringify(nasty))
    .replace('"description": "good"', `"description": ${JSON.stringify(nasty)}`)
  const bot = await scene.newKey(nasty, 'agent')
  const context = {
    operation: 'merge',
    repository: nasty.slice(0, 190),
    environment: 'production',
    target_id: nasty,
    branch: nasty,
  }
  const id = scene.requestIn(await scene.ask(context, broken, bot))
  const visitor = await visitorWith(scene.url, await scene.newKey('Ana', 'admin', 'payments'))
  await until(async () => {
    await scene.change(broken)
    return (await (await visitor.get('/console/routes/orders')).text()).includes('&lt;script')
  }, 'the changed contract is a candidate')
  const { body } = await scene.api('GET', `/api/v1/approvals/${id}`)
  const decision = /"decision_id":"(dec_[0-9a-f]+)"/.exec(JSON.stringify(body))?.[1] ?? assert.fail()
  await scene.newKey(`${nasty} two`, 'approver', 'payments')
  const made = [
    await visitor.post('/console/delegations', { to: 'oidc:corp:<script>', days: '2', reason: nasty }),
    await visitor.post('/console/break-glass', { route: 'orders', reason: nasty, minutes: '5' }),
    await visitor.post(`/console/approvals/${id}`, { state: 'comment', text: nasty }),
    await visitor.post(`/console/approvals/${id}`, { state: 'denied', comment: nasty }),
  ]
  assert.deepEqual(
    made.map(({ status }) => status),
    [303, 303, 303, 303],
  )
  const address = encodeURIComponent(nasty)
  const paths = [
    ...(await consoleAddresses(scene)),
    '/console/approvals?state=denied',
    `/console/approvals/${id}`,
    `/console/decisions/${decision}`,
    `/console/ledger?repository=${address}&operation=${address}&environment=${address}`,
    `/console/ledger?records=calls&route=${address}`,
    `/console/contracts?q=${address}`,
    `/console/contracts/orders?q=${address}`,
    `/console/approvals/${address}`,
    `/console/contracts/${address}`,
    `/console/routes/${address}`,
    `/console/decisions/${address}`,
  ]
  const shown = new Set<string>()
  const check = async (answer: Response, path: string) => {
    const text = await answer.text()
    assert.ok(answer.status < 500, path)
    assert.doesNotMatch(text, /<script>|<img|<svg\/onload|onmouseover='/, path)
    // What comes back with a form stays as it is.
    const seen = text.replaceAll(/ value="[^"]*"|<textarea[^]*?<\/textarea>/g, '')
    assert.doesNotMatch(seen, /[\u200B\u202A-\u202E\u2066-\u2069]/, path)
    if (text.includes('&lt;script&gt;')) shown.add(path.replace(/[?].*|(?:apr|dec)_.*/, ''))
  }
  for (const path of paths) await check(await visitor.get(path), path)
  const promoted = { digest: await candidateOf(visitor), comment: nasty }
  await check(await visitor.post('/console/routes/orders', promoted), 'promotion')
  await check(await visitor.get('/console/routes/orders?done=1'), 'promoted')
  const change = { policy: nasty, type: 'openapi', base: ORDERS, head: broken, operation: nasty, environment: nasty }
  await check(await visitor.post('/console/policies/simulate', change), 'simulate')
  await check(await visitor.post('/console/policies/simulate', { ...change, policy: '' }), 'simulate in force')
  await check(await visitor.post('/console/policies/replay', { policy: packWith(nasty), count: '20' }), 'replay')
  await check(await visitor.post('/console/keys', { name: nasty, role: 'viewer' }), 'new key')
  for (const path of ['approvals/', 'decisions/', 'ledger', 'contracts', 'contracts/orders', 'policies', 'delegations'])
    assert.ok(shown.has(`/console/${path}`), `${path}: ${[...shown].join(' ')}`)
  for (const path of [
    '/console/break-glass',
    '/console/keys',
    '/console/routes/orders',
    'simulate in force',
    'new key',
  ])
    assert.ok(shown.has(path), `${path}: ${[...shown].join(' ')}`)
})

/** A pack with a text wherever it takes one. */
function packWith(text: string): string {
  const rule = { id: 'breaking-asks', description: text, when: "finding.level == 'breaking'", then: 'REQUIRE_APPROVAL' }
  return JSON.stringify({
    apiVersion: 'preflight.dev/v1',
    kind: 'Policy',
    metadata: { name: 'naughty', description: text },
    rules: [{ ...rule, approvers: ['payments'] }],
  })
}

/** The digest that the page of the route offers to promote. */
async function candidateOf(visitor: ConsoleVisitor): Promise<string> {
  const page = await (await visitor.get('/console/routes/orders')).text()
  return /name="digest" value="([^"]+)"/.exec(page)?.[1] ?? assert.fail('nothing to promote')
}

test('a template quotes every attribute that holds a value', () => {
  const folder = join(import.meta.dirname, '../../../gateway/console')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  assert.ok(files.length > 15)
  const open = files.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/\s[a-z-]+=\$\{[^}]*\}/g)].map(
      ([found]) => `${name}:${found}`,
    ),
  )
  assert.deepEqual(open, [])
})

test('open pages receive changes', async (t: TestContext) => {
  const scene = await startConsoleScene(t)
  const signed = await fetch(`${scene.url}/console/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: scene.url },
    body: new URLSearchParams({ key: scene.admin }),
  })
  const cookie = signed.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  const stop = new AbortController()
  t.after(() => stop.abort())
  const events = await fetch(`${scene.url}/console/events`, { headers: { cookie }, signal: stop.signal })
  assert.equal(events.headers.get('content-type'), 'text/event-stream')
  const changing = setInterval(() => void heldRequest(scene).catch(() => {}), 500)
  t.after(() => clearInterval(changing))
  let text = ''
  for await (const part of events.body ?? []) {
    text += Buffer.from(part).toString()
    if (text.includes('event: change')) break
  }
  clearInterval(changing)
  assert.match(text, /event: change/)
})

test('the console can be switched off', async (t) => {
  const { url } = await startConsoleScene(t, { console: { enabled: false } })
  assert.equal((await fetch(`${url}/console`, { redirect: 'manual' })).status, 404)
})

test('the ledger page states its chain, and exports what its filters match', async (t) => {
  const scene = await startConsoleScene(t)
  await fillScene(scene)
  const visitor = await visitorWith(scene.url, scene.admin)
  const page = await (await visitor.get('/console/ledger?decision=BLOCK')).text()
  assert.match(page, /Chain <code[^>]*>chn_[0-9a-f]+<\/code>: \d+ entries/)
  const [, address = ''] = /href="(\/console\/ledger\/export[^"]*)"/.exec(page) ?? []
  const answer = await visitor.get(address.replaceAll('&amp;', '&'))
  assert.equal(answer.headers.get('content-type'), 'application/x-ndjson')
  assert.match(answer.headers.get('content-disposition') ?? '', /decisions\.ndjson/)
  const rows = (await answer.text()).trim().split('\n')
  assert.deepEqual(
    rows.map((row) => textAt(JSON.parse(row), 'decision')),
    ['BLOCK'],
  )
  // Records of calls are written in batches.
  await until(async () => {
    const calls = await visitor.get('/console/ledger/export?records=calls&route=orders')
    return (await calls.text()).includes('"route":"orders"')
  }, 'the calls are exported')
})

/** Who gets a page; absent: everybody who signs in. Forms are tried with nothing in them. */
const RESTRICTED: Readonly<Record<string, readonly string[]>> = {
  'GET /console/keys': ['admin'],
  'GET /console/notifications': ['operator', 'admin'],
  'POST /console/notifications': ['operator', 'admin'],
  'POST /console/keys': ['admin'],
  'POST /console/keys/:id': ['admin'],
  'POST /console/delegations': ['approver', 'admin'],
  'POST /console/delegations/:id': ['approver', 'admin'],
  'POST /console/approvals/:id': ['approver', 'admin'],
  'POST /console/routes/:name': ['approver', 'admin'],
  'POST /console/break-glass': ['operator', 'admin'],
  'POST /console/break-glass/:id': ['operator', 'admin'],
}

test('each role reaches exactly its pages and forms, and of another tenant nothing', async (t) => {
  const scene = await startConsoleScene(t)
  await fillScene(scene)
  const { body } = await scene.api('GET', '/api/v1/approvals?state=pending')
  const [id, decision] = [textAt(body, 'approvals', 0, 'id'), textAt(body, 'approvals', 0, 'decision_id')]
  for (const role of ['viewer', 'approver', 'operator', 'admin']) {
    const own = await visitorWith(scene.url, await scene.newKey(`own ${role}`, role))
    const made = await scene.api('POST', '/api/v1/keys', { name: `other ${role}`, role, tenant: 'acme' })
    const other = await visitorWith(scene.url, textAt(made.body, 'api_key'))
    for (const { method, path } of PAGES) {
      const name = `${role} ${method} ${path}`
      const address = path.replace('approvals/:id', `approvals/${id}`).replace('decisions/:id', `decisions/${decision}`)
      const filled = address.replace(':name', 'orders').replace(':id', 'none')
      const reach = (visitor: ConsoleVisitor) => (method === 'GET' ? visitor.get(filled) : visitor.post(filled, {}))
      const { status } = await reach(own)
      const allowed = RESTRICTED[`${method} ${path}`]
      assert.equal(status === 403, allowed !== undefined && !allowed.includes(role), `${name}: ${status}`)
      const foreign = await reach(other)
      const text = await foreign.text()
      assert.ok(foreign.status < 500, `${name} of another tenant: ${foreign.status}`)
      assert.ok(!text.includes('acme/orders') && !text.includes('release bot'), `${name} shows another tenant`)
      if (/(?:approvals|decisions)\/:id/.test(path)) assert.ok([400, 403, 404].includes(foreign.status), name)
    }
  }
})
