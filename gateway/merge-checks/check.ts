/**
 * Carries out one task. It derives the change set with a proven binding and decides about the merge. The decision is recorded with
 * its commit and without an audience, and shown at the commit. The platform is asked for the state of now, whatever the delivery said.
 */
import { randomUUID } from 'node:crypto'
import type { DecisionContext } from '../../engine/internal.ts'
import { GatewayError } from '../errors/errors.ts'
import type { Authorization, Flow } from '../flow/flow.ts'
import type { Monitoring } from '../monitoring/monitoring.ts'
import type { ScmAccess, ScmAddress } from '../scm/access.ts'
import { bindingOf, provenAt } from '../scm/bindings.ts'
import type { CommitReport } from '../scm/commit-report.ts'
import { derivedCompleteness, deriveChangeSet, type DerivedChangeSet } from '../scm/derivation.ts'
import { derivationTerms } from '../scm/selector.ts'
import type { PlatformId, ScmClient } from '../scm/platform.ts'
import { ScmError } from '../scm/scm-error.ts'
import type { ScmConfig } from '../scm/settings.ts'
import type { AddressConfig } from '../settings/public-address.ts'
import type { BindingRow } from '../store/bindings.ts'
import type { StorePart } from '../store/store.ts'
import type { MergeCheck } from '../store/webhooks.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { attestedDecisions, reconciliationOf, type AttestedDecision, type JudgedCommits } from './attested.ts'
import { showHeldMerge, keepAndShow, publishStrictest, storedReport } from './shown-check.ts'
import { decisionReport, expiredReport, pendingReport, undecidedReport } from './report.ts'
import { heldSubject, isTask, taskSubject, type MergeTask } from './task.ts'

export interface CheckDeps {
  readonly settings: () => { readonly config: ScmConfig & AddressConfig }
  readonly flow: Flow
  readonly scm: ScmAccess
  readonly monitoring: Pick<Monitoring, 'isWired'>
  readonly store: StorePart<
    | 'approvals.byId'
    | 'bindings.list'
    | 'decisions.list'
    | 'inputs.byDecision'
    | 'receipts.supersede'
    | 'webhooks.checksAt'
    | 'webhooks.removeChecks'
    | 'webhooks.saveCheck'
  >
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Reused decisions that rest on the receipt are dropped. */
  readonly receiptChanged: (decisionId: string) => void
}

/** @throws ScmError or GatewayError; the task can be carried out again */
export async function carryOut(platform: PlatformId, task: MergeTask, deps: CheckDeps): Promise<void> {
  switch (task.kind) {
    case 'pull_request':
    case 'merge_group':
      return judgeTask(platform, task, false, deps)
    case 'rerun':
      return rerun(platform, task, deps)
    case 'closed':
      return closeMerge(platform, task, deps)
    case 'held_merge':
      return showHeldMerge(platform, task, deps)
    case 'approval_expired':
      return expire(platform, task, deps)
  }
}

type JudgedTask = Extract<MergeTask, { readonly kind: 'pull_request' | 'merge_group' }>

/** @param isRerun what is shown is not updated but shown anew */
async function judgeTask(platform: PlatformId, task: JudgedTask, isRerun: boolean, deps: CheckDeps): Promise<void> {
  const { store, scm, settings, metrics, logger } = deps
  const { checks } = settings().config.scm
  const binding = await bindingOf(store, checks.tenant, task.repository, platform)
  if (binding === null) {
    metrics.count('preflight_merge_checks_total', { platform, result: 'unbound' })
    logger.warn(
      { event: 'webhook.unbound', platform, repository: task.repository, tenant: checks.tenant },
      'a delivery about a repository without a proven binding is dropped',
    )
    return
  }
  const { repository } = binding
  const commits = await scm.use({ platform, repository }, null, (client) =>
    commitsOf(task, checks.tenant, repository, client),
  )
  const place: CheckPlace = { platform, task, commits, isRerun }
  await showCheck(place, { decisionId: null, approvalId: null, report: pendingReport(checks.name) }, deps)
  const shownPlace = { ...place, isRerun: false }
  const result = await orExplained(decideCheck(place, binding, deps), shownPlace, deps)
  await showCheck(shownPlace, result, deps)
  metrics.count('preflight_merge_checks_total', { platform, result: result.report.state })
}

/** A person who looks at the commit reads why nothing is decided yet; the queue tries again. */
async function orExplained(deciding: Promise<CheckResult>, place: CheckPlace, deps: CheckDeps): Promise<CheckResult> {
  try {
    return await deciding
  } catch (error) {
    const { name } = deps.settings().config.scm.checks
    const report = undecidedReport(name, `${publicWords(error).replace(/\.$/, '')}. It is tried again.`)
    try {
      await showCheck(place, { decisionId: null, approvalId: null, report }, deps)
    } catch (unshown) {
      deps.logger.warn({ event: 'webhook.report_failed', err: unshown }, 'a report could not be shown at its commit')
    }
    throw error
  }
}

/** What may be shown to anybody who reads the repository. */
function publicWords(error: unknown): string {
  return error instanceof GatewayError || error instanceof ScmError ? error.message : 'The gateway failed.'
}

interface CheckPlace {
  readonly platform: PlatformId
  readonly task: JudgedTask
  readonly commits: Commits
  readonly isRerun: boolean
}

interface Commits extends JudgedCommits {
  /** Branch that is merged; null: a merge queue group. */
  readonly from: string | null
  readonly trialMerge: string | null
}

async function commitsOf(task: JudgedTask, tenant: string, repository: string, client: ScmClient): Promise<Commits> {
  if (task.kind === 'merge_group') {
    const { branch, head } = task
    const base = task.base ?? (await trainBase(client, head, branch))
    return { tenant, repository, pullRequest: null, branch, base, head, from: null, trialMerge: null }
  }
  const request = await client.mergeRequest(task.pullRequest)
  const { base: branch, head: from, headSha: head, trialMerge } = request
  const base = await client.branchTip(branch)
  return { tenant, repository, pullRequest: task.pullRequest, branch, base, head, from, trialMerge }
}

/**
 * What a merge train merges into: the commit before it on the train. Without a merge commit it is the tip of the branch, so
 * that nothing of the train is left out.
 */
async function trainBase(client: ScmClient, head: string, branch: string): Promise<string> {
  const [first, ...others] = await client.parentsOf(head)
  return first !== undefined && others.length > 0 ? first : client.branchTip(branch)
}

interface CheckResult {
  readonly decisionId: string | null
  readonly approvalId: string | null
  readonly report: CommitReport
}

async function decideCheck(place: CheckPlace, binding: BindingRow, deps: CheckDeps): Promise<CheckResult> {
  const { commits, platform } = place
  const { config } = deps.settings()
  const { name } = config.scm.checks
  const terms = derivationTerms(config, deps.flow)
  const { base, head, trialMerge, repository, pullRequest } = commits
  // A merge queue has made the merge itself: its head is what the branch will be.
  const kind = pullRequest === null ? 'replace' : 'merge'
  const change = await deps.scm.use({ platform, repository }, null, (client) =>
    deriveChangeSet(client, { base, head, kind, trialMerge }, terms),
  )
  const digests = await deps.flow.digests(change.artifacts)
  const attested =
    change.problem === null && change.unreadable.length === 0
      ? await attestedDecisions(commits, change, { ...digests, store: deps.store, now: deps.now() })
      : []
  const authorization = await authorizedMerge(place, { binding, change, attested }, deps)
  if (authorization === null)
    return {
      decisionId: null,
      approvalId: null,
      report: undecidedReport(
        name,
        'the decision asks for monitoring, and no telemetry sink is wired (monitoring.sinks)',
      ),
    }
  await supersedeDiverged(attested, commits.tenant, authorization, deps)
  const { envelope, approvalId: id } = authorization
  const isHeld = envelope.decision === 'REQUIRE_APPROVAL'
  const approval = isHeld && id !== null ? await deps.store.approvals.byId(commits.tenant, id) : null
  const report = decisionReport({ name, authorization, change, approval, config })
  return { decisionId: envelope.decision_id, approvalId: report.state === 'held' ? id : null, report }
}

interface JudgedMerge {
  readonly binding: BindingRow
  readonly change: DerivedChangeSet
  readonly attested: readonly AttestedDecision[]
}

class Unwired extends Error {}

/** Null: the decision would require monitoring, and nothing takes telemetry (docs/reference/telemetry.md#monitoring-windows). */
async function authorizedMerge(
  { commits }: CheckPlace,
  { binding, change, attested }: JudgedMerge,
  deps: CheckDeps,
): Promise<Authorization | null> {
  const { artifacts, unreadable } = change
  const reconciliation = reconciliationOf(attested)
  const completeness = {
    ...derivedCompleteness(change, provenAt(binding)),
    ...(reconciliation !== null && { reconciliation }),
  }
  try {
    const authorization = await deps.flow.authorize({
      artifacts,
      unreadable,
      completeness,
      context: mergeContext(commits, deps.settings().config.scm.checks.environment ?? null),
      scope: null,
      route: null,
      caller: { tenant: commits.tenant, audience: null },
      commitSha: commits.head,
      correlationId: randomUUID(),
      decisionSpecVersion: '2.0',
      previousReceipt: null,
      idempotency: null,
      response: null,
      beforeRecord({ envelope }) {
        if (envelope.execution_action === 'CONTINUE_WITH_MONITORING' && !deps.monitoring.isWired()) throw new Unwired()
      },
    })
    if (reconciliation !== null)
      deps.metrics.count('preflight_reconciliations_total', { result: reconciliation.result.toLowerCase() })
    return authorization
  } catch (error) {
    if (error instanceof Unwired) return null
    throw error
  }
}

function mergeContext(
  { repository, branch, pullRequest, base, head }: Commits,
  environment: string | null,
): DecisionContext {
  return {
    operation: 'merge',
    environment,
    repository,
    branch,
    pull_request: pullRequest,
    base,
    head,
    target_id: null,
    target_uri: null,
  }
}

/** The receipt of an attestation that does not hold authorizes nothing any more. */
async function supersedeDiverged(
  attested: readonly AttestedDecision[],
  tenant: string,
  { envelope }: Authorization,
  { store, logger, now, receiptChanged }: CheckDeps,
): Promise<void> {
  for (const { decisionId, difference } of attested) {
    if (difference === null) continue
    await store.receipts.supersede(tenant, decisionId, {
      reason: 'the attested change set diverged',
      by: envelope.decision_id,
      at: now(),
    })
    receiptChanged(decisionId)
    logger.warn(
      { event: 'webhook.diverged', decision_id: decisionId, superseded_by: envelope.decision_id, reason: difference },
      'a caller attested another change set than the platform has; its receipt is superseded',
    )
  }
}

async function showCheck(place: CheckPlace, result: CheckResult, deps: CheckDeps): Promise<void> {
  const { platform, task, commits, isRerun } = place
  const check = {
    platform,
    repository: commits.repository.toLowerCase(),
    commit: commits.head,
    subject: taskSubject(task),
    tenant: commits.tenant,
    task: JSON.stringify(task),
    decisionId: result.decisionId,
    approvalId: result.approvalId,
    report: JSON.stringify(result.report),
    at: deps.now(),
  }
  await keepAndShow(check, { repository: commits.repository, page: task.page, isRerun }, deps)
}

async function rerun(
  platform: PlatformId,
  { repository, commit, pullRequests, page }: Extract<MergeTask, { readonly kind: 'rerun' }>,
  deps: CheckDeps,
): Promise<void> {
  const known = (await deps.store.webhooks.checksAt(platform, repository.toLowerCase(), commit)).flatMap(({ task }) => {
    const read: unknown = JSON.parse(task)
    return isTask(platform, read) && (read.kind === 'pull_request' || read.kind === 'merge_group') ? [read] : []
  })
  const subjects = new Set(known.map(taskSubject))
  const named = pullRequests
    .map((pullRequest): JudgedTask => ({ kind: 'pull_request', repository, pullRequest, page }))
    .filter((task) => !subjects.has(taskSubject(task)))
  for (const task of [...known, ...named]) await judgeTask(platform, task, true, deps)
}

/** What a closed pull request may do does not count any more for others with the same head. */
async function closeMerge(
  platform: PlatformId,
  task: Extract<MergeTask, { readonly kind: 'closed' }>,
  deps: CheckDeps,
): Promise<void> {
  const { scm, store, settings } = deps
  const repository = task.repository.toLowerCase()
  const binding = await bindingOf(store, settings().config.scm.checks.tenant, task.repository, platform)
  const isOpen =
    binding !== null &&
    (
      await scm.use({ platform, repository: binding.repository }, null, (client) =>
        client.mergeRequest(task.pullRequest),
      )
    ).isOpen
  // Reopened: deliveries come in any order.
  if (isOpen) return judgeTask(platform, { page: '', ...task, kind: 'pull_request' }, false, deps)
  const subjects = [taskSubject(task), heldSubject(repository, task.pullRequest)]
  const removed = await Promise.all(subjects.map((subject) => store.webhooks.removeChecks(platform, subject)))
  const commits = new Set(removed.flat())
  if (binding === null) return
  for (const commit of commits) {
    const [first] = await store.webhooks.checksAt(platform, repository, commit)
    if (first !== undefined) await republish({ platform, repository: binding.repository }, first, deps)
  }
}

async function republish({ platform, repository }: ScmAddress, check: MergeCheck, deps: CheckDeps): Promise<void> {
  const task: unknown = JSON.parse(check.task)
  const page = isTask(platform, task) && 'page' in task ? task.page : ''
  await publishStrictest(check, { repository, page, known: check.shown }, deps)
}

async function expire(
  platform: PlatformId,
  { repository, commit, subject }: Extract<MergeTask, { readonly kind: 'approval_expired' }>,
  deps: CheckDeps,
): Promise<void> {
  const { store } = deps
  const checks = await store.webhooks.checksAt(platform, repository, commit)
  const check = checks.find((one) => one.subject === subject)
  const binding = check === undefined ? null : await bindingOf(store, check.tenant, repository, platform)
  if (check === undefined || binding === null) return
  const report = storedReport(check.report)
  // Carried out twice, it says so once.
  if (report.title.startsWith('Approval expired')) return
  const expired = { ...check, report: JSON.stringify(expiredReport(report)), at: deps.now() }
  await store.webhooks.saveCheck(expired)
  await republish({ platform, repository: binding.repository }, expired, deps)
}
