/** GitHub's REST API, version 2022-11-28, github.com or GitHub Enterprise Server. https://docs.github.com/rest */
import { lookupTable } from '../../engine/base.ts'
import { encodePath, filesInOrder, renamed, treeChanges, rawFile } from './files.ts'
import { at, commitAt, isCommitId, listAt, optionalTextAt, requiredTextAt } from './members.ts'
import {
  PLATFORMS,
  type ChangedFile,
  type CommitComparison,
  type FileAtCommit,
  type HeadPlace,
  type ListedCommit,
  type Listing,
  type MergeRequest,
  type Predecessor,
  type RepositoryFacts,
  type ScmClient,
  type WaitingMerges,
} from './platform.ts'
import { fold } from '../routing/path-reading.ts'
import { orAbsent, ScmError } from './scm-error.ts'
import type { ScmTransport } from './transport.ts'
import type { JsonObject } from '../json/strict-json.ts'

const { title } = PLATFORMS.scm_a
const JSON_TYPE = 'application/vnd.github+json'
const RAW_TYPE = 'application/vnd.github.raw+json'
/** A comparison lists no more files than this, however it is paged; what is listed up to here may have been cut off. */
const MAX_COMPARED = 300

const COMMITS_A_PAGE = 100
const PULLS_A_PAGE = 100
const MAX_COMMIT_PAGES = 10

/** Deployments that are looked through for the last good one. */
const MAX_DEPLOYMENTS = 20

/** @param repository path of the repository at the API: `/repos/owner/name`, or `/repositories/id` */
export function createGithubClient(transport: ScmTransport, repository: string): ScmClient {
  return new GithubClient(transport, repository)
}

class GithubClient implements ScmClient {
  readonly platform = 'scm_a'
  readonly #transport: ScmTransport
  readonly #repository: string
  /** Of files that a listing named as changed, by commit and path. */
  readonly #blobs = new Map<string, string>()
  /** The repository with those that it is a fork of. */
  #family: Promise<unknown> | null = null

  constructor(transport: ScmTransport, repository: string) {
    this.#transport = transport
    this.#repository = repository
  }

  async facts(): Promise<RepositoryFacts> {
    const answer = await this.#json('')
    return {
      name: requiredTextAt(answer, 'full_name'),
      defaultBranch: requiredTextAt(answer, 'default_branch'),
      // Shown to those who may push, and nobody else may merge.
      removesHeads: at(answer, 'delete_branch_on_merge') === true,
      isRebasedWhenBehind: false,
    }
  }

  async commitOf(ref: string): Promise<string> {
    return isCommitId(ref) ? ref : commitAt(await this.#json(`/commits/${encodeURIComponent(ref)}`), 'sha')
  }

  async branchTip(branch: string): Promise<string> {
    return commitAt(await this.#json(`/git/ref/heads/${encodePath(branch)}`), 'object', 'sha')
  }

  async keepsBranch(branch: string): Promise<boolean> {
    const path = encodePath(branch)
    if (at(await this.#json(`/branches/${path}`), 'protected') === true) return true
    const rules = await orAbsent(() => this.#json(`/rules/branches/${path}?per_page=100`))
    return rules !== null && listAt(rules).some(({ type }) => type === 'deletion')
  }

  async tagged(tag: string): Promise<string | null> {
    const ref = await orAbsent(() => this.#json(`/git/ref/tags/${encodePath(tag)}`))
    if (ref === null) return null
    const object = commitAt(ref, 'object', 'sha')
    // An annotated tag is an object of its own, which names the commit.
    return at(ref, 'object', 'type') === 'tag'
      ? commitAt(await this.#json(`/git/tags/${object}`), 'object', 'sha')
      : object
  }

  async compare(base: string, head: string): Promise<CommitComparison> {
    const answer = await this.#json(`/compare/${encodeURIComponent(base)}...${encodeURIComponent(head)}?per_page=1`)
    const mergeBase = commitAt(answer, 'merge_base_commit', 'sha')
    const listed = listAt(answer, 'files')
    for (const file of listed) this.#keepBlob(head, optionalTextAt(file, 'filename'), optionalTextAt(file, 'sha'))
    const files =
      listed.length < MAX_COMPARED
        ? { items: filesInOrder(listed.flatMap(changesInFile)), incomplete: null }
        : await this.#betweenTrees(mergeBase, head)
    return { mergeBase, files }
  }

  async changedFiles(from: string, to: string): Promise<Listing<ChangedFile>> {
    if (from === to) return { items: [], incomplete: null }
    const { mergeBase, files } = await this.compare(from, to)
    return mergeBase === from ? files : this.#betweenTrees(from, to)
  }

  file(path: string, commit: string): Promise<FileAtCommit> {
    return rawFile(this.#transport, {
      path,
      blob: this.#blobs.get(`${commit}:${path}`) ?? null,
      address: `${this.#repository}/contents/${encodePath(path)}?ref=${commit}`,
      // Raw, so that files past the megabyte of the JSON form come too.
      accept: RAW_TYPE,
      withheld: [403, 413],
      isFile: ({ headers }) => String(headers['content-type'] ?? '').includes('raw'),
    })
  }

  async paths(commit: string): Promise<Listing<string>> {
    const { items, incomplete } = await this.#tree(commit)
    return { items: items.map(([path]) => path), incomplete }
  }

  async mergeRequest(id: string): Promise<MergeRequest> {
    return pullRequest(await this.#json(`/pulls/${id}`), id)
  }

  /** GitHub turns auto-merge off only if somebody without write access moves the head, which is not known here. */
  async waitingMerges(branch: string, request: HeadPlace | null = null): Promise<WaitingMerges> {
    // A push may move many branches.
    this.#family ??= this.#json('')
    const own = await this.#family
    const fork = request?.isFromElsewhere === true ? await this.#forkOf(request) : null
    const name = requiredTextAt(fork ?? own, 'full_name')
    const ownName = requiredTextAt(own, 'full_name')
    const upstream = ['parent', 'source'].flatMap((one) => optionalTextAt(fork ?? own, one, 'full_name') ?? [])
    // Whoever moves a branch of a fork may write there, so its requests must be readable.
    const elsewhere = fork === null ? [] : [...(await this.#pullsOf(`/repos/${name}`, name, branch))]
    // Who cannot read a repository cannot write to it, and then auto-merge is turned off.
    for (const one of new Set(upstream))
      if (one !== ownName && one !== name)
        elsewhere.push(...((await orAbsent(() => this.#pullsOf(`/repos/${one}`, name, branch))) ?? []))
    return {
      own: (await this.#pullsOf(this.#repository, name, branch)).flatMap(waitingPull),
      elsewhere: elsewhere.flatMap(waitingPull),
    }
  }

  /** The repository of a head that is not in this one. */
  async #forkOf({ headRepository }: HeadPlace): Promise<unknown> {
    if (headRepository === null) throw new ScmError('unexpected', `${title} does not name the repository of the head`)
    return this.#transport.json(await this.#transport.get(`/repos/${headRepository}`, JSON_TYPE))
  }

  /** Open pull requests at `repository` whose head is a branch of the repository `name`. */
  async #pullsOf(repository: string, name: string, branch: string): Promise<readonly JsonObject[]> {
    const [owner = ''] = name.split('/')
    const query = `state=open&head=${encodeURIComponent(`${owner}:${branch}`)}&per_page=${PULLS_A_PAGE}`
    const answer = await this.#transport.get(`${repository}/pulls?${query}`, JSON_TYPE)
    const listed = listAt(await this.#transport.json(answer))
    if (listed.length === PULLS_A_PAGE)
      throw new ScmError('unexpected', `${title} lists ${PULLS_A_PAGE} or more pull requests of ${branch}`)
    // Two repositories of one owner may be forks of each other.
    return listed.filter((pull) => (optionalTextAt(pull, 'head', 'repo', 'full_name') ?? name) === name)
  }

  async parentsOf(commit: string): Promise<readonly string[]> {
    return listAt(await this.#json(`/git/commits/${commit}`), 'parents').map((parent) => commitAt(parent, 'sha'))
  }

  async commitsBetween(from: string, to: string): Promise<Listing<ListedCommit>> {
    const items: ListedCommit[] = []
    for (let page = 1; page <= MAX_COMMIT_PAGES; page += 1) {
      const answer = await this.#json(`/compare/${from}...${to}?per_page=${COMMITS_A_PAGE}&page=${page}`)
      const listed = listAt(answer, 'commits')
      items.push(...listed.map((one) => ({ id: commitAt(one, 'sha'), isMerge: listAt(one, 'parents').length > 1 })))
      if (listed.length < COMMITS_A_PAGE) return { items, incomplete: null }
    }
    return { items, incomplete: `there are more than ${MAX_COMMIT_PAGES * COMMITS_A_PAGE} commits` }
  }

  async previous(what: Predecessor): Promise<string | null> {
    if (what.kind === 'workflow') {
      const runs = await this.#json(
        `/actions/workflows/${encodeURIComponent(what.workflow)}/runs?status=success&per_page=1`,
      )
      const [last] = listAt(runs, 'workflow_runs')
      return last === undefined ? null : commitAt(last, 'head_sha')
    }
    if (what.kind === 'release') {
      const tag = await orAbsent(async () => requiredTextAt(await this.#json('/releases/latest'), 'tag_name'))
      return tag === null ? null : this.tagged(tag)
    }
    for (const deployment of await this.#deploymentsTo(what.environment)) {
      const [status] = listAt(await this.#json(`/deployments/${String(deployment['id'])}/statuses?per_page=1`))
      if (at(status, 'state') === 'success') return commitAt(deployment, 'sha')
    }
    return null
  }

  /** The filter tells letters of another case apart, and the platform does not. */
  async #deploymentsTo(environment: string): Promise<readonly JsonObject[]> {
    const query = `environment=${encodeURIComponent(environment)}&per_page=${MAX_DEPLOYMENTS}`
    const listed = listAt(await this.#json(`/deployments?${query}`))
    if (listed.length > 0) return listed
    const all = listAt(await this.#json('/deployments?per_page=100'))
    return all.filter((one) => fold(String(one['environment'])) === fold(environment)).slice(0, MAX_DEPLOYMENTS)
  }

  async #json(path: string): Promise<unknown> {
    return this.#transport.json(await this.#transport.get(`${this.#repository}${path}`, JSON_TYPE))
  }

  async #tree(commit: string): Promise<Listing<readonly [string, string]>> {
    const answer = await this.#json(`/git/trees/${commit}?recursive=1`)
    const items = listAt(answer, 'tree').flatMap((entry): readonly (readonly [string, string])[] =>
      entry['type'] === 'tree'
        ? []
        : [[requiredTextAt(entry, 'path'), `${requiredTextAt(entry, 'mode')} ${requiredTextAt(entry, 'sha')}`]],
    )
    const incomplete = at(answer, 'truncated') === false ? null : `${title} cut off the list of all files at ${commit}`
    return { items, incomplete }
  }

  async #betweenTrees(from: string, to: string): Promise<Listing<ChangedFile>> {
    const after = await this.#tree(to)
    const changes = treeChanges(await this.#tree(from), after)
    const entries = new Map(after.items)
    for (const { path } of changes.items) this.#keepBlob(to, path, entries.get(path)?.split(' ')[1] ?? null)
    return changes
  }

  #keepBlob(commit: string, path: string | null, blob: string | null): void {
    if (path !== null && blob !== null) this.#blobs.set(`${commit}:${path}`, blob)
  }
}

function changesInFile(file: JsonObject): readonly ChangedFile[] {
  const path = requiredTextAt(file, 'filename')
  const status = requiredTextAt(file, 'status')
  const before = optionalTextAt(file, 'previous_filename')
  if (status === 'renamed' || status === 'copied') return renamed(before ?? path, path, status === 'copied')
  const known = STATUSES[status]
  if (known !== undefined) return known === null ? [] : [{ path, change: known }]
  throw new ScmError('unexpected', `${title} says of ${path} that it is "${status}"`)
}

const STATUSES: Readonly<Record<string, ChangedFile['change'] | null>> = lookupTable({
  added: 'added',
  modified: 'modified',
  changed: 'modified',
  removed: 'removed',
  unchanged: null,
})

/** Null: the platform makes a merge commit. */
export function isRebaseMethod(method: string | null): boolean {
  return method !== null && !/^(?:merge|squash)$/i.test(method)
}

function waitingPull(pull: JsonObject): WaitingMerges['own'] {
  const { auto_merge: autoMerge, number } = pull
  if (autoMerge === null) return []
  if (autoMerge === undefined) throw new ScmError('unexpected', `${title} does not state whether a pull request waits`)
  return [
    {
      name: `${requiredTextAt(pull, 'base', 'repo', 'full_name')}#${String(number)}`,
      base: requiredTextAt(pull, 'base', 'ref'),
    },
  ]
}

function pullRequest(answer: unknown, id: string): MergeRequest {
  return {
    id,
    isOpen: optionalTextAt(answer, 'state') !== 'closed',
    base: requiredTextAt(answer, 'base', 'ref'),
    head: requiredTextAt(answer, 'head', 'ref'),
    headSha: commitAt(answer, 'head', 'sha'),
    trialMerge: optionalTextAt(answer, 'merge_commit_sha'),
    isRebase: false,
    removesHead: false,
    isFromElsewhere: at(answer, 'head', 'repo', 'full_name') !== at(answer, 'base', 'repo', 'full_name'),
    headRepository: optionalTextAt(answer, 'head', 'repo', 'full_name') ?? null,
  }
}
