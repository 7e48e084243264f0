/**
 * Calls of MCP tools that name very many files or folders. What each is must be asked of the server, so the number of questions
 * has a bound for each request, and past it the call is refused.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { startTestGateway } from '../fakes/gateway.ts'
import { listening } from '../fakes/listening.ts'
import { at } from '../json.ts'

const PATHS = { type: 'object', properties: { paths: { type: 'array', items: { type: 'string' } } } }
const FILE = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
const tool = (name: string, inputSchema: object) => ({ name, description: name, inputSchema })
const TOOLS = [
  tool('delete_files', PATHS),
  tool('move_files', { type: 'object' }),
  tool('read_text_file', FILE),
  tool('directory_tree', FILE),
]
const PRESENT = 'openapi: 3.0.0\ninfo: {title: a, version: "1"}\npaths: {/a: {get: {responses: {}}}}\n'

/** A server with the files that are asked for, each in a folder of its own. */
async function scene(t: TestContext) {
  const asked: unknown[] = []
  const done: unknown[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const message: unknown = JSON.parse(body)
      if (Array.isArray(message)) done.push(...message.map((one: unknown) => at(one, 'params', 'name')))
      const name = at(message, 'params', 'name')
      const isReader = name === 'read_text_file' || name === 'directory_tree'
      if (name !== undefined) (isReader ? asked : done).push(name)
      const content = [{ type: 'text', text: name === 'directory_tree' ? '[]' : PRESENT }]
      const result = at(message, 'method') === 'tools/list' ? { tools: TOOLS } : { content }
      const answer = { jsonrpc: '2.0', id: at(message, 'id'), result }
      return response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    })
  })
  const route = { name: 'files', match: { path: '/' }, upstream: await listening(t, server), protocol: 'mcp' }
  const gateway = await startTestGateway(t, { routes: [route] })
  const send = async (message: unknown): Promise<string> => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(gateway.addresses.proxy, { method: 'POST', body: JSON.stringify(message), headers })).text()
  }
  return { send, asked, done }
}

const many = (count: number, piece: (index: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, index) => piece(index))
const call = (name: string, args: object, id = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})
const remove = (paths: readonly string[], id?: number) => call('delete_files', { paths }, id)

/** Over all calls of a request, and what the last of them needs. */
const MOST_QUESTIONS = 201

const EXCESSIVE: Readonly<Record<string, unknown>> = {
  'a removal of 4,900 folders': remove(many(4900, (index) => `a/${index}`)),
  'a removal of 4,900 files': remove(many(4900, (index) => `a/${index}.png`)),
  'a removal of 4,900 contracts': remove(many(4900, (index) => `${index}/openapi.yaml`)),
  'a removal of 300 contracts': remove(many(300, (index) => `${index}/openapi.yaml`)),
  'a batch of removals': many(50, String).map((name, id) =>
    remove(
      many(50, (index) => `${name}/${index}`),
      id,
    ),
  ),
}

test('calls that name more files than the server is asked about are refused', async (t) => {
  const { send, asked, done } = await scene(t)
  for (const [what, message] of Object.entries(EXCESSIVE)) {
    asked.length = 0
    const answer = await send(message)
    assert.match(answer, /GUARD_CALL_UNRECOGNISED/, what)
    assert.ok(asked.length <= MOST_QUESTIONS, `${what}: ${asked.length} questions`)
  }
  assert.deepEqual(done, [])
})

test('the refusal says what to do', async (t) => {
  const { send } = await scene(t)
  assert.match(await send(EXCESSIVE['a removal of 4,900 folders']), /Send calls that name fewer files/)
})

test('a removal of a hundred files goes on, and one of a few contracts is judged', async (t) => {
  const { send, done } = await scene(t)
  assert.doesNotMatch(await send(remove(many(100, (index) => `a/${index}`))), /Preflight/)
  assert.deepEqual(done, ['delete_files'])
  const judged = await send(remove(many(5, (index) => `${index}/openapi.yaml`)))
  assert.match(judged, /Preflight/)
  assert.doesNotMatch(judged, /GUARD_CALL_UNRECOGNISED/)
})
