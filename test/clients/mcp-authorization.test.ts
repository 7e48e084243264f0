/** An MCP server that is its own authorization server, on one route with it: clients register, are authorized and call tools through the gateway. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { startAuthorizedMcpServer, type AuthorizedMcpServer } from '../fakes/authorized-mcp-server.ts'
import { startTestGateway, type TestGateway } from '../fakes/gateway.ts'
import { agreeingUser } from '../fakes/oauth-provider.ts'

interface Scene {
  readonly server: AuthorizedMcpServer
  readonly gateway: TestGateway
}

async function scene(t: TestContext): Promise<Scene> {
  const server = await startAuthorizedMcpServer()
  t.after(() => server.close())
  const gateway = await startTestGateway(t, {
    routes: [{ name: 'tools', match: { path: '/' }, upstream: server.origin, protocol: 'mcp' }],
  })
  server.publish(gateway.addresses.proxy)
  return { server, gateway }
}

test('a client finds the authorization server, registers, gets its token and calls a tool, all by the gateway', async (t) => {
  const { server, gateway } = await scene(t)
  const user = agreeingUser()
  const connect = async (): Promise<Client> => {
    const url = new URL(`${gateway.addresses.proxy}/mcp`)
    const transport = new StreamableHTTPClientTransport(url, { authProvider: user.provider })
    const client = new Client({ name: 'agent', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } })
    try {
      await client.connect(transport)
      return client
    } catch (error) {
      const answer = user.takeAnswer()
      if (!(error instanceof UnauthorizedError) || answer === null) throw error
      await transport.finishAuth(answer)
      return connect()
    }
  }
  const client = await connect()
  t.after(() => client.close())
  const { content } = await client.callTool({ name: 'echo', arguments: {} })
  assert.deepEqual(content, [{ type: 'text', text: 'hi' }])
  for (const request of ['GET /.well-known/oauth-protected-resource/mcp', 'POST /register', 'POST /token'])
    assert.ok(server.requests.includes(request), `${request} in ${server.requests.join(', ')}`)
})

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

for (const [what, type, body, status] of [
  ['a message under the type of a form', FORM, '{"jsonrpc":"2.0","id":1,"method":"tools/call","grant_type":"x"}', 415],
  ['a form with a message in its first name', FORM, '{"jsonrpc":"2.0","id":1,"method":"x"}=&grant_type=x', 415],
  ['a form of something else', FORM, 'name=echo', 415],
  ['a registration that is a message too', JSON_TYPE, '{"redirect_uris":[],"jsonrpc":"2.0","id":1,"method":1}', 400],
  ['a registration with a method in other letters', JSON_TYPE, '{"redirect_uris":[],"METHOD":"tools/call"}', 400],
  ['an object of something else', JSON_TYPE, '{"tool":"echo"}', 400],
  ['a registration in a batch', JSON_TYPE, '[{"redirect_uris":[]}]', 400],
] as const) {
  test(`${what} does not pass for a part of an authorization`, async (t) => {
    const { server, gateway } = await scene(t)
    const answer = await fetch(`${gateway.addresses.proxy}/token`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    })
    assert.equal(answer.status, status)
    assert.deepEqual(server.requests, [])
  })
}
