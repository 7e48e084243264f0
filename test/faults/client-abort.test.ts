/** A hundred clients go away, before their answer and in the middle of it: nothing of their calls stays open anywhere. */
import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { petContract, startHttpUpstream, type HttpUpstream } from '../fakes/http-upstream.ts'
import { openSocket } from '../fakes/raw-http.ts'
import { startProxy, type ProxyUnderTest } from '../fakes/proxy-under-test.ts'
import { until } from '../fakes/until.ts'

const CLIENTS = 100
const MANIFEST = { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }

type Protocol = 'mcp' | 'http'

interface Scene {
  readonly upstream: HttpUpstream
  readonly proxy: ProxyUnderTest
}

/** Every call is let through under monitoring, so that each one has a window too. */
async function scene(t: TestContext, protocol: Protocol, answer: RequestListener): Promise<Scene> {
  const upstream = await startHttpUpstream((request, response) => {
    if (upstream.requests.at(-1)?.body.includes('tools/list') !== true) return answer(request, response)
    const { id }: { readonly id: unknown } = JSON.parse(upstream.requests.at(-1)?.body ?? '')
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: MANIFEST }))
  })
  const route = { name: 'tools', match: { path: '/' }, upstream: upstream.origin, protocol }
  const proxy = await startProxy({
    routes: [protocol === 'mcp' ? route : { ...route, contract: { current: { file: petContract() } } }],
    decide: () => 'WARN',
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return { upstream, proxy }
}

const CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: {} } })
const REQUESTS: Readonly<Record<Protocol, string>> = {
  mcp: `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${CALL.length}\r\n\r\n${CALL}`,
  http: 'GET /pets HTTP/1.1\r\nHost: a\r\n\r\n',
}

const ANSWERS: Readonly<Record<string, RequestListener>> = {
  'before an answer': () => {},
  'in the middle of a JSON answer': (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100000' })
    response.write('{"jsonrpc":"2.0","id":1,"result":{"content":[')
  },
  'in the middle of an event stream': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n')
  },
}

for (const protocol of ['mcp', 'http'] as const) {
  for (const [moment, answer] of Object.entries(ANSWERS)) {
    test(`${CLIENTS} ${protocol} clients that abort ${moment} leave nothing open`, async (t) => {
      const { upstream, proxy } = await scene(t, protocol, answer)
      const isAnswering = moment !== 'before an answer'
      const sockets = Array.from({ length: CLIENTS }, () => openSocket(proxy.url))
      const answered = new Set<Socket>()
      for (const socket of sockets) {
        socket.on('data', () => answered.add(socket))
        socket.on('error', () => {})
        socket.write(REQUESTS[protocol])
      }
      await until(() => upstream.openExchanges() === CLIENTS, 'all calls are at the upstream')
      if (isAnswering) await until(() => answered.size === CLIENTS, 'every client has the start of an answer')
      assert.equal(proxy.monitoring.openCount(), CLIENTS)

      for (const socket of sockets) socket.destroy()

      await until(() => upstream.openExchanges() === 0, 'no exchange is left at the upstream')
      await until(() => proxy.listener.openCalls() === 0, 'no call is left in the proxy')
      await until(() => proxy.monitoring.openCount() === 0, 'no monitoring window is left')
      assert.deepEqual(await proxy.store.windows.listOpen(), [])
      const outcomes = proxy.events
        .filter(({ type }) => type === 'preflight.execution.finished')
        .map(({ data }) => data['outcome'])
      assert.deepEqual(
        outcomes,
        Array.from({ length: CLIENTS }, () => 'UNKNOWN'),
      )

      await proxy.listener.close(0)
      await until(() => upstream.openSockets() === 0, 'no socket is left at the upstream')
    })
  }
}

test('a client that goes away while its call is judged is never forwarded', async (t) => {
  const { upstream, proxy } = await scene(t, 'http', ANSWERS['before an answer'] ?? (() => {}))
  const authorize = proxy.flow.authorize.bind(proxy.flow)
  const held: (() => void)[] = []
  proxy.flow.authorize = async (request) => {
    await new Promise<void>((resolve) => held.push(resolve))
    return authorize(request)
  }
  const socket = openSocket(proxy.url)
  socket.write(REQUESTS.http)
  await until(() => held.length === 1, 'the call is being judged')
  socket.destroy()
  await new Promise((resolve) => socket.once('close', resolve))
  await new Promise((resolve) => setTimeout(resolve, 20))
  held[0]?.()
  await until(() => proxy.listener.openCalls() === 0, 'the call has ended')
  assert.equal(upstream.requests.length, 0)
  assert.deepEqual([proxy.interceptions, proxy.events], [[], []], 'nothing is recorded, and no window is opened')
})

test('nothing keeps the process alive once the proxy is closed', async (t) => {
  const before = process.getActiveResourcesInfo().filter((name) => name !== 'Immediate').length
  const { upstream, proxy } = await scene(t, 'http', (_request, response) => response.end('good'))
  await (await fetch(`${proxy.url}/pets`, { headers: { connection: 'close' } })).text()
  await proxy.close()
  await upstream.close()
  await until(
    () =>
      process.getActiveResourcesInfo().filter((name) => name !== 'Immediate' && name !== 'Timeout').length <= before,
    `no handle is left: ${process.getActiveResourcesInfo().join(', ')}`,
  )
})
