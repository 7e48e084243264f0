/** POST /mcp with the official SDK client, in both generations of the protocol: tools listed without a key, called with one. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startAgent, textOf } from '../../fakes/agent.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { pets, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { at, textAt } from '../../json.ts'

const TOOLS = ['get_decision_details', 'preflight_change_set', 'verify_receipt']
const authorize = (after: string) => ({
  preflight_mode: 'authorize',
  artifacts: [pets(after)],
  context: { operation: 'merge' },
})

for (const mode of ['legacy', 'auto'] as const) {
  describe(`the MCP endpoint, to a client that negotiates "${mode}"`, () => {
    let api: ApiFake
    before(async () => {
      api = await startApi()
    })
    after(() => api.close())
    const agent = (key: string | null = api.key) =>
      startAgent(`${api.url}/mcp`, mode, key === null ? {} : { authorization: `Bearer ${key}` })

    it('lists its tools without a key, the same as the manifest', async () => {
      const one = await agent(null)
      const { client } = one
      const { tools } = await client.listTools()
      assert.deepEqual(tools.map(({ name }) => name).toSorted(), TOOLS)
      const manifest = at((await api.get('/.well-known/mcp.json')).body, 'tools')
      assert.deepEqual(JSON.parse(JSON.stringify(tools)), manifest)
      await one.close()
    })

    it('refuses a call without a key, as a tool error', async () => {
      const one = await agent(null)
      const { client } = one
      const result = await client.callTool({ name: 'preflight_change_set', arguments: authorize(PETS_WITH_POST) })
      assert.equal(result.isError, true)
      assert.equal(at(result.structuredContent, 'error'), 'UNAUTHENTICATED')
      await one.close()
    })

    it('decides, verifies and finds again as the REST routes do', async () => {
      const one = await agent()
      const { client } = one
      const decided = await client.callTool({ name: 'preflight_change_set', arguments: authorize(PETS_WITH_POST) })
      assert.notEqual(decided.isError, true, textOf(decided))
      assert.equal(at(decided.structuredContent, 'execution_action'), 'CONTINUE')
      assert.deepEqual(JSON.parse(textOf(decided)), decided.structuredContent)
      const token = textAt(decided.structuredContent, 'chain_receipt')
      const verified = await client.callTool({
        name: 'verify_receipt',
        arguments: { token, context: { operation: 'merge' } },
      })
      assert.equal(at(verified.structuredContent, 'currently_authorized'), true)
      const decision_id = textAt(decided.structuredContent, 'decision_result', 'decision_id')
      const found = await client.callTool({ name: 'get_decision_details', arguments: { decision_id } })
      assert.deepEqual(at(found.structuredContent, 'decision_result'), at(decided.structuredContent, 'decision_result'))
      await one.close()
    })

    it('returns a block as a result, and a mistake as an error that says what to fix', async () => {
      const one = await agent()
      const { client } = one
      const stopped = await client.callTool({ name: 'preflight_change_set', arguments: authorize(PETS_WITHOUT_DELETE) })
      assert.notEqual(stopped.isError, true)
      assert.equal(at(stopped.structuredContent, 'execution_action'), 'STOP')
      const mistaken = await client.callTool({ name: 'preflight_change_set', arguments: { artifacts: [] } })
      assert.equal(mistaken.isError, true)
      assert.equal(at(mistaken.structuredContent, 'error'), 'PREFLIGHT_MODE_REQUIRED')
      assert.match(textOf(mistaken), /preflight_mode/)
      const unknown = await client.callTool({ name: 'rm_rf', arguments: {} })
      assert.equal(unknown.isError, true)
      assert.equal(at(unknown.structuredContent, 'error'), 'NOT_FOUND')
      await one.close()
    })

    it('leaves no request open', async () => {
      assert.equal(api.openRequests(), 0)
    })
  })
}
