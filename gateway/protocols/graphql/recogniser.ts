/**
 * Requests to a GraphQL server, judged by its schema: only changes of the elements that an operation selects or passes
 * decide on it. All forms of GraphQL over HTTP are read (batches, persisted documents, uploads, event streams).
 * Introspection passes. A request that could be executed in two ways, or cannot be read, is refused.
 */
import { passingAction } from '../common/refusal.ts'
import type { GraphqlRoute } from './settings.ts'
import type { GraphqlShape } from '../../../engine/internal.ts'
import type { BaselineService } from '../../baselines/baselines.ts'
import type { LimitsConfig } from '../../settings/limits.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { Flow } from '../../flow/flow.ts'
import type { Upstreams } from '../../upstream/pools.ts'
import type { BaselineRow } from '../../store/baselines.ts'
import type { Action, JudgedAction, Permit, ResourceCheck, Recogniser, Refusal } from '../common/action.ts'
import type { Answer, AnswerWatcher } from '../../calls/answer.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import type { Call } from '../../calls/call.ts'
import { readContract, type ContractReading } from '../common/contract-reader.ts'
import { offerKey } from '../common/offer-key.ts'
import {
  createCurrentContracts,
  type CurrentContractDeps,
  type CurrentContracts,
  type IndexedContract,
} from '../common/current-contract.ts'
import { checkOperations, violationMessage, type OperationChecks } from './conformance.ts'
import { createGraphqlDocuments, type FoundDocument, type GraphqlDocuments } from './documents.ts'
import { introspect, introspectionPath } from './introspection.ts'
import { readOperation, operationResource, type RequestedOperation } from './operation.ts'
import { isEndpoint, readParameters, type GraphqlParameters } from './parameters.ts'
import { graphqlFault, graphqlRefusal, persistedQueryNotFound } from './refusal.ts'
import { watchResults } from './results.ts'
import { callName } from '../common/request-line.ts'

interface GraphqlDeps extends CurrentContractDeps, OperationChecks {
  readonly baselines: Pick<BaselineService, 'baselineFor'>
  readonly upstreams: Upstreams
  readonly flow: Pick<Flow, 'readJson'>
  readonly config: () => LimitsConfig
  readonly contractReading: () => ContractReading
}

interface GraphqlParts {
  readonly deps: GraphqlDeps
  readonly contracts: CurrentContracts<GraphqlShape>
  readonly documents: GraphqlDocuments
}

export function createGraphqlRecogniser(deps: GraphqlDeps): Recogniser<GraphqlRoute> {
  const contracts = createCurrentContracts(
    'graphql',
    (text) => readContract('graphql', text, deps.contractReading()),
    deps,
  )
  const parts: GraphqlParts = { deps, contracts, documents: createGraphqlDocuments(deps.now) }
  return {
    needsBody: () => true,
    recognise: (call) => recogniseGraphqlCall(call, parts),
    renderFault: (fault, { headers }) => graphqlFault(headers, fault),
  }
}

async function recogniseGraphqlCall(call: Call<GraphqlRoute>, parts: GraphqlParts): Promise<Action> {
  const reading = await readParameters(call, parts.deps)
  if (reading.kind === 'none') return passingOperation(call, callName(call))
  if (reading.kind === 'unreadable') return refusedGraphqlCall(call, reading.code, reading.why)
  const { isBatch } = reading
  const requests: GraphqlParameters[] = []
  const found: FoundDocument[] = []
  try {
    for (const request of reading.requests) {
      const document = await parts.documents.find(call.route, request)
      if (request.mayBeUnknown && document.kind === 'unknown_id') continue
      requests.push(request)
      found.push(document)
    }
  } catch (error) {
    return new UndecidedAction(call, error)
  }
  const missing = found.find(({ kind }) => kind !== 'text')
  if (missing !== undefined) return unknownDocument(call, missing, isBatch ? requests.length : null)
  const operations: RequestedOperation[] = []
  for (const [index, request] of requests.entries()) {
    const read = requestedOperation(request, found[index])
    if (!read.ok) return refusedGraphqlCall(call, 'INVALID_INPUT', read.why)
    operations.push(read.operation)
  }
  if (isEndpoint(call) && operations.every(({ isIntrospection }) => isIntrospection))
    return passingOperation(call, operationNames(operations))
  return call.route.validate === 'off'
    ? new GraphqlAction(call, operations, isBatch, parts)
    : checkedOperations(call, operations, isBatch, parts)
}

async function checkedOperations(
  call: Call<GraphqlRoute>,
  operations: readonly RequestedOperation[],
  isBatch: boolean,
  parts: GraphqlParts,
): Promise<Action> {
  const pinned = async (): Promise<BaselineRow> =>
    parts.deps.baselines.baselineFor(call.route, (await currentOf(call, parts)).contract)
  const found = await checkOperations(call, operations, pinned, parts.deps)
  if (found.kind === 'good') return new GraphqlAction(call, operations, isBatch, parts)
  if (found.kind === 'undecided') return new UndecidedAction(call, found.error)
  const { correlationId, headers } = call
  const fault = { code: 'CONTRACT_VIOLATION', message: violationMessage(found.violations), correlationId } as const
  const details = found.violations.map(({ where, message }) => ({ pointer: where, message }))
  const answer = withStop(graphqlFault(headers, fault, details))
  return { kind: 'refuse', name: operationNames(operations), answer, why: 'it violates the pinned contract' }
}

function requestedOperation(
  request: GraphqlParameters,
  found: FoundDocument | undefined,
): ReturnType<typeof readOperation> {
  return found?.kind === 'text' ? readOperation(found.text, request) : { ok: false, why: 'its document is not known' }
}

/**
 * A client that states a persisted document together with its hash is understood, by the gateway and the server; an
 * unknown id has no such remedy.
 */
function unknownDocument(call: Call<GraphqlRoute>, found: FoundDocument, batch: number | null): Action {
  const { route, headers } = call
  if (found.kind === 'mismatch')
    return refusedGraphqlCall(call, 'INVALID_INPUT', 'its hash is not that of its document')
  const isStopped = route.mode === 'enforce' && route.failure === 'closed'
  if (found.kind === 'unknown_hash' && isStopped) {
    const answer = withStop(persistedQueryNotFound(headers, batch))
    return { kind: 'refuse', name: callName(call), answer, why: 'its persisted document is not known here yet' }
  }
  const which = found.kind === 'unknown_id' ? `"${found.id.slice(0, 100)}"` : 'with this hash'
  const message = `The document ${which} is not known to the gateway, so the call cannot be judged. Set the file of all documents in graphql.documents of the route "${route.name}".`
  return new UndecidedAction(call, new GatewayError('PREFLIGHT_UNDECIDED', message))
}

/** It could be executed in two ways, or not at all. A route in observe mode forwards it, counted as undecided. */
function refusedGraphqlCall(
  call: Call<GraphqlRoute>,
  code: 'INVALID_INPUT' | 'UNSUPPORTED_MEDIA_TYPE',
  why: string,
): Action {
  const message = `Preflight cannot judge this request: ${why}.`
  if (call.route.mode === 'observe') return new UndecidedAction(call, new GatewayError('PREFLIGHT_UNDECIDED', message))
  const answer = withStop(graphqlFault(call.headers, { code, message, correlationId: call.correlationId }))
  return { kind: 'refuse', name: callName(call), answer, why }
}

function withStop(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'Preflight-Action': 'STOP' } }
}

function operationNames(operations: readonly RequestedOperation[]): string {
  const [first, ...others] = operations.map(({ name }) => name)
  return others.length === 0 ? (first ?? '') : `${first} and ${others.length} more`
}

/** Event streams that a client opens for operations that it requests elsewhere have no end. */
function passingOperation(call: Call<GraphqlRoute>, name: string): Action {
  const passed = passingAction(name, (refusal) => graphqlRefusal(call.headers, refusal))
  return { ...passed, isStanding: call.method === 'GET' }
}

/** An undecided request whose reason is already known. */
class UndecidedAction implements JudgedAction {
  readonly kind = 'judge'
  readonly name: string
  readonly #call: Call<GraphqlRoute>
  readonly #error: unknown

  constructor(call: Call<GraphqlRoute>, error: unknown) {
    this.name = callName(call)
    this.#call = call
    this.#error = error
  }

  gather(): Promise<readonly ResourceCheck[]> {
    return Promise.reject(this.#error)
  }

  watch(): AnswerWatcher | null {
    return null
  }

  refuse(refusal: Refusal): Answer {
    return graphqlRefusal(this.#call.headers, refusal)
  }
}

class GraphqlAction implements JudgedAction {
  readonly kind = 'judge'
  readonly name: string
  readonly #call: Call<GraphqlRoute>
  readonly #operations: readonly RequestedOperation[]
  readonly #isBatch: boolean
  readonly #parts: GraphqlParts
  /** By operation; null where it requests the schema only. */
  #resources: readonly (JudgedResource | null)[] = []

  constructor(
    call: Call<GraphqlRoute>,
    operations: readonly RequestedOperation[],
    isBatch: boolean,
    parts: GraphqlParts,
  ) {
    this.name = operationNames(operations)
    this.#call = call
    this.#operations = operations
    this.#isBatch = isBatch
    this.#parts = parts
  }

  async gather(): Promise<readonly ResourceCheck[]> {
    const { route } = this.#call
    const { contract, index } = await currentOf(this.#call, this.#parts)
    const pinned = await this.#parts.deps.baselines.baselineFor(route, contract)
    const sides =
      pinned.digest === contract.digest ? [index] : [await this.#parts.contracts.indexOf(route, pinned), index]
    this.#resources = this.#operations.map((operation) =>
      operation.isIntrospection ? null : operationResource(route.name, operation, sides),
    )
    const basis = { kind: 'contract', offered: contract, isCovered: () => true } as const
    const whole = isEndpoint(this.#call) ? [] : [{ name: callName(this.#call), target: route.name, scope: null }]
    const named = [...whole, ...this.#resources.filter((resource) => resource !== null)]
    const each = new Map(named.map((resource) => [resource.target, resource]))
    return [...each.values()].map((resource) => ({ resource, basis }))
  }

  watch(permit: Permit | null): AnswerWatcher | null {
    return permit?.isMonitored === true ? watchResults(this.#isBatch ? this.#resources : null) : null
  }

  refuse(refusal: Refusal): Answer {
    return graphqlRefusal(this.#call.headers, refusal)
  }
}

function currentOf(
  call: Call<GraphqlRoute>,
  { contracts, deps }: GraphqlParts,
): IndexedContract<GraphqlShape> | Promise<IndexedContract<GraphqlShape>> {
  const { route, origin, upstreamPath, headers } = call
  if (!route.graphql.introspect) return contracts.of(route)
  const key = `${origin}${introspectionPath(upstreamPath)}\n${offerKey(headers, route)}`
  return contracts.of(route, { key, ask: () => introspect(call, deps) })
}
