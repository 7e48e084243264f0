/** GitLab's API and git over HTTP: which calls land, ship or publish something. https://docs.gitlab.com/api/ */
import { createGitlabClient } from '../scm/gitlab.ts'
import { optionalTextAt } from '../scm/members.ts'
import type { Call, Recogniser } from './action.ts'
import { recogniseGraphql } from './gitlab-graphql.ts'
import { isProtected, type ScmDeps } from './scm-action.ts'
import { UnreadableIntent, type FileWrite, type ScmIntent } from './scm-intent.ts'
import {
  branchOf,
  contentOf,
  isGraphqlPath,
  isSet,
  removed,
  requiredText,
  text,
  written,
  type Parameters,
} from './scm-request.ts'
import { createScmRecogniser } from './scm-recogniser.ts'
import { sourceUpdate, type ScmCall, type ScmRow } from './scm-table.ts'

/** By the path behind the project. Rails takes POST with a method in the body, so the path decides and not the method. */
const ROWS: readonly ScmRow[] = [
  { path: ['merge_requests', ':iid', 'merge'], intents: mergeRequest },
  { path: ['merge_trains', 'merge_requests', ':iid'], intents: mergeRequest },
  { path: ['merge_requests', ':iid', 'rebase'], intents: rebase },
  { path: ['merge_requests', ':iid'], intents: (call) => quickActions(call, 'description') },
  { path: ['merge_requests', ':iid', 'notes'], intents: (call) => quickActions(call, 'body') },
  { path: ['merge_requests', ':iid', 'notes', ':note'], intents: (call) => quickActions(call, 'body') },
  { path: ['merge_requests', ':iid', 'discussions'], intents: (call) => quickActions(call, 'body') },
  { path: ['merge_requests', ':iid', 'discussions', '*rest'], intents: (call) => quickActions(call, 'body') },
  { path: ['merge_requests', ':iid', 'draft_notes'], intents: draft },
  { path: ['merge_requests', ':iid', 'draft_notes', ':note'], intents: draft },
  { path: ['repository', 'commits'], intents: commit },
  { path: ['repository', 'commits', ':sha', 'cherry_pick'], intents: copy },
  { path: ['repository', 'commits', ':sha', 'revert'], intents: copy },
  { path: ['repository', 'files', '*path'], intents: file },
  { path: ['repository', 'submodules', '*path'], intents: copy },
  { path: ['repository', 'changelog'], intents: changelog },
  { path: ['repository', 'branches'], intents: branchCreation },
  { path: ['mirror', 'pull'], intents: mirror },
  { path: [], intents: settings },
  {
    path: ['deployments'],
    intents: ({ repository, parameters }) => {
      const environment = requiredText(parameters, 'environment')
      const ref = text(parameters, 'sha') ?? requiredText(parameters, 'ref')
      const since = { kind: 'deployment', environment } as const
      return [{ kind: 'ship', operation: 'deploy', repository, ref, since, label: environment }]
    },
  },
  {
    path: ['releases'],
    intents: ({ repository, parameters }) => {
      const label = requiredText(parameters, 'tag_name')
      const ref = text(parameters, 'ref') ?? label
      return [{ kind: 'ship', operation: 'publish', repository, ref, since: { kind: 'release' }, label }]
    },
  },
]

/** A merge that waits for its pipeline is dropped by GitLab when its head moves, so it is judged like one that does not wait. */
function mergeRequest({ repository, names, parameters }: ScmCall): readonly ScmIntent[] {
  return [{ kind: 'merge_request', repository, id: number(names), head: text(parameters, 'sha') }]
}

function number({ iid = '' }: ScmCall['names']): string {
  if (!/^[1-9][0-9]{0,9}$/.test(iid)) throw new UnreadableIntent(`"${iid}" is no number of a merge request.`)
  return iid
}

function rebase({ call, names, client }: ScmCall): Promise<readonly ScmIntent[]> {
  return sourceUpdate(call, client(), number(names))
}

/** Commands at the beginning of a line of what people write: https://docs.gitlab.com/user/project/quick_actions/ */
const QUICK_MERGE = /^[^\S\n\r\u2028\u2029]*\/merge(?![\w-])/im
const QUICK_REBASE = /^[^\S\n\r\u2028\u2029]*\/rebase(?![\w-])/im

/** A comment may merge its request, and rebase its source. */
async function quickActions(call: ScmCall, member: 'body' | 'description'): Promise<readonly ScmIntent[]> {
  const { repository, names, parameters } = call
  const words = text(parameters, member) ?? ''
  if (QUICK_REBASE.test(words)) await rebase(call)
  if (!QUICK_MERGE.test(words)) return []
  const head = text(parameters, 'merge_request_diff_head_sha')
  return [{ kind: 'merge_request', repository, id: number(names), head }]
}

/** It takes effect when it is published, by a request that does not say what it says. */
function draft({ parameters }: ScmCall): readonly ScmIntent[] {
  const words = text(parameters, 'note') ?? ''
  if (QUICK_MERGE.test(words) || QUICK_REBASE.test(words))
    throw new UnreadableIntent('a draft that merges or rebases cannot be judged; do it by a request of its own.')
  return []
}

function mirror(): readonly ScmIntent[] {
  throw new UnreadableIntent('what the mirrored repository brings to protected branches cannot be judged.')
}

function settings({ parameters }: ScmCall): readonly ScmIntent[] {
  if (text(parameters, 'import_url') !== null || isSet(parameters, 'mirror'))
    throw new UnreadableIntent('what the mirrored repository brings to protected branches cannot be judged.')
  if (text(parameters, 'default_branch') === null) return []
  throw new UnreadableIntent('another default branch takes the place of the one that merges were judged for.')
}

function file({ call, repository, names, parameters }: ScmCall): readonly ScmIntent[] {
  const branch = branchIn(parameters)
  if (!isProtected(call, branch)) return []
  const path = names['path'] ?? ''
  const content = text(parameters, 'content')
  const override = text(parameters, '_method')
  if (content !== null && override !== null && !/^(?:POST|PUT)$/i.test(override))
    throw new UnreadableIntent('it writes a content by a method that writes none.')
  const isDeletion = call.method === 'DELETE' || (content === null && parameters['_method'] !== undefined)
  if (!isDeletion && content === null && parameters['content'] !== '')
    throw new UnreadableIntent('"content" is missing, so what the file becomes cannot be told.')
  const write = isDeletion ? removed(path) : written(path, contentOf(content ?? '', text(parameters, 'encoding')))
  return [{ kind: 'write_files', repository, branch, writes: [write] }]
}

function commit({ call, repository, parameters }: ScmCall): readonly ScmIntent[] {
  const branch = branchIn(parameters)
  if (!isProtected(call, branch)) return []
  const { actions } = parameters
  if (!Array.isArray(actions)) throw new UnreadableIntent('"actions" is no list; send the commit as JSON.')
  return [{ kind: 'write_files', repository, branch, writes: actions.flatMap(writesOf) }]
}

function writesOf(action: unknown): readonly FileWrite[] {
  const kind = optionalTextAt(action, 'action')
  const path = optionalTextAt(action, 'file_path')
  if (path === null) throw new UnreadableIntent('an action names no file_path.')
  const text_ = optionalTextAt(action, 'content')
  const content = text_ === null ? null : contentOf(text_, optionalTextAt(action, 'encoding'))
  if (kind === 'create' || kind === 'update') return [written(path, content ?? Buffer.alloc(0))]
  if (kind === 'delete') return [removed(path)]
  if (kind === 'chmod') return []
  if (kind !== 'move') throw new UnreadableIntent(`"${kind}" is no action that is known here.`)
  const from = optionalTextAt(action, 'previous_path')
  if (from === null) throw new UnreadableIntent('a move names no previous_path.')
  return [{ kind: 'move', from, path, content }]
}

function branchCreation({ call, repository, parameters }: ScmCall): readonly ScmIntent[] {
  const branch = branchIn(parameters)
  if (branch === null) throw new UnreadableIntent('"branch" is missing.')
  if (!isProtected(call, branch)) return []
  return [{ kind: 'move_branch', repository, branch, commit: requiredText(parameters, 'ref') }]
}

/** A text that the platform puts together, written before what is in any file; without a branch on the default one. */
function changelog({ call, parameters }: ScmCall): readonly ScmIntent[] {
  if (isProtected(call, branchIn(parameters)))
    throw new UnreadableIntent('what this writes to a protected branch cannot be judged; use a merge request.')
  return []
}

/** What the copied or reverted commit, or that of a submodule, makes of a branch that went on is not told by the API beforehand. */
function copy({ call, parameters }: ScmCall): readonly ScmIntent[] {
  if (isProtected(call, branchIn(parameters)))
    throw new UnreadableIntent('what this makes of a protected branch cannot be judged; use a merge request.')
  return []
}

function branchIn(parameters: Parameters): string | null {
  const branch = text(parameters, 'branch') ?? text(parameters, 'branch_name')
  return branch === null ? null : branchOf(branch)
}

function locate(segments: readonly string[]) {
  const start = segments.findIndex(
    (segment, index) => segment.toLowerCase() === 'projects' && /^v[0-9]+$/i.test(segments[index - 1] ?? ''),
  )
  const project = segments[start + 1]
  if (start === -1 || project === undefined) return null
  const prefix = segments
    .slice(0, start)
    .map((segment) => `/${segment}`)
    .join('')
  return { prefix, repository: `/projects/${encodeURIComponent(project)}`, rest: segments.slice(start + 2) }
}

export function createGitlabRecogniser(deps: ScmDeps): Recogniser {
  const dialect = { platform: 'scm_b', createClient: createGitlabClient } as const
  return createScmRecogniser({ name: 'gitlab', dialect, rows: ROWS, locate, beside }, deps)
}

function beside(segments: readonly string[]) {
  return isGraphqlPath(segments) ? (call: Call, deps: ScmDeps) => recogniseGraphql(call, segments, deps) : null
}
