/** GitLab's REST API, version 4. https://docs.gitlab.com/api/rest/ */
import { filesInOrder, renamed, treeChanges, rawFile } from './files.ts'
import { at, commitAt, isCommitId, listAt, optionalTextAt, requiredTextAt } from './members.ts'
import {
  NO_WAITING_MERGES,
  PLATFORMS,
  type ChangedFile,
  type CommitComparison,
  type FileAtCommit,
  type ListedCommit,
  type Listing,
  type MergeRequest,
  type Predecessor,
  type RepositoryFacts,
  type ScmClient,
  type WaitingMerges,
} from './platform.ts'
import { orAbsent, ScmError } from './scm-error.ts'
import type { ScmTransport } from './transport.ts'
import type { JsonObject } from '../json/strict-json.ts'

const { title } = PLATFORMS.scm_b
/** The least of the instance limits that cut a comparison off silently (`diff_max_files`). */
const MAX_COMPARED = 1000
const MAX_PAGES = 200
const COMMITS_A_PAGE = 100
const MAX_COMMIT_PAGES = 10

/** @param repository path of the project at the API: `/projects/id` or `/projects/group%2Fname` */
export function createGitlabClient(transport: ScmTransport, repository: string): ScmClient {
  return new GitlabClient(transport, repository)
}

class GitlabClient implements ScmClient {
  readonly platform = 'scm_b'
  readonly #transport: ScmTransport
  readonly #repository: string

  constructor(transport: ScmTransport, repository: string) {
    this.#transport = transport
    this.#repository = repository
  }

  async facts(): Promise<RepositoryFacts> {
    const answer = await this.#json('')
    return {
      name: requiredTextAt(answer, 'path_with_namespace'),
      defaultBranch: requiredTextAt(answer, 'default_branch'),
      removesHeads: false,
      isRebasedWhenBehind: !['merge', null].includes(optionalTextAt(answer, 'merge_method')),
    }
  }

  async commitOf(ref: string): Promise<string> {
    return isCommitId(ref) ? ref : commitAt(await this.#json(`/repository/commits/${encodeURIComponent(ref)}`), 'id')
  }

  async branchTip(branch: string): Promise<string> {
    return commitAt(await this.#json(`/repository/branches/${encodeURIComponent(branch)}`), 'commit', 'id')
  }

  async keepsBranch(branch: string): Promise<boolean> {
    return at(await this.#json(`/repository/branches/${encodeURIComponent(branch)}`), 'protected') === true
  }

  tagged(tag: string): Promise<string | null> {
    return orAbsent(async () =>
      commitAt(await this.#json(`/repository/tags/${encodeURIComponent(tag)}`), 'commit', 'id'),
    )
  }

  async compare(base: string, head: string): Promise<CommitComparison> {
    const mergeBase = commitAt(await this.#json(`/repository/merge_base?refs[]=${base}&refs[]=${head}`), 'id')
    return { mergeBase, files: await this.changedFiles(mergeBase, head) }
  }

  async changedFiles(from: string, to: string): Promise<Listing<ChangedFile>> {
    if (from === to) return { items: [], incomplete: null }
    const answer = await this.#json(`/repository/compare?from=${from}&to=${to}&straight=true`)
    const listed = listAt(answer, 'diffs')
    const isWhole = listed.length < MAX_COMPARED && at(answer, 'compare_timeout') !== true
    return isWhole
      ? { items: filesInOrder(listed.flatMap(changesInDiff)), incomplete: null }
      : treeChanges(await this.#tree(from), await this.#tree(to))
  }

  file(path: string, commit: string): Promise<FileAtCommit> {
    return rawFile(this.#transport, {
      path,
      blob: null,
      address: `${this.#repository}/repository/files/${encodeURIComponent(path)}/raw?ref=${commit}`,
      accept: '*/*',
      withheld: [413],
      isFile: () => true,
    })
  }

  async paths(commit: string): Promise<Listing<string>> {
    const { items, incomplete } = await this.#tree(commit)
    return { items: items.map(([path]) => path), incomplete }
  }

  async mergeRequest(id: string): Promise<MergeRequest> {
    const answer = await this.#json(`/merge_requests/${id}`)
    return {
      id,
      isOpen: !['closed', 'merged'].includes(optionalTextAt(answer, 'state') ?? ''),
      base: requiredTextAt(answer, 'target_branch'),
      head: requiredTextAt(answer, 'source_branch'),
      headSha: commitAt(answer, 'sha'),
      trialMerge: null,
      isRebase: false,
      removesHead: ['force_remove_source_branch', 'should_remove_source_branch'].some(
        (name) => at(answer, name) === true,
      ),
      isFromElsewhere: at(answer, 'source_project_id') !== at(answer, 'target_project_id'),
      headRepository: null,
    }
  }

  /** GitLab turns auto-merge off when commits are added: https://docs.gitlab.com/user/project/merge_requests/auto_merge/ */
  waitingMerges(): Promise<WaitingMerges> {
    return Promise.resolve(NO_WAITING_MERGES)
  }

  async parentsOf(commit: string): Promise<readonly string[]> {
    return parentIds(await this.#json(`/repository/commits/${commit}`))
  }

  async commitsBetween(from: string, to: string): Promise<Listing<ListedCommit>> {
    const items: ListedCommit[] = []
    for (let page = 1; page <= MAX_COMMIT_PAGES; page += 1) {
      const query = `ref_name=${from}..${to}&per_page=${COMMITS_A_PAGE}&page=${page}`
      const listed = listAt(await this.#json(`/repository/commits?${query}`))
      items.push(...listed.map((one) => ({ id: commitAt(one, 'id'), isMerge: parentIds(one).length > 1 })))
      if (listed.length < COMMITS_A_PAGE) return { items, incomplete: null }
    }
    return { items, incomplete: `there are more than ${MAX_COMMIT_PAGES * COMMITS_A_PAGE} commits` }
  }

  async previous(what: Predecessor): Promise<string | null> {
    if (what.kind === 'release') {
      const [last] = listAt(await this.#json('/releases?order_by=released_at&sort=desc&per_page=1'))
      return last === undefined ? null : commitAt(last, 'commit', 'id')
    }
    if (what.kind === 'workflow') throw new ScmError('unexpected', `${title} has no workflows to dispatch`)
    const environment = encodeURIComponent(what.environment)
    const query = `environment=${environment}&status=success&order_by=id&sort=desc&per_page=1`
    const [last] = listAt(await this.#json(`/deployments?${query}`))
    return last === undefined ? null : commitAt(last, 'sha')
  }

  async #json(path: string): Promise<unknown> {
    return this.#transport.json(await this.#transport.get(`${this.#repository}${path}`))
  }

  #tree(commit: string): Promise<Listing<readonly [string, string]>> {
    return listTree(this.#transport, this.#repository, commit)
  }
}

function parentIds(commit: unknown): readonly string[] {
  const parents = at(commit, 'parent_ids')
  return Array.isArray(parents) ? parents.filter((parent) => typeof parent === 'string') : []
}

function changesInDiff(diff: JsonObject): readonly ChangedFile[] {
  const path = requiredTextAt(diff, 'new_path')
  if (diff['new_file'] === true) return [{ path, change: 'added' }]
  if (diff['deleted_file'] === true) return [{ path: requiredTextAt(diff, 'old_path'), change: 'removed' }]
  return renamed(requiredTextAt(diff, 'old_path'), path)
}

/** By keyset pages: the one kind that large repositories answer. */
async function listTree(
  transport: ScmTransport,
  repository: string,
  commit: string,
): Promise<Listing<readonly [string, string]>> {
  const items: (readonly [string, string])[] = []
  let page: string | null = `${repository}/repository/tree?ref=${commit}&recursive=true&per_page=100&pagination=keyset`
  for (let count = 0; page !== null; count += 1) {
    if (count === MAX_PAGES) return { items, incomplete: `there are more than ${MAX_PAGES * 100} files at ${commit}` }
    const answer = await transport.get(page)
    for (const entry of listAt(await transport.json(answer)))
      if (entry['type'] !== 'tree')
        items.push([requiredTextAt(entry, 'path'), `${requiredTextAt(entry, 'mode')} ${requiredTextAt(entry, 'id')}`])
    page = nextPageLink(answer.headers['link'], repository)
  }
  return { items, incomplete: null }
}

/** RFC 8288; of the link only the part from the project on is used, so that it leads nowhere else. */
function nextPageLink(link: string | readonly string[] | undefined, repository: string): string | null {
  const next = /<([^>]+)>;\s*rel="next"/.exec(String(link ?? ''))?.[1]
  const url = next === undefined ? null : URL.parse(next)
  if (url === null) return null
  const tail = /\/repository\/tree$/.exec(url.pathname)?.[0]
  if (tail === undefined) throw new ScmError('unexpected', `${title} names a next page that is none`)
  return `${repository}${tail}${url.search}`
}
