/**
 * Hot reload: watches configuration, policy and receipt keys on disk, and reports the outcome of each change in log and
 * metrics.
 */
import { unwatchFile, watchFile } from 'node:fs'
import type { LiveSettings, Reload } from './live-settings.ts'
import { formatMistake } from '../errors/mistake.ts'
import { keyFile } from '../keys/key-file.ts'
import { systemClock, type KeyRing } from '../keys/key-ring.ts'
import { signingProblem } from '../keys/self-test.ts'
import { sha256Hex } from '../runtime/hash.ts'
import { packageVersion } from '../runtime/package-files.ts'
import { startAlertedCounters } from '../telemetry/alerted-counters.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'

interface ReloadingDeps {
  readonly live: LiveSettings
  readonly keys: KeyRing
  /** Cached decisions may have been signed with a key that is revoked now. */
  readonly keysChanged: () => void
  /** Called when other settings are in force. */
  readonly settingsChanged: () => void
  readonly dataDir: string
  readonly metrics: Metrics
  readonly logger: Logger
  /** Whole seconds since the epoch, as receipt keys begin and end. */
  readonly clock: () => number
}

interface Reloading {
  /** Checks every file again, as on SIGHUP. */
  now(): void
  stop(): void
}

const KEY_WATCH_INTERVAL = 1000
/** Hex digits of a hash that a label holds. */
const HASH_LABEL = 12

/** The command line rotates keys while the gateway runs, so their file is watched too. */
export function startReloading(deps: ReloadingDeps): Reloading {
  const { live, keys, keysChanged, settingsChanged, dataDir, metrics, logger, clock } = deps
  const reloadKeys = (): void => {
    // A sidecar of a hub has no keys of its own.
    if (keys.own().length === 0) return
    try {
      keys.reload()
      keysChanged()
      logger.info({ event: 'keys.reloaded', key_id: keys.signer().keyId }, 'receipt keys reloaded')
      void reportSelfTest(keys, logger, clock())
    } catch (error) {
      logger.error({ event: 'keys.unusable', err: error }, 'receipt keys on disk are not usable')
    }
  }
  const report = (reload: Reload): void => {
    reportReload(reload, live, metrics, logger)
    if (reload.result === 'applied') settingsChanged()
  }
  const file = keyFile(dataDir)
  describeSettings(metrics, live)
  live.watch(report)
  watchFile(file, { interval: KEY_WATCH_INTERVAL, persistent: false }, reloadKeys)
  return {
    now: () => {
      report(live.reload())
      reloadKeys()
    },
    stop: () => {
      live.close()
      unwatchFile(file, reloadKeys)
    },
  }
}

async function reportSelfTest(keys: KeyRing, logger: Logger, now: number): Promise<void> {
  try {
    const problem = await signingProblem(keys, now)
    if (problem !== null) logger.error({ event: 'keys.self_test_failed', problem }, 'receipts would not verify')
  } catch (error) {
    logger.error({ event: 'keys.self_test_failed', err: error }, 'receipts cannot be signed')
  }
}

function reportReload(reload: Reload, live: LiveSettings, metrics: Metrics, logger: Logger): void {
  metrics.set('preflight_settings_mistakes', {}, live.pendingMistakes().length)
  if (live.pendingMistakes().length === 0)
    metrics.set('preflight_settings_success_timestamp_seconds', {}, systemClock())
  if (reload.result === 'unchanged') return
  if (reload.weaker.length > 0) {
    metrics.count('preflight_reloads_weaker_total', { result: reload.result })
    logger.warn(
      { event: 'settings.weaker', result: reload.result, weaker: reload.weaker },
      'the changed settings enforce less',
    )
  }
  metrics.count('preflight_reloads_total', { what: 'settings', result: reload.result })
  if (reload.result === 'refused') {
    logger.error(
      { event: 'settings.rejected', mistakes: reload.mistakes.map(formatMistake) },
      'the changed settings have mistakes; the settings before them stay in force',
    )
    return
  }
  logger.level = live.current().config.log.level
  describeSettings(metrics, live)
  for (const warning of reload.warnings) logger.warn({ event: 'settings.warning' }, formatMistake(warning))
  logger.info({ event: 'settings.reloaded', generation: reload.generation }, 'changed settings are in force')
  if (reload.restart.length > 0)
    logger.warn(
      { event: 'settings.restart_needed', settings: reload.restart },
      'some changes take effect at the next start',
    )
}

/** The settings and version in force, as metrics. */
function describeSettings(metrics: Metrics, live: LiveSettings): void {
  const { config, generation, policy } = live.current()
  startAlertedCounters(metrics, config)
  metrics.set('preflight_settings_generation', {}, generation)
  metrics.set('preflight_settings_success_timestamp_seconds', {}, systemClock())
  metrics.setOnly('preflight_policy_info', {
    name: policy.name,
    hash: policy.hash.slice('sha256:'.length, 'sha256:'.length + HASH_LABEL),
  })
  metrics.setOnly('preflight_config_info', { hash: sha256Hex(JSON.stringify(config)).slice(0, HASH_LABEL) })
  for (const tier of ['sidecar', 'gateway', 'verifier'] as const)
    metrics.set('preflight_tier_info', { tier }, tier === config.tier ? 1 : 0)
  metrics.set('preflight_build_info', { version: packageVersion(), node: process.version }, 1)
}
