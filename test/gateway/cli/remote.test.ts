/** Commands over the API of a running gateway: the same output as on the data directory, the rights of the key, and clear errors. */
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { run, type Ran } from '../../fakes/command-io.ts'
import { until } from '../../fakes/until.ts'
import { ORDERS, ORDERS_BROKEN, startConsoleScene, type ConsoleScene } from '../../fakes/console-scene.ts'
import { listening } from '../../fakes/listening.ts'
import { at, listAt, textAt } from '../../json.ts'

const PLACE = { operation: 'merge', repository: 'acme/orders', environment: 'production' }

interface Remote {
  readonly scene: ConsoleScene
  /** Runs a command with a key of the running gateway. */
  readonly over: (key: string, ...argv: readonly string[]) => Promise<Ran>
  /** Runs a command on the data directory. */
  readonly here: (...argv: readonly string[]) => Promise<Ran>
}

async function startRemote(t: TestContext, config: object = {}): Promise<Remote> {
  const scene = await startConsoleScene(t, config)
  return {
    scene,
    over: (key, ...argv) => run(argv, { environment: { PREFLIGHT_URL: scene.url, PREFLIGHT_API_KEY: key } }),
    here: (...argv) => run([...argv, '--data-dir', scene.gateway.dataDir]),
  }
}

test('approvals list prints the same over the API and on the data directory, with the finding', async (t) => {
  const { scene, over, here } = await startRemote(t)
  await scene.ask(PLACE)
  const [remote, local] = [await over(scene.admin, 'approvals', 'list'), await here('approvals', 'list')]
  assert.equal(remote.code, 0, remote.stderr)
  assert.equal(remote.stdout, local.stdout)
  assert.match(remote.stdout, /REQUIRE_APPROVAL: \d+ breaking.*removed/)
  const json = await over(scene.admin, 'approvals', 'list', '--format', 'json')
  assert.equal(json.stdout, (await here('approvals', 'list', '--format', 'json')).stdout)
  assert.equal(at(JSON.parse(json.stdout), 0, 'state'), 'pending')
})

test('approvals show prints reasons, findings with both values, consumers, who may decide and what a grant does', async (t) => {
  const { scene, over, here } = await startRemote(t)
  const id = scene.requestIn(await scene.ask(PLACE))
  const other = await scene.newKey('Ana', 'approver', 'security')
  const { code, stdout, stderr } = await over(other, 'approvals', 'show', id)
  assert.equal(code, 0, stderr)
  for (const pattern of [
    /Why it is held/,
    /✗ breaking .*region/,
    /before {2}.*\n {6}after {3}/,
    /policy rule breaking-in-production-asks/,
    /consumers: back-office, checkout/,
    /an approver of the group payments, not the one who asked/,
    /You may not: you are not in the group payments\./,
    /for at most \d+ seconds/,
  ])
    assert.match(stdout, pattern)
  const local = await here('approvals', 'show', id)
  assert.equal(local.code, 0, local.stderr)
  assert.match(local.stdout, /✗ breaking .*region/)
  const asked = await over(scene.admin, 'approvals', 'show', id, '--format', 'json')
  assert.equal(textAt(JSON.parse(asked.stdout), 'review', 'you_may_not_grant'), 'you asked for it (four eyes)')
  assert.ok(listAt(JSON.parse(asked.stdout), 'review', 'findings').length >= 2)
  const unknown = await over(other, 'approvals', 'show', 'apr_none')
  assert.deepEqual(
    [unknown.code, unknown.stderr],
    [1, 'there is no approval request apr_none; see: preflight approvals list\n'],
  )
})

test('a decision over the API has the role, group and four eyes of the key; on the data directory it says that it has not', async (t) => {
  const { scene, over, here } = await startRemote(t)
  const id = scene.requestIn(await scene.ask(PLACE))
  const own = await over(scene.admin, 'approvals', 'grant', id)
  assert.equal(own.code, 1)
  assert.match(own.stderr, /four eyes/)
  const other = await over(await scene.newKey('Sam', 'approver', 'security'), 'approvals', 'grant', id)
  assert.equal(other.code, 1)
  assert.match(other.stderr, /an approver of the group payments/)
  const reader = await over(await scene.newKey('Vi', 'viewer'), 'approvals', 'grant', id)
  assert.equal(reader.code, 1)
  assert.match(reader.stderr, /This needs the role approver or admin; the key has the role "viewer"/)
  const payments = await scene.newKey('Ana', 'approver', 'payments')
  const granted = await over(payments, 'approvals', 'grant', id, '--comment', 'agreed', '--validity', '600')
  assert.equal(granted.code, 0, granted.stderr)
  assert.match(granted.stdout, /^granted apr_\S+, valid until 20/)
  const again = await over(payments, 'approvals', 'deny', id)
  assert.equal(again.code, 1)
  assert.match(again.stderr, /already been granted/)
  const second = scene.requestIn(await scene.ask({ ...PLACE, environment: 'staging' }))
  const local = await here('approvals', 'grant', second)
  assert.equal(local.code, 0, local.stderr)
  assert.match(local.stderr, /on the data directory as cli:\w+: four eyes are not checked/)
  const { body } = await scene.api('GET', `/api/v1/approvals/${second}`)
  assert.match(textAt(body, 'approval', 'approver'), /^cli:/)
})

test('approvals watch prints requests as they come, and waits for the decision on one', async (t) => {
  const { scene, over } = await startRemote(t)
  const id = scene.requestIn(await scene.ask(PLACE))
  const approver = await scene.newKey('Ana', 'approver', 'payments')
  const waiting = over(approver, 'approvals', 'watch', id, '--interval', '1', '--timeout', '60')
  const all = over(approver, 'approvals', 'watch', '--interval', '1', '--timeout', '3', '--format', 'json')
  await over(approver, 'approvals', 'grant', id)
  const done = await waiting
  assert.equal(done.code, 0, done.stderr)
  assert.match(done.stdout, /granted {2}apr_/)
  const lines = (await all).stdout.trim().split('\n')
  assert.equal(textAt(JSON.parse(lines.at(-1) ?? '{}'), 'state'), 'granted')
  const late = await over(approver, 'approvals', 'watch', 'apr_none')
  assert.equal(late.code, 1)
  const pending = scene.requestIn(await scene.ask({ ...PLACE, environment: 'staging' }))
  assert.equal((await over(approver, 'approvals', 'watch', pending, '--timeout', '1')).code, 3)
})

const withUrl = (url: string): Promise<Ran> =>
  run(['approvals', 'list', '--url', url], { environment: { PREFLIGHT_API_KEY: 'pf_x' } })

/** An empty change set, for a request that is refused before it is read. */
const CHANGE_SET = join(mkdtempSync(join(tmpdir(), 'preflight-change-')), 'change.json')
writeFileSync(CHANGE_SET, '{"artifacts":[]}')

/** The message without the name of its command. */
function acceptsNoKey({ stderr }: Ran): string {
  return (stderr.split('\n')[0] ?? '').replace(/^preflight [\w ]+: /, '')
}

test('what does not work says what to do', async (t) => {
  const { scene, over } = await startRemote(t)
  const missing = await run(['approvals', 'list', '--url', scene.url])
  assert.deepEqual(
    [missing.code, /--key-file, set PREFLIGHT_API_KEY, or sign in with preflight login/.test(missing.stderr)],
    [2, true],
  )
  const wrong = await over('pf_live_wrong', 'approvals', 'list')
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /does not accept the key\. It may be mistyped, expired or revoked/)
  const asked = await over('pf_live_wrong', 'preflight', '--mode', 'analyze', '--change-set', CHANGE_SET)
  assert.deepEqual([asked.code, asked.stderr.split('\n')[0]], [2, `preflight preflight: ${acceptsNoKey(wrong)}`])
  const admin = await withUrl(scene.gateway.addresses.admin)
  assert.equal(admin.code, 3)
  assert.match(admin.stderr, /is the admin listener of a gateway\. Check --url: the API listens on port 15081/)
  const closed = await withUrl('http://127.0.0.1:9')
  assert.equal(closed.code, 3)
  assert.match(closed.stderr, /no gateway answers at http:\/\/127\.0\.0\.1:9: .*Check --url/)
  for (const url of ['ftp://x', 'nonsense', 'http://user:secret@127.0.0.1:9'])
    assert.equal((await withUrl(url)).code, 2, url)
  const both = await run(['approvals', 'list', '--url', scene.url, '--data-dir', 'x'])
  assert.match(both.stderr, /--url is a running gateway, and --data-dir is a data directory/)
  const tenant = await over(scene.admin, 'approvals', 'list', '--tenant', 'acme')
  assert.match(tenant.stderr, /--tenant is for a data directory/)
  const noKey = await run(['approvals', 'list', '--key', 'pf_live_x'])
  assert.match(noKey.stderr, /--key is not known; did you mean --key-file/)
})

test('another server, an older gateway and a redirect are reported as what they are', async (t) => {
  const answers = {
    '/html/': { status: 200, type: 'text/html', text: '<html>' },
    '/old/': {
      status: 404,
      type: 'application/json',
      text: '{"error":"NOT_FOUND","message":"There is nothing at this address."}',
    },
    '/new/': { status: 200, type: 'application/json', text: '{"rows":[]}' },
    '/away/': { status: 302, type: 'text/plain', text: '' },
  } as const
  const server = createServer((request, response) => {
    const found = Object.entries(answers).find(([path]) => request.url?.startsWith(path))?.[1]
    response.writeHead(found?.status ?? 500, { 'content-type': found?.type ?? '', location: 'http://127.0.0.1:9/' })
    response.end(found?.text)
  })
  const origin = await listening(t, server)
  for (const [path, pattern] of [
    ['/html', /without JSON, so it is not the API of a gateway/],
    ['/old', /does not answer GET \/api\/v1\/approvals as preflight \S+ expects/],
    ['/new', /use the preflight of the gateway's version.*items/],
    ['/away', /no gateway answers at .*redirect/],
  ] as const) {
    const { code, stderr } = await withUrl(`${origin}${path}`)
    assert.equal(code, 3, path)
    assert.match(stderr, pattern, path)
  }
})

test('the key comes from a file, which must not be open to every user', async (t) => {
  const { scene } = await startRemote(t)
  const folder = mkdtempSync(join(tmpdir(), 'preflight-key-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }))
  const file = join(folder, 'key')
  writeFileSync(file, `${scene.admin}\n`, { mode: 0o600 })
  const argv = ['approvals', 'list', '--url', scene.url, '--key-file', file]
  const good = await run(argv)
  assert.deepEqual([good.code, good.stderr], [0, ''])
  chmodSync(file, 0o644)
  assert.match((await run(argv)).stderr, /every user of this machine can read .*: chmod 600/)
  writeFileSync(file, 'two keys')
  assert.equal((await run(argv)).code, 2)
})

test('baselines are listed, reviewed and promoted over the API, with the rights of the key', async (t) => {
  const { scene, over, here } = await startRemote(t)
  const approver = await scene.newKey('Ana', 'approver', 'payments')
  assert.equal((await over(approver, 'baselines', 'candidates')).code, 0)
  await scene.change(ORDERS_BROKEN)
  const lists = [await over(approver, 'baselines', 'list'), await here('baselines', 'list')]
  assert.equal(lists[0]?.stdout, lists[1]?.stdout)
  const candidates = await over(approver, 'baselines', 'candidates', '--format', 'json')
  assert.equal(candidates.code, 1)
  assert.equal(candidates.stdout, (await here('baselines', 'candidates', '--format', 'json')).stdout)
  const digest = textAt(JSON.parse(candidates.stdout), 0, 'digest')
  const difference = await over(approver, 'baselines', 'candidates', 'orders')
  assert.equal(difference.code, 1)
  assert.match(
    difference.stdout,
    /BREAKING \(\d+\)[^]*region[^]*To accept it: preflight baselines promote orders sha256:\w+ --comment "WHY"\n$/,
  )
  // On the data directory the routes are in the configuration.
  const local = await here('baselines', 'candidates', 'orders')
  assert.ok(local.stdout.endsWith(` --comment "WHY" --data-dir ${scene.gateway.dataDir} --config FILE\n`), local.stdout)
  const unnamed = await here('baselines', 'promote', 'orders', digest, '--comment', 'seen')
  assert.equal(unnamed.code, 2)
  assert.match(
    unnamed.stderr,
    /promote: a promotion needs the routes of the gateway: name its configuration with --config/,
  )
  assert.equal((await over(approver, 'baselines', 'show', 'orders', '--candidate')).stdout, ORDERS_BROKEN)
  assert.equal((await over(approver, 'baselines', 'show', 'orders')).stdout, ORDERS)
  const viewer = await over(await scene.newKey('Vi', 'viewer'), 'baselines', 'promote', 'orders', digest)
  assert.deepEqual([viewer.code, /needs the role approver or admin/.test(viewer.stderr)], [1, true])
  const other = await over(scene.admin, 'baselines', 'promote', 'orders', digest, '--comment', 'seen')
  assert.deepEqual([other.code, /payments/.test(other.stderr)], [1, true], other.stderr)
  const done = await over(approver, 'baselines', 'promote', 'orders', digest, '--comment', 'agreed')
  assert.equal(done.stdout, `the baseline of orders is ${digest}\n`, done.stderr)
  assert.equal((await over(approver, 'baselines', 'candidates', 'orders')).code, 1)
  assert.equal((await over(approver, 'baselines', 'show', 'none')).code, 1)
})

test('break-glass is opened, listed and closed over the API', async (t) => {
  const { scene, over, here } = await startRemote(t)
  const operator = await scene.newKey('Oz', 'operator')
  const opening = ['break-glass', 'open', 'orders', '--reason', 'incident 42 in production', '--duration', '600']
  const refused = await over(await scene.newKey('Ana', 'approver'), ...opening)
  assert.deepEqual([refused.code, /role operator or admin/.test(refused.stderr)], [1, true])
  const opened = await over(operator, ...opening)
  const id = /open (\S+) on orders until/.exec(opened.stdout)?.[1] ?? ''
  assert.equal(opened.code, 0, opened.stderr)
  assert.equal((await over(operator, 'break-glass', 'list')).stdout, (await here('break-glass', 'list')).stdout)
  assert.match((await over(operator, 'break-glass', 'close', id)).stdout, /^closed \S+: 0 calls/)
  assert.equal((await over(operator, 'break-glass', 'close', 'none')).code, 1)
})

test('the ledger is read over the API with the same filters and tables', async (t) => {
  const { scene, over, here } = await startRemote(t)
  await scene.ask(PLACE)
  await scene.ask({ ...PLACE, environment: 'staging' })
  await fetch(`${scene.gateway.addresses.proxy}/orders`)
  for (const argv of [
    ['ledger', 'list'],
    ['ledger', 'list', '--environment', 'staging', '--limit', '1'],
    ['ledger', 'calls', '--route', 'orders'],
    ['ledger', 'calls', '--format', 'json'],
  ]) {
    const remote = await over(scene.admin, ...argv)
    assert.equal(remote.code, 0, remote.stderr)
    assert.equal(remote.stdout, (await here(...argv)).stdout, argv.join(' '))
  }
  const rows: unknown = JSON.parse((await over(scene.admin, 'ledger', 'list', '--format', 'json')).stdout)
  const id = textAt(rows, 0, 'decision_id')
  const shown = await over(scene.admin, 'ledger', 'show', id)
  assert.equal(textAt(JSON.parse(shown.stdout), 'decision_result', 'decision_id'), id)
  assert.equal((await over(scene.admin, 'ledger', 'show', 'none')).code, 1)
})

test('keys are made, listed and revoked over the API by an administrator', async (t) => {
  const { scene, over, here } = await startRemote(t)
  const made = await over(scene.admin, 'keys', 'create', '--name', 'bot', '--groups', 'payments', '--lifetime', '60')
  assert.equal(made.code, 0, made.stderr)
  const id = /key (v:\S+) for bot/.exec(made.stderr)?.[1] ?? ''
  const agent = await over(made.stdout.trim(), 'keys', 'list')
  assert.deepEqual([agent.code, /needs the role admin; the key has the role "agent"/.test(agent.stderr)], [1, true])
  const listed = await over(scene.admin, 'keys', 'list', '--format', 'json')
  const rows: unknown = JSON.parse(listed.stdout)
  assert.ok(Array.isArray(rows) && rows.some((row) => at(row, 'audience') === id))
  assert.equal((await over(scene.admin, 'keys', 'revoke', id)).stdout, `revoked ${id}\n`)
  assert.equal((await over(scene.admin, 'keys', 'revoke', 'v:000000000000')).code, 1)
  assert.equal((await over(made.stdout.trim(), 'approvals', 'list')).code, 2)
  const keys = ['keys', 'show', '--format', 'json']
  assert.deepEqual(JSON.parse((await over(scene.admin, ...keys)).stdout), JSON.parse((await here(...keys)).stdout))
})

test('a policy is simulated and replayed by the running gateway', async (t) => {
  const { scene, over, here } = await startRemote(t)
  await scene.ask(PLACE)
  const folder = mkdtempSync(join(tmpdir(), 'preflight-pack-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }))
  const [before, after] = [join(folder, 'before.json'), join(folder, 'after.json')]
  writeFileSync(before, ORDERS)
  writeFileSync(after, ORDERS_BROKEN)
  const simulated = await over(scene.admin, 'policy', 'simulate', 'strict', before, after, '--operation', 'merge')
  assert.equal(simulated.code, 1, simulated.stderr)
  assert.match(simulated.stdout, /^strict: BLOCK\n[^]*BLOCK {2}rule [^]*Simulated: this is not a permission\./)
  // The input of a decision is stored behind its answer.
  const own = async () => over(scene.admin, 'policy', 'replay')
  await until(async () => (await own()).stdout.startsWith('shop on 1 logged decision: 1 unchanged'), 'a stored input')
  assert.equal((await own()).code, 0)
  const replay = ['policy', 'replay', 'strict', '--format', 'json']
  const remote = await over(scene.admin, ...replay)
  assert.equal(remote.code, 1, remote.stderr)
  assert.deepEqual(JSON.parse(remote.stdout), JSON.parse((await here(...replay)).stdout))
})
