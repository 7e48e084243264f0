/** A row about one kind of change of an MCP manifest, and the texts that rows share. */
import type { RuleRow } from '../row.ts'

interface McpRow extends RuleRow {
  readonly area: 'tools' | 'prompts' | 'resources' | 'server' | 'texts'
}

export type McpRows = Readonly<Record<`mcp-${string}`, McpRow>>

export const NOTHING_TO_DO = 'Nothing needs to be done.'
export const STILL_WORKS = 'What agents use goes on working.'
export const KEEP_IT = 'Keep it beside its successor until nobody uses it any more.'
