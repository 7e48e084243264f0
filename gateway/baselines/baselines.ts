/**
 * The contract that a route's calls are judged against (wire.md §9): pinned whole, replaced only by an explicit act or, where
 * the route says so, by a change that is info only. A blocked candidate never becomes a baseline.
 */
import { digestText, EMPTY_CONTEXT, LEVELS, type ArtifactType, type Digest } from '../../engine/index.ts'
import type { RouteConfig } from '../config/route.ts'
import { GatewayError } from '../errors.ts'
import type { Authorization, AuthorizeRequest, Flow } from '../flow/flow.ts'
import { sha256Hex } from '../hash.ts'
import type { Settings } from '../settings.ts'
import type { BaselineRow, Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import { isNewer, readContractSource } from './source.ts'

/** The contract that an upstream offers now. */
export interface OfferedContract {
  readonly type: ArtifactType
  readonly content: string
  readonly digest: Digest
}

export interface BaselineView {
  readonly baseline: BaselineRow
  /** What the upstream was last seen to offer, when that is something else. */
  readonly candidate: { readonly digest: string; readonly seenAt: number } | null
}

export interface Baselines {
  /**
   * The baseline to judge a call by. The first contract seen is pinned (`first_use`) unless the route names a source;
   * an info-only change is promoted where the route allows it. Rejects with a GatewayError when there is no telling.
   */
  baselineFor(route: RouteConfig, offered: OfferedContract): Promise<BaselineRow>
  list(): Promise<readonly BaselineView[]>
  /**
   * Makes the candidate the baseline.
   * @param digest of the candidate that was reviewed: another one offered meanwhile is refused
   * @param by who promotes, for the record
   */
  promote(route: string, digest: string, by: string): Promise<BaselineRow>
}

/** What the road needs of a decision. */
export type IssuedDecision = Pick<Authorization, 'envelope' | 'token' | 'expiresAt' | 'approvalId'>

export interface BaselinesDeps {
  readonly settings: () => Pick<Settings, 'config' | 'generation'>
  readonly flow: Pick<Flow, 'compare'> & { authorize(request: AuthorizeRequest): Promise<IssuedDecision> }
  readonly store: Pick<Store, 'baseline' | 'baselines' | 'setBaseline'>
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

interface Candidate extends OfferedContract {
  readonly seenAt: number
}

/** Digest of a contract as baselines and verdicts name it. */
export function contractDigest(content: string): Digest {
  return digestText(content, sha256Hex)
}

export function createBaselines(deps: BaselinesDeps): Baselines {
  const pinned = new Map<string, BaselineRow>()
  const pinning = new Map<string, Promise<BaselineRow>>()
  const candidates = new Map<string, Candidate>()
  let generation = 0

  const keep = async (row: BaselineRow): Promise<BaselineRow> => {
    await deps.store.setBaseline(row)
    pinned.set(row.route, row)
    candidates.delete(row.route)
    deps.logger.info(
      { route: row.route, digest: row.digest, source: row.source, set_by: row.setBy },
      'a baseline was set',
    )
    return row
  }

  const pinnedFor = (route: RouteConfig, offered: OfferedContract): Promise<BaselineRow> => {
    if (generation !== deps.settings().generation) {
      // Another configuration can name another source.
      generation = deps.settings().generation
      pinned.clear()
    }
    const known = pinned.get(route.name)
    if (known !== undefined) return Promise.resolve(known)
    // Calls that come while the first one pins wait for it: two first contracts must not both win.
    const running = pinning.get(route.name)
    if (running !== undefined) return running
    const started = pin(route, offered, deps, keep).finally(() => pinning.delete(route.name))
    pinning.set(route.name, started)
    return started.then((row) => {
      pinned.set(route.name, row)
      return row
    })
  }

  return {
    async baselineFor(route, offered) {
      const baseline = await pinnedFor(route, offered)
      if (baseline.digest === offered.digest) {
        candidates.delete(route.name)
        return baseline
      }
      if (candidates.get(route.name)?.digest === offered.digest) return baseline
      candidates.set(route.name, { ...offered, seenAt: deps.now() })
      if (route.contract?.auto_promote !== 'info' || !(await isInfoOnly(baseline, offered, deps.flow))) return baseline
      return keep(rowOf(route.name, offered, 'promotion', 'auto_promote: info', deps.now()))
    },
    async list() {
      const rows = await deps.store.baselines()
      return rows.map((baseline) => {
        const candidate = candidates.get(baseline.route)
        return {
          baseline,
          candidate: candidate === undefined ? null : { digest: candidate.digest, seenAt: candidate.seenAt },
        }
      })
    },
    async promote(routeName, digest, by) {
      const { route, candidate } = promotable(routeName, digest, deps.settings, candidates)
      const baseline = await deps.store.baseline(routeName, routeName)
      if (baseline === null) throw new GatewayError('NOT_FOUND', `Route "${routeName}" has no baseline yet.`)
      await refuseBlocked(route, baseline, candidate, deps.flow)
      return keep(rowOf(routeName, candidate, 'promotion', by, deps.now()))
    },
  }
}

/** The stored pin, else the source that the route names, else what is offered now. */
async function pin(
  route: RouteConfig,
  offered: OfferedContract,
  deps: BaselinesDeps,
  keep: (row: BaselineRow) => Promise<BaselineRow>,
): Promise<BaselineRow> {
  const stored = await deps.store.baseline(route.name, route.name)
  const source = route.contract?.baseline
  if (source !== undefined) {
    // A named source is the operator's word: it replaces what was pinned before, but not a promotion made since.
    if (stored !== null && stored.source === 'promotion' && !(await isNewer(source, stored.setAt))) return stored
    const content = await readContractSource(source)
    const digest = contractDigest(content)
    if (stored?.digest === digest) return stored
    const kind = 'file' in source ? 'file' : 'url'
    return keep(rowOf(route.name, { type: offered.type, content, digest }, kind, 'configuration', deps.now()))
  }
  return stored ?? keep(rowOf(route.name, offered, 'first_use', 'first use', deps.now()))
}

async function isInfoOnly(
  baseline: BaselineRow,
  offered: OfferedContract,
  flow: BaselinesDeps['flow'],
): Promise<boolean> {
  const comparison = await flow.compare(artifactOf(baseline.route, baseline, offered), {})
  const worst = LEVELS.filter((level) => level !== 'info')
  return comparison.ok && comparison.value.groups.every(({ level }) => !worst.some((name) => name === level))
}

function promotable(
  routeName: string,
  digest: string,
  settings: BaselinesDeps['settings'],
  candidates: ReadonlyMap<string, Candidate>,
): { readonly route: RouteConfig; readonly candidate: Candidate } {
  const route = settings().config.routes.find(({ name }) => name === routeName)
  const candidate = candidates.get(routeName)
  if (route === undefined) throw new GatewayError('NOT_FOUND', `There is no route "${routeName}".`)
  if (candidate === undefined) {
    throw new GatewayError('NOT_FOUND', `Route "${routeName}" has no candidate: its upstream offers the baseline.`)
  }
  if (candidate.digest !== digest) {
    throw new GatewayError('APPROVAL_CONFLICT', 'The upstream offers another contract than the one reviewed.', {
      details: [{ pointer: '/digest', message: `The candidate now is ${candidate.digest}.` }],
    })
  }
  return { route, candidate }
}

/** Promotion is itself the review that a REQUIRE_APPROVAL asks for; a BLOCK can only be lifted by a waiver in the policy. */
async function refuseBlocked(
  route: RouteConfig,
  baseline: BaselineRow,
  candidate: Candidate,
  flow: BaselinesDeps['flow'],
): Promise<void> {
  const { envelope } = await flow.authorize({
    artifacts: [artifactOf(route.name, baseline, candidate)],
    context: {
      ...EMPTY_CONTEXT,
      operation: 'register',
      environment: route.environment ?? null,
      target_id: route.name,
    },
    caller: { tenant: 'local', audience: null },
    correlationId: `promote:${route.name}:${candidate.digest.slice(-12)}`,
    route: route.name,
    decisionSpecVersion: '2.0',
    previousReceipt: null,
    scope: null,
    idempotency: null,
    response: null,
  })
  if (envelope.execution_action !== 'STOP') return
  throw new GatewayError(
    'FORBIDDEN',
    `The candidate is blocked and does not become the baseline: ${envelope.summary} Waive the finding in the policy, or change the contract.`,
    {
      details: envelope.blocking_reasons.map(({ code, message }) => ({
        pointer: '/digest',
        message: `${code}: ${message}`,
      })),
    },
  )
}

function artifactOf(id: string, before: { readonly content: string }, after: OfferedContract) {
  return { id, type: after.type, before: before.content, after: after.content }
}

function rowOf(
  route: string,
  contract: OfferedContract,
  source: BaselineRow['source'],
  setBy: string,
  setAt: number,
): BaselineRow {
  return {
    route,
    artifactId: route,
    type: contract.type,
    content: contract.content,
    digest: contract.digest,
    source,
    setBy,
    setAt,
  }
}
