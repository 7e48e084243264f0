/**
 * The first contract of a route, pinned as its baseline: the stored pin, the source that the route names, or the present
 * offer.
 */
import { digestText } from '../../engine/base.ts'
import { isNewer, readContractSource, sourceKind } from '../documents/contract-source.ts'
import type { Flow } from '../flow/flow.ts'
import type { ContractSource, Route } from '../routing/route.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { BaselineRow } from '../store/baselines.ts'
import type { StorePart } from '../store/store.ts'
import type { BaselinesConfig } from './settings.ts'
import { GatewayError } from '../errors/errors.ts'

type PinnedContract = Pick<BaselineRow, 'type' | 'content' | 'digest'>

interface PinningDeps {
  readonly settings: () => { readonly config: Pick<BaselinesConfig, 'diff'> }
  readonly flow: Pick<Flow, 'fileReferences' | 'bundle'>
  readonly store: StorePart<'baselines.byRoute'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** The stored pin, else the source that the route names, else the present offer. */
export async function pinOf(
  route: Route,
  offered: PinnedContract,
  deps: PinningDeps,
  keep: (row: BaselineRow, over: string | null) => Promise<BaselineRow>,
): Promise<BaselineRow> {
  const stored = await deps.store.baselines.byRoute(route.name, route.name)
  const source = route.contract?.baseline
  if (source === undefined) {
    const first = { source: 'first_use', setBy: FIRST_USE, setAt: deps.now() } as const
    return stored ?? keep(baselineRow(route.name, offered, first), null)
  }
  const terms = { repository: deps.settings().config.diff.repository, texts: deps.flow }
  // The operator named this source: it replaces an earlier pin, but not a promotion made since.
  const isPromoted = stored?.source === 'promotion'
  if (stored !== null && isPromoted && !(await isNewer(source, stored.setAt, terms))) return stored
  const content = await readContractSource(source, terms, route.contract?.origins)
  const digest = digestText(content, sha256Hex)
  const isConfirmed = stored?.digest === digest
  if (stored !== null && isConfirmed && !isExpired(route, stored, deps.now())) return stored
  const setBy = configuredBy(source)
  // The operator does not control what an address returns: a new text there is a candidate, also after a restart.
  if (stored?.source === 'url' && 'url' in source && !isConfirmed && isSetBy(stored, setBy)) return stored
  const type = isConfirmed ? stored.type : offered.type
  return keep(
    baselineRow(route.name, { type, content, digest }, { source: sourceKind(source), setBy, setAt: deps.now() }),
    stored?.digest ?? null,
  )
}

/**
 * Who set a baseline that the configuration names. It contains the address, so that another address in the configuration
 * counts.
 */
function configuredBy(source: ContractSource): string {
  if (!('url' in source)) return BY_CONFIGURATION
  const { origin, pathname } = new URL(source.url)
  return `${BY_CONFIGURATION} (${origin}${pathname})`
}

export const BY_CONFIGURATION = 'configuration'
export const FIRST_USE = 'first use'
/** A route with `auto_promote: info` promoted it. */
export const AUTO_PROMOTED = 'auto_promote: info'

function isSetBy(row: BaselineRow, setBy: string): boolean {
  return row.setBy === setBy || row.setBy === BY_CONFIGURATION
}

export function promotedRow(route: string, contract: PinnedContract, setBy: string, setAt: number): BaselineRow {
  return baselineRow(route, contract, { source: 'promotion', setBy, setAt })
}

/** A baseline of a route as it is stored. */
function baselineRow(
  route: string,
  { type, content, digest }: PinnedContract,
  set: Pick<BaselineRow, 'source' | 'setBy' | 'setAt'>,
): BaselineRow {
  return { route, artifactId: route, type, content, digest, ...set }
}

/** It was confirmed longer ago than `contract.max_age`: calls are not forwarded on it. */
export function isExpired({ contract }: Route, { setAt }: Pick<BaselineRow, 'setAt'>, now: number): boolean {
  const maxAge = contract?.max_age
  return maxAge !== undefined && now - setAt > maxAge * 1000
}

/** @throws GatewayError PREFLIGHT_UNDECIDED */
export function assertFresh(route: Route, baseline: BaselineRow, now: number): void {
  if (!isExpired(route, baseline, now)) return
  const since = new Date(baseline.setAt).toISOString()
  throw new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `The baseline of "${route.name}" was last confirmed ${since}, longer ago than contract.max_age allows (${route.contract?.max_age} seconds). ` +
      `Review it, then confirm it: preflight baselines promote ${route.name} ${baseline.digest}`,
  )
}
