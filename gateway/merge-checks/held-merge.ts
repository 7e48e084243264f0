/** Shows at the head commit that a merge waits for an approval, and what was decided. The request is the one that the call waits for. */
import { approvalState } from '../approvals/request.ts'
import type { ScmAccess } from '../scm/access.ts'
import { bindingOf } from '../scm/bindings.ts'
import type { PlatformId } from '../scm/platform.ts'
import type { ScmConfig } from '../scm/settings.ts'
import type { AddressConfig } from '../settings/public-address.ts'
import type { StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { heldMergeReport, requestAddress } from './report.ts'
import { keepAndShow, type ShowDeps } from './shown-check.ts'
import { taskSubject, type MergeTask } from './task.ts'

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
