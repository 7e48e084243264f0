/** GitLab's REST API over a repository in memory, in the shapes and with the limits that its documentation gives. */
import { blobId, type FakeChange, type FakeRepository } from './scm-repository.ts'
import { gitlabReports } from './commit-reports.ts'
import { startScmServer, type ScmReply, type ScmRoute, type ScmServer } from './scm-server.ts'

export interface GitlabOptions {
  /** More files than this are cut off in a comparison silently. */
  readonly maxCompared?: number
}

const NOT_FOUND: ScmReply = { status: 404, body: { message: '404 Not Found' } }
const PAGE = 100

export function startGitlab(repository: FakeRepository, options: GitlabOptions = {}): Promise<ScmServer> {
  return startScmServer({
    repository,
    error: (status, message) => ({ message: `${status} ${message}` }),
    routes: (server) => routes(server, options),
  })
}

function routes(server: ScmServer, { maxCompared = 3000 }: GitlabOptions): readonly ScmRoute[] {
  const { repository } = server
  const root = `^/api/v4/projects/(?:4711|${encodeURIComponent(repository.name)})`
  const on = (method: string, path: string, answer: ScmRoute[2]): ScmRoute => [
    method,
    new RegExp(`${root}${path}$`),
    answer,
  ]
  return [
    on('GET', '', () => ({
      body: {
        id: 4711,
        path_with_namespace: repository.name,
        default_branch: repository.defaultBranch,
        merge_method: repository.mergeMethod,
      },
    })),
    on('GET', '/repository/commits', ({ query }) => {
      const [from = '', to = ''] = (query.get('ref_name') ?? '').split('..')
      const start = (Number(query.get('page') ?? 1) - 1) * PAGE
      const commits = repository.between(from, to).slice(start, start + PAGE)
      return { body: commits.map(({ id, parents }) => ({ id, parent_ids: parents })) }
    }),
    on('GET', '/repository/commits/([^/]+)', (_request, ref) => commit(repository, ref)),
    on('GET', '/repository/branches/([^/]+)', (_request, branch = '') => {
      const id = repository.branches.get(branch)
      return id === undefined
        ? NOT_FOUND
        : { body: { name: branch, protected: repository.kept.has(branch), commit: { id } } }
    }),
    on('GET', '/repository/tags/([^/]+)', (_request, tag = '') => {
      const id = repository.tags.get(tag)
      return id === undefined ? NOT_FOUND : { body: { name: tag, commit: { id } } }
    }),
    on('GET', '/repository/merge_base', ({ query }) => {
      const [a = '', b = ''] = query.getAll('refs[]')
      const id = repository.mergeBase(a, b)
      return id === null ? NOT_FOUND : { body: { id } }
    }),
    on('GET', '/repository/compare', ({ query }) => {
      const changes = repository.changes(query.get('from') ?? '', query.get('to') ?? '', true).slice(0, maxCompared)
      return { body: { diffs: changes.map(diffRow), compare_timeout: false, compare_same_ref: false } }
    }),
    on('GET', '/repository/tree', ({ query, headers }) => tree(server, query, String(headers.host))),
    on('GET', '/repository/files/([^/]+)/raw', ({ query }, path = '') => {
      const content = repository.find(query.get('ref') ?? '')?.files.get(path)
      return content === undefined ? NOT_FOUND : { body: content }
    }),
    on('GET', '/merge_requests/(\\d+)', (_request, id) => mergeRequest(repository, Number(id))),
    on('PUT', '/merge_requests/(\\d+)/merge', (_request, id) => {
      server.effects.push(`merge ${id}`)
      return { body: { state: 'merged' } }
    }),
    on('GET', '/deployments', () => {
      const sha = repository.tags.get('deployed')
      return { body: sha === undefined ? [] : [{ id: 1, sha, status: 'success' }] }
    }),
    on('GET', '/releases', () => {
      const tag = [...repository.tags.keys()].findLast((name) => name.startsWith('v'))
      return { body: tag === undefined ? [] : [{ tag_name: tag, commit: { id: repository.tags.get(tag) } }] }
    }),
    ...gitlabReports(root, server.shown),
    ...(['POST', 'PUT', 'DELETE'] as const).map((method) =>
      on(method, '/(.+)', (_request, path = '') => {
        server.effects.push(`${method} ${path}`)
        return { body: { done: true } }
      }),
    ),
    [
      'POST',
      /^\/api\/graphql$/,
      () => {
        server.effects.push('graphql mutation')
        return { body: { data: {} } }
      },
    ],
  ]
}

function commit(repository: FakeRepository, ref = ''): ScmReply {
  const found = repository.find(ref)
  return found === null ? NOT_FOUND : { body: { id: found.id, parent_ids: found.parents } }
}

function diffRow({ status, path, before }: FakeChange): object {
  return {
    old_path: before ?? path,
    new_path: path,
    new_file: status === 'added',
    renamed_file: status === 'renamed',
    deleted_file: status === 'removed',
    diff: '',
  }
}

/** Keyset pages: the next one is named by a link only. */
function tree({ repository }: ScmServer, query: URLSearchParams, host: string): ScmReply {
  const rows = [...(repository.find(query.get('ref') ?? '')?.files ?? [])].map(([path, content]) => ({
    id: blobId(content),
    path,
    type: 'blob',
    mode: '100644',
  }))
  const start = Number(query.get('page_token') ?? 0)
  const next = new URLSearchParams(query)
  next.set('page_token', String(start + PAGE))
  const link = `<http://${host}/api/v4/projects/4711/repository/tree?${next.toString()}>; rel="next"`
  return { body: rows.slice(start, start + PAGE), ...(start + PAGE < rows.length && { headers: { link } }) }
}

function mergeRequest(repository: FakeRepository, id: number): ScmReply {
  const request = repository.mergeRequests.get(id)
  if (request === undefined) return NOT_FOUND
  return {
    body: {
      iid: id,
      state: request.state === 'open' ? 'opened' : request.state,
      target_branch: request.base,
      source_branch: request.head,
      sha: repository.tip(request.head),
      force_remove_source_branch: request.removesHead,
      references: { full: `${repository.name}!${id}` },
    },
  }
}
