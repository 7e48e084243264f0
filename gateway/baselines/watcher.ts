/** Polls the contracts that upstreams offer (`contract.watch`): a change is seen and reported before a call meets it. */
import type { ArtifactType } from '../../engine/internal.ts'
import type { Protocol, Route } from '../routing/route.ts'
import type { BaselinesConfig } from './settings.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { contractDigest, type BaselineService } from './baselines.ts'
import { readContractSource, type SourceTerms } from '../documents/contract-source.ts'

export interface Watcher {
  /** Resolves when no poll is in progress any more. */
  close(): Promise<void>
}

interface WatcherDeps {
  readonly settings: () => { readonly config: BaselinesConfig }
  /**
   * Reads the contract that calls of a protocol are compared with; undefined: the protocol has no single place that offers one.
   */
  readonly contractTypeOf: (protocol: Protocol) => ArtifactType | undefined
  readonly baselines: Pick<BaselineService, 'baselineFor'>
  readonly flow: SourceTerms['texts']
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds between two checks of which routes are due. */
  readonly tick?: number
}

const TICK_MS = 1000

export function startWatcher(deps: WatcherDeps): Watcher {
  const { settings, now, tick = TICK_MS } = deps
  const lookedAt = new Map<string, number>()
  const underWay = new Set<Promise<void>>()
  const digests = new Map<string, string>()

  const round = (): void => {
    for (const route of settings().config.routes) {
      const seconds = route.contract?.watch
      if (seconds === undefined || now() - (lookedAt.get(route.name) ?? 0) < seconds * 1000) continue
      lookedAt.set(route.name, now())
      const look = lookAt(route, digests, deps).finally(() => underWay.delete(look))
      underWay.add(look)
    }
  }
  const timer = setInterval(round, tick)
  timer.unref()
  return {
    async close() {
      clearInterval(timer)
      await Promise.all(underWay)
    },
  }
}

/** Never rejects: a contract that cannot be read now is read again, and the call refused, when a call comes. */
async function lookAt(route: Route, digests: Map<string, string>, deps: WatcherDeps): Promise<void> {
  const { settings, baselines, flow, metrics, logger } = deps
  const source = route.contract?.current
  const type = deps.contractTypeOf(route.protocol)
  if (source === undefined || type === undefined) return
  const { name } = route
  try {
    const terms = { repository: settings().config.diff.repository, texts: flow }
    const content = await readContractSource(source, terms, route.contract?.origins)
    const digest = contractDigest(content)
    const before = digests.get(name)
    digests.set(name, digest)
    const result = before === undefined || before === digest ? 'unchanged' : 'changed'
    metrics.count('preflight_contract_refreshes_total', { route: name, result })
    const baseline = await baselines.baselineFor(route, { type, content, digest })
    if (result === 'changed' && baseline.digest !== digest)
      logger.warn(
        { event: 'contract.changed', route: name, digest, baseline: baseline.digest },
        'the contract of the upstream changed',
      )
  } catch (error) {
    metrics.count('preflight_contract_refreshes_total', { route: name, result: 'failed' })
    logger.warn(
      { event: 'contract.read_failed', err: error, route: name },
      'the contract of the upstream could not be read',
    )
  }
}
