/** Upgrades as the gateway forwards them, without judging: its own exchange, pool and tunnels behind a `node:http` server. */
import { createServer } from 'node:http'
import { Socket } from 'node:net'
import { lookupTable } from '../../engine/base.ts'
import { startExchange } from '../../gateway/upstream/exchange.ts'
import { sentHead } from '../../gateway/upstream/headers.ts'
import { createTunnels } from '../../gateway/upstream/tunnel.ts'
import { takeUpgrade } from '../../gateway/upstream/upgrade.ts'
import { createUpstreams, type UpstreamRoute } from '../../gateway/upstream/pools.ts'
import { createMetrics } from '../../gateway/telemetry/metrics.ts'
import { childArgument, sendToParent } from '../child.ts'

const origin = childArgument()
if (typeof origin !== 'string') throw new TypeError('the upstream is missing')
const route: UpstreamRoute = {
  name: 'bench',
  protocol: 'mapped',
  upstream: origin,
  upstream_protocol: 'http1',
  timeout: { connect: 10, headers: 60, idle: 60 },
  tls: {},
}
const upstreams = createUpstreams(() => {
  throw new Error('the upstream is configured, so no egress policy is asked')
})
const tunnels = createTunnels(createMetrics())
const server = createServer()
server.on('upgrade', (request, client, head) => {
  if (!(client instanceof Socket)) throw new TypeError('the client is not a socket')
  const upgrade = takeUpgrade(request, client, head)
  const { rawHeaders, headers } = sentHead(request, {
    trafficPath: 'reverse',
    origin,
    correlationId: 'bench',
    trace: null,
    peer: '127.0.0.1',
    proto: 'http',
    upgrade: upgrade.protocol,
    readsAnswer: false,
    carriesTrailers: false,
  })
  startExchange({
    dispatcher: upstreams.dispatcherOf({ route, origin, headers: lookupTable(headers) }, true),
    path: request.url ?? '/',
    request,
    response: upgrade.response,
    headers: [...rawHeaders],
    body: null,
    ownHeaders: [],
    route,
    watcher: null,
    maySend: () => true,
    onSending: () => {},
    onAnswer: () => {},
    upgrade,
    tunnels,
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) sendToParent({ port: address.port })
})
