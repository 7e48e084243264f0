/** agentgateway's MCP guardrails: requests are judged as the proxy judges them, and results are read. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { FREE_PORTS, startTestGateway, type TestGateway } from '../../fakes/gateway.ts'
import { grpcClient, type GrpcClient } from '../../fakes/grpc-client.ts'
import { ADD, ECHO, startMcpUpstream, tool, type Generation, type McpUpstream } from '../../fakes/mcp-upstream.ts'
import { at, listAt, textAt } from '../../json.ts'

interface Scene {
  readonly mcp: McpUpstream
  readonly gateway: TestGateway
  readonly client: GrpcClient
}

async function scene(
  t: TestContext,
  route: object = {},
  generation: Generation = 'stateless',
  config: object = {},
): Promise<Scene> {
  const mcp = await startMcpUpstream({ generation })
  t.after(() => mcp.close())
  const gateway = await startTestGateway(t, {
    listen: { ...FREE_PORTS, ext_authz: '127.0.0.1:0' },
    routes: [{ name: 'everything', match: { path: '/mcp' }, upstream: mcp.url, protocol: 'mcp', ...route }],
    ...config,
  })
  const address = (gateway.addresses.ext_authz ?? '').replace('http://', '')
  const client = grpcClient('ext-mcp.proto', 'agentgateway.dev.ext_mcp.ExtMcp', address)
  t.after(() => client.close())
  return { mcp, gateway, client }
}

/** As agentgateway sends it: native names, and the fields of its own client's request. */
const SENT_HEADERS = Object.entries({
  ':method': 'POST',
  ':path': '/mcp',
  ':authority': 'agents.example',
  'content-type': 'application/json',
  'content-length': '4711',
  accept: 'application/json, text/event-stream',
  'mcp-session-id': 'a-session-of-agentgateway',
  'mcp-method': 'tools/call',
  'mcp-name': 'everything_echo',
  authorization: 'Bearer one',
  'x-correlation-id': 'cor-mcp',
  'preflight-decision': 'forged',
}).map(([key, value]) => ({ key, value: Buffer.from(value) }))

/** Its tools are listed anew. */
const OTHER_CALLER = [{ key: 'authorization', value: Buffer.from('Bearer two') }]

function request(method: string, params: object | string | null, invocation = ''): object {
  const text = typeof params === 'string' ? params : JSON.stringify(params)
  return {
    service_names: ['everything'],
    method,
    ...(params !== null && { mcp_request: Buffer.from(text) }),
    headers: SENT_HEADERS,
    invocation_id: invocation,
  }
}

function response(method: string, result: object | string, invocation: string): object {
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  return { service_names: ['everything'], method, mcp_response: Buffer.from(text), invocation_id: invocation }
}

const ECHO_CALL = request('tools/call', { name: 'echo', arguments: { text: 'hi' } })

test('a tool call passes with its receipt, and fields that only the gateway sets are removed', async (t) => {
  const { client, mcp } = await scene(t)
  const answer = await client.call('CheckRequest', ECHO_CALL)
  assert.equal(at(answer, 'result'), 'pass', JSON.stringify(answer))
  const set = Object.fromEntries(
    listAt(answer, 'header_mutation', 'set').map((field) => [
      textAt(field, 'key'),
      Buffer.from(Object(at(field, 'value'))).toString('latin1'),
    ]),
  )
  assert.equal(set['X-Correlation-ID'], 'cor-mcp')
  assert.match(set['Preflight-Receipt'] ?? '', /^[\w-]+\.[\w-]+\.[\w-]+$/)
  const removed = listAt(answer, 'header_mutation', 'remove')
  assert.ok(set['Preflight-Decision'] !== undefined || removed.includes('preflight-decision'))
  assert.equal(mcp.calls.length, 0, 'the calling proxy sends the call itself')
})

test('a tool that changed is refused, with the text for the agent and the decision as data', async (t) => {
  const { client, mcp } = await scene(t)
  await client.call('CheckRequest', ECHO_CALL)
  mcp.tools = [tool('echo', { text: { type: 'number' } }, {}), ADD]
  const answer = await client.call('CheckRequest', { ...ECHO_CALL, headers: OTHER_CALLER })
  assert.equal(at(answer, 'error', 'code'), 'PERMISSION_DENIED', JSON.stringify(answer))
  assert.match(textAt(answer, 'error', 'reason'), /echo/)
  const data: unknown = JSON.parse(Buffer.from(Object(at(answer, 'error', 'mcp_error'))).toString('utf8'))
  assert.equal(at(data, 'decision_result', 'decision'), 'BLOCK')
  assert.match(textAt(data, 'decision_result', 'decision_id'), /^dec_/)
})

test('methods that are not judged pass, for one server or several, with and without params', async (t) => {
  const { client } = await scene(t)
  for (const [method, params] of [
    ['tools/list', null],
    ['initialize', {}],
    ['ping', null],
    ['completion/complete', { ref: {} }],
  ] as const) {
    const asked = request(method, params)
    assert.equal(at(await client.call('CheckRequest', asked), 'result'), 'pass', method)
    const fanned = { ...asked, service_names: ['everything', 'other'] }
    assert.equal(at(await client.call('CheckRequest', fanned), 'result'), 'pass', `${method} of several`)
  }
})

for (const [what, asked, code] of [
  ['a server without a route', { ...ECHO_CALL, service_names: ['unknown'] }, 'PERMISSION_DENIED'],
  ['no server', { ...ECHO_CALL, service_names: [] }, 'PERMISSION_DENIED'],
  ['a tool of several servers', { ...ECHO_CALL, service_names: ['everything', 'other'] }, 'INVALID'],
  ['a tool that nobody lists', request('tools/call', { name: 'nothing' }), 'PERMISSION_DENIED'],
  ['a tool without a name', request('tools/call', {}), 'INVALID'],
  ['a tool without params', request('tools/call', null), 'INVALID'],
  ['a name that is there twice', request('tools/call', '{"name":"echo","name":"add"}'), 'INVALID'],
  ['params that close the message', request('tools/list', '{},"method":"tools/call"'), 'INVALID'],
  ['params that are a list', request('tools/call', '["echo"]'), 'INVALID'],
  ['params that are no JSON', request('tools/call', '{'), 'INVALID'],
  ['a method in other letters', request('Tools/Call', { name: 'echo' }), 'INVALID'],
] as const)
  test(`${what}: the call is refused`, async (t) => {
    const { client } = await scene(t)
    const answer = await client.call('CheckRequest', asked)
    assert.equal(at(answer, 'result'), 'error', JSON.stringify(answer))
    assert.equal(at(answer, 'error', 'code') ?? 'UNKNOWN', code, textAt(answer, 'error', 'reason'))
  })

test('the list in a result is what later calls of the same caller are judged by', async (t) => {
  // A server with sessions answers only its own sessions: the gateway cannot list its tools by itself.
  const { client, mcp } = await scene(t, {}, 'sessions')
  const early = await client.call('CheckRequest', ECHO_CALL)
  assert.equal(at(early, 'result'), 'error', 'nothing is known yet')
  assert.equal(at(await client.call('CheckRequest', request('tools/list', null, 'inv-1')), 'result'), 'pass')
  const listed = response('tools/list', { tools: [ECHO, ADD] }, 'inv-1')
  assert.equal(at(await client.call('CheckResponse', listed), 'result'), 'pass')
  const later = await client.call('CheckRequest', ECHO_CALL)
  assert.equal(at(later, 'result'), 'pass', JSON.stringify(later))
  assert.equal(mcp.calls.length, 0)
})

test('without an invocation id, the correlation id in the metadata names the call, unless two calls have it', async (t) => {
  for (const times of [1, 2]) {
    const { client } = await scene(t, {}, 'sessions')
    for (let sent = 0; sent < times; sent++) await client.call('CheckRequest', request('tools/list', null))
    const metadata = { fields: { correlation_id: { stringValue: 'cor-mcp', string_value: 'cor-mcp' } } }
    const listed = { ...response('tools/list', { tools: [ECHO, ADD] }, ''), metadata_context: metadata }
    assert.equal(at(await client.call('CheckResponse', listed), 'result'), 'pass')
    const later = await client.call('CheckRequest', ECHO_CALL)
    assert.equal(at(later, 'result'), times === 1 ? 'pass' : 'error', JSON.stringify(later))
  }
})

test('the result of a monitored call closes its window with its outcome', async (t) => {
  const { client, gateway, mcp } = await scene(t, {}, 'stateless', { policy: 'test/fakes/warn-pack.yaml' })
  await client.call('CheckRequest', ECHO_CALL)
  mcp.tools = [tool('echo', { text: { type: 'number' } }, {}), ADD]
  for (const [invocation, isError, outcome] of [
    ['inv-1', true, 'FAILED'],
    ['inv-2', false, 'SUCCEEDED'],
  ] as const) {
    const asked = { ...request('tools/call', { name: 'echo', arguments: {} }, invocation), headers: OTHER_CALLER }
    const passed = await client.call('CheckRequest', asked)
    assert.equal(at(passed, 'result'), 'pass', JSON.stringify(passed))
    assert.match(await gateway.metrics.text(), /preflight_monitoring_windows_open 1/)
    const answered = response('tools/call', { content: [], isError }, invocation)
    assert.equal(at(await client.call('CheckResponse', answered), 'result'), 'pass')
    const closed = new RegExp(`preflight_monitoring_windows_closed_total{outcome="${outcome}"} 1`)
    assert.match(await gateway.metrics.text(), closed)
  }
})

test('a result that cannot be read is refused, and one of an unknown invocation passes', async (t) => {
  const { client } = await scene(t)
  const unread = await client.call('CheckResponse', response('tools/call', '{"a":1,"a":2}', 'inv-1'))
  assert.equal(at(unread, 'error', 'code'), 'INVALID')
  const unknown = await client.call('CheckResponse', response('tools/call', { content: [] }, 'inv-9'))
  assert.equal(at(unknown, 'result'), 'pass')
})

test('an observed route forwards what it would refuse', async (t) => {
  const { client } = await scene(t, { mode: 'observe', receipts: { require: true } })
  assert.equal(at(await client.call('CheckRequest', ECHO_CALL), 'result'), 'pass')
  const strict = await scene(t, { receipts: { require: true } })
  const refused = await strict.client.call('CheckRequest', ECHO_CALL)
  assert.match(textAt(refused, 'error', 'reason'), /receipt/i)
})
