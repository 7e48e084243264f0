/**
 * The contract that a route's upstream offers now, from its configured source and no older than `contract.refresh`. It
 * comes with the index by which the protocol's recogniser finds the operation of a call.
 */
import { LRUCache } from 'lru-cache'
import type { ArtifactType } from '../../../engine/internal.ts'
import { contractDigest, type BaselineText, type OfferedContract } from '../../baselines/baselines.ts'
import type { Route } from '../../routing/route.ts'
import type { ContractSource } from '../../routing/route.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { Metrics } from '../../telemetry/metrics.ts'

/** A contract and the index of its operations. */
export interface IndexedContract<Index> {
  readonly contract: OfferedContract
  readonly index: Index
}

export interface CurrentContracts<Index> {
  /**
   * At most `contract.refresh` old; a promise where it has to be read. Rejects with PREFLIGHT_UNDECIDED.
   * @param asked where it is not read from a configured source
   */
  of(route: Route, asked?: AskedContract): IndexedContract<Index> | Promise<IndexedContract<Index>>
  /** The index of a text, for example a pinned one; kept by its digest. Rejects with PREFLIGHT_UNDECIDED. */
  indexOf(route: Route, text: BaselineText): Promise<Index>
}

/** A contract that is requested from the upstream itself for a call. */
interface AskedContract {
  /** Who the answer is for: one caller may be offered another contract than the next. */
  readonly key: string
  readonly ask: () => Promise<string>
}

export interface CurrentContractDeps {
  readonly metrics: Metrics
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** The complete text of a configured source, with files of the route's `contract.origins`. */
  readonly readSource: (source: ContractSource, route: Route) => Promise<string>
}

interface ContractView<Index> {
  reading: IndexedContract<Index> | null
  readAt: number
  underWay: Promise<IndexedContract<Index>> | null
}

const DEFAULT_REFRESH_SECONDS = 60
/** Maximum number of contracts that are kept. */
const MAX_KEPT = 64
/** Maximum number of callers of one route with separate contracts. */
const MAX_VIEWS = 1000

/** @param read the index of a text; rejects when the text is not such a contract */
export function createCurrentContracts<Index extends object>(
  type: ArtifactType,
  read: (text: string) => Promise<Index>,
  { metrics, now, readSource }: CurrentContractDeps,
): CurrentContracts<Index> {
  const views = new WeakMap<Route, LRUCache<string, ContractView<Index>>>()
  const byDigest = new LRUCache<string, IndexedContract<Index>>({ max: MAX_KEPT })

  const viewOf = (route: Route, key: string): ContractView<Index> => {
    const ofRoute = views.get(route) ?? new LRUCache<string, ContractView<Index>>({ max: MAX_VIEWS })
    views.set(route, ofRoute)
    const view = ofRoute.get(key) ?? { reading: null, readAt: 0, underWay: null }
    ofRoute.set(key, view)
    return view
  }
  const readingOf = async (route: Route, { content, digest }: BaselineText): Promise<IndexedContract<Index>> => {
    const known = byDigest.get(digest)
    if (known !== undefined) return known
    const contract = { type, content, digest: contractDigest(content) }
    const reading = { contract, index: await indexed(route, content, read) }
    byDigest.set(digest, reading)
    return reading
  }
  const look = async (route: Route, asked: AskedContract | undefined): Promise<IndexedContract<Index>> => {
    if (asked !== undefined) return readingOf(route, textOf(await asked.ask()))
    const source = route.contract?.current
    if (source === undefined)
      throw new GatewayError(
        'PREFLIGHT_UNDECIDED',
        `Route "${route.name}" names no contract.current to judge its calls by.`,
      )
    const content = await readSource(source, route)
    return readingOf(route, textOf(content))
  }
  const refresh = (
    route: Route,
    view: ContractView<Index>,
    asked: AskedContract | undefined,
  ): Promise<IndexedContract<Index>> => {
    view.underWay ??= look(route, asked)
      .then((reading) => {
        const result = view.reading === null || view.reading === reading ? 'unchanged' : 'changed'
        metrics.count('preflight_contract_refreshes_total', { route: route.name, result })
        Object.assign(view, { reading, readAt: now() })
        return reading
      })
      .catch((error: unknown) => {
        metrics.count('preflight_contract_refreshes_total', { route: route.name, result: 'failed' })
        throw error
      })
      .finally(() => {
        view.underWay = null
      })
    return view.underWay
  }

  return {
    of(route, asked) {
      const view = viewOf(route, asked?.key ?? '')
      const refreshMs = (route.contract?.refresh ?? DEFAULT_REFRESH_SECONDS) * 1000
      return view.reading !== null && now() - view.readAt < refreshMs ? view.reading : refresh(route, view, asked)
    },
    indexOf: async (route, text) => (await readingOf(route, text)).index,
  }
}

function textOf(content: string): BaselineText {
  return { content, digest: contractDigest(content) }
}

async function indexed<Index>(route: Route, content: string, read: (text: string) => Promise<Index>): Promise<Index> {
  try {
    return await read(content)
  } catch (error) {
    throw new GatewayError('PREFLIGHT_UNDECIDED', `The contract of route "${route.name}" cannot be read.`, {
      cause: error,
    })
  }
}
