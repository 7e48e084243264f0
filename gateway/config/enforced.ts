/** What is in force or is to be, and a setting in which the second enforces less than the first. */
import type { CompiledPolicy } from '../../engine/internal.ts'
import type { Config } from './schema.ts'

/** One setting that would enforce less. */
export interface Weaker {
  /** In dots; routes by name. */
  readonly path: string
  readonly before: string
  readonly after: string
}

/** What is compared: a configuration and its policy. */
export interface Enforced {
  readonly config: Config
  readonly policy: Pick<CompiledPolicy, 'name' | 'mode' | 'hash' | 'document'>
}
