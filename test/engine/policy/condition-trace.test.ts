/** A condition taken apart: the parts have the answers of the whole, and the named ways turn it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { historyFacts } from '../../../engine/policy/history.ts'
import { compileCondition, traceCondition, waysToTurn, type ConditionPart } from '../../../engine/internal.ts'

const facts = {
  context: { operation: 'merge', environment: 'production', branch: null, base: 'x && y' },
  findings: [],
  change_set: { artifacts: 2n, ids: ['a', 'b'] },
  route: 'orders',
  time: { hour: 9n },
  history: historyFacts({ window: 0, decisions: [] }, 0),
  finding: { level: 'breaking' },
  operation: null,
  tool: null,
}

const CONDITIONS: readonly (readonly [string, ReturnType<typeof shape>])[] = [
  ["finding.level == 'breaking'", "finding.level == 'breaking'"],
  ["finding.level == 'breaking' && time.hour < 8", ['all', "finding.level == 'breaking'", 'time.hour < 8']],
  ["((route == 'a' || route == 'orders'))", ['any', "route == 'a'", "route == 'orders'"]],
  ["route == 'a' || route == 'b' && time.hour > 5", ['any', "route == 'a'", ['all', "route == 'b'", 'time.hour > 5']]],
  ["(route == 'a') && (time.hour == 9)", ['all', "route == 'a'", 'time.hour == 9']],
  // Operators within texts, calls and choices are not operators of the condition.
  ['context.base == "x && y"', 'context.base == "x && y"'],
  [`context.base == 'it\\'s || so' || true`, ['any', `context.base == 'it\\'s || so'`, 'true']],
  [`context.base == r'\\' && route == 'orders'`, ['all', `context.base == r'\\'`, "route == 'orders'"]],
  ["change_set.ids.exists(id, id == 'a' || id == 'c')", "change_set.ids.exists(id, id == 'a' || id == 'c')"],
  ["time.hour > 5 ? route == 'a' || true : false", "time.hour > 5 ? route == 'a' || true : false"],
  ["!(route == 'a' && true)", "!(route == 'a' && true)"],
  ['operation.method == "GET" || time.hour == 9', ['any', 'operation.method == "GET"', 'time.hour == 9']],
]

type Shape = string | readonly [string, ...Shape[]]
function shape({ kind, text, parts }: ConditionPart): Shape {
  return kind === 'one' ? text : [kind, ...parts.map(shape)]
}

for (const [source, expected] of CONDITIONS)
  test(`${source} is split where it is`, () => {
    const part = traceCondition(source, facts)
    assert.deepEqual(shape(part), expected)
    const compiled = compileCondition(source)
    assert.ok(compiled.ok, source)
    const whole = compiled.value.test(facts)
    assert.deepEqual(part.answer, whole.ok ? whole.value : { failed: whole.problem })
  })

function readBy(source: string): readonly string[] {
  return traceCondition(source, facts).reads.map(({ name, value }) => `${name}=${value}`)
}

test('a part names the values that it reads, and nothing that only looks like one', () => {
  assert.deepEqual(readBy("context.environment == 'context.branch'"), ['context.environment="production"'])
  assert.deepEqual(readBy('change_set.artifacts > 1'), ['change_set.artifacts=2'])
  assert.deepEqual(readBy("route == 'x' && false"), [])
  assert.deepEqual(readBy('context.branch == null'), ['context.branch=null'])
  assert.deepEqual(readBy("tool == 'a'"), ['tool=null'])
})

test('turning the named parts turns the whole', () => {
  const sources = CONDITIONS.map(([source]) => source)
  let turned = 0
  for (const source of sources) {
    const part = traceCondition(source, facts)
    for (const way of waysToTurn(part)) {
      assert.notEqual(answerWith(part, new Set(way)), part.answer, `${source}: ${way.map(({ text }) => text).join()}`)
      turned += 1
    }
  }
  assert.ok(turned >= 8, String(turned))
  assert.deepEqual(waysToTurn(traceCondition('operation.method == "GET"', facts)), [], 'it failed, so nothing is known')
  assert.deepEqual(waysToTurn(traceCondition('true', facts)), [])
})

/** The answer when these parts had the other one. */
function answerWith(part: ConditionPart, others: ReadonlySet<ConditionPart>): boolean {
  if (part.kind === 'one') return others.has(part) ? part.answer !== true : part.answer === true
  const answers = part.parts.map((inner) => answerWith(inner, others))
  return part.kind === 'all' ? answers.every(Boolean) : answers.some(Boolean)
}
