/** What a row says about one kind of change of an MCP manifest, and the words that rows share. */
import type { Direction, Level } from '../../finding.ts'
import type { Effect } from '../rule.ts'

export interface McpRow {
  readonly level: Level
  readonly direction: Direction
  readonly area: 'tools' | 'prompts' | 'resources' | 'server' | 'texts'
  readonly kind: string
  readonly action: string
  readonly effect: Effect
  /** What happened; `{name}`, `{before}`, `{after}` and `{detail}` are filled in. */
  readonly says: string
  readonly why: string
  readonly fix: string
}

export type McpRows = Readonly<Record<`mcp-${string}`, McpRow>>

export const NOTHING_TO_DO = 'Nothing needs to be done.'
export const STILL_WORKS = 'What agents use goes on working.'
export const KEEP_IT = 'Keep it beside its successor until nobody uses it any more.'
