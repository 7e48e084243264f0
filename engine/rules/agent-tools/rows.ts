/**
 * The meaning of changes of an agent's tools that MCP does not have: how a tool is called, and the settings of a
 * hosted tool.
 */
import { contractRules, type RuleRow } from '../row.ts'

const AREA = 'tools'
const NOTHING_TO_DO = 'Nothing needs to be done.'

const ROWS = {
  'agent-tool-kind-changed': {
    level: 'breaking',
    direction: 'request',
    area: AREA,
    kind: 'settings',
    action: 'changed',
    effect: 'moves',
    sentence: 'the tool is now called as a {after} tool instead of a {before} one',
    why: 'A function takes arguments, a custom tool takes text, and a hosted one is run by the provider: what is called is another thing under the same name.',
    fix: 'Give the tool of the new kind a name of its own.',
  },
  'agent-tool-hosted-type-changed': {
    level: 'dangerous',
    direction: 'request',
    area: AREA,
    kind: 'settings',
    action: 'changed',
    effect: 'may-narrow',
    sentence: 'the hosted tool is now `{after}` instead of `{before}`',
    why: 'The provider defines what a hosted tool takes and does, version by version; whoever runs its calls must know the new one.',
    fix: 'Check what the provider says of the new version before the agent uses it.',
  },
  'agent-tool-setting-changed': {
    level: 'dangerous',
    direction: 'none',
    area: AREA,
    kind: 'settings',
    action: 'changed',
    effect: 'may-widen',
    sentence: 'the setting `{name}` of the tool changed from {before} to {after}',
    why: 'Settings decide who calls a tool, whether a person is asked, and which servers, files and domains it may reach.',
    fix: 'Review what the agent can now reach.',
  },
  'agent-tool-choice-changed': {
    level: 'dangerous',
    direction: 'none',
    area: AREA,
    kind: 'settings',
    action: 'changed',
    effect: 'may-widen',
    sentence: 'how the model chooses tools changed: `{name}` went from {before} to {after}',
    why: 'It decides whether the model may call a tool, must call one, or calls several side by side.',
    fix: 'Check what the agent does with each tool that it now has to call, or can no longer call.',
  },
  'agent-tool-strict-lost': {
    level: 'dangerous',
    direction: 'request',
    area: AREA,
    kind: 'settings',
    action: 'ceased',
    effect: 'may-narrow',
    sentence: 'arguments of the tool need no longer keep to its schema (strict)',
    why: 'Models then leave out or invent arguments now and then, and the code behind the tool receives them.',
    fix: 'Leave strict on, or check arguments in the code behind the tool.',
  },
  'agent-tool-strict-gained': {
    level: 'info',
    direction: 'request',
    area: AREA,
    kind: 'settings',
    action: 'became',
    effect: 'none',
    sentence: 'arguments of the tool now always keep to its schema (strict)',
    why: 'The code behind the tool receives nothing that it did not have to expect before.',
    fix: NOTHING_TO_DO,
  },
  'agent-tool-strict-refused': {
    level: 'breaking',
    direction: 'request',
    area: AREA,
    kind: 'settings',
    action: 'changed',
    effect: 'narrows',
    sentence: 'the tool is strict, and `{name}` of its schema is not what the provider demands of such a tool',
    why: 'The provider refuses every request with the tool. Each object has to exclude further properties, and at OpenAI to require all of its own.',
    fix: 'Set additionalProperties to false and list every property in required. A property that may be left out takes null. Leave out keywords that the provider refuses.',
  },
  'agent-tool-input-format-changed': {
    level: 'breaking',
    direction: 'request',
    area: AREA,
    kind: 'settings',
    action: 'changed',
    effect: 'moves',
    sentence: 'the text that the custom tool takes has another form (format)',
    why: 'The code behind the tool reads its input by the old form.',
    fix: 'Offer the new form as a tool of its own.',
  },
} as const satisfies Readonly<Record<`agent-tool-${string}`, RuleRow>>

export type AgentToolRuleId = keyof typeof ROWS

export const AGENT_TOOL_RULES = contractRules(ROWS)
