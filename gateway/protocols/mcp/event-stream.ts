/** Whether an answer of MCP is a stream of events or one body. */
export function isEventStream(headers: Readonly<Record<string, string | readonly string[] | undefined>>): boolean {
  return String(headers['content-type'] ?? '')
    .trimStart()
    .toLowerCase()
    .startsWith('text/event-stream')
}
