/**
 * The agent: a client of the official MCP SDK that knows nothing of the gateway but the address it was given. A fetch that
 * notes two response headers stands in for its access log.
 */
import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client'

export interface CallReport {
  readonly tool: string
  /** Execution action that the answer carried; null when the gateway said nothing. */
  readonly action: string | null
  readonly decisionId: string | null
  readonly isError: boolean
  /** The first text of the answer, what a model would read. */
  readonly text: string
  readonly structured: unknown
}

export interface Agent {
  /** Names of the tools, as `tools/list` gives them. */
  listTools(): Promise<readonly string[]>
  call(tool: string, argumentsOfTool: Readonly<Record<string, unknown>>): Promise<CallReport>
  close(): Promise<void>
}

function firstText(result: CallToolResult): string {
  const item = result.content.find(({ type }) => type === 'text')
  return item?.type === 'text' ? item.text : ''
}

export async function connectAgent(url: string): Promise<Agent> {
  let seen: Headers = new Headers()
  const noting = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(input, init)
    if (init?.method === 'POST') seen = response.headers
    return response
  }
  const client = new Client({ name: 'demo-agent', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: noting }))
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (tool, argumentsOfTool) => {
      const result = await client.callTool({ name: tool, arguments: argumentsOfTool })
      return {
        tool,
        action: seen.get('preflight-action'),
        decisionId: seen.get('preflight-decision-id'),
        isError: result.isError === true,
        text: firstText(result),
        structured: result.structuredContent,
      }
    },
    close: () => client.close(),
  }
}
