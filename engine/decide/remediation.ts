/**
 * The remediation of a BLOCK: one row for each change, with the concrete fix. It predicts what a resubmission needs
 * and permits nothing.
 */
import type { Digest } from '../common/hash.ts'
import type { RemediationTransaction, RequiredChange } from './envelope-members.ts'
import type { JudgedArtifact, FindingJudgement } from './judgement.ts'
import { findingWords } from './reason-lists.ts'
import { DECISION_CLASSES } from '../model/decision.ts'
import { clip } from './text.ts'

const MAX_CHANGES = 50
const MAX_TARGETS = 100
const MAX_TEXT = 500

/** Rule ids → how such a change is undone. The first matching row counts. */
const TRANSFORMS: readonly (readonly [RegExp, RequiredChange['recommended_transform'], RequiredChange['effort']])[] = [
  [/removed|deleted|missing/, 'restore', 'low'],
  [/became-required|required-(property|parameter)|new-required|required-added/, 'make_optional', 'low'],
  [/became-optional|became-nullable|added|generalized|unset/, 'narrow', 'medium'],
  [/restricted|narrow|decreased|increased|became-not-nullable|became-enum|specialized|-set$/, 'widen', 'medium'],
  [/type-changed|format-changed/, 'restore', 'medium'],
]

interface RemediationFacts {
  readonly artifacts: readonly JudgedArtifact[]
  /** Strictest first. */
  readonly judgements: readonly FindingJudgement[]
  readonly fingerprint: Digest
}

export function remediationTransaction({
  artifacts,
  judgements,
  fingerprint,
}: RemediationFacts): RemediationTransaction {
  const held = judgements.filter(({ effect }) => !DECISION_CLASSES[effect.decision].safeForAgent)
  const changes = [...failedChanges(artifacts), ...held.map(findingChange)]
  const listed = changes.slice(0, MAX_CHANGES)
  const targets = [...new Set(changes.map(({ target }) => target))]
  const touched = new Set(held.map(({ artifact }) => artifact))
  return {
    required_changes: listed,
    resubmission: {
      unchanged_input: 'deterministic_block',
      modified_input: 'preflight_required',
      reference_fingerprint: fingerprint,
      fingerprint_profile: 'verdict.v1',
      modified_is_not_permission: true,
    },
    next_preflight_required: true,
    recheck_scope: {
      artifacts: artifacts
        .filter(({ analysis }) => !analysis.ok || touched.has(analysis.id))
        .map(({ analysis }) => clip(analysis.id, MAX_TEXT)),
      targets: targets.slice(0, MAX_TARGETS),
      omitted_changes: changes.length - listed.length,
      omitted_targets: Math.max(0, targets.length - MAX_TARGETS),
    },
    escalation: { path: 'human_review', when: 'changes_infeasible_or_disputed' },
  }
}

function failedChanges(artifacts: readonly JudgedArtifact[]): readonly RequiredChange[] {
  return artifacts.flatMap(({ analysis }): readonly RequiredChange[] => {
    if (analysis.ok) return []
    const { code, message, pointer } = analysis.problem
    return [
      {
        change_type: clip(code, MAX_TEXT),
        label: clip(message, MAX_TEXT),
        target: clip(analysis.id, MAX_TEXT),
        target_ref: clip(`${analysis.id}#${pointer ?? ''}`, MAX_TEXT),
        recommended_transform: 'fix_input',
        effort: 'low',
        instruction: clip(`Fix the document and submit it again: ${message}`, MAX_TEXT),
        evidence: { rule: clip(code, MAX_TEXT), fingerprint: null },
      },
    ]
  })
}

function findingChange(judgement: FindingJudgement): RequiredChange {
  const { artifact, group, occurrence } = judgement
  const [, transform, effort] = TRANSFORMS.find(([pattern]) => pattern.test(group.rule)) ?? [null, 'revise', 'medium']
  return {
    change_type: group.code,
    label: clip(findingWords(judgement), MAX_TEXT),
    target: clip(remediationTarget(judgement), MAX_TEXT),
    target_ref: clip(`${artifact}#${group.location}`, MAX_TEXT),
    recommended_transform: transform,
    effort,
    instruction: clip(group.fix, MAX_TEXT),
    evidence: { rule: group.rule, fingerprint: occurrence.fingerprint },
  }
}

function remediationTarget({ artifact, occurrence: { operation, tool } }: FindingJudgement): string {
  return tool ?? (operation ? `${operation.method} ${operation.path}` : artifact)
}
