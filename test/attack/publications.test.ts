/** Tool tables and publications that a server in Go reads otherwise than they were judged: names in another case count there. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startHttpUpstream } from '../fakes/http-upstream.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'

async function scene(t: TestContext, protocol: string, answer: (url: string) => unknown = () => ({})) {
  const upstream = await startHttpUpstream((request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer(request.url ?? '')))
  })
  const proxy = await startProxy({
    routes: [{ name: 'it', match: { path: '/' }, upstream: upstream.origin, protocol }],
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const send = (path: string, body: unknown) =>
    fetch(proxy.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return { proxy, send, writes: () => upstream.requests.filter(({ method }) => method !== 'GET') }
}

const TOOL = { type: 'function', function: { name: 'rm', description: 'Removes a file.', parameters: {} } }
const MODEL = { model: 'm', messages: [] }

for (const [what, path, body] of [
  ['Tools', '/api/chat', { ...MODEL, Tools: [TOOL] }],
  ['TOOLS beside tools', '/api/chat', { ...MODEL, tools: [], TOOLS: [TOOL] }],
  ['tools with a long s', '/v1/chat/completions', { ...MODEL, 'tool\u017F': [TOOL] }],
  ['Functions in a wrapped request', '/v1/chat/completions', { request: { ...MODEL, Functions: [TOOL] } }],
  ['a wrapped request in other letters', '/v1/chat/completions', { Request: { ...MODEL, tools: [TOOL] } }],
  ['servers in other letters', '/v1/messages', { ...MODEL, MCP_servers: [{ name: 'x', url: 'https://x.example' }] }],
] as const) {
  test(`a call to a model with ${what} does not pass for one without tools`, async (t) => {
    const { send, writes, proxy } = await scene(t, 'llm')
    assert.equal((await send(path, body)).status, 503)
    assert.deepEqual(writes(), [])
    assert.equal(proxy.interceptions[0]?.effect, 'undecided')
  })
}

test('a list of calls to a model is judged by the tools of all of them', async (t) => {
  const { send, proxy } = await scene(t, 'llm')
  assert.equal((await send('/v1/chat/completions', [MODEL, { ...MODEL, tools: [TOOL] }])).status, 200)
  assert.match(proxy.flow.asked[0]?.artifacts[0]?.after ?? '', /Removes a file/)
})

const SERVER = {
  name: 'io.example/pets',
  version: '1.1.0',
  description: 'Pets.',
  packages: [{ registryType: 'npm', identifier: 'pets', version: '1.0.0', transport: { type: 'stdio' } }],
}

for (const [what, body] of [
  ['a second name', { ...SERVER, Name: 'io.example/other' }],
  ['other packages', { ...SERVER, Packages: [] }],
  ['another package within', { ...SERVER, packages: [{ ...SERVER.packages[0], Identifier: 'evil' }] }],
  ['another server in a member of its own', { ...SERVER, server: { ...SERVER, packages: [] } }],
  ['packages beside the server', { server: SERVER, packages: [] }],
  ['addresses beside the server', { server: SERVER, remotes: [] }],
  ['a name with a long s', { ...SERVER, 'package\u017F': [] }],
] as const) {
  test(`a publication to an MCP registry with ${what} does not go on`, async (t) => {
    const { send, writes } = await scene(t, 'mcp_registry', (url) => (url.includes('pets') ? { server: SERVER } : {}))
    assert.equal((await send('/v0/publish', SERVER)).status, 200)
    assert.equal((await send('/v0/publish', body)).status, 503)
    assert.equal(writes().length, 1)
  })
}
