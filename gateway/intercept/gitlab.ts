/** GitLab's API and git over HTTP: which calls land, ship or publish something. https://docs.gitlab.com/api/ */
import { createGitlabClient } from '../scm/gitlab.ts'
import { optionalTextAt } from '../scm/members.ts'
import type { Call, CallHead, Recogniser } from './action.ts'
import { isPush, recognisePush } from './git-push.ts'
import { isProtected, refused, type ScmDeps } from './scm-action.ts'
import { UnreadableIntent, type FileWrite, type ScmIntent } from './scm-intent.ts'
import {
  branchOf,
  contentOf,
  isRead,
  matchSegments,
  removed,
  requiredText,
  segmentsOf,
  text,
  written,
  type Parameters,
} from './scm-request.ts'
import { recogniseCall, type ScmCall, type ScmRow } from './scm-table.ts'

/** By the path behind the project. Rails takes POST with a method in the body, so the path decides and not the method. */
const ROWS: readonly ScmRow[] = [
  { path: ['merge_requests', ':iid', 'merge'], intents: mergeRequest },
  { path: ['merge_trains', 'merge_requests', ':iid'], intents: mergeRequest },
  { path: ['repository', 'commits'], intents: commit },
  { path: ['repository', 'commits', ':sha', 'cherry_pick'], intents: copy },
  { path: ['repository', 'commits', ':sha', 'revert'], intents: copy },
  { path: ['repository', 'files', '*path'], intents: file },
  { path: ['repository', 'branches'], intents: branchCreation },
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
  const iid = names['iid'] ?? ''
  if (!/^[1-9][0-9]{0,9}$/.test(iid)) throw new UnreadableIntent(`"${iid}" is no number of a merge request.`)
  return [{ kind: 'merge_request', repository, id: iid, head: text(parameters, 'sha') }]
}

function file({ call, repository, names, parameters }: ScmCall): readonly ScmIntent[] {
  const branch = branchIn(parameters)
  if (!isProtected(call, branch)) return []
  const path = names['path'] ?? ''
  const content = text(parameters, 'content')
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

/** What the copied or reverted commit makes of a branch that went on is not told by the API beforehand. */
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

/** Mutations that land something, by their names; queries and all others pass. */
const LANDING = /\b(?:mergeRequestAccept|commitCreate)\b/

export function createGitlabRecogniser(deps: ScmDeps): Recogniser {
  const dialect = { platform: 'scm_b', createClient: createGitlabClient } as const
  return {
    needsBody: (head: CallHead) =>
      !isRead(head.method) && (isPush(head) ? head.route.scm.push !== 'pass' : isOfInterest(head)),
    async recognise(call: Call) {
      if (isPush(call)) return recognisePush(call, 'gitlab')
      const segments = segmentsOf(call.upstreamPath)
      const isGraphql = segments?.at(-1)?.toLowerCase() === 'graphql' && !isRead(call.method)
      // Names may stand in a variable or be escaped only where they do nothing, so the plain text tells.
      if (isGraphql && (LANDING.test(unescaped(call.body)) || call.headers['content-encoding'] !== undefined))
        return refused(
          call,
          'POST graphql',
          'merges and commits by GraphQL are not read here; use the REST API for them.',
        )
      return recogniseCall(call, { dialect, rows: ROWS, located: segments === null ? null : locate(segments) }, deps)
    },
  }
}

function unescaped(body: Buffer | null): string {
  const plain = body?.toString('utf8') ?? ''
  return plain.replaceAll(/\\u([0-9a-f]{4})/gi, (_, digits: string) =>
    String.fromCodePoint(Number.parseInt(digits, 16)),
  )
}

function isOfInterest({ upstreamPath }: CallHead): boolean {
  const segments = segmentsOf(upstreamPath)
  if (segments === null || segments.at(-1)?.toLowerCase() === 'graphql') return true
  const located = locate(segments)
  return located !== null && ROWS.some(({ path }) => matchSegments(path, located.rest) !== null)
}
