/** Structured results of tools checked against the pinned outputSchema: the reports, and what stays unchanged. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { startAgent } from '../../fakes/agent.ts'
import { startTestGateway, TEST_KEY, type TestGateway } from '../../fakes/gateway.ts'
import { startMcpUpstream } from '../../fakes/mcp-upstream.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

const OUTPUT = {
  type: 'object',
  properties: { sum: { $ref: '#/$defs/count' } },
  required: ['sum'],
  $defs: { count: { type: 'integer' } },
} as const

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

interface Called {
  readonly gateway: TestGateway
  readonly answer: unknown
}

/** Calls `add` once, whose server answers `result`. */
async function called(t: TestContext, result: CallToolResult, validate: string, json: boolean): Promise<Called> {
  // A client of the SDK looks at results itself, and so does a server's: both ends here say what they like.
  const upstream = await startMcpUpstream({ generation: 'stateless', json, answer: () => result })
  t.after(() => upstream.close())
  upstream.tools = [{ name: 'add', inputSchema: { type: 'object' }, outputSchema: OUTPUT }]
  const route = { name: 'tools', match: { path: '/tools' }, upstream: upstream.url, protocol: 'mcp', validate }
  const gateway = await startTestGateway(t, { routes: [route] })
  const agent = await startAgent(`${gateway.addresses.proxy}/tools`)
  await agent.close()
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'add', arguments: {} } })
  const response = await fetch(`${gateway.addresses.proxy}/tools`, { method: 'POST', headers: HEADERS, body })
  const text = await response.text()
  return { gateway, answer: JSON.parse(json ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '')) }
}

async function counted(gateway: TestGateway, result: string): Promise<boolean> {
  const metrics = await (await fetch(`${gateway.addresses.admin}/metrics`)).text()
  return metrics.includes(`preflight_contract_checks_total{route="tools",side="answer",result="${result}"} 1`)
}

const drifts = ({ log }: TestGateway) => log.filter((line) => line['pattern'] === 'TOOL_RESULT_SHAPE_DRIFT')
const TEXT = [{ type: 'text', text: 'done' }] as const

for (const json of [true, false]) {
  const form = json ? 'a JSON answer' : 'an event stream'

  test(`a result of another shape than the pinned one is reported, and reaches the agent unchanged (${form})`, async (t) => {
    const structuredContent = { sum: 'five' }
    const { gateway, answer } = await called(t, { content: [...TEXT], structuredContent }, 'observe', json)
    assert.deepEqual(at(answer, 'result', 'structuredContent'), structuredContent)
    await until(() => counted(gateway, 'violates'), 'the drift is counted')
    const [line] = drifts(gateway)
    assert.equal(line?.['call'], 'tools/call add')
    assert.match(JSON.stringify(listAt(line?.['violations'])), /sum/)
  })

  test(`a result of the pinned shape is counted as such (${form})`, async (t) => {
    const { gateway } = await called(t, { content: [...TEXT], structuredContent: { sum: 5 } }, 'observe', json)
    await until(() => counted(gateway, 'conforms'), 'the result is counted')
    assert.deepEqual(drifts(gateway), [])
  })
}

test('a drift is in the ledger under the decision of its tool, and told to the sinks', async (t) => {
  const { gateway } = await called(t, { content: [...TEXT], structuredContent: { sum: 'five' } }, 'observe', true)
  const drifted = async () => {
    const authorization = `Bearer ${TEST_KEY}`
    const query = 'records=calls&effect=drifted&route=tools'
    const answer = await fetch(`${gateway.addresses.api}/api/v1/ledger?${query}`, { headers: { authorization } })
    const body: unknown = await answer.json()
    return listAt(body, 'entries')
  }
  await until(async () => (await drifted()).length === 1, 'the drift is recorded')
  const [entry] = await drifted()
  assert.equal(at(entry, 'call'), 'tools/call add')
  assert.equal(at(entry, 'pattern'), 'TOOL_RESULT_SHAPE_DRIFT')
  assert.equal(at(entry, 'execution_action'), 'CONTINUE')
  assert.match(textAt(entry, 'decision_id'), /^dec_/)
  assert.match(JSON.stringify(at(entry, 'violations')), /sum/)
})

test('a result without the structure that its tool promises is reported', async (t) => {
  const { gateway } = await called(t, { content: [...TEXT] }, 'observe', true)
  await until(() => counted(gateway, 'violates'), 'the drift is counted')
  assert.match(JSON.stringify(drifts(gateway)), /structuredContent/)
})

test('errors are not checked, and a route without the setting reports nothing', async (t) => {
  const failed = await called(t, { content: [...TEXT], isError: true }, 'observe', true)
  const unasked = await called(t, { content: [...TEXT], structuredContent: { sum: 'five' } }, 'off', true)
  for (const { gateway } of [failed, unasked]) {
    const metrics = await (await fetch(`${gateway.addresses.admin}/metrics`)).text()
    assert.doesNotMatch(metrics, /^preflight_contract_checks_total\{.*\} [1-9]/m)
  }
})
