/** The proxy listener: takes requests off the wire, sends each down the road of a call, drains on close. */
import type { AddressInfo } from 'node:net'
import type { Baselines } from '../baselines/baselines.ts'
import type { Flow } from '../flow/flow.ts'
import type { CurrentSettings } from '../settings.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Monitoring } from '../telemetry/monitoring.ts'

export interface ProxyDeps {
  /** Read once a request: routes, limits and policy can change while the proxy runs. */
  readonly settings: CurrentSettings
  readonly flow: Pick<Flow, 'authorize'>
  readonly store: Pick<Store, 'receiptState' | 'recordInterception'>
  readonly baselines: Pick<Baselines, 'baselineFor'>
  readonly monitoring: Pick<Monitoring, 'isWired' | 'open' | 'finish'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export interface Proxy {
  /** Resolves with the bound address. Rejects with the error of `listen` (EADDRINUSE …). */
  listen(host: string, port: number): Promise<AddressInfo>
  /** Calls under way. */
  openCalls(): number
  /** Takes no new connection, lets calls under way finish for `drainMs`, then breaks them off. Leaves no socket or timer. */
  close(drainMs: number): Promise<void>
}

export declare function createProxy(deps: ProxyDeps): Proxy
