/**
 * What every request passes before the pipeline of a call: HTTP checks, one reading of its destination, authentication,
 * and the egress policy. Ends with the pipeline of a route, with an unjudged request that egress allows, or with a
 * refusal.
 */
import { performance } from 'node:perf_hooks'
import { EGRESS_ROUTE } from '../upstream/egress-record.ts'
import type { Route } from '../routing/route.ts'
import type { Egress } from '../upstream/egress-policy.ts'
import { originOf } from '../network/authority.ts'
import { expectationProblem } from '../listen/http-listener.ts'
import type { Recogniser } from '../protocols/common/action.ts'
import type { Caller } from '../callers/rights.ts'
import type { ListenSettingsInForce } from '../listen/settings.ts'
import type { Store, StorePart } from '../store/store.ts'
import { destinationOf, type InboundConnection } from '../listen/connection.ts'
import { recordDenial, type EgressRecordDeps } from '../upstream/egress-record.ts'
import { forward, sentHeadOf } from './forward.ts'
import { ANYBODY, PROXY_CHALLENGE, proxyCaller, stillCaller } from '../callers/proxy-auth.ts'
import { isOutdated } from './enforcement.ts'
import { readmission, runPipeline, type PipelineDeps } from './pipeline.ts'
import { takesEncodedSlashes } from '../protocols/settings.ts'
import { spellingProblem } from '../routing/path-ambiguity.ts'
import {
  headProblem,
  versionProblem,
  matchNamed,
  matchRoute,
  namedRoutes,
  namesHost,
  reverseRoutes,
  sizeProblem,
  slashProblem,
  type NamedDestination,
} from '../routing/target.ts'
import { errorReply, faultReply, type Readmission, type Reply, type RequestContext } from '../listen/request-context.ts'
import type { UpstreamRoute } from '../upstream/pools.ts'

export interface AdmissionDeps extends EgressRecordDeps {
  readonly pipeline: PipelineDeps
  readonly store: StorePart<'calls.record' | 'apiKeys.byHash'> & Pick<Store, 'changes'>
  readonly egressOf: (settings: Pick<ListenSettingsInForce, 'config'>) => Egress
}

/** Null: nothing is left to answer. */
export type Admission = Reply | Readmission | null

/** Forwards a request, or returns what answers it, or that it is to be admitted again. */
export function admit(
  context: RequestContext,
  inbound: InboundConnection,
  deps: AdmissionDeps,
): Promise<Admission> | Reply {
  const { request } = context
  const excess = sizeProblem(request.url ?? '', request.rawHeaders)
  if (excess !== null) return errorReply(context, excess)
  const problem =
    versionProblem(request) ?? headProblem(request.rawHeaders, request.headers) ?? expectationProblem(request)
  if (problem !== null) return errorReply(context, 'INVALID_INPUT', problem)
  const destination = destinationOf(request, inbound)
  if (destination.kind === 'refused') return errorReply(context, destination.code, destination.message)
  if (request.method === 'TRACE') return errorReply(context, 'METHOD_NOT_ALLOWED', 'TRACE is not forwarded.')
  return destination.kind === 'gateway'
    ? admitToRoute(context, destination, deps)
    : admitCaller(context, inbound, destination, deps)
}

async function admitCaller(
  context: RequestContext,
  inbound: InboundConnection,
  destination: NamedDestination,
  deps: AdmissionDeps,
): Promise<Admission> {
  const caller = await admittedCaller(context, inbound, deps)
  if (caller === null) return errorReply(context, 'PROXY_AUTHENTICATION_REQUIRED', undefined, PROXY_CHALLENGE)
  return admitToDestination({ ...context, caller }, destination, deps)
}

function admitToRoute(
  context: RequestContext,
  { host, target }: { readonly host: string; readonly target: string },
  deps: AdmissionDeps,
): Promise<Admission> | Reply {
  const { routes } = context.settings.config
  const match = matchRoute(routes, host, target)
  const route = match?.route ?? null
  const problem =
    slashProblem(target, takesEncodedSlashes(route)) ??
    spellingProblem(target, route, routes, () => reverseRoutes(routes, host))
  if (problem !== null) return problemReply(context, problem, route, deps)
  if (match !== null) return runPipeline(context, match, deps.pipeline)
  return errorReply(
    context,
    'NOT_FOUND',
    `No route of the gateway matches this host and path.${API_PATH.test(target) ? API_ELSEWHERE : ''}`,
  )
}

/** Beginnings of paths of the gateway's API: a client has the wrong port. */
const API_PATH = /^\/(?:api|mcp|console|schemas|\.well-known|openapi\.json)(?:[/?]|$)/
const API_ELSEWHERE = ' If the API of the gateway is meant, it has an address of its own (listen.api).'

/** A target with more than one reading, in the error form of the route that would take it. */
function problemReply(context: RequestContext, message: string, route: Route | null, deps: AdmissionDeps): Reply {
  const { headers } = context.request
  return faultReply(context, { code: 'INVALID_INPUT', message }, recogniserOf(route, deps), { headers, body: null })
}

function recogniserOf(route: Route | null, { pipeline }: AdmissionDeps): Recogniser | null {
  return route === null ? null : pipeline.recognisers[route.protocol]
}

/**
 * Callers inside a CONNECT were authenticated when it was opened; the credentials must still be valid. Redirected
 * connections cannot carry any.
 */
async function admittedCaller(
  context: RequestContext,
  inbound: InboundConnection,
  { store, now }: AdmissionDeps,
): Promise<Caller | null> {
  if (inbound.kind === 'connect') return stillCaller(inbound.holder, context.settings, store, now())
  return inbound.kind === 'redirect' ? ANYBODY : proxyCaller(context.request.headers, context.settings, store, now())
}

async function admitToDestination(
  context: RequestContext,
  destination: NamedDestination,
  deps: AdmissionDeps,
): Promise<Admission> {
  const { routes } = context.settings.config
  const match = matchNamed(routes, destination)
  const route = match?.route ?? null
  const problem =
    slashProblem(destination.target, takesEncodedSlashes(route)) ??
    spellingProblem(destination.target, route, routes, () => namedRoutes(routes, destination.authority))
  if (problem !== null) return problemReply(context, problem, route, deps)
  // The operator names an upstream in the configuration: the call does not go where the request says.
  const isElsewhere = match?.route.upstream !== undefined
  const denial = isElsewhere ? null : deps.egressOf(context.settings).denialOf(destination.authority, match !== null)
  if (denial !== null) {
    const { trafficPath, authority } = destination
    const { request, caller, observation } = context
    const { correlationId } = observation
    await recordDenial({ trafficPath, authority, caller, correlationId, method: request.method ?? 'GET' }, denial, deps)
    const fault = { code: 'EGRESS_DENIED', message: denial.message } as const
    return faultReply(context, fault, recogniserOf(route, deps), { headers: request.headers, body: null })
  }
  return match === null ? passUnjudged(context, destination, deps) : runPipeline(context, match, deps.pipeline)
}

/** A request that no route names and egress allows: forwarded as it is, and counted. */
async function passUnjudged(
  context: RequestContext,
  destination: NamedDestination,
  deps: AdmissionDeps,
): Promise<Admission> {
  const { trafficPath, scheme, authority, target } = destination
  const sibling = context.settings.config.routes.find((route) => namesHost(route, authority.host))
  const origin = originOf(scheme, authority)
  const { method = 'GET' } = context.request
  const { caller, observation } = context
  const { correlationId } = observation
  const route = unrouted(sibling)
  observation.route = EGRESS_ROUTE
  observation.protocol = route.protocol
  observation.origin = origin
  observation.outcome = 'passed'
  const { headers, rawHeaders } = sentHeadOf(context, { trafficPath, origin, route })
  deps.metrics.count('preflight_calls_total', { route: EGRESS_ROUTE, outcome: 'passed' })
  const call = {
    trafficPath,
    route,
    origin,
    upstreamPath: target,
    caller,
    correlationId,
    observation,
    method,
    headers,
    rawHeaders,
    received: context.request,
    body: context.body ?? null,
  }
  const own = ['X-Correlation-ID', correlationId]
  const startedAt = performance.now()
  const maySend = (): boolean => !isOutdated(context.settings, deps.pipeline)
  const forwarding = { verdicts: [], headers: own, watcher: null, isStanding: false, maySend, recogniser: null }
  const forwarded = await forward(context, call, forwarding, deps.pipeline)
  if (forwarded === null) return readmission(context, call, context.held)
  const { end, reply } = forwarded
  deps.logger.debug(
    {
      event: 'proxy.unrouted_forwarded',
      correlation_id: correlationId,
      trafficPath,
      origin,
      status: end.status,
      ms: performance.now() - startedAt,
    },
    'request without a route forwarded',
  )
  return reply
}

/** A route outside the configuration, under which such calls are counted. */
const UNROUTED: UpstreamRoute = {
  name: EGRESS_ROUTE,
  protocol: 'http',
  upstream_protocol: 'http1',
  timeout: { connect: 10, headers: 60, idle: 0 },
  tls: {},
}

/** Other paths of a host that a route names are reached as that route reaches it: same timeouts, same trust. */
function unrouted(sibling: Route | undefined): UpstreamRoute {
  if (sibling === undefined) return UNROUTED
  const { upstream_protocol, timeout, tls } = sibling
  return { ...UNROUTED, upstream_protocol, timeout, tls }
}
