/** Rules are named by id, by pattern and by coordinates, in the same way everywhere; a name that selects nothing is reported at its place. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  COORDINATES,
  compare,
  compilePolicy,
  coordinatesOf,
  EMPTY_CONTEXT,
  readLevels,
  readSelector,
  ruleTable,
} from '../../../engine/internal.ts'
import { fakeGroup } from '../../fakes/comparisons.ts'
import { fakeOccasion, fakePolicy, NOW } from '../../fakes/decisions.ts'
import { sha256 } from '../../fakes/keys.ts'

const PACK = {
  apiVersion: 'preflight.dev/v1',
  kind: 'Policy',
  metadata: { name: 'p' },
  rules: [{ id: 'r', when: 'true', then: 'WARN' }],
}

function problemsOf(change: Readonly<Record<string, unknown>>): readonly (readonly [string | undefined, string])[] {
  const compiled = compilePolicy({ ...PACK, ...change }, sha256)
  return compiled.ok ? [] : compiled.problem.map(({ pointer, message }) => [pointer, message] as const)
}

function conditionProblem(when: string): string {
  const [problem] = problemsOf({ rules: [{ id: 'r', when, then: 'WARN' }] })
  assert.ok(problem === undefined || problem[0] === '/rules/0/when', problem?.join(' '))
  return problem?.[1] ?? ''
}

/** One rule for each value of each coordinate. */
const VALUES = COORDINATES.flatMap((coordinate) => {
  const first = new Map(ruleTable().map(({ id }) => [coordinatesOf(id)?.[coordinate] ?? '', id]))
  return [...first].map(([value, id]) => ({ coordinate, value, id }))
})

function decisionOf(rule: string, policy: Readonly<Record<string, unknown>>): string {
  const group = fakeGroup({ rule, level: 'breaking' })
  const direction = ruleTable().find(({ id }) => id === rule)?.direction ?? 'none'
  const [occurrence] = group.occurrences
  assert.ok(occurrence)
  const evaluator = fakePolicy(policy).evaluator(fakeOccasion({ context: EMPTY_CONTEXT, now: NOW }))
  return evaluator({ ...group, direction }, occurrence).decision
}

function blockedWhen(when: string) {
  return { rules: [{ id: 'r', when, then: 'BLOCK' }] }
}

function levelOf(levels: Readonly<Record<string, 'breaking' | 'dangerous' | 'info' | 'off'>>, rule: string) {
  const read = readLevels(levels)
  assert.ok(read.ok)
  return read.value.get(rule)
}

suite('coordinates of rules', () => {
  test('every rule has all of them, and every value can be named in a selector', () => {
    for (const { id } of ruleTable()) {
      for (const coordinate of COORDINATES) assert.ok((coordinatesOf(id)?.[coordinate] ?? '') !== '', id)
    }
    for (const { coordinate, value, id } of VALUES) {
      const selector = readSelector(`${coordinate}:${value}`)
      assert.ok(selector.ok && selector.value.has(id), `${coordinate}:${value}`)
      const others = ruleTable().filter((rule) => coordinatesOf(rule.id)?.[coordinate] !== value)
      assert.ok(others.every((rule) => !selector.value.has(rule.id)))
    }
  })

  test('every value is read by a condition, of the finding and of the list of findings', () => {
    for (const { coordinate, value, id } of VALUES) {
      assert.equal(
        decisionOf(id, blockedWhen(`finding.${coordinate} == '${value}'`)),
        'BLOCK',
        `${coordinate} ${value}`,
      )
      assert.equal(decisionOf(id, blockedWhen(`finding.${coordinate} in ['${value}']`)), 'BLOCK')
      assert.equal(decisionOf(id, blockedWhen(`finding.${coordinate} != '${value}'`)), 'ALLOW')
      assert.equal(conditionProblem(`findings.exists(f, f.${coordinate} == '${value}')`), '')
    }
  })
})

suite('a selector that selects nothing', () => {
  for (const [text, message] of [
    ['endpoint-aded', /no rule "endpoint-aded": did you mean "endpoint-added"\?/],
    ['mcp-tol-*', /no rule matches "mcp-tol-\*"/],
    ['*', /selects every rule/],
    ['aera:security', /no coordinate "aera" of rules: did you mean "area"\?/],
    ['area:securty', /no rule has the area "securty": did you mean "security"\?/],
    ['effect:breaks', /no rule has the effect "breaks": there are may-narrow,/],
    ['format:graphql,area:tools', /no rule matches/],
    ['constructor:prototype', /no coordinate "constructor"/],
  ] as const) {
    test(`is a mistake in levels, in waivers and in options: ${text}`, () => {
      const waiver = { id: 'w', rule: text, reason: 'r', owner: 'o', expires: '2027-01-01' }
      const problems = problemsOf({ levels: { [text]: 'info' }, waivers: [waiver] })
      assert.deepEqual(new Set(problems.map(([pointer]) => pointer)), new Set(['/waivers/0/rule', `/levels/${text}`]))
      for (const [, text] of problems) assert.match(text, message)
      const artifact = { id: 'a', type: 'json_schema', before: '{}', after: '{"type":"string"}' } as const
      const compared = compare(artifact, { levels: { [text]: 'info' } }, sha256)
      assert.ok(!compared.ok && compared.problem.code === 'INVALID_INPUT')
      assert.match(compared.problem.message, message)
    })
  }
})

suite('a condition that no finding can fulfil', () => {
  for (const [when, message] of [
    ["finding.area == 'securty'", /compares area of findings with "securty".*did you mean "security"\?/],
    ["'securty' == finding.area", /did you mean "security"/],
    ["finding['area'] == 'securty'", /did you mean "security"/],
    ["finding.kind in ['lifecycle', 'lifecylce']", /did you mean "lifecycle"/],
    ["finding.level != 'braking'", /did you mean "breaking"/],
    ["finding.side == 'old'", /there are base, head/],
    ["finding.rule == 'endpoint-aded'", /did you mean "endpoint-added"/],
    ["finding.code == 'ENDPOINT_ADED'", /did you mean "ENDPOINT_ADDED"/],
    ["finding.rule.startsWith('mcp-tol-')", /no finding has/],
    ["findings.exists(f, f.area == 'securty')", /did you mean "security"/],
    ["findings.exists(f, f.aera == 'security')", /reads aera of a finding, which does not exist/],
    ["finding.aera == 'security'", /reads finding.aera, which does not exist/],
    ["findings.filter(f, f.format == 'openapy').size() > 0", /did you mean "openapi"/],
  ] as const) {
    test(`is a mistake: ${when}`, () => assert.match(conditionProblem(when), message))
  }

  test('texts that are not closed sets are free, and so are variables of other loops', () => {
    for (const when of [
      "finding.message.contains('anything')",
      "finding.location == '/no/such'",
      "['x'].exists(f, f == 'securty')",
      "finding.rule.matches('securty')",
      "context.environment == 'securty'",
    ]) {
      assert.equal(conditionProblem(when), '', when)
    }
  })
})

suite('levels by selector', () => {
  test('an id goes before patterns, and of patterns the strictest holds, in any order', () => {
    const stated = {
      'endpoint-*': 'off',
      'format:openapi,area:paths': 'dangerous',
      'endpoint-deprecated': 'info',
    } as const
    const turned = Object.fromEntries(Object.entries(stated).reverse())
    for (const levels of [stated, turned]) {
      assert.equal(levelOf(levels, 'endpoint-added'), 'dangerous')
      assert.equal(levelOf(levels, 'endpoint-deprecated'), 'info')
      assert.equal(levelOf(levels, 'mcp-tool-added'), undefined)
    }
  })

  test('hold in a comparison of every format, and in a policy', () => {
    const artifact = {
      id: 'a',
      type: 'json_schema',
      before: '{"type":["string","null"]}',
      after: '{"type":"string"}',
    } as const
    const levelsIn = (levels: Readonly<Record<string, 'info' | 'off'>>) => {
      const compared = compare(artifact, { levels }, sha256)
      assert.ok(compared.ok)
      return new Set(compared.value.groups.map(({ level }) => level))
    }
    assert.deepEqual(levelsIn({ 'format:json_schema': 'info' }), new Set(['info']))
    assert.deepEqual(levelsIn({ 'schema-*': 'off' }), new Set())
    const policy = fakePolicy({ levels: { 'kind:poisoning': 'info' } })
    assert.equal(policy.levels.get('mcp-text-hidden-characters'), 'info')
  })

  test('a waiver covers what its selector selects, and nothing else', () => {
    const waived = {
      rules: [{ id: 'r', when: "finding.level == 'breaking'", then: 'BLOCK' }],
      waivers: [{ id: 'w', rule: 'format:openapi,mutation-*', reason: 'r', owner: 'o', expires: '2099-01-01' }],
    }
    assert.equal(problemsOf(waived).length, 1, 'no such rule')
    const [waiver] = waived.waivers
    const policy = { ...waived, waivers: [{ ...waiver, rule: 'api-*,action:removed' }] }
    assert.equal(decisionOf('api-removed-without-deprecation', policy), 'WARN')
    assert.equal(decisionOf('api-security-tightened', policy), 'BLOCK')
  })
})
