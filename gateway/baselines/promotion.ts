/** From candidate to baseline: by a person who names the digest that was reviewed, or by a decision that allows to register it (docs/reference/api.md#baselines). */
import { canonicalArtifactType, hasFiles, LEVELS } from '../../engine/base.ts'
import type { Artifact, DecisionContext, Envelope } from '../../engine/internal.ts'
import type { Route } from '../routing/route.ts'
import { sidecarRoute, type AcceptedRoute } from '../routing/sidecar-route.ts'
import { GatewayError } from '../errors/errors.ts'
import { LOCAL_TENANT } from '../callers/api-keys.ts'
import { decidesForAll } from '../callers/rights.ts'
import type { Flow } from '../flow/flow.ts'
import type { BaselinesConfig } from './settings.ts'
import type { BaselineRow, CandidateRow } from '../store/baselines.ts'

/** The operation whose permission makes a candidate the baseline. */
export const REGISTER = 'register'

/** A registration request in an authorize preflight, and its outcome. */
export interface RegisteredChange {
  readonly tenant: string
  /** Only an approver makes a contract the baseline. */
  readonly isApprover: boolean
  /** Audience of the caller. */
  readonly by: string
  /** Groups that the caller is in. */
  readonly groups: readonly string[]
  readonly artifacts: readonly Artifact[]
  readonly context: Pick<DecisionContext, 'operation' | 'target_id'>
  readonly decision: Envelope['decision']
  readonly decisionId: string
}

interface Promotable {
  readonly route: AcceptedRoute
  readonly baseline: BaselineRow
  /** Null: the baseline itself is confirmed. */
  readonly candidate: CandidateRow | null
}

/** @throws GatewayError NOT_FOUND, FORBIDDEN or APPROVAL_CONFLICT */
export function promotable(
  { routeName, digest }: { readonly routeName: string; readonly digest: string },
  acceptor: Pick<RegisteredChange, 'tenant'>,
  found: Omit<Promotable, 'route'> | null,
  { config }: { readonly config: BaselinesConfig },
): Promotable {
  const route = routeOfBaseline(routeName, config.routes)
  if (route === null) throw new GatewayError('NOT_FOUND', `There is no route "${routeName}" in the configuration.`)
  if (found === null) throw new GatewayError('NOT_FOUND', `Route "${routeName}" has no baseline yet.`)
  // All tenants of a route are judged by the one baseline, and nobody grants requests of another tenant.
  if (!decidesForAll(acceptor, route.tenants)) {
    const message = `Route "${routeName}" serves other tenants too: an approver of the tenant "${LOCAL_TENANT}" promotes its contract.`
    throw new GatewayError('FORBIDDEN', message)
  }
  const { baseline, candidate } = found
  const isConfirmation = digest === baseline.digest && route.contract?.max_age !== undefined
  if (isConfirmation) return { route, baseline, candidate: null }
  if (candidate === null) {
    throw new GatewayError('NOT_FOUND', `Route "${routeName}" has no candidate: its upstream offers the baseline.`)
  }
  if (candidate.digest !== digest) {
    throw new GatewayError('APPROVAL_CONFLICT', 'The upstream offers another contract than the one reviewed.', {
      details: [{ pointer: '/digest', message: `The candidate now is ${candidate.digest}.` }],
    })
  }
  return { route, baseline, candidate }
}

/** The route that an ALLOW to register is about; null when there is none. A warning or an approved exception is not enough. */
export function registeredRoute(
  { tenant, isApprover, artifacts, context, decision }: RegisteredChange,
  routes: readonly Route[],
): AcceptedRoute | null {
  if (decision !== 'ALLOW' || !isApprover || context.operation !== REGISTER || tenant !== LOCAL_TENANT) return null
  const [artifact, ...others] = artifacts
  if (artifact === undefined || others.length > 0) return null
  // A baseline is one text: files beside the document would not be part of it.
  if (hasFiles(artifact)) return null
  return artifact.id === context.target_id ? routeOfBaseline(artifact.id, routes) : null
}

/** The route of this baseline, under the baseline's own name: a route can have several, `ROUTE/NAME`. Null: no route has it. */
export function routeOfBaseline(baseline: string, routes: readonly Route[]): AcceptedRoute | null {
  const route = routes.find(({ name }) => name === ownerOf(baseline))
  return route === undefined ? sidecarRoute(baseline) : { ...route, name: baseline }
}

/** Name of the route that a baseline belongs to. */
export function ownerOf(baseline: string): string {
  return baseline.split('/', 1)[0] ?? baseline
}

/** The difference from the baseline to the offer, as a change set has it. */
export function promotedArtifact(
  id: string,
  before: Pick<BaselineRow, 'content'>,
  after: Pick<BaselineRow, 'type' | 'content'>,
): Artifact {
  const type = canonicalArtifactType(after.type)
  if (type === null) throw new TypeError(`a stored contract is of the unknown type ${after.type}`)
  return { id, type, before: before.content, after: after.content }
}

/** A change that breaks no caller. */
export async function isInfoOnly(
  baseline: BaselineRow,
  offered: Pick<BaselineRow, 'type' | 'content'>,
  flow: Pick<Flow, 'compare'>,
): Promise<boolean> {
  const comparison = await flow.compare(promotedArtifact(baseline.route, baseline, offered), {})
  const worst = LEVELS.filter((level) => level !== 'info')
  if (!comparison.ok || comparison.value.unresolved.length > 0) return false
  return comparison.value.groups.every(({ level }) => !worst.some((name) => name === level))
}
