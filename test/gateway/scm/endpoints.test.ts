/** Every write endpoint that a platform describes has one row, every row is about such an endpoint, and no row lets unknown ones pass. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { buildSchema } from 'graphql'
import { createRequire } from 'node:module'
import { BITBUCKET_ENDPOINTS, BITBUCKET_ROWS } from '../../../gateway/protocols/bitbucket/recogniser.ts'
import { CHECKED, MUTATIONS, UNREAD } from '../../../gateway/protocols/github/graphql.ts'
import { GITHUB_MUTATIONS } from '../../../gateway/protocols/github/mutations.ts'
import { GITHUB_ENDPOINTS, GITHUB_ROWS } from '../../../gateway/protocols/github/recogniser.ts'
import { GITLAB_ENDPOINTS, GITLAB_ROWS } from '../../../gateway/protocols/gitlab/recogniser.ts'
import { createEndpointTable } from '../../../gateway/protocols/scm/endpoints.ts'
import { endpointFor, rowFor, type ScmEndpoints, type ScmRow } from '../../../gateway/protocols/scm/table.ts'
import { at } from '../../json.ts'

/** `METHOD /path/with/{names}` */
type EndpointName = string

const require = createRequire(import.meta.url)
const WRITES = ['post', 'put', 'patch', 'delete'] as const

function githubEndpoints(): readonly EndpointName[] {
  const found = new Set<string>()
  for (const document of ['api.github.com', 'ghec', 'ghes-3.17', 'ghes-3.18', 'ghes-3.19']) {
    const file = require.resolve(`@octokit/openapi/generated/${document}.json`)
    const paths = at(JSON.parse(readFileSync(file, 'utf8')), 'paths')
    for (const [path, item] of Object.entries(Object(paths)))
      for (const method of WRITES) if (at(item, method) !== undefined) found.add(`${method.toUpperCase()} ${path}`)
  }
  return [...found].toSorted()
}

/** Each method of each resource is called with every number of arguments, and what it would ask for is kept. */
async function gitlabEndpoints(): Promise<readonly EndpointName[]> {
  const found = new Set<string>()
  const keep = (method: string, prefix: string) => (path: unknown) => {
    if (method !== 'get') found.add(`${method.toUpperCase()} /${template(`${prefix}/${String(path)}`)}`)
    return Promise.resolve({ body: {}, headers: {}, status: 200 })
  }
  const requesterAt = (prefix: string): object => new Proxy({}, { get: (_, method) => keep(String(method), prefix) })
  const deprecation = process.noDeprecation
  process.noDeprecation = true
  const module: unknown = await import('@gitbeaker/core')
  for (const [name, Resource] of Object.entries(Object(module))) {
    if (typeof Resource !== 'function' || name === 'Gitlab') continue
    for (const [method, resource] of methodsOf(Resource, requesterAt)) callAll(method, resource)
  }
  await new Promise((resolve) => setImmediate(resolve))
  if (deprecation === undefined) delete process.noDeprecation
  else process.noDeprecation = deprecation
  return [...found].filter((endpoint) => !/undefined|object/i.test(endpoint)).toSorted()
}

function methodsOf(Resource: object, requesterAt: (prefix: string) => object): readonly (readonly [unknown, object])[] {
  try {
    const options = {
      host: 'https://gitlab.invalid',
      token: 'x',
      requesterFn: ({ url }: { readonly url: string }) => requesterAt(url.split('/api/v4/', 2)[1] ?? ''),
    }
    const resource: unknown = Reflect.construct(Object(Resource), [options])
    if (typeof resource !== 'object' || resource === null) return []
    const names = new Set<string>()
    for (let type: unknown = resource; type !== null && type !== Object.prototype; type = Object.getPrototypeOf(type))
      for (const name of Object.getOwnPropertyNames(type)) names.add(name)
    names.delete('constructor')
    return [...names].map((name) => [Reflect.get(resource, name), resource] as const)
  } catch (error) {
    // What is exported beside the resources is no class that takes options.
    if (error instanceof Error) return []
    throw error
  }
}

/** Members of options that decide which path is asked for. */
const OPTIONS: readonly object[] = [
  {},
  { projectId: ':id' },
  { groupId: ':id' },
  { userId: ':id' },
  { mergerequestIId: ':id' },
  { projectId: ':id', mergerequestIId: ':id' },
  { projectId: ':id', issueIId: ':id' },
  { projectId: ':id', snippetId: ':id' },
  { groupId: ':id', epicId: ':id' },
  { environmentId: ':id' },
  { clusterId: ':id' },
]

function callAll(method: unknown, resource: object): void {
  if (typeof method !== 'function') return
  for (const options of OPTIONS)
    for (let count = 0; count <= 6; count += 1) {
      try {
        const answer: unknown = Reflect.apply(method, resource, [
          ...Array.from({ length: count }, () => ':id'),
          options,
        ])
        if (answer instanceof Promise) answer.catch(() => null)
      } catch (error) {
        // Too few arguments, or options of another method.
        if (!(error instanceof Error)) throw error
      }
    }
}

function template(path: string): string {
  return (path.replace(/^\/+/, '').split('?', 1)[0] ?? '').replaceAll(/%3Aid|:id/g, '{id}')
}

function bitbucketEndpoints(): readonly EndpointName[] {
  const source = readFileSync(require.resolve('bitbucket'), 'utf8')
  const found = [...source.matchAll(/method:\s*"(POST|PUT|PATCH|DELETE)"[\s\S]*?url:\s*"([^"]+)"/g)]
  return [
    ...new Set(found.map(([, method, path = '']) => `${method} ${path.replaceAll(/\{\?[^}]*\}/g, '')}`)),
  ].toSorted()
}

interface Platform {
  readonly described: readonly string[]
  readonly rows: readonly ScmRow[]
  readonly endpoints: ScmEndpoints
  /** How many segments name the repository, and how those begin that do. */
  readonly repository: readonly [first: string, length: number]
  /** Rows for what the platform documents and neither its description nor its client knows. */
  readonly beside: readonly string[]
}

const PLATFORMS: Readonly<Record<string, Platform>> = {
  github: {
    described: githubEndpoints(),
    rows: GITHUB_ROWS,
    endpoints: GITHUB_ENDPOINTS,
    repository: ['repos', 3],
    beside: ['login/device/code', 'login/oauth/access_token', 'setup/*'],
  },
  gitlab: {
    described: await gitlabEndpoints(),
    rows: GITLAB_ROWS,
    endpoints: GITLAB_ENDPOINTS,
    repository: ['projects', 2],
    beside: [
      'alert_management_alerts/:iid/metric_images',
      'catalog/publish',
      'chat/completions',
      'clusters/*',
      'debian_distributions/*',
      'groups/:id/-/packages/*',
      'groups/:id/epics/:iid/award_emoji',
      'groups/:id/epics/:iid/award_emoji/:award',
      'groups/:id/packages/*',
      'groups/import/*',
      'issues/:iid/metric_images',
      'jobs/*',
      'jobs/:id/artifacts',
      'keys/*',
      'labels/:id/subscribe',
      'labels/:id/unsubscribe',
      'merge_request_approval_setting',
      'merge_requests/:iid/approvals',
      'merge_requests/:iid/reset_approvals',
      'oauth/authorize_device',
      'oauth/introspect',
      'oauth/revoke',
      'oauth/token',
      'pipelines/:id/metadata',
      'projects/import-relation/*',
      'projects/import/*',
      'projects/remote-import-s3/*',
      'ref/:ref/trigger/pipeline',
      'security_settings',
      'services/*',
      'snippets/:id/notes/:note/award_emoji',
      'snippets/:id/notes/:note/award_emoji/:award',
      'todos/:id/mark_as_done',
      'uploads',
      'user/personal_access_tokens/*',
      'vulnerabilities/:id',
      'vulnerabilities/:id/discussions',
      'vulnerabilities/:id/discussions/:discussion/notes',
      'vulnerabilities/:id/discussions/:discussion/notes/:note',
      'vulnerabilities/:id/notes',
      'wikis/:id/discussions',
      'wikis/:id/notes',
      'wikis/attachments',
      'work_items',
      'work_items/:iid',
    ],
  },
  bitbucket: {
    described: bitbucketEndpoints(),
    rows: BITBUCKET_ROWS,
    endpoints: BITBUCKET_ENDPOINTS,
    repository: ['repositories', 3],
    beside: [
      'override-settings',
      'pipelines_config/runners/*',
      'site/oauth2/access_token',
      'addon/*',
      'users/:user/gpg-keys/*',
    ],
  },
}

function tableFor({ rows, endpoints, repository: [first, length] }: Platform, path: string) {
  const segments = path
    .split('/')
    .filter(Boolean)
    .map((segment) => segment.replaceAll(/[{}]/g, ''))
  const isLocated = segments[0] === first && segments.length >= length
  return {
    rows,
    endpoints,
    segments,
    located: isLocated ? { prefix: '', repository: '', rest: segments.slice(length) } : null,
  }
}

/** The pattern that decides how an endpoint is treated. */
function patternFor(platform: Platform, endpoint: string): string | null {
  const [method = '', path = ''] = endpoint.split(' ')
  const table = tableFor(platform, path)
  const row = rowFor({ method }, table)?.row
  return row === undefined ? (endpointFor({ method }, table)?.pattern ?? null) : row.path.join('/')
}

for (const [name, platform] of Object.entries(PLATFORMS)) {
  const { described, rows, endpoints, beside } = platform

  describe(`${name}: the table of write endpoints`, () => {
    it('has a row for every endpoint that is described', () => {
      assert.ok(described.length > 100, `${described.length} endpoints`)
      assert.deepEqual(
        described.filter((endpoint) => patternFor(platform, endpoint) === null),
        [],
      )
    })

    it('has no row that is about none of them', () => {
      const used = new Set(described.map((endpoint) => patternFor(platform, endpoint)))
      const all = [
        ...rows.map(({ path }) => path.join('/')),
        ...endpoints.repository.patterns,
        ...endpoints.elsewhere.patterns,
      ]
      assert.deepEqual(all.filter((pattern) => !used.has(pattern)).toSorted(), [...beside].toSorted())
    })

    it('lets no family pass: what is new below a path is unknown', () => {
      for (const table of [endpoints.repository, endpoints.elsewhere])
        for (const pattern of table.patterns.filter((one) => one.endsWith('*') && !one.startsWith('DELETE '))) {
          const segments = pattern.replace('*', 'new/endpoint').split(' ').at(-1)?.split('/') ?? []
          assert.equal(table.find('POST', segments)?.effect.kind, 'receipt', pattern)
        }
    })

    it('says of every row why', () => {
      for (const { path, because } of rows) assert.ok(because.length > 5, path.join('/'))
    })
  })
}

describe('a table of endpoints', () => {
  const table = createEndpointTable([
    { effect: 'passes', because: 'a', endpoints: ['a/:name', 'POST b'] },
    { effect: 'administer', because: 'b', endpoints: ['a/literal', 'b/*', 'c/:x/d'] },
  ])
  const kind = (method: string, path: string) => table.find(method, path.split('/'))?.effect.kind ?? null

  it('takes a literal before a name, and a name before the rest', () => {
    assert.equal(kind('PUT', 'a/literal'), 'receipt')
    assert.equal(kind('PUT', 'a/Literal.json'), 'receipt')
    assert.equal(kind('PUT', 'a/other'), 'passes')
    assert.equal(kind('POST', 'b'), 'passes')
    assert.equal(kind('PUT', 'b'), 'receipt')
    assert.equal(kind('PUT', 'b/c/d'), 'receipt')
  })

  it('knows nothing of other paths, nor of names that lead elsewhere', () => {
    for (const path of ['a', 'a/b/c', 'c/1', 'd', '', 'a/..', 'a/;x', 'a/\\', 'a/\0'])
      assert.equal(kind('PUT', path), null, path)
    assert.equal(table.find('PUT', ['a', '../literal']), null)
  })

  it('is not made of two rows for the same requests', () => {
    assert.throws(
      () => createEndpointTable([{ effect: 'passes', because: 'x', endpoints: ['a/:b', 'a/:c'] }]),
      /two rows/,
    )
  })
})

describe('the mutations of GitHub', () => {
  const schema = readFileSync(
    join(import.meta.dirname, '../../../node_modules/@octokit/graphql-schema/schema.graphql'),
    'utf8',
  )
  const fields = buildSchema(schema, { assumeValid: true }).getMutationType()?.getFields() ?? {}
  const known = [...GITHUB_MUTATIONS.keys(), ...Object.keys(MUTATIONS), ...Object.keys(UNREAD), ...CHECKED]

  it('have one row each, and no row is about anything else', () => {
    assert.ok(Object.keys(fields).length > 200)
    assert.deepEqual(known.toSorted(), Object.keys(fields).toSorted())
  })
})
