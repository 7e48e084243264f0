/** Messages to people: made with the event, routed, signed, retried in order, and delivered over webhooks, chat and mail. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { Webhook } from 'standardwebhooks'
import { loadConfig } from '../../../gateway/config/load.ts'
import { createNotifier } from '../../../gateway/notifications/notifier.ts'
import { openSqliteStore } from '../../../gateway/store/sqlite/store.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { createMetrics } from '../../../gateway/telemetry/metrics.ts'
import { approvalOpening } from '../../fakes/aggregate-rows.ts'
import { startConsoleScene } from '../../fakes/console-scene.ts'
import { visitorWith } from '../../fakes/console-visitor.ts'
import { run } from '../../fakes/command-io.ts'
import { at, listAt, textAt } from '../../json.ts'
import { until } from '../../fakes/until.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

function portOf(address: string | AddressInfo | null): number {
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}

interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly body: unknown
}

async function startReceiver(
  t: TestContext,
): Promise<{ readonly url: string; readonly got: Received[]; status: number }> {
  const receiver = { url: '', got: [] as Received[], status: 204 }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      const body: unknown = JSON.parse(text)
      receiver.got.push({ path: request.url ?? '', headers, text, body })
      response.writeHead(receiver.status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  receiver.url = `http://127.0.0.1:${portOf(server.address())}`
  return receiver
}

const MERGE = { operation: 'merge', repository: 'acme/orders', environment: 'production' }

test('a request and its grant reach a webhook, signed, in order, each once', async (t) => {
  const receiver = await startReceiver(t)
  const channels = [{ type: 'webhook', name: 'ops', url: `${receiver.url}/hook`, secret: SECRET }]
  const scene = await startConsoleScene(t, { notifications: { channels }, public_url: 'https://preflight.test' })
  const bot = await scene.newKey('bot', 'agent')
  const id = scene.requestIn(await scene.ask(MERGE, undefined, bot))
  await scene.ask(MERGE, undefined, bot)
  await until(() => receiver.got.length === 1, 'the message arrives')
  // The grant is made by another process, on the disk of the gateway.
  const argv = [
    'approvals',
    'grant',
    id,
    '--groups',
    'payments',
    '--comment',
    'agreed',
    '--data-dir',
    scene.gateway.dataDir,
  ]
  assert.equal((await run(argv)).code, 0)
  await until(() => receiver.got.length === 2, 'the message arrives')
  assert.deepEqual(
    receiver.got.map(({ body }) => at(body, 'type')),
    ['approval.requested', 'approval.granted'],
  )
  for (const { text, headers, body } of receiver.got) {
    new Webhook(SECRET).verify(text, headers)
    assert.equal(at(body, 'data', 'subject'), id)
    assert.equal(at(body, 'data', 'url'), `https://preflight.test/console/approvals/${id}`)
  }
  assert.notEqual(receiver.got[0]?.headers['webhook-id'], receiver.got[1]?.headers['webhook-id'])
})

test('a message that fails is tried again under the same id, before later ones about the same request', async (t) => {
  const receiver = await startReceiver(t)
  receiver.status = 503
  const channels = [{ type: 'webhook', name: 'ops', url: receiver.url, secret: SECRET }]
  const scene = await startConsoleScene(t, { notifications: { channels } })
  const id = scene.requestIn(await scene.ask(MERGE, undefined, await scene.newKey('bot', 'agent')))
  await until(() => receiver.got.length === 1, 'the message arrives')
  await scene.api('POST', `/api/v1/approvals/${id}/deny`, { comment: 'no' })
  receiver.status = 204
  await until(() => receiver.got.length === 3, 'the message arrives')
  assert.deepEqual(
    receiver.got.map(({ body }) => at(body, 'type')),
    ['approval.requested', 'approval.requested', 'approval.denied'],
  )
  assert.equal(receiver.got[0]?.headers['webhook-id'], receiver.got[1]?.headers['webhook-id'])
  const metrics = await (await fetch(`${scene.gateway.addresses.admin}/metrics`)).text()
  assert.match(metrics, /preflight_notifications_total\{channel="ops",result="retried"\} 1/)
  assert.match(
    metrics,
    /preflight_notifications_total\{channel="ops",result="given_up"\} 0/,
    'an alarm sees the first one',
  )
  await until(() => scene.gateway.log.some((line) => line['event'] === 'notification.retried'), 'the message arrives')
})

test('a message that is given up is counted and logged, and later ones about the request go on', async (t) => {
  const receiver = await startReceiver(t)
  receiver.status = 500
  const channels = [{ type: 'webhook', name: 'ops', url: receiver.url, secret: SECRET }]
  const scene = await startConsoleScene(t, { notifications: { channels, give_up: 3 } })
  const id = scene.requestIn(await scene.ask(MERGE, undefined, await scene.newKey('bot', 'agent')))
  await until(() => scene.gateway.log.some((line) => line['event'] === 'notification.given_up'), 'it is given up')
  receiver.status = 204
  await scene.api('POST', `/api/v1/approvals/${id}/deny`, { comment: 'no' })
  await until(() => receiver.got.some(({ body }) => at(body, 'type') === 'approval.denied'), 'the next one arrives')
  const metrics = await (await fetch(`${scene.gateway.addresses.admin}/metrics`)).text()
  assert.match(metrics, /preflight_notifications_total\{channel="ops",result="given_up"\} 1/)
  const visitor = await visitorWith(scene.url, scene.admin)
  const page = await (await visitor.get('/console/notifications')).text()
  assert.match(page, /Given up[^]*it answered 500/)
  assert.ok(page.includes(`href="/console/approvals/${id}"`), 'the log leads to the request')
})

test('a request that nobody decides is reminded of once, and its end is reported, to the channels of these events', async (t) => {
  const receiver = await startReceiver(t)
  const channel = (name: string, rest: object) => ({ type: 'teams', name, url: `${receiver.url}/${name}`, ...rest })
  const channels = [
    channel('group', { events: ['approval.requested'] }),
    channel('manager', { events: ['approval.reminder', 'approval.expired'] }),
  ]
  const approvals = { pending: 8, remind: 8 }
  const scene = await startConsoleScene(t, { notifications: { channels }, approvals })
  await scene.ask(MERGE, undefined, await scene.newKey('bot', 'agent'))
  const titles = (path: string) =>
    receiver.got
      .filter((one) => one.path === path)
      .map(({ body }) => textAt(body, 'attachments', 0, 'content', 'body', 0, 'text').split(':', 1)[0])
  await until(() => titles('/manager').length === 2, 'the reminder and the end arrive')
  assert.deepEqual(titles('/manager'), ['Still waiting for approval', 'Not decided in time'])
  assert.deepEqual(titles('/group'), ['Approval needed'])
})

test('the first channel of an installation is not flooded with what is long over', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-notices-'))
  const store = await openSqliteStore({ file: join(directory, 'ledger.db'), calls: 'durable', flushMilliseconds: 5 })
  t.after(async () => {
    await store.close()
    rmSync(directory, { recursive: true })
  })
  const day = 86_400_000
  for (const [approvalId, openedAt] of [
    ['apr_old', day],
    ['apr_new', 3 * day],
  ] as const)
    await store.approvals.open({ ...approvalOpening({ approvalId, key: approvalId, openedAt }), expiresAt: 9 * day })
  const channel = { type: 'teams', name: 'ops', url: 'http://127.0.0.1:9/', tenants: ['local'], min_risk: 0 } as const
  const loaded = loadConfig({ environment: {}, value: { notifications: { channels: [channel] } } })
  assert.ok(loaded.ok)
  const { config } = loaded.value
  const [metrics, logger] = [createMetrics(), createLogger('silent')]
  const notifier = createNotifier({ settings: () => ({ config }), store, metrics, logger, now: () => 3 * day + 1 })
  t.after(() => notifier.close())
  notifier.start()
  await until(async () => (await store.notifications.notices(10)).length === 0, 'the notices are taken')
  assert.deepEqual(
    (await store.notifications.log(10)).map(({ subject }) => subject),
    ['apr_new'],
  )
})

test('channels get what they ask for: by event, group, environment and risk', async (t) => {
  const receiver = await startReceiver(t)
  const channel = (name: string, rest: object) => ({ type: 'slack', name, url: `${receiver.url}/${name}`, ...rest })
  const channels = [
    channel('payments', { groups: ['payments'], events: ['approval.requested'] }),
    channel('support', { groups: ['support'] }),
    channel('staging', { environments: ['staging'] }),
    channel('grave', { min_risk: 99 }),
    channel('contracts', { events: ['baseline.candidate'] }),
  ]
  const scene = await startConsoleScene(t, { notifications: { channels } })
  await scene.ask(MERGE)
  await scene.ask({ ...MERGE, environment: 'staging' })
  const { ORDERS_BROKEN } = await import('../../fakes/console-scene.ts')
  await scene.change(ORDERS_BROKEN)
  await until(() => receiver.got.some(({ path }) => path === '/contracts'), 'the message arrives')
  await until(() => receiver.got.length >= 8, 'the message arrives')
  const counts = Map.groupBy(receiver.got, ({ path }) => path)
  // Staging may be granted by anybody and a changed contract names no group, so they concern every group.
  assert.equal(counts.get('/payments')?.length, 3)
  assert.equal(counts.get('/support')?.length, 2)
  assert.equal(counts.get('/staging')?.length, 1)
  // Only requests have a risk.
  assert.deepEqual(
    counts.get('/grave')?.map(({ body }) => textAt(body, 'text')),
    ['Changed contract: orders'],
  )
})

test('hostile texts become no markup of Slack or Teams', async (t) => {
  const receiver = await startReceiver(t)
  const channels = [
    { type: 'slack', name: 'slack', url: `${receiver.url}/slack` },
    { type: 'teams', name: 'teams', url: `${receiver.url}/teams` },
  ]
  const scene = await startConsoleScene(t, { notifications: { channels }, public_url: 'https://preflight.test' })
  await scene.ask({ ...MERGE, repository: '<!channel> *all* [x](https://evil.example) <https://evil.example|y>' })
  await until(() => receiver.got.length === 2, 'the message arrives')
  const bodyOf = (path: string) => receiver.got.find((entry) => entry.path === path)?.body
  const slack = JSON.stringify(listAt(bodyOf('/slack'), 'blocks').slice(1))
  assert.doesNotMatch(slack, /<!channel>|<https/)
  assert.doesNotMatch(textAt(bodyOf('/slack'), 'text'), /<|@channel/)
  const card = JSON.stringify(at(bodyOf('/teams'), 'attachments', 0, 'content', 'body'))
  assert.doesNotMatch(card, /[^\\]\[x\]/)
  assert.match(JSON.stringify(bodyOf('/teams')), /"url":"https:\/\/preflight.test\/console\/approvals\/apr_/)
})

test('people read names as they are, and programs get them unchanged', async (t) => {
  const receiver = await startReceiver(t)
  const types = ['slack', 'teams', 'webhook'] as const
  const secret = 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE='
  const channels = types.map((type) => ({
    type,
    name: type,
    url: `${receiver.url}/${type}`,
    ...(type === 'webhook' && { secret }),
  }))
  const scene = await startConsoleScene(t, { notifications: { channels } })
  await scene.ask({ ...MERGE, repository: 'acme/\u202Esredro' })
  await until(() => receiver.got.length === 3, 'the messages arrive')
  for (const { path, body } of receiver.got) {
    const text = JSON.stringify(body)
    assert.equal(text.includes('\u202E'), path === '/webhook', path)
    assert.ok(path === '/webhook' || text.includes('u{202e}'), path)
  }
})

test('mail goes over SMTP, and the messages about one request are one conversation', async (t) => {
  const mails: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        mails.push(Buffer.concat(chunks).toString('utf8'))
        done()
      })
    },
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()))
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const smtp = `smtp://127.0.0.1:${portOf(server.server.address())}`
  const channels = [{ type: 'email', name: 'mail', smtp, from: 'preflight@acme.test', to: ['oncall@acme.test'] }]
  const scene = await startConsoleScene(t, { notifications: { channels }, public_url: 'https://preflight.test' })
  const id = scene.requestIn(await scene.ask(MERGE, undefined, await scene.newKey('bot', 'agent')))
  await until(() => mails.length === 1, 'the message arrives')
  await scene.api('POST', `/api/v1/approvals/${id}/deny`, { comment: 'no\r\nBcc: all@acme.test' })
  await until(() => mails.length === 2, 'the message arrives')
  assert.match(mails[0] ?? '', new RegExp(`^Message-ID: <${id}@`, 'm'))
  assert.match(mails[1] ?? '', new RegExp(`^In-Reply-To: <${id}@`, 'm'))
  assert.doesNotMatch((mails[1] ?? '').split('\r\n\r\n', 1)[0] ?? '', /^Bcc:/m)
  assert.match(mails[0] ?? '', /console\/approvals/)
})

test('a password never goes to a mail server without encryption', async (t) => {
  const passwords: string[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ password }, _session, done) {
      passwords.push(password ?? '')
      done(null, { user: 'gateway' })
    },
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()))
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const smtp = `smtp://gateway:secret@127.0.0.1:${portOf(server.server.address())}`
  const channels = [{ type: 'email', name: 'mail', smtp, from: 'preflight@acme.test', to: ['oncall@acme.test'] }]
  const scene = await startConsoleScene(t, { notifications: { channels } })
  await scene.ask(MERGE, undefined, await scene.newKey('bot', 'agent'))
  await until(() => scene.gateway.log.some((line) => line['event'] === 'notification.retried'), 'it is tried')
  assert.deepEqual(passwords, [])
})

test('a test message arrives, and the log shows it', async (t) => {
  const receiver = await startReceiver(t)
  const channels = [{ type: 'teams', name: 'team', url: receiver.url }]
  const scene = await startConsoleScene(t, { notifications: { channels } })
  const signed = await fetch(`${scene.url}/console/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: scene.url },
    body: new URLSearchParams({ key: scene.admin }),
  })
  const cookie = signed.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  const page = async () => (await fetch(`${scene.url}/console/notifications`, { headers: { cookie } })).text()
  const csrf = /name="csrf" value="([^"]+)"/.exec(await page())?.[1] ?? ''
  const sent = await fetch(`${scene.url}/console/notifications`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, origin: scene.url },
    body: new URLSearchParams({ csrf, channel: 'team' }),
  })
  assert.equal(sent.status, 303)
  await until(() => receiver.got.length === 1, 'the message arrives')
  await until(async () => /Delivered/.test(await page()), 'the message arrives')
})

test('a channel is named once, and its secret has a form', async () => {
  const slack = { type: 'slack', name: 'ops', url: 'https://hooks.test/x' }
  const twice = loadConfig({ environment: {}, value: { notifications: { channels: [slack, slack] } } })
  assert.match(JSON.stringify(twice), /used by channels\[0\] too/)
  const weak = { type: 'webhook', name: 'x', url: 'https://hooks.test/x', secret: 'whsec_short' }
  assert.equal(loadConfig({ environment: {}, value: { notifications: { channels: [weak] } } }).ok, false)
})
