/** GitLab's REST API, version 4. https://docs.gitlab.com/api/rest/ */
import { inOrder, renamed, treeChanges, rawFile } from './files.ts'
import { at, commitAt, isCommitId, listAt, textAt } from './members.ts'
import { PLATFORMS, type ChangedFile, type Listing, type ScmClient } from './platform.ts'
import { ScmError } from './scm-error.ts'
import type { ScmTransport } from './transport.ts'
import type { JsonObject } from '../json/strict-json.ts'

const { title } = PLATFORMS.scm_b
/** The least of the instance limits that cut a comparison off without a word (`diff_max_files`). */
const MAX_COMPARED = 1000
const MAX_PAGES = 200

/** @param repository path of the project at the API: `/projects/id` or `/projects/group%2Fname` */
export function createGitlabClient(transport: ScmTransport, repository: string): ScmClient {
  const json = async (path: string): Promise<unknown> => transport.json(await transport.get(`${repository}${path}`))
  const mergeBaseOf = async (base: string, head: string): Promise<string> =>
    commitAt(await json(`/repository/merge_base?refs[]=${base}&refs[]=${head}`), 'id')

  const between = async (from: string, to: string): Promise<Listing<ChangedFile>> => {
    if (from === to) return { items: [], incomplete: null }
    const answer = await json(`/repository/compare?from=${from}&to=${to}&straight=true`)
    const listed = listAt(answer, 'diffs')
    const isWhole = listed.length < MAX_COMPARED && at(answer, 'compare_timeout') !== true
    return isWhole
      ? { items: inOrder(listed.flatMap(changes)), incomplete: null }
      : treeChanges(await tree(from), await tree(to))
  }
  const tree = (commit: string): Promise<Listing<readonly [string, string]>> => treeOf(transport, repository, commit)
  const mergeRequest = async (id: string) => {
    const answer = await json(`/merge_requests/${id}`)
    return {
      id,
      base: textAt(answer, 'target_branch'),
      head: textAt(answer, 'source_branch'),
      headSha: commitAt(answer, 'sha'),
      trialMerge: null,
    }
  }
  return {
    platform: 'scm_b',
    async facts() {
      const answer = await json('')
      return { name: textAt(answer, 'path_with_namespace'), defaultBranch: textAt(answer, 'default_branch') }
    },
    commitOf: async (ref) =>
      isCommitId(ref) ? ref : commitAt(await json(`/repository/commits/${encodeURIComponent(ref)}`), 'id'),
    branchTip: async (branch) =>
      commitAt(await json(`/repository/branches/${encodeURIComponent(branch)}`), 'commit', 'id'),
    async compare(base, head) {
      const mergeBase = await mergeBaseOf(base, head)
      return { mergeBase, files: await between(mergeBase, head) }
    },
    changedFiles: between,
    file: (path, commit) =>
      rawFile(transport, {
        path,
        address: `${repository}/repository/files/${encodeURIComponent(path)}/raw?ref=${commit}`,
        accept: '*/*',
        withheld: [413],
        isFile: () => true,
      }),
    async paths(commit) {
      const { items, incomplete } = await tree(commit)
      return { items: items.map(([path]) => path), incomplete }
    },
    mergeRequest,
    async parentsOf(commit) {
      const parents = at(await json(`/repository/commits/${commit}`), 'parent_ids')
      return Array.isArray(parents) ? parents.filter((parent) => typeof parent === 'string') : []
    },
    async previous(what) {
      if (what.kind === 'release') {
        const [last] = listAt(await json('/releases?order_by=released_at&sort=desc&per_page=1'))
        return last === undefined ? null : commitAt(last, 'commit', 'id')
      }
      if (what.kind === 'workflow') throw new ScmError('unexpected', `${title} has no workflows to dispatch`)
      const environment = encodeURIComponent(what.environment)
      const query = `environment=${environment}&status=success&order_by=id&sort=desc&per_page=1`
      const [last] = listAt(await json(`/deployments?${query}`))
      return last === undefined ? null : commitAt(last, 'sha')
    },
  }
}

function changes(diff: JsonObject): readonly ChangedFile[] {
  const path = textAt(diff, 'new_path')
  if (diff['new_file'] === true) return [{ path, change: 'added' }]
  if (diff['deleted_file'] === true) return [{ path: textAt(diff, 'old_path'), change: 'removed' }]
  return renamed(textAt(diff, 'old_path'), path)
}

/** By keyset pages: the one kind that large repositories answer. */
async function treeOf(
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
        items.push([textAt(entry, 'path'), `${textAt(entry, 'mode')} ${textAt(entry, 'id')}`])
    page = nextPage(answer.headers['link'], repository)
  }
  return { items, incomplete: null }
}

/** RFC 8288; of the link only the part from the project on is used, so that it leads nowhere else. */
function nextPage(link: string | readonly string[] | undefined, repository: string): string | null {
  const next = /<([^>]+)>;\s*rel="next"/.exec(String(link ?? ''))?.[1]
  const url = next === undefined ? null : URL.parse(next)
  if (url === null) return null
  const tail = /\/repository\/tree$/.exec(url.pathname)?.[0]
  if (tail === undefined) throw new ScmError('unexpected', `${title} names a next page that is none`)
  return `${repository}${tail}${url.search}`
}
