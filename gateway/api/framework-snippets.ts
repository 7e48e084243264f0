/**
 * Code for the agent frameworks that people use: how each asks for a decision before it changes something. A test runs all of
 * it against the API.
 */

export interface FrameworkSnippet {
  readonly id: string
  readonly title: string
  readonly use_case: string
  readonly prompt: string
  readonly frameworks: readonly string[]
}

type SnippetLanguage = 'ts' | 'python'

interface FrameworkCode {
  /** Of the frameworks in the answer; the id of the snippet is `NAME_node`. */
  readonly name: string
  readonly title: string
  readonly language: SnippetLanguage
  /** How the code is used, in one or two sentences. */
  readonly use: string
  readonly code: string
  /** The framework reaches the gateway by MCP and needs no function of its own. */
  readonly isMcp?: true
}

/** A line of the code that takes something from a package of the reader's, not of this one. */
function taken(names: string, from: string): string {
  return `import ${names} from '${from}'`
}

/** What is the same for every framework in TypeScript. */
const TS_FUNCTION = `const { PREFLIGHT_URL, PREFLIGHT_API_KEY } = env

interface Change {
  id: string
  type: string
  before: string
  after: string
  operation: string
}

/** Act only when allowed is true. Send the receipt with the operation. */
export async function preflight({ operation, ...artifact }: Change) {
  const response = await fetch(\`\${PREFLIGHT_URL}/api/v1/preflight\`, {
    method: 'POST',
    headers: { authorization: \`Bearer \${PREFLIGHT_API_KEY}\`, 'content-type': 'application/json' },
    body: JSON.stringify({ preflight_mode: 'authorize', artifacts: [artifact], context: { operation } }),
  })
  const answer = await response.json()
  const action: string = response.ok ? answer.execution_action : 'STOP'
  const allowed = action === 'CONTINUE' && answer.control_envelope.receipt_view.currently_authorized === true
  return { allowed, action, receipt: allowed ? answer.chain_receipt : null, summary: answer.decision_result?.summary ?? answer.message }
}
`

const TS_SCHEMA = `const schema = {
  type: 'object' as const,
  properties: {
    id: { type: 'string', description: 'Name of the contract.' },
    type: { type: 'string', description: 'openapi, graphql, protobuf, mcp_manifest …' },
    before: { type: 'string', description: 'The whole contract before the change.' },
    after: { type: 'string', description: 'The whole contract after the change.' },
    operation: { type: 'string', description: 'merge, deploy, publish or register.' },
  },
  required: ['id', 'type', 'before', 'after', 'operation'],
  additionalProperties: false as const,
}
const description = 'Asks whether a changed contract may be merged, deployed, published or registered.'
`

/** The same in Python, with the standard library alone. */
const PYTHON_FUNCTION = `import json
import os
import urllib.error
import urllib.request


def preflight(id: str, type: str, before: str, after: str, operation: str) -> dict:
    """Asks whether a changed contract may be merged, deployed, published or registered.

    Act only when allowed is true. Send the receipt with the operation.
    """
    artifact = {"id": id, "type": type, "before": before, "after": after}
    body = {"preflight_mode": "authorize", "artifacts": [artifact], "context": {"operation": operation}}
    request = urllib.request.Request(
        os.environ["PREFLIGHT_URL"] + "/api/v1/preflight",
        data=json.dumps(body).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["PREFLIGHT_API_KEY"],
            "Content-Type": "application/json",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = json.load(response)
    except urllib.error.HTTPError as error:
        return {"allowed": False, "action": "STOP", "receipt": None, "summary": json.load(error)["message"]}
    action = answer["execution_action"]
    allowed = action == "CONTINUE" and answer["control_envelope"]["receipt_view"]["currently_authorized"] is True
    return {
        "allowed": allowed,
        "action": action,
        "receipt": answer["chain_receipt"] if allowed else None,
        "summary": answer["decision_result"]["summary"],
    }
`

const AS_TOOL =
  'Give the tool to the agent, and let every tool that changes something refuse to run unless allowed is true.'

const FRAMEWORKS: readonly FrameworkCode[] = [
  {
    name: 'vercel_ai_sdk',
    title: 'Vercel AI SDK',
    language: 'ts',
    use: AS_TOOL,
    code: `import { env } from 'node:process'
${taken('{ jsonSchema, tool }', 'ai')}

${TS_FUNCTION}
${TS_SCHEMA}
export const preflightTool = tool({ description, inputSchema: jsonSchema<Change>(schema), execute: preflight })
`,
  },
  {
    name: 'langgraph',
    title: 'LangChain and LangGraph',
    language: 'ts',
    use: 'Add the node before every node that changes something, and the route as its conditional edge. The tool is for agents without a graph.',
    code: `import { env } from 'node:process'
${taken('{ tool }', '@langchain/core/tools')}

${TS_FUNCTION}
${TS_SCHEMA}
export const preflightTool = tool(preflight, { name: 'preflight', description, schema })

export async function preflightNode(state: { change: Change }) {
  return { decision: await preflight(state.change) }
}

export function routeAfterPreflight(state: { decision: { allowed: boolean; action: string } }): 'act' | 'human' | 'end' {
  if (state.decision.allowed) return 'act'
  return state.decision.action === 'REQUEST_APPROVAL' ? 'human' : 'end'
}
`,
  },
  {
    name: 'openai_agents',
    title: 'OpenAI Agents SDK',
    language: 'ts',
    use: AS_TOOL,
    code: `import { env } from 'node:process'
${taken('{ tool }', '@openai/agents')}

${TS_FUNCTION}
${TS_SCHEMA}
export const preflightTool = tool({
  name: 'preflight',
  description,
  parameters: schema,
  strict: true,
  execute: async (change) => JSON.stringify(await preflight(change as Change)),
})
`,
  },
  {
    name: 'claude_agent_sdk',
    title: 'Claude Agent SDK',
    language: 'ts',
    isMcp: true,
    use: 'Pass the options to query(). The agent gets preflight_change_set and verify_receipt as tools.',
    code: `import { env } from 'node:process'

const { PREFLIGHT_URL, PREFLIGHT_API_KEY } = env

export const options = {
  mcpServers: {
    preflight: {
      type: 'http' as const,
      url: \`\${PREFLIGHT_URL}/mcp\`,
      headers: { Authorization: \`Bearer \${PREFLIGHT_API_KEY}\` },
    },
  },
  allowedTools: ['mcp__preflight__preflight_change_set', 'mcp__preflight__verify_receipt'],
}
`,
  },
  {
    name: 'mastra',
    title: 'Mastra',
    language: 'ts',
    isMcp: true,
    use: 'Give the tools of the client to the agent.',
    code: `import { env } from 'node:process'
${taken('{ MCPClient }', '@mastra/mcp')}

const { PREFLIGHT_URL, PREFLIGHT_API_KEY } = env

export const preflightClient = new MCPClient({
  servers: {
    preflight: {
      url: new URL(\`\${PREFLIGHT_URL}/mcp\`),
      requestInit: { headers: { Authorization: \`Bearer \${PREFLIGHT_API_KEY}\` } },
    },
  },
})
`,
  },
  {
    name: 'llamaindex',
    title: 'LlamaIndex',
    language: 'python',
    use: AS_TOOL,
    code: `from llama_index.core.tools import FunctionTool

${PYTHON_FUNCTION}

preflight_tool = FunctionTool.from_defaults(fn=preflight)
`,
  },
  {
    name: 'crewai',
    title: 'CrewAI',
    language: 'python',
    use: AS_TOOL,
    code: `from crewai.tools import tool

${PYTHON_FUNCTION}

preflight_tool = tool("preflight")(preflight)
`,
  },
  {
    name: 'pydantic_ai',
    title: 'Pydantic AI',
    language: 'python',
    use: 'Pass the tool in tools=[…] of the agent. Every tool that changes something refuses to run unless allowed is true.',
    code: `from pydantic_ai import Tool

${PYTHON_FUNCTION}

preflight_tool = Tool(preflight)
`,
  },
  {
    name: 'autogen',
    title: 'AutoGen',
    language: 'python',
    use: AS_TOOL,
    code: `from autogen_core.tools import FunctionTool

${PYTHON_FUNCTION}

preflight_tool = FunctionTool(preflight, description="Asks whether a changed contract may be merged or deployed.")
`,
  },
  {
    name: 'google_adk',
    title: 'Google ADK',
    language: 'python',
    use: AS_TOOL,
    code: `from google.adk.tools import FunctionTool

${PYTHON_FUNCTION}

preflight_tool = FunctionTool(func=preflight)
`,
  },
]

const ENVIRONMENT = 'PREFLIGHT_URL is the address of the API listener, PREFLIGHT_API_KEY a key of the role agent.'
const RULE =
  'Only CONTINUE means go on. CONTINUE_WITH_MONITORING also needs reports to /api/v1/telemetry; REQUEST_APPROVAL waits for a person; STOP and everything else ends this attempt.'

export const FRAMEWORK_SNIPPETS: readonly FrameworkSnippet[] = FRAMEWORKS.map(
  ({ name, title, language, use, code, isMcp }) => ({
    id: `${name}_node`,
    title: `Ask before acting: ${title}`,
    use_case: `Agents built with ${title} that merge, deploy, publish or register changed contracts`,
    prompt: `${use} ${ENVIRONMENT} ${RULE}\n\n\`\`\`${language}\n${code.trimEnd()}\n\`\`\``,
    frameworks: [name, ...(isMcp === true ? ['mcp'] : [])],
  }),
)
