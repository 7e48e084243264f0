/** Merges that the gateway holds on the wire: each request for approval becomes one task, which shows it at the head commit. */
import { sha256Hex } from '../runtime/hash.ts'
import type { NotePendingCall } from '../enforce/pending-calls.ts'
import { type ScmSettings, hasCredential } from '../scm/settings.ts'
import { isHubUrl } from '../store/settings.ts'
import type { StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { MergeTask } from './task.ts'

interface HeldMergesDeps {
  readonly settings: () => { readonly config: { readonly scm: ScmSettings; readonly store: { readonly url?: string } } }
  readonly store: StorePart<'webhooks.accept'>
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Agents repeat a pending call: so many requests are remembered, that only the first of each is written. */
const REMEMBERED = 1000

/** Puts held merges in the queue of checks, once for each request. */
export function noteHeldMerges({ settings, store, logger, now }: HeldMergesDeps): NotePendingCall {
  const noted = new Set<string>()
  return async ({ tenant, resource: { operation, place }, envelope, approvalId }) => {
    const { repository, pull_request: pullRequest = null } = place ?? {}
    // Only of a repository whose control the tenant has proven does the gateway know which commit it judged.
    const derivation = envelope.derivation ?? null
    const { platform, head_sha: commit } = derivation ?? {}
    if (operation !== 'merge' || !repository || platform === undefined || commit === undefined) return
    const { config } = settings()
    // A sidecar has no credential, and the queue of its hub takes no tasks from it.
    if (isHubUrl(config.store.url) || !hasCredential(config.scm, platform) || noted.has(approvalId)) return
    if (noted.size >= REMEMBERED) noted.clear()
    noted.add(approvalId)
    const task: MergeTask = { kind: 'held_merge', repository, commit, pullRequest, tenant, approvalId }
    try {
      // Loaded with the first held merge.
      const { taskSubject } = await import('./task.ts')
      await store.webhooks.accept({
        platform,
        deliveryId: `held:${approvalId}`,
        digest: sha256Hex(`held:${approvalId}`),
        subject: taskSubject(task),
        task: JSON.stringify(task),
        receivedAt: now(),
      })
    } catch (error) {
      noted.delete(approvalId)
      logger.warn(
        { event: 'webhook.report_failed', err: error, approval_id: approvalId },
        'a held merge could not be put in the queue of checks',
      )
    }
  }
}
