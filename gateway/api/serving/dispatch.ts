/**
 * One API request from start to end: origin, route, caller, input, the route's answer. An error at any step becomes an answer
 * too.
 */
import type { IncomingMessage } from 'node:http'
import Negotiator from 'negotiator'
import { GatewayError } from '../../errors/errors.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import { readJsonBody } from './body.ts'
import { assertEnvelopes, errorAnswer } from '../error-answer.ts'
import { identify, requireAccess } from '../identity.ts'
import { refuseForeignPages } from '../../network/origin.ts'
import { showMonthly, strangersLimits, takeMonthly, type MinuteRate } from '../quota.ts'
import {
  producedBy,
  withIgnored,
  type RouteAnswer,
  type RouteExchange,
  type ApiRoute,
  type RouteDeps,
} from '../route.ts'
import type { ApiRouteMatch, RouteTable } from './route-table.ts'
import type { Observation } from '../../telemetry/observation.ts'
import { checkBody, checkQuery } from '../validation.ts'

export interface Dispatched {
  readonly answer: RouteAnswer
  /** Template of the route, for metrics; `unmatched` when there is none. */
  readonly endpoint: string
  /** Rate headers; they are sent with errors too. */
  readonly headers: Readonly<Record<string, string>>
}

export interface DispatchDeps extends RouteDeps {
  readonly table: RouteTable
  readonly rate: MinuteRate
}

/** Never rejects. */
export async function dispatch(
  request: IncomingMessage,
  observation: Observation,
  signal: AbortSignal,
  deps: DispatchDeps,
): Promise<Dispatched> {
  const { correlationId } = observation
  const headers: Record<string, string> = {}
  let endpoint = 'unmatched'
  try {
    refuseForeignPages(request, deps.settings().config.public_url)
    const match = deps.table.find(request.method ?? 'GET', request.url ?? '/')
    endpoint = match.path
    const answer = await runRoute(match, { request, observation, correlationId, signal, headers }, deps)
    assertEnvelopes(answer)
    return { answer, endpoint, headers }
  } catch (error) {
    return { answer: errorAnswer(error, observation.correlationId, deps.logger), endpoint, headers }
  }
}

interface Inbound {
  readonly request: IncomingMessage
  readonly observation: Observation
  readonly correlationId: string
  readonly signal: AbortSignal
  /** Answer headers, filled step by step. */
  readonly headers: Record<string, string>
}

async function runRoute(match: ApiRouteMatch, inbound: Inbound, deps: DispatchDeps): Promise<RouteAnswer> {
  const { route } = match
  const { request, headers } = inbound
  const settings = deps.settings()
  const mediaType = negotiate(request, route)
  // Public routes work without the store: a verifier gets an answer, if only UNDECIDABLE, while the store is unreachable.
  const isAsked = route.access !== 'public' || route.keyOptional === true
  const caller = isAsked ? await identify(request.headers, deps.store, deps.now()) : null
  requireAccess(caller, route.access)
  if (route.counted !== true || caller === null) return handled(match, { ...inbound, caller, mediaType }, deps)
  Object.assign(headers, deps.rate.take(caller.hash, settings.config.rate.per_minute, deps.now()))
  try {
    return await handled(match, { ...inbound, caller, mediaType }, deps)
  } finally {
    await showMonth(caller, headers, deps)
  }
}

interface AdmittedRequest extends Inbound {
  readonly caller: ApiKey | null
  readonly mediaType: string
}

async function handled(
  { route, params, url }: ApiRouteMatch,
  inbound: AdmittedRequest,
  deps: DispatchDeps,
): Promise<RouteAnswer> {
  const { request, observation, headers, correlationId, signal, caller, mediaType } = inbound
  const settings = deps.settings()
  const throttle = (name: string, limit: number): void => {
    Object.assign(headers, deps.rate.take(name, limit, deps.now()))
  }
  const throttleStrangers: RouteExchange['throttleStrangers'] = (kind, limits, account) => {
    const stranger = { address: request.socket.remoteAddress, ...(account === undefined ? {} : { account }) }
    Object.assign(headers, deps.rate.takeEach(strangersLimits(kind, limits, stranger), deps.now()))
  }
  const query = checkQuery(route.query, url.searchParams)
  const body = await readRouteBody(inbound, route, caller, deps)
  const ignored = checkBody(route, body, settings)
  const exchange: RouteExchange = {
    settings,
    correlationId,
    observation,
    caller,
    body,
    query,
    params,
    mediaType,
    headers: request.headers,
    url: request.url ?? '/',
    signal,
    throttle,
    throttleStrangers,
    spend: () => spend(caller, headers, deps),
  }
  const answer = await route.handle(exchange, deps)
  // Gateways that share the store may hold what this changed in a cache for that long.
  if (route.method !== 'GET' && IN_FORCE_LATER.has(route.tag))
    headers['preflight-in-force-within'] = String(deps.store.changes.bound)
  return withIgnored(answer, route, ignored)
}

/** Tags of routes that change what calls on other gateways may do. */
const IN_FORCE_LATER: ReadonlySet<string> = new Set(['receipts', 'approvals', 'baselines', 'break-glass', 'accounts'])

/**
 * A body without a key is held in memory before the caller is known: there is room for a receipt with its envelope, not for
 * contracts.
 */
const STRANGERS_BODY = 4 * 1024 * 1024

async function readRouteBody(
  { request, observation, signal }: Inbound,
  route: ApiRoute,
  caller: ApiKey | null,
  { settings, flow, bodies }: DispatchDeps,
): Promise<unknown> {
  if (route.body === undefined) return undefined
  const { request_body: limit } = settings().config.limits
  return readJsonBody(request, {
    limit: caller === null ? Math.min(limit, STRANGERS_BODY) : limit,
    isKnown: caller !== null,
    optional: route.bodyOptional === true,
    readJson: (bytes) => {
      observation.readBytes = bytes.length
      return flow.readJson(bytes)
    },
    bodies,
    signal,
  })
}

async function spend(caller: ApiKey | null, headers: Record<string, string>, deps: DispatchDeps): Promise<void> {
  if (caller === null) return
  Object.assign(headers, await takeMonthly(caller, deps.settings().config.plans, deps.store, deps.now()))
}

/**
 * A replay and a refused request use no quota; their answers show the month all the same
 * (docs/reference/api.md#limits-and-rate-headers).
 */
async function showMonth(caller: ApiKey, headers: Record<string, string>, deps: DispatchDeps): Promise<void> {
  if (headers['X-RateLimit-Limit-Monthly'] !== undefined) return
  try {
    Object.assign(headers, await showMonthly(caller, deps.settings().config.plans, deps.store, deps.now()))
  } catch (error) {
    // The answer is sent without these headers: the store is unreachable, or the plan of the key no longer exists.
    if (!(error instanceof GatewayError)) throw error
  }
}

/** RFC 9110 §12.5.1: of the media types that the route produces, the one that the client prefers. */
function negotiate(request: IncomingMessage, route: ApiRoute): string {
  const produced = producedBy(route)
  const best = new Negotiator(request).mediaType([...produced])
  if (best === undefined) {
    throw new GatewayError('NOT_ACCEPTABLE', `This path produces ${produced.join(' or ')}.`)
  }
  return best
}
