/** The peer that many gateways are built on, http-proxy 1.18.1, forwarding only, with a keep-alive agent. */
import { Agent, createServer } from 'node:http'
import httpProxy from 'http-proxy-1'
import { childArgument, sendToParent } from '../child.ts'

const upstream = childArgument()
if (typeof upstream !== 'string') throw new TypeError('the upstream is missing')
const proxy = httpProxy.createProxyServer({ target: upstream, agent: new Agent({ keepAlive: true, maxSockets: 128 }) })
proxy.on('error', (_error, _request, response) => {
  if ('writeHead' in response) response.writeHead(502).end()
})
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => proxy.web(request, response))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) sendToParent({ port: address.port })
})
