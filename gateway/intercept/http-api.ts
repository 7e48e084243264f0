/**
 * Plain HTTP calls of an API that an OpenAPI contract describes. The operation called is found by method and path template, and
 * only changes that touch it, or the contract as a whole, decide. A call that the contract does not describe is judged by all.
 */
import { LRUCache } from 'lru-cache'
import { contractDigest, type Baselines, type OfferedContract } from '../baselines/baselines.ts'
import { readContractSource } from '../baselines/source.ts'
import type { RouteConfig } from '../config/route.ts'
import { ERRORS, GatewayError } from '../errors.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Violation } from '../validation/message.ts'
import type {
  Action,
  Answer,
  AnswerWatcher,
  Call,
  JudgedAction,
  Question,
  Recogniser,
  Refusal,
  Subject,
} from './action.ts'
import { isEnforced, type ApiConformance } from './api-conformance.ts'
import { overridesMethod } from './method-override.ts'
import { createOperationMatcher, readOperationsApart, type OperationMatcher } from './operations.ts'
import { httpRefusal, jsonAnswer } from './refusal.ts'

export interface HttpApiDeps {
  readonly baselines: Pick<Baselines, 'baselineFor'>
  readonly conformance: ApiConformance
  readonly logger: Logger
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
    needsBody: (head) => deps.conformance.needsBody(head),
    recognise: (call) =>
      call.route.validate === 'off' ? new ApiCallAction(call, current, null) : checked(call, current, deps),
  }
}

type Current = (route: RouteConfig) => Reading | Promise<Reading>

/** The call is held against the pinned contract before it is judged by what became of that contract. */
async function checked(call: Call, current: Current, deps: HttpApiDeps): Promise<Action> {
  const { baselines, conformance, logger } = deps
  const { route, correlationId } = call
  try {
    const { contract } = await current(route)
    const pinned = await baselines.baselineFor(route, contract)
    const violations = await conformance.ofRequest(call, pinned)
    if (violations !== null && isEnforced(route)) return violating(call, violations)
    if (violations !== null)
      logger.warn(
        { correlation_id: correlationId, route: route.name, violations },
        'a call violates the pinned contract',
      )
    return new ApiCallAction(call, current, () => conformance.watchAnswer(call, pinned))
  } catch (error) {
    if (isEnforced(route)) return new ApiCallAction(call, () => Promise.reject(uncheckable(route, error)), null)
    logger.warn(
      { err: error, correlation_id: correlationId, route: route.name },
      'a call could not be held against the contract',
    )
    return new ApiCallAction(call, current, null)
  }
}

function uncheckable({ name }: RouteConfig, cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause
  const why = cause instanceof Error ? cause.message : 'unknown'
  return new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `The call could not be held against the contract of route "${name}": ${why}.`,
    { cause },
  )
}

function violating({ correlationId, method, upstreamPath }: Call, violations: readonly Violation[]): Action {
  const code = 'CONTRACT_VIOLATION'
  const listed = violations.map(({ where, message }) => `${where} ${message}`).join('; ')
  const name = `${method} ${upstreamPath.split('?', 1)[0] ?? ''}`
  const message = `${ERRORS[code].message} ${listed}. Correct the call by the contract; sent again as it is, it is refused again.`
  const details = violations.map(({ where, message: what }) => ({ pointer: where, message: what }))
  const answer = jsonAnswer(
    ERRORS[code].status,
    { error: code, message, correlation_id: correlationId, details },
    { 'Preflight-Action': 'STOP' },
  )
  return { kind: 'refuse', name, answer, why: 'it violates the pinned contract' }
}

class ApiCallAction implements JudgedAction {
  readonly kind = 'judge'
  readonly #call: Call
  readonly #current: Current
  readonly #watchAnswer: (() => AnswerWatcher) | null

  constructor(call: Call, current: Current, watchAnswer: (() => AnswerWatcher) | null) {
    this.#call = call
    this.#current = current
    this.#watchAnswer = watchAnswer
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
    return this.#watchAnswer?.() ?? null
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
