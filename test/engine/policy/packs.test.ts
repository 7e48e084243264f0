/** Every shipped pack loads, and decides each of its own cases as written beside it. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { Type, type Static } from 'typebox'
import { Assert } from 'typebox/value'
import { parse } from 'yaml'
import {
  ARTIFACT_TYPES,
  compare,
  compilePolicy,
  DECISIONS,
  EMPTY_CONTEXT,
  LEVELS,
  type ArtifactAnalysis,
  type Verdict,
} from '../../../engine/internal.ts'
import { ruleTable } from '../../../engine/rules/catalog/table.ts'
import { failedAnalysis, fakeAnalysis } from '../../fakes/comparisons.ts'
import { decideOn, issueOn } from '../../fakes/decisions.ts'
import { sha256 } from '../../fakes/keys.ts'

const PACKS = new URL('../../../policies/', import.meta.url)
/** `id level` of every rule of the comparison. */
const RULES = new Set(ruleTable().map(({ id, level }) => `${id} ${level}`))
const strict = { additionalProperties: false }
const optionalText = () => Type.Optional(Type.String())

const Cases = Type.Object(
  {
    cases: Type.Array(
      Type.Object(
        {
          description: Type.String(),
          failed: Type.Optional(Type.Literal(true)),
          findings: Type.Optional(
            Type.Array(
              Type.Object(
                { rule: Type.String(), level: Type.Enum(LEVELS), operation: optionalText(), tool: optionalText() },
                strict,
              ),
            ),
          ),
          change: Type.Optional(
            Type.Object({ type: Type.Enum(ARTIFACT_TYPES), before: Type.String(), after: Type.String() }, strict),
          ),
          context: Type.Object({ operation: Type.String(), environment: optionalText() }, strict),
          want: Type.Object(
            {
              decision: Type.Enum(DECISIONS),
              observed: Type.Optional(Type.Enum(DECISIONS)),
              rule: optionalText(),
              reason: optionalText(),
              warning: optionalText(),
              ttl: Type.Optional(Type.Integer()),
            },
            strict,
          ),
        },
        strict,
      ),
      { minItems: 1 },
    ),
  },
  strict,
)
type PackCase = Static<typeof Cases>['cases'][number]

for (const name of readdirSync(PACKS, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
  suite(`pack ${name.name}`, () => packSuite(name.name))
}

function packSuite(name: string): void {
  const compiled = compilePolicy(readYaml(name, 'pack.yaml'), sha256)
  const cases = readYaml(name, 'cases.yaml')
  Assert(Cases, cases)

  const decideCase = ({ failed, context, ...packCase }: PackCase): Verdict => {
    assert.ok(compiled.ok)
    const analysis = failed ? failedAnalysis('api') : analysisOf(packCase)
    return decideOn([], { policy: compiled.value, analyses: [analysis], context: { ...EMPTY_CONTEXT, ...context } })
  }

  test('loads, under the name of its folder', () => {
    assert.deepEqual(compiled.ok ? [] : compiled.problem, [])
    assert.equal(compiled.ok && compiled.value.name, name)
  })

  for (const packCase of cases.cases) {
    test(packCase.description, () => {
      const verdict = decideCase(packCase)
      assertWanted(verdict, packCase.want)
      issueOn(verdict)
    })
  }

  test('has cases of rules that exist, at their own level', () => {
    const given = cases.cases.flatMap(({ findings = [] }) => findings.map(({ rule, level }) => `${rule} ${level}`))
    assert.deepEqual(
      given.filter((row) => !RULES.has(row)),
      [],
    )
  })

  test('every rule decides in some case', () => {
    const source = readYaml(name, 'pack.yaml')
    assert.ok(typeof source === 'object' && source !== null && 'rules' in source && Array.isArray(source.rules))
    const fired = new Set(cases.cases.flatMap((packCase) => decideCase(packCase).evidence.map((row) => row.source)))
    for (const { id } of source.rules) assert.ok(fired.has(`${name}/${id}`), `${id} never fires`)
  })
}

function assertWanted(verdict: Verdict, want: PackCase['want']): void {
  assert.equal(verdict.decision, want.decision)
  if (want.observed) assert.equal(verdict.observed_decision, want.observed)
  if (want.ttl) assert.equal(verdict.ttl_seconds, want.ttl)
  if (want.rule) assert.ok(verdict.evidence[0]?.source.endsWith(`/${want.rule}`), verdict.evidence[0]?.source)
  if (want.reason) assert.equal(verdict.blocking_reasons[0]?.code, want.reason)
  if (want.warning) assert.equal(verdict.warnings[0]?.code, want.warning)
}

/** A change of a contract is compared; findings stand for one. */
function analysisOf({ change, ...packCase }: Pick<PackCase, 'findings' | 'change'>): ArtifactAnalysis {
  if (change === undefined) return fakeAnalysis('api', findingsOf(packCase))
  const compared = compare({ id: 'api', ...change }, {}, sha256)
  assert.ok(compared.ok, compared.ok ? '' : compared.problem.message)
  return { id: 'api', type: change.type, ok: true, comparison: compared.value }
}

function findingsOf({ findings = [] }: Pick<PackCase, 'findings'>) {
  return findings.map(({ rule, level, operation, tool }) => {
    const place = operation ?? tool
    return { rule, level, ...(place !== undefined && { places: [place] }) }
  })
}

function readYaml(pack: string, file: string): unknown {
  const path = new URL(`${pack}/${file}`, PACKS)
  assert.ok(existsSync(path), `policies/${pack}/${file} is missing`)
  return parse(readFileSync(path, 'utf8'))
}
