/** What the gateway asks an MCP server about itself, and how the answers are read: pages of lists, the facts of a session. */
import { GatewayError } from '../../errors/errors.ts'
import type { Upstreams } from '../../upstream/pools.ts'
import { UpstreamRefusal } from '../common/action.ts'
import { askServer, reasonOf, RpcFailure, type McpAsker } from './gateway-requests.ts'
import { LISTS, type ManifestListName, type SessionFacts } from './manifest-text.ts'
import { RPC_ERROR } from './json-rpc.ts'
import { isJsonObject } from '../../json/strict-json.ts'

/** One answer to a list request. */
export interface Page {
  readonly list: ManifestListName
  /** What was asked for; null: the first page. */
  readonly cursor: string | null
  readonly items: readonly unknown[]
  /** Null: the last page. */
  readonly nextCursor: string | null
}

/** A list of more does not end. */
export const MAX_PAGES = 200

/** All pages. Rejects with PREFLIGHT_UNDECIDED, or with an UpstreamRefusal for the caller. */
export async function listAll(
  asker: McpAsker,
  list: ManifestListName,
  upstreams: Upstreams,
): Promise<readonly unknown[]> {
  const signal = deadlineOf(asker)
  const items: unknown[] = []
  const seen = new Set<string>()
  let cursor: string | null = null
  try {
    do {
      const page: Page = await askForPage(asker, { list, cursor }, upstreams, signal)
      for (const item of page.items) items.push(item)
      cursor = page.nextCursor
      if (cursor !== null && (seen.has(cursor) || seen.size >= MAX_PAGES))
        throw new Error('its list of pages does not end')
      if (cursor !== null) seen.add(cursor)
    } while (cursor !== null)
    return items
  } catch (error) {
    if (error instanceof UpstreamRefusal) throw error
    // A server may well have resources and no templates; without tools there would be nothing to call.
    if (list !== 'tools' && error instanceof RpcFailure && error.code === RPC_ERROR.methodNotFound) return []
    throw new GatewayError(
      'PREFLIGHT_UNDECIDED',
      `${LISTS[list].method} of the route "${asker.call.route.name}" failed, so the call could not be judged: ${reasonOf(error)}.`,
      { cause: error },
    )
  }
}

/**
 * What a server says of itself (2026-07-28: `server/discover`). Null when it cannot be asked, in sessions: there only the answer to
 * the caller's own `initialize` tells. Rejects as `listAll` does.
 */
export async function discover(asker: McpAsker, upstreams: Upstreams): Promise<SessionFacts | null> {
  if (!asker.isModern) return null
  try {
    return readSession(await askServer(asker, { method: 'server/discover', params: {} }, upstreams, deadlineOf(asker)))
  } catch (error) {
    if (error instanceof UpstreamRefusal) throw error
    if (error instanceof RpcFailure) return null
    throw new GatewayError(
      'PREFLIGHT_UNDECIDED',
      `server/discover of the route "${asker.call.route.name}" failed, so the call could not be judged: ${reasonOf(error)}.`,
      { cause: error },
    )
  }
}

function deadlineOf({ call }: McpAsker): AbortSignal {
  return AbortSignal.timeout(call.route.timeout.headers * 1000)
}

async function askForPage(
  asker: McpAsker,
  { list, cursor }: Pick<Page, 'list' | 'cursor'>,
  upstreams: Upstreams,
  signal: AbortSignal,
): Promise<Page> {
  const request = { method: LISTS[list].method, params: cursor === null ? {} : { cursor } }
  const page = readPage(list, cursor, await askServer(asker, request, upstreams, signal))
  if (page === null) throw new Error(`the upstream answered something else than ${list}`)
  return page
}

/** A list result; null when it is none. */
export function readPage(list: ManifestListName, cursor: string | null, result: unknown): Page | null {
  const items = isJsonObject(result) ? result[list] : null
  if (!isJsonObject(result) || !Array.isArray(items)) return null
  const { nextCursor } = result
  const isLast = typeof nextCursor !== 'string' || nextCursor === ''
  return { list, cursor, items, nextCursor: isLast ? null : nextCursor }
}

/** An `initialize` or `server/discover` result; null when it is none. */
export function readSession(result: unknown): SessionFacts | null {
  if (!isJsonObject(result) || !isJsonObject(result['capabilities'])) return null
  const { capabilities, instructions } = result
  return { capabilities, instructions: typeof instructions === 'string' && instructions !== '' ? instructions : null }
}
