/** The SDKs of model providers through the gateway: what they answer, how they stream, and what they say and do when a call is stopped. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startTestGateway, TEST_KEY } from '../fakes/gateway.ts'
import { MODEL_CLIENTS, type FunctionTool, type ModelClient } from '../fakes/model-clients.ts'
import { TEXTS, startModelProvider, type ModelProvider } from '../fakes/model-provider.ts'
import { until } from '../fakes/until.ts'
import { listAt, textAt } from '../json.ts'

const TOOL: FunctionTool = { name: 'read_file', description: 'Reads a file.', parameters: ['path'] }
const TOOLS = [TOOL]
const NARROWED = [{ ...TOOL, parameters: ['path', 'mode'] }]
const REWORDED = [{ ...TOOL, description: 'Reads a file of the user.' }]

interface Scene {
  readonly client: ModelClient
  readonly provider: ModelProvider
  /** Calls that came to the gateway, by what became of them. */
  readonly calls: () => Promise<Readonly<Record<string, number>>>
  readonly api: (method: string, path: string, body?: object) => Promise<unknown>
}

async function scene(t: TestContext, connect: (base: string) => ModelClient): Promise<Scene> {
  const provider = await startModelProvider()
  const gateway = await startTestGateway(t, {
    routes: [{ name: 'model', match: { path: '/' }, upstream: provider.origin, protocol: 'llm' }],
    monitoring: { sinks: [{ type: 'log' }] },
  })
  t.after(() => provider.close())
  return {
    client: connect(gateway.addresses.proxy),
    provider,
    async calls() {
      const counted = (await gateway.metrics.text()).matchAll(
        /^preflight_calls_total\{route="model",outcome="(\w+)"\} ([1-9]\d*)$/gm,
      )
      return Object.fromEntries([...counted].map(([, outcome, count]) => [outcome, Number(count)]))
    },
    async api(method, path, body) {
      const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const answer = await fetch(gateway.addresses.api + path, { method, headers, ...sent })
      assert.equal(answer.status, 200)
      return answer.json()
    },
  }
}

async function failureOf(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => assert.fail('the call went through'),
    (error: unknown) => {
      assert.ok(error instanceof Error)
      return error
    },
  )
}

for (const [name, connect] of Object.entries(MODEL_CLIENTS)) {
  test(`${name}: answers and streams come as they are, piece by piece`, async (t) => {
    const { client, provider, calls } = await scene(t, connect)
    assert.equal(await client.ask(TOOLS), TEXTS.join(''))
    const pieces: string[] = []
    for await (const piece of client.stream(TOOLS)) {
      if (piece !== '') pieces.push(piece)
      // The provider says no more before the client has read this.
      if (pieces.length === 1) provider.release()
    }
    assert.deepEqual(pieces, TEXTS)
    assert.deepEqual(await calls(), { forwarded: 2 })
    assert.ok(provider.requests.every(({ headers }) => headers['preflight-receipt'] !== undefined))
  })

  test(`${name}: a stop is an error that says why in a few lines, and is not sent again`, async (t) => {
    const { client, provider, calls } = await scene(t, connect)
    await client.ask(TOOLS)
    for (const call of [() => client.ask(NARROWED), () => client.stream(NARROWED).next()]) {
      const { message } = await failureOf(call())
      assert.match(
        message,
        /Preflight stopped tools: BLOCK: .*tool `read_file`: the required property `mode` was added/,
      )
      assert.match(message, /NEW_REQUIRED_TOOL_INPUT_PROPERTY/)
      assert.ok(message.length < 1500, message)
    }
    assert.deepEqual(await calls(), { forwarded: 1, stopped: 2 })
    assert.equal(provider.requests.length, 1)
  })

  test(`${name}: a call that needs an approval says so once, and goes on when it is granted`, async (t) => {
    const { client, calls, api } = await scene(t, connect)
    await client.ask(TOOLS)
    const { message } = await failureOf(client.ask(REWORDED))
    assert.match(message, /Preflight holds tools: REQUIRE_APPROVAL/)
    assert.match(message, /Ask a person who may approve/)
    assert.deepEqual(await calls(), { forwarded: 1, held: 1 })
    const [approval] = listAt(await api('GET', '/api/v1/approvals?state=pending'), 'approvals')
    await api('POST', `/api/v1/approvals/${textAt(approval, 'id')}/grant`, { comment: 'seen' })
    // The proxy sees an approval decision within a second.
    let text: string | null = null
    await until(async () => {
      text = await client.ask(REWORDED).catch(() => null)
      return text !== null
    }, 'the call goes on')
    assert.equal(text, TEXTS.join(''))
  })
}
