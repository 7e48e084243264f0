/**
 * The proxy: one HTTP server for all traffic paths. Requests are received in plaintext, inside a CONNECT, or redirected
 * by the network; all pass the same admission. Builds the parts and takes them down; judges nothing itself.
 */
import type { AddressInfo, Socket } from 'node:net'
import type { ListenConfig, ListenSettingsInForce } from '../listen/settings.ts'
import type { RecognisersConfig } from '../protocols/registry.ts'
import type { EgressSettings } from '../upstream/settings.ts'
import { ownListeners } from '../upstream/own-listeners.ts'
import { createEgress, type Egress } from '../upstream/egress-policy.ts'
import type { EntryOf } from '../network/listen.ts'
import type { StorePart } from '../store/store.ts'
import type { Authorities } from '../tls/authorities.ts'
import { createLeaves } from '../tls/leaf-certificates.ts'
import { takeConnect } from '../listen/connect.ts'
import { createHttpServer } from '../listen/http-server.ts'
import { buildPipeline, type Pipeline, type PipelineBuildDeps } from './pipeline-setup.ts'
import { createOpenTunnels } from '../listen/open-tunnels.ts'
import { createTransparent, type Transparent } from '../listen/transparent.ts'
import { createInFlightRequests } from './in-flight-requests.ts'
import { createTunnels, type Tunnels } from '../upstream/tunnel.ts'
import { createUpstreams } from '../upstream/pools.ts'
import type { Observer } from '../telemetry/observer.ts'
import type { ConnectionDecisionDeps } from '../listen/connection-decision.ts'

interface ProxyDeps extends PipelineBuildDeps {
  readonly settings: () => { readonly config: ListenConfig & RecognisersConfig; readonly generation: number }
  readonly store: PipelineBuildDeps['store'] & StorePart<'apiKeys.byHash'>
  readonly observer: Observer
  readonly authorities: Pick<Authorities, 'signing'>
  /** Ports of this gateway's own listeners, as far as they are bound. */
  readonly ownPorts: () => ReadonlySet<number>
  /** Absent: plaintext. */
  readonly entry?: EntryOf
}

export interface Proxy {
  /** Resolves with the bound address. Rejects with the error of `listen` (EADDRINUSE …). */
  listen(host: string, port: number): Promise<AddressInfo>
  /** For connections that the network redirects to the gateway. */
  readonly transparent: Pick<Transparent, 'listen'>
  /** The dependencies that calls are judged with; ext_authz uses the same. */
  readonly pipeline: Pipeline
  /** Number of requests in flight. */
  openCalls(): number
  /** A receipt was revoked or consumed through the API: the decision behind it is not used again unchecked. */
  receiptChanged(decisionId: string): void
  /** Somebody approved or denied what calls wait for. */
  approvalDecided(): void
  /** Receipt keys were revoked or replaced: no cached decision is used with an old key. */
  keysChanged(): void
  /**
   * Takes no new connection, lets calls in flight finish for `drainMs`, then closes them. Leaves no socket or timer.
   */
  close(drainMs: number): Promise<void>
}

/** When the gateway stops, it closes a tunnel without traffic for this long. */
const DRAIN_IDLE_MS = 1000

export function createProxy(deps: ProxyDeps): Proxy {
  const { settings, metrics } = deps
  const egressOf = egressBySettings(deps)
  const tunnels = createTunnels(metrics)
  const upstreams = createUpstreams(() => egressOf(settings()))
  const pipeline = buildPipeline(deps, upstreams, tunnels)
  const inFlight = createInFlightRequests({ ...deps, pipeline, egressOf }, () => http.closeIdle())
  const pending = new Set<Socket>()
  const ways: ConnectionDecisionDeps = {
    ...deps,
    leaves: createLeaves(deps),
    egressOf,
    tunnels,
    openTunnels: createOpenTunnels({ ...deps, egressOf }),
    serve(socket, inbound) {
      pending.delete(socket)
      http.serve(socket, inbound)
    },
  }
  const connections = { ...ways, store: deps.store, settings, isFull: () => isFull(settings(), tunnels, pending) }
  const transparent = createTransparent({ ...connections, pending })
  const http = createHttpServer(
    {
      request: (request, response, inbound, asks) => inFlight.begin(request, response, inbound, asks),
      connect(request, socket, head, isNested) {
        holdWhile(() => takeConnect(request, socket, head, { ...connections, isNested }), socket, pending)
      },
    },
    settings().config.limits.head_timeout * 1000,
    deps.logger,
    deps.entry,
  )
  const breakOff = (): void => {
    http.close()
    tunnels.close()
  }

  return {
    listen: (host, port) => http.listen(host, port),
    transparent,
    pipeline,
    openCalls: () => inFlight.open,
    receiptChanged: (decisionId) => pipeline.verdicts.receiptChanged(decisionId),
    keysChanged: () => pipeline.verdicts.keysChanged(),
    approvalDecided() {
      pipeline.verdicts.approvalDecided()
      pipeline.pendingCalls.look()
    },
    async close(drainMs) {
      inFlight.drain()
      const closed = Promise.all([http.drain(), transparent.close()])
      endWaits(pipeline, pending)
      tunnels.drain(Math.min(DRAIN_IDLE_MS, drainMs))
      const force = setTimeout(breakOff, drainMs)
      await closed
      clearTimeout(force)
      breakOff()
      await Promise.all([pipeline.upstreams.close(), pipeline.validator.close()])
    },
  }
}

/** A connection is pending until it is handed to the HTTP server or a tunnel, or closed. */
function holdWhile(take: () => Promise<unknown>, socket: Socket, pending: Set<Socket>): void {
  pending.add(socket)
  socket.once('close', () => pending.delete(socket))
  void take().finally(() => pending.delete(socket))
}

/** What only waits, waits no longer: pending calls, standing exchanges, connections without a request. */
function endWaits({ pendingCalls, standing }: Pipeline, pending: ReadonlySet<Socket>): void {
  pendingCalls.close()
  for (const exchange of standing) exchange.abort()
  for (const socket of pending) socket.destroy()
}

/** One policy for each configuration: created when first needed, dropped with it. */
function egressBySettings({
  ownPorts,
}: Pick<ProxyDeps, 'ownPorts'>): (settings: Pick<ListenSettingsInForce, 'config'>) => Egress {
  const known = new WeakMap<EgressSettings, Egress>()
  const isOwn = ownListeners(ownPorts)
  return ({ config: { egress } }) => {
    const policy = known.get(egress) ?? createEgress({ egress, isOwn })
    known.set(egress, policy)
    return policy
  }
}

function isFull(
  { config }: Pick<ListenSettingsInForce, 'config'>,
  tunnels: Tunnels,
  pending: ReadonlySet<Socket>,
): boolean {
  return tunnels.size + pending.size > config.limits.connections
}
