/**
 * Runs one test case of a policy pack with the real engine: the case is turned into the analysis that would produce its
 * findings.
 */
import { lookupTable } from '../../engine/base.ts'
import {
  compare,
  decide,
  judgeChangeSet,
  digestJson,
  EMPTY_CONTEXT,
  rulesetHash,
  type ArtifactAnalysis,
  type CompiledPolicy,
  type DecideInput,
  type FindingGroup,
  type Release,
  type Verdict,
} from '../../engine/internal.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { CaseFinding, PolicyCase } from './policy-cases.ts'

type Fact = string | number | undefined

export interface CaseOutcome {
  readonly description: string
  /** The results that differ from the expected ones; empty when the case passes. */
  readonly differences: readonly { readonly member: string; readonly want: Fact; readonly got: Fact }[]
  /** Ids of the rules of the policy whose condition holds. */
  readonly fired: readonly string[]
}

/** @param now seconds since the epoch, for cases without a time */
export function runCase(policy: CompiledPolicy, policyCase: PolicyCase, now: number): CaseOutcome {
  const decideInput = caseInput(policy, policyCase, now)
  const verdict = decide(decideInput)
  const differences = Object.entries(policyCase.want).flatMap(([member, want]) => {
    const got = OUTCOMES[member]?.(verdict)
    return got === want ? [] : [{ member, want, got }]
  })
  return { description: policyCase.description, differences, fired: firedIn(policy, decideInput) }
}

/** What is decided on in a case. @param now seconds since the epoch, for cases without a time */
export function caseInput(policy: CompiledPolicy, policyCase: PolicyCase, now: number): DecideInput {
  const input = { description: policyCase.description }
  const at = policyCase.at === undefined ? now : Math.floor(Date.parse(policyCase.at) / 1000)
  return {
    analyses: [analysisOf(policyCase)],
    context: { ...EMPTY_CONTEXT, ...policyCase.context },
    policy,
    scope: null,
    route: policyCase.route ?? null,
    release: releaseOf(policyCase),
    inputFingerprint: digestJson(input, sha256Hex),
    artifactDigest: digestJson(input, sha256Hex),
    submittedSetDigest: digestJson(input, sha256Hex),
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
  }
}

function firedIn(policy: CompiledPolicy, input: DecideInput): readonly string[] {
  const { artifacts, occasion, rulings } = judgeChangeSet(input.analyses, input)
  const trace = policy.trace(occasion)
  const matching = artifacts
    .flatMap(({ judgements }) => judgements)
    .flatMap(({ group, occurrence }) => trace(group, occurrence))
    .filter(({ answer }) => answer === 'matches')
  return [...new Set([...rulings.map(({ ruleId }) => ruleId), ...matching.map(({ ruleId }) => ruleId)])]
}

/** Member of `want` → the same member of the verdict. */
const OUTCOMES: Readonly<Record<string, (verdict: Verdict) => Fact>> = lookupTable({
  decision: ({ decision }) => decision,
  observed: ({ observed_decision }) => observed_decision,
  rule: ({ evidence }) => evidence[0]?.source.split('/').at(-1),
  reason: ({ blocking_reasons }) => blocking_reasons[0]?.code,
  warning: ({ warnings }) => warnings[0]?.code,
  ttl: ({ ttl_seconds }) => ttl_seconds,
})

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
      groups: findings.map(findingGroup),
      stats: { operations: { base: 1, head: 1 }, schemas_compared: 0, touched: { endpoints: 0, fields: 0, params: 0 } },
      spec_versions: { base: '3.1.0', head: '3.1.0' },
      contract_versions: versions ?? { base: null, head: null },
      patterns: [],
      pattern_sources: [],
      detected_patterns: [],
      unresolved: [],
      reads_day: false,
    },
  }
}

function findingGroup({ rule, level, operation, tool }: CaseFinding, index: number): FindingGroup {
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
