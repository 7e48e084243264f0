/** The settings that are in force. Each module names the slice of the configuration that it reads. */
import type { CompiledPolicy } from '../../engine/internal.ts'

/** What can change while the gateway runs: configuration and policy, replaced together or not at all (hot reload). */
export interface SettingsOf<Config> {
  readonly config: Config
  readonly policy: CompiledPolicy
  /** Counts replacements, from 1; a cached decision of an older generation is not used. */
  readonly generation: number
}

/** Read once at the start of each request, so that one request uses one generation. */
export type CurrentSettingsOf<Config> = () => SettingsOf<Config>
