/**
 * ext_authz: another proxy checks whether it may forward a request. The same routes, judge and ledger rows apply as for
 * the gateway's own listeners. The other proxy forwards the request, so the gateway cannot see the outcome.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { Route } from '../routing/route.ts'
import { readAuthority, type Scheme, DEFAULT_PORTS } from '../network/authority.ts'
import { ERRORS, GatewayError, type ErrorCode } from '../errors/errors.ts'
import type { JudgedAction, PassingAction, Refusal } from '../protocols/common/action.ts'
import { joinStatedTrace } from '../protocols/mcp/meta-trace.ts'
import type { Answer } from '../calls/answer.ts'
import type { Call, CallHead } from '../calls/call.ts'
import { httpRefusal, jsonAnswer } from '../protocols/common/refusal.ts'
import { headOfProxy, attachedTokens, namedAway } from '../upstream/headers.ts'
import { ANYBODY, callerOn } from '../callers/proxy-auth.ts'
import { resultFor } from '../enforce/pipeline.ts'
import type { Pipeline } from '../enforce/pipeline-setup.ts'
import { coversUpgrade, letOn, unjudgedUpgrade } from '../enforce/refusals.ts'
import { isOutdated, MOST_ADMISSIONS, type ForwardResult } from '../enforce/enforcement.ts'
import { enforceUnlessCancelled } from './cancellable-check.ts'
import { OTHER_PATH_FIELDS } from '../routing/field-name.ts'
import { spellingProblem } from '../routing/path-ambiguity.ts'
import {
  headProblem,
  matchNamed,
  matchRoute,
  namedRoutes,
  reverseRoutes,
  slashProblem,
  targetProblem,
  type RouteMatch,
} from '../routing/target.ts'
import { takesEncodedSlashes } from '../protocols/settings.ts'
import { namesHttpAgain, possibleSwitch } from '../upstream/upgrade.ts'
import type { PendingWait } from '../enforce/pending-calls.ts'
import type { ListenSettingsInForce } from '../listen/settings.ts'
import type { Observation } from '../telemetry/observation.ts'
import type { Observer } from '../telemetry/observer.ts'
import { withTrace, traceMember } from '../telemetry/trace-context.ts'
import { callName } from '../protocols/common/request-line.ts'

/** The request to check, as the other proxy describes it. */
export interface CheckedRequest {
  readonly correlationId: string
  readonly scheme: Scheme
  readonly method: string
  readonly host: string
  /** Path and query, byte for byte. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly body: AskedBody
  /**
   * True when the calling proxy removes the fields that the answer lists. Only Envoy does; others forward what a client
   * wrote.
   */
  readonly takesFieldsOff: boolean
  /**
   * True when a refusal needs an HTTP error status. Callers read a refusal with a 2xx status, as MCP has, as an
   * approval.
   */
  readonly needsStatus: boolean
}

/**
 * `absent`: no body was sent, and nothing states that the request has none. `partial`: the other proxy truncated it.
 * `unexpected`: the request has a body, and its method gives it no meaning.
 */
export interface AskedBody {
  readonly kind: 'whole' | 'partial' | 'absent' | 'unexpected'
  /** Of a body that is not whole, the first ones, as far as they are known. */
  readonly bytes: Buffer
}

/** Envoy sends `false` with a complete body; any other value promises nothing. */
export function isPartial({ 'x-envoy-auth-partial-body': partial }: IncomingHttpHeaders): boolean {
  return partial !== undefined && partial !== 'false'
}

/** Methods are in capitals in practice (RFC 9110 §9.1). */
const METHOD = /^[A-Z][A-Z-]{0,19}$/

export type CheckVerdict =
  | {
      readonly kind: 'allow'
      /** Fields for the forwarded request, one pair each; each replaces what the client sent under that name. */
      readonly upstream: readonly (readonly [name: string, value: string])[]
      /** Fields that only the gateway may set, to be removed from the request. */
      readonly remove: readonly string[]
      /** For the answer: name, value, name, value … */
      readonly headers: readonly string[]
      readonly readAnswer: ReadAnswer
    }
  | { readonly kind: 'deny'; readonly answer: Answer; readonly headers: readonly string[] }
  /** The calling proxy has disconnected. */
  | { readonly kind: 'gone' }

/** The answer to a forwarded request, where the calling proxy shows it. */
interface ShownAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Null: it is not shown. */
  readonly body: Buffer | null
}

/** Reads the answer as the proxy would, and reports the outcome of the call. Called once at most. */
export type ReadAnswer = (answer: ShownAnswer) => Promise<void>

export interface AuthzDeps {
  readonly settings: () => ListenSettingsInForce
  readonly pipeline: Pipeline
  readonly observer: Pick<Observer, 'begin' | 'join' | 'end'>
}

const OWN_FIELDS = ['preflight-receipt', 'preflight-decision'] as const

/** Never rejects because of the content of the check. */
export async function answerCheck(
  authzRequest: CheckedRequest,
  waiting: PendingWait,
  deps: AuthzDeps,
): Promise<CheckVerdict> {
  const observation = deps.observer.begin(authzRequest)
  try {
    return await withTrace(observation.trace, () =>
      underSettingsInForce((context) => checkRequest(authzRequest, waiting, context), observation, deps),
    )
  } finally {
    deps.observer.end(observation)
  }
}

/** As `answerCheck`, for a calling proxy that names the route. @param matchIn the route in the settings in force */
export async function answerOnRoute(
  authzRequest: CheckedRequest,
  matchIn: (settings: ListenSettingsInForce) => RouteMatch | null,
  waiting: PendingWait,
  deps: AuthzDeps,
): Promise<CheckVerdict> {
  const observation = deps.observer.begin(authzRequest)
  const { correlationId } = authzRequest
  const problem = headProblem(authzRequest.rawHeaders, authzRequest.headers)
  const attempt: Attempt = (context) => {
    const match = matchIn(context.settings)
    return match === null ? noRouteVerdict(correlationId) : answerCall(authzRequest, match, waiting, context)
  }
  try {
    return await withTrace(observation.trace, () =>
      problem === null
        ? underSettingsInForce(attempt, observation, deps)
        : deniedCheck('INVALID_INPUT', problem, correlationId),
    )
  } finally {
    deps.observer.end(observation)
  }
}

type Attempt = (context: CheckContext) => Promise<CheckVerdict | 'readmit'> | CheckVerdict

/** A check that was approved, or whose settings changed before it was answered, is made again. */
async function underSettingsInForce(
  attempt: Attempt,
  observation: Observation,
  { settings, pipeline, observer }: AuthzDeps,
): Promise<CheckVerdict> {
  for (let count = 0; count < MOST_ADMISSIONS; count += 1) {
    const verdict = await attempt({ pipeline, settings: settings(), observation, observer })
    if (verdict !== 'readmit') return verdict
  }
  return deniedCheck('PREFLIGHT_UNDECIDED', ERRORS.PREFLIGHT_UNDECIDED.message, observation.correlationId)
}

async function checkRequest(
  authzRequest: CheckedRequest,
  waiting: PendingWait,
  context: CheckContext,
): Promise<CheckVerdict | 'readmit'> {
  const { settings, observation } = context
  const { correlationId } = authzRequest
  const problem = headProblem(authzRequest.rawHeaders, authzRequest.headers) ?? targetProblem(authzRequest.target)
  if (problem !== null) return deniedCheck('INVALID_INPUT', problem, correlationId)
  if (!METHOD.test(authzRequest.method)) return deniedCheck('INVALID_INPUT', 'The method is not valid.', correlationId)
  if (authzRequest.body.kind === 'unexpected') return deniedCheck('INVALID_INPUT', UNEXPECTED_BODY, correlationId)
  if (namesHttpAgain(authzRequest.headers)) return deniedCheck('UPGRADE_REFUSED', HTTP_AGAIN, correlationId)
  const named = namedAway(authzRequest)
  if (named !== null) return deniedCheck('INVALID_INPUT', droppedBySome(named), correlationId)
  const { match, candidates } = routeFor(authzRequest, settings)
  const route = match?.route ?? null
  const { routes } = settings.config
  const spelling =
    slashProblem(authzRequest.target, takesEncodedSlashes(route)) ??
    spellingProblem(authzRequest.target, route, routes, candidates)
  if (spelling !== null) return deniedCheck('INVALID_INPUT', spelling, correlationId)
  if (match === null) return noRouteVerdict(correlationId)
  const verdict = await answerCall(authzRequest, match, waiting, context)
  if (verdict === 'readmit' || authzRequest.takesFieldsOff) return verdict
  return withoutForged(verdict, authzRequest, observation)
}

function noRouteVerdict(correlationId: string): CheckVerdict {
  return deniedCheck('NOT_FOUND', 'No route of the gateway matches this host and path.', correlationId)
}

const UNEXPECTED_BODY =
  'The request may have a body. Its method gives a body no meaning, but some servers read it. ' +
  'The calling proxy must state that there is none (docs/ext-authz.md).'

const HTTP_AGAIN = 'Nothing that follows a switch to HTTP could be judged, on any route.'

/** A proxy that removes no fields would forward what the client wrote under the gateway's name. */
function withoutForged(
  verdict: CheckVerdict,
  { headers }: CheckedRequest,
  { correlationId }: Observation,
): CheckVerdict {
  if (verdict.kind !== 'allow') return verdict
  const forged = verdict.remove.find((name) => headers[name] !== undefined && !HARMLESS.has(name))
  if (forged === undefined) return verdict
  const message = `The client may not send ${forged}. Configure the calling proxy to remove it (docs/ext-authz.md).`
  return deniedCheck('INVALID_INPUT', message, correlationId)
}

/** Set by the calling proxy, in its check only. */
export const ORIGINAL_BODY = 'preflight-original-body'
/** A receipt is as valid as its signature, whoever sends it. */
const HARMLESS: ReadonlySet<string> = new Set([ORIGINAL_BODY, 'preflight-receipt'])

function droppedBySome(name: string): string {
  return `Connection names ${name}: some proxies drop that field and some send it, so it has no single reading.`
}

/** A route that names the host, else one that names no host and has an upstream. */
function routeFor(
  { scheme, host, target }: CheckedRequest,
  { config: { routes } }: Pick<ListenSettingsInForce, 'config'>,
): { readonly match: RouteMatch | null; readonly candidates: () => readonly Route[] } {
  const read = readAuthority(host, DEFAULT_PORTS[scheme])
  if (!read.ok) return { match: null, candidates: () => [] }
  const { authority } = read
  const candidates = () => [...namedRoutes(routes, authority), ...reverseRoutes(routes, host)]
  const named = matchNamed(routes, { trafficPath: 'ext_authz', scheme, authority, target })
  if (named !== null) return { match: named, candidates }
  const match = matchRoute(routes, host, target)
  return { match: match === null ? null : { ...match, trafficPath: 'ext_authz' }, candidates }
}

interface CheckContext extends Pick<AuthzDeps, 'pipeline' | 'observer'> {
  readonly settings: ListenSettingsInForce
  readonly observation: Observation
}

async function answerCall(
  authzRequest: CheckedRequest,
  match: RouteMatch,
  waiting: PendingWait,
  { pipeline, settings, observation, observer }: CheckContext,
): Promise<CheckVerdict | 'readmit'> {
  observation.protocol = match.route.protocol
  observation.route = match.route.name
  observation.origin = match.origin
  const { correlationId, method, headers, rawHeaders, body } = authzRequest
  const received = { headers: withFraming(headers, body), rawHeaders }
  const caller = callerOn(match.route, ANYBODY)
  const head: CallHead = { ...match, correlationId, observation, caller, method, ...headOfProxy(received), received }
  const recogniser = pipeline.recognisers[match.route.protocol]
  const isNeeded = recogniser.needsBody(head) || recogniser.needsBodyFrom?.(head, body.bytes) === true
  const isHad = body.kind === 'whole'
  const isRead = isHad && (isNeeded || recogniser.usesBody?.(head) === true)
  const given: Call = { ...head, body: isRead ? body.bytes : null }
  const call = joinStatedTrace(given, observer) ? { ...given, correlationId: observation.correlationId } : given
  const read =
    isNeeded && !isHad
      ? unreadableCall(call, body.kind === 'partial' ? 'partial' : 'absent')
      : await recogniser.recognise(call)
  const action = read.kind === 'refuse' ? (letOn(call, read, pipeline) ?? read) : read
  const { name: route } = match.route
  if (action.kind === 'refuse') {
    observation.outcome = 'refused'
    pipeline.metrics.count('preflight_calls_total', { route, outcome: 'refused' })
    return { kind: 'deny', answer: action.answer, headers: ['X-Correlation-ID', call.correlationId] }
  }
  const upgrade = possibleSwitch(method, headers)
  if (upgrade !== null && !coversUpgrade(call, action)) {
    if (match.route.mode === 'enforce') {
      observation.outcome = 'refused'
      pipeline.metrics.count('preflight_calls_total', { route, outcome: 'refused' })
      return { kind: 'deny', ...unjudgedUpgrade(call, action, upgrade) }
    }
    pipeline.metrics.count('preflight_observed_calls_total', { route, would: 'stopped' })
  }
  if (action.kind === 'pass') {
    if (isOutdated(settings, pipeline)) return 'readmit'
    observation.outcome = 'passed'
    pipeline.metrics.count('preflight_calls_total', { route, outcome: 'passed' })
    const headers = ['X-Correlation-ID', call.correlationId]
    return allowed(call, { verdicts: [], headers }, answerReader(action, null))
  }
  const checkedAction = authzRequest.needsStatus ? withStatus(action) : action
  const result = await enforceUnlessCancelled({ call, action: checkedAction, settings }, waiting, pipeline)
  if (result === 'cancelled') return deniedCheck('PREFLIGHT_UNDECIDED', CANCELLED, call.correlationId)
  if (result.kind === 'gone') return { kind: 'gone' }
  if (result.kind === 'readmit') return 'readmit'
  if (result.kind === 'go') return allowed(call, result, answerReader(action, result))
  const { answer, headers: own } = result
  return { kind: 'deny', answer, headers: own }
}

const CANCELLED = 'The client has cancelled this call.'

/**
 * The fields with those by which the body is framed. A check may leave out the body, its length (HTTP/2), or both. Recognisers
 * read from the framing whether there is a body.
 */
function withFraming(headers: IncomingHttpHeaders, body: AskedBody): IncomingHttpHeaders {
  if (body.kind !== 'whole') return { ...headers, 'transfer-encoding': 'chunked' }
  return body.bytes.length === 0 ? headers : { ...headers, 'content-length': String(body.bytes.length) }
}

/** A body that must be read to judge the call was not sent: undecided, handled as the route configures it. */
function unreadableCall(call: Call, kind: 'absent' | 'partial'): JudgedAction {
  const what = kind === 'partial' ? 'cut off (X-Envoy-Auth-Partial-Body)' : 'left out'
  const message =
    `Calls of "${call.route.name}" are judged by their body, but the calling proxy has ${what} this one. ` +
    `Configure it to send complete bodies (with_request_body; request_body_mode: BUFFERED of ext_proc), up to the size of the calls.`
  return {
    kind: 'judge',
    name: callName(call),
    gather: () => Promise.reject(new GatewayError('PREFLIGHT_UNDECIDED', message)),
    watch: () => null,
    refuse: (refusal: Refusal) => httpRefusal(refusal),
  }
}

function withStatus(action: JudgedAction): JudgedAction {
  return {
    kind: 'judge',
    name: action.name,
    gather: () => action.gather(),
    confirm: () => action.confirm?.() ?? true,
    watch: (permit) => action.watch(permit),
    onCancelled: (listener) => action.onCancelled?.(listener) ?? (() => {}),
    refuse(refusal) {
      const answer = action.refuse(refusal)
      return answer.status < 400 ? httpRefusal(refusal) : answer
    },
  }
}

function allowed(
  { route, correlationId, received: { rawHeaders } }: Call,
  { verdicts, headers }: Pick<ForwardResult, 'verdicts' | 'headers'>,
  readAnswer: ReadAnswer,
): CheckVerdict {
  const attached = route.receipts.attach ? verdicts : []
  const [only, ...others] = attached
  const envelope = others.length === 0 ? (only?.envelopeHeader ?? null) : null
  const upstream = [
    ['X-Correlation-ID', correlationId],
    ...attachedTokens(attached).map((token) => ['Preflight-Receipt', token]),
    ...(envelope === null ? [] : [['Preflight-Decision', envelope]]),
  ].map(([name = '', value = '']) => [name, value] as const)
  const set = new Set(upstream.map(([name]) => name.toLowerCase()))
  const forged = rawHeaders.flatMap((name, index) => (index % 2 === 0 && isForged(name) ? [name.toLowerCase()] : []))
  const remove = [...new Set([...OWN_FIELDS, ...forged])].filter((name) => !set.has(name))
  return { kind: 'allow', upstream, remove, headers, readAnswer }
}

function answerReader(action: PassingAction | JudgedAction, result: ForwardResult | null): ReadAnswer {
  const startedAt = performance.now()
  return async ({ status, headers, body }) => {
    const watcher = action.watch(result)
    watcher?.head(status, headers)
    if (body !== null) watcher?.chunk(body)
    watcher?.end()
    const hasFailed = status >= 400 || watcher?.hasFailed === true
    const isUntold = watcher !== null && (body === null || watcher.isUntold === true)
    const outcome = hasFailed ? 'FAILED' : isUntold ? 'UNKNOWN' : 'SUCCEEDED'
    const end = { outcome, status, durationMs: performance.now() - startedAt, bytes: body?.length ?? 0 } as const
    for (const { resource, watch } of result?.watches ?? []) await watch.finish(resultFor(resource, end, watcher))
  }
}

/**
 * Fields that the proxy does not forward either: those that only the gateway sets, and paths other than the one judged.
 */
function isForged(name: string): boolean {
  const lower = name.toLowerCase()
  return lower.startsWith('preflight-') || OTHER_PATH_FIELDS.has(lower)
}

function deniedCheck(code: ErrorCode, message: string, correlationId: string): CheckVerdict {
  const answer = jsonAnswer(ERRORS[code].status, {
    error: code,
    message,
    correlation_id: correlationId,
    ...traceMember(),
  })
  return { kind: 'deny', answer, headers: ['X-Correlation-ID', correlationId] }
}
