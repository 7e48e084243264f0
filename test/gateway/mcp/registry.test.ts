/** Publications to an MCP registry: compared with the latest version by what clients supply and by the tools that are listed. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startTestGateway } from '../../fakes/gateway.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { at, textAt } from '../../json.ts'

const NAME = 'io.github.acme/pets'
const REMOTE = {
  type: 'streamable-http',
  url: 'https://mcp.acme.example/mcp',
  headers: [{ name: 'X-Shop', isRequired: false }],
}
const PACKAGE = {
  registryType: 'npm',
  identifier: '@acme/pets-mcp',
  version: '1.0.0',
  transport: { type: 'stdio' },
  environmentVariables: [
    { name: 'TOKEN', isRequired: true, isSecret: true },
    { name: 'MODE', choices: ['fast', 'slow'], default: 'fast' },
  ],
}
const server = (edit: object = {}) => ({
  name: NAME,
  description: 'Pets.',
  version: '1.1.0',
  packages: [PACKAGE],
  remotes: [REMOTE],
  ...edit,
})

async function scene(t: TestContext, route: object = {}, config: object = {}) {
  const known = new Map<string, unknown>([
    [`${NAME} latest`, server({ version: '1.0.0' })],
    [`${NAME} 1.0.0`, server({ version: '1.0.0' })],
  ])
  const upstream = await startHttpUpstream((request, response) => {
    const [, name = '', version = ''] = /\/servers\/([^/]+)\/versions\/([^/?]+)$/.exec(request.url ?? '') ?? []
    const found = known.get(`${decodeURIComponent(name)} ${version}`)
    if (request.method !== 'GET') response.end('{}')
    else if (found === undefined) response.writeHead(404).end('{}')
    else response.end(JSON.stringify({ server: found, _meta: {} }))
  })
  const gateway = await startTestGateway(t, {
    routes: [{ name: 'registry', match: { path: '/' }, upstream: upstream.origin, protocol: 'mcp_registry', ...route }],
    monitoring: { sinks: [{ type: 'log' }] },
    ...config,
  })
  t.after(() => upstream.close())
  const send = (method: string, path: string, body: unknown = {}, headers: Readonly<Record<string, string>> = {}) =>
    fetch(gateway.addresses.proxy + path, {
      method,
      headers: { 'content-type': 'application/json', authorization: 'Bearer of the publisher', ...headers },
      body: JSON.stringify(body),
    })
  const writes = () => upstream.requests.filter(({ method }) => method !== 'GET').length
  return { upstream, send, writes, known }
}

test('a server whose configuration breaks goes out with a major version, where the policy minds the version', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-servers-policy-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const policy = join(folder, 'pack.yaml')
  const head = { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'versions' } }
  const rules = [{ id: 'told', when: "finding.level == 'breaking'", then: 'WARN' }]
  writeFileSync(policy, JSON.stringify({ ...head, rules, minimum_bump: { then: 'BLOCK' } }))
  const { send, writes } = await scene(t, {}, { policy })
  const asksMore = { packages: [{ ...PACKAGE, environmentVariables: [{ name: 'NEW', isRequired: true }] }] }
  const refused = await send('POST', '/v0/publish', server({ ...asksMore, version: '1.1.0' }))
  assert.equal(refused.status, 403)
  assert.match(await refused.text(), /VERSION_BUMP_TOO_SMALL/)
  const edited = server({ ...asksMore, version: '1.0.0' })
  assert.equal((await send('PUT', `/v0.1/servers/${encodeURIComponent(NAME)}/versions/1.0.0`, edited)).status, 403)
  assert.equal(writes(), 0)
  assert.equal((await send('POST', '/v0/publish', server({ ...asksMore, version: '2.0.0' }))).status, 200)
})

test('another version of a package, and what is optional, goes out', async (t) => {
  const { send, upstream } = await scene(t)
  const next = server({
    packages: [
      { ...PACKAGE, version: '1.1.0', environmentVariables: [...PACKAGE.environmentVariables, { name: 'EXTRA' }] },
    ],
  })
  for (const path of ['/v0/publish', '/v0.1/publish']) assert.equal((await send('POST', path, next)).status, 200)
  assert.equal(
    (await send('PUT', `/v0.1/servers/${encodeURIComponent(NAME)}/versions/1.0.0`, server({ version: '1.0.0' })))
      .status,
    200,
  )
  assert.ok(upstream.requests.every(({ headers }) => headers.authorization === 'Bearer of the publisher'))
})

const of = (registryType: string, identifier: string, more: object = {}) => ({
  packages: [{ registryType, identifier, transport: { type: 'stdio' }, ...more }],
})

for (const [what, before, after] of [
  ['an image by tag', of('oci', 'ghcr.io/acme/pets:1.0.0'), of('oci', 'ghcr.io/acme/pets:1.1.0')],
  [
    'an image by digest, at a registry with a port',
    of('oci', `ghcr.io:443/acme/pets@sha256:${'a'.repeat(64)}`),
    of('oci', `ghcr.io:443/acme/pets:1.1.0@sha256:${'b'.repeat(64)}`),
  ],
  [
    'a bundle of a release',
    of('mcpb', 'https://github.com/acme/pets/releases/download/v1.0.0/pets-1.0.0-linux.mcpb', { version: '1.0.0' }),
    of('mcpb', 'https://github.com/acme/pets/releases/download/v1.1.0/pets-1.1.0-linux.mcpb', { version: '1.1.0' }),
  ],
  [
    'a bundle without a version of its own',
    of('mcpb', 'https://gitlab.com/acme/pets/-/releases/v1.0.0/downloads/pets.mcpb'),
    of('mcpb', 'https://gitlab.com/acme/pets/-/releases/v1.1.0/downloads/pets.mcpb'),
  ],
] as const) {
  test(`${what} that carries its version in the identifier may move on`, async (t) => {
    const { send, known } = await scene(t)
    known.set(`${NAME} latest`, server({ version: '1.0.0', ...before }))
    assert.equal((await send('POST', '/v0.1/publish', server(after))).status, 200)
  })
}

test('two packages of one name are both part of the contract', async (t) => {
  const { send, known } = await scene(t)
  const required = { environmentVariables: [{ name: 'KEY', isRequired: true }] }
  const [image] = of('oci', 'ghcr.io/acme/pets:1.0.0').packages
  const [slim] = of('oci', 'ghcr.io/acme/pets:1.0.0-slim').packages
  known.set(`${NAME} latest`, server({ version: '1.0.0', packages: [image, slim] }))
  assert.equal((await send('POST', '/v0.1/publish', server({ packages: [image, slim, PACKAGE] }))).status, 200)
  const stricter = server({ packages: [{ ...image, ...required }, slim] })
  assert.equal((await send('POST', '/v0.1/publish', stricter)).status, 403)
  assert.equal((await send('POST', '/v0.1/publish', server({ packages: [image] }))).status, 428)
})

for (const [what, edit, status = 403] of [
  ['a package that goes', { packages: [] }, 428],
  ['another package under the same name', { packages: [{ ...PACKAGE, identifier: 'pets-mcp' }] }, 428],
  ['another image', of('oci', 'ghcr.io/mallory/pets:1.1.0'), 428],
  ['another transport', { packages: [{ ...PACKAGE, transport: { type: 'sse', url: 'http://localhost' } }] }, 428],
  ['a remote at another address', { remotes: [{ ...REMOTE, url: 'https://evil.example/mcp' }] }, 428],
  ['a header that becomes required', { remotes: [{ ...REMOTE, headers: [{ name: 'X-Shop', isRequired: true }] }] }],
  [
    'a variable more that is required',
    {
      packages: [
        { ...PACKAGE, environmentVariables: [...PACKAGE.environmentVariables, { name: 'KEY', isRequired: true }] },
      ],
    },
  ],
  [
    'a choice that is taken away',
    {
      packages: [
        { ...PACKAGE, environmentVariables: [PACKAGE.environmentVariables[0], { name: 'MODE', choices: ['slow'] }] },
      ],
    },
  ],
] as const) {
  test(`${what} is ${status === 403 ? 'stopped' : 'held for a person'}`, async (t) => {
    const { send, writes } = await scene(t)
    const answer = await send('POST', '/v0.1/publish', server(edit))
    assert.equal(answer.status, status)
    const body: unknown = await answer.json()
    assert.equal(at(body, 'error'), status === 403 ? 'PREFLIGHT_STOP' : 'PREFLIGHT_APPROVAL_REQUIRED')
    assert.equal(at(body, 'status'), status)
    assert.match(textAt(body, 'detail'), /publish mcp:io\.github\.acme\/pets@1\.1\.0/)
    assert.equal(writes(), 0)
  })
}

const listing = (...names: readonly string[]) => ({
  _meta: {
    'io.modelcontextprotocol.registry/publisher-provided': {
      tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })),
    },
  },
})

test('tools that a publisher lists are compared as a manifest', async (t) => {
  const { send, known } = await scene(t)
  known.set(`${NAME} latest`, server(listing('list', 'add')))
  assert.equal((await send('POST', '/v0/publish', server(listing('list', 'add')))).status, 200)
  const stopped = await send('POST', '/v0/publish', server(listing('list')))
  assert.equal(stopped.status, 403)
  assert.match(await stopped.text(), /MCP_TOOL_REMOVED/)
})

for (const [method, path, body, operation, target] of [
  ['POST', '/v0/publish', server({ name: 'io.github.acme/toys' }), 'register', 'mcp:io.github.acme/toys'],
  [
    'PATCH',
    '/v0.1/servers/io.github.acme%2Fpets/versions/1.0.0/status',
    { status: 'deleted' },
    'unpublish',
    'mcp:io.github.acme/pets@1.0.0',
  ],
  ...['?status=deleted', '?%73tatus=deprecated', '?new_name=io.github.acme%2Ftoys'].map(
    (query) =>
      [
        'PUT',
        `/v0.1/servers/io.github.acme%2Fpets/versions/1.0.0${query}`,
        server({ version: '1.0.0' }),
        'unpublish',
        'mcp:io.github.acme/pets@1.0.0',
      ] as const,
  ),
  [
    'PUT',
    '/v0/servers/io.github.acme%2Fpets/versions/1.0.0',
    server({ version: '1.0.0', status: 'deleted' }),
    'unpublish',
    'mcp:io.github.acme/pets@1.0.0',
  ],
  ['DELETE', '/v0.1/servers/io.github.acme%2Fpets/versions/1.0.0', {}, 'unpublish', 'mcp:io.github.acme/pets@1.0.0'],
  [
    'PATCH',
    '/v0/servers/io.github.acme%2Fpets/status',
    { status: 'deprecated' },
    'unpublish',
    'mcp:io.github.acme/pets',
  ],
] as const) {
  test(`${method} ${path} needs a receipt for ${operation} of ${target}`, async (t) => {
    const { send, writes } = await scene(t)
    const answer = await send(method, path, body)
    assert.equal(answer.status, 403)
    assert.deepEqual(at(await answer.json(), 'receipt_required', 'context'), { operation, target_id: target })
    assert.equal(writes(), 0)
  })
}

test('what is unknown, overridden or has no single reading does not go on; log-ins and reads do', async (t) => {
  const { send, writes, upstream } = await scene(t)
  assert.equal((await send('POST', '/v0/whatever')).status, 403)
  assert.equal((await send('POST', '/publish', server())).status, 403)
  assert.equal((await send('POST', '/v0/publish', server(), { 'x-http-method-override': 'PUT' })).status, 403)
  assert.equal((await send('POST', '/v0/publish', { name: NAME })).status, 503)
  assert.equal((await send('PUT', '/v0/servers/io.github.acme%2Ftoys/versions/1.0.0', server())).status, 503)
  assert.equal(writes(), 0)
  assert.equal((await send('POST', '/v0/auth/github-at', { github_token: 'x' })).status, 200)
  assert.equal((await fetch(`${new URL(upstream.origin).origin}/v0/servers`)).status, 404)
  const observing = await scene(t, { mode: 'observe' })
  assert.equal((await observing.send('POST', '/v0/whatever')).status, 200)
})
