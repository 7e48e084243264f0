/** Publications to an MCP registry whose members are written otherwise than the registry names them: none is compared as something else. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startTestGateway } from '../fakes/gateway.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'

const NAME = 'io.github.acme/pets'
const HEADER = { name: 'X-Shop' }
const REMOTE = { type: 'streamable-http', url: 'https://mcp.acme.example/{zone}', headers: [HEADER] }
const VARIABLE = { name: 'TOKEN', format: 'string', choices: ['a', 'b'] }
const PACKAGE = {
  registryType: 'npm',
  identifier: '@acme/pets-mcp',
  version: '1.0.0',
  transport: { type: 'stdio' },
  environmentVariables: [VARIABLE],
}
const server = (edit: object = {}) => ({
  name: NAME,
  version: '1.1.0',
  packages: [PACKAGE],
  remotes: [REMOTE],
  ...edit,
})

async function scene(t: TestContext) {
  const upstream = await startHttpUpstream((request, response) =>
    response.end(JSON.stringify(request.method === 'GET' ? { server: server({ version: '1.0.0' }) } : {})),
  )
  const route = { name: 'registry', match: { path: '/' }, upstream: upstream.origin, protocol: 'mcp_registry' }
  const gateway = await startTestGateway(t, { routes: [route], monitoring: { sinks: [{ type: 'log' }] } })
  t.after(() => upstream.close())
  const writes = () => upstream.requests.filter(({ method }) => method !== 'GET').length
  const publish = (body: unknown) =>
    fetch(`${gateway.addresses.proxy}/v0/publish`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return { publish, writes }
}

/** Every object of a server.json that asks users for something, with the members given. */
const PLACES: Readonly<Record<string, (member: object) => object>> = {
  'a header': (member) => server({ remotes: [{ ...REMOTE, headers: [{ ...HEADER, ...member }] }] }),
  'a variable of a package': (member) =>
    server({ packages: [{ ...PACKAGE, environmentVariables: [{ ...VARIABLE, ...member }] }] }),
  'a variable of a header': (member) =>
    server({ remotes: [{ ...REMOTE, headers: [{ ...HEADER, variables: { zone: member } }] }] }),
  'a header of a transport': (member) =>
    server({ packages: [{ ...PACKAGE, transport: { type: 'stdio', headers: [{ name: 'X-New', ...member }] } }] }),
  'an argument': (member) => server({ packages: [{ ...PACKAGE, packageArguments: [{ name: '--new', ...member }] }] }),
}
const MEMBERS: readonly object[] = [
  ...['IsRequired', 'ISREQUIRED', 'isrequired', 'Is_Required', 'i\u017FRequired'].map((name) => ({ [name]: true })),
  { isRequired: false, is_required: true },
  { is_required: false, isRequired: true },
  { Choices: ['b'] },
  { Format: 'number' },
]

for (const [place, withMember] of Object.entries(PLACES))
  for (const member of MEMBERS)
    test(`${place} with ${JSON.stringify(member)} is not published`, async (t) => {
      const { publish, writes } = await scene(t)
      assert.notEqual((await publish(withMember(member))).status, 200)
      assert.equal(writes(), 0)
    })

const WHOLE: Readonly<Record<string, object>> = {
  'another server beside it': { ...server(), Server: server({ packages: [] }) },
  'remotes in other letters': server({ Remotes: [], remotes: undefined }),
  'a package whose variables are in other letters': server({
    packages: [
      { ...PACKAGE, EnvironmentVariables: [{ name: 'NEW', isRequired: true }], environmentVariables: undefined },
    ],
  }),
  'a list in both spellings': server({
    packages: [{ ...PACKAGE, environment_variables: [{ name: 'N', isRequired: true }] }],
  }),
  'a status in other letters': server({ Status: 'deleted' }),
}

for (const [what, body] of Object.entries(WHOLE))
  test(`${what}: not published`, async (t) => {
    const { publish, writes } = await scene(t)
    assert.notEqual((await publish(body)).status, 200)
    assert.equal(writes(), 0)
  })

for (const [what, body] of [
  ['the server as it is', server()],
  ['the server in a member of its own', { server: server() }],
  [
    'variables with names of members',
    server({ remotes: [{ ...REMOTE, variables: { Name: { description: 'n' }, VALUE: { default: 'v' } } }] }),
  ],
  ['data of the publisher', server({ _meta: { 'io.acme/own': { Name: 1, IsRequired: true, Packages: [] } } })],
] as const)
  test(`${what}: published`, async (t) => {
    const { publish, writes } = await scene(t)
    const answer = await publish(body)
    assert.equal(answer.status, 200, await answer.text())
    assert.equal(writes(), 1)
  })
