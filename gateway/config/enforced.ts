/** Two configurations, the one in force and its replacement, and the settings in which the second enforces less. */
import type { CompiledPolicy } from '../../engine/internal.ts'
import type { Config } from './schema.ts'

/** One setting that enforces less. */
export interface Weaker {
  /** Path with dots; routes by name. */
  readonly path: string
  readonly before: string
  readonly after: string
}

/** One side of the comparison: a configuration and its policy. */
export interface Enforced {
  readonly config: Config
  readonly policy: Pick<CompiledPolicy, 'name' | 'mode' | 'hash' | 'document'>
}
