/** An agent as its author would write it: the official SDK client, pointed at an address. */
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client'

export interface Agent {
  readonly client: Client
  close(): Promise<void>
}

export async function startAgent(
  url: string,
  mode: VersionNegotiationMode = 'legacy',
  headers: Readonly<Record<string, string>> = {},
  fetchBy: typeof fetch = fetch,
): Promise<Agent> {
  const client = new Client({ name: 'agent', version: '1.0.0' }, { versionNegotiation: { mode } })
  const requestInit = { headers: { ...headers } }
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit, fetch: fetchBy })
  await client.connect(transport)
  return { client, close: () => client.close() }
}

/** The texts of a tool result, joined. */
export function textOf(result: { readonly content?: unknown }): string {
  const items: readonly unknown[] = Array.isArray(result.content) ? result.content : []
  return items
    .map((item) => (typeof item === 'object' && item !== null && 'text' in item ? String(item.text) : ''))
    .join('\n')
}
