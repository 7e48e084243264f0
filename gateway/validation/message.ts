/** The messages between the proxy and the thread that validates messages against contracts: plain data in both directions. */

/** A request as it is forwarded; text members only, since it crosses to another thread. */
export interface RequestMessage {
  readonly side: 'request'
  readonly method: string
  /** Path and query at the upstream. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly hasBody: boolean
  /** Null: it has none, or it was not read. */
  readonly body: Uint8Array | null
}

export interface AnswerMessage {
  readonly side: 'answer'
  /** Of the request that it answers. */
  readonly method: string
  readonly target: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
}

/** Operations of a request to a GraphQL server, to be compared with its schema. */
export interface OperationsMessage {
  readonly side: 'request'
  readonly operations: readonly StatedOperation[]
}

export interface StatedOperation {
  readonly text: string
  readonly operationName: string | null
  readonly variables: Readonly<Record<string, unknown>>
}

export type HttpMessage = RequestMessage | AnswerMessage
export type ValidatedMessage = HttpMessage | OperationsMessage

export interface Violation {
  /** What it is about: `query.limit`, `body#/pets/0/name`, `status`; of GraphQL `query:3:7` (line and column), `variables.id`. */
  readonly where: string
  readonly message: string
}

/** What the field calls an answer that is not the one that the contract promised. */
export const DRIFT_PATTERN = 'TOOL_RESULT_SHAPE_DRIFT'

/**
 * `unchecked`: the contract says nothing that could be compared with it here (an operation that is not described, a body of a media
 * type that is not read). `operation`: as the contract writes it, or null.
 */
export type Conformance =
  | { readonly result: 'conforms' | 'unchecked'; readonly operation: string | null; readonly note: string | null }
  | { readonly result: 'violates'; readonly operation: string | null; readonly violations: readonly Violation[] }

export interface Job {
  readonly id: number
  readonly digest: string
  /** The contract, once; later jobs name its digest. */
  readonly contract: string | null
  readonly message: ValidatedMessage
}

export type ValidatorReply =
  | { readonly id: number; readonly ok: true; readonly value: Conformance }
  /** `isUnknown`: the contract of this digest has to be sent (again). */
  | { readonly id: number; readonly ok: false; readonly isUnknown: boolean; readonly why: string }
