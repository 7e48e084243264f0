/**
 * Findings + policy + context → verdict. Pure and total: every failure ends in a reason and a decision that is not
 * ALLOW.
 */
import { FUNCTION, NUMBER, OBJECT, OBJECTS, requireArgument, requireMembers, TEXT } from '../common/argument.ts'
import type { ArtifactAnalysis } from '../formats/compare.ts'
import type { ChangeSetDigests } from '../model/change-set.ts'
import { countFindings, type FindingGroup } from '../model/finding.ts'
import { digestJson, type Digest, type Sha256 } from '../common/hash.ts'
import type { Approvers, ChangeSetRuling, CompiledPolicy, PolicyOccasion, RequiredApproval } from '../policy/policy.ts'
import {
  acceptedBreak,
  approvalEvidence,
  approvedException,
  type ApprovalFacts,
  type ApprovalGranted,
} from './approval.ts'
import { divergence, type CompletenessFacts } from './completeness.ts'
import { DECISION_CLASSES, stricterDecision, type Decision, type DecisionContext } from '../model/decision.ts'
import type { PolicyPinStatus, Reason } from './envelope-members.ts'
import { evidenceRows } from './evidence.ts'
import {
  judgeChangeSet,
  strictestFirst,
  strictestOf,
  type FindingJudgement,
  type JudgedArtifact,
  type JudgingTerms,
} from './judgement.ts'
import { nextSteps } from './next-steps.ts'
import { blastRadius, mergePatterns } from './blast-radius.ts'
import {
  blockingReasons,
  blockingRulings,
  capReasons,
  degradedReasons,
  findingWarnings,
  rulingWarnings,
  unresolvedReasons,
} from './reason-lists.ts'
import { problemReason, reason } from './reasons.ts'
import { remediationTransaction } from './remediation.ts'
import { humanReport, summaryLine, type ReportFacts } from './report.ts'
import { riskFactors, riskScore, SCORER_VERSION } from './risk.ts'
import { clip } from './text.ts'
import type { ArtifactVerdict, SeveritySummary, Verdict } from './verdict.ts'

export interface DecideInput extends ChangeSetDigests, JudgingTerms {
  /** One row for each artifact of the change set. A failed one makes the analysis incomplete. */
  readonly analyses: readonly ArtifactAnalysis[]
  /** JCS of `[id, level]` of every rule (docs/reference/hashes.md#ruleset_hash). */
  readonly rulesetHash: Digest
  /** policy_hash that the operator expects; null when none is pinned. */
  readonly policyPin: string | null
  readonly sha256: Sha256
  /** The approval state of exactly this change set and context, used under REQUIRE_APPROVAL only. Absent: none. */
  readonly approval?: ApprovalFacts
  /**
   * The source of the change set. Absent: it was submitted. A list that the gateway could not get completely makes the
   * analysis incomplete.
   */
  readonly completeness?: CompletenessFacts
}

const INPUT_FORMS = {
  analyses: OBJECTS,
  policy: OBJECT,
  context: OBJECT,
  inputFingerprint: TEXT,
  artifactDigest: TEXT,
  submittedSetDigest: TEXT,
  rulesetHash: TEXT,
  sha256: FUNCTION,
  now: NUMBER,
} satisfies Partial<Record<keyof DecideInput, unknown>>

/** The same input gives the same verdict, byte for byte, whatever the order of the artifacts. */
export function decide(input: DecideInput): Verdict {
  requireArgument('decide', 'input', input, OBJECT)
  requireMembers('decide', 'input', input, INPUT_FORMS)
  const { policy, context } = input
  const conclusion = conclusionOf(input)
  const { artifacts, rulings, occasion, reach, judgements, pin, degraded, approval, grant, decision } = conclusion
  const approvers = conclusion.called === 'REQUIRE_APPROVAL' ? requiredApprovers(judgements, rulings) : []
  const reasons = reasonsOf({ ...conclusion, operation: context.operation })
  const groups = artifacts.flatMap((artifact) => artifact.groups)
  const counts = severitySummary(groups)
  const quality = evidenceQuality(artifacts, degraded)
  const { omitted, ...patterns } = mergePatterns(artifacts.map((artifact) => artifact.patterns))
  const leading = reasons.blocking[0] ?? reasons.warnings[0] ?? degraded[0] ?? null
  const steps = stepsFor(conclusion, {
    leading,
    approvers,
    patterns: patterns.patterns,
    operation: context.operation,
  })
  const report: ReportFacts = { decision, counts, leading, judgements, degraded, nextActions: steps.next_actions }
  const factors = riskFactors({ judgements, patterns: patterns.patterns, evidenceQuality: quality })
  const fingerprint = verdictFingerprint(input, occasion, decision, groups)
  return {
    context,
    decision,
    execution_action: DECISION_CLASSES[decision].action,
    safe_for_agent: DECISION_CLASSES[decision].safeForAgent,
    observed_decision: observedDecision(judgements, rulings, decision),
    summary: summaryLine(report),
    blocking_reasons: reasons.blocking,
    warnings: reasons.warnings,
    degraded_reasons: degraded,
    analysis_complete: degraded.length === 0,
    ...steps,
    remediation_transaction:
      decision === 'BLOCK' ? remediationTransaction({ artifacts, judgements, fingerprint }) : null,
    evidence: evidenceRows(policy, artifacts, judgements, {
      rulings,
      omittedPatterns: omitted,
      approval: approval && approvalEvidence(approval),
    }),
    evidence_quality: quality,
    risk_score: riskScore(factors),
    risk_factors: factors,
    breaking_changes: counts.breaking,
    requires_migration: counts.breaking > 0,
    severity_summary: counts,
    ...patterns,
    blast_radius: blastRadius(artifacts, input.scope !== null, reach),
    artifacts: artifacts.map((artifact) => artifactVerdict(artifact, policy)),
    groups,
    human_report: humanReport(report),
    fingerprint,
    ...inputIdentity(input),
    policy_pin_status: pin,
    fingerprint_binding_expected: policy.expectsFingerprint(context.operation) ? true : null,
    approver_groups: approvers.flatMap(({ groups }) => (groups.length === 0 ? [] : [groups])),
    required_approvals: approvers,
    ttl_seconds: validity(policy, occasion, grant),
  }
}

/** What the verdict was made of. */
function inputIdentity(input: DecideInput) {
  return {
    input_fingerprint: input.inputFingerprint,
    artifact_digest: input.artifactDigest,
    submitted_set_digest: input.submittedSetDigest,
    policy_hash: input.policy.hash,
    ruleset_hash: input.rulesetHash,
    scorer_version: SCORER_VERSION,
  }
}

function stepsFor(
  { decision, degraded, judgements, rulings, approval }: ReturnType<typeof conclusionOf>,
  facts: Pick<Parameters<typeof nextSteps>[0], 'leading' | 'approvers' | 'patterns' | 'operation'>,
): ReturnType<typeof nextSteps> {
  return nextSteps({
    ...facts,
    decision,
    isComplete: degraded.length === 0,
    hasBlockingFindings: judgements.some(({ effect }) => effect.decision === 'BLOCK' && !effect.degraded),
    hasBlockingRulings: rulings.some(({ decision: ruled, failure }) => ruled === 'BLOCK' && failure === null),
    runbook: leadingRunbook(judgements, rulings),
    approvalAddress: approval?.state === 'requested' ? approval.address : null,
  })
}

/** What is decided, and what that rests on. */
function conclusionOf(input: DecideInput) {
  const { policy } = input
  const judged = judgeChangeSet(input.analyses, input)
  const facts = {
    ...judged,
    judgements: strictestFirst(judged.artifacts),
    pin: pinStatus(policy, input.policyPin),
    degraded: degradedReasons(judged.artifacts, judged.rulings, input.completeness?.origin ?? null),
    diverged: divergence(input.completeness),
  }
  const called = combinedDecision({ ...facts, policy })
  const approval = called === 'REQUIRE_APPROVAL' ? (input.approval ?? null) : null
  const grant = approval?.state === 'granted' ? approval : null
  return { ...facts, called, approval, grant, decision: grant ? ('WARN' as const) : called }
}

/** The approvals that the rulings require: of each set of groups the largest number. */
function requiredApprovers(judgements: readonly FindingJudgement[], rulings: readonly ChangeSetRuling[]): Approvers {
  const neededApprovers = [...rulings, ...judgements.map(({ effect }) => effect)].flatMap(({ approvers }) => approvers)
  const largest = new Map<string, RequiredApproval>()
  for (const required of neededApprovers) {
    const groups = required.groups.toSorted().join(' ')
    const known = largest.get(groups)
    if (known === undefined || known.count < required.count) largest.set(groups, required)
  }
  return [...largest.values()]
}

interface DecidingFacts {
  readonly judgements: readonly FindingJudgement[]
  readonly rulings: readonly ChangeSetRuling[]
  readonly degraded: readonly Reason[]
  readonly pin: PolicyPinStatus
  /** What differs from the change set that a caller attested; null: nothing. */
  readonly diverged: string | null
}

function combinedDecision({
  judgements,
  rulings,
  degraded,
  pin,
  diverged,
  policy,
}: DecidingFacts & { policy: CompiledPolicy }): Decision {
  const floor = degraded.length > 0 ? policy.onIncomplete : 'ALLOW'
  const whole = rulings.reduce<Decision>((strictest, { decision }) => stricterDecision(strictest, decision), floor)
  const found = strictestOf(judgements, whole)
  // Neither drift nor divergence blocks, but an ALLOW has no warnings. It becomes a WARN so that they are reported.
  return pin.match === false || diverged !== null ? stricterDecision(found, 'WARN') : found
}

/** A decision ends with its approval, and at the next moment at which the policy result may change. */
function validity(policy: CompiledPolicy, occasion: PolicyOccasion, grant: ApprovalGranted | null): number {
  const { context, now } = occasion
  const ends = [grant?.until ?? null, policy.nextEdge(occasion)].filter((end) => end !== null)
  return Math.max(1, Math.min(policy.ttlSeconds(context.operation), ...ends.map((end) => end - now)))
}

/**
 * The runbook of the deciding ruling: the strictest finding, unless the change set as a whole has a stricter decision.
 */
function leadingRunbook(judgements: readonly FindingJudgement[], rulings: readonly ChangeSetRuling[]): string | null {
  const [finding] = judgements
  const [whole] = rulings
  if (!whole) return finding?.effect.runbook ?? null
  if (finding && stricterDecision(finding.effect.decision, whole.decision) === finding.effect.decision)
    return finding.effect.runbook ?? whole.runbook
  return whole.runbook
}

interface ReasonFacts extends DecidingFacts {
  readonly decision: Decision
  readonly grant: ApprovalGranted | null
  readonly operation: DecisionContext['operation']
}

interface Reasons {
  readonly blocking: readonly Reason[]
  readonly warnings: readonly Reason[]
}

function reasonsOf({ decision, judgements, rulings, degraded, pin, diverged, grant, operation }: ReasonFacts): Reasons {
  const incomplete =
    degraded.length > 0
      ? [reason('ANALYSIS_INCOMPLETE', `Not everything could be judged: ${degraded[0]?.message}`)]
      : []
  const isHeldUp = !DECISION_CLASSES[decision].safeForAgent
  const breaks = operation === 'register' ? brokenBy(judgements) : 0
  const drift = pin.match === false ? [reason('POLICY_PIN_DRIFT', pin.note)] : []
  return {
    blocking: isHeldUp ? capReasons([...blockingRulings(rulings), ...blockingReasons(judgements), ...incomplete]) : [],
    // Approved changes stay visible as warnings.
    warnings: capReasons([
      ...(grant ? [approvedException(grant)] : []),
      ...(grant && breaks > 0 ? [acceptedBreak(grant, breaks)] : []),
      ...drift,
      ...(diverged === null ? [] : [reason('CHANGE_SET_DIVERGED', diverged)]),
      ...(isHeldUp ? [] : incomplete),
      ...(grant ? [...blockingRulings(rulings), ...blockingReasons(judgements)] : []),
      ...rulingWarnings(rulings),
      ...findingWarnings(judgements),
    ]),
  }
}

/** Breaking changes that need an approval. */
function brokenBy(judgements: readonly FindingJudgement[]): number {
  return judgements.filter(({ group, effect }) => group.level === 'breaking' && effect.decision === 'REQUIRE_APPROVAL')
    .length
}

function observedDecision(
  judgements: readonly FindingJudgement[],
  rulings: readonly ChangeSetRuling[],
  decision: Decision,
): Decision {
  const observed = [
    ...judgements.flatMap(({ effect }) => effect.observed?.decision ?? []),
    ...rulings.flatMap((ruling) => ruling.observed ?? []),
  ]
  return observed.reduce(stricterDecision, decision)
}

function pinStatus(policy: CompiledPolicy, pinned: string | null): PolicyPinStatus {
  const match = pinned === null ? null : pinned === policy.hash
  const note =
    match === null
      ? 'No policy is pinned.'
      : match
        ? 'The policy in force is the pinned one.'
        : `The policy in force (${policy.name}, ${policy.hash}) is not the pinned one (${pinned}).`
  return { pinned, current: policy.hash, match, note, scope: 'policy_hash' }
}

function severitySummary(groups: readonly FindingGroup[]): SeveritySummary {
  return {
    breaking: countFindings(groups, 'breaking'),
    dangerous: countFindings(groups, 'dangerous'),
    info: countFindings(groups, 'info'),
  }
}

/**
 * Quality of the inputs: HIGH if both sides of every contract were read, MEDIUM if one side is empty by intent, LOW if
 * something could not be judged.
 */
function evidenceQuality(artifacts: readonly JudgedArtifact[], degraded: readonly Reason[]): 'LOW' | 'MEDIUM' | 'HIGH' {
  if (degraded.length > 0) return 'LOW'
  const isOneSided = artifacts.some(({ analysis }) => {
    if (!analysis.ok) return false
    const { base, head } = analysis.comparison.spec_versions
    return base === null || head === null
  })
  return isOneSided ? 'MEDIUM' : 'HIGH'
}

function artifactVerdict(artifact: JudgedArtifact, policy: CompiledPolicy): ArtifactVerdict {
  const { analysis, groups, judgements, unresolved } = artifact
  const { patterns } = artifact.patterns
  const { id, type } = analysis
  const isWhole = analysis.ok && unresolved.length === 0
  const quality = isWhole ? 'HIGH' : 'LOW'
  const shared = {
    id,
    type,
    risk_score: riskScore(riskFactors({ judgements, patterns, evidenceQuality: quality })),
    breaking_changes: countFindings(groups, 'breaking'),
    patterns,
  }
  if (analysis.ok) {
    const [gap] = unresolvedReasons(id, unresolved)
    const decision = strictestOf(judgements, gap === undefined ? 'ALLOW' : policy.onIncomplete)
    return { ...shared, status: 'analyzed', decision, ...(gap !== undefined && { error: gap }) }
  }
  const { code, message } = problemReason(id, analysis.problem)
  const { line, column } = analysis.problem
  const position = line === undefined ? {} : { line, ...(column !== undefined && { column }) }
  return {
    ...shared,
    status: 'failed',
    decision: policy.onIncomplete,
    error: { code, message: clip(message, 500), ...position },
  }
}

/** For unlisted places the number counts. */
function fingerprintsOf({ id, occurrences, unlisted = 0 }: FindingGroup): readonly string[] {
  const listed = occurrences.map(({ fingerprint }) => fingerprint)
  return unlisted === 0 ? listed : [...listed, `${id} ${unlisted}`]
}

/**
 * Profile `verdict.v1` (docs/reference/hashes.md#fingerprint): everything that the verdict depends on, without clock,
 * ids or store.
 */
function verdictFingerprint(
  input: DecideInput,
  { route, consumers, release }: PolicyOccasion,
  decision: Decision,
  groups: readonly FindingGroup[],
): Digest {
  const findings = groups.flatMap(fingerprintsOf).sort()
  return digestJson(
    {
      profile: 'verdict.v1',
      input_fingerprint: input.inputFingerprint,
      decision,
      findings,
      // The route, the reached consumers and the version step are included only if the policy reads them.
      context: {
        ...input.context,
        ...(input.policy.readsRoute && { route }),
        ...(input.policy.readsConsumers && { consumers: [...consumers] }),
        ...(input.policy.readsRelease && release !== null && { release: { ...release } }),
      },
      policy_hash: input.policy.hash,
      ruleset_hash: input.rulesetHash,
      scorer_version: SCORER_VERSION,
    },
    input.sha256,
  )
}
