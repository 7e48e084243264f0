/**
 * Plain HTTP calls of an API that an OpenAPI contract describes. The operation called is found by method and path template, and
 * only changes that touch it, or the contract as a whole, decide. A call that the contract does not describe is judged by all.
 */
import { LRUCache } from 'lru-cache'
import { contractDigest, type OfferedContract } from '../baselines/baselines.ts'
import { readContractSource } from '../baselines/source.ts'
import type { RouteConfig } from '../config/route.ts'
import { GatewayError } from '../errors.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Answer, AnswerWatcher, Call, JudgedAction, Question, Recogniser, Refusal, Subject } from './action.ts'
import { overridesMethod } from './method-override.ts'
import { createOperationMatcher, readOperationsApart, type OperationMatcher } from './operations.ts'
import { httpRefusal } from './refusal.ts'

export interface HttpApiDeps {
  readonly metrics: Metrics
  readonly now: () => number
  /** Contracts shorter than this are read on the main thread. */
  readonly inlineBelow: () => number
  /** Where git sources are read. */
  readonly repository: () => string | undefined
}

interface Reading {
  readonly contract: OfferedContract
  readonly matcher: OperationMatcher
}

interface View {
  reading: Reading | null
  readAt: number
  underWay: Promise<Reading> | null
}

const DEFAULT_REFRESH_SECONDS = 60

export function createHttpApiRecogniser(deps: HttpApiDeps): Recogniser {
  const views = new WeakMap<RouteConfig, View>()
  const byDigest = new LRUCache<string, Reading>({ max: 64 })

  const read = async (route: RouteConfig): Promise<Reading> => {
    const source = route.contract?.current
    if (source === undefined) {
      throw new GatewayError(
        'PREFLIGHT_UNDECIDED',
        `Route "${route.name}" names no contract.current to judge its calls by.`,
      )
    }
    const content = await readContractSource(source, deps.repository())
    const digest = contractDigest(content)
    const known = byDigest.get(digest)
    if (known !== undefined) return known
    const reading = {
      contract: { type: 'openapi', content, digest } as const,
      matcher: await matcherOf(route, content, deps),
    }
    byDigest.set(digest, reading)
    return reading
  }
  const refresh = (route: RouteConfig, view: View): Promise<Reading> => {
    view.underWay ??= read(route)
      .then((reading) => {
        const result = view.reading === null || view.reading === reading ? 'unchanged' : 'changed'
        deps.metrics.count('preflight_contract_refreshes_total', { route: route.name, result })
        Object.assign(view, { reading, readAt: deps.now() })
        return reading
      })
      .catch((error: unknown) => {
        deps.metrics.count('preflight_contract_refreshes_total', { route: route.name, result: 'failed' })
        throw error
      })
      .finally(() => {
        view.underWay = null
      })
    return view.underWay
  }
  /** The contract as of at most `contract.refresh` ago. */
  const current = (route: RouteConfig): Reading | Promise<Reading> => {
    const view = views.get(route) ?? { reading: null, readAt: 0, underWay: null }
    views.set(route, view)
    const refreshMs = (route.contract?.refresh ?? DEFAULT_REFRESH_SECONDS) * 1000
    return view.reading !== null && deps.now() - view.readAt < refreshMs ? view.reading : refresh(route, view)
  }

  return {
    needsBody: () => false,
    recognise: (call) => new ApiCallAction(call, current),
  }
}

class ApiCallAction implements JudgedAction {
  readonly kind = 'judge'
  readonly #call: Call
  readonly #current: (route: RouteConfig) => Reading | Promise<Reading>

  constructor(call: Call, current: (route: RouteConfig) => Reading | Promise<Reading>) {
    this.#call = call
    this.#current = current
  }

  get name(): string {
    return subjectOf(this.#call, null).name
  }

  async gather(): Promise<readonly Question[]> {
    const { contract, matcher } = await this.#current(this.#call.route)
    const ground = { kind: 'contract', offered: contract, isCovered: () => true } as const
    return [{ subject: subjectOf(this.#call, matcher), ground }]
  }

  watch(): AnswerWatcher | null {
    return null
  }

  refuse(refusal: Refusal): Answer {
    return httpRefusal(refusal)
  }
}

/** Without a match the whole contract decides: the stricter of the two. */
function subjectOf(call: Call, matcher: OperationMatcher | null): Subject {
  const [path = '/'] = call.upstreamPath.split('?', 1)
  // Which operation a method stated twice is, only the upstream knows.
  const operation = overridesMethod(call) ? null : (matcher?.match(call.method, path) ?? null)
  if (operation === null) return { name: `${call.method} ${path}`, target: call.route.name, scope: null }
  const name = `${operation.method} ${operation.path}`
  return { name, target: `${call.route.name}/${name}`, scope: operation }
}

async function matcherOf(route: RouteConfig, content: string, deps: HttpApiDeps): Promise<OperationMatcher> {
  try {
    return createOperationMatcher(await readOperationsApart(content, deps.inlineBelow()))
  } catch (error) {
    throw new GatewayError('PREFLIGHT_UNDECIDED', `The contract of route "${route.name}" cannot be read.`, {
      cause: error,
    })
  }
}
