/**
 * The Kubernetes API. Reads pass. Definitions of custom resources and contracts inside objects are compared with the
 * state of the cluster. Every other write that the route names, and every connection into a pod or service, needs a
 * receipt.
 */
import type { KubernetesRoute } from './settings.ts'
import type { Action, Recogniser, RefusedAction } from '../common/action.ts'
import type { Call, CallHead } from '../../calls/call.ts'
import { ConnectRequest, PassingRequest, WriteRequest, type KubernetesDeps } from './actions.ts'
import { isReview, knownKind } from './kinds.ts'
import { CONNECT_SUBRESOURCES, readApiPath, resourceText, type ApiPath, type ResourcePath } from './path.ts'
import { keepsDryRuns } from './dry-run.ts'
import { faultStatus, statusAnswer } from './status.ts'
import { readWrite, type Write } from './write.ts'
import { basisOf, type WriteBasis } from './write-basis.ts'
import { after } from '../../runtime/awaiting.ts'
import { isRead, pathOf, callName } from '../common/request-line.ts'
import { overridesMethod } from '../common/method-override.ts'

export function createKubernetesRecogniser(deps: KubernetesDeps): Recogniser<KubernetesRoute> {
  return {
    needsBody(head) {
      if (isRead(head.method)) return false
      const api = apiPathOf(head)
      return api.kind === 'resource' && !isConnect(head, api.path, api.isWatch) && !isReview(api.path)
    },
    recognise: (call) => recogniseKubernetes(call, deps),
    renderFault: faultStatus,
  }
}

function recogniseKubernetes(call: Call<KubernetesRoute>, deps: KubernetesDeps): Action | Promise<Action> {
  const api = apiPathOf(call)
  const isReading = isRead(call.method)
  if (api.kind === 'ambiguous') return refusedKubernetesCall(call, 400, api.message)
  if (overridesMethod(call)) return refusedKubernetesCall(call, 400, 'The request states its method twice.')
  if (api.kind === 'other') {
    if (isReading) return new PassingRequest(callName(call), false)
    return refusedKubernetesCall(call, 405, `Nothing at ${pathOf(call)} can be written that Preflight could judge.`)
  }
  const { path, isWatch } = api
  if (isConnect(call, path, isWatch)) return connect(call, path, deps)
  if (isReading)
    return new PassingRequest(`${call.method} ${resourceText(path)}`, isWatch || isFollowing(call.upstreamPath), true)
  if (isWatch) return refusedKubernetesCall(call, 405, 'A watch is a GET.')
  if (isReview(path) && call.method === 'POST') return new PassingRequest(`create ${resourceText(path)}`, false)
  const read = readWrite(call, path)
  return read.ok ? writing(call, read.write, deps) : refusedKubernetesCall(call, read.status, read.message)
}

function apiPathOf({ route, upstreamPath }: CallHead<KubernetesRoute>): ApiPath {
  return readApiPath(upstreamPath, basePathOf(route.upstream))
}

/** A route without an upstream takes paths as they are. */
function basePathOf(upstream: string | undefined): string {
  return upstream === undefined ? '' : new URL(upstream).pathname
}

/**
 * By name, or by the wish for another protocol: aggregated APIs have consoles of their own, below an object or in its
 * place. Of what Kubernetes itself brings, watches and logs may come as web sockets.
 */
function isConnect(head: CallHead<KubernetesRoute>, path: ResourcePath, isWatch: boolean): boolean {
  const { subresource } = path
  if (subresource !== null && CONNECT_SUBRESOURCES.has(subresource)) return true
  if (head.headers.upgrade === undefined) return false
  // A console that another server has need not read the query by which a watch states itself.
  if (knownKind(path) === null) return true
  return subresource !== 'log' && (subresource !== null || !(isWatch || isFollowing(head.upstreamPath)))
}

function connect(call: Call<KubernetesRoute>, path: ResourcePath, deps: KubernetesDeps): Action {
  const name = `connect ${resourceText(path)} ${path.namespace ?? ''}/${path.name ?? ''}`
  const { mode, kubernetes } = call.route
  // In observe mode nothing is refused; the route records what it would have stopped.
  const streams = kubernetes.streams === 'deny' && mode === 'observe' ? 'receipt' : kubernetes.streams
  if (streams === 'pass') return new PassingRequest(name, false, true)
  const other = actingAs(call)
  if (other !== null) return refusedKubernetesCall(call, 403, asAnother(other), path)
  if (streams === 'deny')
    return refusedKubernetesCall(
      call,
      403,
      `Preflight lets no ${path.subresource ?? 'connection'} through on this route.`,
      path,
    )
  return new ConnectRequest(call, { path, kind: knownKind(path), base: basePathOf(call.route.upstream) }, deps)
}

/** Requests whose answer streams until a side closes it: a watch, a followed log. */
function isFollowing(target: string): boolean {
  return /[?&](?:watch|follow)=(?:true|1)(?:&|$)/.test(target)
}

function writing(call: Call<KubernetesRoute>, write: Write, deps: KubernetesDeps): Action | Promise<Action> {
  const { path, verb } = write
  const named = `${verb} ${resourceText(path)} ${path.namespace ?? ''}/${write.name}`
  const basis = basisOf(path, call.route.kubernetes, write.type)
  if (basis === null) return new PassingRequest(named, false)
  if (!write.isDryRun) return judgedWrite(call, write, basis, deps)
  // The API server changes nothing, so there is nothing to authorize.
  return after(keepsDryRuns(call, path, basePathOf(call.route.upstream), deps.cluster), (isKept) =>
    isKept ? new PassingRequest(`${named} (dry run)`, false) : judgedWrite(call, write, basis, deps),
  )
}

function judgedWrite(call: Call<KubernetesRoute>, write: Write, basis: WriteBasis, deps: KubernetesDeps): Action {
  const { path, verb } = write
  const other = restsOnReceipt(call, write, basis) ? actingAs(call) : null
  if (other !== null) return refusedKubernetesCall(call, 403, asAnother(other), path)
  const bindsContent = call.route.kubernetes.receipt_binds === 'content'
  if (verb === 'deletecollection' && (basis.kind !== 'receipt' || bindsContent))
    return refusedKubernetesCall(
      call,
      405,
      `Delete ${path.resource} one by one: each is judged by what is lost with it.`,
      path,
    )
  const base = basePathOf(call.route.upstream)
  return new WriteRequest(call, { write, basis, kind: knownKind(path), base, bindsContent }, deps)
}

/** Fields by which the API server treats a request as another user's: a receipt does not name the user. */
const ACTING_AS = /^(?:impersonate-|x-remote-(?:user|group|uid|extra-))/

function actingAs({ headers }: Call<KubernetesRoute>): string | null {
  return Object.keys(headers).find((name) => ACTING_AS.test(name)) ?? null
}

/** A definition or contract is judged by what changes, whoever changes it, unless a receipt stands for that. */
function restsOnReceipt({ received }: Call<KubernetesRoute>, { receipts }: Write, basis: WriteBasis): boolean {
  const isDue = basis.kind === 'receipt' || (basis.kind === 'contracts' && basis.needsReceipt)
  return isDue || receipts.length > 0 || received.headers['preflight-receipt'] !== undefined
}

function asAnother(field: string): string {
  return `Preflight judges no request that acts as another user (${field}): send it with credentials of its own.`
}

function refusedKubernetesCall(
  call: Call<KubernetesRoute>,
  status: number,
  message: string,
  path: ResourcePath | null = null,
): RefusedAction {
  const kind = path === null ? null : knownKind(path)
  const { correlationId } = call
  const text = `${message} (correlation id ${correlationId})`
  const causes = [
    { reason: status === 403 ? 'PREFLIGHT_STOP' : 'INVALID_INPUT', message },
    { reason: 'PREFLIGHT_CORRELATION_ID', message: correlationId },
  ]
  return {
    kind: 'refuse',
    name: callName(call),
    answer: statusAnswer(status, text, { path, kind, causes }),
  }
}
