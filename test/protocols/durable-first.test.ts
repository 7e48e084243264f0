/** Law 3 for every protocol: no byte of a judged request goes upstream before its decision, and its record, are durable. */
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { suite, test, type TestContext } from 'node:test'
import { GatewayError } from '../../gateway/errors/errors.ts'
import type { StoreFaults } from '../fakes/store-faults.ts'
import { startAgent } from '../fakes/agent.ts'
import { startMcpUpstream, type Generation } from '../fakes/mcp-upstream.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { PROFILES, PROTOCOLS, type ProtocolName } from './profiles.ts'
import { send, startScene } from './protocol-scene.ts'

const down = () => Promise.reject(new GatewayError('STORE_UNAVAILABLE'))
/** All of it was written, and the answer is lost. */
const late = async () => {
  await pause(20)
  return down()
}

const FAULTS: readonly (readonly [what: string, storeFaults: StoreFaults])[] = [
  ['the decision cannot be recorded', { decisions: { record: down } }],
  ['the answer to the record of the decision is lost', { decisions: { record: late } }],
  ['the call cannot be recorded', { calls: { record: down } }],
  ['the answer to the record of the call is lost', { calls: { record: late } }],
  ['the record of the call throws at once', { calls: { record: () => assert.fail('the disk is full') } }],
]

/**
 * Their judged requests need a receipt, whatever is decided, or a rule denies them. The server of the scene lists no tools: calls of
 * tools have a suite of their own.
 */
const NEVER_FORWARDED: ReadonlySet<ProtocolName> = new Set([
  'argocd',
  'bitbucket',
  'github',
  'gitlab',
  'kubernetes',
  'mapped',
  'mcp',
  'mcp_registry',
  'npm',
])

for (const protocol of PROTOCOLS)
  suite(protocol, () => {
    const { judged } = PROFILES[protocol]

    test('a judged request waits until its decision and its record are durable', async (t) => {
      const rows = { begun: 0, durable: 0 }
      const early: number[] = []
      let isJudged = false
      const slowly = async () => {
        rows.begun += 1
        await pause(30)
        rows.durable += 1
      }
      const scene = await startScene(t, protocol, {
        decide: () => 'ALLOW',
        storeFaults: { decisions: { record: slowly }, calls: { record: slowly } },
        onRequest: () => {
          if (isJudged) early.push(rows.begun - rows.durable)
        },
      })
      let forwarded = 0
      for (const request of judged) {
        const before = rows.durable
        isJudged = true
        const answer = await send(scene, request)
        isJudged = false
        if (!answer.isForwarded) continue
        forwarded += 1
        assert.ok(rows.durable > before, `${request.method} ${request.path} went upstream without a row`)
        assert.equal(early.at(-1), 0, `${request.method} ${request.path} went upstream before its row was durable`)
      }
      assert.equal(forwarded > 0, !NEVER_FORWARDED.has(protocol), `${forwarded} of ${judged.length} forwarded`)
    })

    for (const [what, storeFaults] of FAULTS)
      test(`nothing goes upstream when ${what}`, async (t) => {
        const scene = await startScene(t, protocol, { decide: () => 'ALLOW', storeFaults })
        for (const request of judged) {
          const { isForwarded, status } = await send(scene, request)
          assert.equal(isForwarded, false, `${request.method} ${request.path}: ${status}`)
        }
      })
  })

async function calledTool(t: TestContext, generation: Generation, storeFaults: StoreFaults, onCall = () => {}) {
  const answer = () => {
    onCall()
    return { content: [], structuredContent: { text: 'hi' } }
  }
  const upstream = await startMcpUpstream({ generation, answer })
  const route = { name: 'tools', match: { path: '/tools' }, upstream: upstream.url, protocol: 'mcp' }
  const proxy = await startProxy({ routes: [route], storeFaults })
  const agent = await startAgent(`${proxy.url}/tools`, generation === '2026-07-28' ? { pin: generation } : 'legacy')
  t.after(async () => {
    await agent.close()
    await proxy.close()
    await upstream.close()
  })
  const result = await agent.client.callTool({ name: 'echo', arguments: { text: 'hi' } })
  return { upstream, result }
}

for (const generation of ['sessions', 'stateless', '2026-07-28'] as const)
  suite(`a tool call (${generation})`, () => {
    test('waits until its decision and its record are durable', async (t) => {
      const life = { begun: 0, durable: 0 }
      const slowly = async () => {
        life.begun += 1
        await pause(30)
        life.durable += 1
      }
      const unfinished: number[] = []
      const onCall = (): void => void unfinished.push(life.begun - life.durable)
      const { upstream } = await calledTool(
        t,
        generation,
        { decisions: { record: slowly }, calls: { record: slowly } },
        onCall,
      )
      assert.equal(upstream.calls.length, 1)
      assert.ok(life.durable >= 2)
      assert.deepEqual(unfinished, [0])
    })

    for (const [what, storeFaults] of FAULTS)
      test(`is not sent when ${what}`, async (t) => {
        const { upstream, result } = await calledTool(t, generation, storeFaults)
        assert.equal(upstream.calls.length, 0)
        assert.equal(result.isError, true)
      })
  })
