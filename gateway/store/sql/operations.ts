/** All operations of a store that speaks SQL, and how a call of one is carried to the connection. */
import { acts } from './acts.ts'
import { apiKeys } from './api-keys.ts'
import { approvals, type ApprovalTable } from './approvals.ts'
import { baselines } from './baselines.ts'
import { bindings } from './bindings.ts'
import { breakGlass } from './break-glass.ts'
import { calls, type CallTable } from './calls.ts'
import { decisions, type DecisionTable } from './decisions.ts'
import { fleet } from './fleet.ts'
import { health, type Health } from './health.ts'
import { inputs } from './inputs.ts'
import { ledger, type LedgerTables } from './inspection.ts'
import type { NamedOperation, Operations } from './operation.ts'
import { notifications } from './notifications.ts'
import { quotas } from './quotas.ts'
import { receiptKeys, receipts, statusLists } from './receipts.ts'
import { uses } from './uses.ts'
import { webhooks } from './webhooks.ts'
import { windows } from './windows.ts'
import type { Aggregates } from '../store.ts'

/** The aggregates with what stands before them in the process taken away: the queue of calls, the pages of lists and of the chain check. */
export interface Tables extends Omit<Aggregates, 'approvals' | 'calls' | 'decisions' | 'ledger'> {
  readonly approvals: ApprovalTable
  readonly calls: CallTable
  readonly decisions: DecisionTable
  readonly health: Health
  readonly ledger: LedgerTables
}

type TableOperations = { readonly [Name in keyof Tables]: Operations<Tables[Name]> }

const OPERATIONS: TableOperations = {
  acts,
  apiKeys,
  approvals,
  baselines,
  bindings,
  breakGlass,
  calls,
  decisions,
  fleet,
  health,
  inputs,
  ledger,
  notifications,
  quotas,
  receiptKeys,
  receipts,
  statusLists,
  uses,
  webhooks,
  windows,
}

/** `decisions.record` → its operation. */
export const OPERATION_BY_NAME: ReadonlyMap<string, NamedOperation> = new Map(
  Object.entries(OPERATIONS).flatMap(([aggregate, operations]) =>
    Object.entries<NamedOperation>(operations).map(([name, operation]) => [`${aggregate}.${name}`, operation]),
  ),
)

/** Carries out one operation, by its name and with the values of its method. */
type Carry = (operation: string, values: readonly unknown[]) => Promise<unknown>

/** The tables as methods; each one is carried out by its name. */
export function tablesOver(carry: Carry): Tables {
  const methodsOf = (aggregate: string, operations: object): readonly (readonly unknown[])[] =>
    Object.keys(operations).map((name) => {
      const operation = `${aggregate}.${name}`
      return [name, (...values: readonly unknown[]) => carry(operation, values)]
    })
  // The same table gives each method its name here and its statements there, so the types of `Tables` hold.
  const aggregates: readonly (readonly unknown[])[] = Object.entries(OPERATIONS).map(([aggregate, operations]) => [
    aggregate,
    Object.fromEntries(methodsOf(aggregate, operations)),
  ])
  return Object.fromEntries(aggregates)
}
