/** The messages between the gateway and the writer thread. */

/**
 * On the receiving side the payload is `never`. It fits the one function that the same `name` (or `id`) means on both sides, and
 * nothing else can use it.
 */
export interface WriterCall<Payload> {
  readonly id: number
  /** `decisions.record` */
  readonly name: string
  readonly values: readonly Payload[]
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
