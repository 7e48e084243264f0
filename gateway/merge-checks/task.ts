/** What a delivery of a platform asks for, in the form in which it waits in the queue. */
import { isJsonObject } from '../json/strict-json.ts'
import { isRepositoryName } from '../scm/access.ts'
import { isCommitId } from '../scm/members.ts'
import type { PlatformId } from '../scm/platform.ts'

/** The state of the platform is read when a task is carried out: a delivery only names what to look at. */
export type MergeTask =
  /** Judge what merging the pull request would do now. */
  | { readonly kind: 'pull_request'; readonly repository: string; readonly pullRequest: string; readonly page: string }
  /** Judge what a merge queue is about to put on `branch`. */
  | {
      readonly kind: 'merge_group'
      readonly repository: string
      readonly branch: string
      /** Null: the platform does not report it. */
      readonly base: string | null
      readonly head: string
      readonly page: string
      /** The pipeline of GitLab that waits for the status. */
      readonly pipeline?: string
    }
  /** Judge again whatever is shown at the commit. */
  | {
      readonly kind: 'rerun'
      readonly repository: string
      readonly commit: string
      readonly pullRequests: readonly string[]
      readonly page: string
    }
  /** The pull request was merged or closed. Tasks of older versions name no page. */
  | { readonly kind: 'closed'; readonly repository: string; readonly pullRequest: string; readonly page?: string }
  /** Show that a merge waits for an approval, or what was decided. */
  | {
      readonly kind: 'held_merge'
      readonly repository: string
      readonly commit: string
      readonly pullRequest: string | null
      readonly tenant: string
      readonly approvalId: string
    }
  /** Nobody granted or denied the request for approval in time. */
  | {
      readonly kind: 'approval_expired'
      readonly repository: string
      readonly commit: string
      readonly subject: string
    }

/** The pull request or commit that a task is about; the store carries out one task about it at a time. */
export function taskSubject(task: MergeTask): string {
  if (task.kind === 'approval_expired') return task.subject
  const repository = task.repository.toLowerCase()
  if (task.kind === 'held_merge') return heldSubject(repository, task.pullRequest ?? task.commit)
  if (task.kind === 'merge_group') return `${repository}@${task.head}`
  return task.kind === 'rerun' ? `${repository}@${task.commit}` : `${repository}#${task.pullRequest}`
}

/** Beside the pull request: what a webhook shows about it is a check of its own. */
export function heldSubject(repository: string, of: string): string {
  return `${repository.toLowerCase()}#${of}/held`
}

/** Members from a platform, or from the store: true for a task that can be carried out at that platform. */
export function isTask(platform: PlatformId, value: unknown): value is MergeTask {
  if (!isJsonObject(value)) return false
  const { kind, repository, pullRequest, pullRequests, page = '', base, head, commit, branch, subject } = value
  const { tenant, approvalId, pipeline } = value
  if (typeof repository !== 'string' || !isRepositoryName({ platform, repository })) return false
  if (typeof page !== 'string' || (page !== '' && !/^https?:\/\//.test(page))) return false
  switch (kind) {
    case 'pull_request':
    case 'closed':
      return isNumberText(pullRequest)
    case 'merge_group':
      if (pipeline !== undefined && !isNumberText(pipeline)) return false
      return (base === null || isCommit(base)) && isCommit(head) && typeof branch === 'string' && branch !== ''
    case 'rerun':
      return isCommit(commit) && Array.isArray(pullRequests) && pullRequests.every(isNumberText)
    case 'held_merge':
      return (
        isCommit(commit) &&
        typeof tenant === 'string' &&
        typeof approvalId === 'string' &&
        (pullRequest === null || isNumberText(pullRequest))
      )
    case 'approval_expired':
      return isCommit(commit) && typeof subject === 'string'
    default:
      return false
  }
}

function isNumberText(value: unknown): value is string {
  return typeof value === 'string' && /^[1-9]\d{0,17}$/.test(value)
}

function isCommit(value: unknown): value is string {
  return typeof value === 'string' && isCommitId(value)
}
