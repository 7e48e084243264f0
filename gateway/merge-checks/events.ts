/** Events of the platforms → tasks. Only what names the pull request is read; everything else is asked from the platform. */
import { isJsonObject } from '../json/strict-json.ts'
import { at, optionalTextAt } from '../scm/members.ts'
import type { PlatformId } from '../scm/platform.ts'
import { isTask, type MergeTask } from './task.ts'

type EventReading =
  | { readonly kind: 'task'; readonly task: MergeTask }
  /** The event asks for nothing. */
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly reason: string }

interface PlatformEvent {
  /** X-GitHub-Event, X-Event-Key; GitLab names it in the body. */
  readonly name: string
  readonly body: unknown
  /** Name of the checks that this gateway writes. */
  readonly checkName: string
}

export function readEvent(platform: PlatformId, event: PlatformEvent): EventReading {
  const found = READERS[platform](event)
  if (typeof found === 'string') return { kind: 'ignored', reason: found }
  if (isTask(platform, found)) return { kind: 'task', task: found }
  return { kind: 'unreadable', reason: 'the event has not the members that the platform documents' }
}

/** The members of a task, or why there is none. */
type EventReader = (event: PlatformEvent) => Readonly<Record<string, unknown>> | string

const GITHUB_PULLS: ReadonlySet<string> = new Set(['opened', 'reopened', 'synchronize', 'ready_for_review'])

/** https://docs.github.com/webhooks/webhook-events-and-payloads */
function github({ name, body, checkName }: PlatformEvent): ReturnType<EventReader> {
  const action = optionalTextAt(body, 'action') ?? ''
  const repository = at(body, 'repository', 'full_name')
  const pull = {
    kind: 'pull_request',
    repository,
    pullRequest: integerTextAt(body, 'pull_request', 'number'),
    page: at(body, 'pull_request', 'html_url'),
  }
  const home = at(body, 'repository', 'html_url')
  const ignored = `${name}${action === '' ? '' : `.${action}`} asks for nothing`
  if (name === 'pull_request') {
    if (action === 'closed') return { ...pull, kind: 'closed' }
    const isRetargeted = action === 'edited' && isJsonObject(at(body, 'changes', 'base'))
    return GITHUB_PULLS.has(action) || isRetargeted ? pull : ignored
  }
  if (name === 'pull_request_review')
    return action === 'submitted' && at(body, 'review', 'state') === 'approved' ? pull : ignored
  if (name === 'merge_group' && action === 'checks_requested')
    return {
      kind: 'merge_group',
      repository,
      branch: (optionalTextAt(body, 'merge_group', 'base_ref') ?? '').replace(/^refs\/heads\//, ''),
      base: at(body, 'merge_group', 'base_sha'),
      head: at(body, 'merge_group', 'head_sha'),
      page: home,
    }
  if ((name === 'check_run' || name === 'check_suite') && action === 'rerequested') {
    if (name === 'check_run' && at(body, 'check_run', 'name') !== checkName)
      return 'the check belongs to another program'
    const pulls = at(body, name, 'pull_requests')
    return {
      kind: 'rerun',
      repository,
      commit: at(body, name, 'head_sha'),
      pullRequests: (Array.isArray(pulls) ? pulls : []).map((one) => integerTextAt(one, 'number')),
      page: home,
    }
  }
  return ignored
}

const GITLAB_JUDGED: ReadonlySet<string> = new Set(['open', 'reopen', 'approved', 'approval'])
const GITLAB_CLOSED: ReadonlySet<string> = new Set(['close', 'merge'])

/** Before jobs of a pipeline run. */
const GITLAB_BEGINNING: ReadonlySet<string> = new Set(['created', 'pending'])
const GITLAB_TRAIN = /^refs\/merge-requests\/[1-9]\d*\/train$/

/**
 * The pipeline of a merge train: its commit is what the branch becomes.
 * https://docs.gitlab.com/user/project/integrations/webhook_events/#pipeline-events
 */
function gitlabTrain({ body }: PlatformEvent): ReturnType<EventReader> {
  if (!GITLAB_TRAIN.test(optionalTextAt(body, 'object_attributes', 'ref') ?? '')) return 'it is not a merge train'
  const status = optionalTextAt(body, 'object_attributes', 'status') ?? ''
  if (!GITLAB_BEGINNING.has(status)) return `pipeline.${status} asks for nothing`
  return {
    kind: 'merge_group',
    repository: at(body, 'project', 'path_with_namespace'),
    branch: at(body, 'merge_request', 'target_branch'),
    base: null,
    head: at(body, 'object_attributes', 'sha'),
    page: at(body, 'merge_request', 'url') ?? at(body, 'project', 'web_url'),
    pipeline: integerTextAt(body, 'object_attributes', 'id'),
  }
}

/** https://docs.gitlab.com/user/project/integrations/webhook_events/#merge-request-events */
function gitlab(event: PlatformEvent): ReturnType<EventReader> {
  const { body } = event
  const kind = optionalTextAt(body, 'object_kind') ?? ''
  if (kind === 'pipeline') return gitlabTrain(event)
  if (kind !== 'merge_request') return `${kind || 'this event'} asks for nothing`
  const action = optionalTextAt(body, 'object_attributes', 'action') ?? ''
  const repository = at(body, 'project', 'path_with_namespace')
  const pullRequest = integerTextAt(body, 'object_attributes', 'iid')
  const pull = { kind: 'pull_request', repository, pullRequest, page: at(body, 'object_attributes', 'url') }
  if (GITLAB_CLOSED.has(action)) return { ...pull, kind: 'closed' }
  // `oldrev` is there when commits were pushed.
  const isChanged =
    action === 'update' &&
    (at(body, 'object_attributes', 'oldrev') !== undefined || isJsonObject(at(body, 'changes', 'target_branch')))
  if (!GITLAB_JUDGED.has(action) && !isChanged) return `merge_request.${action} asks for nothing`
  return pull
}

const BITBUCKET_JUDGED: ReadonlySet<string> = new Set([
  'pullrequest:created',
  'pullrequest:updated',
  'pullrequest:approved',
])
const BITBUCKET_CLOSED: ReadonlySet<string> = new Set(['pullrequest:fulfilled', 'pullrequest:rejected'])

/** https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/ */
function bitbucket({ name, body }: PlatformEvent): ReturnType<EventReader> {
  const repository = at(body, 'repository', 'full_name')
  const pull = {
    kind: 'pull_request',
    repository,
    pullRequest: integerTextAt(body, 'pullrequest', 'id'),
    page: at(body, 'pullrequest', 'links', 'html', 'href'),
  }
  // The signature covers the body and not the name of the event.
  if (BITBUCKET_CLOSED.has(name) && at(body, 'pullrequest', 'state') !== 'OPEN') return { ...pull, kind: 'closed' }
  if (!BITBUCKET_JUDGED.has(name)) return `${name || 'this event'} asks for nothing`
  return pull
}

const READERS: Readonly<Record<PlatformId, EventReader>> = { scm_a: github, scm_b: gitlab, scm_c: bitbucket }

function integerTextAt(body: unknown, ...path: readonly string[]): string | undefined {
  const value = at(body, ...path)
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined
}
