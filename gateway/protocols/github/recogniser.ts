/**
 * GitHub's API (REST and GraphQL) and git over HTTP: which calls change a protected branch, deploy or publish.
 * https://docs.github.com/rest
 */
import type { ScmRoute } from '../scm/settings.ts'
import { posix } from 'node:path'
import { createGithubClient, isRebaseMethod } from '../../scm/github.ts'
import { at, optionalTextAt } from '../../scm/members.ts'
import type { ScmConfig } from '../../scm/settings.ts'
import type { ScmClient } from '../../scm/platform.ts'
import type { Recogniser } from '../common/action.ts'
import type { Call } from '../../calls/call.ts'
import { GITHUB_ELSEWHERE, GITHUB_REPOSITORY } from './endpoints.ts'
import { refuseRemoval } from '../scm/removal.ts'
import { refuseMergeBefore, refuseUnknownRun } from './deployments.ts'
import { recogniseGithubGraphql } from './graphql.ts'
import { createScmRecogniser, type PushedRepository } from '../scm/recogniser.ts'
import {
  retarget,
  sourceUpdate,
  type Intents,
  type LocatedRepository,
  type ScmCall,
  type ScmEndpoints,
  type ScmRow,
} from '../scm/table.ts'
import { fold } from '../../routing/path-reading.ts'
import { isProtected, isProtectedTag, type ScmDeps } from '../scm/action.ts'
import { createEndpointTable, pathText } from '../scm/endpoints.ts'
import { UnreadableIntent, type ScmIntent } from '../scm/intent.ts'
import {
  branchOf,
  decodedContent,
  isGraphqlPath,
  isTrue,
  removed,
  requiredText,
  statesOnly,
  tagOf,
  textOfParameter,
  writtenFile,
  type Parameters,
  requestNumber,
} from '../scm/request.ts'
import { splitNames } from '../scm/name-list.ts'
import { refuseWaitingHead } from '../scm/waiting-merge.ts'
import { refuseCommands } from '../scm/text-commands.ts'

/** By the path behind the repository. GitHub accepts POST in place of PATCH, so the path decides and not the method. */
export const GITHUB_ROWS: readonly ScmRow[] = [
  {
    path: ['pulls', ':number', 'merge'],
    because: 'it merges',
    intents: ({ repository, names, parameters }) => [
      {
        kind: 'merge_request',
        repository,
        id: requestNumber(names['number'], 'pull'),
        head: textOfParameter(parameters, 'sha'),
        onto: null,
        isRebase: isRebaseMethod(textOfParameter(parameters, 'merge_method')),
        removesHead: null,
      },
    ],
  },
  {
    path: ['pulls', ':number'],
    because: 'it may give a request another base, in which bots look for commands too',
    intents: pullChange,
  },
  { path: ['pulls', ':number', 'merge-async'], because: 'it merges', intents: mergeOfStack },
  {
    path: ['pulls', ':number', 'update-branch'],
    because: 'it brings commits to the head of a request',
    intents: ({ call, names, client }) => sourceUpdate(call, client(), requestNumber(names['number'], 'pull')),
  },
  { path: ['pulls', ':number', 'reviews'], because: 'it may approve', intents: review },
  { path: ['pulls', ':number', 'reviews', ':id', 'events'], because: 'it may approve', intents: review },
  {
    path: ['merges'],
    because: 'it merges',
    intents: ({ repository, parameters }) => [
      {
        kind: 'merge_branches',
        repository,
        base: requiredText(parameters, 'base'),
        head: requiredText(parameters, 'head'),
      },
    ],
  },
  { path: ['git', 'refs'], because: 'it may make a protected branch', intents: refCreation },
  {
    path: ['git', 'refs', '*ref'],
    because: 'it may move or delete a protected branch or tag',
    intents: refUpdate,
  },
  { path: ['branches', ':branch', 'rename'], because: 'it may move a protected branch', intents: rename },
  { path: ['merge-upstream'], because: 'it may bring commits to a protected branch', intents: sync },
  { path: [], because: 'it may change the default branch, or who reaches the repository', intents: githubSettings },
  { path: ['contents', '*path'], because: 'it may commit to a protected branch', intents: contentWrite },
  {
    path: ['code-scanning', 'alerts', ':number', 'autofix', 'commits'],
    because: 'it may commit to a protected branch',
    intents: autofix,
  },
  {
    path: ['deployments'],
    because: 'it deploys',
    intents: async ({ call, repository, parameters, client }) => {
      const environment = textOfParameter(parameters, 'environment') ?? 'production'
      const ref = requiredText(parameters, 'ref')
      if (parameters['auto_merge'] !== false) await refuseMergeBefore(call, ref, client())
      return [deployment(repository, ref, environment)]
    },
  },
  {
    path: ['releases'],
    because: 'it publishes, unless it is a draft',
    intents: ({ repository, parameters }) => (isTrue(parameters, 'draft') ? [] : [release(repository, parameters)]),
  },
  { path: ['releases', 'generate-notes'], because: 'it reads, in spite of its method', intents: () => [] },
  { path: ['releases', ':id'], because: 'it may publish a draft, or take a release away', intents: releaseChange },
  { path: ['actions', 'workflows', ':workflow', 'dispatches'], because: 'it may deploy', intents: workflowDispatch },
  { path: ['actions', 'jobs', ':id', 'rerun'], because: 'it may deploy again', intents: event },
  { path: ['actions', 'runs', ':id', 'rerun'], because: 'it may deploy again', intents: event },
  { path: ['actions', 'runs', ':id', 'rerun-failed-jobs'], because: 'it may deploy again', intents: event },
  { path: ['check-runs', ':id', 'rerequest'], because: 'it may deploy again', intents: event },
  { path: ['check-suites', ':id', 'rerequest'], because: 'it may deploy again', intents: event },
  { path: ['dispatches'], because: 'it may deploy', intents: event },
]

/** Also merges all requests below this one in its stack: then its base is the head of another one. */
async function mergeOfStack({ call, repository, names, parameters, client }: ScmCall): Promise<Intents> {
  const id = requestNumber(names['number'], 'pull')
  const { base } = await client().mergeRequest(id)
  if (!isProtected(call, base))
    throw new UnreadableIntent(
      `the base of this pull request is ${base}, so more than this one may be merged; merge the requests below it first.`,
    )
  const method = textOfParameter(parameters, 'merge_method')
  // A queue merges by a method of its own.
  const isDirect = textOfParameter(parameters, 'merge_action') === 'direct_merge'
  const isRebase = !isDirect || isRebaseMethod(method)
  const head = textOfParameter(parameters, 'sha')
  return [{ kind: 'merge_request', repository, id, head, onto: null, isRebase, removesHead: null }]
}

/** A text and a base. */
function pullChange(call: ScmCall): Promise<readonly ScmIntent[]> {
  const { names, parameters } = call
  refuseCommands('scm_a', parameters)
  return retarget(call, requestNumber(names['number'], 'pull'), textOfParameter(parameters, 'base'))
}

/** A review that does not approve is a comment, in which bots look for commands. */
function review({ parameters }: ScmCall): Intents {
  refuseCommands('scm_a', parameters)
  const event = textOfParameter(parameters, 'event')
  return event === null || /^(?:comment|request_changes|pending)$/i.test(event) ? [] : 'approve'
}

/**
 * Setting this publishes a draft, or makes a published release a draft, which takes it away. A published release may get
 * another tag, which the request must name.
 */
async function releaseChange({ call, repository, names, parameters, ask }: ScmCall): Promise<Intents> {
  if (call.method === 'DELETE') return 'publish'
  const known = () => ask(`/releases/${encodeURIComponent(names['id'] ?? '')}`)
  if (isTrue(parameters, 'draft')) return at(await known(), 'draft') === true ? [] : 'publish'
  const mayPublish = parameters['draft'] !== undefined || textOfParameter(parameters, 'tag_name') !== null
  if (!mayPublish) return statesOnly(parameters, RELEASE_TEXTS) ? [] : 'publish'
  // A release keeps the commit that it has where the request names none.
  const ref = textOfParameter(parameters, 'target_commitish') ?? optionalTextAt(await known(), 'target_commitish')
  return [release(repository, { ...parameters, target_commitish: ref })]
}

/** What else a release states decides who gets it: `make_latest`, `prerelease`. The commit counts for drafts only. */
const RELEASE_TEXTS: ReadonlySet<string> = new Set(['name', 'body', 'discussion_category_name', 'target_commitish'])

async function refUpdate({ call, repository, names, parameters, client }: ScmCall): Promise<Intents> {
  const ref = `refs/${(names['ref'] ?? '').replace(/^(?:refs\/)+/i, '')}`
  if (call.method === 'DELETE') {
    refuseRemoval(call, ref)
    return []
  }
  const tag = tagOf(ref)
  if (tag !== null && isProtectedTag(call, tag))
    return [{ kind: 'move_tag', repository, tag, commit: requiredText(parameters, 'sha') }]
  const branch = branchOf(ref)
  if (branch === null) return []
  if (!isProtected(call, branch)) return unjudgedMove(client(), branch)
  return [{ kind: 'move_branch', repository, branch, commit: requiredText(parameters, 'sha') }]
}

/** Of a branch that is not protected. */
async function unjudgedMove(client: ScmClient, branch: string): Promise<readonly ScmIntent[]> {
  await refuseWaitingHead(client, branch)
  return []
}

function refCreation({ call, repository, parameters }: ScmCall): readonly ScmIntent[] {
  const branch = branchOf(requiredText(parameters, 'ref'))
  if (branch === null || !isProtected(call, branch)) return []
  return [{ kind: 'move_branch', repository, branch, commit: requiredText(parameters, 'sha') }]
}

/** A branch that is renamed to another branch's name replaces it. */
function rename({ call, names, parameters, client }: ScmCall): Promise<readonly ScmIntent[]> {
  const replaced = requiredText(parameters, 'new_name')
  const isGuarded = [names['branch'] ?? '', replaced].some((name) => isProtected(call, name))
  if (isGuarded) throw new UnreadableIntent('a protected branch cannot be renamed or replaced by a renamed one.')
  return unjudgedMove(client(), branchOf(replaced) ?? replaced)
}

/** The API does not show in advance what the parent of a fork contains. */
function sync({ call, parameters, client }: ScmCall): Promise<readonly ScmIntent[]> {
  const branch = textOfParameter(parameters, 'branch')
  if (branch === null || isProtected(call, branch))
    throw new UnreadableIntent('what this brings to a protected branch cannot be judged; use a pull request.')
  return unjudgedMove(client(), branchOf(branch) ?? branch)
}

/** A commit whose content only the platform knows. */
function autofix({ call, parameters, client }: ScmCall): Promise<readonly ScmIntent[]> {
  const ref = textOfParameter(parameters, 'target_ref')
  const branch = ref === null ? null : branchOf(ref)
  if (branch === null || isProtected(call, branch))
    throw new UnreadableIntent('what this fix changes on a protected branch cannot be judged; use a pull request.')
  return unjudgedMove(client(), branch)
}

/** The names and descriptions of a repository; all other settings decide who can access it and how it is merged. */
const DESCRIPTIVE: ReadonlySet<string> = new Set(
  splitNames(
    'description homepage has_issues has_projects has_wiki has_discussions has_downloads is_template',
    'squash_merge_commit_title squash_merge_commit_message merge_commit_title merge_commit_message',
  ),
)

function githubSettings({ call, parameters }: ScmCall): Intents {
  if (textOfParameter(parameters, 'default_branch') !== null)
    throw new UnreadableIntent('another default branch would replace the one that merges were judged for.')
  const isDescriptive = call.method !== 'DELETE' && statesOnly(parameters, DESCRIPTIVE)
  return isDescriptive ? [] : 'administer'
}

async function contentWrite({ call, repository, names, parameters, client }: ScmCall): Promise<readonly ScmIntent[]> {
  const named = textOfParameter(parameters, 'branch')
  const branch = named === null ? null : branchOf(named)
  if (branch !== null && !isProtected(call, branch)) return unjudgedMove(client(), branch)
  const path = names['path'] ?? ''
  const write =
    call.method === 'DELETE'
      ? removed(path)
      : writtenFile(path, decodedContent(requiredText(parameters, 'content'), 'base64'))
  return [{ kind: 'write_files', repository, branch, writes: [write] }]
}

function deployment(repository: string, ref: string, environment: string): ScmIntent {
  const since = { kind: 'deployment', environment } as const
  return { kind: 'ship', operation: 'deploy', repository, ref, since, label: environment }
}

/** The tag if it exists, else the commit that it would name. */
function release(repository: string, parameters: Parameters): ScmIntent {
  const label = requiredText(parameters, 'tag_name')
  const ref = textOfParameter(parameters, 'target_commitish')
  return { kind: 'ship', operation: 'publish', repository, ref, since: { kind: 'release' }, label }
}

function workflowDispatch({ call, repository, names, parameters }: ScmCall): readonly ScmIntent[] {
  const workflow = names['workflow'] ?? ''
  if (!isDeployment(workflow, call.route.scm.workflows)) return []
  const since = { kind: 'workflow', workflow } as const
  const ref = requiredText(parameters, 'ref')
  return [{ kind: 'ship', operation: 'deploy', repository, ref, since, label: workflow }]
}

/** By its file in any form of its name, or by its id. @throws UnreadableIntent where it has the one and the route states the other */
function isDeployment(workflow: string, workflows: readonly string[]): boolean {
  const names = [workflow, posix.basename(workflow)].flatMap((name) => [name, fold(name)])
  if (
    workflows.some((glob) => names.some((name) => posix.matchesGlob(name, glob) || posix.matchesGlob(name, fold(glob))))
  )
    return true
  const isId = WORKFLOW_ID.test(workflow)
  if (workflows.some((glob) => WORKFLOW_ID.test(glob) !== isId))
    throw new UnreadableIntent(
      `it names a workflow by its ${isId ? 'id' : 'file'}, and the route names some by their ${isId ? 'file' : 'id'} (routes[].scm.workflows).`,
    )
  return false
}

const WORKFLOW_ID = /^[0-9]+$/

function event({ call }: ScmCall): readonly ScmIntent[] {
  refuseUnknownRun(call)
  return []
}

function locateRepository(segments: readonly string[]): LocatedRepository | null {
  const start = segments.findIndex((segment) => /^(?:repos|repositories)$/.test(fold(segment)))
  if (start === -1) return null
  const kind = fold(segments[start] ?? '')
  const length = kind === 'repos' ? 3 : 2
  const repository = segments.slice(start, start + length)
  if (repository.length < length) return null
  return {
    prefix: pathText(segments.slice(0, start)),
    repository: `/${[kind, ...repository.slice(1).map(encodeURIComponent)].join('/')}`,
    rest: segments.slice(start + length),
  }
}

export const GITHUB_ENDPOINTS: ScmEndpoints = {
  repository: createEndpointTable(GITHUB_REPOSITORY),
  elsewhere: createEndpointTable(GITHUB_ELSEWHERE),
}
/** Of an Enterprise Server. */
const GITHUB_ROOTS = ['api/v3', 'api/uploads'] as const

export function createGithubRecogniser(deps: ScmDeps): Recogniser<ScmRoute> {
  const dialect = { platform: 'scm_a', createClient: createGithubClient } as const
  return createScmRecogniser(
    {
      name: 'github',
      dialect,
      rows: GITHUB_ROWS,
      endpoints: GITHUB_ENDPOINTS,
      roots: GITHUB_ROOTS,
      locate: locateRepository,
      beside: besideGithub,
      pushedTo: pushedRepository,
    },
    deps,
  )
}

/**
 * github.com serves git, and api.github.com its API; an Enterprise Server serves both. The credential of a push goes to
 * no other host. Null: the path names no repository.
 */
function pushedRepository(origin: string, path: string, { scm }: ScmConfig): PushedRepository | null {
  const [owner, name] = path.split('/').slice(-2)
  if (owner === undefined || name === undefined) return null
  const repository = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`
  const { host } = new URL(origin)
  const api = new URL(scm.github.api)
  return [host, `api.${host}`].includes(api.host)
    ? { repository, origin: api.origin, prefix: api.pathname.replace(/\/+$/, '') }
    : { repository, origin, prefix: '/api/v3' }
}

function besideGithub(segments: readonly string[]) {
  return isGraphqlPath(segments)
    ? (call: Call<ScmRoute>, deps: ScmDeps) => recogniseGithubGraphql(call, segments, deps)
    : null
}
