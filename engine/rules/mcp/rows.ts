/** Every rule about an MCP manifest that is not a rule about a schema. Schemas of tools fall under the families (families.ts). */
import type { Advice } from '../advice.ts'
import type { Rule } from '../rule.ts'
import type { McpRow } from './row.ts'
import { SESSION_ROWS } from './session-rows.ts'
import { TEXT_ROWS } from './text-rows.ts'
import { TOOL_ROWS } from './tool-rows.ts'

const ROWS = { ...TOOL_ROWS, ...SESSION_ROWS, ...TEXT_ROWS }

export type McpRuleId = keyof typeof ROWS

/** A row in the form that findings are made from. */
export interface McpRule {
  readonly rule: Rule
  readonly advice: Advice
  /** What happened; `{name}`, `{before}`, `{after}` and `{detail}` are open. */
  readonly says: string
}

const RULES: ReadonlyMap<string, McpRule> = new Map(Object.entries(ROWS).map(([id, row]) => [id, ruleOf(id, row)]))

function ruleOf(id: string, { says, why, fix, ...row }: McpRow): McpRule {
  const rule = { id, ...row, description: says.replaceAll(/[`{}]/g, ''), because: why }
  return { rule, advice: { explanation: why, fix }, says }
}

/** The rule of an id. */
export function mcpRule(id: McpRuleId): McpRule {
  const rule = RULES.get(id)
  if (rule === undefined) throw new Error(`no row for the rule ${id}`)
  return rule
}

/** All of them, in the order of the rows. */
export function mcpRules(): readonly Rule[] {
  return [...RULES.values()].map(({ rule }) => rule)
}
