/** Bitbucket Cloud's REST API, version 2.0. https://developer.atlassian.com/cloud/bitbucket/rest/ */
import { encodePath, filesInOrder, renamed, rawFile } from './files.ts'
import { at, commitAt, isCommitId, listAt, optionalTextAt, requiredTextAt } from './members.ts'
import {
  NO_WAITING_MERGES,
  PLATFORMS,
  type ChangedFile,
  type Listing,
  type MergeRequest,
  type ScmClient,
} from './platform.ts'
import { orAbsent, ScmError } from './scm-error.ts'
import type { ScmTransport } from './transport.ts'
import type { JsonObject } from '../json/strict-json.ts'

const { title } = PLATFORMS.scm_c
const MAX_PAGES = 100
/** How deep folders are listed; the platform has no "all". */
const MAX_DEPTH = 30

/** @param repository path of the repository at the API: `/repositories/workspace/slug` */
export function createBitbucketClient(transport: ScmTransport, repository: string): ScmClient {
  const json = async (path: string): Promise<unknown> => transport.json(await transport.get(`${repository}${path}`))
  const pages = (path: string): Promise<Listing<JsonObject>> => allPages(transport, repository, path)
  const fullId = async (commit: string): Promise<string> =>
    isCommitId(commit) ? commit : commitAt(await json(`/commit/${encodeURIComponent(commit)}`), 'hash')
  const branchTip = async (branch: string): Promise<string> =>
    fullId(requiredTextAt(await json(`/refs/branches/${encodePath(branch)}`), 'target', 'hash'))

  /** The newer commit comes first, the other way round than git has it. */
  const between = async (from: string, to: string): Promise<Listing<ChangedFile>> => {
    if (from === to) return { items: [], incomplete: null }
    const { items, incomplete } = await pages(`/diffstat/${to}..${from}?topic=false&renames=false&pagelen=500`)
    return { items: filesInOrder(items.flatMap(changesInRow)), incomplete }
  }
  return {
    platform: 'scm_c',
    async facts() {
      const answer = await json('')
      return {
        name: requiredTextAt(answer, 'full_name'),
        defaultBranch: requiredTextAt(answer, 'mainbranch', 'name'),
        removesHeads: false,
        isRebasedWhenBehind: false,
      }
    },
    commitOf: (ref) => commitOf(ref, { branchTip, fullId, json }),
    branchTip,
    // Whether a restriction forbids it is shown to administrators only.
    keepsBranch: () => Promise.resolve(false),
    tagged: (tag) => taggedCommit(tag, { fullId, json }),
    async compare(base, head) {
      const mergeBase = commitAt(await json(`/merge-base/${base}..${head}`), 'hash')
      return { mergeBase, files: await between(mergeBase, head) }
    },
    changedFiles: between,
    file: (path, commit) =>
      rawFile(transport, {
        path,
        blob: null,
        address: `${repository}/src/${commit}/${encodePath(path)}`,
        accept: '*/*',
        withheld: [413],
        isFile: () => true,
      }),
    async paths(commit) {
      return pathsIn(await pages(`/src/${commit}/?max_depth=${MAX_DEPTH}&pagelen=100`))
    },
    mergeRequest: async (id) => pullRequestIn(await json(`/pullrequests/${id}`), id, fullId),
    // Its API does not show which requests wait for their builds (docs/protocols/source-control.md).
    waitingMerges: () => Promise.resolve(NO_WAITING_MERGES),
    async parentsOf(commit) {
      return listAt(await json(`/commit/${commit}`), 'parents').map((parent) => commitAt(parent, 'hash'))
    },
    async commitsBetween(from, to) {
      const { items, incomplete } = await pages(`/commits/${to}?exclude=${from}&pagelen=100`)
      const commits = items.map((one) => ({ id: commitAt(one, 'hash'), isMerge: listAt(one, 'parents').length > 1 }))
      return { items: commits, incomplete }
    },
    previous: () => Promise.reject(new ScmError('unexpected', `${title} reports no releases and deployments here`)),
  }
}

function pathsIn({ items, incomplete }: Listing<JsonObject>): Listing<string> {
  const paths = items.flatMap((entry) => (entry['type'] === 'commit_file' ? [requiredTextAt(entry, 'path')] : []))
  const isDeeper = paths.some((path) => path.split('/').length >= MAX_DEPTH)
  return { items: paths, incomplete: incomplete ?? (isDeeper ? `folders are nested ${MAX_DEPTH} deep` : null) }
}

async function pullRequestIn(answer: unknown, id: string, fullId: BitbucketLookups['fullId']): Promise<MergeRequest> {
  return {
    id,
    isOpen: !['MERGED', 'DECLINED', 'SUPERSEDED'].includes(optionalTextAt(answer, 'state') ?? ''),
    base: requiredTextAt(answer, 'destination', 'branch', 'name'),
    head: requiredTextAt(answer, 'source', 'branch', 'name'),
    // Pull requests carry the first twelve digits only.
    headSha: await fullId(requiredTextAt(answer, 'source', 'commit', 'hash')),
    trialMerge: null,
    isRebase: isRebaseStrategy(optionalTextAt(answer, 'destination', 'branch', 'default_merge_strategy')),
    removesHead: at(answer, 'close_source_branch') === true,
    isFromElsewhere:
      at(answer, 'source', 'repository', 'full_name') !== at(answer, 'destination', 'repository', 'full_name'),
    headRepository: null,
  }
}

/** Null: the platform makes a merge commit. */
export function isRebaseStrategy(name: string | null): boolean {
  return name !== null && !/^(?:merge_commit|squash|(?:squash_)?fast_forward)$/i.test(name)
}

interface BitbucketLookups {
  readonly branchTip: (branch: string) => Promise<string>
  readonly fullId: (commit: string) => Promise<string>
  readonly json: (path: string) => Promise<unknown>
}

/** A name is a branch, else a tag, else a shortened commit id: the order in which git reads it. */
async function commitOf(ref: string, { branchTip, fullId, json }: BitbucketLookups): Promise<string> {
  if (isCommitId(ref)) return ref
  return (await orAbsent(() => branchTip(ref))) ?? (await taggedCommit(ref, { fullId, json })) ?? fullId(ref)
}

function taggedCommit(tag: string, { fullId, json }: Omit<BitbucketLookups, 'branchTip'>): Promise<string | null> {
  return orAbsent(async () => fullId(requiredTextAt(await json(`/refs/tags/${encodePath(tag)}`), 'target', 'hash')))
}

function changesInRow(row: JsonObject): readonly ChangedFile[] {
  const before = optionalTextAt(row, 'old', 'path')
  const after = optionalTextAt(row, 'new', 'path')
  if (before !== null && after !== null) return renamed(before, after)
  if (after !== null) return [{ path: after, change: 'added' }]
  if (before !== null) return [{ path: before, change: 'removed' }]
  throw new ScmError('unexpected', `${title} reports a change without a path`)
}

async function allPages(transport: ScmTransport, repository: string, first: string): Promise<Listing<JsonObject>> {
  const items: JsonObject[] = []
  let page: string | null = `${repository}${first}`
  for (let count = 0; page !== null; count += 1) {
    if (count === MAX_PAGES) return { items, incomplete: `${title} has more than ${MAX_PAGES} pages of them` }
    const answer: unknown = await transport.json(await transport.get(page))
    items.push(...listAt(answer, 'values'))
    page = nextPage(answer, repository)
  }
  return { items, incomplete: null }
}

/** Of the address only the part from the repository on is used, so that it leads nowhere else. */
function nextPage(answer: unknown, repository: string): string | null {
  const next = at(answer, 'next')
  if (next === undefined || next === null) return null
  const url = typeof next === 'string' ? URL.parse(next) : null
  const start = url?.pathname.indexOf('/repositories/') ?? -1
  if (url === null || start === -1) throw new ScmError('unexpected', `${title} names a next page that is none`)
  const tail = url.pathname.slice(start).split('/').slice(4).join('/')
  return `${repository}/${tail}${url.search}`
}
