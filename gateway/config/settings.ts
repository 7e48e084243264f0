/** What can change while the gateway runs: configuration and policy, replaced together or not at all (hot reload). */
import type { CompiledPolicy } from '../../engine/internal.ts'
import type { Config } from './schema.ts'

export interface Settings {
  readonly config: Config
  readonly policy: CompiledPolicy
  /** Counts replacements, from 1; a cached decision of an older generation is not used. */
  readonly generation: number
}

/** Read once at the start of each request, so that one request sees one generation. */
export type CurrentSettings = () => Settings
