/** Calls held for an approval: they go on by themselves when it is granted, and nothing is left of those that end another way. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startAgent, textOf } from '../../fakes/agent.ts'
import { run } from '../../fakes/command-io.ts'
import { startTestGateway, TEST_KEY } from '../../fakes/gateway.ts'
import { startMcpUpstream, tool } from '../../fakes/mcp-upstream.ts'
import { breakListing, startPetRoute, type PetRoute } from '../../fakes/pet-route.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

const LONG = 60

function packRequest(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-pack-')), 'pack.yaml')
  const rules = [{ id: 'breaking-asks', when: "finding.level == 'breaking'", then: 'REQUIRE_APPROVAL' }]
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'asks' }, rules }),
  )
  return file
}

/** A route whose next call needs an approval. */
async function holding(t: TestContext, hold = LONG, config: object = {}): Promise<PetRoute> {
  const scene = await startPetRoute(t, { hold }, { policy: packRequest(), ...config })
  assert.equal((await scene.call()).status, 200)
  scene.change(breakListing)
  return scene
}

async function pendingOf({ api }: PetRoute): Promise<string | null> {
  const { body } = await api('GET', '/api/v1/approvals?state=pending')
  const [first] = listAt(body, 'approvals')
  return first === undefined ? null : textAt(first, 'id')
}

async function pendingApproval(scene: PetRoute): Promise<string> {
  let id: string | null = null
  await until(async () => {
    id = await pendingOf(scene)
    return id !== null
  }, 'an approval is asked for')
  return String(id)
}

const held = async ({ gateway }: PetRoute): Promise<number> =>
  Number(/preflight_calls_held (\d+)/.exec(await gateway.metrics.text())?.[1])

test('pending calls continue without a retry, monitored, once the approval is granted', async (t) => {
  const scene = await holding(t)
  const calls = [scene.call(), scene.call(), scene.call()]
  const id = await pendingApproval(scene)
  await until(async () => (await held(scene)) === 3, '3 calls are held')
  assert.equal(scene.upstream.requests.length, 1)
  await scene.api('POST', `/api/v1/approvals/${id}/grant`, { comment: 'seen' })
  for (const answer of await Promise.all(calls)) {
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('preflight-action'), 'CONTINUE_WITH_MONITORING')
  }
  assert.equal(scene.upstream.requests.length, 4)
  assert.equal(await held(scene), 0)
})

test('an approval decision by the command line of another process is applied too', async (t) => {
  const scene = await holding(t)
  const call = scene.call()
  const id = await pendingApproval(scene)
  const granted = await run(['approvals', 'grant', id, '--data-dir', scene.gateway.dataDir])
  assert.equal(granted.code, 0, granted.stderr)
  assert.equal((await call).status, 200)
})

test('a denial ends the wait immediately with 428 and the address of the approval', async (t) => {
  const scene = await holding(t)
  const call = scene.call()
  const id = await pendingApproval(scene)
  await scene.api('POST', `/api/v1/approvals/${id}/deny`, { comment: 'no' })
  const answer = await call
  assert.equal(answer.status, 428)
  assert.equal(answer.headers.get('location'), `/api/v1/approvals/${id}`)
  assert.equal(at(await answer.json(), 'error'), 'PREFLIGHT_APPROVAL_REQUIRED')
})

test('a call whose time runs out is answered 428', async (t) => {
  const scene = await holding(t, 0.2)
  const answer = await scene.call()
  assert.equal(answer.status, 428)
  assert.match(answer.headers.get('location') ?? '', /^\/api\/v1\/approvals\//)
})

test('a client that goes away ends its wait, and nothing is sent for it later', async (t) => {
  const scene = await holding(t)
  const client = request(`${scene.gateway.addresses.proxy}/pets`)
  client.on('error', () => {})
  client.end()
  const id = await pendingApproval(scene)
  await until(async () => (await held(scene)) === 1, '1 calls are held')
  client.destroy()
  await until(async () => (await held(scene)) === 0, '0 calls are held')
  await scene.api('POST', `/api/v1/approvals/${id}/grant`, { comment: 'late' })
  assert.equal((await scene.call()).status, 200)
  assert.equal(scene.upstream.requests.length, 2)
})

test('a repeated call continues right after the approval decision that it was waiting for', async (t) => {
  const scene = await holding(t, 0)
  assert.equal((await scene.call()).status, 428)
  const id = await pendingApproval(scene)
  await scene.api('POST', `/api/v1/approvals/${id}/grant`, { comment: 'seen' })
  assert.equal((await scene.call()).status, 200)
})

test('past the bound calls are answered immediately', async (t) => {
  const scene = await holding(t, LONG, { limits: { held_calls: 1 } })
  const first = scene.call()
  const id = await pendingApproval(scene)
  await until(async () => (await held(scene)) === 1, '1 calls are held')
  assert.equal((await scene.call()).status, 428)
  await scene.api('POST', `/api/v1/approvals/${id}/grant`, { comment: 'seen' })
  assert.equal((await first).status, 200)
})

test('a shutdown answers what is held, and does not wait for its time', async (t) => {
  const scene = await holding(t)
  const call = scene.call()
  await pendingApproval(scene)
  await until(async () => (await held(scene)) === 1, '1 calls are held')
  await scene.gateway.close()
  assert.equal((await call).status, 428)
})

test('a break-glass exception releases pending calls', async (t) => {
  const scene = await holding(t)
  const call = scene.call()
  await pendingApproval(scene)
  await until(async () => (await held(scene)) === 1, '1 calls are held')
  await scene.api('POST', '/api/v1/break-glass', { route: 'pets', reason: 'incident 4711: down', duration: 60 })
  const answer = await call
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('preflight-action'), 'REQUEST_APPROVAL')
})

test('what is approved is what is sent: a contract that changed again while a call waited needs its own approval', async (t) => {
  const scene = await holding(t)
  const call = scene.call()
  const id = await pendingApproval(scene)
  scene.change((paths) => {
    breakListing(paths)
    delete paths['/pets/mine']
    paths['/pets'] = { ...Object(paths['/pets']), get: { responses: {} } }
  })
  await scene.api('POST', `/api/v1/approvals/${id}/grant`, { comment: 'the first change only' })
  const next = await pendingApproval(scene)
  assert.notEqual(next, id)
  assert.equal(scene.upstream.requests.length, 1)
  await scene.api('POST', `/api/v1/approvals/${next}/deny`, { comment: 'no' })
  assert.equal((await call).status, 428)
})

const ECHO_NARROWED = tool('echo', { text: { type: 'number' } }, { text: { type: 'string' } })

for (const [generation, json] of [
  ['sessions', false],
  ['sessions', true],
  ['stateless', true],
  ['2026-07-28', false],
] as const) {
  test(`an MCP client of ${generation} that waits gets progress notifications and the tool’s answer (JSON bodies: ${json})`, async (t) => {
    const mcp = await startMcpUpstream({ generation, json })
    const route = {
      name: 'tools',
      match: { path: '/' },
      upstream: mcp.url,
      protocol: 'mcp',
      hold: LONG,
      contract: { refresh: 0 },
    }
    const gateway = await startTestGateway(t, { policy: packRequest(), routes: [route] })
    const mode = generation === '2026-07-28' ? { pin: '2026-07-28' } : 'legacy'
    const agent = await startAgent(gateway.addresses.proxy, mode)
    t.after(async () => {
      await agent.close()
      await mcp.close()
    })
    const call = (onprogress: () => void) =>
      agent.client.callTool({ name: 'echo', arguments: { text: 'hi' } }, { onprogress, resetTimeoutOnProgress: true })
    await call(() => {})
    mcp.tools = [ECHO_NARROWED]
    const before = mcp.calls.length
    let progress = 0
    const waiting = call(() => {
      progress += 1
    })
    await until(() => progress > 0, 'progress is told')
    const ask = async (method: string, path: string) => {
      const headers = { authorization: `Bearer ${TEST_KEY}` }
      const body: unknown = await (await fetch(gateway.addresses.api + path, { method, headers })).json()
      return body
    }
    assert.equal(mcp.calls.length, before)
    const id = textAt(await ask('GET', '/api/v1/approvals?state=pending'), 'approvals', 0, 'id')
    await ask('POST', `/api/v1/approvals/${id}/grant`)
    const result = await waiting
    assert.notEqual(result.isError, true, JSON.stringify(result))
    assert.equal(mcp.calls.length, before + 1)

    mcp.tools = [tool('echo', { text: { type: 'boolean' } }, { text: { type: 'string' } })]
    const refused = call(() => {})
    let next = ''
    await until(async () => {
      const [first] = listAt(await ask('GET', '/api/v1/approvals?state=pending'), 'approvals')
      next = first === undefined ? '' : textAt(first, 'id')
      return next !== ''
    }, 'the further change is asked for')
    await ask('POST', `/api/v1/approvals/${next}/deny`)
    const denied = await refused
    assert.equal(denied.isError, true)
    assert.match(textOf(denied), /Preflight holds/)
  })
}

test('an MCP call that its client takes back does not run when it is approved, and the same id of another session does', async (t) => {
  const mcp = await startMcpUpstream({ generation: 'sessions' })
  const route = { name: 'tools', match: { path: '/' }, upstream: mcp.url, protocol: 'mcp', hold: LONG }
  const gateway = await startTestGateway(t, {
    policy: packRequest(),
    routes: [{ ...route, contract: { refresh: 0 } }],
  })
  const agents = [await startAgent(gateway.addresses.proxy), await startAgent(gateway.addresses.proxy)] as const
  t.after(async () => {
    for (const agent of agents) await agent.close()
    await mcp.close()
  })
  const calls = async (): Promise<number> =>
    Number(/preflight_calls_held (\d+)/.exec(await gateway.metrics.text())?.[1])
  const argument = { name: 'echo', arguments: { text: 'hi' } }
  for (const { client } of agents) await client.callTool(argument)
  mcp.tools = [ECHO_NARROWED]
  const before = mcp.calls.length
  const abort = new AbortController()
  const [taken, kept] = [
    agents[0].client.callTool(argument, { signal: abort.signal }).catch((error: unknown) => error),
    agents[1].client.callTool(argument),
  ]
  await until(async () => (await calls()) === 2, 'both are held')
  abort.abort()
  await until(async () => (await calls()) === 1, 'one is taken back')
  assert.ok((await taken) instanceof Error)
  const headers = { authorization: `Bearer ${TEST_KEY}` }
  const pending: unknown = await (
    await fetch(`${gateway.addresses.api}/api/v1/approvals?state=pending`, { headers })
  ).json()
  const id = textAt(pending, 'approvals', 0, 'id')
  await fetch(`${gateway.addresses.api}/api/v1/approvals/${id}/grant`, { method: 'POST', headers })
  assert.notEqual((await kept).isError, true)
  assert.equal(mcp.calls.length, before + 1)
  // A session goes on after a call that was taken back.
  assert.notEqual((await agents[0].client.callTool(argument)).isError, true)
})
