/** Calls under way at the proxy: begins each one, sees that it is answered whatever goes wrong, and knows how many are open. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ListenSettingsInForce } from '../listen/settings.ts'
import { admit, type AdmissionDeps } from './admission.ts'
import type { InboundConnection } from '../listen/connection.ts'
import type { Asks } from '../listen/http-server.ts'
import { ANYBODY } from '../callers/proxy-auth.ts'
import { sendError, type RequestContext } from '../listen/request-context.ts'

interface InFlightDeps extends AdmissionDeps {
  /** Read once a request. */
  readonly settings: () => ListenSettingsInForce
}

interface InFlightRequests {
  begin(request: IncomingMessage, response: ServerResponse, inbound: InboundConnection, asks: Asks): void
  /** How many are under way. */
  readonly open: number
  /** From here on a connection is let go as soon as its call is over. */
  drain(): void
}

/** @param releaseConnections closes the connections on which nothing is under way */
export function createInFlightRequests(deps: InFlightDeps, releaseConnections: () => void): InFlightRequests {
  const { settings, logger } = deps
  // A number: a set would hold on to calls long over, through the tables that it outgrew and the collector has not reached.
  let open = 0
  deps.metrics.sample('preflight_calls_open', () => open)
  let isDraining = false
  /** Whatever goes wrong on the road, the call is answered. */
  const run = async (context: RequestContext, inbound: InboundConnection): Promise<void> => {
    open += 1
    try {
      await admit(context, inbound, deps)
    } catch (error) {
      // A broken invariant on the road: the call is not forwarded, and the client is told no more than that.
      logger.error(
        { event: 'proxy.request_failed', err: error, correlation_id: context.correlationId },
        'request failed in the proxy',
      )
      if (context.response.headersSent) context.response.destroy()
      else sendError(context, 'INTERNAL')
    } finally {
      open -= 1
      if (isDraining) releaseConnections()
    }
  }
  return {
    begin(request, response, inbound, asks) {
      const correlationId = correlationIdOf(request)
      const { expectsContinue, upgrade } = asks
      void run(
        { request, response, correlationId, caller: ANYBODY, settings: settings(), expectsContinue, upgrade },
        inbound,
      )
    },
    get open() {
      return open
    },
    drain() {
      isDraining = true
    },
  }
}

const ID_GRAMMAR = /^[A-Za-z0-9_.:-]{1,200}$/

function correlationIdOf(request: IncomingMessage): string {
  const given = request.headers['x-correlation-id']
  return typeof given === 'string' && ID_GRAMMAR.test(given) ? given : randomUUID()
}
