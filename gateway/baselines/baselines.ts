/**
 * The contract that a route's calls are compared with (docs/reference/api.md#baselines). It is pinned whole, and replaced only
 * by an explicit act or, where the route allows it, by an info-only change. A blocked candidate never becomes a baseline. The
 * store is authoritative: other processes promote too, and their changes are seen within a second.
 */
import { digestText } from '../../engine/base.ts'
import type { ArtifactType, Digest } from '../../engine/internal.ts'
import type { Route } from '../routing/route.ts'
import type { Authorization, AuthorizeRequest, Flow } from '../flow/flow.ts'
import { GatewayError } from '../errors/errors.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { BaselinesConfig } from './settings.ts'
import type { BaselineRow, CandidateRow } from '../store/baselines.ts'
import { STALE } from '../store/changes.ts'
import type { Store, StorePart } from '../store/store.ts'
import type { CandidateAnnouncement } from '../telemetry/events.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { accept, acceptanceOf, mayPromoteItself, type AcceptanceDeps, type Acceptor } from './acceptance.ts'
import { narrowedAcceptance } from './partial-acceptance.ts'
import { isInfoOnly, ownerOf, promotable, registeredRoute, type RegisteredChange } from './promotion.ts'
import { AUTO_PROMOTED, pinOf, promotedRow, assertFresh, isExpired } from './pinning.ts'

/** A contract by its text. */
export interface BaselineText {
  readonly content: string
  readonly digest: string
}

/** The contract that an upstream offers now. */
export interface OfferedContract extends BaselineText {
  readonly type: ArtifactType
  readonly digest: Digest
  /** The part of the offer that a baseline covers, for contracts that come in parts; absent: the contract is one whole. */
  readonly against?: (baseline: BaselineText) => OfferedContract
  /** A baseline completed with the parts that it does not cover yet, as they are offered now; null: it covers all of them. */
  readonly completing?: (baseline: BaselineText) => BaselineText | null
}

/** The part of the offer that is compared with the baseline. */
export function comparedWith(baseline: BaselineText, offered: OfferedContract): OfferedContract {
  return offered.against?.(baseline) ?? offered
}

export interface BaselineView {
  readonly baseline: BaselineRow
  /** The contract that the upstream was last seen to offer, when it differs. */
  readonly candidate: CandidateRow | null
}

export interface BaselineService {
  /**
   * The baseline to compare a call with. The first contract seen is pinned (`first_use`) unless the route names a source. An
   * info-only change is promoted where the route allows it. Synchronous when the pin is in use and the offer is the same, else
   * a promise. Rejects with a GatewayError when the baseline cannot be determined, or is older than the route allows.
   */
  baselineFor(route: Route, offered: OfferedContract): BaselineRow | Promise<BaselineRow>
  list(): Promise<readonly BaselineView[]>
  /** Null when the route has no baseline yet. */
  view(route: string): Promise<BaselineView | null>
  /**
   * Makes the candidate the baseline. Where the route has a maximum age, the baseline's own digest confirms it, and its age
   * counts from now.
   * Where the policy requires an approval of the difference, this is one (acceptance.ts).
   * @param digest of the contract that was reviewed: another one offered meanwhile is refused
   * @param only parts to accept (`tool:search`), while the rest of the baseline stays as it was; empty: all of it
   */
  promote(route: string, digest: string, acceptor: Acceptor, only?: readonly string[]): Promise<BaselineRow>
  /** Called after a decision: when it allows to register exactly what a route's upstream offers, that becomes the baseline. */
  registered(change: RegisteredChange): Promise<BaselineRow | null>
}

/** The decision functions that baselines use. */
export type IssuedDecision = Pick<Authorization, 'envelope' | 'token' | 'expiresAt' | 'approvalId' | 'approvalLinks'>

export interface BaselinesDeps {
  readonly settings: () => { readonly config: BaselinesConfig }
  readonly flow: Pick<Flow, 'compare' | 'digests' | 'fileReferences' | 'bundle' | 'compose'> & {
    analyze: AcceptanceDeps['flow']['analyze']
    authorize(request: AuthorizeRequest): Promise<IssuedDecision>
  }
  readonly store: StorePart<
    | 'baselines.byRoute'
    | 'baselines.stamp'
    | 'baselines.list'
    | 'baselines.set'
    | 'baselines.candidate'
    | 'baselines.candidates'
    | 'baselines.setCandidate'
    | 'baselines.dropCandidate'
    | 'baselines.announceCandidate'
    | 'approvals.endMoot'
  > &
    AcceptanceDeps['store'] &
    Pick<Store, 'changes'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Notifies of a candidate that was seen for the first time; absent: nobody is notified (the command line sees no offers). */
  readonly announce?: (candidate: CandidateAnnouncement) => Promise<void>
}

/** Digest of a contract as baselines and verdicts name it. */
export function contractDigest(content: string): Digest {
  return digestText(content, sha256Hex)
}

/** A pin in use, and the mark of the last look at the store (store/changes.ts). */
interface Pin {
  readonly row: BaselineRow
  /** The settings that it was pinned for: others may name another source. */
  readonly contract: Route['contract']
  mark: number
}

interface Pinning {
  readonly contract: Route['contract']
  readonly row: Promise<BaselineRow>
}

/** Minimum time between two writes of a candidate. */
const CANDIDATE_MS = 1000

export class RouteBaselines implements BaselineService {
  readonly #deps: BaselinesDeps
  readonly #changes: Store['changes']
  readonly #pinned = new Map<string, Pin>()
  readonly #pinning = new Map<string, Pinning>()
  /** Digest of the last offer of each route that differs from its baseline; null: the offer is the baseline. */
  readonly #offeredNow = new Map<string, string | null>()
  readonly #candidateSetAt = new Map<string, number>()

  constructor(deps: BaselinesDeps) {
    this.#deps = deps
    this.#changes = deps.store.changes
    this.#changes.subscribe(({ kind, key: [route = ''] }) => {
      const pinned = kind === 'baseline' ? this.#pinned.get(route) : undefined
      if (pinned !== undefined) pinned.mark = STALE
    })
  }

  baselineFor(route: Route, whole: OfferedContract): BaselineRow | Promise<BaselineRow> {
    return this.#inUse(route, whole) ?? this.#lookUp(route, whole)
  }

  async list(): Promise<readonly BaselineView[]> {
    const { baselines } = this.#deps.store
    const [rows, candidates] = await Promise.all([baselines.list(), baselines.candidates()])
    return rows.map((baseline) =>
      viewOf(
        baseline,
        candidates.find(({ route }) => route === baseline.route),
      ),
    )
  }

  async view(route: string): Promise<BaselineView | null> {
    const { baselines } = this.#deps.store
    const baseline = await baselines.byRoute(route, route)
    return baseline === null ? null : viewOf(baseline, (await baselines.candidate(route)) ?? undefined)
  }

  async promote(
    routeName: string,
    digest: string,
    acceptor: Acceptor,
    only: readonly string[] = [],
  ): Promise<BaselineRow> {
    const { settings, flow, now } = this.#deps
    const found = await this.view(routeName)
    const { route, baseline, candidate } = promotable({ routeName, digest }, acceptor, found, settings())
    const { by } = acceptor
    if (candidate === null) return this.#replace(baseline, { ...baseline, setBy: by, setAt: now() })
    const whole = acceptanceOf(route, baseline, candidate)
    const acceptance = only.length === 0 ? whole : await narrowedAcceptance(whole, only, flow)
    await accept(acceptance, acceptor, this.#deps)
    const { type, content } = acceptance.after
    const accepted = { type, content, digest: contractDigest(content) }
    const kept = await this.#replace(baseline, promotedRow(routeName, accepted, by, now()))
    if (only.length === 0) await this.#endMoot(kept)
    return kept
  }

  async registered(change: RegisteredChange): Promise<BaselineRow | null> {
    const route = registeredRoute(change, this.#deps.settings().config.routes)
    const found = route === null ? null : await this.view(route.name)
    const [artifact] = change.artifacts
    if (route === null || artifact === undefined || found?.candidate == null) return null
    const { baseline, candidate } = found
    const isReviewed = contractDigest(artifact.before) === baseline.digest && artifact.type === candidate.type
    if (!isReviewed || contractDigest(artifact.after) !== candidate.digest) return null
    const { tenant, by, groups } = change
    // The caller chose the environment and target of its preflight, so the decision is made again for the route.
    await accept(acceptanceOf(route, baseline, candidate), { tenant, by, groups, comment: '' }, this.#deps)
    const kept = await this.#replace(
      baseline,
      promotedRow(route.name, candidate, `decision:${change.decisionId}`, this.#deps.now()),
    )
    await this.#endMoot(kept)
    return kept
  }

  /**
   * The pin that was looked up a moment ago, when the upstream offers the same contract: then nothing is stored or looked up.
   */
  #inUse(route: Route, whole: OfferedContract): BaselineRow | null {
    const { now } = this.#deps
    const known = this.#pinned.get(route.name)
    if (known === undefined || known.contract !== route.contract) return null
    if (this.#offeredNow.get(route.name) !== null) return null
    const { row, mark } = known
    if (!this.#changes.isFresh(mark, now()) || isExpired(route, row, now())) return null
    const isWhole = row.source !== 'first_use' || (whole.completing?.(row) ?? null) === null
    return isWhole && comparedWith(row, whole).digest === row.digest ? row : null
  }

  async #lookUp(route: Route, whole: OfferedContract): Promise<BaselineRow> {
    const { flow, now } = this.#deps
    const baseline = await this.#completedBy(await this.#pinnedFor(route, whole), whole)
    const offered = comparedWith(baseline, whole)
    const candidate = baseline.digest === offered.digest ? null : candidateRow(route.name, offered, now())
    const isNew = candidate !== null && this.#offeredNow.get(route.name) !== candidate.digest
    await this.#note(route.name, candidate, baseline.digest)
    const promotesItself = isNew && route.contract?.auto_promote === 'info'
    if (
      promotesItself &&
      (await isInfoOnly(baseline, offered, flow)) &&
      (await mayPromoteItself(acceptanceOf(route, baseline, offered), this.#deps)) &&
      this.#isInForce(route)
    )
      return this.#keep(promotedRow(route.name, offered, AUTO_PROMOTED, now()), baseline.digest)
    assertFresh(route, baseline, now())
    return baseline
  }

  async #pinnedFor(route: Route, offered: OfferedContract): Promise<BaselineRow> {
    const { store, now } = this.#deps
    const known = this.#pinned.get(route.name)
    if (known === undefined || known.contract !== route.contract || isExpired(route, known.row, now()))
      return this.#pinNow(route, offered)
    if (this.#changes.isFresh(known.mark, now())) return known.row
    const begin = this.#changes.begin(now())
    const stamp = await store.baselines.stamp(route.name, route.name)
    const isSame = stamp !== null && stamp.digest === known.row.digest && stamp.setAt === known.row.setAt
    if (!isSame) {
      // Another process accepted a part and dropped the candidate: the rest of the offer is still a candidate.
      this.#offeredNow.delete(route.name)
      this.#candidateSetAt.delete(route.name)
      return this.#pinNow(route, offered)
    }
    known.mark = this.#changes.mark(begin, now())
    return known.row
  }

  #pinNow(route: Route, offered: OfferedContract): Promise<BaselineRow> {
    const { contract } = route
    // Calls that come while the first one pins wait for it: only one first contract may be pinned.
    const running = this.#pinning.get(route.name)
    if (running !== undefined && running.contract === contract) return running.row
    if (!this.#isInForce(route)) return Promise.reject(outdated(route))
    const pin = async (): Promise<BaselineRow> => {
      const begin = this.#changes.begin(this.#deps.now())
      const row = await pinOf(route, offered, this.#deps, (wanted, over) => this.#keep(wanted, over))
      return this.#remember(row, begin, contract)
    }
    // A pin of earlier settings ends first: it does not replace this one.
    const started = running === undefined ? pin() : running.row.then(pin, pin)
    const row = started.finally(() => {
      if (this.#pinning.get(route.name)?.row === row) this.#pinning.delete(route.name)
    })
    this.#pinning.set(route.name, { contract, row })
    return row
  }

  /** False: the call began under settings that are replaced. Its source is not pinned: later calls would be judged by it. */
  #isInForce({ name, contract }: Route): boolean {
    const { routes } = this.#deps.settings().config
    return routes.some((route) => route.name === ownerOf(name) && route.contract === contract)
  }

  /** Parts seen later are pinned like the first ones: the parts of a contract may be seen at different times. */
  async #completedBy(row: BaselineRow, offered: OfferedContract): Promise<BaselineRow> {
    for (let known = row; ;) {
      const completed = known.source === 'first_use' ? (offered.completing?.(known) ?? null) : null
      if (completed === null) return known
      const kept = await this.#keep({ ...known, ...completed }, known.digest)
      if (kept.digest === completed.digest) return kept
      // Another gateway added parts of its own: ours are added to those.
      known = kept
    }
  }

  /** @param over as for the store: another gateway or person may have been faster, then their baseline is in force */
  async #keep(wanted: BaselineRow, over: string | null): Promise<BaselineRow> {
    const { store, logger, now } = this.#deps
    const begin = this.#changes.begin(now())
    const row = await store.baselines.set(wanted, over)
    const known = this.#pinned.get(row.route)
    if (known !== undefined) this.#remember(row, begin, known.contract)
    if (row.digest !== wanted.digest) return row
    // When part of an offer was accepted, the rest of it is a candidate immediately.
    this.#candidateSetAt.delete(row.route)
    await this.#note(row.route, null, row.digest)
    logger.info(
      { event: 'baseline.set', route: row.route, digest: row.digest, source: row.source, set_by: row.setBy },
      'baseline set',
    )
    return row
  }

  /**
   * What a person accepted is the difference from this baseline: to another one it was not decided.
   * @throws GatewayError APPROVAL_CONFLICT
   */
  async #replace({ digest }: BaselineRow, wanted: BaselineRow): Promise<BaselineRow> {
    const kept = await this.#keep(wanted, digest)
    if (kept.digest === wanted.digest) return kept
    throw new GatewayError(
      'APPROVAL_CONFLICT',
      'Another contract became the baseline meanwhile. Review the difference from it.',
      {
        details: [{ pointer: '/digest', message: `The baseline now is ${kept.digest}.` }],
      },
    )
  }

  /** @param begin taken before the row was read or written */
  #remember(row: BaselineRow, begin: number, contract: Route['contract']): BaselineRow {
    const { metrics, now } = this.#deps
    this.#pinned.set(row.route, { row, contract, mark: this.#changes.mark(begin, now()) })
    metrics.set('preflight_baseline_set_timestamp_seconds', { route: row.route }, Math.floor(row.setAt / 1000))
    return row
  }

  /** The candidate is for reviewers only: a failure to store it changes no verdict. */
  async #note(route: string, candidate: CandidateRow | null, baseline: string): Promise<void> {
    const { store, metrics, logger, now } = this.#deps
    const digest = candidate?.digest ?? null
    if (this.#offeredNow.get(route) === digest) return
    // An upstream can offer different contracts to different callers: one of them is kept, not each at every call.
    const setAt = this.#candidateSetAt.get(route) ?? Number.NEGATIVE_INFINITY
    if (candidate !== null && now() - setAt < CANDIDATE_MS) return
    if (candidate !== null) this.#candidateSetAt.set(route, now())
    this.#offeredNow.set(route, digest)
    metrics.set('preflight_baseline_candidate_pending', { route }, candidate === null ? 0 : 1)
    try {
      await (candidate === null ? store.baselines.dropCandidate(route) : store.baselines.setCandidate(candidate))
      if (candidate !== null) await announceOnce(candidate, baseline, this.#deps)
    } catch (error) {
      this.#offeredNow.delete(route)
      logger.error({ event: 'baseline.candidate_not_stored', err: error, route }, 'candidate could not be stored')
    }
  }

  /**
   * Requests about another change of the old baseline can no longer be used. Calls of a route with several baselines may be about
   * another one, so their requests stay.
   */
  async #endMoot(row: BaselineRow): Promise<void> {
    if (row.route !== ownerOf(row.route)) return
    const { store, logger, now } = this.#deps
    const ended = await store.approvals.endMoot(row.route, row.setBy, now())
    if (ended.length > 0)
      logger.info({ event: 'approval.moot', route: row.route, approvals: ended }, 'pending approvals ended')
  }
}

/** Log, metric and notification, once for each candidate, whichever gateway on the store saw it first. */
async function announceOnce(
  { route, digest, type }: CandidateRow,
  baseline: string,
  { store, metrics, logger, now, announce }: BaselinesDeps,
): Promise<void> {
  if (!(await store.baselines.announceCandidate(route, digest, now()))) return
  metrics.count('preflight_baseline_candidates_total', { route })
  const event = 'baseline.candidate_seen'
  logger.warn({ event, route, digest, baseline }, 'the contract of the upstream differs from the baseline')
  await announce?.({ route, digest, baseline, type })
}

function outdated({ name }: Route): GatewayError {
  return new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `The settings of "${name}" changed while the call waited. Send it again.`,
  )
}

function viewOf(baseline: BaselineRow, candidate: CandidateRow | undefined): BaselineView {
  return { baseline, candidate: candidate === undefined || candidate.digest === baseline.digest ? null : candidate }
}

function candidateRow(route: string, { type, content, digest }: OfferedContract, seenAt: number): CandidateRow {
  return { route, type, content, digest, seenAt }
}
