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
  deps: CurrentContractDeps,
): CurrentContracts<Index> {
  return new RefreshedContracts(type, read, deps)
}

class RefreshedContracts<Index extends object> implements CurrentContracts<Index> {
  readonly #type: ArtifactType
  readonly #read: (text: string) => Promise<Index>
  readonly #deps: CurrentContractDeps
  readonly #views = new WeakMap<Route, LRUCache<string, ContractView<Index>>>()
  readonly #byDigest = new LRUCache<string, IndexedContract<Index>>({ max: MAX_KEPT })

  constructor(type: ArtifactType, read: (text: string) => Promise<Index>, deps: CurrentContractDeps) {
    this.#type = type
    this.#read = read
    this.#deps = deps
  }

  of(route: Route, asked?: AskedContract): IndexedContract<Index> | Promise<IndexedContract<Index>> {
    const view = this.#viewOf(route, asked?.key ?? '')
    const refreshMs = (route.contract?.refresh ?? DEFAULT_REFRESH_SECONDS) * 1000
    return view.reading !== null && this.#deps.now() - view.readAt < refreshMs
      ? view.reading
      : this.#refresh(route, view, asked)
  }

  async indexOf(route: Route, text: BaselineText): Promise<Index> {
    return (await this.#readingOf(route, text)).index
  }

  #viewOf(route: Route, key: string): ContractView<Index> {
    const ofRoute = this.#views.get(route) ?? new LRUCache<string, ContractView<Index>>({ max: MAX_VIEWS })
    this.#views.set(route, ofRoute)
    const view = ofRoute.get(key) ?? { reading: null, readAt: 0, underWay: null }
    ofRoute.set(key, view)
    return view
  }

  #refresh(route: Route, view: ContractView<Index>, asked: AskedContract | undefined): Promise<IndexedContract<Index>> {
    const { metrics, now } = this.#deps
    const count = (result: 'unchanged' | 'changed' | 'failed'): void =>
      metrics.count('preflight_contract_refreshes_total', { route: route.name, result })
    // A contract is as old as the request for it.
    const readAt = now()
    view.underWay ??= this.#look(route, asked)
      .then((reading) => {
        count(view.reading === null || view.reading === reading ? 'unchanged' : 'changed')
        Object.assign(view, { reading, readAt })
        return reading
      })
      .catch((error: unknown) => {
        count('failed')
        throw error
      })
      .finally(() => {
        view.underWay = null
      })
    return view.underWay
  }

  async #look(route: Route, asked: AskedContract | undefined): Promise<IndexedContract<Index>> {
    if (asked !== undefined) return this.#readingOf(route, baselineText(await asked.ask()))
    const source = route.contract?.current
    if (source === undefined)
      throw new GatewayError(
        'PREFLIGHT_UNDECIDED',
        `Route "${route.name}" names no contract.current to judge its calls by.`,
      )
    return this.#readingOf(route, baselineText(await this.#deps.readSource(source, route)))
  }

  async #readingOf(route: Route, { content, digest }: BaselineText): Promise<IndexedContract<Index>> {
    const known = this.#byDigest.get(digest)
    if (known !== undefined) return known
    const contract = { type: this.#type, content, digest: contractDigest(content) }
    const reading = { contract, index: await indexed(route, content, this.#read) }
    this.#byDigest.set(digest, reading)
    return reading
  }
}

function baselineText(content: string): BaselineText {
  return { content, digest: contractDigest(content) }
}

async function indexed<Index>(route: Route, content: string, read: (text: string) => Promise<Index>): Promise<Index> {
  try {
    return await read(content)
  } catch (error) {
    throw new GatewayError(
      'PREFLIGHT_UNDECIDED',
      `The contract of route "${route.name}" cannot be read; the log has the cause.`,
      {
        cause: error,
      },
    )
  }
}
