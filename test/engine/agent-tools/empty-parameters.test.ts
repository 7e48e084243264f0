/** A function that states no parameters takes none. The rewrites of tools show what is the same. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { found, run } from './compared.ts'

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

  test('keeps the difference between an open and a closed object where both are stated', () => {
    const open = tool({ type: 'object', properties: {} })
    assert.ok(found(run(open, tool(closed))).some((one) => one.includes('tool-input-additional-properties-added')))
  })
})
