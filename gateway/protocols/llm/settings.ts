/** Whose tools calls of a model provider carry. Part of the configuration's schema. */
import { mistakeAt } from '../../settings/mistake-collector.ts'
import type { LocatedMistake } from '../../settings/schema-mistakes.ts'
import type { ProtocolSettings, RouteWith } from '../common/protocol-settings.ts'
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { strict } from '../../settings/fields.ts'

const LlmSection = strict(
  {
    agents: Type.Array(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$' }), {
      default: [],
      description:
        'protocol llm: agents with tools of their own. Each has a baseline, ROUTE/AGENT; a call that names another one is refused.',
    }),
    agent_header: Type.Optional(
      Type.String({
        pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
        description: 'protocol llm: request header that names the agent. A call without it is one of the route itself.',
      }),
    ),
    agent_field: Type.Optional(
      Type.String({
        pattern: '^(?:/[^/]*)+$',
        description:
          'protocol llm: the same as a JSON Pointer into the body, e.g. /metadata/agent. Where both are there they have to agree.',
      }),
    ),
    stored_tools: Type.Union([Type.Literal('receipt'), Type.Literal('deny'), Type.Literal('pass')], {
      default: 'receipt',
      description:
        'Protocol `llm`: calls whose tools are stored at the provider and not in the call. Such are stored prompts, assistants, agents, cached contents and files of batches. Value `receipt`: each stored object that a call names needs a receipt. Value `pass`: they are forwarded unjudged.',
    }),
  },
  'Calls of model providers.',
)
type LlmSection = Static<typeof LlmSection>

const sections = { llm: LlmSection }
export type LlmRoute = RouteWith<typeof sections>

export const llmSettings = {
  sections,
  // The calls offer the tools.
  contractMembers: ['baseline', 'origins', 'max_age', 'auto_promote'],
  mistakes: agentMistakes,
} satisfies ProtocolSettings<typeof sections>

function agentMistakes({ llm, contract }: LlmRoute, pointer: string): readonly LocatedMistake[] {
  const isNamed = llm.agent_header !== undefined || llm.agent_field !== undefined
  if (llm.agents.length === 0)
    return isNamed
      ? [mistakeAt(`${pointer}/llm/agents`, 'no agent is named, so every call that names one is refused', 'list them')]
      : []
  if (!isNamed)
    return [
      mistakeAt(`${pointer}/llm`, 'nothing says which agent a call belongs to', 'add agent_header or agent_field'),
    ]
  return contract?.baseline === undefined
    ? []
    : [
        mistakeAt(
          `${pointer}/contract/baseline`,
          'one source cannot be the baseline of several agents',
          'write one route for each, or leave it out: the first tools seen are pinned',
        ),
      ]
}
