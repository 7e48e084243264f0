/**
 * The state of the gateway, one interface for each aggregate (docs/architecture.md, State). A promise resolves when its row is
 * durable. It rejects with STORE_UNAVAILABLE when the row could not be made durable, and then nothing of it is stored. Arguments
 * and results are plain values (JSON, and bytes for kept contents), so that every method can be carried to another thread or host.
 */
import type { Acts } from './acts.ts'
import type { ApiKeys } from './api-keys.ts'
import type { Approvals } from './approvals.ts'
import type { Baselines } from './baselines.ts'
import type { Bindings } from './bindings.ts'
import type { BreakGlassExceptions } from './break-glass.ts'
import type { Calls } from './calls.ts'
import type { Changes } from './changes.ts'
import type { Decisions } from './decisions.ts'
import type { Fleet } from './fleet.ts'
import type { Inputs } from './inputs.ts'
import type { Ledger } from './ledger.ts'
import type { Notifications } from './notifications.ts'
import type { Quotas } from './quotas.ts'
import type { ReceiptKeys, Receipts, StatusLists } from './receipts.ts'
import type { Uses } from './uses.ts'
import type { WebhookQueue } from './webhooks.ts'
import type { Windows } from './windows.ts'
import { GatewayError } from '../errors/errors.ts'

export interface Aggregates {
  readonly acts: Acts
  readonly apiKeys: ApiKeys
  readonly approvals: Approvals
  readonly baselines: Baselines
  readonly bindings: Bindings
  readonly breakGlass: BreakGlassExceptions
  readonly calls: Calls
  readonly decisions: Decisions
  readonly fleet: Fleet
  readonly inputs: Inputs
  readonly ledger: Ledger
  readonly notifications: Notifications
  readonly quotas: Quotas
  readonly receiptKeys: ReceiptKeys
  readonly receipts: Receipts
  readonly statusLists: StatusLists
  readonly uses: Uses
  readonly webhooks: WebhookQueue
  readonly windows: Windows
}

export interface Store extends Aggregates {
  readonly changes: Changes
  /** A description for the start-up summary and readiness, e.g. `sqlite /var/lib/preflight/ledger.db`. */
  readonly description: string
  /** Throws STORE_UNAVAILABLE unless a write reaches the disk now. */
  probe(): Promise<void>
  /** Copies the whole store to a new file, at one moment. Throws a StartupError where the store has its own tools for that. */
  backUp(file: string): Promise<void>
  close(): Promise<void>
}

type AggregateName = keyof Aggregates

/** `decisions.record`, for each method of each aggregate. */
export type StoreMethod = { [Name in AggregateName]: `${Name}.${keyof Aggregates[Name] & string}` }[AggregateName]

/** A store with one method. */
type Single<Method extends StoreMethod> = Method extends `${infer Name extends AggregateName}.${infer Member}`
  ? { readonly [_ in Name]: Pick<Aggregates[Name], Member & keyof Aggregates[Name]> }
  : never

/**
 * The part of a store that has these methods only: what a module may do with the state is what it names. Intersected through
 * the parameter of a function, since a union of methods needs all of them.
 */
export type StorePart<Method extends StoreMethod> = (
  Method extends StoreMethod ? (part: Single<Method>) => void : never
) extends (part: infer Part) => void
  ? Part
  : never

/** A row that violates a constraint of the store: another row has its id. The store itself is in order. */
export class RefusedRowError extends Error {
  /** SQLSTATE of such a row, as PostgreSQL answers it. */
  readonly code = '23505'

  constructor(reason: string, options: { readonly cause?: unknown } = {}) {
    super(`the store refused the row: ${reason}`, options)
    this.name = 'RefusedRowError'
  }
}

/** What a store reports about its own work, for metrics and logs. */
export interface StoreEvents {
  /** Called after every call. @param seconds until the answer */
  readonly onCall?: (operation: string, seconds: number, isGood: boolean) => void
  /** False after a call that the store could not carry out, with its cause; true after a write that is durable. */
  readonly onWritable?: (isWritable: boolean, cause?: unknown) => void
  /** Something was lost or failed outside a call. */
  readonly onFault?: (error: Error) => void
}

/** The error of a call that the store could not carry out. The cause goes to the log only. */
export function storeUnavailable(cause: unknown): GatewayError {
  return new GatewayError('STORE_UNAVAILABLE', undefined, { cause })
}
