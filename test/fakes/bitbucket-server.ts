/** Bitbucket Cloud's REST API over a repository in memory: pages by `next`, short commit ids in pull requests. */
import type { FakeRepository } from './scm-repository.ts'
import { bitbucketReports } from './commit-reports.ts'
import { startScmServer, type ScmReply, type ScmRoute, type ScmServer } from './scm-server.ts'

const NOT_FOUND: ScmReply = { status: 404, body: { type: 'error', error: { message: 'Resource not found' } } }
const PAGE = 3

export function startBitbucket(repository: FakeRepository): Promise<ScmServer> {
  return startScmServer({
    repository,
    error: (_status, message) => ({ type: 'error', error: { message } }),
    routes,
  })
}

function routes(server: ScmServer): readonly ScmRoute[] {
  const { repository } = server
  const root = `^/2\\.0/repositories/${repository.name}`
  const on = (method: string, path: string, answer: ScmRoute[2]): ScmRoute => [
    method,
    new RegExp(`${root}${path}$`),
    answer,
  ]
  return [
    on('GET', '', () => ({ body: { full_name: repository.name, mainbranch: { name: repository.defaultBranch } } })),
    on('GET', '/refs/branches/(.+)', (_request, name) => named(repository.branches, name)),
    on('GET', '/refs/tags/(.+)', (_request, name) => named(repository.tags, name)),
    on('GET', '/commit/([^/]+)', (_request, id = '') => {
      const found = [...repository.commits.values()].find((commit) => id.length >= 7 && commit.id.startsWith(id))
      return found === undefined
        ? NOT_FOUND
        : { body: { hash: found.id, parents: found.parents.map((hash) => ({ hash })) } }
    }),
    on('GET', '/commits/([^/]+)', ({ query, path, headers }, to = '') => {
      const commits = repository.between(query.get('exclude') ?? '', to)
      const rows = commits.map(({ id, parents }) => ({ hash: id, parents: parents.map((hash) => ({ hash })) }))
      return pageOf(rows, path, query, String(headers.host))
    }),
    on('GET', '/merge-base/(.+)\\.\\.(.+)', (_request, a = '', b = '') => {
      const hash = repository.mergeBase(a, b)
      return hash === null ? NOT_FOUND : { body: { hash } }
    }),
    on('GET', '/diffstat/(.+)\\.\\.(.+)', ({ query, path, headers }, newer = '', older = '') => {
      const rows = repository
        .changes(older, newer, query.get('renames') !== 'false')
        .map(({ status, path: after, before }) => ({
          status,
          old: before === null ? null : { path: before },
          new: status === 'removed' ? null : { path: after },
        }))
      return pageOf(rows, path, query, String(headers.host))
    }),
    on('GET', '/src/([^/]+)/', ({ query, path, headers }, id = '') => {
      const files = [...(repository.find(id)?.files.keys() ?? [])]
      return pageOf(
        files.map((file) => ({ type: 'commit_file', path: file })),
        path,
        query,
        String(headers.host),
      )
    }),
    on('GET', '/src/([^/]+)/(.+)', (_request, id = '', path = '') => {
      const content = repository.find(id)?.files.get(path)
      return content === undefined ? NOT_FOUND : { body: content }
    }),
    on('GET', '/pullrequests/(\\d+)', (_request, id) => pullRequest(repository, Number(id))),
    ...bitbucketReports(root, server.shown),
    ...(['POST', 'PUT', 'DELETE'] as const).map((method) =>
      on(method, '/(.+)', (_request, path = '') => {
        server.effects.push(`${method} ${path}`)
        return { body: { done: true } }
      }),
    ),
  ]
}

function named(names: ReadonlyMap<string, string>, name = ''): ScmReply {
  const hash = names.get(name)
  return hash === undefined ? NOT_FOUND : { body: { name, target: { hash } } }
}

function pageOf(rows: readonly object[], path: string, query: URLSearchParams, host: string): ScmReply {
  const page = Number(query.get('page') ?? 1)
  const next = new URLSearchParams(query)
  next.set('page', String(page + 1))
  const values = rows.slice((page - 1) * PAGE, page * PAGE)
  const more = page * PAGE < rows.length && { next: `http://${host}${path}?${next.toString()}` }
  return { body: { values, page, ...more } }
}

function pullRequest(repository: FakeRepository, id: number): ScmReply {
  const request = repository.mergeRequests.get(id)
  if (request === undefined) return NOT_FOUND
  const end = (branch: string) => ({
    branch: { name: branch, default_merge_strategy: repository.strategy },
    commit: { hash: repository.tip(branch).slice(0, 12) },
    repository: { full_name: repository.name },
  })
  return {
    body: {
      id,
      state: request.state.toUpperCase(),
      close_source_branch: request.removesHead,
      source: end(request.head),
      destination: end(request.base),
    },
  }
}
