/** The table of rules: pins, ids, and texts. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { adviceOf } from '../../../engine/rules/advice.ts'
import { exceptionOf, exceptionIds } from '../../../engine/rules/exceptions.ts'
import { AGENT_TOOL_RULES } from '../../../engine/rules/agent-tools/rows.ts'
import { ASYNCAPI_RULES } from '../../../engine/rules/asyncapi/rows.ts'
import { FAMILIES, TYPE_FAMILIES } from '../../../engine/rules/families.ts'
import { generalSentence } from '../../../engine/rules/general-sentence.ts'
import { GRAPHQL_RULES } from '../../../engine/rules/graphql/rows.ts'
import { JSON_SCHEMA_RULES } from '../../../engine/rules/json-schema/rows.ts'
import { CRD_RULES } from '../../../engine/rules/k8s-crd/rows.ts'
import { MCP_RULES } from '../../../engine/rules/mcp/rows.ts'
import { openApiAdvice } from '../../../engine/rules/openapi/advice.ts'
import { OPENAPI_ROWS } from '../../../engine/rules/openapi/rules.ts'
import { PROPERTY_RULES } from '../../../engine/rules/properties.ts'
import { PROTO_RULES } from '../../../engine/rules/protobuf/rows.ts'
import { ruleOf, ruleTable } from '../../../engine/rules/catalog/table.ts'
import { sha256 } from '../../conformance/openapi-run.ts'
import { assertTable } from '../../pinned.ts'
import { examples } from './examples.ts'

const ALL_ROWS = [
  ...OPENAPI_ROWS,
  ...[AGENT_TOOL_RULES, ASYNCAPI_RULES, CRD_RULES, GRAPHQL_RULES, JSON_SCHEMA_RULES, MCP_RULES, PROTO_RULES].flatMap(
    (rules) => [...rules.values()],
  ),
]
const SCHEMA_AREAS = new Set(['schema', 'parameters', 'headers', 'callbacks'])

suite('the rule table', () => {
  test('is pinned: rules are only ever appended, and no level changes without a new pin', () => {
    const columns = ['id', 'level', 'direction', 'area', 'kind', 'action', 'effect'] as const
    const rows = ruleTable().map((rule) => columns.map((column) => rule[column]))
    assertTable(columns.join('\t'), rows, 'rules')
  })

  test('has ids that can be reason codes', () => {
    for (const { id } of ruleTable()) assert.match(id, /^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/)
  })

  test('describes each rule in plain English', () => {
    for (const { id, description } of ruleTable()) assert.ok(description.length > 8 && !/[{}]/.test(description), id)
  })

  test('has a general sentence for each rule, without placeholders', () => {
    for (const { id, description } of ruleTable()) {
      const shown = `${id}: ${description}`
      assert.doesNotMatch(description, /[{}`→“”]| {2}| ,|^[A-Z ]|[.:,; ]$/, shown)
      assert.doesNotMatch(description, /\b(?:a|an|the|of|from|as|by|at|in|on|for|with|and|or|is|instead)$/, shown)
      assert.doesNotMatch(description, /\ba [aei]|\ban [bcdfgjklmnpqstvwz]|\b(\w+) \1\b/, shown)
    }
  })

  test('no rule that is breaking or dangerous says that nothing needs to be done', () => {
    const stated = ALL_ROWS.flatMap((row) => ('rule' in row ? [[row.rule, row.advice] as const] : []))
    const derived = ruleTable().flatMap((rule) =>
      [adviceOf(rule), adviceOf(rule, 'shared'), openApiAdvice(rule)].map((advice) => [rule, advice] as const),
    )
    assert.ok(stated.length > 100)
    const contradicted = [...stated, ...derived].filter(
      ([{ level }, { fix }]) => level !== 'info' && fix === 'Nothing needs to be done.',
    )
    assert.deepEqual(new Set(contradicted.map(([{ id }]) => id)), new Set())
  })

  test('a change of OpenAPI that is not a request or response has advice of its own', () => {
    const vague = OPENAPI_ROWS.filter(({ id, advice }) => {
      const rule = ruleOf(id)
      assert.ok(rule, id)
      const isGeneral = advice === undefined && openApiAdvice(rule).explanation === adviceOf(rule).explanation
      return isGeneral && rule.level !== 'info' && rule.direction === 'none' && rule.kind !== 'lifecycle'
    })
    assert.deepEqual(
      vague.map(({ id }) => id),
      [],
    )
  })

  test('no general sentence contains the name of a value instead', () => {
    const rows = [...ALL_ROWS, ...FAMILIES, ...Object.values(TYPE_FAMILIES), ...PROPERTY_RULES]
    assert.ok(rows.filter(({ sentence }) => sentence.includes('{')).length > 600)
    for (const { sentence } of rows) {
      const general = generalSentence(sentence)
      for (const [hole, name] of sentence.matchAll(/\{(\w+)\}/g)) {
        // A sentence that only loses its braces is not general: it contains the name of the value.
        const bare = sentence.replaceAll(/[`{}“”]/g, '')
        assert.notEqual(general, bare, `${hole} of ${sentence}`)
        if (sentence.replaceAll(/\{\w+\}/g, '').includes(name ?? '')) continue
        assert.doesNotMatch(general, new RegExp(`\\b(?:the|a|an|of|to|from|by) ${name}\\b`), `${sentence} → ${general}`)
      }
    }
  })

  test('has no exception for a rule that does not exist, and a reason for each', () => {
    const ids = new Set(ruleTable().map(({ id }) => id))
    for (const id of exceptionIds()) {
      assert.ok(ids.has(id), id)
      assert.ok((exceptionOf(id)?.because.length ?? 0) > 20, id)
    }
  })
})

suite('a rule of the families', () => {
  const all = examples()
  const levels = new Map(ruleTable().map(({ id, level }) => [id, level]))

  test('holds on its pair, at its level, and on nothing when the two sides are the same', () => {
    const silent: string[] = []
    for (const { rule, type, before, after, options } of all) {
      const [base, head] = [JSON.stringify(before), JSON.stringify(after)]
      const compared = compare({ id: rule, type, before: base, after: head }, options, sha256)
      assert.ok(compared.ok, rule)
      const group = compared.value.groups.find((candidate) => candidate.rule === rule)
      if (group === undefined) silent.push(`${rule}: ${compared.value.groups.map((other) => other.rule).join(', ')}`)
      else assert.equal(group.level, levels.get(rule), rule)
      const same = compare({ id: rule, type, before: head, after: head }, options, sha256)
      assert.ok(same.ok && same.value.groups.length === 0, `${rule} on identity`)
    }
    assert.deepEqual(silent, [])
  })

  test('has an example wherever a schema stands in OpenAPI', () => {
    const shown = new Set(all.map(({ rule }) => rule))
    const bare = ruleTable().filter(
      ({ id, area, kind }) => SCHEMA_AREAS.has(area) && !shown.has(id) && kind !== 'existence' && !isOutsideSchemas(id),
    )
    assert.deepEqual(
      bare.map(({ id }) => id),
      [],
    )
  })
})

/** Rules of parameters, headers and callbacks as such: their pairs lie in test/rules/openapi/. */
function isOutsideSchemas(id: string): boolean {
  return /^(?:request-parameter-(?:became-(?:required|optional)$|empty-value|style|content-type-changed|deprecated|sunset|reactivated|removed)|response-header-became-(?:optional|required)$|response-header-writing|request-path-parameter-moved|callback-(?:path-)?parameter-(?:became-(?:required|optional)$|empty-value|style|content-type-changed|moved)|callback-response-header-(?:became-(?:optional|required)$|writing)|callback-request-body-(?:added|removed|became))|-min-items-(?:set|unset)$/.test(
    id,
  )
}
