/** What the policy in force makes of a comparison, as `/api/diff` reports it beside the comparison. Never permission. */
import type { Static } from 'typebox'
import { EMPTY_CONTEXT, Type } from '../../engine/base.ts'
import type { ArtifactType, Comparison } from '../../engine/internal.ts'
import { declaredConsumers } from '../consumers/known.ts'
import { engine } from '../loading/lazy-engine.ts'
import type { DiffReport, ReportGroup } from '../report/diff-report.ts'
import { sha256Hex } from '../runtime/hash.ts'
import { MatchedRule, matchedRules } from './matched-rules.ts'
import { ExecutionAction, Level } from './schemas/shapes.ts'
import type { ApiSettings } from './settings.ts'

const RISK_LEVELS = ['none', 'low', 'medium', 'high', 'critical'] as const

const AssessedChange = Type.Object(
  {
    rule: Type.String(),
    code: Type.String(),
    level: Level,
    message: Type.String({ description: 'Untrusted text: display only.' }),
    location: Type.String(),
    operations: Type.Array(Type.String(), { description: 'As `GET /pets`.' }),
    tools: Type.Array(Type.String()),
    suggestion: Type.String(),
    count: Type.Integer({ minimum: 1 }),
  },
  { title: 'Change', description: 'One change, with the places that it reaches.' },
)
type AssessedChange = Static<typeof AssessedChange>

const changes = (description: string) => Type.Array(AssessedChange, { description })

/** Members of the answer of a comparison. */
export const DIFF_ASSESSMENT = {
  risk_score: Type.Integer({ minimum: 0, maximum: 100 }),
  risk_level: Type.Enum(RISK_LEVELS, {
    description: 'Of risk_score: none 0, low below 25, medium below 50, high below 75, critical from there.',
  }),
  semver_suggestion: Type.Enum(['major', 'minor', 'patch', 'none'], { description: 'Equal to summary.semver.' }),
  breaking_changes: changes('The groups of level breaking.'),
  non_breaking_changes: changes('The groups of the levels dangerous and info.'),
  security_findings: changes('The groups about security schemes, and signs of poisoning.'),
  changelog: Type.String({ description: 'Markdown: one line for each change.' }),
  policy_violations: Type.Array(MatchedRule, {
    description: 'Rules of the policy in force that do not allow what was found.',
  }),
  should_block: Type.Boolean({ description: 'The policy in force would decide BLOCK.' }),
  compatibility_suggestions: Type.Array(Type.String(), {
    description: 'How to make the breaking and dangerous changes without breaking, each once.',
  }),
  execution_action: Type.Unsafe<string>({
    ...ExecutionAction,
    description: 'What the policy in force would decide without an operation. Never permission: there is no receipt.',
  }),
}

interface ComparedContract {
  readonly type: ArtifactType
  readonly comparison: Comparison
  readonly report: DiffReport
  /** Maximum number of rows in each list. */
  readonly most: number
}

/** @param now milliseconds since the epoch */
export function diffAssessment(
  { type, comparison, report, most }: ComparedContract,
  settings: ApiSettings,
  now: number,
) {
  const { decide, judgeChangeSet, ruleOf } = engine()
  const { policy, config } = settings
  const analyses = [{ id: 'diff', type, ok: true as const, comparison }]
  const consumers = declaredConsumers(config)
  const terms = { policy, context: EMPTY_CONTEXT, scope: null, consumers, now: Math.floor(now / 1000) }
  // The identity of a verdict is not part of this answer: no digest of the texts is needed.
  const digest = policy.hash
  const verdict = decide({
    ...terms,
    analyses,
    inputFingerprint: digest,
    artifactDigest: digest,
    submittedSetDigest: digest,
    rulesetHash: digest,
    policyPin: null,
    sha256: sha256Hex,
  })
  const { groups } = report
  const rows = (wanted: (group: ReportGroup) => boolean): readonly AssessedChange[] =>
    groups.filter(wanted).slice(0, most).map(assessedChange)
  return {
    risk_score: verdict.risk_score,
    risk_level: riskLevel(verdict.risk_score),
    semver_suggestion: report.summary.semver,
    breaking_changes: rows(({ level }) => level === 'breaking'),
    non_breaking_changes: rows(({ level }) => level !== 'breaking'),
    security_findings: rows(({ rule }) => isAboutSecurity(ruleOf(rule))),
    changelog: changelogOf(groups.slice(0, most)),
    policy_violations: matchedRules(judgeChangeSet(analyses, terms)).filter(({ decision }) => decision !== 'ALLOW'),
    should_block: verdict.execution_action === 'STOP',
    compatibility_suggestions: suggestionsOf(groups).slice(0, most),
    execution_action: verdict.execution_action,
  }
}

function riskLevel(score: number): (typeof RISK_LEVELS)[number] {
  if (score === 0) return 'none'
  return score < 25 ? 'low' : score < 50 ? 'medium' : score < 75 ? 'high' : 'critical'
}

const SECURITY = new Set(['security', 'poisoning'])

function isAboutSecurity(rule: { readonly area: string; readonly kind: string } | undefined): boolean {
  return rule !== undefined && (SECURITY.has(rule.area) || SECURITY.has(rule.kind))
}

function assessedChange({
  rule,
  code,
  level,
  message,
  location,
  operations,
  tools,
  fix,
  count,
}: ReportGroup): AssessedChange {
  const named = operations.map(({ method, path }) => `${method} ${path}`)
  return { rule, code, level, message, location, operations: named, tools: [...tools], suggestion: fix, count }
}

const HEADINGS = { breaking: 'Breaking', dangerous: 'Dangerous', info: 'Compatible' } as const

function changelogOf(groups: readonly ReportGroup[]): string {
  return (['breaking', 'dangerous', 'info'] as const)
    .flatMap((level) => {
      const lines = groups.filter((group) => group.level === level).map(({ message }) => `- ${oneLine(message)}`)
      return lines.length === 0 ? [] : [`### ${HEADINGS[level]}`, '', ...lines, '']
    })
    .join('\n')
    .trimEnd()
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[<>]/g, (sign) => (sign === '<' ? '&lt;' : '&gt;'))
}

function suggestionsOf(groups: readonly ReportGroup[]): readonly string[] {
  return [...new Set(groups.filter(({ level }) => level !== 'info').map(({ fix }) => fix))]
}
