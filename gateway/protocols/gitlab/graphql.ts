/**
 * GitLab's GraphQL API: merges are judged, commits refused, and a table decides on all other mutations.
 * https://docs.gitlab.com/api/graphql/
 */
import type { ScmRoute } from '../scm/settings.ts'
import { createGitlabClient } from '../../scm/gitlab.ts'
import type { Action } from '../common/action.ts'
import type { Call } from '../../calls/call.ts'
import { passingScmCall, refusedScmCall, ScmAction, type ScmDeps } from '../scm/action.ts'
import { mayMutate, mutationsOf, type Called } from '../scm/graphql.ts'
import { UnreadableIntent, type ScmIntent } from '../scm/intent.ts'
import { GITLAB_MUTATIONS } from './mutations.ts'
import { receiptOf, mutationCheck } from '../scm/mutations.ts'
import { quickActionsOf, refuseOtherTarget } from '../scm/quick-actions.ts'
import { receiptAction } from '../scm/receipt.ts'
import {
  maySet,
  requestParameters,
  requiredText,
  statesOnly,
  textOfParameter,
  type Parameters,
} from '../scm/request.ts'
import { splitNames } from '../scm/name-list.ts'
import { isJsonObject, readStrictJson } from '../../json/strict-json.ts'

const MERGE = 'mergeRequestAccept'
/** They change a branch, tag or release in a form that is not supported; the REST API does the same. */
const UNREAD: ReadonlySet<string> = new Set(
  splitNames('commitCreate createBranch branchDelete tagDelete projectSyncFork releaseCreate'),
)

/** @param segments of the path, which ends with that of the GraphQL API */
export async function recogniseGitlabGraphql(
  call: Call<ScmRoute>,
  segments: readonly string[],
  deps: ScmDeps,
): Promise<Action> {
  const path = `/${segments.join('/')}`
  if (!mayMutate(call)) return passingScmCall(`${call.method} ${path}`)
  try {
    const called = await calledIn(call)
    const name = `${call.method} ${path} ${called.map((one) => one.name).join(' ')}`.trim()
    return called.some((one) => one.name === MERGE || UNREAD.has(one.name))
      ? merging(call, name, mergesIn(called), { segments, deps })
      : unjudgedMutations(name, called, deps)
  } catch (error) {
    if (error instanceof UnreadableIntent) return refusedScmCall(call, `${call.method} ${path}`, error.message)
    throw error
  }
}

type MergeIntent = Extract<ScmIntent, { readonly kind: 'merge_request' }>

function merging(
  call: Call<ScmRoute>,
  name: string,
  merges: readonly MergeIntent[],
  { segments, deps }: { readonly segments: readonly string[]; readonly deps: ScmDeps },
): Action {
  const unpinned = call.route.scm.require_head && merges.some(({ head }) => head === null)
  if (unpinned) throw new UnreadableIntent('it does not name its head commit (sha).')
  const prefix = `/${[...segments.slice(0, -1), 'v4'].join('/')}`
  const intents = (): Promise<readonly ScmIntent[]> => Promise.resolve(merges)
  return new ScmAction(call, { platform: 'scm_b', createClient: createGitlabClient, name, prefix, intents }, deps)
}

function unjudgedMutations(name: string, called: readonly Called[], deps: ScmDeps): Action {
  for (const one of called) refuseRequestChange(one)
  const checks = called.flatMap((one) => {
    const operation = receiptOf(one, GITLAB_MUTATIONS, { platform: 'scm_b', checkName: deps.config().scm.checks.name })
    return operation === null ? [] : [mutationCheck('gitlab', one, operation)]
  })
  return checks.length === 0 ? passingScmCall(name) : receiptAction(name, checks)
}

/** The REST API judges what a request that is there gets by another target, and what its merge would delete. */
function refuseRequestChange({ name, input }: Called): void {
  if (name === 'mergeRequestCreate') return
  refuseOtherTarget(quickActionsOf(input))
  const isChanged = textOfParameter(input, 'targetBranch') !== null || maySet(input, 'removeSourceBranch')
  if (name === 'mergeRequestUpdate' && isChanged)
    throw new UnreadableIntent('another target and the removal of the source branch are sent with the REST API here.')
}

/**
 * Rails reads a list of requests from a member `_json`, and another document from the `operations` of a form: then
 * `query` is not executed.
 */
const MEMBERS: ReadonlySet<string> = new Set(['query', 'variables', 'operationName', 'extensions'])

/**
 * The mutations that a request, or a list of requests, calls. @throws UnreadableIntent where it has no single reading
 */
async function calledIn(call: Call<ScmRoute>): Promise<readonly Called[]> {
  const called: Called[] = []
  for (const parameters of requestsIn(call)) {
    if (!statesOnly(parameters, MEMBERS))
      throw new UnreadableIntent(
        'content in addition to the GraphQL document is not supported here; send the document alone.',
      )
    called.push(...(await mutationsOf(parameters)))
  }
  return called
}

function requestsIn(call: Call<ScmRoute>): readonly Parameters[] {
  const { body, headers, upstreamPath } = call
  const isJson = /^application\/json/i.test(headers['content-type'] ?? '') && headers['content-encoding'] === undefined
  const json = isJson && body !== null ? readStrictJson(body) : null
  if (json === null || !json.ok || !Array.isArray(json.value)) return [requestParameters(call)]
  const requests: readonly unknown[] = json.value
  if (upstreamPath.includes('?') || !requests.every(isJsonObject))
    throw new UnreadableIntent('the list of requests in the body cannot be read.')
  return requests.filter(isJsonObject)
}

/** At least one. @throws UnreadableIntent where the request does anything but merge */
function mergesIn(called: readonly Called[]): readonly MergeIntent[] {
  if (called.some(({ name }) => name !== MERGE))
    throw new UnreadableIntent(
      'over GraphQL only merges are supported (mergeRequestAccept, alone in its request); use the REST API for commits, branches, tags, releases and comments that merge.',
    )
  return called.map(mergeOf)
}

function mergeOf({ input }: Called): Extract<ScmIntent, { readonly kind: 'merge_request' }> {
  const id = requiredText(input, 'iid')
  if (!/^[1-9][0-9]{0,9}$/.test(id)) throw new UnreadableIntent(`"${id}" is not the number of a merge request.`)
  const project = requiredText(input, 'projectPath')
  return {
    kind: 'merge_request',
    repository: `/projects/${encodeURIComponent(project)}`,
    id,
    head: textOfParameter(input, 'sha'),
    onto: null,
    isRebase: null,
    removesHead: maySet(input, 'shouldRemoveSourceBranch') ? true : null,
  }
}
