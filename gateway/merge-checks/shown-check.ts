/**
 * Keeps what is to be shown at a commit, and shows the strictest of it. A merge that waits for an approval is shown too, with what
 * was decided.
 */
import { isJsonObject } from '../json/strict-json.ts'
import type { ScmAccess } from '../scm/access.ts'
import type { CommitReport } from '../scm/commit-report.ts'
import type { StorePart } from '../store/store.ts'
import type { MergeCheck } from '../store/webhooks.ts'
import { strictestReport, heldMergeReport, requestAddress } from './report.ts'
import { approvalState } from '../approvals/request.ts'
import { bindingOf } from '../scm/bindings.ts'
import type { PlatformId } from '../scm/platform.ts'
import type { ScmConfig } from '../scm/settings.ts'
import type { AddressConfig } from '../settings/public-address.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { taskSubject, type MergeTask } from './task.ts'

interface ShowDeps {
  readonly scm: Pick<ScmAccess, 'publish'>
  readonly store: StorePart<'webhooks.checksAt' | 'webhooks.saveCheck'>
}

/** What a check run is updated by; null: there is none yet, or it is to be shown anew. */
type NewCheck = Omit<MergeCheck, 'shown'>

interface CheckPage {
  /** As the binding spells it. */
  readonly repository: string
  /** Where a status links to when its report has no address. */
  readonly page: string
  /** The check run is shown anew. */
  readonly isRerun: boolean
}

/** Durable first: whatever happens to the platform's answer, a later try shows the same. */
export async function keepAndShow(
  check: NewCheck,
  { repository, page, isRerun }: CheckPage,
  deps: ShowDeps,
): Promise<void> {
  const { webhooks } = deps.store
  const earlier = await webhooks.checksAt(check.platform, check.repository, check.commit)
  const known = isRerun ? null : (earlier.find(({ shown }) => shown !== null)?.shown ?? null)
  await webhooks.saveCheck({ ...check, shown: known })
  const shown = await publishStrictest(check, { repository, page, known }, deps)
  if (shown !== known) await webhooks.saveCheck({ ...check, shown })
}

interface CheckPublication {
  readonly repository: string
  readonly page: string
  readonly known: string | null
}

/** Shows the strictest of the checks that are stored for the commit. */
export async function publishStrictest(
  { platform, repository, commit }: Pick<MergeCheck, 'platform' | 'repository' | 'commit'>,
  { repository: name, page, known }: CheckPublication,
  { store, scm }: ShowDeps,
): Promise<string | null> {
  const checks = await store.webhooks.checksAt(platform, repository, commit)
  const report = strictestReport(checks.map(({ report: text }) => storedReport(text)))
  if (report === null) return known
  return scm.publish(
    { platform, repository: name },
    { commit, page, pipeline: pipelineOf(checks), shown: known },
    report,
  )
}

/** The pipeline of GitLab that waits for the status; null: the platform finds it by the commit. */
function pipelineOf(checks: readonly MergeCheck[]): string | null {
  const tasks = checks.map(({ task }): unknown => JSON.parse(task))
  const pipelines = tasks.map((task) => (isJsonObject(task) ? task['pipeline'] : undefined))
  return pipelines.find((pipeline) => typeof pipeline === 'string') ?? null
}

export function storedReport(text: string): CommitReport {
  const report: unknown = JSON.parse(text)
  if (!isReport(report)) throw new TypeError('a stored report is none')
  return report
}

const STATES: ReadonlySet<unknown> = new Set<CommitReport['state']>(['pending', 'held', 'success', 'failure'])

/** What another version wrote is not shown at a commit. */
function isReport(value: unknown): value is CommitReport {
  if (!isJsonObject(value)) return false
  const { name, state, title, summary, url, annotations } = value
  const isText = [name, title, summary].every((text) => typeof text === 'string')
  return isText && STATES.has(state) && (url === null || typeof url === 'string') && Array.isArray(annotations)
}

interface HeldMergeDeps extends ShowDeps {
  readonly settings: () => { readonly config: ScmConfig & AddressConfig }
  readonly scm: ScmAccess
  readonly store: ShowDeps['store'] & StorePart<'approvals.byId' | 'bindings.list'>
  readonly metrics: Metrics
  readonly logger: Logger
  readonly now: () => number
}

type HeldMerge = Extract<MergeTask, { readonly kind: 'held_merge' }>

/** Shows the state of the request now. It is carried out again when the request is decided. */
export async function showHeldMerge(platform: PlatformId, task: HeldMerge, deps: HeldMergeDeps): Promise<void> {
  const { store, settings, metrics, logger, now } = deps
  const { repository, commit, tenant, approvalId } = task
  const { config } = settings()
  const binding = await bindingOf(store, tenant, repository, platform)
  const row = await store.approvals.byId(tenant, approvalId)
  if (binding === null || row === null) {
    metrics.count('preflight_merge_checks_total', { platform, result: 'unbound' })
    logger.warn(
      { event: 'webhook.unbound', platform, repository, tenant },
      'a held merge in a repository without a proven binding is not shown',
    )
    return
  }
  const report = heldMergeReport(config.scm.checks.name, row, config, now())
  const check = {
    platform,
    repository: repository.toLowerCase(),
    commit,
    subject: taskSubject(task),
    tenant,
    task: JSON.stringify(task),
    decisionId: row.decisionId,
    approvalId: approvalState(row, now()) === 'pending' ? approvalId : null,
    report: JSON.stringify(report),
    at: now(),
  }
  const page = requestAddress(approvalId, config) ?? ''
  await keepAndShow(check, { repository: binding.repository, page, isRerun: false }, deps)
  metrics.count('preflight_merge_checks_total', { platform, result: report.state })
}
