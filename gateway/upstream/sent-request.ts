/** A request to an upstream, in either version of HTTP. */
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'

/** A request as an exchange sends it. */
export interface SentRequest {
  readonly path: string
  readonly method: Dispatcher.HttpMethod
  /** Name, value, name, value … */
  readonly headers: string[]
  readonly body: Buffer | Readable | null
  /** The protocol to switch to. */
  readonly upgrade?: string
}

export interface RequestDispatcher {
  dispatch(request: SentRequest, handler: Dispatcher.DispatchHandler): unknown
}
