/** Every protocol by every way to write a path: judged as the plain path is, or refused; it never passes. Ordinary paths do. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Decision } from '../../engine/internal.ts'
import type { AuthorizeRequest } from '../../gateway/flow/flow.ts'
import { startHttpUpstream, type HttpUpstream } from '../fakes/http-upstream.ts'
import { exchangeBytes, requestText } from '../fakes/raw-http.ts'
import { startRoad, type Road } from '../fakes/road.ts'

const JSON_TYPE = 'application/json'
const SHA = 'a'.repeat(40)
const LINE = `${'0'.repeat(40)} ${SHA} refs/heads/main\0report-status`
const PUSH = `${(LINE.length + 4).toString(16).padStart(4, '0')}${LINE}0000`
const MERGE = '{"query":"mutation { mergePullRequest(input: {pullRequestId: \\"x\\"}) { clientMutationId } }"}'
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wipe","arguments":{}}}'
const TOOLS = '{"tools":[{"type":"function","function":{"name":"wipe"}}]}'
const RETARGET = JSON.stringify({ sha: SHA })

/** Requests that are judged or need a receipt. */
const JUDGED: readonly (readonly [protocol: string, method: string, path: string, body: string])[] = [
  ['github', 'PUT', '/repos/acme/pets/pulls/7/merge', '{}'],
  ['github', 'PUT', '/api/v3/repos/acme/pets/pulls/7/merge', '{}'],
  ['github', 'PATCH', '/repos/acme/pets/git/refs/heads/main', RETARGET],
  ['github', 'PATCH', '/repos/acme/pets/git/refs/heads%2Fmain', RETARGET],
  ['github', 'PUT', '/repos/acme/pets/contents/docs%2Fapi.json', '{"content":"YQ==","message":"m"}'],
  ['github', 'PUT', '/repos/acme/pets/branches/main/protection', '{}'],
  ['github', 'POST', '/acme/pets.git/git-receive-pack', PUSH],
  ['github', 'POST', '/graphql', MERGE],
  ['gitlab', 'PUT', '/api/v4/projects/4711/merge_requests/7/merge', '{}'],
  ['gitlab', 'PUT', '/api/v4/projects/acme%2Fpets/merge_requests/7/merge', '{}'],
  ['gitlab', 'POST', '/api/v4/projects/4711/merge_requests/7/notes', '{"body":"/merge"}'],
  ['gitlab', 'POST', '/api/v4/projects/4711/issues/7/notes', '{"body":"/merge"}'],
  ['gitlab', 'POST', '/api/v4/projects/4711/protected_branches', '{}'],
  ['gitlab', 'POST', '/acme/pets.git/git-receive-pack', PUSH],
  ['bitbucket', 'POST', '/2.0/repositories/acme/pets/pullrequests/7/merge', '{}'],
  ['bitbucket', 'PUT', '/2.0/repositories/acme/pets/branch-restrictions/1', '{}'],
  ['npm', 'PUT', '/-/package/pets/dist-tags/latest', '"1.0.0"'],
  ['npm', 'DELETE', '/@acme%2fpets/-rev/1', ''],
  ['npm', 'POST', '/-/stage/7/approve', '{}'],
  ['mcp_registry', 'POST', '/v0/publish', '{}'],
  ['mcp_registry', 'PATCH', '/v0/servers/io.acme%2Fpets/status', '{}'],
  ['argocd', 'POST', '/api/v1/applications/shop/sync', '{}'],
  ['argocd', 'POST', '/api/v1/applications/shop/resource/actions', '{}'],
  ['argocd', 'DELETE', '/api/v1/applications/shop', ''],
  [
    'kubernetes',
    'POST',
    '/apis/apps/v1/namespaces/shop/deployments',
    '{"kind":"Deployment","metadata":{"name":"web"}}',
  ],
  ['kubernetes', 'DELETE', '/apis/apps/v1/namespaces/shop/deployments/web', ''],
  ['kubernetes', 'GET', '/api/v1/namespaces/shop/pods/web-1/exec', ''],
  ['kubernetes', 'GET', '/api/v1/namespaces/shop/pods/web-1/proxy', ''],
  ['mcp', 'POST', '/mcp', CALL],
  ['graphql', 'POST', '/graphql', '{"query":"{ pets }"}'],
  ['http', 'DELETE', '/users/everyone', ''],
  ['http', 'GET', '/users/everyone', ''],
  ['mapped', 'GET', '/admin/dump', ''],
  ['mapped', 'POST', '/admin/dump', '{}'],
  ...[
    '/v1/chat/completions',
    '/v1/responses',
    '/v1/messages',
    '/v1beta/models/m:generateContent',
    '/model/m/invoke',
    '/api/chat',
  ].map((path) => ['llm', 'POST', path, TOOLS] as const),
]

/** Ordinary requests that are no other one by any reading: they arrive as they were sent. */
const ORDINARY: readonly (readonly [protocol: string, method: string, path: string, body?: string])[] = [
  ['github', 'GET', '/repos/acme/pets/contents/My%20Docs/a;b.JSON'],
  ['github', 'GET', '/repos/Acme/Pets.js/pulls?state=open'],
  [
    'github',
    'PUT',
    '/repos/acme/pets/contents/My%20Docs/Read%20me.md',
    '{"branch":"topic","content":"YQ==","message":"m"}',
  ],
  ['github', 'PUT', '/repos/Acme/Pets.js/contents/src/A.B.json', '{"branch":"topic","content":"YQ==","message":"m"}'],
  ['github', 'POST', '/repos/acme/pets/git/refs', `{"ref":"refs/heads/feature/New.thing","sha":"${SHA}"}`],
  ['github', 'PATCH', '/repos/acme/pets/git/refs/heads/feature%2FNew.thing', RETARGET],
  ['github', 'POST', '/repos/acme/pets/issues', '{"title":"t"}'],
  ['github', 'DELETE', '/repos/acme/pets/labels/good%20first%2Fissue'],
  ['gitlab', 'GET', '/api/v4/projects/acme%2Fpets/repository/files/docs%2FRead%20me.md?ref=main'],
  ['gitlab', 'POST', '/api/v4/projects/acme%2Fpets/issues', '{"title":"t"}'],
  ['gitlab', 'POST', '/api/v4/projects/acme%2Freleases/issues', '{"title":"t"}'],
  [
    'gitlab',
    'POST',
    '/api/v4/projects/Acme%2Fsub.group%2FPets/repository/files/docs%2FRead%20me.md',
    '{"branch":"topic","content":"a","commit_message":"m"}',
  ],
  ['bitbucket', 'GET', '/2.0/repositories/acme/pets/src/main/My%20Docs/A.JSON'],
  ['bitbucket', 'POST', '/2.0/repositories/acme/Pets.js/pullrequests/7/comments', '{"content":{"raw":"x"}}'],
  ['npm', 'GET', '/@acme%2fpets'],
  ['npm', 'GET', '/@acme/pets/-/pets-1.0.0.tgz'],
  ['npm', 'PUT', '/-/user/org.couchdb.user:jane', '{}'],
  ['mcp_registry', 'GET', '/v0/servers/io.github.acme%2Fpets-server/versions/1.0.0'],
  ['mcp_registry', 'POST', '/v0/auth/github-at', '{}'],
  ['argocd', 'GET', '/api/v1/applications/shop.web'],
  ['argocd', 'POST', '/api/v1/session', '{}'],
  ['kubernetes', 'GET', '/api/v1/namespaces/shop/configmaps/kube-root-ca.crt'],
  ['kubernetes', 'GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode'],
  ['kubernetes', 'GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node'],
  ['kubernetes', 'GET', '/openapi/v3/apis/apps/v1'],
  ['kubernetes', 'POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', '{}'],
  ['http', 'DELETE', '/users/zoe'],
  ['mapped', 'GET', '/Reports/2026%20Q1;draft.JSON'],
  ['llm', 'GET', '/v1/models/gpt-5.1'],
  ['llm', 'POST', '/v1/chat/completions', '{"messages":[]}'],
]

const ENDS = [
  '/',
  '//',
  ';',
  ';x=1',
  '.',
  '%2e',
  '%20',
  '%09',
  '%c2%a0',
  '%00',
  '%0a',
  '%ff',
  '%5c',
  '\\',
  '.json',
  '.JSON',
  '.xml',
  '.json;x',
  '%3bx',
  '%3fx',
  '%23x',
  '%253bx',
  '%2f',
  '%252f',
  '/.',
  '/%2e',
  '/x/..',
  '/x/%2e%2e',
] as const

const hex = (text: string): string => text.replaceAll(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`)

/** Of one name in the path. */
const NAMES: readonly ((name: string) => string)[] = [
  (name) => name.toUpperCase(),
  (name) => name.slice(0, 1).toUpperCase() + name.slice(1),
  (name) => hex(name.slice(0, 1)) + name.slice(1),
  (name) => `%25${hex(name.slice(0, 1)).slice(1)}${name.slice(1)}`,
  (name) => encodeURIComponent(String.fromCharCode(name.charCodeAt(0) + 0xfe_e0)) + name.slice(1),
  (name) => `${name};x=1`,
  (name) => `${name};`,
  (name) => `${name}%20`,
  (name) => `%20${name}`,
  (name) => `${name}.`,
  (name) => `${name}%00`,
  (name) => `/${name}`,
  (name) => `./${name}`,
  (name) => `x/../${name}`,
  (name) => `x/%2e%2e/${name}`,
  (name) => `%2e/${name}`,
]

function* spellings(path: string): Generator<string> {
  for (const end of ENDS) yield path + end
  const names = path.slice(1).split('/')
  for (const [index, name] of names.entries()) {
    for (const spell of NAMES) yield `/${names.with(index, spell(name)).join('/')}`
    if (index === 0) continue
    for (const slash of ['%2f', '%2F', '%252f', '%5c', '\\', '//'])
      yield `/${names.slice(0, index).join('/')}${slash}${names.slice(index).join('/')}`
  }
}

const USERS = {
  openapi: '3.0.3',
  info: { title: 'users', version: '1' },
  paths: {
    '/users/everyone': { delete: operation('removeAll'), get: operation('readAll') },
    '/users/{id}': { delete: operation('remove'), get: operation('read') },
  },
}

function operation(operationId: string): unknown {
  return { operationId, responses: { 200: { description: 'done' } } }
}

function contractFile(name: string, text: string): unknown {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-paths-')), name)
  writeFileSync(file, text)
  return { current: { file } }
}

/** What a route of a protocol needs besides its upstream. */
const SETTINGS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  kubernetes: { kubernetes: { streams: 'deny' } },
  graphql: { contract: contractFile('schema.graphql', 'type Query { pets: String }') },
  http: { contract: contractFile('openapi.json', JSON.stringify(USERS)) },
  mapped: { otherwise: 'pass', map: [{ when: "request.path.startsWith('/admin/')", action: 'deny' }] },
}

/** The plain operation is blocked, and where two operations of a contract may be meant, the other one is allowed. */
function decide({ context }: AuthorizeRequest): Decision {
  return context.target_id?.includes('/users/{id}') === true ? 'ALLOW' : 'BLOCK'
}

async function start(
  t: TestContext,
  protocol: string,
): Promise<{ readonly upstream: HttpUpstream; readonly road: Road }> {
  const upstream = await startHttpUpstream((_request, response) =>
    response.setHeader('content-type', JSON_TYPE).end('{}'),
  )
  t.after(() => upstream.close())
  const route = { name: 'it', match: { path: '/' }, upstream: upstream.origin, protocol, ...SETTINGS[protocol] }
  const road = await startRoad({ decide, routes: [route] })
  t.after(() => road.close())
  return { upstream, road }
}

/** Whether the request itself came to the server; what the gateway asks there for its own ends is another request. */
async function arrives(
  { upstream, road }: Awaited<ReturnType<typeof start>>,
  [method, path, body]: readonly [string, string, string],
): Promise<boolean> {
  const before = upstream.requests.length
  const type = /git-receive-pack/i.test(path) ? 'application/x-git-receive-pack-request' : JSON_TYPE
  const head = `${method} ${path} HTTP/1.1\nHost: a\nContent-Type: ${type}\nContent-Length: ${Buffer.byteLength(body)}`
  await exchangeBytes(road.url, requestText(head, body))
  return upstream.requests.slice(before).some((one) => one.method === method && one.body === body)
}

for (const protocol of new Set(JUDGED.map(([one]) => one))) {
  test(`${protocol}: no spelling of a path that is judged passes`, async (t) => {
    const both = await start(t, protocol)
    const passed: string[] = []
    for (const [, method, path, body] of JUDGED.filter(([one]) => one === protocol))
      for (const spelling of [path, ...spellings(path)])
        if (await arrives(both, [method, spelling, body])) passed.push(`${method} ${spelling}`)
    assert.deepEqual(passed, [])
  })

  test(`${protocol}: ordinary paths arrive`, async (t) => {
    const both = await start(t, protocol)
    const held: string[] = []
    for (const [, method, path, body = ''] of ORDINARY.filter(([one]) => one === protocol))
      if (!(await arrives(both, [method, path, body]))) held.push(`${method} ${path}`)
    assert.deepEqual(held, [])
  })
}
