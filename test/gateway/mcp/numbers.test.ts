/** Numbers with more digits than a double keeps, in what an MCP server offers: the contract keeps them, so that a change is seen. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { startTestGateway, TEST_KEY } from '../../fakes/gateway.ts'
import { at } from '../../json.ts'

interface NumberServer {
  readonly url: string
  /** The largest number that its tool takes, as it is written. */
  maximum: string
}

/** A server without sessions, whose answers are written by hand: `JSON.stringify` would round the number. */
async function startNumberServer(t: TestContext): Promise<NumberServer> {
  const state = { url: '', maximum: '9007199254740993' }
  const results: Readonly<Record<string, () => string>> = {
    initialize: () =>
      '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}',
    'tools/list': () =>
      `{"tools":[{"name":"count","inputSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":${state.maximum}}}}}]}`,
    'tools/call': () => '{"content":[]}',
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const message: unknown = JSON.parse(await text(request))
    const result = results[String(at(message, 'method'))]?.()
    response.writeHead(result === undefined ? 202 : 200, { 'content-type': 'application/json' })
    response.end(result && `{"jsonrpc":"2.0","id":${JSON.stringify(at(message, 'id'))},"result":${result}}`)
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  state.url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  return state
}

test('a tool whose largest number changes by less than a double tells is another tool', async (t) => {
  const upstream = await startNumberServer(t)
  const gateway = await startTestGateway(t, {
    routes: [
      { name: 'tools', match: { path: '/tools' }, upstream: upstream.url, protocol: 'mcp', contract: { refresh: 0 } },
    ],
  })
  const send = async (method: string, params: object): Promise<string> => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await fetch(`${gateway.addresses.proxy}/tools`, { method: 'POST', headers, body })
    return answer.text()
  }
  const call = (): Promise<string> => send('tools/call', { name: 'count', arguments: { n: 1 } })
  const baseline = async (): Promise<string> => {
    const headers = { authorization: `Bearer ${TEST_KEY}` }
    const answer = await fetch(`${gateway.addresses.api}/api/v1/baselines/tools`, { headers })
    return String(at(await answer.json(), 'baseline', 'content'))
  }

  await send('tools/list', {})
  assert.match(await call(), /"content":\[\]/)
  assert.match(await baseline(), /"maximum":9007199254740993\b/)
  assert.match(await call(), /"content":\[\]/)
  upstream.maximum = '9007199254740992'
  await send('tools/list', {})
  assert.match(await call(), /PREFLIGHT_STOP/)
  upstream.maximum = '9007199254740993'
  assert.match(await call(), /"content":\[\]/)
})
