/**
 * A running gateway as its operator sees it in an incident: one status, the settings in force without credentials, and what its
 * caches, pools and queues hold. Reads only, but for the level of the log.
 */
import type { State } from './state.ts'
import { resultsOf, type Checks } from '../listen/admin.ts'
import type { LiveSettings } from '../config/live-settings.ts'
import type { BoundAddresses } from './listeners.ts'
import { packageVersion } from '../runtime/package-files.ts'
import { isHubUrl } from '../store/settings.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { DebugPage, GatewayStatus, Inspection } from '../telemetry/inspection.ts'
import { redactedSettings } from '../telemetry/redaction.ts'
import type { Deciding } from './deciding.ts'
import type { Proxy } from '../enforce/proxy.ts'

interface InspectionDeps {
  readonly live: LiveSettings
  readonly state: State
  readonly deciding: Deciding
  readonly proxy: Pick<Proxy, 'openCalls' | 'pipeline'>
  readonly checks: Checks
  /** Null: the listeners are not open yet. */
  readonly addresses: () => BoundAddresses | null
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Rows of one page at most. */
const MOST = 200

export function createInspection(deps: InspectionDeps): Inspection {
  const { live, logger } = deps
  return {
    status: () => statusOf(deps),
    config: () => ({
      generation: live.current().generation,
      policy: { name: live.current().policy.name, hash: live.current().policy.hash },
      config: redactedSettings(live.current().config),
    }),
    debug: (page) => PAGES[page](deps),
    logLevel: () => logger.level,
    setLogLevel(level, by) {
      const before = logger.level
      // The record of the change is written whatever the two levels are.
      logger.level = 'info'
      logger.warn({ event: 'log.level_changed', before, after: level, by }, 'log level changed')
      logger.level = level
    },
  }
}

async function statusOf(deps: InspectionDeps): Promise<GatewayStatus> {
  const { live, state, deciding, proxy, metrics, logger, now } = deps
  const { config, generation, policy } = live.current()
  const checks = await resultsOf(deps.checks)
  const open = await state.store.breakGlass.list({ openAt: now(), limit: MOST })
  const pending = isHubUrl(config.store.url) ? null : await state.store.approvals.waiting(now())
  const values = metricValues(metrics)
  const sinks = [...deciding.monitoring.sinks(), ...deciding.decisionLog.sinks()]
  const { memory } = deciding
  const status: Omit<GatewayStatus, 'problems'> = {
    version: packageVersion(),
    node: process.version,
    pid: process.pid,
    started_at: new Date(performance.timeOrigin).toISOString(),
    ready: Object.values(checks).every(({ ready }) => ready),
    checks,
    tier: config.tier,
    addresses: { ...deps.addresses() },
    settings: {
      generation,
      policy: policy.name,
      policy_hash: policy.hash,
      mistakes: live.pendingMistakes().length,
      restart: [...live.pendingRestart()],
      log_level: logger.level,
    },
    store: state.store.description,
    key_id: state.keyId,
    calls: { open: proxy.openCalls(), held: values('preflight_calls_held', {}) ?? 0 },
    routes: config.routes.map(({ name, protocol, mode }) => ({
      name,
      protocol,
      mode,
      calls: values.by('preflight_calls_total', { route: name }, 'outcome'),
      baseline_set_at: instantOfSeconds(values('preflight_baseline_set_timestamp_seconds', { route: name })),
      candidate: values('preflight_baseline_candidate_pending', { route: name }) === 1,
      suspended: open.some(({ route }) => route === name),
    })),
    approvals: {
      pending: pending?.count ?? 0,
      oldest_at: pending?.oldestAt == null ? null : new Date(pending.oldestAt).toISOString(),
    },
    break_glass: open.map(({ id, route, expiresAt, reason }) => ({
      id,
      route,
      until: new Date(expiresAt).toISOString(),
      reason,
    })),
    sinks: sinks.map(({ name, isWired, queued, detail }) => ({ name, wired: isWired, queued, detail })),
    windows: deciding.monitoring.openCount(),
    memory: {
      resident_bytes: process.memoryUsage.rss(),
      budget_bytes: memory.capacity,
      budget_held_bytes: memory.held('body') + memory.held('analysis'),
      budget_waiting: memory.waiting(),
    },
  }
  return { ...status, problems: statusProblems(status, values) }
}

/** The most urgent first: what stops agents, what lets them through unjudged, what waits for people. */
function statusProblems(status: Omit<GatewayStatus, 'problems'>, values: Values): string[] {
  const { checks, routes, break_glass: open, sinks, settings, approvals, memory } = status
  const lost = values('preflight_decision_log_entries_total', { result: 'lost' }) ?? 0
  return [
    ...Object.entries(checks).flatMap(([name, { ready, detail = 'not ready' }]) =>
      ready ? [] : [`${name}: ${detail}`],
    ),
    ...open.map(({ id, route, until }) => `enforcement is suspended on route ${route} until ${until} (${id})`),
    ...routes.flatMap(({ name, calls }) =>
      (calls['failed_open'] ?? 0) > 0
        ? [`route ${name}: ${amountOf(calls['failed_open'], 'call')} went on unjudged since the start`]
        : [],
    ),
    ...routes.flatMap(({ name, calls }) =>
      (calls['undecided'] ?? 0) > 0
        ? [`route ${name}: ${amountOf(calls['undecided'], 'call')} could not be judged since the start`]
        : [],
    ),
    ...sinks.flatMap(({ name, wired, detail }) => (wired ? [] : [`sink ${name}: ${detail}`])),
    ...(lost > 0 ? [`lost entries of the decision log: ${lost}`] : []),
    ...(settings.mistakes > 0
      ? [
          `the files on disk have ${amountOf(settings.mistakes, 'mistake')} and are not in force (preflight config check)`,
        ]
      : []),
    ...(memory.budget_waiting > 0 ? [`bodies or analyses that wait for memory: ${memory.budget_waiting}`] : []),
    ...routes.flatMap(({ name, candidate }) =>
      candidate ? [`route ${name}: a changed contract waits for review (preflight baselines list)`] : [],
    ),
    ...(approvals.pending > 0
      ? [
          `${amountOf(approvals.pending, 'approval')} pending since ${approvals.oldest_at ?? ''} (preflight approvals list)`,
        ]
      : []),
    ...(settings.restart.length > 0 ? [`changes of ${settings.restart.join(', ')} wait for a restart`] : []),
  ]
}

function amountOf(count = 0, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

type MetricLabels = Readonly<Record<string, string>>

interface Values {
  /** The value of one series; null: there is none. */
  (name: string, labels: MetricLabels): number | null
  /** The values of a metric by one of its labels. */
  by(name: string, labels: MetricLabels, label: string): Record<string, number>
}

function metricValues(metrics: Metrics): Values {
  const read = metrics.read()
  const rows = (name: string, labels: MetricLabels) =>
    (read.find((metric) => metric.name === name)?.values ?? []).filter((row) =>
      Object.entries(labels).every(([label, value]) => row.labels[label] === value),
    )
  const one = (name: string, labels: MetricLabels) => rows(name, labels)[0]?.value ?? null
  const by = (name: string, labels: MetricLabels, label: string) =>
    Object.fromEntries(rows(name, labels).map((row) => [String(row.labels[label]), row.value]))
  return Object.assign(one, { by })
}

function instantOfSeconds(seconds: number | null): string | null {
  return seconds === null ? null : new Date(seconds * 1000).toISOString()
}

const PAGES: Readonly<Record<DebugPage, (deps: InspectionDeps) => Promise<object>>> = {
  routes: ({ live }) =>
    Promise.resolve({
      routes: live.current().config.routes.map(({ name, match, upstream, protocol, mode, failure, operation }) => ({
        ...redactedSettings({ name, match, upstream: upstream ?? null }),
        protocol,
        mode,
        failure,
        operation,
      })),
    }),
  baselines: async ({ deciding }) => ({
    baselines: (await deciding.baselines.list()).map(({ baseline, candidate }) => ({
      route: baseline.route,
      type: baseline.type,
      digest: baseline.digest,
      source: baseline.source,
      set_by: baseline.setBy,
      set_at: new Date(baseline.setAt).toISOString(),
      candidate:
        candidate === null ? null : { digest: candidate.digest, seen_at: new Date(candidate.seenAt).toISOString() },
    })),
  }),
  verdicts: ({ proxy }) => Promise.resolve(proxy.pipeline.verdicts.inspect(MOST)),
  pools: ({ proxy }) => Promise.resolve({ pools: proxy.pipeline.upstreams.inspect() }),
  windows: async ({ state, deciding }) => ({
    open: deciding.monitoring.openCount(),
    windows: (await state.store.windows.listOpen()).slice(0, MOST).map((row) => ({
      correlation_id: row.correlationId,
      decision_id: row.decisionId,
      route: row.route,
      tenant: row.tenant,
      observer: row.observer,
      opened_at: new Date(row.openedAt).toISOString(),
    })),
  }),
  spool: ({ deciding }) =>
    Promise.resolve({ monitoring: deciding.monitoring.sinks(), decision_log: deciding.decisionLog.sinks() }),
  memory: ({ deciding: { memory } }) =>
    Promise.resolve({
      process: process.memoryUsage(),
      budget: {
        capacity: memory.capacity,
        body: memory.held('body'),
        analysis: memory.held('analysis'),
        waiting: memory.waiting(),
      },
    }),
  store: async ({ state, checks }) => ({
    description: state.store.description,
    writable: state.health.isWritable,
    check: (await resultsOf(checks))['store'] ?? null,
    at_hub: state.hub !== null,
    in_force_within_seconds: state.store.changes.bound,
  }),
}
