/** Tools of the frameworks that pass an object of the running agent beside the arguments: the arguments are judged, and nothing else is taken for them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guardTools, type GuardOptions } from '../../../engine/internal.ts'
import { at } from '../../json.ts'

const NOBODY = () => Promise.reject(new Error('no gateway'))
const OPTIONS: GuardOptions = {
  operation: 'merge',
  preflight: NOBODY,
  verify: NOBODY,
  readFile: () => Promise.resolve('openapi: 3.0.3'),
  typeOf: (path) => (path.startsWith('docs/') ? 'none' : 'openapi'),
  sha256: () => '',
  now: Date.now,
}

/** Of the running agent, as both frameworks make one. */
class RunContext {
  readonly context = { user: 'alice' }
}
const CONTEXT = new RunContext()
const DETAILS = { toolCall: { callId: '1' }, signal: new AbortController().signal }
const SCHEMA = { type: 'object', properties: {} }

type Ran = (call: readonly unknown[]) => void

function openai(ran: Ran, changes: object = {}): object {
  const invoke = (...call: unknown[]) => ran(call)
  return { type: 'function', name: 'write', description: '', parameters: SCHEMA, strict: true, invoke, ...changes }
}

const ADK_TOOL: unique symbol = Symbol.for('google.adk.baseTool')

/** Extended by tools of Google ADK. */
class AdkTool {
  readonly [ADK_TOOL] = true
  readonly name = 'write'
  readonly #ran: Ran

  constructor(ran: Ran) {
    this.#ran = ran
  }

  async runAsync(...call: unknown[]): Promise<void> {
    await Promise.resolve(this.#ran(call))
  }
}

const HARMLESS = { path: 'docs/a.md', content: 'x' }
const JUDGED = { path: 'api.yaml', content: 'x' }
const text = (args: unknown) => JSON.stringify(args)

type Case = readonly [what: string, tool: (ran: Ran) => object, member: string, call: (args: unknown) => unknown[]]
const FORMS: readonly Case[] = [
  ['OpenAI Agents', openai, 'invoke', (args) => [CONTEXT, text(args), DETAILS]],
  ['OpenAI Agents without details', openai, 'invoke', (args) => [CONTEXT, text(args)]],
  ['Google ADK', (ran) => new AdkTool(ran), 'runAsync', (args) => [{ args, toolContext: CONTEXT }]],
]

async function outcome(tool: object, member: string, call: readonly unknown[]): Promise<unknown> {
  const { write } = guardTools({ write: tool }, OPTIONS)
  const run: unknown = Reflect.get(write, member)
  assert.ok(typeof run === 'function')
  return Reflect.apply(run, write, call)
}

for (const [what, toolOf, member, callOf] of FORMS) {
  test(`${what}: a harmless call runs with its context, a judged one does not run`, async () => {
    const ran: unknown[] = []
    const tool = toolOf((call) => ran.push(call))
    assert.equal(at(await outcome(tool, member, callOf(HARMLESS)), 'executed'), true)
    assert.deepEqual(ran, [callOf(HARMLESS)])
    const stopped = await outcome(tool, member, callOf(JUDGED))
    assert.equal(at(stopped, 'verdict', 'reason', 'code'), 'PREFLIGHT_UNREACHABLE')
    assert.equal(ran.length, 1)
  })

  test(`${what}: the arguments that run are those that were judged`, async () => {
    const ran: unknown[] = []
    const args = { ...HARMLESS }
    const running = outcome(
      toolOf((call) => ran.push(call)),
      member,
      callOf(args),
    )
    args.path = 'api.yaml'
    await running
    assert.deepEqual(ran, [callOf(HARMLESS)])
  })
}

const bare = (ran: Ran) => ({ invoke: (...call: unknown[]) => ran(call) })
const REFUSED: readonly Case[] = [
  ['a context that is plain data', openai, 'invoke', (args) => [{}, text(args)]],
  ['a change in the place of the context', openai, 'invoke', (args) => [JUDGED, text(args)]],
  ['arguments that are no text', openai, 'invoke', (args) => [CONTEXT, args]],
  ['a text that is not JSON', openai, 'invoke', (args) => [CONTEXT, `${text(args)}x`]],
  ['a name that comes twice', openai, 'invoke', () => [CONTEXT, '{"path":"docs/a","path":"api.yaml","content":"x"}']],
  ['a tool of another form', bare, 'invoke', (args) => [CONTEXT, text(args)]],
  ['a tool of another type', (ran) => openai(ran, { type: 'other' }), 'invoke', (args) => [CONTEXT, text(args)]],
  ['another member', (ran) => openai(ran, { run: ran }), 'run', (args) => [CONTEXT, text(args)]],
  [
    'a member beside the arguments',
    (ran) => new AdkTool(ran),
    'runAsync',
    (args) => [{ args, toolContext: CONTEXT, path: 'api.yaml' }],
  ],
  ['a second argument', (ran) => new AdkTool(ran), 'runAsync', (args) => [{ args, toolContext: CONTEXT }, JUDGED]],
  ['no context', (ran) => new AdkTool(ran), 'runAsync', (args) => [Object.assign(new RunContext(), { args })]],
  ['a tool of another class', (ran) => ({ runAsync: ran }), 'runAsync', (args) => [{ args, toolContext: CONTEXT }]],
]

for (const [what, toolOf, member, callOf] of REFUSED)
  test(`${what} is refused, with the reason`, async () => {
    const ran: unknown[] = []
    const refused = await outcome(
      toolOf((call) => ran.push(call)),
      member,
      callOf(HARMLESS),
    )
    assert.match(
      String(at(refused, 'verdict', 'reason', 'code')),
      /^(?:GUARD_CALL_UNRECOGNISED|PREFLIGHT_UNREACHABLE)$/,
    )
    assert.deepEqual(ran, [])
  })
