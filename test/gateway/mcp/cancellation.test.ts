/** A call that its client takes back before it is forwarded does not run, whatever it waits for; other calls do. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { startTestGateway, TEST_KEY } from '../../fakes/gateway.ts'
import { listening } from '../../fakes/listening.ts'
import { ECHO } from '../../fakes/mcp-upstream.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

const ASKS = {
  apiVersion: 'preflight.dev/v1',
  kind: 'Policy',
  metadata: { name: 'asks' },
  rules: [{ id: 'breaking-asks', when: "finding.level == 'breaking'", then: 'REQUIRE_APPROVAL' }],
}
const NARROWED = { ...ECHO, inputSchema: { type: 'object', required: ['text', 'more'] } }

interface Post {
  readonly body: object
  readonly session?: string | null
}

/** A server that is listed before every call. */
async function scene(t: TestContext) {
  const server = { tools: [ECHO] as readonly object[], isHeld: false }
  const listings: (() => void)[] = []
  const arrived: unknown[] = []
  const upstream = await listening(
    t,
    createServer((request, response) => {
      void text(request).then((body) => {
        const message: unknown = JSON.parse(body)
        const isListing = at(message, 'method') === 'tools/list'
        if (!isListing) arrived.push(message)
        if (at(message, 'id') === undefined) return response.writeHead(202).end()
        const result = isListing ? { tools: server.tools } : { content: [] }
        const send = () =>
          response
            .setHeader('content-type', 'application/json')
            .end(JSON.stringify({ jsonrpc: '2.0', id: at(message, 'id'), result }))
        return isListing && server.isHeld ? listings.push(send) : send()
      })
    }),
  )
  const policy = join(mkdtempSync(join(tmpdir(), 'preflight-pack-')), 'pack.yaml')
  writeFileSync(policy, JSON.stringify(ASKS))
  const gateway = await startTestGateway(t, {
    policy,
    routes: [{ name: 'tools', match: { path: '/' }, upstream, protocol: 'mcp', hold: 60, contract: { refresh: 0 } }],
  })
  const post = async ({ body, session = 'one' }: Post): Promise<string> => {
    const answer = await fetch(gateway.addresses.proxy, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session !== null && { 'mcp-session-id': session }),
      },
      body: JSON.stringify(body),
    })
    return answer.text()
  }
  const api = async (method: string, path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${TEST_KEY}` }
    const answer = await fetch(gateway.addresses.api + path, { method, headers })
    const body: unknown = await answer.json()
    return body
  }
  const calls = (): readonly unknown[] => arrived.flat().filter((message) => at(message, 'method') === 'tools/call')
  await post({ body: callOf(0) })
  assert.equal(calls().length, 1)
  return { server, listings, arrived, post, api, calls, gateway }
}

type Scene = Awaited<ReturnType<typeof scene>>

const callOf = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'echo' } })
const cancelOf = (requestId: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
})

/** What a call waits for: how it comes to that, and how it goes on. */
const WAITS: Readonly<
  Record<string, (one: Scene) => Promise<{ begun: () => Promise<void>; end: () => Promise<void> }>>
> = {
  'a listing': ({ server, listings }) => {
    server.isHeld = true
    return Promise.resolve({
      begun: () => until(() => listings.length > 0, 'the server is asked'),
      end() {
        server.isHeld = false
        for (const send of listings) send()
        return Promise.resolve()
      },
    })
  },
  'an approval': ({ server, api, gateway }) => {
    server.tools = [NARROWED]
    return Promise.resolve({
      begun: () =>
        until(async () => /preflight_calls_held 1/.test(await gateway.metrics.text()), 'the call waits for approval'),
      async end() {
        const [first] = listAt(await api('GET', '/api/v1/approvals?state=pending'), 'approvals')
        await api('POST', `/api/v1/approvals/${textAt(first, 'id')}/grant`)
      },
    })
  },
}

/** Cancellations of the request with the number 7, and whether it runs all the same. */
const ROWS: Readonly<Record<string, readonly [cancellation: Post, runs: boolean]>> = {
  'its id': [{ body: cancelOf(7) }, false],
  'its id behind another one': [{ body: [cancelOf('other'), cancelOf(7)] }, false],
  'its id as a text': [{ body: cancelOf('7') }, true],
  'the id of no request': [{ body: cancelOf(8) }, true],
  'an id that is none': [{ body: cancelOf([7]) }, true],
  'no id': [{ body: cancelOf(null) }, true],
  'its id in another session': [{ body: cancelOf(7), session: 'two' }, true],
  'its id outside of sessions': [{ body: cancelOf(7), session: null }, true],
}

for (const [what, begin] of Object.entries(WAITS))
  for (const [how, [cancellation, runs]] of Object.entries(ROWS))
    test(`a call that waits for ${what} ${runs ? 'goes on after' : 'ends with'} a cancellation of ${how}`, async (t) => {
      const one = await scene(t)
      const { begun, end } = await begin(one)
      const answered = one.post({ body: callOf(7) }).then(
        (answer) => answer.includes('"result"'),
        () => false,
      )
      await begun()
      await one.post(cancellation)
      await end()
      assert.equal(await answered, runs)
      assert.equal(one.calls().length, runs ? 2 : 1)
      assert.deepEqual(one.arrived.at(runs ? -2 : -1), cancellation.body, 'the server is told of every cancellation')
    })

for (const [what, begin] of Object.entries(WAITS))
  test(`a batch that waits for ${what} is not sent without a call that was cancelled`, async (t) => {
    const one = await scene(t)
    const { begun, end } = await begin(one)
    const answered = one.post({ body: [callOf(7), callOf(8)] }).catch(() => 'ended')
    await begun()
    await one.post({ body: cancelOf(8) })
    await end()
    assert.doesNotMatch(await answered, /"result"/)
    assert.equal(one.calls().length, 1)
  })
