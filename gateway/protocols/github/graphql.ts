/**
 * GitHub's GraphQL API: which mutations of a request merge, deploy or change settings. https://docs.github.com/graphql
 */
import type { ScmRoute } from '../scm/settings.ts'
import { lookupTable } from '../../../engine/base.ts'
import { createGithubClient, isRebaseMethod } from '../../scm/github.ts'
import { at, optionalTextAt, requiredTextAt } from '../../scm/members.ts'
import { PLATFORMS } from '../../scm/platform.ts'
import { ScmError } from '../../scm/scm-error.ts'
import type { ScmTransport } from '../../scm/transport.ts'
import type { Action } from '../common/action.ts'
import type { Call } from '../../calls/call.ts'
import { isProtected, passingScmCall, refusedScmCall, ScmAction, transportFor, type ScmDeps } from '../scm/action.ts'
import { mutationsOf, type Called } from '../scm/graphql.ts'
import { GITHUB_MUTATIONS } from './mutations.ts'
import { receiptOf, mutationCheck } from '../scm/mutations.ts'
import { receiptAction } from '../scm/receipt.ts'
import { retarget, sourceUpdate } from '../scm/table.ts'
import { refuseRemoval } from '../scm/removal.ts'
import { refuseMergeBefore, refuseUnknownRun } from './deployments.ts'
import { UnreadableIntent, type ScmIntent } from '../scm/intent.ts'
import {
  branchOf,
  decodedContent,
  requestParameters,
  removed,
  requiredText,
  tagOf,
  textOfParameter,
  writtenFile,
  type Parameters,
} from '../scm/request.ts'

/** The effect of a mutation's `input`; nodes are looked up by their ids. */
interface Mutation {
  readonly head?: (input: Parameters) => string | null
  readonly intent: (input: Parameters, nodes: Nodes) => Promise<ScmIntent>
}

const { title } = PLATFORMS.scm_a

const AUTO_MERGE = 'enablePullRequestAutoMerge'

/** Mutations that are judged. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = lookupTable({
  mergePullRequest: { head: expectedHead, intent: mergeOfNode },
  enqueuePullRequest: { head: expectedHead, intent: enqueuedNode },
  [AUTO_MERGE]: { head: expectedHead, intent: mergeOfNode },
  mergeBranch: {
    async intent(input, nodes) {
      const repository = await nodes.repository(requiredText(input, 'repositoryId'))
      return {
        kind: 'merge_branches',
        repository,
        base: requiredText(input, 'base'),
        head: requiredText(input, 'head'),
      }
    },
  },
  updateRef: {
    async intent(input, nodes) {
      const { repository, ref } = await nodes.ref(requiredText(input, 'refId'))
      const commit = requiredText(input, 'oid')
      const tag = tagOf(ref)
      return tag === null
        ? { kind: 'move_branch', repository, branch: branchNamed(ref), commit }
        : { kind: 'move_tag', repository, tag, commit }
    },
  },
  createRef: {
    async intent(input, nodes) {
      const branch = branchOf(requiredText(input, 'name'))
      if (branch === null) throw new UnreadableIntent('create refs other than branches with the REST API.')
      const repository = await nodes.repository(requiredText(input, 'repositoryId'))
      return { kind: 'move_branch', repository, branch, commit: requiredText(input, 'oid') }
    },
  },
  createCommitOnBranch: { intent: commitOnBranch },
  createDeployment: {
    async intent(input, nodes) {
      const { repository, ref } = await nodes.ref(requiredText(input, 'refId'))
      const branch = branchNamed(ref)
      const environment = textOfParameter(input, 'environment') ?? 'production'
      const since = { kind: 'deployment', environment } as const
      return { kind: 'ship', operation: 'deploy', repository, ref: branch, since, label: environment }
    },
  },
})

/** Changes texts and marks of a pull request, and its base. */
const PULL_CHANGE = 'updatePullRequest'

/** They do the same in a form that is not supported; there is another way for each. */
export const UNREAD: Readonly<Record<string, string>> = lookupTable({
  updateRefs: 'updateRef',
  revertPullRequest: 'a pull request that is made by hand',
})

/** Merges the base of a pull request into its head. */
const SOURCE_UPDATE = 'updatePullRequestBranch'
/** Creates a branch for an issue. */
const LINKED_BRANCH = 'createLinkedBranch'
/** Runs the workflows of a commit again. */
const RERUN = 'rerequestCheckSuite'
/** Takes a branch or a tag away. */
const REF_REMOVAL = 'deleteRef'
/** Forwarded unless they concern a protected branch or tag, or the workflows that the route names. */
export const CHECKED: ReadonlySet<string> = new Set([SOURCE_UPDATE, LINKED_BRANCH, RERUN, REF_REMOVAL])

function expectedHead(input: Parameters): string | null {
  return textOfParameter(input, 'expectedHeadOid')
}

async function mergeOfNode(
  input: Parameters,
  nodes: Nodes,
): Promise<Extract<ScmIntent, { readonly kind: 'merge_request' }>> {
  const { repository, number } = await nodes.pullRequest(requiredText(input, 'pullRequestId'))
  const isRebase = isRebaseMethod(textOfParameter(input, 'mergeMethod'))
  const head = expectedHead(input)
  return { kind: 'merge_request', repository, id: number, head, onto: null, isRebase, removesHead: null }
}

/** A queue merges by the method that it is set to. */
async function enqueuedNode(input: Parameters, nodes: Nodes): Promise<ScmIntent> {
  const id = requiredText(input, 'pullRequestId')
  const merge = await mergeOfNode(input, nodes)
  return { ...merge, isRebase: isRebaseMethod(await nodes.queueMethod(id)) }
}

async function commitOnBranch(input: Parameters, nodes: Nodes): Promise<ScmIntent> {
  const branch = input['branch']
  const id = optionalTextAt(branch, 'id')
  if (id !== null && ['repositoryNameWithOwner', 'branchName'].some((name) => at(branch, name) !== undefined))
    throw new UnreadableIntent('the branch of the commit is named twice, by its id and by its name.')
  const place =
    id === null
      ? {
          repository: repositoryPath(requiredTextIn(branch, 'repositoryNameWithOwner')),
          branch: requiredTextIn(branch, 'branchName'),
        }
      : await branchOfNode(id, nodes)
  const additions = itemsIn(at(input['fileChanges'], 'additions')).map((file) =>
    writtenFile(requiredTextIn(file, 'path'), decodedContent(optionalTextAt(file, 'contents') ?? '', 'base64')),
  )
  const deletions = itemsIn(at(input['fileChanges'], 'deletions')).map((file) => removed(requiredTextIn(file, 'path')))
  return {
    kind: 'write_files',
    repository: place.repository,
    branch: branchOf(place.branch) ?? place.branch,
    writes: [...additions, ...deletions],
  }
}

async function branchOfNode(id: string, nodes: Nodes) {
  const { repository, ref } = await nodes.ref(id)
  return { repository, branch: branchNamed(ref) }
}

/** @throws UnreadableIntent for a ref of another kind */
function branchNamed(ref: string): string {
  const branch = branchOf(ref)
  if (branch === null) throw new UnreadableIntent('The ref is not a branch.')
  return branch
}

/** A single value in place of a list is a list of one (GraphQL, Input Coercion). */
function itemsIn(list: unknown): readonly unknown[] {
  if (list === undefined || list === null) return []
  return Array.isArray(list) ? list : [list]
}

function requiredTextIn(value: unknown, name: string): string {
  const found = optionalTextAt(value, name)
  if (found === null) throw new UnreadableIntent(`"${name}" is missing in the input of the mutation.`)
  return found
}

function repositoryPath(nameWithOwner: string): string {
  const [owner = '', name = '', ...others] = nameWithOwner.split('/')
  if (owner === '' || name === '' || others.length > 0)
    throw new UnreadableIntent(`"${nameWithOwner}" is not the name of a repository.`)
  return `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`
}

/** Looks up nodes by their ids, with the credentials of the call. */
interface Nodes {
  repository(id: string): Promise<string>
  pullRequest(id: string): Promise<{ readonly repository: string; readonly number: string }>
  /** By which the merge queue for a pull request merges. */
  queueMethod(id: string): Promise<string>
  /** With its prefix, such as `refs/heads/`. */
  ref(id: string): Promise<{ readonly repository: string; readonly ref: string }>
}

const NODE_QUERY = `query($id: ID!) { node(id: $id) { __typename
  ... on Repository { nameWithOwner }
  ... on PullRequest { number repository { nameWithOwner } }
  ... on Ref { name prefix repository { nameWithOwner } } } }`

/** Older servers have no queues, so it is asked only where one is meant. */
const QUEUE_QUERY = `query($id: ID!) { node(id: $id) { __typename
  ... on PullRequest { mergeQueue { configuration { mergeMethod } } } } }`

function createNodes(transport: ScmTransport): Nodes {
  const ask = async (id: string, kind: string, query = NODE_QUERY): Promise<unknown> => {
    const answer = await transport.json(await transport.send('POST', '/graphql', { query, variables: { id } }))
    const node = at(answer, 'data', 'node')
    if (at(node, '__typename') === kind) return node
    throw new ScmError('refused', `${title} shows no ${kind} of this id`, { status: 404 })
  }
  return {
    repository: async (id) => repositoryPath(requiredTextAt(await ask(id, 'Repository'), 'nameWithOwner')),
    async pullRequest(id) {
      const node = await ask(id, 'PullRequest')
      return {
        repository: repositoryPath(requiredTextAt(node, 'repository', 'nameWithOwner')),
        number: String(at(node, 'number')),
      }
    },
    async queueMethod(id) {
      return requiredTextAt(await ask(id, 'PullRequest', QUEUE_QUERY), 'mergeQueue', 'configuration', 'mergeMethod')
    },
    async ref(id) {
      const node = await ask(id, 'Ref')
      return {
        repository: repositoryPath(requiredTextAt(node, 'repository', 'nameWithOwner')),
        ref: requiredTextAt(node, 'prefix') + requiredTextAt(node, 'name'),
      }
    },
  }
}

export async function recogniseGithubGraphql(
  call: Call<ScmRoute>,
  segments: readonly string[],
  deps: ScmDeps,
): Promise<Action> {
  const path = `/${segments.join('/')}`
  try {
    const called = await mutationsOf(requestParameters(call))
    const judged = called.filter(({ name }) => Object.hasOwn(MUTATIONS, name))
    const unread = called.find(({ name }) => Object.hasOwn(UNREAD, name))
    if (unread !== undefined)
      throw new UnreadableIntent(`${unread.name} is not supported here; use ${UNREAD[unread.name]} instead.`)
    refuseLinked(call, called)
    if (called.some(({ name: one }) => one === RERUN)) refuseUnknownRun(call)
    const name = `${call.method} ${path} ${called.map((one) => one.name).join(' ')}`.trim()
    const [root, prefix] = rootsOf(segments)
    const transportAt = (at: string) => transportFor(call, { platform: 'scm_a', prefix: at }, deps)
    for (const { input } of called.filter((one) => one.name === SOURCE_UPDATE)) {
      const { repository, number } = await createNodes(transportAt(root)).pullRequest(
        requiredText(input, 'pullRequestId'),
      )
      await sourceUpdate(call, createGithubClient(transportAt(prefix), repository), number)
    }
    const receipts = called.filter(({ name: one }) => !Object.hasOwn(MUTATIONS, one) && !CHECKED.has(one))
    for (const { input } of called.filter((one) => one.name === REF_REMOVAL))
      refuseRemoval(call, (await createNodes(transportAt(root)).ref(requiredText(input, 'refId'))).ref)
    const checks = receipts.flatMap((one) => {
      const operation = receiptOf(one, GITHUB_MUTATIONS, {
        platform: 'scm_a',
        checkName: deps.config().scm.checks.name,
      })
      return operation === null ? [] : [mutationCheck('github', one, operation)]
    })
    const retargets = await retargetsIn(call, called, { root: transportAt(root), rest: transportAt(prefix) })
    const isJudged = judged.length > 0 || retargets.length > 0
    if (!isJudged) return checks.length === 0 ? passingScmCall(name) : receiptAction(name, checks)
    // What runs before a merge may change its base or its head: GitHub gives a request another base when its own is deleted.
    if (checks.length > 0 || called.some((one) => CHECKED.has(one.name)))
      throw new UnreadableIntent(
        'a request that merges and changes other things is not supported here; send them one by one.',
      )
    refuseMoveBesideMerge(judged)
    refuseUnpinned(call, judged)
    const intents = async (): Promise<readonly ScmIntent[]> => {
      const nodes = createNodes(transportAt(root))
      const made: ScmIntent[] = [...retargets]
      for (const { name: mutation, input } of judged) {
        const intent = await MUTATIONS[mutation]?.intent(input, nodes)
        if (intent === undefined) continue
        if (intent.kind === 'ship' && intent.ref !== null && input['autoMerge'] !== false)
          await refuseMergeBefore(call, intent.ref, createGithubClient(transportAt(prefix), intent.repository))
        made.push(intent)
      }
      return made
    }
    return new ScmAction(call, { platform: 'scm_a', createClient: createGithubClient, name, prefix, intents }, deps)
  } catch (error) {
    if (error instanceof UnreadableIntent || error instanceof ScmError)
      return refusedScmCall(call, `${call.method} ${path}`, error.message)
    throw error
  }
}

/** What giving pull requests another base is judged as. */
async function retargetsIn(
  call: Call<ScmRoute>,
  called: readonly Called[],
  { root, rest }: { readonly root: ScmTransport; readonly rest: ScmTransport },
): Promise<readonly ScmIntent[]> {
  const found: ScmIntent[] = []
  for (const { input } of called.filter(({ name }) => name === PULL_CHANGE)) {
    const base = textOfParameter(input, 'baseRefName')
    if (base === null) continue
    const { repository, number } = await createNodes(root).pullRequest(requiredText(input, 'pullRequestId'))
    const client = () => createGithubClient(rest, repository)
    found.push(...(await retarget({ call, repository, client }, number, base)))
  }
  return found
}

/**
 * The roots of GraphQL and of the REST API: on github.com at the root, on an Enterprise Server next to `/api/graphql`.
 */
function rootsOf(segments: readonly string[]): readonly [graphql: string, rest: string] {
  if (segments.length === 1) return ['', '']
  const root = `/${segments.slice(0, -1).join('/')}`
  return [root, `${root}/v3`]
}

/** Creates a branch for an issue, at any commit; without a name its name is the title of the issue. */
function refuseLinked(call: Call<ScmRoute>, called: readonly Called[]): void {
  const linked = called.filter(({ name }) => name === LINKED_BRANCH).map(({ input }) => textOfParameter(input, 'name'))
  if (linked.some((name) => name !== null && isProtected(call, branchOf(name))))
    throw new UnreadableIntent(
      'createLinkedBranch is not supported here; use createRef for a protected branch instead.',
    )
}

/** Of one request. */
const MERGES: ReadonlySet<string> = new Set(['mergePullRequest', 'enqueuePullRequest', AUTO_MERGE])

/** Such a request is judged as of before it, and what runs first may move the head that then merges. */
function refuseMoveBesideMerge(judged: readonly Called[]): void {
  const isAlone = judged.length < 2 || !judged.some(({ name }) => MERGES.has(name))
  if (isAlone || (judged.every(({ name }) => MERGES.has(name)) && !judged.some(({ name }) => name === AUTO_MERGE)))
    return
  throw new UnreadableIntent(
    'a merge beside a change of a branch, and auto-merge beside another merge, are not supported here; send them one by one.',
  )
}

function refuseUnpinned({ route }: Call<ScmRoute>, judged: readonly Called[]): void {
  if (route.scm.auto_merge === 'deny' && judged.some(({ name }) => name === AUTO_MERGE))
    throw new UnreadableIntent(
      'auto-merge would merge commits that are added after the decision. Merge when the checks have passed (routes[].scm.auto_merge).',
    )
  const unpinned = judged.find(({ name, input }) => MUTATIONS[name]?.head?.(input) === null)
  if (route.scm.require_head && unpinned !== undefined)
    throw new UnreadableIntent(`${unpinned.name} does not name its head commit (expectedHeadOid).`)
}
