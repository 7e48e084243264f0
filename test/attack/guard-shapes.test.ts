/** Ways from a guarded tool or client to the raw one: by member, symbol, collection, stream and transport. None runs what is blocked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { guardMcpClient, guardTools, type GuardOptions } from '../../engine/internal.ts'

const NOBODY = () => Promise.reject(new Error('no gateway'))
const OPTIONS: GuardOptions = {
  operation: 'publish',
  preflight: NOBODY,
  verify: NOBODY,
  readFile: () => Promise.resolve('openapi: 3.0.3'),
  reads: ['read'],
  sha256: () => '',
  now: Date.now,
}
const BLOCKED = { path: 'openapi.yaml', content: 'x' }

const NAMES = ['execute', 'invoke', 'func', '_call', 'call', 'function', 'runAsync', 'run', '_run', 'handler'].concat([
  'callback',
  'exec',
  '_execute',
  'executor',
  'fn',
  'action',
  'implementation',
  'toolCall',
  'onCall',
])
const HIDDEN = Symbol('raw')

type Run = (args: unknown) => unknown
/** From a tool to a way to run it. */
const WAYS: readonly (readonly [what: string, tool: (run: Run) => object, way: (guarded: unknown) => unknown])[] = [
  ...NAMES.map(
    (name) => [name, (run: Run) => ({ execute: run, [name]: run }), (tool: unknown) => member(tool, name)] as const,
  ),
  ['a symbol', (run) => ({ execute: run, [HIDDEN]: run }), (tool) => member(tool, HIDDEN)],
  ['a Map', (run) => ({ execute: run, all: new Map([['a', { fn: run }]]) }), (tool) => inMap(member(tool, 'all'))],
  ['a Set', (run) => ({ execute: run, all: new Set([{ fn: run }]) }), (tool) => inSet(member(tool, 'all'))],
  [
    'a nested function',
    (run) => ({ function: { function: run } }),
    (tool) => member(member(tool, 'function'), 'function'),
  ],
  [
    'a deep member',
    (run) => ({ execute: run, a: { b: { c: { d: { e: { f: { run } } } } } } }),
    (tool) => ['a', 'b', 'c', 'd', 'e', 'f', 'run'].reduce(member, tool),
  ],
  [
    'a member of a function',
    (run) => ({ execute: run, also: Object.assign(() => null, { run }) }),
    (tool) => member(member(tool, 'also'), 'run'),
  ],
  [
    'a member of a symbol',
    (run) => ({ execute: run, box: { [HIDDEN]: { run } } }),
    (tool) => member(member(member(tool, 'box'), HIDDEN), 'run'),
  ],
  [
    'a symbol within',
    (run) => ({ execute: run, box: { [HIDDEN]: run } }),
    (tool) => member(member(tool, 'box'), HIDDEN),
  ],
  [
    'a key of a Map',
    (run) => ({ execute: run, all: new Map([[{ fn: run }, 1]]) }),
    (tool) => {
      const all = member(tool, 'all')
      assert.ok(all instanceof Map)
      return member([...all.keys()][0], 'fn')
    },
  ],
  [
    'itself',
    (run) => ({
      execute: run,
      self() {
        return this
      },
    }),
    (tool) => member(called(tool, 'self'), 'execute'),
  ],
]

function member(value: unknown, name: string | symbol): unknown {
  assert.ok((typeof value === 'object' && value !== null) || typeof value === 'function')
  return Reflect.get(value, name)
}

function called(value: unknown, name: string): unknown {
  const method = member(value, name)
  assert.ok(typeof method === 'function')
  return Reflect.apply(method, value, [])
}

function inMap(value: unknown): unknown {
  assert.ok(value instanceof Map)
  return member(value.get('a'), 'fn')
}

function inSet(value: unknown): unknown {
  assert.ok(value instanceof Set)
  return member([...value][0], 'fn')
}

for (const [what, tool, way] of WAYS)
  test(`a tool is not run by ${what}`, async () => {
    let ran = 0
    const { write } = guardTools({ write: tool(() => (ran += 1)) }, OPTIONS)
    const run = way(write)
    assert.ok(typeof run === 'function')
    assert.equal(member(await Reflect.apply(run, write, [BLOCKED]), 'executed'), false)
    assert.equal(ran, 0)
  })

async function connected(t: { after(release: () => Promise<void>): void }) {
  const ran: unknown[] = []
  const server = new McpServer({ name: 's', version: '1' })
  const inputSchema = { path: z.string(), content: z.string().optional() }
  for (const name of ['write', 'read'])
    server.registerTool(name, { inputSchema }, (args) => {
      ran.push([name, args.path])
      return { content: [] }
    })
  const client = new Client({ name: 'c', version: '1' })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await server.connect(far)
  await client.connect(near)
  t.after(() => client.close())
  return { ran, client, guarded: guardMcpClient(client, OPTIONS) }
}

const call = { method: 'tools/call', params: { name: 'write', arguments: BLOCKED } } as const
const message = { jsonrpc: '2.0', id: 99, ...call } as const

test('a client of the official SDK has no way around the guard', async (t) => {
  const { ran, guarded } = await connected(t)
  const { transport } = guarded
  assert.ok(transport !== undefined)
  const ways: Readonly<Record<string, () => unknown>> = {
    callTool: () => guarded.callTool(call.params),
    request: () => guarded.request(call, z.any()),
    notification: () => guarded.notification(call),
    'transport.send': () => transport.send(message),
    '_transport.send': () => Reflect.apply(Object(member(guarded, '_transport')).send, null, [message]),
    'a list of messages': () => Reflect.apply(Object(transport).send, transport, [[message, message]]),
    'a descriptor': () => Object.getOwnPropertyDescriptor(guarded, '_transport')?.value.send(message),
    callToolStream: () => drained(guarded.experimental.tasks.callToolStream(call.params)),
  }
  for (const [what, way] of Object.entries(ways)) {
    await way()
    await new Promise((resolve) => setTimeout(resolve, 10))
    assert.deepEqual(ran, [], what)
  }
})

async function drained(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

test('a guarded client works as before for all else', async (t) => {
  const { ran, guarded, client } = await connected(t)
  assert.equal((await guarded.listTools()).tools.length, 2)
  assert.equal((await guarded.callTool({ name: 'read', arguments: { path: 'a' } })).executed, true)
  await guarded.ping()
  await guarded.transport?.send({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' })
  assert.deepEqual(ran, [['read', 'a']])
  await guarded.close()
  assert.equal(client.transport, undefined)
})
