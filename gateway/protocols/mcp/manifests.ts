/**
 * What an MCP server offers to each caller now. Read from answers that are streamed through. The gateway requests it
 * itself, in the caller's session and with the caller's credentials. It does so when a part was not seen, when one is older
 * than the route's `contract.refresh`, and when the server announced a change. That limit holds whether or not the agent lists again.
 */
import type { McpRoute } from './settings.ts'
import { LRUCache } from 'lru-cache'
import type { OfferedContract } from '../../baselines/baselines.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { Route } from '../../routing/route.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Call } from '../../calls/call.ts'
import { callerAt, serverOf, sessionKeyOf, variantOf } from './caller-keys.ts'
import type { McpAsker } from './gateway-requests.ts'
import { MAX_PAGES, type Page } from './listing.ts'
import type { MessageId } from './json-rpc.ts'
import {
  LIST_NAMES,
  manifestContract,
  itemNames,
  promisedLists,
  type ManifestListName,
  type SessionFacts,
} from './manifest-text.ts'

/** What a call must know of the manifest, beside what the server promises. */
export interface ManifestNeed {
  readonly lists: readonly ManifestListName[]
  /** What one of the lists should hold; null: it may stand in none. */
  readonly name: string | null
}

export interface McpManifests {
  /** The manifest as of at most `contract.refresh` ago; a promise where it has to be asked for. Rejects with a GatewayError or an UpstreamRefusal. */
  current(asker: McpAsker, needs: readonly ManifestNeed[]): OfferedContract | Promise<OfferedContract>
  /** The moment of a request for a list: what it brings is as old as that. */
  momentOf(route: string): Asked
  /** Another object after each change that a server of the route announced. */
  changesOf(route: string): object
  /** A page went by in an answer to this caller. A list counts once all its pages were seen, from the request for its first page. */
  observe(asker: McpAsker, page: Page, asked: Asked): void
  /**
   * A session began whose start was not read yet.
   * @param id of the request for it; null: it will not be read any more
   * @param session null: that of the call, or none
   */
  awaitSession(asker: McpAsker, id: MessageId | null, session: string | null): void
  /** Id of the request whose answer is awaited in the session of the call; null: none. */
  awaitedSession(call: Call<McpRoute>): MessageId | null
  /** What the server says of itself went by. @param session that begins with it; null: that of the call, or none */
  observeSession(asker: McpAsker, facts: SessionFacts, session: string | null): void
  /** The server said that its lists changed, or an answer could not be read: what was seen of this route is out of date. */
  invalidate(route: string, lists?: readonly ManifestListName[]): void
  /** A server of the route may have been started again, as another version that announces nothing. */
  lost(route: string): void
  /** The caller's session ends. */
  forget(call: Call<McpRoute>): void
}

interface McpManifestsDeps {
  /** Asks the upstream for all pages of a list. */
  readonly list: (asker: McpAsker, list: ManifestListName) => Promise<readonly unknown[]>
  /** Asks the upstream what it says of itself; null when it cannot be asked. */
  readonly discover: (asker: McpAsker) => Promise<SessionFacts | null>
  /** More of a manifest was seen: the first of a route is pinned as its baseline immediately. */
  readonly onManifest: (route: Route, manifest: OfferedContract) => void
  readonly metrics: Metrics
  readonly logger: Logger
  readonly now: () => number
}

/** When something was asked of a server. A change that it announces later puts the answer out of date. */
export interface Asked {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** How often each list of the route was said to have changed until then. */
  readonly epochs: Readonly<Partial<Record<CountedPart, number>>>
}

/** `session`: what the server says of itself. */
type CountedPart = ManifestListName | 'session'

/** Something learned of a server. */
interface Seen<Thing> {
  readonly thing: Thing
  readonly asked: Asked
}

/** The first pages of a list. */
interface SeenPages extends Seen<readonly unknown[]> {
  readonly nextCursor: string
  readonly count: number
}

/** A question under way. */
interface Running {
  readonly done: Promise<void>
  /** How often the list was said to have changed before it was asked for. */
  readonly epoch: number
}

/** What one caller is known to be offered for requests with the same fields. */
interface ListingView {
  /** What the server says of itself to requests with these fields (2026-07-28); null: it was not asked, or cannot be. */
  session: Seen<SessionFacts> | null
  readonly lists: Partial<Record<ManifestListName, Seen<readonly unknown[]>>>
  manifest: OfferedContract | null
  /** What the server said of itself, for calls of this view. */
  facts: Seen<SessionFacts> | null
  /** Questions under way, by list. */
  readonly connectionRequest: Map<ManifestListName | 'session', Running>
  /** Pages seen so far of listings that go by, and the cursor that continues each. */
  readonly pages: Partial<Record<ManifestListName, SeenPages>>
}

const DEFAULT_REFRESH_SECONDS = 60
const NO_CHANGES: Asked['epochs'] = {}
const MAX_CALLERS = 10_000
/** A field that is another one in each request would have a listing for each: the oldest give way. */
const MAX_VIEWS_OF_CALLER = 32
/** A name that the manifest does not hold may be new: ask again, but not for every call of an agent that guesses names. */
const UNKNOWN_NAME_RELIST_MS = 1000

export class OfferedManifests implements McpManifests {
  readonly #deps: McpManifestsDeps
  /** Views of each caller, by what listings may depend on; the oldest first. */
  readonly #callers = new LRUCache<string, Map<string, ListingView>>({ max: MAX_CALLERS })
  /** What a server said of itself, by session, by caller where there are none, and by server. */
  readonly #starts = new LRUCache<string, Seen<SessionFacts>>({ max: MAX_CALLERS })
  /** Sessions whose start was not read, with the id of the request for it. */
  readonly #awaited = new LRUCache<string, { readonly id: MessageId | null }>({ max: MAX_CALLERS })
  /** How often each list of a route was said to have changed. */
  readonly #epochs = new Map<string, Asked['epochs']>()
  /** One copy of a manifest for all sessions that see it. */
  readonly #shared = new LRUCache<string, OfferedContract>({ max: 256 })

  constructor(deps: McpManifestsDeps) {
    this.#deps = deps
  }

  current(asker: McpAsker, needs: readonly ManifestNeed[]): OfferedContract | Promise<OfferedContract> {
    this.#checkStart(asker)
    const view = this.#viewOf(asker)
    const isHit =
      view.manifest !== null &&
      !this.#isSessionDue(asker, view) &&
      this.#staleLists(view, needs, asker.call.route).length === 0
    this.#deps.metrics.count('preflight_cache_requests_total', { cache: 'manifest', result: isHit ? 'hit' : 'miss' })
    return isHit && view.manifest !== null ? view.manifest : this.#renew(asker, view, needs)
  }

  momentOf(route: string): Asked {
    return { at: this.#deps.now(), epochs: this.changesOf(route) }
  }

  changesOf(route: string): Asked['epochs'] {
    return this.#epochs.get(route) ?? NO_CHANGES
  }

  observe(asker: McpAsker, { list, cursor, items, nextCursor }: Page, asked: Asked): void {
    const view = this.#viewOf(asker)
    const before = cursor === null ? { thing: [], asked } : view.pages[list]
    if (before === undefined || ('nextCursor' in before && before.nextCursor !== cursor)) return
    const seen = { thing: [...before.thing, ...items], asked: before.asked }
    const count = 'nextCursor' in before ? before.count + 1 : 1
    if (nextCursor !== null && nextCursor !== cursor && count < MAX_PAGES) {
      view.pages[list] = { ...seen, nextCursor, count }
      return
    }
    delete view.pages[list]
    if (nextCursor !== null) return
    // A caller may be slow between two pages: what was learned later stays.
    if ((view.lists[list]?.asked.at ?? 0) > seen.asked.at) return
    view.lists[list] = seen
    this.#compose(view, asker.call.route)
  }

  awaitSession(asker: McpAsker, id: MessageId | null, session: string | null): void {
    // Without sessions the server is asked again.
    if (asker.isModern) this.#viewOf(asker).session = null
    else this.#awaited.set(sessionKeyOf(asker.call, session), { id })
  }

  awaitedSession(call: Call<McpRoute>): MessageId | null {
    return this.#awaited.get(sessionKeyOf(call, null))?.id ?? null
  }

  /** A claim of a version without sessions does not leave a session behind. */
  #checkStart({ call, isModern }: McpAsker): void {
    const isInSession = !isModern || call.headers['mcp-session-id'] !== undefined
    if (!isInSession || !this.#awaited.has(sessionKeyOf(call, null))) return
    throw new GatewayError(
      'PREFLIGHT_UNDECIDED',
      `The answer to initialize of the route "${call.route.name}" could not be read, so the call could not be judged. Begin a new session.`,
    )
  }

  observeSession(asker: McpAsker, facts: SessionFacts, session: string | null): void {
    if (!asker.isModern) this.#awaited.delete(sessionKeyOf(asker.call, session))
    // Some servers give an id again: what was listed in that session may be of the version before.
    if (session !== null) this.#callers.delete(callerAt(asker.call, session))
    const seen = { thing: facts, asked: this.momentOf(asker.call.route.name) }
    this.#starts.set(serverOf(asker.call), seen)
    if (asker.isModern) this.#viewOf(asker).session = seen
    else this.#starts.set(sessionKeyOf(asker.call, session), seen)
  }

  invalidate(route: string, lists: readonly ManifestListName[] = LIST_NAMES): void {
    this.#count(route, lists)
    this.#deps.logger.debug(
      { event: 'manifest.invalidated', route, lists },
      'the manifest of the upstream may have changed; it is listed again before the next call',
    )
  }

  lost(route: string): void {
    this.#count(route, [...LIST_NAMES, 'session'])
  }

  forget(call: Call<McpRoute>): void {
    this.#callers.delete(callerAt(call))
  }

  #count(route: string, parts: readonly CountedPart[]): void {
    const counted = Object.fromEntries(parts.map((part) => [part, this.#epochOf(route, part) + 1]))
    this.#epochs.set(route, { ...this.#epochs.get(route), ...counted })
  }

  #epochOf(route: string, part: CountedPart): number {
    return this.#epochs.get(route)?.[part] ?? 0
  }

  #viewOf(asker: McpAsker): ListingView {
    const key = callerAt(asker.call)
    const views = this.#callers.get(key) ?? new Map<string, ListingView>()
    this.#callers.set(key, views)
    const view = viewIn(views, variantOf(asker))
    const facts = this.#factsFor(asker, view)
    if (view.facts !== facts) Object.assign(view, { facts, manifest: null })
    return view
  }

  /**
   * The answer to `initialize` holds for its session, whatever the fields and credentials of a request in it are. Where
   * it is not known, the last answer of the server counts: a call must not leave a changed description behind.
   */
  #factsFor({ call, isModern }: McpAsker, view: ListingView): Seen<SessionFacts> | null {
    const own = isModern ? view.session : this.#starts.get(sessionKeyOf(call, null))
    return own ?? this.#starts.get(serverOf(call)) ?? null
  }

  #isFresh(seen: Seen<unknown>, { contract }: Route): boolean {
    return this.#deps.now() - seen.asked.at < (contract?.refresh ?? DEFAULT_REFRESH_SECONDS) * 1000
  }

  #isListFresh(view: ListingView, list: ManifestListName, route: Route): boolean {
    const seen = view.lists[list]
    return (
      seen !== undefined &&
      (seen.asked.epochs[list] ?? 0) === this.#epochOf(route.name, list) &&
      this.#isFresh(seen, route)
    )
  }

  /** The manifest out of its parts, once for all callers who see the same. */
  #compose(view: ListingView, route: Route): OfferedContract {
    const fresh = manifestContract({ session: view.facts?.thing ?? null, lists: thingsOf(view.lists) })
    const manifest = this.#shared.get(fresh.digest) ?? fresh
    this.#shared.set(manifest.digest, manifest)
    const result = view.manifest === null || view.manifest.digest === manifest.digest ? 'unchanged' : 'changed'
    this.#deps.metrics.count('preflight_contract_refreshes_total', { route: route.name, result })
    view.manifest = manifest
    this.#deps.onManifest(route, manifest)
    return manifest
  }

  #askOnce(
    view: ListingView,
    what: ManifestListName | 'session',
    { call }: McpAsker,
    ask: () => Promise<void>,
  ): Promise<void> {
    const epoch = this.#epochOf(call.route.name, what)
    const running = view.connectionRequest.get(what)
    // One that began before the server announced a change may bring what was there before.
    if (running?.epoch === epoch) return running.done
    const done = ask()
      .catch((error: unknown) => {
        this.#deps.metrics.count('preflight_contract_refreshes_total', { route: call.route.name, result: 'failed' })
        throw error
      })
      .finally(() => {
        if (view.connectionRequest.get(what) === started) view.connectionRequest.delete(what)
      })
    const started = { done, epoch }
    view.connectionRequest.set(what, started)
    return done
  }

  #relist(asker: McpAsker, view: ListingView, list: ManifestListName): Promise<void> {
    return this.#askOnce(view, list, asker, async () => {
      const asked = this.momentOf(asker.call.route.name)
      const seen = { thing: await this.#deps.list(asker, list), asked }
      // A later question may have been answered first.
      if ((view.lists[list]?.asked.epochs[list] ?? 0) <= (asked.epochs[list] ?? 0)) view.lists[list] = seen
    })
  }

  /** In sessions it is sent once and stays valid; without sessions it is requested like a list. */
  #isSessionDue({ isModern, call }: McpAsker, { session }: ListingView): boolean {
    if (!isModern) return false
    const epoch = this.#epochOf(call.route.name, 'session')
    return session === null || (session.asked.epochs.session ?? 0) !== epoch || !this.#isFresh(session, call.route)
  }

  #renewSession(asker: McpAsker, view: ListingView): Promise<void> {
    return this.#askOnce(view, 'session', asker, async () => {
      const asked = this.momentOf(asker.call.route.name)
      const facts = await this.#deps.discover(asker)
      view.session = facts === null ? null : { thing: facts, asked }
      if (view.session !== null) this.#starts.set(serverOf(asker.call), view.session)
      view.facts = this.#factsFor(asker, view)
    })
  }

  /** The lists to request before the manifest is known for a call. */
  #staleLists(view: ListingView, needs: readonly ManifestNeed[], route: Route): readonly ManifestListName[] {
    const promised = view.facts === null ? [] : promisedLists(view.facts.thing)
    return LIST_NAMES.filter(
      (list) =>
        (promised.includes(list) || needs.some(({ lists }) => lists.includes(list))) &&
        (!this.#isListFresh(view, list, route) || lacksName(view, list, needs, this.#deps.now())),
    )
  }

  async #renew(asker: McpAsker, view: ListingView, needs: readonly ManifestNeed[]): Promise<OfferedContract> {
    const { route } = asker.call
    if (this.#isSessionDue(asker, view)) await this.#renewSession(asker, view)
    const stale = this.#staleLists(view, needs, route)
    await Promise.all(stale.map((list) => this.#relist(asker, view, list)))
    // The server announced a change in the meantime. Asked once more only: some announce one with each listing.
    const missed = stale.filter((list) => (view.lists[list]?.asked.epochs[list] ?? 0) < this.#epochOf(route.name, list))
    await Promise.all(missed.map((list) => this.#relist(asker, view, list)))
    return this.#compose(view, route)
  }
}

function viewIn(views: Map<string, ListingView>, key: string): ListingView {
  const known = views.get(key)
  if (known !== undefined) return known
  const [oldest] = views.keys()
  if (oldest !== undefined && views.size >= MAX_VIEWS_OF_CALLER) views.delete(oldest)
  const view: ListingView = {
    session: null,
    lists: {},
    manifest: null,
    facts: null,
    connectionRequest: new Map(),
    pages: {},
  }
  views.set(key, view)
  return view
}

function thingsOf(lists: ListingView['lists']): Readonly<Partial<Record<ManifestListName, readonly unknown[]>>> {
  return Object.fromEntries(Object.entries(lists).map(([list, { thing }]) => [list, thing]))
}

/** Whether a list lacks a name that is asked for, and was not asked for a moment ago. */
function lacksName(
  { manifest, lists }: ListingView,
  list: ManifestListName,
  needs: readonly ManifestNeed[],
  now: number,
): boolean {
  if (manifest === null || now - (lists[list]?.asked.at ?? 0) < UNKNOWN_NAME_RELIST_MS) return false
  return needs.some(
    (need) => need.name !== null && need.lists.includes(list) && !itemNames(list, manifest).has(need.name),
  )
}
