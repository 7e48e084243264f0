/** GitHub's REST and GraphQL API over a repository in memory, in the shapes and with the limits that its documentation gives. */
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blobId, type FakeChange, type FakeMergeRequest, type FakeRepository } from './scm-repository.ts'
import { githubReports } from './commit-reports.ts'
import { startScmServer, type ScmReply, type ScmRoute, type ScmServer } from './scm-server.ts'

export interface GithubOptions {
  /** More files than this are cut off in a comparison silently. */
  readonly maxCompared?: number
  /** More entries than this are cut off in a tree, and said. */
  readonly maxTree?: number
  /** `/api/v3` of an Enterprise Server. */
  readonly prefix?: string
  readonly tokens?: readonly string[]
}

export function startGithub(repository: FakeRepository, options: GithubOptions = {}): Promise<ScmServer> {
  const { tokens } = options
  return startScmServer({
    repository,
    error: (status, message) => ({
      message,
      documentation_url: 'https://docs.github.com/rest',
      status: String(status),
    }),
    ...(tokens !== undefined && { tokens }),
    routes: (server) => routes(server, options),
  })
}

const NOT_FOUND: ScmReply = {
  status: 404,
  body: { message: 'Not Found', documentation_url: 'https://docs.github.com/rest' },
}

function routes(
  server: ScmServer,
  { maxCompared = 300, maxTree = 100_000, prefix = '' }: GithubOptions,
): readonly ScmRoute[] {
  const { repository } = server
  const root = `^${prefix}/(?:repos/${repository.name}|repositories/4711)`
  const on = (method: string, path: string, answer: ScmRoute[2]): ScmRoute => [
    method,
    new RegExp(`${root}${path}$`),
    answer,
  ]
  return [
    on('GET', '', () => ({
      body: {
        id: 4711,
        full_name: repository.name,
        default_branch: repository.defaultBranch,
        delete_branch_on_merge: repository.removesHeads,
        ...(repository.parent !== null && { parent: { full_name: repository.parent } }),
      },
    })),
    on('GET', '/branches/(.+)', (_request, branch = '') =>
      repository.branches.has(branch) ? { body: { name: branch, protected: repository.kept.has(branch) } } : NOT_FOUND,
    ),
    on('GET', '/rules/branches/.+', () => ({ body: [] })),
    on('GET', '/commits/(.+)', (_request, ref) => commit(repository, ref)),
    on('GET', '/git/ref/heads/(.+)', (_request, branch = '') => {
      const id = repository.branches.get(branch)
      return id === undefined
        ? NOT_FOUND
        : { body: { ref: `refs/heads/${branch}`, object: { type: 'commit', sha: id } } }
    }),
    on('GET', '/git/commits/(.+)', (_request, id) => commit(repository, id)),
    on('GET', '/compare/(.+)\\.\\.\\.(.+)', ({ query }, base, head) =>
      compare(repository, { base, head, max: maxCompared, query }),
    ),
    on('GET', '/git/trees/(.+)', (_request, id) => tree(repository, id, maxTree)),
    on('GET', '/contents/(.+)', ({ query }, path = '') =>
      contents(repository, path, query.get('ref') ?? repository.defaultBranch),
    ),
    on('GET', '/pulls', ({ query }) => pullsOf(repository, query)),
    on('GET', '/pulls/(\\d+)', (_request, id) => pull(repository, repository.mergeRequests.get(Number(id)))),
    on('PUT', '/pulls/(\\d+)/merge', ({ body }, id) => merge(server, Number(id), body)),
    on('GET', '/git/ref/tags/(.+)', (_request, tag = '') => {
      const id = repository.tags.get(tag)
      return id === undefined ? NOT_FOUND : { body: { ref: `refs/tags/${tag}`, object: { type: 'commit', sha: id } } }
    }),
    on('GET', '/releases/(\\d+)', (_request, id) => {
      const found = repository.releases.get(Number(id))
      return found === undefined ? NOT_FOUND : { body: found }
    }),
    on('GET', '/releases/latest', () => latestRelease(repository)),
    on('GET', '/deployments', ({ query }) => ({ body: deployments(repository, query.get('environment')) })),
    on('GET', '/deployments/(\\d+)/statuses', () => ({ body: [{ state: 'success' }] })),
    on('GET', '/actions/workflows/(.+)/runs', () => ({
      body: {
        total_count: 1,
        workflow_runs: [{ head_sha: repository.tags.get('deployed') ?? repository.tip('main') }],
      },
    })),
    ...githubReports(root, server.shown),
    ...(['POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) =>
      on(method, '/(.+)', (_request, path = '') => {
        server.effects.push(`${method} ${path}`)
        return { body: { done: true } }
      }),
    ),
    ['POST', new RegExp(`^${prefix === '' ? '' : '/api'}/graphql$`), ({ body }) => graphql(server, JSON.parse(body))],
  ]
}

function commit(repository: FakeRepository, ref = ''): ScmReply {
  const found = repository.find(ref)
  if (found === null) return { status: 422, body: { message: `No commit found for SHA: ${ref}` } }
  return { body: { sha: found.id, parents: found.parents.map((sha) => ({ sha })) } }
}

interface Comparison {
  readonly base: string | undefined
  readonly head: string | undefined
  readonly max: number
  readonly query: URLSearchParams
}

function compare(repository: FakeRepository, { base = '', head = '', max, query }: Comparison): ScmReply {
  const from = repository.find(base)
  const to = repository.find(head)
  const parted = from === null || to === null ? null : repository.mergeBase(from.id, to.id)
  if (from === null || parted === null || to === null) return NOT_FOUND
  const size = Number(query.get('per_page') ?? 30)
  const start = (Number(query.get('page') ?? 1) - 1) * size
  const commits = repository.between(from.id, to.id)
  const files = repository.changes(parted, to.id, true).slice(0, max)
  return {
    body: {
      status: 'diverged',
      merge_base_commit: { sha: parted },
      total_commits: commits.length,
      commits: commits
        .slice(start, start + size)
        .map(({ id, parents }) => ({ sha: id, parents: parents.map((sha) => ({ sha })) })),
      files: files.map((row) => fileRow(repository, to.id, row)),
    },
  }
}

function fileRow(repository: FakeRepository, commitId: string, { path, status, before }: FakeChange): object {
  const content = repository.at(commitId).files.get(path)
  return {
    sha: content === undefined ? null : blobId(content),
    filename: path,
    status,
    ...(status === 'renamed' && { previous_filename: before }),
  }
}

function tree(repository: FakeRepository, id = '', max: number): ScmReply {
  const found = repository.find(id)
  if (found === null) return NOT_FOUND
  const rows = [...found.files].map(([path, content]) => ({ path, mode: '100644', type: 'blob', sha: blobId(content) }))
  return { body: { sha: found.id, tree: rows.slice(0, max), truncated: rows.length > max } }
}

function contents(repository: FakeRepository, path: string, ref: string): ScmReply {
  const content = repository.find(ref)?.files.get(path)
  if (content === undefined) return NOT_FOUND
  if (content.length > 100 * 1024 * 1024)
    return { status: 403, body: { message: 'This API returns blobs up to 100 MB in size.' } }
  return { headers: { 'content-type': 'application/vnd.github.raw+json; charset=utf-8' }, body: content }
}

/** Open requests whose heads are this branch. */
function pullsOf(repository: FakeRepository, query: URLSearchParams): ScmReply {
  const [owner, branch] = (query.get('head') ?? '').split(':')
  const listed = [...repository.mergeRequests.values()].filter(
    ({ head, state }) => state === 'open' && head === branch && owner === repository.name.split('/')[0],
  )
  return {
    body: listed.map(({ id, base, head, waits }) => ({
      number: id,
      state: 'open',
      head: { ref: head, repo: { full_name: repository.name } },
      base: { ref: base, repo: { full_name: repository.name } },
      auto_merge: waits ? { merge_method: 'merge' } : null,
    })),
  }
}

function pull(repository: FakeRepository, request: FakeMergeRequest | undefined): ScmReply {
  if (request === undefined) return NOT_FOUND
  const { id, base, head, state, trialMerge } = request
  return {
    body: {
      number: id,
      node_id: `PR_${id}`,
      state: state === 'open' ? 'open' : 'closed',
      merged: state === 'merged',
      head: { ref: head, sha: repository.tip(head), repo: { full_name: repository.name } },
      base: { ref: base, sha: repository.tip(base), repo: { full_name: repository.name } },
      merge_commit_sha: trialMerge,
    },
  }
}

function merge(server: ScmServer, id: number, body: string): ScmReply {
  const request = server.repository.mergeRequests.get(id)
  if (request === undefined) return NOT_FOUND
  const given: unknown = body === '' ? {} : JSON.parse(body)
  const sha = typeof given === 'object' && given !== null && 'sha' in given ? given.sha : undefined
  if (sha !== undefined && sha !== server.repository.tip(request.head))
    return { status: 409, body: { message: 'Head branch was modified. Review and try the merge again.' } }
  request.state = 'merged'
  server.effects.push(`merge ${id}`)
  return {
    body: { sha: server.repository.tip(request.head), merged: true, message: 'Pull Request successfully merged' },
  }
}

function latestRelease(repository: FakeRepository): ScmReply {
  const tag = [...repository.tags.keys()].filter((name) => name.startsWith('v')).at(-1)
  return tag === undefined ? NOT_FOUND : { body: { tag_name: tag, draft: false } }
}

/** The filter tells letters apart. */
function deployments(repository: FakeRepository, environment: string | null): readonly object[] {
  const id = repository.tags.get('deployed')
  const isListed = id !== undefined && (environment === null || environment === 'production')
  return isListed ? [{ id: 1, sha: id, environment: 'production' }] : []
}

function pullNode({ repository }: ScmServer, { id, base, head, state }: FakeMergeRequest): object {
  return {
    id: `PR_${id}`,
    number: id,
    state: state.toUpperCase(),
    title: head,
    commits: { nodes: [{ commit: { oid: repository.tip(head) } }] },
    mergeStateStatus: 'CLEAN',
    headRepositoryOwner: { id: 'U_1', login: repository.name.split('/')[0] },
    headRefName: head,
    baseRefName: base,
    headRefOid: repository.tip(head),
  }
}

interface GraphqlRequest {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
}

/** Node ids are `PR_7`, `R_4711`, `REF_main`, and `TAG_v1`. */
function graphql(server: ScmServer, { query, variables = {} }: GraphqlRequest): ScmReply {
  const { repository } = server
  if (/\bmutation\b/.test(query)) {
    server.effects.push('graphql mutation')
    return { body: { data: { mergePullRequest: { clientMutationId: null } } } }
  }
  // What the command line asks first: which fields this server has of late.
  const types = [...query.matchAll(/(\w+)\s*:\s*__type\b/g)].map(([, alias = '']) => [alias, { fields: [] }])
  if (types.length > 0) return { body: { data: Object.fromEntries(types) } }
  if (/\bpullRequest\(number:/.test(query)) {
    const request = repository.mergeRequests.get(Number(variables['pr_number']))
    return { body: { data: { repository: { pullRequest: request === undefined ? null : pullNode(server, request) } } } }
  }
  const id = typeof variables['id'] === 'string' ? variables['id'] : ''
  const owner = { nameWithOwner: repository.name }
  if (/\bmergeQueue\b/.test(query)) {
    const mergeQueue = { configuration: { mergeMethod: repository.strategy.replace('_commit', '').toUpperCase() } }
    return { body: { data: { node: { __typename: 'PullRequest', mergeQueue } } } }
  }
  if (id.startsWith('PR_')) {
    const request = repository.mergeRequests.get(Number(id.slice(3)))
    return {
      body: {
        data: {
          node: request === undefined ? null : { __typename: 'PullRequest', number: request.id, repository: owner },
        },
      },
    }
  }
  if (id.startsWith('REF_'))
    return {
      body: { data: { node: { __typename: 'Ref', name: id.slice(4), prefix: 'refs/heads/', repository: owner } } },
    }
  if (id.startsWith('TAG_'))
    return {
      body: { data: { node: { __typename: 'Ref', name: id.slice(4), prefix: 'refs/tags/', repository: owner } } },
    }
  return { body: { data: { node: id === 'R_4711' ? { __typename: 'Repository', ...owner } : null } } }
}

/** The file of a new private key of a GitHub App. */
export function appKey(directory: string): string {
  const file = join(directory, 'app.pem')
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(file, privateKey.export({ type: 'pkcs1', format: 'pem' }))
  return file
}
