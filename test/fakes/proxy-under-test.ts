/** A proxy on a free port with everything real but the decisions: store, baselines, monitoring and metrics are the gateway's own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import type { Decision } from '../../engine/internal.ts'
import { bodyPace, createBodies, type BodyMemory } from '../../gateway/listen/bodies.ts'
import { createMemoryBudget } from '../../gateway/runtime/memory-budget.ts'
import { RouteBaselines, type BaselineService } from '../../gateway/baselines/baselines.ts'
import { createBreakGlass } from '../../gateway/break-glass/break-glass.ts'
import { loadConfig } from '../../gateway/config/load.ts'
import type { Config } from '../../gateway/config/schema.ts'
import type { AuthorizeRequest, Flow } from '../../gateway/flow/flow.ts'
import { createConsumerObserver, type ConsumerObserver } from '../../gateway/consumers/observer.ts'
import { recognisers } from '../../gateway/protocols/lazy-registry.ts'
import { createProxy, type Proxy } from '../../gateway/enforce/proxy.ts'
import { createAuthorities, type Authorities } from '../../gateway/tls/authorities.ts'
import { openStore } from '../../gateway/store/opening/open.ts'
import type { InterceptionRow } from '../../gateway/store/calls.ts'
import type { DecisionRow } from '../../gateway/store/decisions.ts'
import type { Store } from '../../gateway/store/store.ts'
import type { TelemetryEvent } from '../../gateway/telemetry/events.ts'
import { withFaults, type StoreFaults } from './store-faults.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { NO_DECISION_LOG } from '../../gateway/telemetry/decision-log/decision-log.ts'
import { createObserver } from '../../gateway/telemetry/observer.ts'
import { createMetrics, type Metrics } from '../../gateway/telemetry/metrics.ts'
import { createMonitoring, type Monitoring } from '../../gateway/monitoring/monitoring.ts'
import { decisionRow } from './decision-row.ts'
import { scriptedFlow, type ScriptedFlow } from './scripted-flow.ts'

export interface ProxyUnderTest {
  readonly url: string
  readonly authorities: Authorities
  readonly settings: () => { readonly config: Config }
  readonly listener: Proxy
  readonly store: Store
  readonly flow: ScriptedFlow
  readonly baselines: BaselineService
  readonly consumers: ConsumerObserver
  readonly monitoring: Monitoring
  readonly metrics: Metrics
  readonly interceptions: readonly InterceptionRow[]
  /** What the log sink was given. */
  readonly events: readonly TelemetryEvent[]
  /** Lines of the gateway's own log. */
  readonly log: readonly string[]
  /** Counts a replacement of configuration or policy. */
  nextGeneration(): void
  close(): Promise<void>
}

export interface ProxyOptions {
  readonly routes: readonly unknown[]
  readonly decide?: (request: AuthorizeRequest) => Decision
  readonly compare?: Flow['compare']
  readonly config?: Readonly<Record<string, unknown>>
  readonly storeFaults?: StoreFaults
  /** Around the real store. */
  readonly wrapStore?: (store: Store) => Store
  readonly now?: () => number
  readonly output?: Writable
  readonly memory?: BodyMemory
}

export async function startProxy(options: ProxyOptions): Promise<ProxyUnderTest> {
  // Loaded before the first call: what loading costs it is not what these tests are about.
  recognisers()
  const directory = mkdtempSync(join(tmpdir(), 'preflight-proxy-'))
  const config = configOf({ data_dir: directory, routes: options.routes, ...options.config })
  const store = await openStore(config)
  const metrics = createMetrics()
  const log: string[] = []
  const events: TelemetryEvent[] = []
  const interceptions: InterceptionRow[] = []
  const logger = createLogger('debug', { write: (line: string) => void log.push(line) })
  const now = options.now ?? Date.now
  let generation = 1
  const settings = () => ({ config, generation })
  const recordDecision = (row: DecisionRow): Promise<void> =>
    options.storeFaults?.decisions?.record?.(row) ?? store.decisions.record(row)
  const flow = scriptedFlow({
    decide: options.decide ?? (() => 'ALLOW'),
    ...(options.compare === undefined ? {} : { compare: options.compare }),
    record: (request, { envelope, expiresAt }) =>
      recordDecision(
        decisionRow({
          decisionId: envelope.decision_id,
          decision: envelope.decision,
          executionAction: envelope.execution_action,
          route: request.route,
          supersessionKey: `${request.route}/${request.context.target_id}`,
          expiresAt,
        }),
      ),
  })
  const wrapped = options.wrapStore?.(store) ?? store
  const faults = options.storeFaults ?? {}
  const record = faults.calls?.record ?? ((row: InterceptionRow) => wrapped.calls.record(row))
  const faultyStore = withFaults(wrapped, {
    ...faults,
    calls: {
      ...faults.calls,
      record: (row) => {
        interceptions.push(row)
        return record(row)
      },
    },
  })
  const monitoring = createMonitoring({
    config: config.monitoring,
    dataDir: directory,
    store: faultyStore,
    metrics,
    logger,
    now,
    output: options.output ?? eventLines(events),
  })
  await monitoring.start()
  const baselines = new RouteBaselines({ settings, flow, store: faultyStore, metrics, logger, now })
  const breakGlass = createBreakGlass({ store: faultyStore, metrics, logger, now })
  const keys = { keySet: () => new Map() }
  const consumers = await createConsumerObserver({ settings, store: faultyStore, logger, now })
  const shared = {
    settings,
    flow,
    store: faultyStore,
    baselines,
    consumers,
    breakGlass,
    monitoring,
    observer: createObserver({ metrics, spans: null }),
    decisionLog: NO_DECISION_LOG,
    bodies: createBodies(options.memory ?? createMemoryBudget(), () => bodyPace(settings().config.limits)),
    metrics,
    logger,
    now,
  }
  const ownPorts = new Set<number>()
  const authorities = createAuthorities({ dataDir: directory, ca: config.tls.ca, now })
  const proxy = createProxy({ ...shared, keys, authorities, ownPorts: () => ownPorts })
  const { port } = await proxy.listen('127.0.0.1', 0)
  ownPorts.add(port)
  return {
    url: `http://127.0.0.1:${port}`,
    authorities,
    settings,
    listener: proxy,
    store,
    flow,
    baselines,
    consumers,
    monitoring,
    metrics,
    interceptions,
    events,
    log,
    nextGeneration() {
      generation += 1
    },
    async close() {
      await proxy.close(0)
      await consumers.close()
      await monitoring.close()
      await store.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function configOf(value: unknown): Config {
  const loaded = loadConfig({ environment: {}, value })
  if (!loaded.ok) throw new Error(loaded.problem.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  return loaded.value.config
}

function eventLines(events: TelemetryEvent[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString('utf8').split('\n').filter(Boolean)) {
        const event: TelemetryEvent = JSON.parse(line)
        events.push(event)
      }
      done()
    },
  })
}

/** A proxy before one upstream, whose route passes every call; it ends with the test. */
export async function passingProxy(t: TestContext, upstream: string, route: object = {}): Promise<ProxyUnderTest> {
  const passing = { name: 'plain', match: { path: '/' }, protocol: 'mapped', map: [{ action: 'pass' }], upstream }
  const proxy = await startProxy({ routes: [{ ...passing, ...route }] })
  t.after(() => proxy.close())
  return proxy
}
