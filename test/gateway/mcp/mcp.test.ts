/** MCP calls through the proxy, spoken by the official SDK on both sides, in every generation of the transport. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startAgent, textOf, type Agent } from '../../fakes/agent.ts'
import { ADD, ECHO, startMcpUpstream, tool, type Generation, type McpUpstream } from '../../fakes/mcp-upstream.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from '../../fakes/proxy-under-test.ts'
import { at } from '../../json.ts'

interface Scene {
  readonly upstream: McpUpstream
  readonly proxy: ProxyUnderTest
  readonly agent: Agent
}

interface SceneOptions {
  readonly generation?: Generation
  readonly json?: boolean
  readonly route?: Readonly<Record<string, unknown>>
  readonly proxy?: Partial<ProxyOptions>
}

async function scene(t: TestContext, options: SceneOptions = {}): Promise<Scene> {
  const { generation = 'sessions' } = options
  const upstream = await startMcpUpstream({ generation, json: options.json ?? false })
  const route = { name: 'tools', match: { path: '/tools' }, upstream: upstream.url, protocol: 'mcp', ...options.route }
  const proxy = await startProxy({ routes: [route], ...options.proxy })
  const agent = await startAgent(`${proxy.url}/tools`, generation === '2026-07-28' ? { pin: '2026-07-28' } : 'legacy')
  t.after(async () => {
    await agent.close()
    await proxy.close()
    await upstream.close()
  })
  return { upstream, proxy, agent }
}

/** A tool whose result lost its field: the scripted flow blocks what changed. */
const CHANGED_ECHO = tool('echo', { text: { type: 'string' } }, {})
const blockChanges: ProxyOptions['decide'] = ({ artifacts: [artifact], scope }) => {
  const name = scope !== null && 'tool' in scope ? scope.tool : ''
  return toolText(artifact?.before, name) === toolText(artifact?.after, name) ? 'ALLOW' : 'BLOCK'
}

function toolText(manifest: string | undefined, name: string): string {
  const tools: unknown = at(JSON.parse(manifest ?? '{}'), 'tools')
  return JSON.stringify(Array.isArray(tools) ? tools.find((item) => at(item, 'name') === name) : null)
}

test('the envelope goes upstream where the route says so', async (t) => {
  const { upstream, agent } = await scene(t, { route: { receipts: { envelope: true } } })
  await agent.client.callTool({ name: 'echo', arguments: { text: 'hi' } })
  const sent = String(upstream.calls[0]?.headers['preflight-decision'])
  const envelope: unknown = JSON.parse(Buffer.from(sent, 'base64url').toString())
  assert.equal(at(envelope, 'decision_id'), 'dec_1')
})

for (const generation of ['sessions', 'stateless', '2026-07-28'] as const) {
  for (const json of [false, true]) {
    const form = `${generation}, ${json ? 'JSON answers' : 'event streams'}`

    test(`a tool call goes through with a receipt (${form})`, async (t) => {
      const { upstream, proxy, agent } = await scene(t, { generation, json })
      const listed = await agent.client.listTools()
      const result = await agent.client.callTool({ name: 'echo', arguments: { text: 'hi' } })

      assert.deepEqual(
        listed.tools.map(({ name }) => name),
        ['echo', 'add'],
      )
      assert.equal(textOf(result), 'echo: {"text":"hi"}')
      const [call] = upstream.calls
      assert.equal(call?.headers['preflight-receipt'], 'header.dec_1.signature')
      assert.equal(call?.headers['preflight-decision'], undefined)
      const [row] = proxy.interceptions
      assert.equal(row?.action, 'tools/call echo')
      assert.equal(row?.decisionId, 'dec_1')
    })

    test(`a changed tool is stopped and an untouched one goes on, though the agent never lists (${form})`, async (t) => {
      const { upstream, agent } = await scene(t, {
        generation,
        json,
        route: { contract: { refresh: 0 } },
        proxy: { decide: blockChanges },
      })
      await agent.client.callTool({ name: 'echo', arguments: {} })
      upstream.tools = [CHANGED_ECHO, ADD]

      const stopped = await agent.client.callTool({ name: 'echo', arguments: {} })
      const untouched = await agent.client.callTool({ name: 'add', arguments: {} })

      assert.equal(stopped.isError, true)
      assert.match(textOf(stopped), /stopped tools\/call echo/)
      assert.match(textOf(stopped), /What to do next:\n- Ask the owner of the tool\./)
      // Nothing in the hands of the caller brings the call through.
      assert.match(textOf(stopped), /review and accept the new contract\.\n.*Do not repeat it before the new contract/)
      assert.match(textOf(stopped), /[.…] The contract is now another one than the baseline/)
      assert.equal(at(stopped.structuredContent, 'error'), 'PREFLIGHT_STOP')
      assert.equal(at(stopped.structuredContent, 'decision_result', 'execution_action'), 'STOP')
      assert.notEqual(untouched.isError, true)
      assert.deepEqual(
        upstream.calls.map((call) => call.tool),
        ['echo', 'add'],
      )
    })
  }
}

test('the first manifest seen is pinned as the baseline when the agent lists', async (t) => {
  const { proxy, agent } = await scene(t)
  await agent.client.listTools()
  await agent.client.callTool({ name: 'echo', arguments: {} })
  const baseline = await proxy.store.baselines.byRoute('tools', 'tools')

  assert.equal(baseline?.source, 'first_use')
  assert.deepEqual(JSON.parse(baseline?.content ?? ''), {
    capabilities: { tools: { listChanged: true } },
    tools: [ADD, ECHO],
  })
})

test('a manifest that comes in pages is whole only with its last page', async (t) => {
  const { upstream, proxy, agent } = await scene(t)
  upstream.pageSize = 1
  upstream.tools = [ECHO, ADD, tool('third', {}, {})]
  const first = await agent.client.listTools({})
  await agent.client.callTool({ name: 'third', arguments: {} })
  const baseline = await proxy.store.baselines.byRoute('tools', 'tools')

  assert.ok(first.tools.length > 0)
  assert.equal(JSON.parse(baseline?.content ?? '{}').tools.length, 3)
})

test('a decision serves later calls of the same tool, and its revocation ends that', async (t) => {
  let clock = Date.now()
  const { proxy, agent } = await scene(t, { proxy: { now: () => clock } })
  await agent.client.callTool({ name: 'echo', arguments: {} })
  await agent.client.callTool({ name: 'echo', arguments: {} })
  assert.equal(proxy.flow.asked.length, 1)

  await proxy.store.receipts.revoke('local', 'dec_1', 'test', 'tester', clock)
  clock += 1001
  await agent.client.callTool({ name: 'echo', arguments: {} })
  assert.equal(proxy.flow.asked.length, 2)
})

test('another policy generation is asked anew', async (t) => {
  const { proxy, agent } = await scene(t)
  await agent.client.callTool({ name: 'echo', arguments: {} })
  proxy.nextGeneration()
  await agent.client.callTool({ name: 'echo', arguments: {} })
  assert.equal(proxy.flow.asked.length, 2)
})

test('a list_changed notice from the server makes the next call list again, within the refresh time', async (t) => {
  const { upstream, agent } = await scene(t, { proxy: { decide: blockChanges } })
  await agent.client.callTool({ name: 'echo', arguments: {} })
  upstream.tools = [CHANGED_ECHO, ADD]
  // The client opens its notification stream after connecting; the notice is lost on a stream that is not there yet.
  let stopped = await agent.client.callTool({ name: 'echo', arguments: {} })
  for (let tries = 0; stopped.isError !== true && tries < 100; tries += 1) {
    await upstream.announceChange()
    await new Promise((resolve) => setTimeout(resolve, 10))
    stopped = await agent.client.callTool({ name: 'echo', arguments: {} })
  }
  assert.equal(stopped.isError, true)
})

test('a call that needs an approval is held and says so', async (t) => {
  const { upstream, agent } = await scene(t, { proxy: { decide: () => 'REQUIRE_APPROVAL' } })
  const held = await agent.client.callTool({ name: 'echo', arguments: {} })
  assert.equal(at(held.structuredContent, 'error'), 'PREFLIGHT_APPROVAL_REQUIRED')
  assert.equal(upstream.calls.length, 0)
})

test('observe mode decides, records and counts, and holds nothing', async (t) => {
  const { upstream, proxy, agent } = await scene(t, { route: { mode: 'observe' }, proxy: { decide: () => 'BLOCK' } })
  const result = await agent.client.callTool({ name: 'echo', arguments: {} })
  assert.notEqual(result.isError, true)
  assert.equal(upstream.calls.length, 1)
  assert.equal(upstream.calls[0]?.headers['preflight-receipt'], undefined)
  assert.equal(proxy.interceptions[0]?.executionAction, 'STOP')
  assert.equal(proxy.interceptions[0]?.enforced, false)
  assert.match(await proxy.metrics.text(), /preflight_calls_total\{route="tools",outcome="observed"\} 1/)
})

test('a tool that neither contract describes is not forwarded', async (t) => {
  const { upstream, agent } = await scene(t)
  const result = await agent.client.callTool({ name: 'hidden', arguments: {} })
  assert.equal(result.isError, true)
  assert.equal(at(result.structuredContent, 'error'), 'PREFLIGHT_UNDECIDED')
  assert.equal(upstream.calls.length, 0)
})

test('a tool that is gone from the server is still judged, since the baseline has it', async (t) => {
  const { upstream, proxy, agent } = await scene(t, {
    route: { contract: { refresh: 0 } },
    proxy: { decide: blockChanges },
  })
  await agent.client.callTool({ name: 'echo', arguments: {} })
  upstream.tools = [ADD]
  const stopped = await agent.client.callTool({ name: 'echo', arguments: {} })
  assert.equal(at(stopped.structuredContent, 'error'), 'PREFLIGHT_STOP')
  assert.equal(proxy.flow.asked.length, 2)
})

test('the end of a session by the server reaches the client unchanged', async (t) => {
  const { upstream, agent } = await scene(t, { route: { contract: { refresh: 0 } } })
  await agent.client.callTool({ name: 'echo', arguments: {} })
  upstream.endSessions()
  await assert.rejects(agent.client.callTool({ name: 'echo', arguments: {} }), /404|[Ss]ession/)
})
