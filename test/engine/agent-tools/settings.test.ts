/** Settings of tools and schemas of strict tools: what is equal, what is reported, what a provider refuses. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { found, run } from './compared.ts'

const TEXT = { type: 'string' }
const CLOSED = { type: 'object', properties: { a: TEXT }, required: ['a'], additionalProperties: false }
const claude = (more: object = {}): object => [{ name: 'f', input_schema: CLOSED, ...more }]
const responses = (more: object = {}): object => [{ type: 'function', name: 'f', parameters: CLOSED, ...more }]
const chat = (more: object): object => [{ type: 'function', function: { name: 'f', parameters: CLOSED, ...more } }]
const bedrock = (more: object): object => [{ toolSpec: { name: 'f', inputSchema: { json: CLOSED }, ...more } }]
const gemini = (more: object = {}): object => [{ functionDeclarations: [{ name: 'f', ...more }] }]
const hosted = (more: object): object => [{ type: 'mcp', server_label: 'l', server_url: 'https://m.example', ...more }]
const custom = (format?: object): object => [{ type: 'custom', name: 'k', format }]
const chatCustom = (format?: object): object => [{ type: 'custom', custom: { name: 'k', format } }]
const action = (more: object = {}): object => [{ name: 'f', parameters: { a: TEXT }, ...more }]
const GRAMMAR = { syntax: 'lark', definition: 'start: "a"' }

suite('the same settings in other forms', () => {
  const ROWS: readonly (readonly [string, object, object])[] = [
    ['callers', claude(), claude({ allowed_callers: ['direct'] })],
    ['order of callers', claude({ allowed_callers: ['direct', 'a'] }), claude({ allowed_callers: ['a', 'direct'] })],
    ['approval', hosted({}), hosted({ require_approval: 'always' })],
    ['secrets', hosted({ headers: { Authorization: 'a' } }), hosted({ headers: { 'x-api-key': 'b' } })],
    ['values of headers', hosted({ headers: { 'X-Team': 'a' } }), hosted({ headers: { 'x-team': 'b' } })],
    ['order of tools', hosted({ allowed_tools: ['a', 'b'] }), hosted({ allowed_tools: ['b', 'a'] })],
    [
      'order of named tools',
      hosted({ allowed_tools: { tool_names: ['a', 'b'] } }),
      hosted({ allowed_tools: { tool_names: ['b', 'a'] } }),
    ],
    ['behavior', gemini(), gemini({ behavior: 'BLOCKING' })],
    ['no behavior', gemini(), gemini({ behavior: 'UNSPECIFIED' })],
    ['confirmation', action(), action({ requireConfirmation: 'DISABLED' })],
    ['format of a text', custom(), custom({ type: 'text' })],
    ['format in chat completions', chatCustom(), custom({ type: 'text' })],
    [
      'grammar in chat completions',
      chatCustom({ type: 'grammar', grammar: GRAMMAR }),
      custom({ type: 'grammar', ...GRAMMAR }),
    ],
    [
      'names of protobuf JSON',
      [{ googleSearchRetrieval: { dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC' } } }],
      [{ google_search_retrieval: { dynamic_retrieval_config: { mode: 'MODE_DYNAMIC' } } }],
    ],
  ]
  for (const [name, before, after] of ROWS)
    test(name, () => {
      const rules = [run(before, after), run(after, before)].flatMap(({ groups }) => groups.map(({ rule }) => rule))
      assert.deepEqual(rules, [])
    })
})

const record = (more: object): object => ({ f: { inputSchema: CLOSED, ...more } })

suite('settings that decide about calls', () => {
  const ROWS: readonly (readonly [string, object, object])[] = [
    ['approval in the Vercel AI SDK', record({ needsApproval: true }), record({})],
    ['approval in Python', claude({ needs_approval: true }), claude()],
    ['confirmation at Bedrock', action({ requireConfirmation: 'ENABLED' }), action()],
    ['confirmation elsewhere', claude({ require_confirmation: true }), claude()],
    ['a header for a server', hosted({}), hosted({ headers: { 'X-Team': 'a' } })],
    ['another header', hosted({ headers: { 'X-Team': 'a' } }), hosted({ headers: { 'X-Admin': 'a' } })],
    ['approval of a server', hosted({}), hosted({ require_approval: 'never' })],
    ['arguments that are not checked', claude(), claude({ eager_input_streaming: true })],
  ]
  for (const [name, before, after] of ROWS)
    test(name, () => {
      for (const { groups } of [run(before, after), run(after, before)])
        assert.deepEqual(
          groups.map(({ rule, level }) => `${level} ${rule}`),
          ['dangerous agent-tool-setting-changed'],
        )
    })
})

const refused = (before: object, after: object): boolean =>
  found(run(before, after)).some((one) => one.startsWith('agent-tool-strict-refused'))

const within = (part: object): object => ({ ...CLOSED, properties: { a: part } })

suite('schemas that a provider refuses in a strict tool', () => {
  const OPENAI: readonly object[] = [
    { ...CLOSED, allOf: [{}] },
    { anyOf: [CLOSED] },
    { ...CLOSED, patternProperties: { '^x': TEXT } },
    within({ oneOf: [TEXT, { type: 'number' }] }),
    within({ ...TEXT, not: { const: 'x' } }),
    within({ ...TEXT, if: {}, then: {} }),
    within({ type: 'array', items: TEXT, uniqueItems: true }),
    within({ anyOf: [TEXT, { ...CLOSED, minProperties: 1 }] }),
    within({ type: 'array', prefixItems: [TEXT] }),
  ]
  for (const schema of OPENAI)
    test(`at OpenAI: ${JSON.stringify(schema)}`, () => {
      assert.ok(refused(chat({ strict: true }), chat({ strict: true, parameters: schema })))
      assert.ok(refused(responses({ strict: true }), responses({ strict: true, parameters: schema })))
      assert.ok(!refused(chat({}), chat({ parameters: schema })))
      assert.ok(!refused(chat({ strict: true, parameters: schema }), chat({ strict: true, parameters: schema })))
    })

  test('OpenAI takes alternatives, bounds and patterns', () => {
    for (const part of [
      { anyOf: [TEXT, { type: 'null' }] },
      { type: 'integer', minimum: 1 },
      { ...TEXT, pattern: 'a' },
    ])
      assert.ok(!refused(chat({ strict: true }), chat({ strict: true, parameters: within(part) })))
  })

  const CLAUDE: readonly object[] = [
    within({ type: 'integer', minimum: 1 }),
    within({ ...TEXT, maxLength: 5 }),
    within({ type: 'array', items: TEXT, maxItems: 5 }),
    within({ type: 'object' }),
  ]
  for (const schema of CLAUDE)
    test(`by Claude: ${JSON.stringify(schema)}`, () => {
      assert.ok(refused(claude({ strict: true }), claude({ strict: true, input_schema: schema })))
      assert.ok(refused(bedrock({ strict: true }), bedrock({ strict: true, inputSchema: { json: schema } })))
      assert.ok(!refused(claude(), claude({ input_schema: schema })))
    })

  test('Claude takes optional properties', () => {
    const schema = { ...CLOSED, required: [] }
    assert.ok(!refused(claude({ strict: true }), claude({ strict: true, input_schema: schema })))
  })
})
