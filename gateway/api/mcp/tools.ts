/**
 * The tools of POST /mcp (docs/reference/mcp.md#tools): the operations of the REST routes, checked against the same schemas.
 */
import { plainSchema } from '../../settings/input-schema.ts'
import { lookupDecision } from '../routes/decisions.ts'
import { preflight } from '../routes/preflight.ts'
import { verifyReceiptRoute } from '../routes/receipts.ts'
import type { ApiRoute } from '../route.ts'
import { Problem } from '../schemas/shapes.ts'

interface ToolDefinition {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [keyword: string]: unknown }
  readonly outputSchema: { readonly type: 'object'; readonly [keyword: string]: unknown }
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
}

export interface Tool {
  readonly definition: ToolDefinition
  /** The arguments are the body of this route, and the result is its answer. */
  readonly route: ApiRoute
}

export const TOOLS: readonly Tool[] = [
  {
    definition: {
      name: 'preflight_change_set',
      title: 'Preflight a change of contracts',
      description:
        'Compares contracts before and after a change. With preflight_mode "authorize" it decides on one operation and answers execution_action and a receipt: branch on execution_action only, and treat a value you do not know as STOP. With "analyze" it tells the risk and is never permission. Give the real contents of both sides; never invent what was there before.',
      inputSchema: inputSchema(preflight),
      outputSchema: outputSchema(preflight),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    },
    route: preflight,
  },
  {
    definition: {
      name: 'verify_receipt',
      title: 'Verify a receipt before acting',
      description:
        'Says whether a receipt is authentic and authorizes this very attempt. State the operation, and the environment, target, repository, branch and pull request of the attempt. Act only when currently_authorized is true.',
      inputSchema: inputSchema(verifyReceiptRoute),
      outputSchema: outputSchema(verifyReceiptRoute),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    },
    route: verifyReceiptRoute,
  },
  {
    definition: {
      name: 'get_decision_details',
      title: 'Read a stored decision',
      description: 'A decision made earlier, by decision_id or by fingerprint, and how its receipt stands now.',
      inputSchema: inputSchema(lookupDecision),
      outputSchema: outputSchema(lookupDecision),
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    route: lookupDecision,
  },
]

function inputSchema({ body }: Pick<ApiRoute, 'body'>): ToolDefinition['inputSchema'] {
  return { ...(body === undefined ? {} : plainSchema(body)), type: 'object' }
}

/** The answer of the route, or the error of a call that failed: clients check both. */
function outputSchema({ answers }: Pick<ApiRoute, 'answers'>): ToolDefinition['outputSchema'] {
  const answer = answers[200]?.content['application/json']
  const failure = plainSchema(Problem)
  return { type: 'object', anyOf: [...(answer === undefined ? [] : [plainSchema(answer)]), failure] }
}
