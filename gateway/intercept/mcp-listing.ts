/** The gateway's own `tools/list`: asked at the upstream as the caller would ask, with the caller's session and credentials. */
import { randomUUID } from 'node:crypto'
import { createParser } from 'eventsource-parser'
import { errors, type Dispatcher } from 'undici'
import { GatewayError } from '../errors.ts'
import { upstreamHeaders } from '../proxy/headers.ts'
import type { Upstreams } from '../proxy/upstream.ts'
import { UpstreamRefusal, type Call } from './action.ts'
import { isEventStream, readToolPage } from './mcp-answer.ts'
import type { McpAsker, ToolPage } from './mcp-manifests.ts'
import { isJsonObject, readStrictJsonText } from './strict-json.ts'

const MAX_PAGES = 200
const MAX_BYTES = 16 * 1024 * 1024
/** Statuses that tell the caller something only it can act on: sign in, be allowed, begin a new session. */
const FOR_THE_CALLER: ReadonlySet<number> = new Set([401, 403, 404])
const RELAYED_HEADERS = ['www-authenticate'] as const
/** What the call at hand says of its own body, and must not be said of another one. */
const OF_THE_CALL: ReadonlySet<string> = new Set([
  'content-length',
  'content-type',
  'accept',
  'accept-encoding',
  'last-event-id',
  'mcp-method',
  'mcp-name',
])

/** All pages. Rejects with PREFLIGHT_UNDECIDED, or with an UpstreamRefusal for the caller. */
export async function listTools(asker: McpAsker, upstreams: Upstreams): Promise<readonly unknown[]> {
  const signal = AbortSignal.timeout(asker.call.route.timeout.headers * 1000)
  const tools: unknown[] = []
  const seen = new Set<string>()
  let cursor: string | null = null
  try {
    do {
      const page: ToolPage = await askForPage(asker, cursor, upstreams, signal)
      tools.push(...page.tools)
      cursor = page.nextCursor
      if (cursor !== null && (seen.has(cursor) || seen.size >= MAX_PAGES))
        throw new Error('its pages do not come to an end')
      if (cursor !== null) seen.add(cursor)
    } while (cursor !== null)
    return tools
  } catch (error) {
    if (error instanceof UpstreamRefusal) throw error
    throw new GatewayError(
      'PREFLIGHT_UNDECIDED',
      `The tools of "${asker.call.route.name}" could not be listed, so the call could not be judged: ${reasonOf(error)}.`,
      { cause: error },
    )
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.UndiciError || !(error instanceof Error))
    return 'the upstream did not answer as it should'
  return error.name === 'TimeoutError' ? 'the upstream did not answer in time' : error.message
}

async function askForPage(
  asker: McpAsker,
  cursor: string | null,
  upstreams: Upstreams,
  signal: AbortSignal,
): Promise<ToolPage> {
  const { call } = asker
  const id = `preflight-${randomUUID()}`
  const params = {
    ...(cursor === null ? {} : { cursor }),
    ...(asker.isModern ? { _meta: protocolMembers(asker.meta) } : {}),
  }
  const answer = await upstreams.poolOf(call).request({
    path: call.upstreamPath,
    method: 'POST',
    headers: listHeaders(call, asker.isModern),
    body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params }),
    signal,
  })
  if (answer.statusCode !== 200) {
    await answer.body.dump()
    if (FOR_THE_CALLER.has(answer.statusCode))
      throw new UpstreamRefusal(answer.statusCode, relayedHeaders(answer.headers))
    throw new Error(`the upstream answered ${answer.statusCode}`)
  }
  const message = await readReply(answer, id)
  if (isJsonObject(message['error'])) throw new Error(`the upstream answered "${String(message['error']['message'])}"`)
  const page = readToolPage(cursor, message['result'])
  if (page === null) throw new Error('the upstream answered something else than tools')
  return page
}

/** The caller's header fields, but for those that belong to the message they came with. */
function listHeaders(call: Call, isModern: boolean): string[] {
  return [
    ...upstreamHeaders(call, { peer: '127.0.0.1', proto: 'http' }, belongsToTheCall),
    'content-type',
    'application/json',
    'accept',
    'application/json, text/event-stream',
    ...(isModern ? ['mcp-method', 'tools/list'] : []),
  ]
}

function belongsToTheCall(name: string): boolean {
  return OF_THE_CALL.has(name) || name.startsWith('mcp-param-')
}

/** Version, client and capabilities as the caller declared them; progress tokens and the like belong to its own request. */
function protocolMembers(meta: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(meta).filter(([name]) => name.startsWith('io.modelcontextprotocol/')))
}

function relayedHeaders(headers: Dispatcher.ResponseData['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    RELAYED_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  )
}

/** The message that answers `id`, out of a JSON body or an event stream (which is left as soon as it has come). */
async function readReply(answer: Dispatcher.ResponseData, id: string): Promise<Readonly<Record<string, unknown>>> {
  let reply: Readonly<Record<string, unknown>> | null = null
  const take = (text: string): void => {
    const json = readStrictJsonText(text)
    if (!json.ok) throw new Error(`its answer has no single reading (${json.message})`)
    if (isJsonObject(json.value) && json.value['id'] === id) reply = json.value
  }
  const onEvent = ({ data }: { readonly data: string }): void => {
    // MCP 2025-11-25, Streamable HTTP: a server may prime a stream with an event that has an id and no data.
    if (data !== '') take(data)
  }
  const parser = createParser({ onEvent })
  const isStream = isEventStream(answer.headers)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let size = 0
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error('its answer is too long')
    const part = decoder.decode(chunk, { stream: true })
    if (isStream) parser.feed(part)
    else text += part
    if (reply !== null) break
  }
  if (!isStream) take(text)
  if (reply === null) throw new Error('the answer ended without the reply')
  return reply
}
