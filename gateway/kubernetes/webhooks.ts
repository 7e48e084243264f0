/**
 * The listener of the API server's webhooks: the injector, and one path for each Kubernetes route whose rules hold there. Reads
 * a review, has it answered, and writes the answer.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { SHORT_BODY, type Bodies } from '../listen/bodies.ts'
import { createHttpListener, drainingEntry, type DrainingEntry } from '../listen/http-listener.ts'
import { isJsonObject, readStrictJson } from '../json/strict-json.ts'
import type { EntryOf } from '../network/listen.ts'
import type { KubernetesRoute } from '../protocols/kubernetes/settings.ts'
import type { Route } from '../routing/route.ts'
import { silentWait } from '../enforce/pending-calls.ts'
import type { ListenSettingsInForce } from '../listen/settings.ts'
import { discardRest } from '../network/discard-body.ts'
import { answerReview, type ReviewPlace, type WebhookAdmissionDeps } from './admission.ts'
import { injectionResponse } from './injector.ts'
import type { InjectorSettings } from './settings.ts'
import { readReview, reviewAnswer, type ReviewRequest, type ReviewResponse } from './review.ts'

export type Webhooks = Pick<DrainingEntry, 'listen' | 'close'>

export interface WebhooksDeps extends WebhookAdmissionDeps {
  readonly injector: () => InjectorSettings | undefined
  readonly bodies: Bodies
  readonly entry: EntryOf
}

interface Rendered {
  readonly status: number
  readonly body: object
}

const ADMISSION = '/admission/'
const INJECTOR = '/injector'
/** A review holds an object before and after: the API server takes 3 MiB of each. */
const MOST_BYTES = 8 * 1024 * 1024

export function createWebhooks(deps: WebhooksDeps): Webhooks {
  const { logger, metrics } = deps.pipeline
  const headTimeoutMs = deps.settings().config.limits.head_timeout * 1000
  const server = createHttpListener({ headTimeoutMs }, (request, response) => void serve(request, response))
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const { status, body } = await renderAnswer(request, response, deps)
      metrics.count('preflight_admission_reviews_total', { webhook: webhookOf(request), result: reviewResult(body) })
      send(response, status, body)
      discardRest(request)
    } catch (error) {
      // The API server takes this for a failure of the webhook: with failurePolicy Fail the write is refused.
      logger.error({ event: 'admission.review_failed', err: error }, 'admission review failed')
      metrics.count('preflight_admission_reviews_total', { webhook: webhookOf(request), result: 'failed' })
      if (response.headersSent) response.destroy()
      else send(response, 500, { message: 'The review could not be answered.' })
    }
  }
  return drainingEntry(server, deps.entry)
}

async function renderAnswer(request: IncomingMessage, response: ServerResponse, deps: WebhooksDeps): Promise<Rendered> {
  const [path = ''] = (request.url ?? '').split('?', 1)
  const answerer = answererAt(path, request.headers, response, deps)
  if (answerer === null) return failed(404, `There is no webhook at ${path}. Paths: ${INJECTOR}, ${ADMISSION}ROUTE.`)
  if (request.method !== 'POST') return failed(405, 'A review is sent with POST.')
  const read = await deps.bodies.read(request, MOST_BYTES)
  if (!read.ok) return failed(read.why === 'too_large' ? 413 : 503, `The review could not be read (${read.why}).`)
  const { body } = read
  if (body.length > SHORT_BODY) response.once('close', () => deps.bodies.release(body))
  const json = readStrictJson(body)
  if (!json.ok) return failed(400, json.message)
  const review = readReview(json.value)
  if (!review.ok) return failed(400, review.problem)
  return { status: 200, body: reviewAnswer(await answerer(review.request)) }
}

type Answerer = (request: ReviewRequest) => ReviewResponse | Promise<ReviewResponse>

/** Null: nothing answers there. */
function answererAt(
  path: string,
  trace: IncomingHttpHeaders,
  response: ServerResponse,
  deps: WebhooksDeps,
): Answerer | null {
  const settings = deps.injector()
  if (path === INJECTOR) return settings === undefined ? null : (request) => injectionResponse(request, settings)
  if (!path.startsWith(ADMISSION)) return null
  const routeIn = (settings: ListenSettingsInForce) => routeNamed(path.slice(ADMISSION.length), settings)
  if (routeIn(deps.settings()) === null) return null
  return (request) => answered(request, { routeIn, trace }, response, deps)
}

function webhookOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] === INJECTOR ? 'injector' : 'admission'
}

function answered(
  request: ReviewRequest,
  place: ReviewPlace,
  response: ServerResponse,
  deps: WebhooksDeps,
): Promise<ReviewResponse> {
  return answerReview(request, place, silentWait(response), deps)
}

function routeNamed(name: string, { config }: ListenSettingsInForce): KubernetesRoute | null {
  const route = config.routes.find((one) => one.name === name)
  return route !== undefined && isKubernetes(route) ? route : null
}

export function isKubernetes(route: Route): route is KubernetesRoute {
  return route.protocol === 'kubernetes'
}

function failed(status: number, message: string): Rendered {
  return { status, body: { message } }
}

function reviewResult(body: object): string {
  const response = isJsonObject(body) ? body['response'] : undefined
  return isJsonObject(response) ? (response['allowed'] === true ? 'allowed' : 'denied') : 'failed'
}

function send(response: ServerResponse, status: number, value: object): void {
  const body = JSON.stringify(value)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}
