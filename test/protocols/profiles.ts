/** What each protocol of the registry looks like to a client: requests that are judged, requests that pass, and how a refusal is read. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RouteConfig } from '../../gateway/protocols/route.ts'

export type ProtocolName = RouteConfig['protocol']

export interface SampleRequest {
  readonly method: string
  readonly path: string
  readonly body: string
  /** Of the body; JSON where it is absent. */
  readonly type?: string
}

export interface ProtocolProfile {
  /** Members of the route, beside name, match, upstream and protocol. */
  readonly route: Readonly<Record<string, unknown>>
  /** Requests that are judged, or that need a receipt. */
  readonly judged: readonly SampleRequest[]
  /** Requests without anything to judge: they reach the upstream unchanged. */
  readonly ordinary: readonly SampleRequest[]
  /** Where the body of a refusal holds the error code: JSON Pointer. */
  readonly codeAt: string
  /** The same for an error before the request was recognised, where it differs. */
  readonly faultCodeAt?: string
  /** Members of the first judged body with a JSON object that decide what it means. Empty: its body is not read. */
  readonly decisive: readonly string[]
  /** Requests that are forwarded because of what their body says. */
  readonly passingBodies?: readonly SampleRequest[]
  /** What the server answers, also to what the gateway asks; `{}` by default. */
  readonly answer?: (url: string) => unknown
}

const SHA = 'a'.repeat(40)
const LINE = `${'0'.repeat(40)} ${SHA} refs/heads/main\0report-status`
const PUSH = `${(LINE.length + 4).toString(16).padStart(4, '0')}${LINE}0000`
const MERGE = '{"query":"mutation { mergePullRequest(input: {pullRequestId: \\"x\\"}) { clientMutationId } }"}'
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wipe","arguments":{}}}'
const TOOLS = '{"tools":[{"type":"function","function":{"name":"wipe"}}]}'
const RETARGET = JSON.stringify({ sha: SHA })
const TOPIC_FILE = '{"branch":"topic","content":"YQ==","message":"m"}'
const PUSH_TYPE = 'application/x-git-receive-pack-request'

function request(method: string, path: string, body = '', type?: string): SampleRequest {
  return { method, path, body, ...(type === undefined ? {} : { type }) }
}

function operation(operationId: string): unknown {
  return { operationId, responses: { 200: { description: 'done' } } }
}

const USERS = {
  openapi: '3.0.3',
  info: { title: 'users', version: '1' },
  paths: {
    '/users/everyone': { delete: operation('removeAll'), get: operation('readAll') },
    '/users/{id}': { delete: operation('remove'), get: operation('read') },
  },
}

const PETS_PROTO = `syntax = "proto3";
package acme.pets.v1;
message Pet { string name = 1; }
service Pets { rpc Remove(Pet) returns (Pet); }`

function contractFile(name: string, text: string): unknown {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-protocol-')), name)
  writeFileSync(file, text)
  return { current: { file } }
}

/** One profile a protocol. A protocol of the registry without one does not compile. */
export const PROFILES: Readonly<Record<ProtocolName, ProtocolProfile>> = {
  github: {
    route: { scm: { workflows: ['deploy.yml'] } },
    codeAt: '/error',
    decisive: ['sha'],
    // No pull request waits for a branch.
    answer: (url) => (/\/pulls\?/.test(url) ? [] : { full_name: url.replace('/repos/', ''), default_branch: 'main' }),
    passingBodies: [
      request('PUT', '/repos/acme/pets/contents/a.json', TOPIC_FILE),
      request('POST', '/graphql', '{"query":"query { viewer { login } }"}'),
    ],
    judged: [
      request('PATCH', '/repos/acme/pets/git/refs/heads/main', RETARGET),
      request('PATCH', '/repos/acme/pets/git/refs/heads%2Fmain', RETARGET),
      request('PUT', '/repos/acme/pets/pulls/7/merge', '{}'),
      request('PUT', '/api/v3/repos/acme/pets/pulls/7/merge', '{}'),
      request('PUT', '/repos/acme/pets/contents/docs%2Fapi.json', '{"content":"YQ==","message":"m"}'),
      request('PUT', '/repos/acme/pets/branches/main/protection', '{}'),
      request('POST', '/acme/pets.git/git-receive-pack', PUSH, PUSH_TYPE),
      request('POST', '/graphql', MERGE),
    ],
    ordinary: [
      request('GET', '/repos/acme/pets/contents/My%20Docs/a;b.JSON'),
      request('GET', '/repos/Acme/Pets.js/pulls?state=open'),
      request('PUT', '/repos/acme/pets/contents/My%20Docs/Read%20me.md', TOPIC_FILE),
      request('PUT', '/repos/Acme/Pets.js/contents/src/A.B.json', TOPIC_FILE),
      request('POST', '/repos/acme/pets/git/refs', `{"ref":"refs/heads/feature/New.thing","sha":"${SHA}"}`),
      request('PATCH', '/repos/acme/pets/git/refs/heads/feature%2FNew.thing', RETARGET),
      request('POST', '/repos/acme/pets/issues', '{"title":"t"}'),
      request('DELETE', '/repos/acme/pets/labels/good%20first%2Fissue'),
    ],
  },
  gitlab: {
    route: {},
    codeAt: '/error',
    decisive: ['body'],
    passingBodies: [
      request('POST', '/api/v4/projects/4711/merge_requests/7/notes', '{"body":"x"}'),
      request('POST', '/api/v4/projects/4711/issues/7/notes', '{"body":"x"}'),
    ],
    judged: [
      request('POST', '/api/v4/projects/4711/merge_requests/7/notes', '{"body":"/merge"}'),
      request('PUT', '/api/v4/projects/4711/merge_requests/7/merge', '{}'),
      request('PUT', '/api/v4/projects/acme%2Fpets/merge_requests/7/merge', '{}'),
      request('POST', '/api/v4/projects/4711/issues/7/notes', '{"body":"/merge"}'),
      request('POST', '/api/v4/projects/4711/protected_branches', '{}'),
      request('POST', '/acme/pets.git/git-receive-pack', PUSH, PUSH_TYPE),
    ],
    ordinary: [
      request('GET', '/api/v4/projects/acme%2Fpets/repository/files/docs%2FRead%20me.md?ref=main'),
      request('POST', '/api/v4/projects/acme%2Fpets/issues', '{"title":"t"}'),
      request('POST', '/api/v4/projects/acme%2Freleases/issues', '{"title":"t"}'),
      request(
        'POST',
        '/api/v4/projects/Acme%2Fsub.group%2FPets/repository/files/docs%2FRead%20me.md',
        '{"branch":"topic","content":"a","commit_message":"m"}',
      ),
    ],
  },
  bitbucket: {
    route: {},
    codeAt: '/error',
    decisive: [],
    passingBodies: [
      request('POST', '/2.0/repositories/acme/pets/refs/branches', '{"name":"topic","target":{"hash":"a"}}'),
    ],
    judged: [
      request('POST', '/2.0/repositories/acme/pets/pullrequests/7/merge', '{}'),
      request('PUT', '/2.0/repositories/acme/pets/branch-restrictions/1', '{}'),
    ],
    ordinary: [
      request('GET', '/2.0/repositories/acme/pets/src/main/My%20Docs/A.JSON'),
      request('POST', '/2.0/repositories/acme/Pets.js/pullrequests/7/comments', '{"content":{"raw":"x"}}'),
    ],
  },
  npm: {
    route: {},
    codeAt: '/code',
    decisive: [],
    judged: [
      request('PUT', '/-/package/pets/dist-tags/latest', '"1.0.0"'),
      request('DELETE', '/@acme%2fpets/-rev/1'),
      request('POST', '/-/stage/7/approve', '{}'),
    ],
    ordinary: [
      request('GET', '/@acme%2fpets'),
      request('GET', '/@acme/pets/-/pets-1.0.0.tgz'),
      request('PUT', '/-/user/org.couchdb.user:jane', '{}'),
    ],
  },
  mcp_registry: {
    route: {},
    codeAt: '/error',
    decisive: ['name', 'version'],
    judged: [
      request('POST', '/v0/publish', '{"name":"io.acme/pets","version":"1.0.0"}'),
      request('POST', '/v0/publish', '{}'),
      request('PATCH', '/v0/servers/io.acme%2Fpets/status', '{}'),
    ],
    ordinary: [
      request('GET', '/v0/servers/io.github.acme%2Fpets-server/versions/1.0.0'),
      request('POST', '/v0/auth/github-at', '{}'),
    ],
  },
  argocd: {
    route: {},
    codeAt: '/error',
    decisive: ['revision', 'dryRun'],
    passingBodies: [request('POST', '/api/v1/applications/shop/sync', '{"dryRun":true}')],
    judged: [
      request('POST', '/api/v1/applications/shop/sync', '{"revision":"main","dryRun":false}'),
      request('POST', '/api/v1/applications/shop/sync', '{}'),
      request('POST', '/api/v1/applications/shop/resource/actions', '{}'),
      request('DELETE', '/api/v1/applications/shop'),
    ],
    ordinary: [request('GET', '/api/v1/applications/shop.web'), request('POST', '/api/v1/session', '{}')],
  },
  kubernetes: {
    route: { kubernetes: { streams: 'deny' } },
    codeAt: '/details/causes/0/reason',
    decisive: ['kind', 'metadata'],
    passingBodies: [
      request('DELETE', '/apis/apps/v1/namespaces/shop/deployments/web', '{"dryRun":["All"]}'),
      request('DELETE', '/apis/apps/v1/namespaces/shop/deployments/web', 'dryRun: [All]', 'application/yaml'),
    ],
    judged: [
      request('POST', '/apis/apps/v1/namespaces/shop/deployments', '{"kind":"Deployment","metadata":{"name":"web"}}'),
      request('DELETE', '/apis/apps/v1/namespaces/shop/deployments/web'),
      request('GET', '/api/v1/namespaces/shop/pods/web-1/exec'),
      request('GET', '/api/v1/namespaces/shop/pods/web-1/proxy'),
    ],
    ordinary: [
      request('GET', '/api/v1/namespaces/shop/configmaps/kube-root-ca.crt'),
      request('GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode'),
      request('GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node'),
      request('GET', '/openapi/v3/apis/apps/v1'),
      request('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', '{}'),
    ],
  },
  mcp: {
    route: {},
    codeAt: '/result/structuredContent/error',
    faultCodeAt: '/error',
    decisive: ['jsonrpc', 'id', 'method', 'params'],
    passingBodies: [request('POST', '/mcp', '{"jsonrpc":"2.0","id":1,"method":"ping"}')],
    judged: [request('POST', '/mcp', CALL)],
    ordinary: [request('POST', '/mcp', '{"jsonrpc":"2.0","id":1,"method":"ping"}')],
  },
  graphql: {
    route: { contract: contractFile('schema.graphql', 'type Query { pets: String }') },
    codeAt: '/error',
    decisive: ['query'],
    passingBodies: [
      request('POST', '/graphql', '{"query":"{ __typename }"}'),
      request('POST', '/graphql', '{ __typename }', 'application/graphql'),
      request('POST', '/graphql', 'query={__typename}', 'application/x-www-form-urlencoded'),
    ],
    judged: [request('POST', '/graphql', '{"query":"{ pets }"}')],
    ordinary: [request('POST', '/graphql', '{"query":"{ __typename }"}')],
  },
  grpc: {
    route: { contract: contractFile('pets.proto', PETS_PROTO) },
    codeAt: '/error',
    decisive: [],
    judged: [request('POST', '/acme.pets.v1.Pets/Remove', '{"name":"a"}')],
    ordinary: [],
  },
  http: {
    route: { contract: contractFile('openapi.json', JSON.stringify(USERS)) },
    codeAt: '/error',
    decisive: [],
    judged: [request('DELETE', '/users/everyone'), request('GET', '/users/everyone')],
    ordinary: [request('DELETE', '/users/zoe')],
  },
  mapped: {
    route: {
      otherwise: 'pass',
      map: [
        { when: "request.path.startsWith('/admin/')", action: 'deny' },
        { when: "request.method == 'POST' && request.body.kind == 'wipe'", action: 'deny' },
      ],
    },
    codeAt: '/error',
    decisive: ['kind'],
    passingBodies: [request('POST', '/jobs', '{"kind":"list"}')],
    judged: [
      request('POST', '/jobs', '{"kind":"wipe"}'),
      request('GET', '/admin/dump'),
      request('POST', '/admin/dump', '{}'),
    ],
    ordinary: [request('GET', '/Reports/2026%20Q1;draft.JSON'), request('POST', '/jobs', '{"kind":"list"}')],
  },
  llm: {
    route: {},
    codeAt: '/preflight/error',
    faultCodeAt: '/error',
    decisive: ['tools'],
    passingBodies: [
      request('POST', '/v1/chat/completions', '{"messages":[]}'),
      request('POST', '/v1/other', '{"a":1}'),
    ],
    judged: [
      '/v1/chat/completions',
      '/v1/responses',
      '/v1/messages',
      '/v1beta/models/m:generateContent',
      '/model/m/invoke',
      '/api/chat',
    ].map((path) => request('POST', path, TOOLS)),
    ordinary: [request('GET', '/v1/models/gpt-5.1'), request('POST', '/v1/chat/completions', '{"messages":[]}')],
  },
}

export const PROTOCOLS = Object.keys(PROFILES).filter((name): name is ProtocolName => name in PROFILES)
