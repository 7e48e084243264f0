/** A function that states no parameters takes none. The rewrites of tools show what is the same. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { found, refused, run } from './compared.ts'

const tool = (parameters?: object): object => [{ type: 'function', function: { name: 'act', parameters } }]

suite('a tool without parameters', () => {
  const closed = { type: 'object', additionalProperties: false }
  const p = { p: { type: 'string' } }

  for (const [what, schema, rules] of [
    ['a closed object with a member', { ...closed, properties: p }, ['tool-input-additional-properties-added']],
    ['a closed object with a pattern', { ...closed, patternProperties: { '^x': {} } }, ['tool-input-']],
    ['a closed object that demands a member', { ...closed, properties: p, required: ['p'] }, ['new-required-']],
  ] as const)
    test(`is not ${what}`, () => {
      const alarms = found(run(tool(), tool(schema)))
      assert.ok(
        rules.every((rule) => alarms.some((one) => one.includes(rule))),
        alarms.join('\n'),
      )
    })

  /** How requests of each provider hold a function, with its parameters or without. */
  const HELD: Readonly<Record<string, (parameters?: object | null) => object>> = {
    'OpenAI, chat': (parameters) => ({ tools: [{ type: 'function', function: { name: 'act', parameters } }] }),
    'OpenAI, functions': (parameters) => ({ functions: [{ name: 'act', description: 'Acts.', parameters }] }),
    'OpenAI, responses': (parameters) => ({ tools: [{ type: 'function', name: 'act', parameters }] }),
    Gemini: (parameters) => ({ tools: [{ functionDeclarations: [{ name: 'act', parameters }] }] }),
  }
  for (const [provider, held] of Object.entries(HELD))
    for (const left of [undefined, null])
      test(`${provider}: equals a closed empty object where its parameters are ${left}`, () => {
        const empty = held({ type: 'object', properties: {}, additionalProperties: false })
        assert.deepEqual([...found(run(held(left), empty)), ...found(run(empty, held(left)))], [])
        const asked = held({ ...closed, properties: p, required: ['p'] })
        assert.ok(found(run(held(left), asked)).some((one) => one.includes('new-required-')))
      })

  test('is no function where a member is there that may be its schema', () => {
    const strange = JSON.stringify({ functions: [{ name: 'act', schema_of_input: {} }] })
    assert.match(refused(strange, '[]').message, /in no form that is known/)
  })

  test('keeps the difference between an open and a closed object where both are stated', () => {
    const open = tool({ type: 'object', properties: {} })
    assert.ok(found(run(open, tool(closed))).some((one) => one.includes('tool-input-additional-properties-added')))
  })
})
