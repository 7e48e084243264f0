/** Requests that hold more than one list of tools: every list counts, and so does the choice that the model has. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { found, refused, run } from './compared.ts'

const SCHEMA = { type: 'object', properties: { a: { type: 'string' } } }
const claude = (name: string): object => ({ name, input_schema: SCHEMA })
const chat = (name: string): object => ({ type: 'function', function: { name, parameters: SCHEMA } })
const bedrock = (name: string): object => ({ toolSpec: { name, inputSchema: { json: SCHEMA } } })
const server = (more: object): object => ({ type: 'url', name: 'notes', url: 'https://notes.example', ...more })

const FIRST = { tools: [claude('first')] }
const withServer = (more: object): object => ({ ...FIRST, mcp_servers: [server(more)] })
const set = (more: object = {}): object => [{ type: 'mcp_toolset', mcp_server_name: 'notes', ...more }]
const openai = (more: object): object => ({ tools: [chat('first')], ...more })
const anthropic = (more: object): object => ({ tools: [claude('first')], ...more })
const gemini = (config: object): object => ({
  tools: [claude('first')],
  toolConfig: { functionCallingConfig: config },
})
const converse = (toolChoice: object): object => ({ toolConfig: { tools: [bedrock('first')], toolChoice } })
const vercel = (more: object): object => ({ tools: { first: { inputSchema: SCHEMA } }, ...more })

suite('each list of a request', () => {
  const LISTS: readonly (readonly [what: string, more: object, added: string])[] = [
    ['functions', { functions: [{ name: 'second', parameters: SCHEMA }] }, '/functions/0'],
    ['the tools of Bedrock', { toolConfig: { tools: [bedrock('second')] } }, '/toolConfig/tools/0'],
    ['declarations of Gemini', { functionDeclarations: [{ name: 'second' }] }, '/functionDeclarations/0'],
    ['servers', { mcp_servers: [server({})] }, '/mcp_servers/0'],
  ]
  for (const [what, more, added] of LISTS) {
    test(`counts: ${what}`, () => {
      assert.deepEqual(found(run(FIRST, { ...FIRST, ...more })), [`mcp-tool-added ${added}`])
      assert.deepEqual(found(run({ ...FIRST, ...more }, FIRST)), [`mcp-tool-removed ${added}`])
    })
  }

  test('may not name a tool of another list again', () => {
    const twice = { ...FIRST, functions: [{ name: 'first', parameters: SCHEMA }] }
    assert.match(refused(JSON.stringify(FIRST), JSON.stringify(twice)).message, /two tools of the name "first"/)
  })

  test('a server is compared by its address and its settings, without secrets', () => {
    const moved = found(run(withServer({}), withServer({ url: 'https://other.example' })))
    assert.deepEqual(moved, ['agent-tool-setting-changed /mcp_servers/0/url'])
    assert.deepEqual(found(run(withServer({}), withServer({ authorization_token: 'x' }))), [])
    assert.deepEqual(found(run(withServer({}), withServer({ tool_configuration: { enabled: true } }))), [])
    const limited = withServer({ tool_configuration: { allowed_tools: ['read'] } })
    assert.deepEqual(found(run(limited, withServer({}))), [
      'agent-tool-setting-changed /mcp_servers/0/tool_configuration',
    ])
  })

  test('a server without a name, and servers that are no list, are refused', () => {
    for (const servers of [[{ url: 'https://a.example' }], { notes: server({}) }])
      refused(JSON.stringify(FIRST), JSON.stringify({ ...FIRST, mcp_servers: servers }))
  })
})

suite('what a set of tools states that is the default', () => {
  const SAME: readonly (readonly [string, object, object])[] = [
    ['the defaults', set(), set({ default_config: { enabled: true, defer_loading: false } })],
    ['no settings', set(), set({ default_config: {}, configs: {} })],
    ['a tool without settings', set({ configs: {} }), set({ configs: { read: {} } })],
    [
      'a tool like all others',
      set({ default_config: { enabled: false } }),
      set({ default_config: { enabled: false }, configs: { read: { enabled: false } } }),
    ],
  ]
  for (const [what, before, after] of SAME)
    test(`is the same: ${what}`, () => {
      assert.deepEqual([...found(run(before, after)), ...found(run(after, before))], [])
    })
  const OTHERS: readonly (readonly [string, object])[] = [
    ['all are off', set({ default_config: { enabled: false } })],
    ['one is off', set({ configs: { read: { enabled: false } } })],
    ['one is found by a search', set({ configs: { read: { defer_loading: true } } })],
  ]
  for (const [what, after] of OTHERS)
    test(`is another one: ${what}`, () => {
      assert.equal(found(run(set(), after)).length, 1)
      assert.equal(found(run(after, set())).length, 1)
    })
  test('is another one: one is on, where all others are off', () => {
    const off = { default_config: { enabled: false } }
    assert.equal(found(run(set(off), set({ ...off, configs: { read: { enabled: true } } }))).length, 1)
  })
})

suite('the choice of tools', () => {
  const FORMS: readonly (readonly [what: string, forms: readonly object[]])[] = [
    [
      'is left to the model',
      [
        openai({}),
        openai({ tool_choice: 'auto', parallel_tool_calls: true }),
        openai({ function_call: 'auto' }),
        anthropic({ tool_choice: { type: 'auto', disable_parallel_tool_use: false } }),
        gemini({ mode: 'AUTO' }),
        gemini({}),
        converse({ auto: {} }),
        vercel({ toolChoice: 'auto' }),
      ],
    ],
    [
      'is none',
      [openai({ tool_choice: 'none' }), anthropic({ tool_choice: { type: 'none' } }), gemini({ mode: 'NONE' })],
    ],
    [
      'is any',
      [
        openai({ tool_choice: 'required' }),
        anthropic({ tool_choice: { type: 'any' } }),
        gemini({ mode: 'ANY' }),
        converse({ any: {} }),
        vercel({ toolChoice: 'required' }),
      ],
    ],
    [
      'is one',
      [
        openai({ tool_choice: { type: 'function', function: { name: 'first' } } }),
        openai({ tool_choice: { type: 'function', name: 'first' } }),
        openai({ function_call: { name: 'first' } }),
        anthropic({ tool_choice: { type: 'tool', name: 'first' } }),
        converse({ tool: { name: 'first' } }),
        vercel({ toolChoice: { type: 'tool', toolName: 'first' } }),
      ],
    ],
    [
      'is made one by one',
      [
        openai({ parallel_tool_calls: false }),
        anthropic({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } }),
      ],
    ],
    ['is among some', [gemini({ mode: 'ANY', allowedFunctionNames: ['first'] })]],
    ['is among those in use', [vercel({ activeTools: ['first'] })]],
  ]
  for (const [what, forms] of FORMS)
    test(`${what}: the same in each form, and unlike any other`, () => {
      const [first = {}] = forms
      for (const form of forms) assert.deepEqual(found(run(first, form)), [])
      for (const [other, otherForms] of FORMS) {
        if (other === what) continue
        const { groups } = run(first, otherForms[0] ?? {})
        assert.ok(groups.length > 0, other)
        for (const { rule, level } of groups)
          assert.equal(`${level} ${rule}`, 'dangerous agent-tool-choice-changed', other)
      }
    })
})
