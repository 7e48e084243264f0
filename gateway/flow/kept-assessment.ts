/** What a logged decision was about, analysed again from its stored input, for people who look at it. It decides nothing. */
import { judgeChangeSet, ok, type Artifact, type JudgedChangeSet, type Result } from '../../engine/internal.ts'
import { declaredConsumers } from '../consumers/known.ts'
import type { StoredDecision } from '../store/decisions.ts'
import type { Assessment, Flow } from './flow.ts'
import { keptChangeSet, type Replaying } from './replay.ts'
import type { FlowSettings } from './settings.ts'

export interface KeptAssessment extends Assessment {
  readonly artifacts: readonly Artifact[]
  /** Which policy rule decided on which finding, and whom the change reaches. */
  readonly judged: JudgedChangeSet
}

interface KeptAssessmentDeps {
  readonly settings: FlowSettings
  readonly flow: Pick<Flow, 'analyze'>
  readonly store: Replaying['store']
}

/** Under the policy in force now, or the reason why there is none. */
export async function keptAssessment(
  row: Pick<StoredDecision, 'decisionId' | 'inputFingerprint'>,
  { settings, flow, store }: KeptAssessmentDeps,
): Promise<Result<KeptAssessment, string>> {
  const found = await keptChangeSet(row.decisionId, store)
  if (!found.ok) return found
  const { kept, artifacts } = found.value
  const { context, scope, route } = kept
  const unreadable = kept.failed.filter(({ id }) => !artifacts.some((artifact) => artifact.id === id))
  const assessment = await flow.analyze({ artifacts, unreadable, context, scope, route })
  if (assessment.verdict.input_fingerprint !== row.inputFingerprint)
    return { ok: false, problem: 'the stored input does not match the hash of the input in the ledger' }
  const judged = judgeChangeSet(assessment.analyses, {
    policy: settings.policy,
    context,
    scope,
    route,
    now: kept.now,
    consumers: declaredConsumers(settings.config),
  })
  return ok({ ...assessment, artifacts, judged })
}
