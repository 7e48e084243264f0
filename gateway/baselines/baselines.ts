/**
 * The contract that a route's calls are judged against (docs/reference/api.md#baselines): pinned whole, replaced only by an explicit act or, where
 * the route says so, by a change that is info only. A blocked candidate never becomes a baseline. The store is the truth: other
 * processes promote too, and what they did is seen within a second.
 */
import { digestText, LEVELS } from '../../engine/base.ts'
import type { ArtifactType, Digest } from '../../engine/internal.ts'
import type { Route } from '../routing/route.ts'
import type { ContractSource } from '../routing/route.ts'
import type { Authorization, AuthorizeRequest, Flow } from '../flow/flow.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { BaselinesConfig } from './settings.ts'
import type { BaselineRow, CandidateRow, Store } from '../store/store.ts'
import type { CandidateAnnouncement } from '../telemetry/events.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { assertFresh, isExpired } from './age.ts'
import { accept, mayPromoteItself, type Acceptance, type AcceptanceDeps, type Acceptor } from './acceptance.ts'
import { partialContract } from './partial-acceptance.ts'
import { changeOf, ownerOf, promotable, registeredRoute, type RegisteredChange } from './promotion.ts'
import { isNewer, readContractSource, sourceKind } from '../documents/contract-source.ts'

/** A contract by its text. */
export interface BaselineText {
  readonly content: string
  readonly digest: string
}

/** The contract that an upstream offers now. */
export interface OfferedContract extends BaselineText {
  readonly type: ArtifactType
  readonly digest: Digest
  /** The part of it that a baseline speaks of, where contracts of the kind come in parts; absent: it is one whole. */
  readonly against?: (baseline: BaselineText) => OfferedContract
  /** A baseline with the parts that it does not speak of yet, as they are offered now; null: it speaks of all of them. */
  readonly completing?: (baseline: BaselineText) => BaselineText | null
}

/** What of the offer is to be compared with the baseline. */
export function comparedWith(baseline: BaselineText, offered: OfferedContract): OfferedContract {
  return offered.against?.(baseline) ?? offered
}

export interface BaselineView {
  readonly baseline: BaselineRow
  /** What the upstream was last seen to offer, when that is something else. */
  readonly candidate: CandidateRow | null
}

export interface Baselines {
  /**
   * The baseline to judge a call by. The first contract seen is pinned (`first_use`) unless the route names a source;
   * an info-only change is promoted where the route allows it. At once where the pin is in use and just that is offered, else a
   * promise; rejects with a GatewayError when there is no telling, or when the baseline is older than the route lets it be.
   */
  baselineFor(route: Route, offered: OfferedContract): BaselineRow | Promise<BaselineRow>
  list(): Promise<readonly BaselineView[]>
  /** Null when the route has no baseline yet. */
  view(route: string): Promise<BaselineView | null>
  /**
   * Makes the candidate the baseline; where the route has a maximum age, the baseline's own digest confirms it, and its age counts from now.
   * Where the policy asks for an approval of the difference, this is one (acceptance.ts).
   * @param digest of the contract that was reviewed: another one offered meanwhile is refused
   * @param only parts to accept (`tool:search`), while the rest of the baseline stays as it was; empty: all of it
   */
  promote(route: string, digest: string, acceptor: Acceptor, only?: readonly string[]): Promise<BaselineRow>
  /** A decision was made: when it allows to register exactly what a route's upstream offers, that becomes the baseline. */
  registered(change: RegisteredChange): Promise<BaselineRow | null>
}

/** What the road needs of a decision. */
export type IssuedDecision = Pick<Authorization, 'envelope' | 'token' | 'expiresAt' | 'approvalId'>

export interface BaselinesDeps {
  readonly settings: () => { readonly config: BaselinesConfig; readonly generation: number }
  readonly flow: Pick<Flow, 'compare' | 'digests' | 'fileReferences' | 'bundle' | 'compose'> & {
    analyze: AcceptanceDeps['flow']['analyze']
    authorize(request: AuthorizeRequest): Promise<IssuedDecision>
  }
  readonly store: Pick<
    Store,
    | 'baseline'
    | 'baselineStamp'
    | 'baselines'
    | 'setBaseline'
    | 'baselineCandidate'
    | 'baselineCandidates'
    | 'setBaselineCandidate'
    | 'dropBaselineCandidate'
    | 'announceCandidate'
  > &
    AcceptanceDeps['store']
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

/** A pin in use, and when the store was last seen to hold the same. */
interface Pin {
  readonly row: BaselineRow
  checkedAt: number
}

/** What another process did to a baseline is seen within this. */
const RECHECK_MS = 1000
/** A candidate is written no more often than this. */
const CANDIDATE_MS = 1000

export function createBaselines(deps: BaselinesDeps): Baselines {
  const { store, metrics, logger, now } = deps
  const pinned = new Map<string, Pin>()
  const pinning = new Map<string, Promise<BaselineRow>>()
  /** Digest of what each route was last seen to offer beside its baseline; null: the baseline. */
  const offeredNow = new Map<string, string | null>()
  const candidateSetAt = new Map<string, number>()
  let generation = 0

  const remember = (row: BaselineRow): BaselineRow => {
    pinned.set(row.route, { row, checkedAt: now() })
    metrics.set('preflight_baseline_set_timestamp_seconds', { route: row.route }, Math.floor(row.setAt / 1000))
    return row
  }
  const keep = async (row: BaselineRow): Promise<BaselineRow> => {
    await store.setBaseline(row)
    remember(row)
    // What is left of an offer after a part of it was accepted is a candidate at once.
    candidateSetAt.delete(row.route)
    await note(row.route, null, row.digest)
    logger.info(
      { event: 'baseline.set', route: row.route, digest: row.digest, source: row.source, set_by: row.setBy },
      'baseline set',
    )
    return row
  }
  /** The candidate is for reviewers: a fault in keeping it changes no verdict. */
  const note = async (route: string, candidate: CandidateRow | null, baseline: string): Promise<void> => {
    const digest = candidate?.digest ?? null
    if (offeredNow.get(route) === digest) return
    // Callers whom the upstream offers different contracts take turns: one of them is kept, not each at every call.
    if (candidate !== null && now() - (candidateSetAt.get(route) ?? Number.NEGATIVE_INFINITY) < CANDIDATE_MS) return
    if (candidate !== null) candidateSetAt.set(route, now())
    offeredNow.set(route, digest)
    metrics.set('preflight_baseline_candidate_pending', { route }, candidate === null ? 0 : 1)
    try {
      await (candidate === null ? store.dropBaselineCandidate(route) : store.setBaselineCandidate(candidate))
      if (candidate !== null) await announceOnce(candidate, baseline, deps)
    } catch (error) {
      offeredNow.delete(route)
      logger.error({ event: 'baseline.candidate_not_stored', err: error, route }, 'candidate could not be stored')
    }
  }
  const pinNow = (route: Route, offered: OfferedContract): Promise<BaselineRow> => {
    // Calls that come while the first one pins wait for it: two first contracts must not both win.
    const running = pinning.get(route.name)
    if (running !== undefined) return running
    const started = pin(route, offered, deps, keep)
      .then(remember)
      .finally(() => pinning.delete(route.name))
    pinning.set(route.name, started)
    return started
  }
  /** What is seen for the first time is pinned as the rest was: parts of a contract are not all seen at once. */
  const completedBy = async (row: BaselineRow, offered: OfferedContract): Promise<BaselineRow> => {
    const completed = row.source === 'first_use' ? (offered.completing?.(row) ?? null) : null
    return completed === null ? row : keep({ ...row, ...completed })
  }
  const pinnedFor = async (route: Route, offered: OfferedContract): Promise<BaselineRow> => {
    if (generation !== deps.settings().generation) {
      // Another configuration can name another source.
      generation = deps.settings().generation
      pinned.clear()
    }
    const known = pinned.get(route.name)
    if (known === undefined || isExpired(route, known.row, now())) return pinNow(route, offered)
    if (now() - known.checkedAt < RECHECK_MS) return known.row
    const stamp = await store.baselineStamp(route.name, route.name)
    const isSame = stamp !== null && stamp.digest === known.row.digest && stamp.setAt === known.row.setAt
    if (!isSame) {
      // Another process that accepted a part dropped the candidate: what is left of the offer is one still.
      offeredNow.delete(route.name)
      candidateSetAt.delete(route.name)
      return pinNow(route, offered)
    }
    known.checkedAt = now()
    return known.row
  }

  /** The pin that was looked up a moment ago, where the upstream offers just that: then there is nothing to note or to ask. */
  const inUse = (route: Route, whole: OfferedContract): BaselineRow | null => {
    const known = generation === deps.settings().generation ? pinned.get(route.name) : undefined
    if (known === undefined || offeredNow.get(route.name) !== null) return null
    const { row, checkedAt } = known
    if (now() - checkedAt >= RECHECK_MS || isExpired(route, row, now())) return null
    const isWhole = row.source !== 'first_use' || (whole.completing?.(row) ?? null) === null
    return isWhole && comparedWith(row, whole).digest === row.digest ? row : null
  }
  const lookUp = async (route: Route, whole: OfferedContract): Promise<BaselineRow> => {
    const baseline = await completedBy(await pinnedFor(route, whole), whole)
    const offered = comparedWith(baseline, whole)
    const candidate = baseline.digest === offered.digest ? null : candidateOf(route.name, offered, now())
    const isNew = candidate !== null && offeredNow.get(route.name) !== candidate.digest
    await note(route.name, candidate, baseline.digest)
    const promotesItself = isNew && route.contract?.auto_promote === 'info'
    if (
      promotesItself &&
      (await isInfoOnly(baseline, offered, deps.flow)) &&
      (await mayPromoteItself(acceptanceOf(route, baseline, offered), deps))
    )
      return keep(rowOf(route.name, offered, 'promotion', 'auto_promote: info', now()))
    assertFresh(route, baseline, now())
    return baseline
  }

  return {
    baselineFor: (route, whole) => inUse(route, whole) ?? lookUp(route, whole),
    async list() {
      const [rows, candidates] = await Promise.all([store.baselines(), store.baselineCandidates()])
      return rows.map((baseline) =>
        viewOf(
          baseline,
          candidates.find(({ route }) => route === baseline.route),
        ),
      )
    },
    async view(route) {
      const baseline = await store.baseline(route, route)
      return baseline === null ? null : viewOf(baseline, (await store.baselineCandidate(route)) ?? undefined)
    },
    async promote(routeName, digest, acceptor, only = []) {
      const found = await this.view(routeName)
      const { route, baseline, candidate } = promotable(routeName, digest, found, deps.settings())
      const { by } = acceptor
      if (candidate === null) return keep({ ...baseline, setBy: by, setAt: now() })
      const whole = acceptanceOf(route, baseline, candidate)
      const acceptance = only.length === 0 ? whole : await partOf(whole, only, deps.flow)
      await accept(acceptance, acceptor, deps)
      const { type, content } = acceptance.after
      return keep(rowOf(routeName, { type, content, digest: contractDigest(content) }, 'promotion', by, now()))
    },
    async registered(change) {
      const route = registeredRoute(change, deps.settings().config.routes)
      const found = route === null ? null : await this.view(route.name)
      const [artifact] = change.artifacts
      if (route === null || artifact === undefined || found?.candidate == null) return null
      const { baseline, candidate } = found
      const isReviewed = contractDigest(artifact.before) === baseline.digest && artifact.type === candidate.type
      if (!isReviewed || contractDigest(artifact.after) !== candidate.digest) return null
      const { by, groups } = change
      // The caller chose what its preflight said of the place: this is decided anew for the route.
      await accept(acceptanceOf(route, baseline, candidate), { by, groups, comment: '' }, deps)
      return keep(rowOf(route.name, candidate, 'promotion', `decision:${change.decisionId}`, now()))
    },
  }
}

/** Log, metric and notification, once for each candidate, whichever gateway on the store saw it first. */
async function announceOnce(
  { route, digest, type }: CandidateRow,
  baseline: string,
  { store, metrics, logger, now, announce }: BaselinesDeps,
): Promise<void> {
  if (!(await store.announceCandidate(route, digest, now()))) return
  metrics.count('preflight_baseline_candidates_total', { route })
  const event = 'baseline.candidate_seen'
  logger.warn({ event, route, digest, baseline }, 'the contract of the upstream differs from the baseline')
  await announce?.({ route, digest, baseline, type })
}

/** Parts of what is offered; calls of other parts wait on. */
async function partOf(whole: Acceptance, only: readonly string[], flow: BaselinesDeps['flow']): Promise<Acceptance> {
  const { route, before, offered } = whole
  const { content, isAccepted } = await partialContract(before, offered, only, flow)
  return { ...whole, after: { type: before.type, content }, isAccepted: isAccepted(ownerOf(route.name)) }
}

/** The whole of what is offered. */
function acceptanceOf(route: Route, before: BaselineRow, offered: Pick<BaselineRow, 'type' | 'content'>): Acceptance {
  return { route, before, after: offered, offered, isAccepted: () => true }
}

function viewOf(baseline: BaselineRow, candidate: CandidateRow | undefined): BaselineView {
  return { baseline, candidate: candidate === undefined || candidate.digest === baseline.digest ? null : candidate }
}

function candidateOf(route: string, { type, content, digest }: OfferedContract, seenAt: number): CandidateRow {
  return { route, type, content, digest, seenAt }
}

/** The stored pin, else the source that the route names, else what is offered now. */
async function pin(
  route: Route,
  offered: OfferedContract,
  deps: BaselinesDeps,
  keep: (row: BaselineRow) => Promise<BaselineRow>,
): Promise<BaselineRow> {
  const stored = await deps.store.baseline(route.name, route.name)
  const source = route.contract?.baseline
  if (source === undefined) return stored ?? keep(rowOf(route.name, offered, 'first_use', 'first use', deps.now()))
  const terms = { repository: deps.settings().config.diff.repository, texts: deps.flow }
  // A named source is the operator's word: it replaces what was pinned before, but not a promotion made since.
  const isPromoted = stored?.source === 'promotion'
  if (stored !== null && isPromoted && !(await isNewer(source, stored.setAt, terms))) return stored
  const content = await readContractSource(source, terms, route.contract?.origins)
  const digest = contractDigest(content)
  const isConfirmed = stored?.digest === digest
  if (stored !== null && isConfirmed && !isExpired(route, stored, deps.now())) return stored
  const setBy = configuredBy(source)
  // What an address answers is not the operator's: another text there is a candidate, also after a restart.
  if (stored?.source === 'url' && 'url' in source && !isConfirmed && isSetBy(stored, setBy)) return stored
  const type = isConfirmed ? stored.type : offered.type
  return keep(rowOf(route.name, { type, content, digest }, sourceKind(source), setBy, deps.now()))
}

/** Who set a baseline that the configuration names. An address is told, so that another one in the configuration counts. */
function configuredBy(source: ContractSource): string {
  if (!('url' in source)) return BY_CONFIGURATION
  const { origin, pathname } = new URL(source.url)
  return `${BY_CONFIGURATION} (${origin}${pathname})`
}

const BY_CONFIGURATION = 'configuration'

function isSetBy(row: BaselineRow, setBy: string): boolean {
  return row.setBy === setBy || row.setBy === BY_CONFIGURATION
}

async function isInfoOnly(
  baseline: BaselineRow,
  offered: OfferedContract,
  flow: BaselinesDeps['flow'],
): Promise<boolean> {
  const comparison = await flow.compare(changeOf(baseline.route, baseline, offered), {})
  const worst = LEVELS.filter((level) => level !== 'info')
  if (!comparison.ok || comparison.value.unresolved.length > 0) return false
  return comparison.value.groups.every(({ level }) => !worst.some((name) => name === level))
}

function rowOf(
  route: string,
  contract: Pick<BaselineRow, 'type' | 'content' | 'digest'>,
  source: BaselineRow['source'],
  setBy: string,
  setAt: number,
): BaselineRow {
  const { type, content, digest } = contract
  return { route, artifactId: route, type, content, digest, source, setBy, setAt }
}
