/** From candidate to baseline: by a person who names the digest that was reviewed, or by a decision that allows to register it (wire.md §9). */
import { canonicalArtifactType, EMPTY_CONTEXT } from '../../engine/base.ts'
import type { Artifact, DecisionContext, Envelope } from '../../engine/index.ts'
import type { RouteConfig } from '../config/route.ts'
import { GatewayError } from '../errors.ts'
import type { AuthorizeRequest } from '../flow/flow.ts'
import { LOCAL_TENANT } from '../keys/api-keys.ts'
import type { Settings } from '../settings.ts'
import type { BaselineRow, CandidateRow } from '../store/store.ts'

/** The operation whose permission makes a candidate the baseline. */
const REGISTER = 'register'

/** What was asked of an authorize preflight, and what came of it. */
export interface RegisteredChange {
  readonly tenant: string
  readonly artifacts: readonly Artifact[]
  readonly context: Pick<DecisionContext, 'operation' | 'target_id'>
  readonly decision: Envelope['decision']
  readonly decisionId: string
}

export interface Promotable {
  readonly route: RouteConfig
  readonly baseline: BaselineRow
  /** Null: the baseline itself is confirmed. */
  readonly candidate: CandidateRow | null
}

/** @throws GatewayError NOT_FOUND or APPROVAL_CONFLICT */
export function promotable(
  routeName: string,
  digest: string,
  found: Omit<Promotable, 'route'> | null,
  { config }: Pick<Settings, 'config'>,
): Promotable {
  const route = routeOfBaseline(routeName, config.routes)
  if (route === null) throw new GatewayError('NOT_FOUND', `There is no route "${routeName}" in the configuration.`)
  if (found === null) throw new GatewayError('NOT_FOUND', `Route "${routeName}" has no baseline yet.`)
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

/** Promotion is itself the review that a REQUIRE_APPROVAL asks for; a BLOCK can only be lifted by a waiver in the policy. */
export async function refuseBlocked(
  route: RouteConfig,
  baseline: BaselineRow,
  candidate: CandidateRow,
  flow: { authorize(request: AuthorizeRequest): Promise<{ readonly envelope: Envelope }> },
): Promise<void> {
  const { envelope } = await flow.authorize({
    artifacts: [changeOf(route.name, baseline, candidate)],
    context: {
      ...EMPTY_CONTEXT,
      operation: REGISTER,
      environment: route.environment ?? null,
      target_id: route.name,
    },
    caller: { tenant: LOCAL_TENANT, audience: null },
    correlationId: `promote:${route.name.replace('/', ':')}:${candidate.digest.slice(-12)}`,
    route: ownerOf(route.name),
    decisionSpecVersion: '2.0',
    previousReceipt: null,
    scope: null,
    idempotency: null,
    response: null,
  })
  if (envelope.execution_action !== 'STOP') return
  throw new GatewayError(
    'FORBIDDEN',
    `The candidate is blocked and does not become the baseline (${envelope.summary}): waive the finding in the policy, or change the contract.`,
    {
      details: envelope.blocking_reasons.map(({ code, message }) => ({
        pointer: '/digest',
        message: `${code}: ${message}`,
      })),
    },
  )
}

/** The route that an ALLOW to register speaks of; null when it is none. A warning, or an exception that was approved, is no plain yes. */
export function registeredRoute(
  { tenant, artifacts, context, decision }: RegisteredChange,
  routes: readonly RouteConfig[],
): RouteConfig | null {
  if (decision !== 'ALLOW' || context.operation !== REGISTER || tenant !== LOCAL_TENANT) return null
  const [artifact, ...others] = artifacts
  if (artifact === undefined || others.length > 0) return null
  return artifact.id === context.target_id ? routeOfBaseline(artifact.id, routes) : null
}

/** The route whose baseline it is, under the baseline's own name: a route can have several, `ROUTE/NAME`. Null: none has. */
function routeOfBaseline(baseline: string, routes: readonly RouteConfig[]): RouteConfig | null {
  const route = routes.find(({ name }) => name === ownerOf(baseline))
  return route === undefined ? null : { ...route, name: baseline }
}

function ownerOf(baseline: string): string {
  return baseline.split('/', 1)[0] ?? baseline
}

/** From the baseline to what is offered, as a change set says it. */
export function changeOf(
  id: string,
  before: Pick<BaselineRow, 'content'>,
  after: Pick<BaselineRow, 'type' | 'content'>,
): Artifact {
  const type = canonicalArtifactType(after.type)
  if (type === null) throw new TypeError(`a stored contract is of the unknown type ${after.type}`)
  return { id, type, before: before.content, after: after.content }
}
