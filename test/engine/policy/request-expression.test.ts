/** Expressions about requests: what they give back as JSON, what they are said to read, and how they fail. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileRequestExpression, type RequestExpression, type RequestFacts } from '../../../engine/internal.ts'

const FACTS: RequestFacts = {
  method: 'POST',
  path: '/apps/web',
  segments: ['apps', 'web'],
  query: { dry: 'yes' },
  headers: { 'x-team': 'Shop' },
  body: { name: 'web', ports: [80, 443], limits: { cpu: 0.5 }, none: null, on: true },
}

function compiled(source: string): RequestExpression {
  const expression = compileRequestExpression(source)
  assert.ok(expression.ok, expression.ok ? '' : expression.problem)
  return expression.value
}

for (const [source, value] of [
  ['request.body.name', 'web'],
  ["'app:' + request.segments[1]", 'app:web'],
  ["request.path.split('/')[2]", 'web'],
  ["request.headers['x-team'].lowerAscii()", 'shop'],
  ['request.body.ports', [80, 443]],
  ['request.body', FACTS.body],
  ['request.body.none', null],
  ['request.body.limits.cpu', 0.5],
  ['size(request.body.ports)', 2],
  ["{'team': request.headers['x-team'], 'ports': request.body.ports}", { team: 'Shop', ports: [80, 443] }],
  ['request.body.ports.exists(port, port == 443)', true],
  ["request.method == 'GET' && request.body.missing == 1", false],
] as const) {
  test(`${source} is ${JSON.stringify(value)}`, () => {
    assert.deepEqual(compiled(source).evaluate(FACTS), { ok: true, value })
  })
}

for (const [source, problem] of [
  ['request.body.missing', /field not found: missing/],
  ['request.segments[7]', /./],
  ["b'ab'", /no JSON form/],
  ['{1: 2}', /no JSON form/],
  ['9007199254740993', /no JSON form/],
  ["timestamp('2026-01-01T00:00:00Z')", /no JSON form/],
  ['[[request.body.limits], [b"a"]]', /no JSON form/],
] as const) {
  test(`${source} fails as a value`, () => {
    const value = compiled(source).evaluate(FACTS)
    assert.ok(!value.ok)
    assert.match(value.problem, problem)
  })
}

test('a test takes true and false only', () => {
  assert.deepEqual(compiled('request.body.on').test(FACTS), { ok: true, value: true })
  assert.equal(compiled('request.body.name').test(FACTS).ok, false)
})

for (const [source, length, isTaken] of [
  ['request.body.all(a, a == 1)', 900_000, true],
  ['request.body.all(a, a == 1)', 1_100_000, false],
  ['request.body.all(a, request.body.all(b, a == b))', 900, true],
  ['request.body.all(a, request.body.all(b, a == b))', 1100, false],
  ['request.body.all(a, a in request.body)', 1100, false],
  ['size(request.body) > 1', 2_000_000, true],
] as const) {
  test(`${source} goes over ${length} members: ${isTaken ? 'taken' : 'too much'}`, () => {
    const answer = compiled(source).test({ ...FACTS, body: Array.from({ length }, () => 1) })
    assert.equal(answer.ok, isTaken)
  })
}

test('a text that is split counts by its letters', () => {
  const split = compiled("request.body.split(',').all(a, request.body.split(',').all(b, a == b))")
  assert.equal(split.test({ ...FACTS, body: '1,'.repeat(300) }).ok, true)
  assert.equal(split.test({ ...FACTS, body: '1,'.repeat(600) }).ok, false)
})

for (const [source, reads] of [
  ["request.method == 'GET'", ['method']],
  ["has(request.body.name) && request.query.dry == 'yes'", ['body', 'query']],
  ["{request.body.name: 1}.size() > 0 || request.headers['a'] == ''", ['body', 'headers']],
  ["request['body'] == null", ['method', 'path', 'segments', 'query', 'headers', 'body']],
  ['[1].exists(request, request == 1)', []],
] as const) {
  test(`${source} reads ${reads.join(', ') || 'nothing'}`, () => {
    assert.deepEqual([...compiled(source).reads].toSorted(), [...reads].toSorted())
  })
}

for (const [source, problem] of [
  ['request.path ==', /at 1:\d+/],
  ['request.url', /request\.url, which does not exist; there are method/],
  ['body.name', /reads body/],
  ['{body.name: 1}', /reads body/],
  ['request.path.trimPrefix("/")', /trimPrefix\(\)/],
  [`${'('.repeat(30)}1${')'.repeat(30)}`, /nests brackets/],
  [`'${'a'.repeat(3000)}'`, /longer than/],
] as const) {
  test(`${source.slice(0, 40)} does not compile`, () => {
    const expression = compileRequestExpression(source)
    assert.ok(!expression.ok)
    assert.match(expression.problem, problem)
  })
}
