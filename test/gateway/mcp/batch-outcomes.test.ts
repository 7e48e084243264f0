/** A monitored batch: each call has its own window, which closes with the outcome of that call in the response. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { withFaults } from '../../fakes/store-faults.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from '../../fakes/proxy-under-test.ts'
import { until } from '../../fakes/until.ts'
import { listAt, at } from '../../json.ts'

const TOOLS = ['good', 'bad', 'broken', 'silent', 'begun', 'asking'].map((name) => ({
  name,
  inputSchema: { type: 'object' },
}))

const RESULTS: Readonly<Record<string, object | null>> = {
  good: { result: { content: [] } },
  bad: { result: { content: [], isError: true } },
  broken: { error: { code: -32603, message: 'it broke' } },
  silent: null,
  // In place of the result: a task (2025-11-25), and a question to the client (2026-07-28).
  begun: { result: { task: { taskId: '1', status: 'working', createdAt: '', lastUpdatedAt: '', ttl: null } } },
  asking: { result: { resultType: 'input_required', inputRequests: {} } },
}

type Form = 'json' | 'stream' | 'cut'

/** A server that answers batches as `form` says: in one body, event by event, or breaking off after the first answer. */
async function scene(
  t: TestContext,
  form: Form,
  wrapStore: ProxyOptions['wrapStore'] = (store) => store,
): Promise<ProxyUnderTest> {
  const upstream = await startHttpUpstream((_request, response) => {
    const body: unknown = JSON.parse(upstream.requests.at(-1)?.body ?? 'null')
    if (!Array.isArray(body)) {
      const listed = { jsonrpc: '2.0', id: at(body, 'id'), result: { tools: TOOLS } }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(listed))
      return
    }
    const answers = listAt(body).flatMap((message) => {
      const own = RESULTS[String(at(message, 'params', 'name'))]
      return own == null ? [] : [{ jsonrpc: '2.0', id: at(message, 'id'), ...own }]
    })
    if (form === 'json') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = answers.map((answer) => `data: ${JSON.stringify(answer)}\n\n`)
    if (form === 'stream') response.end(events.join(''))
    else response.write(events[0] ?? '', () => setTimeout(() => response.destroy(), 20))
  })
  const proxy = await startProxy({
    routes: [{ name: 'tools', match: { path: '/' }, upstream: upstream.origin, protocol: 'mcp' }],
    decide: () => 'WARN',
    wrapStore,
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return proxy
}

async function sendBatch(proxy: ProxyUnderTest, names: readonly string[]): Promise<void> {
  const body = JSON.stringify([
    ...names.map((name, id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } })),
    { jsonrpc: '2.0', method: 'tools/call', params: { name: 'good', arguments: {} } },
  ])
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const answer = await fetch(proxy.url, { method: 'POST', headers, body })
  await answer.text().catch(() => '')
}

/** Outcomes by the tool that each window's decision is about, in the order in which the windows closed. */
async function outcomes(proxy: ProxyUnderTest, count: number): Promise<readonly (readonly [string, unknown])[]> {
  const finished = () => proxy.events.filter(({ type }) => type === 'preflight.execution.finished')
  await until(() => finished().length === count, 'every window is closed')
  const tools = new Map(proxy.interceptions.map(({ decisionId, action }) => [decisionId, action]))
  return finished().map(({ data }) => {
    const { decision_id: decision = null, outcome } = data
    return [tools.get(decision === null ? null : String(decision)) ?? '', outcome] as const
  })
}

for (const form of ['json', 'stream'] as const) {
  test(`each call of a batch has the outcome that the answer says of it (${form})`, async (t) => {
    const proxy = await scene(t, form)
    await sendBatch(proxy, ['good', 'bad', 'broken', 'silent', 'begun', 'asking'])
    assert.deepEqual(await outcomes(proxy, 7), [
      ['tools/call good', 'SUCCEEDED'],
      ['tools/call bad', 'FAILED'],
      ['tools/call broken', 'FAILED'],
      ['tools/call silent', 'UNKNOWN'],
      ['tools/call begun', 'UNKNOWN'],
      ['tools/call asking', 'UNKNOWN'],
      // The notification: nobody answers it.
      ['tools/call good', 'UNKNOWN'],
    ])
    assert.equal(proxy.monitoring.openCount(), 0)
  })
}

test('a response that breaks off gives the outcome of the calls it reported; the others get the outcome of the connection', async (t) => {
  const proxy = await scene(t, 'cut')
  await sendBatch(proxy, ['good', 'bad'])
  assert.deepEqual(await outcomes(proxy, 3), [
    ['tools/call good', 'SUCCEEDED'],
    ['tools/call bad', 'FAILED'],
    ['tools/call good', 'FAILED'],
  ])
})

test('a batch of which one window cannot be opened does not go on, and leaves none open', async (t) => {
  let windows = 0
  const proxy = await scene(t, 'json', (store) =>
    withFaults(store, {
      windows: {
        open(row): Promise<void> {
          windows += 1
          return windows === 2 ? Promise.reject(new Error('disk full')) : store.windows.open(row)
        },
      },
    }),
  )
  await sendBatch(proxy, ['good', 'bad'])
  assert.deepEqual(await outcomes(proxy, 1), [['tools/call good', 'NOT_SENT']])
  assert.equal(proxy.monitoring.openCount(), 0)
  assert.ok(proxy.interceptions.every(({ effect }) => effect === 'stopped'))
})
