/** What the decision rests on, as rows: which policy rules fired, what could not be analysed, which changes were found. */
import type { Level } from '../model/finding.ts'
import type { ChangeSetRuling, CompiledPolicy, PolicyEffect, PolicyRuling } from '../policy/policy.ts'
import type { Decision } from '../model/decision.ts'
import { ENVELOPE_BOUNDS } from './envelope-vocabulary.ts'
import type { Evidence } from './envelope-members.ts'
import type { JudgedArtifact, FindingJudgement } from './judgement.ts'
import { findingWords, unresolvedReasons } from './reason-lists.ts'
import { problemReason } from './reasons.ts'
import { capped, clip, counted } from './text.ts'

type EvidenceSeverity = Evidence['severity']

const LEVEL_SEVERITY: Readonly<Record<Level, EvidenceSeverity>> = {
  breaking: 'HIGH',
  dangerous: 'MEDIUM',
  info: 'INFO',
}
const DECISION_SEVERITY: Readonly<Record<Decision, EvidenceSeverity>> = {
  BLOCK: 'HIGH',
  REQUIRE_APPROVAL: 'MEDIUM',
  WARN: 'LOW',
  ALLOW: 'INFO',
}

interface FurtherEvidence {
  /** Pattern rows that the envelope has no room for. */
  readonly omittedPatterns: number
  readonly approval: Evidence | null
  /** About the change set as a whole. */
  readonly rulings: readonly ChangeSetRuling[]
}

/** @param judgements strictest first: when rows have to be left out, the weakest are. */
export function evidenceRows(
  policy: CompiledPolicy,
  artifacts: readonly JudgedArtifact[],
  judgements: readonly FindingJudgement[],
  { omittedPatterns, approval, rulings }: FurtherEvidence,
): readonly Evidence[] {
  const rows = [
    ...rulings.map((ruling) => rulingRow(policy, ruling)),
    ...policyRows(policy, judgements, rulings.length > 0),
    ...(approval ? [approval] : []),
    ...artifacts.flatMap(({ analysis, unresolved }) =>
      analysis.ok
        ? unresolvedReasons(analysis.id, unresolved).map(({ message }) =>
            evidenceRow('ANALYSIS_FAILURE', analysis.id, message, 'HIGH'),
          )
        : [evidenceRow('ANALYSIS_FAILURE', analysis.id, problemReason(analysis.id, analysis.problem).message, 'HIGH')],
    ),
    ...(omittedPatterns > 0
      ? [evidenceRow('PATTERN', 'patterns', `${counted(omittedPatterns, 'further pattern row')} not carried.`, 'INFO')]
      : []),
    ...judgements.map((judgement) => {
      const { artifact, group } = judgement
      return evidenceRow(
        'CONTRACT_CHANGE',
        `${artifact}#${group.location}`,
        `${group.rule}: ${findingWords(judgement)}`,
        LEVEL_SEVERITY[group.level],
      )
    }),
  ]
  return capped(rows, ENVELOPE_BOUNDS.evidence, (count) =>
    evidenceRow('CONTRACT_CHANGE', 'envelope', `${counted(count, 'further row')} not listed here.`, 'INFO'),
  )
}

interface FiredRule {
  readonly decision: Decision
  readonly isObserved: boolean
  readonly first: string
  places: number
}

/** One row a rule that fired, in order of strictness; always at least one, so that an ALLOW names what it rests on. */
function policyRows(
  policy: CompiledPolicy,
  judgements: readonly FindingJudgement[],
  hasRulings: boolean,
): readonly Evidence[] {
  const fired = new Map<string, FiredRule>()
  for (const judgement of judgements) {
    for (const { ruling, isObserved } of rulingsOf(judgement.effect)) {
      const known = fired.get(ruling.ruleId)
      if (known) known.places += judgement.places
      else {
        const { decision } = ruling
        fired.set(ruling.ruleId, { decision, isObserved, first: findingWords(judgement), places: judgement.places })
      }
    }
  }
  if (fired.size === 0 && hasRulings) return []
  if (fired.size === 0)
    return [evidenceRow('POLICY_RULE', policy.name, 'No rule of the policy applied to what was found.', 'INFO')]
  return [...fired].map(([ruleId, { decision, isObserved, first, places }]) => {
    const words = `${decision}${isObserved ? ' (observed, not enforced)' : ''}: ${counted(places, 'finding')}; first: ${first}`
    return evidenceRow('POLICY_RULE', `${policy.name}/${ruleId}`, words, DECISION_SEVERITY[decision])
  })
}

function rulingRow(policy: CompiledPolicy, { ruleId, decision, observed, reason }: ChangeSetRuling): Evidence {
  const effective = observed ?? decision
  const words = `${effective}${observed ? ' (observed, not enforced)' : ''}: the change set as a whole: ${reason.message}`
  return evidenceRow('POLICY_RULE', `${policy.name}/${ruleId}`, words, DECISION_SEVERITY[effective])
}

/** The rule that counts and the one that only observes; where observing is all there is, its lowered form is no rule of its own. */
function rulingsOf(effect: PolicyEffect): readonly { readonly ruling: PolicyRuling; readonly isObserved: boolean }[] {
  const { observed } = effect
  const enforced =
    effect.ruleId === 'none' || effect.ruleId === observed?.ruleId ? [] : [{ ruling: effect, isObserved: false }]
  return observed ? [...enforced, { ruling: observed, isObserved: true }] : enforced
}

function evidenceRow(type: string, source: string, finding: string, severity: EvidenceSeverity): Evidence {
  return {
    type,
    source: clip(source, ENVELOPE_BOUNDS.source),
    finding: clip(finding, ENVELOPE_BOUNDS.finding),
    severity,
  }
}
