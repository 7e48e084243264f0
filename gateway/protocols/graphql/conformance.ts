/** Checks operations against the pinned schema (`validate`), before they are judged by its changes. */
import { ERRORS, type GatewayError } from '../../errors/errors.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { Violation } from '../../validation/message.ts'
import type { Validator } from '../../validation/validator.ts'
import { isEnforced, type PinnedText } from '../http/conformance.ts'
import type { Call } from '../../calls/call.ts'
import { uncheckable, type ContractChecks } from '../common/contract-checks.ts'
import type { RequestedOperation } from './operation.ts'

export interface OperationChecks {
  readonly validator: Pick<Validator, 'check'>
  readonly checks: Pick<ContractChecks, 'count' | 'refused' | 'observed'>
  readonly logger: Logger
}

type CheckedOperations =
  | { readonly kind: 'good' }
  | { readonly kind: 'violating'; readonly violations: readonly Violation[] }
  /** It cannot be checked, and the route does not forward unchecked calls. */
  | { readonly kind: 'undecided'; readonly error: GatewayError }

const GOOD = { kind: 'good' } as const

/** Never rejects. @param pinned rejects when the pinned schema cannot be read */
export async function checkOperations(
  call: Call,
  operations: readonly RequestedOperation[],
  pinned: () => Promise<PinnedText>,
  deps: OperationChecks,
): Promise<CheckedOperations> {
  const { route, correlationId } = call
  const { checks, validator, logger } = deps
  const mustConform = isEnforced(route)
  try {
    const contract = await pinned()
    const stated = operations.map(({ text, variables, operation }) => ({
      text,
      variables,
      operationName: operation.name?.value ?? null,
    }))
    const conformance = await validator.check(contract, { side: 'request', operations: stated })
    checks.count(route.name, 'request', conformance.result)
    if (conformance.result !== 'violates') return GOOD
    const { violations } = conformance
    const departure = { call, operation: operations[0]?.name ?? null, contract: contract.digest, violations }
    if (mustConform) await checks.refused(departure)
    else checks.observed(departure)
    return mustConform ? { kind: 'violating', violations } : GOOD
  } catch (error) {
    checks.count(route.name, 'request', 'failed')
    if (mustConform) return { kind: 'undecided', error: uncheckable(`the schema of "${route.name}"`, error) }
    logger.warn(
      { event: 'contract.check_failed', err: error, correlation_id: correlationId, route: route.name },
      'request could not be checked against the contract',
    )
    return GOOD
  }
}

/** The message for the caller: where the operation violates the schema, and why. */
export function violationMessage(violations: readonly Violation[]): string {
  const listed = violations.map(({ where, message }) => `${where} ${message}`).join('; ')
  return `${ERRORS.CONTRACT_VIOLATION.message} ${listed}. Correct the operation to match the schema; unchanged it is refused again.`
}
