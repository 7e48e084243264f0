/** Every rule about an MCP manifest outside schemas. The families judge the schemas of tools (families.ts). */
import { contractRules } from '../row.ts'
import { SESSION_ROWS } from './session-rows.ts'
import { TEXT_ROWS } from './text-rows.ts'
import { TOOL_ROWS } from './tool-rows.ts'

const ROWS = { ...TOOL_ROWS, ...SESSION_ROWS, ...TEXT_ROWS }

export type McpRuleId = keyof typeof ROWS

export const MCP_RULES = contractRules(ROWS)
