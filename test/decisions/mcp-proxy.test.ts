/** The decision cases about one tool through the proxy: the base manifest is pinned, the server offers the head manifest, the tool is called. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Tool } from '@modelcontextprotocol/server'
import { checkProducerForm } from '../../engine/internal.ts'
import { startTestGateway, TEST_KEY } from '../fakes/gateway.ts'
import { startMcpUpstream } from '../fakes/mcp-upstream.ts'
import { at } from '../json.ts'
import { assertWanted, decisionCases, type DecisionCase } from './cases.ts'

interface ToolCase extends DecisionCase {
  readonly tool: string
  readonly before: string
  readonly tools: readonly Tool[]
}

const CASES: readonly ToolCase[] = decisionCases().flatMap((decisionCase) => {
  const { artifacts, context, scope } = decisionCase
  const [artifact] = artifacts
  if (artifact?.type !== 'mcp_manifest' || scope === null || !('tool' in scope) || context.operation !== 'tool_call')
    return []
  const { tools }: { readonly tools: readonly Tool[] } = JSON.parse(artifact.after)
  return [{ ...decisionCase, tool: scope.tool, before: artifact.before, tools }]
})

test('cases about tools remain to run through the proxy', () => assert.ok(CASES.length >= 6, String(CASES.length)))

for (const { description, policy, tool, before, tools, want } of CASES) {
  test(`a call of ${tool} is decided as the case wants it: ${description}`, async (t) => {
    const upstream = await startMcpUpstream({ generation: 'stateless', json: true })
    t.after(() => upstream.close())
    upstream.tools = tools
    const directory = mkdtempSync(join(tmpdir(), 'preflight-decisions-'))
    t.after(() => rmSync(directory, { recursive: true, force: true }))
    const file = join(directory, 'before.json')
    writeFileSync(file, before)
    const route = { name: 'shop', match: { path: '/shop' }, upstream: upstream.url, protocol: 'mcp' }
    const gateway = await startTestGateway(t, { policy, routes: [{ ...route, contract: { baseline: { file } } }] })

    const answer = await fetch(`${gateway.addresses.proxy}/shop`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: {} } }),
    })
    await answer.arrayBuffer()

    const id = answer.headers.get('preflight-decision-id')
    const decision = await fetch(`${gateway.addresses.api}/api/v1/decisions/${id}`, {
      headers: { authorization: `Bearer ${TEST_KEY}` },
    })
    const checked = checkProducerForm(at(await decision.json(), 'decision_result'))
    assert.ok(checked.ok, JSON.stringify(checked))
    assertWanted(checked.value, want)
    assert.equal(answer.headers.get('preflight-action'), checked.value.execution_action)
    assert.equal(upstream.calls.length, checked.value.safe_for_agent ? 1 : 0)
  })
}
