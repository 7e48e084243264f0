/**
 * The tool manifest that each caller sees now. Learned from `tools/list` answers that stream by; asked for by the gateway itself,
 * in the caller's own session and with the caller's own credentials, when none was seen or the one seen is older than the
 * route's `contract.refresh` or the server announced a change. That bound holds whether or not the agent ever lists again.
 */
import { LRUCache } from 'lru-cache'
import type { OfferedContract } from '../baselines/baselines.ts'
import type { RouteConfig } from '../config/route.ts'
import { sha256Hex } from '../hash.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Call } from './action.ts'
import { manifestContract, toolNames } from './mcp-manifest-text.ts'

/** Who asks, and in which words: enough to ask the upstream for its tools as this caller. */
export interface McpAsker {
  readonly call: Call
  /** `params._meta` of the request at hand. */
  readonly meta: Readonly<Record<string, unknown>>
  /** It is a 2026-07-28 request: names its protocol version itself. */
  readonly isModern: boolean
}

/** One answer to `tools/list`. */
export interface ToolPage {
  /** What was asked for; null: the first page. */
  readonly cursor: string | null
  readonly tools: readonly unknown[]
  /** Null: the last page. */
  readonly nextCursor: string | null
}

export interface McpManifests {
  /** The manifest as of at most `contract.refresh` ago. Rejects with a GatewayError or an UpstreamRefusal. */
  current(asker: McpAsker, tools: readonly string[]): Promise<OfferedContract>
  /** A page went by in an answer to this caller. A manifest counts once all its pages were seen. */
  observe(call: Call, page: ToolPage): void
  /** The server said that its tools changed, or an answer could not be read: what was seen of this route is out of date. */
  invalidate(route: string): void
  /** The caller's session ends. */
  forget(call: Call): void
}

export interface McpManifestsDeps {
  /** Asks the upstream for all pages of `tools/list`. */
  readonly list: (asker: McpAsker) => Promise<readonly unknown[]>
  /** A whole manifest was seen: the first of a route is pinned as its baseline at once. */
  readonly onManifest: (route: RouteConfig, manifest: OfferedContract) => void
  readonly metrics: Metrics
  readonly logger: Logger
  readonly now: () => number
}

interface View {
  manifest: OfferedContract | null
  seenAt: number
  /** Epoch of the route when it was seen; another one now means that it is out of date. */
  epoch: number
  listing: Promise<OfferedContract> | null
  /** Pages seen so far of a listing that goes by, and the cursor that continues it. */
  pages: { readonly tools: readonly unknown[]; readonly nextCursor: string } | null
}

const DEFAULT_REFRESH_SECONDS = 60
const MAX_VIEWS = 10_000
/** A tool that the manifest does not name may be new: ask again, but not for every call of an agent that guesses names. */
const UNKNOWN_TOOL_RELIST_MS = 1000

export function createMcpManifests(deps: McpManifestsDeps): McpManifests {
  const views = new LRUCache<string, View>({ max: MAX_VIEWS })
  const epochs = new Map<string, number>()
  /** One copy of a manifest for all sessions that see it. */
  const shared = new LRUCache<string, OfferedContract>({ max: 256 })

  const epochOf = (route: string): number => epochs.get(route) ?? 0
  const viewOf = (call: Call): View => {
    const key = viewKey(call)
    const known = views.get(key)
    if (known !== undefined) return known
    const view: View = { manifest: null, seenAt: 0, epoch: 0, listing: null, pages: null }
    views.set(key, view)
    return view
  }
  const learn = (call: Call, view: View, tools: readonly unknown[], epoch: number): OfferedContract => {
    const fresh = manifestContract(tools)
    const manifest = shared.get(fresh.digest) ?? fresh
    shared.set(manifest.digest, manifest)
    const result = view.manifest === null || view.manifest.digest === manifest.digest ? 'unchanged' : 'changed'
    deps.metrics.count('preflight_contract_refreshes_total', { route: call.route.name, result })
    Object.assign(view, { manifest, seenAt: deps.now(), epoch })
    deps.onManifest(call.route, manifest)
    return manifest
  }
  const relist = (asker: McpAsker, view: View): Promise<OfferedContract> => {
    // Taken before asking: a change announced while the answer is on its way makes that answer out of date.
    const epoch = epochOf(asker.call.route.name)
    view.listing ??= deps
      .list(asker)
      .then((tools) => learn(asker.call, view, tools, epoch))
      .catch((error: unknown) => {
        deps.metrics.count('preflight_contract_refreshes_total', { route: asker.call.route.name, result: 'failed' })
        throw error
      })
      .finally(() => {
        view.listing = null
      })
    return view.listing
  }

  return {
    current(asker, tools) {
      const { route } = asker.call
      const view = viewOf(asker.call)
      const { manifest } = view
      const age = deps.now() - view.seenAt
      const refreshMs = (route.contract?.refresh ?? DEFAULT_REFRESH_SECONDS) * 1000
      const isFresh = manifest !== null && view.epoch === epochOf(route.name) && age < refreshMs
      deps.metrics.count('preflight_cache_requests_total', { cache: 'manifest', result: isFresh ? 'hit' : 'miss' })
      if (!isFresh) return relist(asker, view)
      const names = toolNames(manifest)
      const isKnown = tools.every((tool) => names.has(tool))
      return isKnown || age < UNKNOWN_TOOL_RELIST_MS ? Promise.resolve(manifest) : relist(asker, view)
    },
    observe(call, page) {
      const view = viewOf(call)
      const epoch = epochOf(call.route.name)
      const isContinued = page.cursor !== null && view.pages?.nextCursor === page.cursor
      if (page.cursor !== null && !isContinued) return
      const tools = isContinued ? [...(view.pages?.tools ?? []), ...page.tools] : page.tools
      view.pages = page.nextCursor === null ? null : { tools, nextCursor: page.nextCursor }
      if (page.nextCursor === null) learn(call, view, tools, epoch)
    },
    invalidate(route) {
      epochs.set(route, epochOf(route) + 1)
      deps.logger.debug({ route }, 'the tools of the upstream may have changed: listed again before the next call')
    },
    forget(call) {
      views.delete(viewKey(call))
    },
  }
}

/** Headers by which servers tell callers apart, and so may show them different tools. */
const CREDENTIAL_HEADERS = ['authorization', 'cookie', 'x-api-key', 'api-key'] as const

/** A session, or a set of credentials where there are no sessions. Kept as a hash: credentials stay out of the key. */
function viewKey(call: Call): string {
  const session = call.headers['mcp-session-id']
  const credentials = CREDENTIAL_HEADERS.map((name) => String(call.headers[name] ?? '')).join('\n')
  if (session === undefined && credentials.length < CREDENTIAL_HEADERS.length) return call.route.name
  return `${call.route.name}\n${sha256Hex(`${String(session ?? '')}\n${credentials}`)}`
}
