/**
 * GitLab's API and git over HTTP: which calls change a protected branch, deploy or publish.
 * https://docs.gitlab.com/api/
 */
import type { ScmRoute } from '../scm/settings.ts'
import { createGitlabClient } from '../../scm/gitlab.ts'
import { at, optionalTextAt } from '../../scm/members.ts'
import type { Recogniser } from '../common/action.ts'
import type { Call } from '../../calls/call.ts'
import { GITLAB_ELSEWHERE, GITLAB_PROJECT } from './endpoints.ts'
import { recogniseGitlabGraphql } from './graphql.ts'
import { fold } from '../../routing/path-reading.ts'
import { NAME_STAYS } from '../scm/name-stays.ts'
import { quickActionsOf, refuseOtherTarget, refuseUnknown } from '../scm/quick-actions.ts'
import { isProtected, type ScmDeps } from '../scm/action.ts'
import { createEndpointTable, pathText } from '../scm/endpoints.ts'
import { UnreadableIntent, type FileWrite, type ScmIntent } from '../scm/intent.ts'
import {
  branchOf,
  decodedContent,
  isGraphqlPath,
  maySet,
  movedFile,
  removed,
  requiredText,
  statesOnly,
  textOfParameter,
  writtenFile,
  type Parameters,
  requestNumber,
} from '../scm/request.ts'
import { createScmRecogniser } from '../scm/recogniser.ts'
import {
  refRemoval,
  retarget,
  sourceUpdate,
  type Intents,
  type ScmCall,
  type ScmEndpoints,
  type ScmRow,
} from '../scm/table.ts'
import { splitNames } from '../scm/name-list.ts'
import { refuseBotCommands, refuseCommands } from '../scm/text-commands.ts'

/**
 * By the path behind the project. Rails accepts POST with a method in the body, so the path decides and not the method.
 */
export const GITLAB_ROWS: readonly ScmRow[] = [
  { path: ['merge_requests', ':iid', 'merge'], because: 'it merges', intents: mergeRequest },
  { path: ['merge_trains', 'merge_requests', ':iid'], because: 'it merges', intents: mergeRequest },
  { path: ['merge_requests', ':iid', 'rebase'], because: 'it brings commits to the source', intents: rebase },
  { path: ['merge_requests'], because: 'its description may merge', intents: proposal },
  {
    path: ['merge_requests', ':iid'],
    because: 'its description may merge, and it may get another target',
    intents: requestChange,
  },
  { path: ['merge_requests', ':iid', 'notes'], because: 'a comment may merge', intents: quickActions },
  { path: ['merge_requests', ':iid', 'notes', ':note'], because: 'a comment may merge', intents: quickActions },
  { path: ['merge_requests', ':iid', 'discussions'], because: 'a comment may merge', intents: quickActions },
  { path: ['merge_requests', ':iid', 'discussions', '*rest'], because: 'a comment may merge', intents: quickActions },
  {
    path: ['merge_requests', ':iid', 'draft_notes', 'bulk_publish'],
    because: 'it publishes texts that it does not hold, and may approve',
    intents: () => 'approve',
  },
  { path: ['merge_requests', ':iid', 'draft_notes'], because: 'it may merge later', intents: proposal },
  { path: ['merge_requests', ':iid', 'draft_notes', ':note'], because: 'it may merge later', intents: proposal },
  { path: ['repository', 'commits'], because: 'it may commit to a protected branch', intents: commit },
  {
    path: ['repository', 'commits', ':sha', 'cherry_pick'],
    because: 'it may commit to a protected branch',
    intents: copy,
  },
  { path: ['repository', 'commits', ':sha', 'revert'], because: 'it may commit to a protected branch', intents: copy },
  { path: ['repository', 'files', '*path'], because: 'it may commit to a protected branch', intents: file },
  { path: ['repository', 'submodules', '*path'], because: 'it may commit to a protected branch', intents: copy },
  { path: ['repository', 'changelog'], because: 'it may commit to a protected branch', intents: changelog },
  { path: ['repository', 'branches'], because: 'it may make a protected branch', intents: branchCreation },
  {
    path: ['repository', 'branches', '*name'],
    because: 'it may delete a protected branch, or change its protection',
    intents: refRemoval('heads', 'administer'),
  },
  { path: ['repository', 'merged_branches'], because: 'it may delete protected branches', intents: mergedBranches },
  {
    path: ['repository', 'tags', '*name'],
    because: 'it may delete a protected tag, or publish its release',
    intents: refRemoval('tags', 'publish'),
  },
  { path: ['mirror', 'pull'], because: 'it may bring commits to a protected branch', intents: mirror },
  { path: [], because: 'it may change the default branch, or who reaches the project', intents: gitlabSettings },
  {
    path: ['deployments'],
    because: 'it deploys',
    intents: ({ repository, parameters }) => {
      const environment = requiredText(parameters, 'environment')
      const ref = textOfParameter(parameters, 'sha') ?? requiredText(parameters, 'ref')
      const since = { kind: 'deployment', environment } as const
      return [{ kind: 'ship', operation: 'deploy', repository, ref, since, label: environment }]
    },
  },
  {
    path: ['releases'],
    because: 'it publishes',
    intents: ({ repository, parameters }) => {
      const label = requiredText(parameters, 'tag_name')
      const ref = textOfParameter(parameters, 'ref') ?? label
      return [{ kind: 'ship', operation: 'publish', repository, ref, since: { kind: 'release' }, label }]
    },
  },
]

/**
 * GitLab drops a merge that waits for its pipeline when its head moves, so it is judged like one that does not wait.
 */
function mergeRequest({ repository, names, parameters }: ScmCall): readonly ScmIntent[] {
  return [
    {
      kind: 'merge_request',
      repository,
      id: requestNumber(names['iid'] ?? '', 'merge'),
      head: textOfParameter(parameters, 'sha'),
      onto: null,
      isRebase: null,
      removesHead: maySet(parameters, 'should_remove_source_branch') ? true : null,
    },
  ]
}

function rebase({ call, names, client }: ScmCall): Promise<readonly ScmIntent[]> {
  return sourceUpdate(call, client(), requestNumber(names['iid'] ?? '', 'merge'))
}

/** A text may merge its request, rebase its source, or approve it. */
async function quickActions(call: ScmCall): Promise<Intents> {
  const { repository, names, parameters } = call
  refuseBotCommands('scm_b', parameters)
  const actions = quickActionsOf(parameters)
  refuseUnknown(actions)
  refuseOtherTarget(actions)
  if (actions.has('rebases')) await rebase(call)
  if (!actions.has('merges')) return actions.has('approves') ? 'approve' : []
  if (actions.has('marks') || actions.has('approves') || parameters['target_branch'] !== undefined)
    throw new UnreadableIntent('a text that merges may not change its request in other ways; send a separate request.')
  const head = textOfParameter(parameters, 'merge_request_diff_head_sha')
  const id = requestNumber(names['iid'] ?? '', 'merge')
  return [{ kind: 'merge_request', repository, id, head, onto: null, isRebase: null, removesHead: null }]
}

/** A text, a target, and whether the source is deleted when the request is merged. */
async function requestChange(call: ScmCall): Promise<Intents> {
  const { names, parameters } = call
  const intents = await quickActions(call)
  const id = requestNumber(names['iid'] ?? '', 'merge')
  if (maySet(parameters, 'remove_source_branch')) await refuseLaterRemoval(call, id)
  const retargeted = await retarget(call, id, textOfParameter(parameters, 'target_branch'))
  if (retargeted.length > 0 && typeof intents === 'string')
    throw new UnreadableIntent('a text that approves may not give its request another target; send a separate request.')
  return typeof intents === 'string' ? intents : [...intents, ...retargeted]
}

/** A merge that waits for its pipeline is judged already. */
async function refuseLaterRemoval({ call, client }: ScmCall, id: string): Promise<void> {
  const { head, isFromElsewhere } = await client().mergeRequest(id)
  if (isFromElsewhere || !isProtected(call, head) || (await client().keepsBranch(head))) return
  throw new UnreadableIntent(`its merge would delete ${head}, and ${NAME_STAYS}.`)
}

/** The merge request does not exist yet, or another request that does not contain the text applies it. */
function proposal({ parameters }: ScmCall): Intents {
  refuseCommands('scm_b', parameters)
  const waits = ['auto_merge', 'merge_when_pipeline_succeeds'].some((name) => maySet(parameters, name))
  return waits ? 'merge' : []
}

function mirror(): readonly ScmIntent[] {
  throw new UnreadableIntent('what the mirrored repository brings to protected branches cannot be judged.')
}

/** The names and descriptions of a project; all other settings decide who can access it and how it is merged. */
const DESCRIPTIVE: ReadonlySet<string> = new Set(
  splitNames(
    'description topics tag_list avatar issues_template merge_requests_template suggestion_commit_message',
    'issues_access_level wiki_access_level snippets_access_level issues_enabled wiki_enabled',
    'snippets_enabled',
  ),
)

function gitlabSettings({ call, parameters }: ScmCall): Intents {
  if (textOfParameter(parameters, 'import_url') !== null || maySet(parameters, 'mirror'))
    throw new UnreadableIntent('what the mirrored repository brings to protected branches cannot be judged.')
  if (textOfParameter(parameters, 'default_branch') !== null)
    throw new UnreadableIntent('another default branch would replace the one that merges were judged for.')
  const isDescriptive = call.method !== 'DELETE' && statesOnly(parameters, DESCRIPTIVE)
  return isDescriptive ? [] : 'administer'
}

function file({ call, repository, names, parameters }: ScmCall): readonly ScmIntent[] {
  const branch = branchIn(parameters)
  if (!isProtected(call, branch)) return []
  refuseOtherStart(parameters, branch)
  const path = names['path'] ?? ''
  const content = textOfParameter(parameters, 'content')
  const override = textOfParameter(parameters, '_method')
  if (content !== null && override !== null && !/^(?:POST|PUT)$/i.test(override))
    throw new UnreadableIntent('it contains file content, but its method writes none.')
  const isDeletion = call.method === 'DELETE' || (content === null && parameters['_method'] !== undefined)
  if (!isDeletion && content === null && parameters['content'] !== '')
    throw new UnreadableIntent('"content" is missing, so the new content of the file is not known.')
  const write = isDeletion
    ? removed(path)
    : writtenFile(path, decodedContent(content ?? '', textOfParameter(parameters, 'encoding')))
  return [{ kind: 'write_files', repository, branch, writes: [write] }]
}

function commit({ call, repository, parameters }: ScmCall): readonly ScmIntent[] {
  const branch = branchIn(parameters)
  if (!isProtected(call, branch)) return []
  refuseOtherStart(parameters, branch)
  const { actions } = parameters
  if (!Array.isArray(actions)) throw new UnreadableIntent('"actions" is not a list; send the commit as JSON.')
  return [{ kind: 'write_files', repository, branch, writes: actions.flatMap(commitActionWrites) }]
}

/** A commit may be put on top of another branch, commit or project, all of which then comes to the branch with it. */
function refuseOtherStart(parameters: Parameters, branch: string | null): void {
  const start = textOfParameter(parameters, 'start_branch')
  const isElsewhere = ['start_sha', 'start_project'].some((name) => textOfParameter(parameters, name) !== null)
  if (isElsewhere || (start !== null && branchOf(start) !== branch))
    throw new UnreadableIntent(
      'it starts from another place (start_branch, start_sha, start_project), and what that brings to a protected branch cannot be judged; use a merge request.',
    )
}

function commitActionWrites(action: unknown): readonly FileWrite[] {
  const kind = optionalTextAt(action, 'action')
  const path = optionalTextAt(action, 'file_path')
  if (path === null) throw new UnreadableIntent('an action names no file_path.')
  const text_ = at(action, 'content') ?? null
  if (text_ !== null && typeof text_ !== 'string') throw new UnreadableIntent('the content of an action is not a text.')
  const content = text_ === null ? null : decodedContent(text_, optionalTextAt(action, 'encoding'))
  if (kind === 'create' || kind === 'update') return [writtenFile(path, content ?? Buffer.alloc(0))]
  if (kind === 'delete') return [removed(path)]
  if (kind === 'chmod') return []
  if (kind !== 'move') throw new UnreadableIntent(`"${kind}" is not a known action.`)
  const from = optionalTextAt(action, 'previous_path')
  if (from === null) throw new UnreadableIntent('a move names no previous_path.')
  return [movedFile(from, path, content)]
}

function branchCreation({ call, repository, parameters }: ScmCall): readonly ScmIntent[] {
  const branch = branchIn(parameters)
  if (branch === null) throw new UnreadableIntent('"branch" is missing.')
  if (!isProtected(call, branch)) return []
  return [{ kind: 'move_branch', repository, branch, commit: requiredText(parameters, 'ref') }]
}

/**
 * The platform generates a text and writes it in front of the content of a file; without a branch, on the default
 * branch.
 */
function changelog({ call, parameters }: ScmCall): readonly ScmIntent[] {
  if (isProtected(call, branchIn(parameters)))
    throw new UnreadableIntent('what this writes to a protected branch cannot be judged; use a merge request.')
  return []
}

/** The API does not show in advance how the copied or reverted commit, or that of a submodule, changes a branch. */
function copy({ call, parameters }: ScmCall): readonly ScmIntent[] {
  if (isProtected(call, branchIn(parameters)))
    throw new UnreadableIntent('what this changes on a protected branch cannot be judged; use a merge request.')
  return []
}

function branchIn(parameters: Parameters): string | null {
  const branch = textOfParameter(parameters, 'branch') ?? textOfParameter(parameters, 'branch_name')
  return branch === null ? null : branchOf(branch)
}

/** All that are merged and not protected at the platform, whatever the route protects. */
function mergedBranches(): Intents {
  throw new UnreadableIntent(
    'which branches this deletes is not stated, and a protected one may be among them; name each.',
  )
}

/** By number or by path; a path has a group before the name. */
const PROJECT = /^[0-9]+$|\//

function locateProject(segments: readonly string[]) {
  const start = segments.findIndex(
    (segment, index) => fold(segment) === 'projects' && /^v[0-9]+$/.test(fold(segments[index - 1] ?? '')),
  )
  const project = segments[start + 1]
  if (start === -1 || project === undefined || !PROJECT.test(project)) return null
  const prefix = pathText(segments.slice(0, start))
  return { prefix, repository: `/projects/${encodeURIComponent(project)}`, rest: segments.slice(start + 2) }
}

export const GITLAB_ENDPOINTS: ScmEndpoints = {
  repository: createEndpointTable(GITLAB_PROJECT),
  elsewhere: createEndpointTable(GITLAB_ELSEWHERE),
}

export function createGitlabRecogniser(deps: ScmDeps): Recogniser<ScmRoute> {
  const dialect = { platform: 'scm_b', createClient: createGitlabClient } as const
  return createScmRecogniser(
    {
      name: 'gitlab',
      dialect,
      rows: GITLAB_ROWS,
      endpoints: GITLAB_ENDPOINTS,
      roots: ['api/v4'],
      locate: locateProject,
      beside: besideGitlab,
    },
    deps,
  )
}

function besideGitlab(segments: readonly string[]) {
  return isGraphqlPath(segments)
    ? (call: Call<ScmRoute>, deps: ScmDeps) => recogniseGitlabGraphql(call, segments, deps)
    : null
}
