/** Builds the parts of the pipeline once: they are shared by all listeners of the proxy and of ext_authz. */
import { LRUCache } from 'lru-cache'
import type { BaselineService, BaselinesDeps } from '../baselines/baselines.ts'
import type { Bodies } from '../listen/bodies.ts'
import type { BreakGlass } from '../break-glass/break-glass.ts'
import type { ConsumerObserver } from '../consumers/observer.ts'
import type { Flow } from '../flow/flow.ts'
import type { RecogniserDeps, Recognisers } from '../protocols/registry.ts'
import { recognisers } from '../protocols/lazy-registry.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { Store, StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { DecisionLog } from '../telemetry/decision-log/decision-log.ts'
import type { Observer } from '../telemetry/observer.ts'
import type { Monitoring } from '../monitoring/monitoring.ts'
import { createValidator, type Validator } from '../validation/validator.ts'
import { recordCallDenial } from '../upstream/egress-record.ts'
import type { UpstreamExchange } from '../upstream/exchange.ts'
import type { ReceiptGateDeps } from './receipt-check.ts'
import type { PipelineDeps } from './pipeline.ts'
import type { Tunnels } from '../upstream/tunnel.ts'
import type { Upstreams } from '../upstream/pools.ts'
import { changedArtifacts, createVerdicts, type Verdicts } from './verdict-cache.ts'
import { createPendingCalls, type NotePendingCall, type PendingCalls } from './pending-calls.ts'

export interface PipelineBuildDeps {
  /** Read once for each request: routes, limits and policy can change while the proxy runs. */
  readonly settings: RecogniserDeps['settings']
  readonly flow: Pick<BaselinesDeps['flow'], 'authorize'> &
    Pick<Flow, 'digests' | 'sniff' | 'fileReferences' | 'bundle' | 'readJson'>
  readonly store: StorePart<
    'approvals.byId' | 'bindings.list' | 'receipts.state' | 'receipts.consume' | 'calls.record'
  > &
    Pick<Store, 'changes'>
  readonly keys: Pick<KeyRing, 'keySet'>
  readonly baselines: Pick<BaselineService, 'baselineFor'>
  readonly consumers: Pick<ConsumerObserver, 'note'>
  readonly breakGlass: Pick<BreakGlass, 'use' | 'isOpen'>
  readonly monitoring: Pick<Monitoring, 'open' | 'reportViolation'>
  readonly observer: Pick<Observer, 'join'>
  readonly decisionLog: Pick<DecisionLog, 'isOn' | 'write'>
  /** Absent: nobody else shows calls that wait. */
  readonly notePendingCall?: NotePendingCall
  /** Shared with the other listeners. */
  readonly bodies: Bodies
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export type Pipeline = PipelineDeps & { readonly pendingCalls: PendingCalls; readonly validator: Validator }

export function buildPipeline(deps: PipelineBuildDeps, upstreams: Upstreams, tunnels: Tunnels): Pipeline {
  const { metrics, logger, now, settings, breakGlass } = deps
  const verdicts = createVerdicts(deps)
  const pendingCalls = createPendingCalls({
    store: deps.store,
    isReleased: (route) => breakGlass.isOpen(route),
    bound: () => settings().config.limits.held_calls,
    logger,
    now,
  })
  const validator = createValidator(() => settings().config.limits.analysis * 1000)
  metrics.sample('preflight_calls_held', () => pendingCalls.count())
  let known: Recognisers | null = null
  return {
    settings,
    /** Loaded and created with the first call that is judged. */
    get recognisers() {
      return (known ??= recognisers().createRecognisers({ ...deps, upstreams, validator }))
    },
    validator,
    baselines: deps.baselines,
    consumers: deps.consumers,
    verdicts,
    receipts: receiptGateDeps(deps, verdicts),
    breakGlass,
    pendingCalls,
    ...(deps.notePendingCall !== undefined && { notePendingCall: deps.notePendingCall }),
    store: deps.store,
    monitoring: deps.monitoring,
    observer: deps.observer,
    decisionLog: deps.decisionLog,
    upstreams,
    bodies: deps.bodies,
    tunnels,
    standing: new Set<UpstreamExchange>(),
    egressDenied: (call, denial) => recordCallDenial(call, denial, deps),
    metrics,
    logger,
    now,
  }
}

const MAX_FINGERPRINTS = 1000

function receiptGateDeps(deps: PipelineBuildDeps, verdicts: Verdicts): ReceiptGateDeps {
  /** Contracts are large and seldom change: each pair is hashed once for each resource. */
  const known = new LRUCache<string, string>({ max: MAX_FINGERPRINTS })
  return {
    keys: deps.keys,
    store: deps.store,
    metrics: deps.metrics,
    logger: deps.logger,
    now: deps.now,
    receiptChanged: (decisionId) => verdicts.receiptChanged(decisionId),
    async fingerprint(resource, change) {
      const { artifacts } = changedArtifacts(resource, change)
      if (change.kind === 'change_set') return (await deps.flow.digests(artifacts)).inputFingerprint
      const key = `${change.baseline.digest}\n${change.offered.digest}\n${change.offered.type}\n${resource.target}`
      const fingerprint = known.get(key) ?? (await deps.flow.digests(artifacts)).inputFingerprint
      known.set(key, fingerprint)
      return fingerprint
    },
  }
}
