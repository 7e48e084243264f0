/** Judgements → the reasons of the envelope: blocking, warning and degraded ones, each list within its bound. */
import type { UnresolvedReference } from '../contracts/unresolved.ts'
import type { ChangeSetRuling, PolicyEffect } from '../policy/policy.ts'
import type { ChangeSetOrigin } from './completeness.ts'
import { DECISION_CLASSES, type Decision } from '../model/decision.ts'
import { ENVELOPE_BOUNDS } from './envelope-vocabulary.ts'
import type { Reason } from './envelope-members.ts'
import type { JudgedArtifact, FindingJudgement } from './judgement.ts'
import type { Problem } from '../common/result.ts'
import { foreignReason, problemReason, reason, type ReasonCode } from './reasons.ts'
import { capped, clip, counted } from './text.ts'

const FALLBACK_CODES = {
  breaking: 'BREAKING_CHANGE',
  dangerous: 'DANGEROUS_CHANGE',
  info: 'NOTABLE_CHANGE',
} as const satisfies Readonly<Record<string, ReasonCode>>

const OBSERVED_CODES: Partial<Record<Decision, ReasonCode>> = {
  BLOCK: 'OBSERVED_BLOCK',
  REQUIRE_APPROVAL: 'OBSERVED_REQUIRE_APPROVAL',
}

/** The message of a finding, and its reach. */
export function findingWords({ occurrence, group, places }: FindingJudgement): string {
  return places === 1 ? occurrence.message : `${group.message} (${counted(places, 'place')})`
}

export function blockingReasons(judgements: readonly FindingJudgement[]): readonly Reason[] {
  return judgements.filter(({ effect }) => !DECISION_CLASSES[effect.decision].safeForAgent).map(findingReason)
}

/** Rulings that hold or block the whole change set. A failed condition is reported as ANALYSIS_INCOMPLETE. */
export function blockingRulings(rulings: readonly ChangeSetRuling[]): readonly Reason[] {
  return rulings
    .filter(({ decision, failure }) => !DECISION_CLASSES[decision].safeForAgent && failure === null)
    .map(rulingReason)
}

export function rulingWarnings(rulings: readonly ChangeSetRuling[]): readonly Reason[] {
  return rulings.flatMap((ruling) => {
    const observed = ruling.observed && OBSERVED_CODES[ruling.observed]
    if (observed) return [reason(observed, `${ruling.ruleId} would have held this up: ${ruling.reason.message}`)]
    return ruling.decision === 'WARN' && ruling.failure === null ? [rulingReason(ruling)] : []
  })
}

function rulingReason({ reason: { code, message } }: ChangeSetRuling): Reason {
  return foreignReason(code, message, 'CHANGE_SET_RULE')
}

/** The warning of a waiver or observing rule replaces that of its finding, which is not listed twice. */
export function findingWarnings(judgements: readonly FindingJudgement[]): readonly Reason[] {
  return judgements.flatMap((judgement) => {
    const { effect } = judgement
    if (effect.waiver) return waiverReasons(judgement, effect.waiver)
    const observed = effect.observed && OBSERVED_CODES[effect.observed.decision]
    if (effect.observed && observed)
      return [reason(observed, `${effect.observed.ruleId} would have held this up: ${findingWords(judgement)}`)]
    return effect.decision === 'WARN' && !effect.degraded ? [findingReason(judgement)] : []
  })
}

/**
 * One for each failed artifact or condition. Empty exactly if everything was judged. An empty submission is not
 * judged; a list that the gateway made itself may be empty.
 */
export function degradedReasons(
  artifacts: readonly JudgedArtifact[],
  rulings: readonly ChangeSetRuling[],
  origin: ChangeSetOrigin | null,
): readonly Reason[] {
  const isDerived = origin?.kind === 'derived'
  if (artifacts.length === 0 && !isDerived) return [reason('ANALYSIS_EMPTY', 'There is no artifact to judge.')]
  const unlisted = isDerived && origin.problem !== null ? [listingReason(origin.problem)] : []
  const failed = artifacts.flatMap(({ analysis, unresolved }) =>
    analysis.ok ? unresolvedReasons(analysis.id, unresolved) : [problemReason(analysis.id, analysis.problem)],
  )
  const conditions = new Map<string, Reason>()
  for (const { effect } of artifacts.flatMap(({ judgements }) => judgements)) {
    if (effect.degraded)
      conditions.set(effect.degraded.message, reason('POLICY_CONDITION_FAILED', effect.degraded.message))
  }
  for (const { failure } of rulings) {
    if (failure !== null) conditions.set(failure, reason('POLICY_CONDITION_FAILED', failure))
  }
  return capReasons([...unlisted, ...failed, ...conditions.values()], ENVELOPE_BOUNDS.degradedReasons)
}

/** One a reference, whichever sides hold it and however often. */
export function unresolvedReasons(artifact: string, unresolved: readonly UnresolvedReference[]): readonly Reason[] {
  const byReference = Map.groupBy(unresolved, ({ reference }) => reference)
  return [...byReference].map(([reference, places]) => {
    const sides = [...new Set(places.map(({ side }) => side))].sort()
    const [first] = places
    const message =
      `${artifact}: the ${sides.join(' and the ')} ${sides.length === 1 ? 'refers' : 'refer'} to ` +
      `${JSON.stringify(clip(reference, 300))} at ${clip(first?.location || '/', 300)}, and nothing of that name was handed in: ` +
      'what it stands for was not compared. Hand it in with the contract, or correct the reference.'
    return reason('REFERENCE_UNRESOLVED', message)
  })
}

function listingReason({ code, message }: Problem): Reason {
  return foreignReason(code, message, 'DERIVATION_INCOMPLETE')
}

export function capReasons(reasons: readonly Reason[], max: number = ENVELOPE_BOUNDS.reasons): readonly Reason[] {
  return capped(reasons, max, (count) =>
    reason('REASONS_TRUNCATED', `${counted(count, 'further reason')} not listed here.`),
  )
}

function findingReason(judgement: FindingJudgement): Reason {
  const { effect, group } = judgement
  const words = findingWords(judgement)
  const own = effect.reason
  return own
    ? foreignReason(own.code, `${own.message}: ${words}`, FALLBACK_CODES[group.level])
    : foreignReason(group.code, words, FALLBACK_CODES[group.level])
}

function waiverReasons(judgement: FindingJudgement, waiver: NonNullable<PolicyEffect['waiver']>): readonly Reason[] {
  const words = findingWords(judgement)
  const until = `waiver ${waiver.id} of ${waiver.owner}, expires ${waiver.expires}`
  if (waiver.standing === 'expired') return [reason('WAIVER_EXPIRED', `${until}: no longer covers ${words}`)]
  const waived = reason('WAIVED_FINDING', `${words} (${until}: ${waiver.reason})`)
  return waiver.standing === 'in_force' ? [waived] : [waived, reason('WAIVER_EXPIRES_SOON', until)]
}
