/**
 * The settings in force, and their replacement while the gateway runs: the whole new configuration and policy, or nothing.
 * Settings that are used once at the start (listeners, files, threads) keep their old value until a restart, and are reported.
 */
import { unwatchFile, watchFile } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { ok } from '../../engine/base.ts'
import type { CompiledPolicy, Result } from '../../engine/internal.ts'
import type { Config, CurrentSettings, Settings } from './schema.ts'
import { consumersFile, readConsumersFile } from '../consumers/declared.ts'
import { RESTART_LIMITS, RESTART_SECTIONS } from './leaves.ts'
import { loadConfig, type ConfigSource, type LoadedConfig } from './load.ts'
import { ConfigError, type Mistake } from '../errors/mistake.ts'
import { messageOf } from '../errors/startup-error.ts'
import { loadPolicy } from './policy.ts'
import { weakerSettings } from './weaker-values.ts'
import type { Weaker } from './enforced.ts'

/** The outcome of one attempt to reload. */
export type Reload =
  | { readonly result: 'unchanged' }
  /** `restart`: settings that differ and wait for a restart. */
  | {
      readonly result: 'applied'
      readonly generation: number
      readonly restart: readonly string[]
      readonly warnings: readonly Mistake[]
      /** Settings that enforce less than before. */
      readonly weaker: readonly Weaker[]
    }
  /** The old settings stay in force. */
  | { readonly result: 'refused'; readonly mistakes: readonly Mistake[]; readonly weaker: readonly Weaker[] }

export interface LiveSettings {
  /** Absolute path of the configuration; null: it came from no file. */
  readonly configFile: string | null
  readonly current: CurrentSettings
  /** Configuration file and policy file, and the consumers file when one is named. */
  readonly files: readonly string[]
  readonly warnings: readonly Mistake[]
  /** Mistakes of the last attempt; empty when the files on disk are in force. */
  pendingMistakes(): readonly Mistake[]
  /** Settings of the files on disk that wait for a restart. */
  pendingRestart(): readonly string[]
  reload(): Reload
  /**
   * Reloads when a file changes, and reports the outcome.
   * @param interval milliseconds between two checks of the files
   */
  watch(onReload: (reload: Reload) => void, interval?: number): void
  close(): void
}

interface Watching {
  readonly interval: number
  readonly secondReading: NodeJS.Timeout
  readonly onChange: () => void
}

interface Loaded {
  readonly configuration: LoadedConfig
  readonly policy: CompiledPolicy
  readonly policyFile: string
  /** Null: none is named. */
  readonly consumersFile: string | null
  readonly warnings: readonly Mistake[]
}

/**
 * Polling with stat sees changes that notifications miss. A mounted ConfigMap is replaced by symlink, an editor writes a new
 * file and renames it, and network file systems do not notify.
 */
const WATCH_INTERVAL = 1000

/** Throws a ConfigError with every mistake of configuration and policy. */
export function openSettings(source: ConfigSource): LiveSettings {
  const first = loadSettings(source)
  if (!first.ok) throw new ConfigError(first.problem)
  return new SettingsOfFiles(source, first.value)
}

class SettingsOfFiles implements LiveSettings {
  readonly #source: ConfigSource
  readonly configFile: string | null
  readonly files: readonly string[]
  readonly warnings: readonly Mistake[]
  #loaded: Loaded
  #settings: Settings
  #mistakes: readonly Mistake[] = []
  #waiting: readonly string[] = []
  #watchedFiles: readonly string[] = []
  #watching: Watching | null = null

  constructor(source: ConfigSource, first: Loaded) {
    this.#source = source
    this.configFile = first.configuration.file
    this.files = sourceFiles(first)
    this.warnings = first.warnings
    this.#loaded = first
    this.#settings = { config: first.configuration.config, policy: first.policy, generation: 1 }
  }

  readonly current = (): Settings => this.#settings

  pendingMistakes(): readonly Mistake[] {
    return this.#mistakes
  }

  pendingRestart(): readonly string[] {
    return this.#waiting
  }

  reload(): Reload {
    const next = loadAgain(this.#source)
    if (!next.ok) return this.#refused(next.problem, [])
    const settings = this.#settings
    const { policy } = next.value
    const { config, restart } = keepFixed(settings.config, next.value.configuration.config)
    const weaker = weakerSettings(settings, { config, policy })
    if (settings.config.reload === 'refuse_weaker' && weaker.length > 0)
      return this.#refused(weaker.map(weakerMistake), weaker)
    this.#mistakes = []
    this.#loaded = next.value
    this.#waiting = restart
    this.#follow()
    const isSame = isDeepStrictEqual(config, settings.config) && policy.hash === settings.policy.hash
    if (isSame && restart.length === 0) return { result: 'unchanged' }
    const generation = settings.generation + 1
    this.#settings = { config, policy, generation }
    return { result: 'applied', generation, restart, warnings: next.value.warnings, weaker }
  }

  watch(onReload: (reload: Reload) => void, interval = WATCH_INTERVAL): void {
    // Polling reports changes after its first stat, which happens after the first reading: one more reading fills the gap.
    const secondReading = setTimeout(() => {
      const reloaded = this.reload()
      if (reloaded.result !== 'unchanged') onReload(reloaded)
    }, 2 * interval).unref()
    this.#watching = { interval, secondReading, onChange: () => onReload(this.reload()) }
    this.#follow()
  }

  close(): void {
    clearTimeout(this.#watching?.secondReading)
    for (const file of this.#watchedFiles) if (this.#watching !== null) unwatchFile(file, this.#watching.onChange)
    this.#watchedFiles = []
    this.#watching = null
  }

  #refused(mistakes: readonly Mistake[], weaker: readonly Weaker[]): Reload {
    this.#mistakes = mistakes
    return { result: 'refused', mistakes, weaker }
  }

  /** Files that are polled already stay so: a new poll would miss changes since the last one. */
  #follow(): void {
    if (this.#watching === null) return
    const { onChange, interval } = this.#watching
    const wanted = sourceFiles(this.#loaded)
    for (const file of this.#watchedFiles) if (!wanted.includes(file)) unwatchFile(file, onChange)
    for (const file of wanted)
      if (!this.#watchedFiles.includes(file)) watchFile(file, { interval, persistent: false }, onChange)
    this.#watchedFiles = wanted
  }
}

/** A gateway with good settings goes on with them, whatever is wrong with the files. */
function loadAgain(source: ConfigSource): Result<Loaded, readonly Mistake[]> {
  try {
    return loadSettings(source)
  } catch (error) {
    const mistake = {
      place: 'settings',
      path: '',
      message: 'the changed settings cannot be read',
      fix: messageOf(error),
    }
    return { ok: false, problem: [mistake] }
  }
}

function loadSettings(source: ConfigSource): Result<Loaded, readonly Mistake[]> {
  const configuration = loadConfig(source, policyMistakes)
  if (!configuration.ok) return configuration
  const { config, directory } = configuration.value
  const policy = loadPolicy(config.policy, directory)
  if (!policy.ok) return policy
  const file = consumersFile(config, directory)
  const further = file === null ? ok([]) : readConsumersFile(file)
  if (!further.ok) return further
  const consumers = [...config.consumers, ...further.value]
  return ok({
    configuration: { ...configuration.value, config: Object.freeze({ ...config, consumers }) },
    consumersFile: file,
    policy: policy.value.policy,
    policyFile: policy.value.file,
    warnings: [...configuration.value.warnings, ...pinWarnings(config, policy.value.policy)],
  })
}

function weakerMistake({ path, before, after }: Weaker): Mistake {
  const message = `enforces less than what is in force: ${before} before, ${after} now`
  return { place: path, path, message, fix: 'restore it, or restart the gateway to put it in force' }
}

function policyMistakes({ policy }: Config, directory: string): readonly Mistake[] {
  const loaded = loadPolicy(policy, directory)
  return loaded.ok ? [] : loaded.problem
}

/**
 * Drift from the pin stops nothing (docs/reference/envelope.md#policy-pin-status); every decision contains a warning about it.
 */
function pinWarnings({ policy_pin: pin }: Config, { name, hash }: CompiledPolicy): readonly Mistake[] {
  if (pin === undefined || pin === hash) return []
  const message = `the policy in force, ${name}, has the hash ${hash} and not the pinned one`
  return [
    { place: 'policy_pin', path: 'policy_pin', message, fix: 'pin the new hash after a review, or restore the policy' },
  ]
}

function sourceFiles({ configuration, policyFile, consumersFile: further }: Loaded): readonly string[] {
  return [configuration.file, policyFile, further].filter((file) => file !== null)
}

/** The new configuration with the old value of every setting that needs a restart. */
function keepFixed(before: Config, next: Config): { readonly config: Config; readonly restart: readonly string[] } {
  const sections = RESTART_SECTIONS.filter((section) => !isDeepStrictEqual(before[section], next[section]))
  const fixed = RESTART_LIMITS.filter((name) => before.limits[name] !== next.limits[name])
  const restart = [...sections, ...fixed.map((name) => `limits.${name}`)]
  const limits = Object.freeze({
    ...next.limits,
    ...Object.fromEntries(RESTART_LIMITS.map((name) => [name, before.limits[name]])),
  })
  return {
    config: Object.freeze({
      ...next,
      ...Object.fromEntries(RESTART_SECTIONS.map((section) => [section, before[section]])),
      limits,
    }),
    restart,
  }
}
