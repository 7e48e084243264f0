/**
 * Upgrades by http-proxy-3 at its cheapest: `ws()` alone, with an agent whose connections come from the connector of the
 * gateway's pools. No head is computed, no answer is looked at and nothing is counted.
 */
import { Agent, createServer, type ClientRequestArgs } from 'node:http'
import type { Duplex } from 'node:stream'
import { createProxyServer } from 'http-proxy-3'
import { buildConnector } from 'undici'
import { childArgument, sendToParent } from '../child.ts'

const target = childArgument()
if (typeof target !== 'string') throw new TypeError('the upstream is missing')

const connectTo = buildConnector({ timeout: 10_000, allowH2: false })

class GuardedAgent extends Agent {
  override createConnection(
    { host, port }: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): null {
    const hostname = host ?? '127.0.0.1'
    connectTo({ hostname, host: hostname, protocol: 'http:', port: String(port) }, (...[error, socket]) => {
      if (error === null) callback?.(null, socket)
      // The upstream of the bench is there: without it there is nothing to measure.
      else throw error
    })
    return null
  }
}

const proxy = createProxyServer({ target, agent: new GuardedAgent({ keepAlive: false }) })
proxy.on('error', () => {})
const server = createServer()
server.on('upgrade', (request, socket, head) => proxy.ws(request, socket, head))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) sendToParent({ port: address.port })
})
