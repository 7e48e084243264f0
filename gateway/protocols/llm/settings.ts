/** Whose tools calls of a model provider carry. Part of the configuration's schema. */
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { strict } from '../../settings/fields.ts'

export const LlmRoute = strict(
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
        'protocol llm: calls whose tools the provider keeps (stored prompts, assistants, agents, cached contents, files of batches), so that they are not in the call. receipt: each thing that a call names takes a receipt. pass: they go on unjudged.',
    }),
  },
  'Calls of model providers.',
)
export type LlmRoute = Static<typeof LlmRoute>
