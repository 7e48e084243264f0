/**
 * Agent patterns: the meaning of a change for a calling agent, derived from findings. Each row is a rule of ours with
 * a versioned id, and names the codes that it is derived from.
 */
import type { FindingGroup } from '../model/finding.ts'

export interface AgentPattern {
  readonly name: string
  /** Changes when what it concludes from changes. */
  readonly ruleId: `agent.${string}.v${number}`
  readonly meaning: string
  readonly matches: (group: FindingGroup) => boolean
}

/** In the order of their names. */
export const AGENT_PATTERNS: readonly AgentPattern[] = [
  {
    name: 'AGENT_PROTOCOL_DRIFT',
    ruleId: 'agent.protocol-drift.v1',
    meaning: 'The server describes itself or the protocol differently than when the agent was set up.',
    matches: ({ rule, level }) =>
      level !== 'info' &&
      /^mcp-(?:protocol-version|server-name|capability-removed|capability-reduced|tool-task-required|tool-task-forbidden)/.test(
        rule,
      ),
  },
  {
    name: 'TOOL_CALLING_SCHEMA_DRIFT',
    ruleId: 'agent.tool-calling-schema-drift.v1',
    meaning: 'Calls as the agent has learnt to make them may be refused or understood differently.',
    matches: ({ direction, level }) => direction === 'request' && level !== 'info',
  },
  {
    name: 'TOOL_DESCRIPTION_DRIFT',
    ruleId: 'agent.tool-description-drift.v1',
    meaning: 'Texts that a model follows ask something else of it.',
    matches: ({ rule }) => rule === 'mcp-description-changed' || rule === 'mcp-instructions-changed',
  },
  {
    name: 'TOOL_POISONING_SUSPECTED',
    ruleId: 'agent.tool-poisoning-suspected.v1',
    meaning: 'A text of the manifest looks written to take over the model that reads it.',
    matches: ({ rule }) => rule.startsWith('mcp-text-'),
  },
  {
    name: 'TOOL_REMOVED',
    ruleId: 'agent.tool-removed.v2',
    meaning: 'A tool that the agent may rest on is not there under its name.',
    matches: ({ rule }) => /^mcp-tool-(?:removed|renamed|hidden-from-models)$/.test(rule),
  },
  {
    name: 'TOOL_RESULT_SHAPE_DRIFT',
    ruleId: 'agent.tool-result-shape-drift.v1',
    meaning: 'Results come in another form than the agent’s next steps expect.',
    matches: ({ direction, level }) => direction === 'response' && level !== 'info',
  },
  {
    name: 'TOOL_SAFETY_DOWNGRADED',
    ruleId: 'agent.tool-safety-downgraded.v2',
    meaning: 'A tool that may be called unattended says that it can do more harm than it did.',
    matches: ({ rule }) =>
      /^mcp-tool-(?:read-only-lost|became-destructive|idempotence-lost|became-open-world)$/.test(rule),
  },
]
