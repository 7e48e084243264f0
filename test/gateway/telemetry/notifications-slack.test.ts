/** A Slack app: one message for each request, updated and followed in its thread; and buttons that decide nothing without sign-in. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createServer } from 'node:http'
import { startConsoleScene } from '../../fakes/console-scene.ts'
import { visitorWith } from '../../fakes/console-visitor.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'
import { listening } from '../../fakes/listening.ts'

const MERGE = { operation: 'merge', repository: 'acme/orders', environment: 'production' }
const TOKEN = 'xoxb-1-planted'

function channelOf(slack: FakeSlack) {
  return { type: 'slack_bot', name: 'chat', token: TOKEN, channel: 'C0123', api: slack.api }
}

/** The addresses of the buttons of a message, by their title. */
function buttons(message: unknown): ReadonlyMap<string, string> {
  const actions = listAt(message, 'blocks').find((block) => at(block, 'type') === 'actions')
  return new Map(
    actions === undefined
      ? []
      : listAt(actions, 'elements').map((one) => [textAt(one, 'text', 'text'), textAt(one, 'url')]),
  )
}

/** The decisions that a page offers. */
function offered(text: string) {
  return [...text.matchAll(/name="state" value="(granted|denied)"/g)].map(([, one]) => one)
}

test('a request has one message: its decision updates it, and everything later follows in its thread', async (t) => {
  const slack = await startSlack(t)
  const notifications = { channels: [channelOf(slack)] }
  const scene = await startConsoleScene(t, { notifications, public_url: 'https://preflight.test' })
  const bot = await scene.newKey('bot', 'agent')
  const id = scene.requestIn(await scene.ask(MERGE, undefined, bot))
  const other = scene.requestIn(await scene.ask({ ...MERGE, repository: 'acme/other' }, undefined, bot))
  await until(() => slack.shown.size === 2, 'both requests are shown')
  await scene.api('POST', `/api/v1/approvals/${id}/deny`, { comment: 'not today' })
  await until(() => slack.calls.length === 4, 'the denial is shown')
  assert.deepEqual(
    slack.calls.map(({ method }) => method),
    ['chat.postMessage', 'chat.postMessage', 'chat.update', 'chat.postMessage'],
  )
  assert.ok(slack.calls.every(({ token, body }) => token === `Bearer ${TOKEN}` && at(body, 'channel') === 'C0123'))
  const [, , update, reply] = slack.calls
  const root = textAt(update?.body, 'ts')
  assert.equal(at(reply?.body, 'thread_ts'), root)
  assert.equal(slack.shown.size, 2)
  assert.match(textAt(slack.shown.get(root), 'text'), /^Denied: merge acme\/orders/)
  assert.match(JSON.stringify(slack.shown.get(root)), /not today/)
  assert.deepEqual([...buttons(slack.shown.get(root)).keys()], ['Open'])
  const untouched = [...slack.shown].find(([ts]) => ts !== root)?.[1]
  assert.match(textAt(untouched, 'text'), /^Approval needed: merge acme\/other/)
  assert.match(buttons(untouched).get('Open') ?? '', new RegExp(`/console/approvals/${other}$`))
})

test('a refusal of Slack is tried again, and a message that somebody deleted is posted anew', async (t) => {
  const slack = await startSlack(t)
  const scene = await startConsoleScene(t, { notifications: { channels: [channelOf(slack)] } })
  slack.refusals.push('ratelimited')
  const id = scene.requestIn(await scene.ask(MERGE, undefined, await scene.newKey('bot', 'agent')))
  await until(() => slack.shown.size === 1, 'the request is shown')
  assert.equal(slack.calls.length, 2)
  const retried = scene.gateway.log.find((line) => line['event'] === 'notification.retried')
  assert.equal(retried?.['reason'], 'Slack refused it: ratelimited')
  slack.shown.clear()
  await scene.api('POST', `/api/v1/approvals/${id}/deny`, { comment: 'no' })
  await until(() => slack.shown.size === 1, 'the denial is shown')
  const [message] = slack.shown.values()
  assert.match(textAt(message, 'text'), /^Denied/)
  assert.equal(at(message, 'thread_ts'), undefined)
})

test('the buttons of a message choose, but only a person who signs in and confirms decides', async (t) => {
  const slack = await startSlack(t)
  const notifications = { channels: [channelOf(slack)] }
  const scene = await startConsoleScene(t, { notifications, public_url: 'https://preflight.test' })
  const id = scene.requestIn(await scene.ask(MERGE, undefined, await scene.newKey('bot', 'agent')))
  await until(() => slack.shown.size === 1, 'the request is shown')
  const links = buttons([...slack.shown.values()][0])
  assert.deepEqual([...links.keys()], ['Open', 'Grant…', 'Deny…'])
  const [grant = '', deny = ''] = ['Grant…', 'Deny…'].map((title) =>
    (links.get(title) ?? '').replace('https://preflight.test', ''),
  )
  const stranger = await fetch(scene.url + grant, { redirect: 'manual' })
  assert.equal(stranger.headers.get('location'), `/console/sign-in?next=${encodeURIComponent(grant)}`)
  const ana = await visitorWith(scene.url, await scene.newKey('Ana', 'approver', 'payments'))
  const page = async (path: string) => (await ana.get(path)).text()
  const state = async () => at((await scene.api('GET', `/api/v1/approvals/${id}`)).body, 'approval', 'state')
  assert.deepEqual(offered(await page(grant)), ['granted'])
  assert.deepEqual(offered(await page(deny)), ['denied'])
  assert.equal(await state(), 'pending')
  // Another choice, another request, or no signature: the page shows both, and says why.
  const forged = [
    grant.replace('choice=granted', 'choice=denied'),
    grant.replace(/until=\d+/, `until=${Date.now() + 9e9}`),
    grant.replace(/&signature=.*/, ''),
    grant.replace('choice=granted', 'choice=constructor'),
  ]
  for (const path of forged) {
    const text = await page(path)
    assert.deepEqual(offered(text), ['granted', 'denied'], path)
    assert.match(text, /The link of the message has ended/, path)
  }
  const viewer = await visitorWith(scene.url, await scene.newKey('Vi', 'viewer'))
  assert.deepEqual(offered(await (await viewer.get(grant)).text()), [])
  assert.equal((await ana.post(`/console/approvals/${id}`, { state: 'granted', comment: 'agreed' })).status, 303)
  assert.equal(await state(), 'granted')
})

interface SlackCallSeen {
  readonly method: string
  readonly token: string
  readonly body: unknown
}

interface FakeSlack {
  readonly api: string
  readonly calls: SlackCallSeen[]
  /** What a channel shows now, by the id of the message. */
  readonly shown: Map<string, unknown>
  /** Refusals of the next calls, in order; null: accepted. */
  readonly refusals: (string | null)[]
}

async function startSlack(t: TestContext): Promise<FakeSlack> {
  const fake = { calls: [] as SlackCallSeen[], shown: new Map<string, unknown>(), refusals: [] as (string | null)[] }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      const method = (request.url ?? '').replace('/api/', '')
      fake.calls.push({ method, token: request.headers.authorization ?? '', body })
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answerTo(method, body, fake)))
    })
  })
  return { ...fake, api: `${await listening(t, server)}/api` }
}

function answerTo(method: string, body: unknown, { calls, shown, refusals }: Omit<FakeSlack, 'api'>): object {
  const refusal = refusals.shift() ?? null
  if (refusal !== null) return { ok: false, error: refusal }
  const channel = textAt(body, 'channel')
  if (method === 'chat.update') {
    const ts = textAt(body, 'ts')
    if (!shown.has(ts)) return { ok: false, error: 'message_not_found' }
    shown.set(ts, body)
    return { ok: true, channel, ts }
  }
  const ts = `1700000000.${String(calls.length).padStart(6, '0')}`
  if (at(body, 'thread_ts') === undefined) shown.set(ts, body)
  return { ok: true, channel, ts }
}
