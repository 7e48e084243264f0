/** Every case in test/rules: the rule fires at its level and place, and nothing is found where nothing changed. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { canonicalArtifactType, type ArtifactType } from '../../../engine/model/change-set.ts'
import { compare, type Comparison, type CompareOptions } from '../../../engine/formats/compare.ts'
import type { FindingGroup } from '../../../engine/model/finding.ts'
import { AGENT_TOOL_RULES } from '../../../engine/rules/agent-tools/rows.ts'
import { ASYNCAPI_RULES } from '../../../engine/rules/asyncapi/rows.ts'
import { GRAPHQL_RULES } from '../../../engine/rules/graphql/rows.ts'
import { JSON_SCHEMA_RULES } from '../../../engine/rules/json-schema/rows.ts'
import { CRD_RULES } from '../../../engine/rules/k8s-crd/rows.ts'
import { MCP_RULES } from '../../../engine/rules/mcp/rows.ts'
import { PROTO_RULES } from '../../../engine/rules/protobuf/rows.ts'
import { ruleOf, ruleTable } from '../../../engine/rules/catalog/table.ts'
import { titleText } from '../../../gateway/report/annotation.ts'
import { reportGroup } from '../../../gateway/report/diff-report.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { caseFormats, ruleCases, type RuleCase } from '../../rules/cases.ts'

/** Areas of OpenAPI whose rules all have a case; those of schemas have examples for every site in examples.ts. */
const OPENAPI_AREAS = new Set(['paths', 'tags', 'security', 'components', 'info', 'requestBody', 'responses'])

/** Rules that need a case, by the folder of the format. */
const EXPECTED: Readonly<Record<Exclude<ArtifactType, 'mcp_manifest'> | 'mcp', () => readonly string[]>> = {
  agent_tools: () => [...AGENT_TOOL_RULES.keys()],
  asyncapi: () => [...ASYNCAPI_RULES.keys()],
  graphql: () => [...GRAPHQL_RULES.keys()],
  json_schema: () => [...JSON_SCHEMA_RULES.keys()],
  k8s_crd: () => [...CRD_RULES.keys()],
  mcp: () => [...MCP_RULES.keys()],
  openapi: () =>
    ruleTable()
      .filter(({ id, area }) => OPENAPI_AREAS.has(area) && !id.startsWith('mcp-'))
      .map(({ id }) => id),
  protobuf: () => [...PROTO_RULES.keys()],
}

function compared(format: string, before: string, after: string, options: CompareOptions = {}): Comparison {
  const type = canonicalArtifactType(format)
  assert.ok(type, `${format} is not an artifact type`)
  const result = compare({ id: 'contract', type, before, after }, options, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value
}

function operationsOf({ occurrences }: FindingGroup): readonly string[] {
  return occurrences.flatMap(({ operation }) => (operation === null ? [] : [`${operation.method} ${operation.path}`]))
}

function checkCase(found: FindingGroup, expected: RuleCase): void {
  assert.equal(found.level, expected.level)
  if (expected.location !== undefined) assert.equal(found.location, expected.location)
  if (expected.operation !== undefined) assert.equal(operationsOf(found)[0] ?? null, expected.operation)
  if (expected.operations !== undefined) {
    // Operations of GraphQL are written as its documents write them.
    const operations = operationsOf(found).map((operation) =>
      operation.replace(/^[A-Z]+(?= \w)/, (method) =>
        expected.syntax === 'text' && expected.rule.startsWith('graphql-') ? method.toLowerCase() : method,
      ),
    )
    assert.deepEqual(operations, expected.operations)
  }
  if (expected.tool !== undefined) assert.equal(found.occurrences[0]?.tool, expected.tool)
  const sentences = `${found.message} ${found.explanation} ${found.fix}`
  assert.doesNotMatch(sentences, /\{(?:name|before|after|detail)\}/)
  const reported = reportGroup(found)
  assert.doesNotMatch(reported.message, /(\([^()]*\)) \1/, 'reports name a place once')
  const title = titleText(reported)
  assert.doesNotMatch(title, /\(([^()]*)\) \((?:[A-Z]+ )?\1\)$/i, 'titles name an operation once')
  assert.doesNotMatch(title, /`([^`]+)`.* \(\1\)$/, 'titles name a tool once')
  assert.ok(found.explanation !== '' && found.fix !== '')
  assert.ok(found.location === '' || expected.tool !== undefined || (found.line !== null && found.column !== null))
}

test('every format has a folder of cases', () => {
  assert.deepEqual(
    caseFormats().toSorted(),
    Object.keys(EXPECTED).toSorted(),
    'test/rules/ has a folder for each format',
  )
})

for (const [format, idsOf] of Object.entries(EXPECTED)) {
  const cases = ruleCases(format)

  suite(`the cases of ${format}`, () => {
    for (const expected of cases) {
      test(expected.rule, () => {
        const { before, after, options = {} } = expected
        const { groups } = compared(format, before, after, options)
        const found = groups.find(({ rule }) => rule === expected.rule)
        assert.ok(found, `${expected.file}: found only ${groups.map(({ rule }) => rule).join(', ') || 'nothing'}`)
        checkCase(found, expected)
        for (const side of [before, after])
          if (side !== '') assert.deepEqual(compared(format, side, side, options).groups, [])
      })
    }

    test('are one for every rule that needs one, and for rules only', () => {
      const ids = cases.map(({ rule }) => rule)
      const missing = idsOf().filter((id) => !ids.includes(id))
      assert.deepEqual(missing, [], `rules of ${format} without a case in test/rules/${format}/`)
      assert.deepEqual(
        ids.filter((id, at) => ruleOf(id) === undefined || ids.indexOf(id) !== at),
        [],
      )
    })
  })
}
