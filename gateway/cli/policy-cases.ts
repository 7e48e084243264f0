/** Test cases of a policy pack (cases.yaml beside it): findings, or a change of a contract, and context in, decision out, judged by the real engine. */
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import type { Static } from 'typebox'
import {
  ARTIFACT_TYPES,
  compare,
  decide,
  DECISIONS,
  digestJson,
  EMPTY_CONTEXT,
  LEVELS,
  ok,
  rulesetHash,
  type ArtifactAnalysis,
  type CompiledPolicy,
  type FindingGroup,
  type Release,
  type Result,
  type Verdict,
  Type,
} from '../../engine/index.ts'
import { plainSchema } from '../config/input-schema.ts'
import { pathOfPointer, type Mistake } from '../config/mistake.ts'
import { mistakesOf } from '../config/schema-mistakes.ts'
import { readSourceText } from '../config/source-text.ts'
import { sha256Hex } from '../hash.ts'
import { messageOf } from '../startup-error.ts'

const closed = { additionalProperties: false }
const optionalText = (description: string) => Type.Optional(Type.String({ description }))

const CaseFinding = Type.Object(
  {
    rule: Type.String({ description: 'Rule id.' }),
    level: Type.Enum(LEVELS, { description: 'Level of the finding.' }),
    operation: optionalText('METHOD /path that the finding reaches.'),
    tool: optionalText('Tool that the finding reaches.'),
  },
  closed,
)
type CaseFinding = Static<typeof CaseFinding>

const CaseChange = Type.Object(
  {
    type: Type.Enum(ARTIFACT_TYPES, { description: 'Type of the contract.' }),
    before: Type.String({ description: 'Text before; empty where the contract is new.' }),
    after: Type.String({ description: 'Text after; empty where it is deleted.' }),
  },
  closed,
)

const CaseDecision = Type.Object(
  {
    decision: Type.Enum(DECISIONS, { description: 'What was decided.' }),
    ago: Type.Integer({ minimum: 0, description: 'Seconds before the decision of the case.' }),
    same_input: Type.Optional(Type.Boolean({ description: 'About the very same change set.' })),
  },
  closed,
)

const PolicyCase = Type.Object(
  {
    description: Type.String({ minLength: 1, description: 'What the case shows.' }),
    at: Type.Optional(
      Type.String({
        pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$',
        description:
          'UTC instant of the decision; now when absent. For freeze windows, waivers and conditions on time.',
      }),
    ),
    route: optionalText('Route of the intercepted call.'),
    versions: Type.Optional(
      Type.Object(
        { base: Type.String({ description: 'Before.' }), head: Type.String({ description: 'After.' }) },
        { ...closed, description: 'Versions that the contract states; for minimum_bump.' },
      ),
    ),
    release: Type.Optional(
      Type.Object(
        {
          base: Type.Optional(Type.String({ description: 'The version before; absent: there was none.' })),
          head: Type.String({ description: 'The version that is published.' }),
        },
        { ...closed, description: 'Versions of the package or server that carries the contract; for minimum_bump.' },
      ),
    ),
    consumers: Type.Optional(
      Type.Array(Type.String({ description: 'Name.' }), {
        description: 'Declared consumers that use the whole contract.',
      }),
    ),
    history: Type.Optional(Type.Array(CaseDecision, { description: 'Earlier decisions of the same scope.' })),
    failed: Type.Optional(Type.Literal(true, { description: 'The artifact could not be analysed.' })),
    findings: Type.Optional(Type.Array(CaseFinding)),
    change: Type.Optional(CaseChange),
    context: Type.Object(
      { operation: Type.String({ description: 'Operation.' }), environment: optionalText('Environment.') },
      closed,
    ),
    want: Type.Object(
      {
        decision: Type.Enum(DECISIONS, { description: 'Decision expected.' }),
        observed: Type.Optional(Type.Enum(DECISIONS, { description: 'Decision if observing rules were enforced.' })),
        rule: optionalText('Policy rule that decided.'),
        reason: optionalText('Code of the first blocking reason.'),
        warning: optionalText('Code of the first warning.'),
        ttl: Type.Optional(Type.Integer({ description: 'Validity, seconds.' })),
      },
      closed,
    ),
  },
  closed,
)
export type PolicyCase = Static<typeof PolicyCase>

const CaseFile = Type.Object({ cases: Type.Array(PolicyCase, { minItems: 1 }) }, closed)

type Fact = string | number | undefined

export interface CaseOutcome {
  readonly description: string
  /** What came out otherwise than wanted; empty when the case passes. */
  readonly differences: readonly { readonly member: string; readonly want: Fact; readonly got: Fact }[]
}

const checkCases = new Ajv({ allErrors: true, verbose: true, strict: false }).compile<Static<typeof CaseFile>>(
  plainSchema(CaseFile),
)

/** Every mistake in the file with its line and column. */
export function readCases(file: string): Result<readonly PolicyCase[], readonly Mistake[]> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return {
      ok: false,
      problem: [{ place: file, path: '', message: 'the cases cannot be read', fix: messageOf(error) }],
    }
  }
  const source = readSourceText(file, text)
  if (!source.ok) return source
  const document = source.value
  const { value } = document
  if (checkCases(value)) return ok(value.cases)
  const mistakes = mistakesOf(checkCases.errors ?? []).map(({ pointer, at, message, fix }) => ({
    place: document.place(pointer, at),
    path: pathOfPointer(pointer),
    message,
    fix,
  }))
  return { ok: false, problem: mistakes }
}

export function runCase(policy: CompiledPolicy, policyCase: PolicyCase, now: number): CaseOutcome {
  const input = { description: policyCase.description }
  const at = policyCase.at === undefined ? now : Math.floor(Date.parse(policyCase.at) / 1000)
  const verdict = decide({
    analyses: [analysisOf(policyCase)],
    context: { ...EMPTY_CONTEXT, ...policyCase.context },
    policy,
    scope: null,
    route: policyCase.route ?? null,
    release: releaseOf(policyCase),
    inputFingerprint: digestJson(input, sha256Hex),
    artifactDigest: digestJson(input, sha256Hex),
    rulesetHash: rulesetHash(sha256Hex),
    policyPin: null,
    consumers: (policyCase.consumers ?? []).map((name) => ({
      name,
      uses: [{ artifact: null, operation: null, tool: null }],
    })),
    history: (policyCase.history ?? [])
      .map(({ decision, ago, same_input: isSameInput = false }) => ({ decision, at: at - ago, isSameInput }))
      .toSorted((a, b) => b.at - a.at),
    now: at,
    sha256: sha256Hex,
  })
  const differences = Object.entries(policyCase.want).flatMap(([member, want]) => {
    const got = OUTCOMES[member]?.(verdict)
    return got === want ? [] : [{ member, want, got }]
  })
  return { description: policyCase.description, differences }
}

/** Member of `want` → what the verdict says of it. */
const OUTCOMES: Readonly<Record<string, (verdict: Verdict) => Fact>> = {
  decision: ({ decision }) => decision,
  observed: ({ observed_decision }) => observed_decision,
  rule: ({ evidence }) => evidence[0]?.source.split('/').at(-1),
  reason: ({ blocking_reasons }) => blocking_reasons[0]?.code,
  warning: ({ warnings }) => warnings[0]?.code,
  ttl: ({ ttl_seconds }) => ttl_seconds,
}

function releaseOf({ release }: PolicyCase): Release | null {
  return release === undefined ? null : { name: 'case', base: release.base ?? null, head: release.head }
}

function analysisOf({ failed, findings = [], versions, change }: PolicyCase): ArtifactAnalysis {
  if (change !== undefined) {
    const { type, before, after } = change
    const compared = compare({ id: 'case', type, before, after }, {}, sha256Hex)
    const artifact = { id: 'case', type } as const
    return compared.ok
      ? { ...artifact, ok: true, comparison: compared.value }
      : { ...artifact, ok: false, problem: compared.problem }
  }
  const artifact = { id: 'case', type: 'openapi' } as const
  if (failed === true) {
    const problem = { code: 'ARTIFACT_UNREADABLE', message: 'The case says that it could not be analysed.' }
    return { ...artifact, ok: false, problem }
  }
  return {
    ...artifact,
    ok: true,
    comparison: {
      groups: findings.map(groupOf),
      stats: { operations: { base: 1, head: 1 }, schemas_compared: 0, touched: { endpoints: 0, fields: 0, params: 0 } },
      spec_versions: { base: '3.1.0', head: '3.1.0' },
      contract_versions: versions ?? { base: null, head: null },
      patterns: [],
      pattern_sources: [],
      detected_patterns: [],
    },
  }
}

function groupOf({ rule, level, operation, tool }: CaseFinding, index: number): FindingGroup {
  const [method = '', path = ''] = (operation ?? '').split(' ', 2)
  const fingerprint = `case:${index}`
  return {
    id: fingerprint,
    rule,
    code: rule.toUpperCase().replaceAll('-', '_'),
    level,
    direction: 'none',
    location: '',
    side: 'head',
    line: null,
    column: null,
    message: `${rule} in a test case`,
    explanation: 'A test case says so.',
    fix: 'None: this is a test case.',
    before: null,
    after: null,
    occurrences: [
      {
        operation: operation === undefined ? null : { method, path, operation_id: null },
        tool: tool ?? null,
        message: `${rule} in a test case`,
        fingerprint,
      },
    ],
  }
}
