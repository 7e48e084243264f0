/**
 * A request that has been read and is about to be recognised: its head, its destination, and its body where that is
 * needed.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../callers/rights.ts'
import type { Route } from '../routing/route.ts'
import type { TrafficPath } from '../routing/traffic-path.ts'
import type { Observation } from '../telemetry/observation.ts'

/** The head of a request as its client sent it. */
export interface ReceivedHead {
  readonly headers: IncomingHttpHeaders
  /** Name, value, name, value … */
  readonly rawHeaders: readonly string[]
}

/**
 * The head of a request that has passed the HTTP checks, for one upstream. Its fields are those that are sent, so that
 * exactly these are judged. Fields that the gateway drops are absent, and those that it sets have the gateway's value.
 */
export interface CallHead<Own extends Route = Route> {
  readonly correlationId: string
  /** What is measured of it. */
  readonly observation: Observation
  readonly caller: Caller
  readonly trafficPath: TrafficPath
  readonly route: Own
  /** The destination, e.g. `https://api.example`: the route's upstream, else the one that the request names. */
  readonly origin: string
  readonly method: string
  /** As they are sent, by lower-case name. */
  readonly headers: IncomingHttpHeaders
  /** As they are sent, in their order: name, value, name, value … The receipts of the verdict are appended. */
  readonly rawHeaders: readonly string[]
  /**
   * Only for what the gateway does not forward: the framing of the body, receipts, the host that a web page names.
   * Never a fact of a rule.
   */
  readonly received: ReceivedHead
  /** Path and query at the upstream, byte for byte as they are sent. */
  readonly upstreamPath: string
}

/** A request as it is recognised. */
export interface Call<Own extends Route = Route> extends CallHead<Own> {
  /** Complete when the recogniser asked for it, else null: then it is streamed. */
  readonly body: Buffer | null
}
