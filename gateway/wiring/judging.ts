/** The proxy, and what judges calls: every listener of calls, checks and decisions shares it. */
import { createAuthorities, type Authorities } from '../tls/authorities.ts'
import { bodyPace, createBodies } from '../listen/bodies.ts'
import { listenerEntry } from '../listen/secure-entry.ts'
import { createProxy } from '../enforce/proxy.ts'
import { noteHeldMerges } from '../merge-checks/held-merges.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Deciding, PartsOptions } from './deciding.ts'

/** @property shared what the proxy and the other listeners need of each other's parts */
export type Judging = Awaited<ReturnType<typeof openJudging>>

/** @param ownPorts ports of this gateway's own listeners, which are never a destination */
export async function openJudging(
  { state, live, metrics, logger, now, closers }: PartsOptions,
  { memory, flow, baselines, consumers, monitoring, breakGlass, observer, decisionLog }: Deciding,
  ownPorts: ReadonlySet<number>,
) {
  const { store, keys, dataDir } = state
  const settings = live.current
  const { config } = settings()
  const onUnusable = (file: string, reason: string): void =>
    logger.error(
      { event: 'interception.authority_unusable', file, reason },
      'the changed authority cannot be used; the one before it stays in force',
    )
  const authorities = createAuthorities({ dataDir, ca: config.tls.ca, now, onUnusable })
  const bundle = await openBundleFile(config.tls.bundle_file, authorities, logger)
  if (bundle !== null) closers.push(() => bundle.stop())
  const bodies = createBodies(memory, () => bodyPace(settings().config.limits))
  const judging = { settings, flow, store, keys, baselines, monitoring, breakGlass, bodies, observer, decisionLog }
  const shared = { ...judging, authorities, metrics, logger, now }
  const notePendingCall = noteHeldMerges({ settings, store, logger, now })
  const entry = listenerEntry('proxy', { settings, metrics, logger })
  const proxy = createProxy({ ...shared, notePendingCall, entry, consumers, ownPorts: () => ownPorts })
  store.changes.subscribe(({ kind }) => {
    if (kind === 'approval') proxy.approvalDecided()
  })
  return { proxy, bundle, shared }
}

async function openBundleFile(
  file: string | undefined,
  authorities: Authorities,
  logger: Logger,
): Promise<{ stop(): void } | null> {
  if (file === undefined) return null
  const { startBundleFile } = await import('../tls/bundle-file.ts')
  return startBundleFile({ file, authorities, logger })
}
