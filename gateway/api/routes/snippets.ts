/** GET /api/v1/integration-snippets: ready-made instructions for those who build agents (docs/reference/api.md#get-apiv1integration-snippets). */
import { Type } from '../../../engine/base.ts'
import { FRAMEWORK_SNIPPETS, type FrameworkSnippet } from '../framework-snippets.ts'
import { defineRoute, json } from '../route.ts'
import { CorrelationId } from '../schemas/shapes.ts'

/** Ids are part of the interface; more may be added. */
const SNIPPETS: readonly FrameworkSnippet[] = [
  {
    id: 'basic_safety',
    title: 'Ask before changing a contract',
    use_case: 'Any agent that edits API contracts or calls tools whose contracts change',
    prompt:
      'Before you merge, deploy, publish or register a changed API contract, call POST /api/v1/preflight with preflight_mode "authorize", the whole contract before and after, and context.operation. Read only execution_action to decide. CONTINUE means continue. CONTINUE_WITH_MONITORING means continue only if you report the execution to /api/v1/telemetry. REQUEST_APPROVAL means pause and ask a human. STOP means abort this attempt. Treat any other value, an error, or no answer as STOP. Log correlation_id.',
    frameworks: ['generic'],
  },
  {
    id: 'strict_enforcement',
    title: 'Verify the receipt at the moment of acting',
    use_case: 'Pipelines and gates that act later than the decision, or somewhere else',
    prompt:
      'Hold the receipt (chain_receipt) of your authorize preflight. Right before acting, call POST /api/v1/verify-receipt with the token, the decision_result, the context of this very attempt (operation, environment, target_id, repository, branch, pull_request) and consume: true. Act only when currently_authorized is true. A receipt is for one operation: for another operation run a new preflight. Never use an analyze answer as permission, and never invent what a contract said before the change.',
    frameworks: ['generic'],
  },
  {
    id: 'generic_node',
    title: 'A node before the risky step',
    use_case: 'Graph and workflow frameworks: one node that decides where the edge goes',
    prompt:
      'Put a node named preflight before every node that changes something. It sends the change set to POST /api/v1/preflight with preflight_mode "authorize" and stores decision_result and chain_receipt in the state. Route on execution_action: CONTINUE and CONTINUE_WITH_MONITORING to the action node, REQUEST_APPROVAL to a human node, everything else to the end of the workflow. The action node refuses to run without a receipt that verify-receipt calls currently_authorized.',
    frameworks: ['generic'],
  },
  {
    id: 'mcp_tool_guard',
    title: 'Guard the tools of an MCP server',
    use_case: 'Agents that call tools of MCP servers they do not own',
    prompt:
      'Connect to the tool server through the gateway, not directly. When a tool call returns isError and an error code that starts with PREFLIGHT_, it was stopped because the contract of the tool changed. Do not try the same call again and do not look for another way; report the text to the user. Other tools of the server still work.',
    frameworks: ['mcp', 'generic'],
  },
  {
    id: 'workflow_recovery',
    title: 'What to do after a stop',
    use_case: 'Agents that should recover by themselves where that is possible',
    prompt:
      'After STOP read next_agent_step.action and remediation_transaction.required_changes; both are suggestions, not permission. If an endpoint was removed, use the alternative that is named, else abort and suggest a migration. If an authorization scope was reduced, authenticate again with the required scopes. Then change the input and run a new authorize preflight: the same input gives the same STOP, and the old receipt does not carry over. After REQUEST_APPROVAL wait for the approval and run a new preflight.',
    frameworks: ['generic', 'mcp'],
  },
  {
    id: 'agent_guard_runtime',
    title: 'Wrap the tool table in process',
    use_case: 'Runtimes that cannot send their calls through the gateway',
    prompt:
      'Register only guarded tools. Each guarded call first runs an authorize preflight for its one operation (merge, deploy, publish or register). It checks that input_fingerprint is that of its own request, and executes only when control_envelope.receipt_view.currently_authorized is true. When the call was not executed, branch on the verdict: BLOCK: do not retry the same change; REQUIRE_APPROVAL: ask a human. A write with new content only and no content before fails closed.',
    frameworks: ['generic', 'mcp'],
  },
]

export const integrationSnippets = defineRoute({
  method: 'GET',
  paths: ['/api/v1/integration-snippets'],
  operationId: 'listIntegrationSnippets',
  tag: 'discovery',
  summary: 'Instruction texts for agent builders',
  access: 'public',
  answers: {
    200: {
      description: 'The texts.',
      content: {
        'application/json': Type.Object(
          {
            correlation_id: CorrelationId,
            snippets: Type.Array(
              Type.Object({
                id: Type.String(),
                title: Type.String(),
                use_case: Type.String(),
                prompt: Type.String(),
                frameworks: Type.Array(Type.String()),
              }),
            ),
          },
          { title: 'SnippetList' },
        ),
      },
    },
  },
  async handle({ correlationId }) {
    return json({ correlation_id: correlationId, snippets: [...SNIPPETS, ...FRAMEWORK_SNIPPETS] })
  },
})
