/**
 * Reports the results of `validate`, which checks calls and answers against the pinned contract: counts, log lines,
 * rows of the ledger, events for the sinks. An answer that drifts does so at every call, so it is reported once in a
 * while, with the number of occurrences.
 */
import { LRUCache } from 'lru-cache'
import type { ExecutionAction } from '../../../engine/internal.ts'
import { GatewayError } from '../../errors/errors.ts'
import { messageOf } from '../../errors/startup-error.ts'
import type { InterceptionRow } from '../../store/calls.ts'
import type { StorePart } from '../../store/store.ts'
import type { ContractViolation } from '../../telemetry/events.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Monitoring } from '../../monitoring/monitoring.ts'
import { DRIFT_PATTERN, type Conformance, type ValidatedMessage, type Violation } from '../../validation/message.ts'
import type { Permit } from './action.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import type { Call } from '../../calls/call.ts'
import { callName } from './request-line.ts'

/** The verdict with which the call was forwarded. */
export interface Under {
  readonly action: ExecutionAction
  readonly decisionId: string | null
}

export interface Departure {
  readonly call: Call
  /**
   * The called operation in the contract's terms: `tools/call search`, `GET /pets/{petId}`. Null: the contract does not
   * describe it.
   */
  readonly operation: string | null
  /** Digest of the contract that is violated. */
  readonly contract: string
  readonly violations: readonly Violation[]
}

export interface ContractChecks {
  count(route: string, side: ValidatedMessage['side'], result: Conformance['result'] | 'failed'): void
  /**
   * A call that is refused for a violation. Resolves when its row is as durable as `ledger.calls` asks; never rejects.
   */
  refused(departure: Departure): Promise<void>
  /** A violating call that is forwarded nevertheless. */
  observed(departure: Departure): void
  /** A violating answer; it is already sent. */
  drifted(departure: Departure, under: Under): void
}

interface ContractChecksDeps {
  readonly store: StorePart<'calls.record'>
  readonly monitoring: Pick<Monitoring, 'reportViolation'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds within which the same violation is reported once. */
  readonly window: () => number
}

/** Maximum number of operations, by contract, whose last report is remembered. */
const MAX_REPORTED = 10_000

export function createContractChecks(deps: ContractChecksDeps): ContractChecks {
  return new ReportedChecks(deps)
}

class ReportedChecks implements ContractChecks {
  readonly #deps: ContractChecksDeps
  readonly #reported = new LRUCache<string, { readonly at: number; unreported: number }>({ max: MAX_REPORTED })

  constructor(deps: ContractChecksDeps) {
    this.#deps = deps
  }

  count(...[route, side, result]: Parameters<ContractChecks['count']>): void {
    this.#deps.metrics.count('preflight_contract_checks_total', { route, side, result })
  }

  async refused(departure: Departure): Promise<void> {
    this.#log(departure, null, 'call that violates the pinned contract refused')
    this.#report('refused', departure, null)
    await this.#record(interceptionRowOf('refused', departure, { action: 'STOP', decisionId: null }, this.#deps.now()))
  }

  observed(departure: Departure): void {
    this.#log(departure, null, 'call violates the pinned contract')
    this.#report('observed', departure, null)
  }

  drifted(departure: Departure, under: Under): void {
    this.#log(departure, DRIFT_PATTERN, 'answer violates the pinned contract')
    if (this.#report('drifted', departure, under.decisionId))
      void this.#record(interceptionRowOf('drifted', departure, under, this.#deps.now()))
  }

  /** False: the same was reported recently. */
  #report(effect: ContractViolation['effect'], departure: Departure, decisionId: string | null): boolean {
    const times = this.#occurrences(effect, departure)
    if (times !== null) void this.#deps.monitoring.reportViolation(violationOf(effect, departure, decisionId, times))
    return times !== null
  }

  /** Number of occurrences since the last report; null: it was reported recently. */
  #occurrences(effect: ContractViolation['effect'], { call, operation, contract }: Departure): number | null {
    const { now, window } = this.#deps
    // Paths without an operation are reported together: anybody can choose such a path.
    const key = JSON.stringify([call.route.name, effect, operation, contract])
    const last = this.#reported.get(key)
    if (last !== undefined && now() - last.at < window()) {
      last.unreported += 1
      return null
    }
    this.#reported.set(key, { at: now(), unreported: 0 })
    return (last?.unreported ?? 0) + 1
  }

  async #record(row: InterceptionRow): Promise<void> {
    try {
      await this.#deps.store.calls.record(row)
    } catch (error) {
      const { correlationId, route, effect } = row
      this.#deps.logger.error(
        { event: 'call.record_failed', err: error, correlation_id: correlationId, route, effect },
        'call record could not be written',
      )
    }
  }

  #log(departure: Departure, pattern: string | null, what: string): void {
    const { call, violations } = departure
    const { correlationId, route } = call
    const about = {
      event: 'contract.violated' as const,
      correlation_id: correlationId,
      route: route.name,
      call: departureName(departure),
      violations,
    }
    this.#deps.logger.warn(pattern === null ? about : { ...about, pattern }, what)
  }
}

/** The verdict on one resource of a call. A call that is forwarded although nothing could be decided has none. */
export function underOf(permit: Permit | null, resource: JudgedResource | null): Under {
  const own = permit?.resources.find((one) => resource === null || one.resource === resource)
  return own?.verdict ?? UNDECIDED
}

const UNDECIDED: Under = { action: 'STOP', decisionId: null }

/** Maximum length of the text of violations in an event. */
const MAX_TEXT = 1000

function violationOf(
  effect: ContractViolation['effect'],
  departure: Departure,
  decisionId: string | null,
  occurrences: number,
): ContractViolation {
  const { call, violations } = departure
  const text = violations.map(({ where, message }) => `${where} ${message}`).join('; ')
  return {
    correlationId: call.correlationId,
    decisionId,
    route: call.route.name,
    call: departureName(departure),
    effect,
    pattern: effect === 'drifted' ? DRIFT_PATTERN : null,
    violations: text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`,
    occurrences,
  }
}

function interceptionRowOf(
  effect: 'refused' | 'drifted',
  departure: Departure,
  { action, decisionId }: Under,
  at: number,
): InterceptionRow {
  const { call, violations } = departure
  const { correlationId, caller, route } = call
  return {
    correlationId,
    traceId: call.observation.trace?.traceId ?? null,
    isTraceSampled: call.observation.trace?.isSampled ?? false,
    tenant: caller.tenant,
    decisionId,
    route: route.name,
    protocol: route.protocol,
    action: departureName(departure),
    executionAction: action,
    enforced: route.mode === 'enforce',
    effect,
    breakGlassId: null,
    violations,
    at,
  }
}

function departureName({ call, operation }: Departure): string {
  return operation ?? callName(call)
}

/** @param contract what the call was to be checked against, for people: `the contract of route "shop"` */
export function uncheckable(contract: string, cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause
  return new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `The call could not be checked against ${contract}: ${messageOf(cause)}.`,
    { cause },
  )
}
