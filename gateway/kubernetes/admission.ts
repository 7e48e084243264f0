/**
 * The verifier at the API server: answers AdmissionReviews of writes with the rules of a Kubernetes route. Uses the same
 * judge and ledger rows as the proxy. It compares with the object in the review, so it reads nothing from the cluster.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { performance } from 'node:perf_hooks'
import { ANYBODY, callerOn } from '../callers/proxy-auth.ts'
import type { Answer } from '../calls/answer.ts'
import type { Call } from '../calls/call.ts'
import type { JudgedResource } from '../calls/judged-resource.ts'
import type { PendingWait } from '../enforce/pending-calls.ts'
import {
  enforceCall,
  MOST_ADMISSIONS,
  type EnforcementResult,
  type EnforcementDeps,
  type ForwardResult,
} from '../enforce/enforcement.ts'
import { ERRORS } from '../errors/errors.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { recordIn } from '../json/unchecked-json.ts'
import type { ListenSettingsInForce } from '../listen/settings.ts'
import type { ResourceChecks, JudgedAction, ResourceCheck } from '../protocols/common/action.ts'
import { authoredText, contentDigest, contractChecks, type Sniff } from '../protocols/kubernetes/change.ts'
import { isReview, knownKind } from '../protocols/kubernetes/kinds.ts'
import { resourceText } from '../protocols/kubernetes/path.ts'
import { receiptsIn } from '../protocols/kubernetes/receipt-annotations.ts'
import type { KubernetesRoute } from '../protocols/kubernetes/settings.ts'
import { refusalStatus } from '../protocols/kubernetes/status.ts'
import { basisOf, receiptOperation, objectTarget, type WriteBasis } from '../protocols/kubernetes/write-basis.ts'
import type { Observation } from '../telemetry/observation.ts'
import type { Observer } from '../telemetry/observer.ts'
import { withTrace } from '../telemetry/trace-context.ts'
import type { ReviewRequest, ReviewResponse, ReviewStatus } from './review.ts'

export interface WebhookAdmissionDeps {
  readonly settings: () => ListenSettingsInForce
  readonly pipeline: EnforcementDeps
  readonly sniff: Sniff
  readonly observer: Observer
}

/** Verb of the Kubernetes API by operation; an UPDATE may have been a patch. */
const VERBS = { CREATE: 'create', UPDATE: 'update', DELETE: 'delete', CONNECT: 'connect' } as const

/** Where a review came in. */
export interface ReviewPlace {
  /** The route in the settings in force; null: it is gone. */
  readonly routeIn: (settings: ListenSettingsInForce) => KubernetesRoute | null
  /** Fields of the request of the API server, which may name its trace. */
  readonly trace: IncomingHttpHeaders
}

/** Never rejects because of the content of the review. Settings that change before it is answered answer it. */
export async function answerReview(
  request: ReviewRequest,
  { routeIn, trace }: ReviewPlace,
  waiting: PendingWait,
  deps: WebhookAdmissionDeps,
): Promise<ReviewResponse> {
  for (let count = 0; count < MOST_ADMISSIONS; count += 1) {
    const settings = deps.settings()
    const route = routeIn(settings)
    if (route === null) return { uid: request.uid, allowed: false, status: NO_ROUTE }
    const response = await routeReview(request, { route, trace, settings }, waiting, deps)
    if (response !== 'readmit') return response
  }
  return { uid: request.uid, allowed: false, status: UNDECIDED }
}

const NO_ROUTE: ReviewStatus = {
  code: 404,
  reason: 'NotFound',
  message: 'No Kubernetes route of the gateway has this name.',
}

const UNDECIDED: ReviewStatus = { code: 503, reason: 'ServiceUnavailable', message: ERRORS.PREFLIGHT_UNDECIDED.message }

interface RoutedReview {
  readonly route: KubernetesRoute
  readonly trace: IncomingHttpHeaders
  readonly settings: ListenSettingsInForce
}

async function routeReview(
  request: ReviewRequest,
  { route, trace, settings }: RoutedReview,
  waiting: PendingWait,
  deps: WebhookAdmissionDeps,
): Promise<ReviewResponse | 'readmit'> {
  const { uid } = request
  const passed: ReviewResponse = { uid, allowed: true }
  // The API server changes nothing, so there is nothing to authorize.
  if (request.isDryRun || isReview(request.path)) return passed
  if (request.operation === 'CONNECT') return connection(request, route) ?? passed
  const basis = basisOf(request.path, route.kubernetes, request.object?.['type'])
  if (basis === null || isUnchanged(request)) return passed
  const observation = deps.observer.begin({ method: 'POST', headers: trace, correlationId: uid })
  try {
    return await withTrace(observation.trace, () =>
      judgedReview({ request, basis, call: callOf(request, route, observation), settings }, waiting, deps),
    )
  } finally {
    deps.observer.end(observation)
  }
}

interface JudgedReview {
  readonly request: ReviewRequest
  readonly basis: WriteBasis
  readonly call: Call<KubernetesRoute>
  readonly settings: ListenSettingsInForce
}

async function judgedReview(
  { request, basis, call, settings }: JudgedReview,
  waiting: PendingWait,
  deps: WebhookAdmissionDeps,
): Promise<ReviewResponse | 'readmit'> {
  const { route } = call
  const startedAt = performance.now()
  const action = writeAction(request, basis, route, deps.sniff)
  const result = await enforceCall({ call, action, settings }, waiting, deps.pipeline)
  if (result.kind === 'readmit') return 'readmit'
  const seconds = (performance.now() - startedAt) / 1000
  deps.pipeline.metrics.observe('preflight_admission_seconds', { route: route.name }, seconds)
  return reviewResponse(request, result)
}

/**
 * Applied again, or written by the API server alone: the author's part is the same. Controllers report by `status`; what
 * another subresource writes there is the author's.
 */
function isUnchanged({ operation, path: { subresource }, object, oldObject }: ReviewRequest): boolean {
  const part = subresource === 'status' ? null : subresource
  return operation === 'UPDATE' && object !== null && authoredText(object, part) === authoredText(oldObject, part)
}

/** A connection has no object that could carry a receipt. Null: it passes. */
function connection({ uid, path }: ReviewRequest, route: KubernetesRoute): ReviewResponse | null {
  if (route.kubernetes.streams === 'pass' || route.mode === 'observe') return null
  const message =
    `Preflight admits no ${resourceText(path)} here: a connection carries no receipt to the API server. ` +
    'Connect through the Kubernetes route of the gateway, or set kubernetes.streams: pass.'
  return { uid, allowed: false, status: { code: 403, reason: 'Forbidden', message } }
}

/** The uid of the review is the correlation id: the audit log of the API server has it too. */
function callOf({ uid }: ReviewRequest, route: KubernetesRoute, observation: Observation): Call<KubernetesRoute> {
  observation.protocol = route.protocol
  observation.route = route.name
  const received = { headers: {}, rawHeaders: [] }
  return {
    ...received,
    received,
    correlationId: uid,
    observation,
    caller: callerOn(route, ANYBODY),
    trafficPath: 'admission',
    // An API server waits for seconds, not for an approval.
    route: { ...route, hold: 0 },
    origin: route.upstream ?? '',
    method: 'POST',
    upstreamPath: '/',
    body: null,
  }
}

function writeAction(request: ReviewRequest, basis: WriteBasis, route: KubernetesRoute, sniff: Sniff): JudgedAction {
  const { path, kind, operation, object, oldObject } = request
  const verb = VERBS[operation]
  const name = path.name ?? '*'
  const resource: JudgedResource = {
    name: `${verb} ${resourceText(path)} ${path.namespace === null ? name : `${path.namespace}/${name}`}`,
    // As on the wire: a subresource has a kind of its own (Scale, TokenRequest), and is about the object.
    target: objectTarget(knownKind(path) ?? kind, path.namespace, name),
    scope: null,
    operation:
      operation === 'CONNECT'
        ? 'connect'
        : receiptOperation({ path, verb: VERBS[operation], type: object?.['type'] }, basis),
    ...(route.kubernetes.receipt_binds === 'content' && {
      place: { head: contentDigest(object ?? oldObject, path.subresource) },
    }),
  }
  return {
    kind: 'judge',
    name: resource.name,
    gather: () => writeChecks(request, basis, resource, sniff),
    watch: () => null,
    refuse: (refusal) => refusalStatus(refusal, path, kind),
  }
}

async function writeChecks(
  { path, object, oldObject }: ReviewRequest,
  basis: WriteBasis,
  resource: JudgedResource,
  sniff: Sniff,
): Promise<ResourceChecks> {
  const metadata = (object ?? oldObject)?.['metadata']
  const receipts = isJsonObject(metadata) ? receiptsIn(metadata) : []
  const byReceipt: ResourceCheck = { resource, basis: { kind: 'receipt' }, receipts }
  if (basis.kind === 'receipt') return [byReceipt]
  // A subresource holds another kind than the object that it belongs to.
  const [before, after] = path.subresource === null ? [oldObject, object] : [null, null]
  if (basis.kind === 'crd') {
    const sides = { before: authoredText(before), after: authoredText(after) }
    const artifact = { id: resource.target, type: 'k8s_crd', ...sides } as const
    return [{ resource, basis: { kind: 'change_set', artifacts: [artifact], unreadable: [] }, receipts }]
  }
  const otherChange = basis.needsReceipt ? () => byReceipt : null
  return contractChecks(resource, { before, after, receipts, otherChange, sniff })
}

function reviewResponse(
  { uid, path }: ReviewRequest,
  result: Exclude<EnforcementResult, { readonly kind: 'readmit' }>,
): ReviewResponse {
  if (result.kind === 'gone') return { uid, allowed: false, status: GONE }
  const auditAnnotations = auditOf(result.headers)
  if (result.kind === 'halt') return { uid, allowed: false, status: reviewStatus(result.answer), auditAnnotations }
  const warnings = reviewWarnings(result, resourceText(path))
  return { uid, allowed: true, auditAnnotations, ...(warnings.length > 0 && { warnings }) }
}

const GONE: ReviewStatus = { code: 503, reason: 'ServiceUnavailable', message: 'The API server has disconnected.' }

/** Header of the decision → key of the audit annotation, which the API server prefixes with the name of the webhook. */
const AUDITED: ReadonlyMap<string, string> = new Map([
  ['Preflight-Action', 'execution-action'],
  ['Preflight-Decision-Id', 'decision-id'],
  ['Preflight-Break-Glass', 'break-glass'],
  ['X-Correlation-ID', 'correlation-id'],
])

function auditOf(headers: readonly string[]): Readonly<Record<string, string>> {
  const pairs = headers.flatMap((name, index) => {
    const key = index % 2 === 0 ? AUDITED.get(name) : undefined
    return key === undefined ? [] : [[key, headers[index + 1] ?? ''] as const]
  })
  return Object.fromEntries(pairs)
}

/** Longer warnings are cut off by clients, and many are dropped (AdmissionResponse.warnings). */
const WARNING_LENGTH = 250
const MOST_WARNINGS = 5

function reviewWarnings({ effect, verdicts }: ForwardResult, resource: string): readonly string[] {
  if (effect === 'observed') return [`preflight observes: this write of ${resource} would have been refused`]
  if (effect === 'break_glass') return ['preflight: admitted under a break-glass exception']
  if (effect === 'failed_open') return ['preflight: could not be judged, and is admitted as its route is configured']
  const texts = verdicts.flatMap((verdict) =>
    verdict.basis === 'decision' && verdict.action === 'CONTINUE_WITH_MONITORING'
      ? [`preflight: ${verdict.envelope.summary} (${verdict.decisionId})`]
      : [],
  )
  return texts.slice(0, MOST_WARNINGS).map((text) => text.slice(0, WARNING_LENGTH))
}

/** The Status that the Kubernetes protocol renders, as an object. */
function reviewStatus({ status, body }: Answer): ReviewStatus {
  const parsed: unknown = JSON.parse(String(body))
  const members = recordIn(parsed)
  const { message, reason, details } = members
  return {
    code: status,
    reason: typeof reason === 'string' ? reason : 'Forbidden',
    message: typeof message === 'string' ? message : 'Preflight refused the write.',
    ...(details !== undefined && { details }),
  }
}
