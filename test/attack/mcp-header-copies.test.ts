/**
 * MCP 2026-07-28 repeats parts of a message in header fields. A server that trusts the copy must not execute another call than the
 * one judged.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { listening } from '../fakes/listening.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { until } from '../fakes/until.ts'
import { at } from '../json.ts'

const copied = (type: string, name: string) => ({ type, 'x-mcp-header': name })
const TOOL = {
  name: 'write',
  inputSchema: {
    type: 'object',
    properties: {
      region: copied('string', 'Region'),
      count: copied('integer', 'Count'),
      isDry: copied('boolean', 'Dry'),
      note: { type: 'string' },
      place: { type: 'object', properties: { zone: copied('string', 'Zone') } },
    },
  },
  outputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
}

async function scene(t: TestContext, result: object = { content: [] }, route: object = {}) {
  const calls: unknown[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const message: unknown = JSON.parse(body)
      const isList = at(message, 'method') === 'tools/list'
      if (!isList) calls.push(message)
      const answer = { jsonrpc: '2.0', id: at(message, 'id'), result: isList ? { tools: [TOOL] } : result }
      return response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    })
  })
  const upstream = await listening(t, server)
  const proxy = await startProxy({
    routes: [{ name: 'tools', match: { path: '/' }, upstream, protocol: 'mcp', ...route }],
  })
  t.after(() => proxy.close())
  const send = async (message: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const fields = { 'content-type': 'application/json', ...headers }
    const answer = await fetch(proxy.url, { method: 'POST', body: JSON.stringify(message), headers: fields })
    return { status: answer.status, body: await answer.text() }
  }
  return { proxy, calls, send }
}

const ARGUMENTS = { region: 'eu', count: 42, isDry: true, note: 'us', place: { zone: 'a' } }
const call = (args: object = ARGUMENTS) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'write', arguments: args },
})

for (const [what, headers, args, isForwarded] of [
  ['copies of all kinds', { region: 'eu', count: '42', dry: 'true', zone: 'a' }, ARGUMENTS, true],
  ['a number in another spelling', { count: '42.0' }, ARGUMENTS, true],
  ['an encoded copy', { region: '=?base64?ZXU=?=' }, ARGUMENTS, true],
  ['a field that the tool does not ask for', { other: 'us', note: 'us' }, ARGUMENTS, true],
  ['another text', { region: 'us' }, ARGUMENTS, false],
  ['the text in other letters', { region: 'EU' }, ARGUMENTS, false],
  ['another text behind an equal one', { region: 'eu, us' }, ARGUMENTS, false],
  ['another text, encoded', { region: '=?base64?dXM=?=' }, ARGUMENTS, false],
  ['an encoding that not all readers take', { region: '=?BASE64?ZXU=?=' }, ARGUMENTS, false],
  ['an encoding without padding', { region: '=?base64?ZXU?=' }, ARGUMENTS, false],
  ['another number', { count: '43' }, ARGUMENTS, false],
  ['a number that not all readers take', { count: '0x2a' }, ARGUMENTS, false],
  ['no number', { count: '' }, { ...ARGUMENTS, count: 0 }, false],
  ['another truth', { dry: 'false' }, ARGUMENTS, false],
  ['another text below a member', { zone: 'b' }, ARGUMENTS, false],
  ['an argument that is not there', { region: 'eu' }, {}, false],
  ['an argument that is null', { region: 'null' }, { region: null }, false],
  ['an argument that is a list', { region: 'eu' }, { region: ['eu'] }, false],
  ['a member that is no object', { region: 'eu' }, { place: 'eu' }, false],
] as const) {
  test(`Mcp-Param headers with ${what}: ${isForwarded ? 'forwarded' : 'not forwarded'}`, async (t) => {
    const { send, calls } = await scene(t)
    const fields = Object.fromEntries(Object.entries(headers).map(([name, value]) => [`Mcp-Param-${name}`, value]))
    const { body } = await send(call(args), fields)
    assert.equal(calls.length, isForwarded ? 1 : 0, body)
    if (!isForwarded) assert.match(body, /Mcp-Param-[a-z]+ header and the argument of write that it repeats differ/)
  })
}

test('an encoded name has one reading, or is another name', async (t) => {
  const { send, calls } = await scene(t)
  for (const name of ['=?BASE64?d3JpdGU=?=', '=?base64?d3JpdGV=?=', '=?base64?d3Jp dGU=?=', '=?base64?d3JpdGU?='])
    assert.equal((await send(call(), { 'mcp-name': name })).status, 400, name)
  assert.deepEqual(calls, [])
})

const META = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }

for (const [what, messages] of [
  [
    'behind one of an older version',
    [
      { jsonrpc: '2.0', id: 2, method: 'ping' },
      { ...call(), params: { ...call().params, ...META } },
    ],
  ],
  ['before one of an older version', [{ jsonrpc: '2.0', id: 2, method: 'ping', params: META }, call()]],
] as const) {
  test(`a message of 2026-07-28 ${what} in a batch is refused: each is offered other tools`, async (t) => {
    const { send, calls } = await scene(t)
    const { status, body } = await send(messages)
    assert.equal(status, 400, body)
    assert.match(body, /sent alone, not in a batch/)
    assert.deepEqual(calls, [])
  })
}

for (const [what, result, isDrift] of [
  ['a task', { task: { taskId: '1', status: 'working' } }, false],
  ['a question', { resultType: 'input_required', inputRequests: {} }, false],
  ['a result that names a task, too', { task: { taskId: '1' }, content: [] }, true],
  ['a task that is none', { task: 'x' }, true],
] as const) {
  test(`${what} in place of a result is ${isDrift ? '' : 'not '}compared with the outputSchema`, async (t) => {
    const { send, proxy } = await scene(t, result, { validate: 'observe' })
    await send(call())
    await until(() => proxy.listener.openCalls() === 0, 'the call is over')
    const counted = /^preflight_contract_checks_total\{.*result="violates"\} 1/m.test(await proxy.metrics.text())
    assert.equal(counted, isDrift)
  })
}
