/** Requests in flight at the proxy: starts each one, makes sure that it is answered whatever fails, and counts them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ListenSettingsInForce } from '../listen/settings.ts'
import { admit, type Admission, type AdmissionDeps } from './admission.ts'
import { MOST_ADMISSIONS } from './enforcement.ts'
import { knownError } from '../errors/errors.ts'
import type { InboundConnection } from '../listen/connection.ts'
import type { Asks } from '../listen/http-server.ts'
import { ANYBODY } from '../callers/proxy-auth.ts'
import { answerStream, errorReply, sendReply, type Reply, type RequestContext } from '../listen/request-context.ts'
import { hasLeft } from '../network/client-left.ts'
import type { Observer } from '../telemetry/observer.ts'
import { withTrace } from '../telemetry/trace-context.ts'

interface InFlightDeps extends AdmissionDeps {
  /** Read once for each request. */
  readonly settings: () => ListenSettingsInForce
  readonly observer: Pick<Observer, 'begin' | 'end'>
}

interface InFlightRequests {
  begin(request: IncomingMessage, response: ServerResponse, inbound: InboundConnection, asks: Asks): void
  /** How many requests are in flight. */
  readonly open: number
  /** From now on a connection is closed as soon as its request has been answered. */
  drain(): void
}

/** @param releaseConnections closes the connections without a request in flight */
export function createInFlightRequests(deps: InFlightDeps, releaseConnections: () => void): InFlightRequests {
  const { settings, logger, observer } = deps
  // A number: a set would keep finished calls in memory, through tables that it outgrew and the garbage collector has
  // not reached.
  let open = 0
  deps.metrics.sample('preflight_calls_open', () => open)
  let isDraining = false
  /** Whatever fails in the pipeline, the request is answered. */
  const run = async (context: RequestContext, inbound: InboundConnection): Promise<void> => {
    open += 1
    try {
      const admitted = admit(context, inbound, deps)
      const admission = admitted instanceof Promise ? await admitted : admitted
      const reply =
        admission !== null && 'kept' in admission ? await readmitted(admission, context, inbound, deps) : admission
      if (reply === null) return endIfLeft(context)
      sendReply(context, reply)
      await reply.afterwards?.()
    } catch (error) {
      // The store is out of reach, or an invariant of the pipeline is broken: the call is not forwarded, and the client
      // gets no details.
      logger.error(
        { event: 'proxy.request_failed', err: error, correlation_id: context.observation.correlationId },
        'request failed in the proxy',
      )
      if (context.response.headersSent) context.response.destroy()
      else sendReply(context, errorReply(context, knownError(error).code))
    } finally {
      open -= 1
      end(context, observer)
      if (isDraining) releaseConnections()
    }
  }
  return {
    begin(request, response, inbound, asks) {
      const observation = observer.begin(request)
      const { expectsContinue, upgrade } = asks
      const context = {
        request,
        response,
        observation,
        caller: ANYBODY,
        settings: settings(),
        expectsContinue,
        upgrade,
      }
      withTrace(observation.trace, () => void run(context, inbound))
    },
    get open() {
      return open
    },
    drain() {
      isDraining = true
    },
  }
}

/** Each time, the settings changed while the request waited: the new ones may have no route for it, or another one. */
async function readmitted(
  first: Admission,
  context: RequestContext,
  inbound: InboundConnection,
  deps: InFlightDeps,
): Promise<Reply | null> {
  let admission = first
  let latest = context
  for (let count = 1; admission !== null && 'kept' in admission; count += 1) {
    latest = { ...context, ...admission.kept, settings: deps.settings() }
    if (count === MOST_ADMISSIONS) return errorReply(latest, 'PREFLIGHT_UNDECIDED')
    admission = await admit(latest, inbound, deps)
  }
  return admission
}

/** Nothing was sent for a client that left before: its connection has nothing to wait for. */
function endIfLeft({ request, response }: RequestContext): void {
  if (!response.writableEnded && hasLeft(request)) response.destroy()
}

function end(context: RequestContext, observer: Pick<Observer, 'end'>): void {
  const { observation, response } = context
  if (answerStream(context).headersSent) observation.status = response.statusCode
  observer.end(observation)
}
