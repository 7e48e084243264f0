/** The list of what the writer thread can do, and the messages that carry it between the threads. */
import { approvalReads, approvalWrites } from './approvals.ts'
import { bindingReads, bindingWrites } from './bindings.ts'
import { breakGlassReads, breakGlassWrites } from './break-glass.ts'
import { callReads, callWrites } from './calls.ts'
import { candidateReads, candidateWrites } from './candidates.ts'
import { decisionReads, decisionWrites } from './decisions.ts'
import { journalReads, journalWrites } from './inspection.ts'
import { inputReads, inputWrites } from './inputs.ts'
import { recordReads, recordWrites } from './records.ts'
import { useReads, useWrites } from './uses.ts'

export const READS = {
  ...approvalReads,
  ...bindingReads,
  ...breakGlassReads,
  ...callReads,
  ...candidateReads,
  ...decisionReads,
  ...inputReads,
  ...journalReads,
  ...recordReads,
  ...useReads,
} as const
export const WRITES = {
  ...approvalWrites,
  ...bindingWrites,
  ...breakGlassWrites,
  ...callWrites,
  ...candidateWrites,
  ...decisionWrites,
  ...inputWrites,
  ...journalWrites,
  ...recordWrites,
  ...useWrites,
} as const

type Operations = typeof READS & typeof WRITES
export type StoreOperation = keyof Operations
export type Argument<Name extends StoreOperation> =
  Parameters<Operations[Name]> extends readonly [unknown, infer Value] ? Value : null
export type OperationResult<Name extends StoreOperation> = ReturnType<Operations[Name]>

/**
 * The messages between the threads. On the receiving side the payload is `never`. It fits the one function that the same `name`
 * (or `id`) means on both sides, and nothing else can use it.
 */
export interface WriterCall<Payload> {
  readonly id: number
  readonly name: StoreOperation
  readonly argument: Payload
}

/** `unavailable`: the file could not be read or written. `refused`: this one row violates a constraint. */
export interface Failure {
  readonly kind: 'unavailable' | 'refused'
  readonly message: string
}

export type Reply<Payload> =
  | { readonly type: 'opened' }
  | { readonly type: 'closed' }
  /** `isDurable`: something was written, and it is on the disk. */
  | { readonly type: 'answer'; readonly id: number; readonly value: Payload; readonly isDurable?: boolean }
  | { readonly type: 'failure'; readonly id: number; readonly failure: Failure }

export type Order<Payload> = { readonly type: 'call'; readonly call: WriterCall<Payload> } | { readonly type: 'close' }
