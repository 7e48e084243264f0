/**
 * Plain HTTP calls of an API that an OpenAPI contract describes. Method and path template give the operation, and only
 * changes that touch it, or the contract as a whole, decide. If a path may mean several operations, each of them is
 * judged. A call that the contract does not describe as written is judged by the whole contract too.
 */
import type { BaselineService } from '../../baselines/baselines.ts'
import { ERRORS, GatewayError } from '../../errors/errors.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { Violation } from '../../validation/message.ts'
import type { Action, JudgedAction, Permit, ResourceCheck, Recogniser, Refusal } from '../common/action.ts'
import type { Answer, AnswerWatcher } from '../../calls/answer.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import type { Call, CallHead } from '../../calls/call.ts'
import { isEnforced, type ApiConformance } from './conformance.ts'
import { uncheckable, underOf, type ContractChecks, type Under } from '../common/contract-checks.ts'
import { holdsRequests } from '../common/batched-requests.ts'
import { readContract, type ContractReading } from '../common/contract-reader.ts'
import {
  createCurrentContracts,
  type CurrentContractDeps,
  type CurrentContracts,
  type IndexedContract,
} from '../common/current-contract.ts'
import { callName, pathOf } from '../common/request-line.ts'
import { createOperationMatcher, METHODS, type OperationMatcher } from '../../validation/api-operations.ts'
import { httpRefusal, jsonAnswer } from '../common/refusal.ts'
import { mayNameMethodInBody, methodInBody, overridesMethod } from '../common/method-override.ts'

interface HttpApiDeps extends CurrentContractDeps {
  readonly baselines: Pick<BaselineService, 'baselineFor'>
  readonly conformance: ApiConformance
  readonly checks: Pick<ContractChecks, 'refused' | 'observed'>
  readonly logger: Logger
  readonly contractReading: () => ContractReading
}

export function createHttpApiRecogniser(deps: HttpApiDeps): Recogniser {
  const contracts = createCurrentContracts(
    'openapi',
    async (text) => createOperationMatcher(await readContract('openapi', text, deps.contractReading())),
    deps,
  )
  return {
    needsBody: (head) => deps.conformance.needsBody(head),
    usesBody: (head) => mayNameMethodInBody(head) && isShort(head) && mayMeanOther(head, contracts),
    recognise: (call) =>
      call.route.validate === 'off' ? new ApiCallAction(call, contracts, null) : checkedHttpCall(call, contracts, deps),
  }
}

type Contracts = Pick<CurrentContracts<OperationMatcher>, 'of'>

/** Another method is of no consequence where the path has only this one. */
function mayMeanOther(call: CallHead, contracts: Contracts): boolean {
  const reading = contracts.of(call.route)
  if (!(reading instanceof Promise)) return reading.index.hasOtherMethods(call.method, pathOf(call))
  // Whoever judges the call waits for the same reading, and reports its failure.
  reading.catch(() => undefined)
  return true
}

/** The call is checked against the pinned contract before it is judged by the changes of that contract. */
async function checkedHttpCall(call: Call, contracts: Contracts, deps: HttpApiDeps): Promise<Action> {
  const { baselines, conformance, checks, logger } = deps
  const { route, correlationId } = call
  try {
    const { contract } = await contracts.of(route)
    const pinned = await baselines.baselineFor(route, contract)
    const found = await conformance.ofRequest(call, pinned)
    if (found !== null && isEnforced(route)) {
      await checks.refused(found)
      return violating(call, found.violations)
    }
    if (found !== null) checks.observed(found)
    return new ApiCallAction(call, contracts, (under) => conformance.watchAnswer(call, pinned, under))
  } catch (error) {
    if (isEnforced(route))
      return new ApiCallAction(
        call,
        { of: () => Promise.reject(uncheckable(`the contract of route "${route.name}"`, error)) },
        null,
      )
    logger.warn(
      { event: 'contract.check_failed', err: error, correlation_id: correlationId, route: route.name },
      'request could not be checked against the contract',
    )
    return new ApiCallAction(call, contracts, null)
  }
}

function violating(call: Call, violations: readonly Violation[]): Action {
  const code = 'CONTRACT_VIOLATION'
  const listed = violations.map(({ where, message }) => `${where}: ${message}`).join('; ')
  const { correlationId } = call
  const name = callName(call)
  const message = `${ERRORS[code].message} ${listed}. Correct the call to match the contract; unchanged it is refused again.`
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
  readonly #contracts: Contracts
  readonly #watchAnswer: ((under: Under) => AnswerWatcher) | null

  constructor(call: Call, contracts: Contracts, watchAnswer: ((under: Under) => AnswerWatcher) | null) {
    this.#call = call
    this.#contracts = contracts
    this.#watchAnswer = watchAnswer
  }

  get name(): string {
    return wholeContract(this.#call).name
  }

  gather(): readonly ResourceCheck[] | Promise<readonly ResourceCheck[]> {
    const reading = this.#contracts.of(this.#call.route)
    return reading instanceof Promise ? reading.then((read) => this.#checks(read)) : this.#checks(reading)
  }

  #checks({ contract, index: matcher }: IndexedContract<OperationMatcher>): readonly ResourceCheck[] {
    const basis = { kind: 'contract', offered: contract, isCovered: () => true } as const
    return resourcesOf(this.#call, matcher).map((resource) => ({ resource, basis }))
  }

  watch(permit: Permit | null): AnswerWatcher | null {
    return this.#watchAnswer?.(underOf(permit, null)) ?? null
  }

  refuse(refusal: Refusal): Answer {
    return httpRefusal(refusal)
  }
}

function resourcesOf(call: Call, matcher: OperationMatcher): readonly JudgedResource[] {
  const path = pathOf(call)
  const stated = matcher.hasOtherMethods(call.method, path) ? methodInBody(call) : 'none'
  // Only the upstream knows which operation a request with two methods means.
  if (stated === 'named' || overridesMethod(call)) return [wholeContract(call)]
  if (holdsRequests(call)) return [wholeContract(call)]
  const matches = matcher.match(call.method, path)
  if (matches === null)
    throw new GatewayError(
      'PREFLIGHT_UNDECIDED',
      'The path holds escapes of control characters or of bytes that are not text, so its operation is not known.',
    )
  const others = stated === 'unknown' ? WRITES.filter((method) => method !== call.method) : []
  const meant = others.flatMap((method) => matcher.match(method, path)?.operations ?? [])
  const resources = [...matches.operations, ...meant].map(({ method, path: template }) => {
    const name = `${method} ${template}`
    return { name, target: `${call.route.name}/${name}`, scope: { method, path: template } }
  })
  return matches.isDescribed ? resources : [wholeContract(call), ...resources]
}

/** What a body that is not read may mean. A body that names a reading method changes nothing at the server. */
const WRITES = METHODS.filter((method) => !['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(method))

/** A longer body streams unread: the call is judged by each write that it may name. */
const LONGEST_READ = 64 * 1024

function isShort({ received }: CallHead): boolean {
  return Number(received.headers['content-length'] ?? Number.NaN) <= LONGEST_READ
}

/** Without a match the whole contract decides, which is stricter. */
function wholeContract(call: Call): JudgedResource {
  return { name: callName(call), target: call.route.name, scope: null }
}
