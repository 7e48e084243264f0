/** Answers one delivery: its signature over the raw body, its event, then 202 as soon as its task is durable. The work comes after. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ERRORS, GatewayError, knownError } from '../errors/errors.ts'
import type { Flow } from '../flow/flow.ts'
import type { Bodies } from '../listen/bodies.ts'
import { discardRest } from '../network/discard-body.ts'
import { loadRegularFile } from '../runtime/regular-file.ts'
import { PLATFORMS, type PlatformId } from '../scm/platform.ts'
import { secretsIn, type ScmConfig } from '../scm/settings.ts'
import type { StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Observer } from '../telemetry/observer.ts'
import { currentTraceFields, withTrace } from '../telemetry/trace-context.ts'
import { readEvent } from './events.ts'
import { bodyDigest, checkSignature } from './signature.ts'
import { taskSubject } from './task.ts'

export interface ReceiveDeps {
  readonly settings: () => { readonly config: ScmConfig }
  readonly flow: Pick<Flow, 'readJson'>
  readonly bodies: Bodies
  readonly store: StorePart<'webhooks.accept'>
  readonly observer: Pick<Observer, 'begin' | 'end'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** There is a new task. */
  readonly accepted: () => void
}

/** GitHub sends up to 25 MB, events of pull requests are far below this. */
const MOST_BYTES = 4 * 1024 * 1024

interface Received {
  readonly status: number
  readonly result: 'accepted' | 'duplicate' | 'ignored' | 'refused'
  readonly body: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

/** Never rejects. */
export async function receive(
  platform: PlatformId,
  request: IncomingMessage,
  response: ServerResponse,
  deps: ReceiveDeps,
): Promise<void> {
  const observation = deps.observer.begin(request)
  const { correlationId } = observation
  observation.protocol = 'api'
  observation.action = `/webhooks/${PLATFORMS[platform].name}`
  const received = await withTrace(observation.trace, () => answerDelivery(platform, request, correlationId, deps))
  deps.metrics.count('preflight_webhook_deliveries_total', { platform, result: received.result })
  const trace = observation.trace === null ? {} : { trace_id: observation.trace.traceId }
  const text = JSON.stringify({ ...received.body, correlation_id: correlationId, ...trace })
  response.writeHead(received.status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(text)),
    'X-Correlation-ID': correlationId,
    ...received.headers,
  })
  response.end(text)
  discardRest(request)
  observation.status = received.status
  deps.observer.end(observation)
}

async function answerDelivery(
  platform: PlatformId,
  request: IncomingMessage,
  correlationId: string,
  deps: ReceiveDeps,
): Promise<Received> {
  try {
    return await acceptDelivery(platform, request, deps)
  } catch (error) {
    const known = knownError(error)
    const fields = { platform, code: known.code, correlation_id: correlationId, reason: known.message }
    if (known.status >= 500)
      deps.logger.error({ event: 'webhook.failed', err: error, ...fields }, 'a delivery could not be accepted')
    else deps.logger.warn({ event: 'webhook.refused', ...fields }, 'a delivery was refused')
    const { code, message, headers, status } = known
    return { status, result: 'refused', body: { error: code, message }, headers }
  }
}

async function acceptDelivery(platform: PlatformId, request: IncomingMessage, deps: ReceiveDeps): Promise<Received> {
  requireJsonPost(request)
  const { scm } = deps.settings().config
  const secrets = await secretsOf(scm[PLATFORMS[platform].name].webhook?.secret_file)
  const body = await deliveryBody(request, deps.bodies)
  try {
    const signed = checkSignature(platform, { headers: request.headers, body, secrets })
    if (!signed.ok)
      throw new GatewayError(
        'UNAUTHENTICATED',
        `The delivery is not signed with a configured secret (${SIGNED_BY[platform]}).`,
      )
    const { deliveryId } = signed
    // Taken before the bytes go to a reader.
    const digest = bodyDigest(body)
    const read = await deps.flow.readJson(body)
    if (!read.ok) throw new GatewayError('INVALID_INPUT', `The body is not valid JSON: ${read.problem.message}`)
    const name = String(request.headers[platform === 'scm_a' ? 'x-github-event' : 'x-event-key'] ?? '')
    const event = readEvent(platform, { name, body: read.value, checkName: scm.checks.name })
    if (event.kind === 'unreadable')
      throw new GatewayError('INVALID_INPUT', `The delivery cannot be used: ${event.reason}.`)
    if (event.kind === 'ignored')
      return { status: 200, result: 'ignored', body: { status: 'ignored', reason: event.reason } }
    const { task } = event
    const isNew = await deps.store.webhooks.accept({
      platform,
      deliveryId,
      digest,
      subject: taskSubject(task),
      task: JSON.stringify({ ...task, ...traceOfDelivery() }),
      receivedAt: deps.now(),
    })
    if (isNew) deps.accepted()
    const status = isNew ? 'accepted' : 'duplicate'
    return { status: isNew ? 202 : 200, result: status, body: { status, delivery_id: deliveryId } }
  } finally {
    deps.bodies.release(body)
  }
}

const SIGNED_BY: Readonly<Record<PlatformId, string>> = {
  scm_a: 'X-Hub-Signature-256 and X-GitHub-Delivery',
  scm_b: 'webhook-signature, or X-Gitlab-Token',
  scm_c: 'X-Hub-Signature and X-Request-UUID',
}

function requireJsonPost({ method = '', headers }: IncomingMessage): void {
  if (method !== 'POST')
    throw new GatewayError('METHOD_NOT_ALLOWED', 'This path takes POST.', { headers: { Allow: 'POST' } })
  if (
    !/^application\/json(?:$|;)/i.test((headers['content-type'] ?? '').trim()) ||
    headers['content-encoding'] !== undefined
  )
    throw new GatewayError(
      'UNSUPPORTED_MEDIA_TYPE',
      'Deliveries must be JSON: choose the content type application/json in the settings of the webhook.',
    )
}

async function secretsOf(file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) throw new GatewayError('NOT_FOUND', 'There is nothing at this address.')
  try {
    return secretsIn((await loadRegularFile(file)).toString('utf8'))
  } catch (error) {
    throw new GatewayError('INTERNAL', 'The secrets of the webhook cannot be read now.', { cause: error })
  }
}

async function deliveryBody(request: IncomingMessage, bodies: Bodies): Promise<Buffer> {
  const read = await bodies.read(request, MOST_BYTES)
  if (read.ok) return read.body
  if (read.why === 'too_large')
    throw new GatewayError('PAYLOAD_TOO_LARGE', `The delivery is larger than ${MOST_BYTES} bytes.`)
  if (read.why === 'overloaded') throw new GatewayError('OVERLOADED', ERRORS.OVERLOADED.message, { headers: RETRY })
  throw new GatewayError('REQUEST_TIMEOUT', undefined, { headers: { Connection: 'close' } })
}

const RETRY = { 'Retry-After': '10' }

/** What the task decides is part of the trace of its delivery. */
function traceOfDelivery(): { readonly trace?: object } {
  const trace = currentTraceFields(null)
  return Object.keys(trace).length === 0 ? {} : { trace }
}
