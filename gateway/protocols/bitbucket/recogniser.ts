/**
 * Bitbucket Cloud's API and git over HTTP: which calls change a protected branch.
 * https://developer.atlassian.com/cloud/bitbucket/rest/
 */
import type { ScmRoute } from '../scm/settings.ts'
import { createBitbucketClient, isRebaseStrategy } from '../../scm/bitbucket.ts'
import { optionalTextAt } from '../../scm/members.ts'
import type { Recogniser } from '../common/action.ts'
import type { Call } from '../../calls/call.ts'
import { BITBUCKET_ELSEWHERE, BITBUCKET_REPOSITORY } from './endpoints.ts'
import { isProtected, passingScmCall, refusedScmCall, ScmAction, type ScmDeps } from '../scm/action.ts'
import { UnreadableIntent, type FileWrite, type ScmIntent } from '../scm/intent.ts'
import { fold } from '../../routing/path-reading.ts'
import { callName, matchSegments } from '../common/request-line.ts'
import {
  bodyMembers,
  branchOf,
  maySet,
  queryMembers,
  removed,
  requestNumber,
  requiredText,
  statesOnly,
  textOfParameter,
  writtenFile,
} from '../scm/request.ts'
import { refuseCommands } from '../scm/text-commands.ts'
import { createScmRecogniser } from '../scm/recogniser.ts'
import { createEndpointTable, pathText } from '../scm/endpoints.ts'
import {
  refRemoval,
  retarget,
  type Intents,
  type LocatedRepository,
  type ScmCall,
  type ScmEndpoints,
  type ScmRow,
} from '../scm/table.ts'

export const BITBUCKET_ROWS: readonly ScmRow[] = [
  {
    path: ['pullrequests', ':id', 'merge'],
    because: 'it merges',
    intents: ({ repository, names, parameters }) => {
      const id = requestNumber(names['id'], 'pull')
      const strategy = textOfParameter(parameters, 'merge_strategy')
      const isRebase = strategy === null ? null : isRebaseStrategy(strategy)
      const isStated = parameters['close_source_branch'] !== undefined
      const removesHead = isStated ? maySet(parameters, 'close_source_branch') : null
      return [{ kind: 'merge_request', repository, id, head: null, onto: null, isRebase, removesHead }]
    },
  },
  {
    path: ['pullrequests', ':id'],
    because: 'it may give a request another base, in which bots look for commands too',
    intents(call) {
      refuseCommands('scm_c', call.parameters)
      const base = optionalTextAt(call.parameters['destination'], 'branch', 'name')
      return retarget(call, requestNumber(call.names['id'], 'pull'), base)
    },
  },
  {
    path: ['refs', 'branches'],
    because: 'it may make a protected branch',
    intents: ({ call, repository, parameters }) => {
      const branch = requiredText(parameters, 'name')
      const commit = optionalTextAt(parameters['target'], 'hash')
      if (!isProtected(call, branch)) return []
      if (commit === null) throw new UnreadableIntent('the new branch names no target.')
      return [{ kind: 'move_branch', repository, branch, commit }]
    },
  },
  {
    path: ['refs', 'branches', '*name'],
    because: 'it may delete a protected branch',
    intents: refRemoval('heads', 'administer'),
  },
  {
    path: ['refs', 'tags', '*name'],
    because: 'it may delete a protected tag',
    intents: refRemoval('tags', 'publish'),
  },
  { path: ['src'], because: 'it may commit to a protected branch', intents: unreachable },
  { path: [], because: 'it may change the main branch, or who reaches the repository', intents: bitbucketSettings },
]

/** Its form is read as a whole, separately from the table. */
function unreachable(): Intents {
  throw new UnreadableIntent('a commit by form is not supported here.')
}

/** The names and descriptions of a repository; all other settings decide who can access it. */
const DESCRIPTIVE: ReadonlySet<string> = new Set([
  'description',
  'website',
  'language',
  'has_issues',
  'has_wiki',
  'scm',
])

function bitbucketSettings({ call, parameters }: ScmCall): Intents {
  if (parameters['mainbranch'] !== undefined)
    throw new UnreadableIntent('another main branch would replace the one that merges were judged for.')
  // POST only creates a repository, which nobody calls yet.
  if (call.method === 'POST') return []
  const isDescriptive = call.method !== 'DELETE' && statesOnly(parameters, DESCRIPTIVE)
  return isDescriptive ? [] : 'administer'
}

/** Members of the form that are not paths of files. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['message', 'author', 'parents', 'branch', 'files', 'access_token'])

function locateWorkspaceRepository(segments: readonly string[]): LocatedRepository | null {
  const start = segments.findIndex(
    (segment, index) => fold(segment) === 'repositories' && fold(segments[index - 1] ?? '') === '2.0',
  )
  const [workspace, slug] = segments.slice(start + 1, start + 3)
  if (start === -1 || workspace === undefined || slug === undefined) return null
  const prefix = pathText(segments.slice(0, start))
  const repository = `/repositories/${encodeURIComponent(workspace)}/${encodeURIComponent(slug)}`
  return { prefix, repository, rest: segments.slice(start + 3) }
}

export const BITBUCKET_ENDPOINTS: ScmEndpoints = {
  repository: createEndpointTable(BITBUCKET_REPOSITORY),
  elsewhere: createEndpointTable(BITBUCKET_ELSEWHERE),
}

export function createBitbucketRecogniser(deps: ScmDeps): Recogniser<ScmRoute> {
  const dialect = { platform: 'scm_c', createClient: createBitbucketClient } as const
  return createScmRecogniser(
    {
      name: 'bitbucket',
      dialect,
      rows: BITBUCKET_ROWS,
      endpoints: BITBUCKET_ENDPOINTS,
      roots: ['!api', '2.0'],
      locate: locateWorkspaceRepository,
      beside: besideBitbucket,
    },
    deps,
  )
}

function besideBitbucket(segments: readonly string[]) {
  const located = locateWorkspaceRepository(segments)
  return located !== null && matchSegments(['src'], located.rest) !== null
    ? (call: Call<ScmRoute>, deps: ScmDeps) => recogniseSource(call, located, deps)
    : null
}

/**
 * A commit by form, parts of which may be in the query. Each field is a file by its path, `files` names the files, and
 * those without content are deleted.
 */
async function recogniseSource(call: Call<ScmRoute>, { prefix, repository }: LocatedRepository, deps: ScmDeps) {
  const name = callName(call)
  try {
    const members = single([...queryMembers(call), ...bodyMembers(call)])
    const branch = members.find(([field]) => field === 'branch')?.[1] ?? ''
    if (typeof branch !== 'string') throw new UnreadableIntent('"branch" is a file and not text.')
    const target = branch === '' ? null : branchOf(branch)
    if (!isProtected(call, target)) return passingScmCall(name)
    const parents = members.flatMap(([field, value]) => (field === 'parents' ? String(value).split(',') : []))
    const writes = sourceWrites(members)
    const intent: ScmIntent = { kind: 'write_files', repository, branch: target, parents, writes }
    const intents = () => Promise.resolve([intent])
    return new ScmAction(call, { platform: 'scm_c', createClient: createBitbucketClient, name, prefix, intents }, deps)
  } catch (error) {
    if (error instanceof UnreadableIntent) return refusedScmCall(call, name, error.message)
    throw error
  }
}

type FormMember = readonly [field: string, value: unknown]

/** Only `files` and `parents` may have several values. @throws UnreadableIntent */
function single(members: readonly FormMember[]): readonly FormMember[] {
  const known = new Map<string, unknown>()
  for (const [field, value] of members) {
    if (field === 'files' || field === 'parents') continue
    const name = OWN_FIELDS.has(field) ? field : field.replace(/^\/+/, '/')
    if (known.has(name) && known.get(name) !== value)
      throw new UnreadableIntent(`The request states "${field}" twice, with different values.`)
    known.set(name, value)
  }
  return members
}

function sourceWrites(members: readonly (readonly [string, unknown])[]): readonly FileWrite[] {
  const contents = members.filter(([field]) => !OWN_FIELDS.has(field))
  const named = members.flatMap(([field, value]) => (field === 'files' && typeof value === 'string' ? [value] : []))
  const given = new Set(contents.map(([field]) => field.replace(/^\/+/, '')))
  return [
    ...contents.map(([path, value]) => writtenFile(path, Buffer.isBuffer(value) ? value : Buffer.from(String(value)))),
    ...named.filter((path) => !given.has(path.replace(/^\/+/, ''))).map(removed),
  ]
}
