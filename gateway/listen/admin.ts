/**
 * The admin listener: /livez, /readyz (each check by name), /metrics. These answer without a key, so they hold nothing that a
 * caller could misuse. /config_dump, /status, /debug/… and /log_level are for operators.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { discardRest } from '../network/discard-body.ts'
import { createHttpListener } from './http-listener.ts'
import { plainEntry, type ListenerEntry, type EntryOf } from '../network/listen.ts'
import { rolesWith } from '../callers/rights.ts'
import { DEBUG_PAGES, LOG_LEVELS, type Inspection } from '../telemetry/inspection.ts'
import type { Logger } from '../telemetry/log.ts'
import { METRICS_TYPES, type Metrics } from '../telemetry/metrics.ts'

/** One thing that readiness depends on. `detail` is for people and holds no secret. */
export type ReadinessCheck = { readonly ready: boolean; readonly detail?: string }
export type Checks = Readonly<Record<string, () => ReadinessCheck | Promise<ReadinessCheck>>>

export interface Admin {
  /** Resolves with the bound address. Rejects with the error of `listen`. */
  listen(host: string, port: number): Promise<AddressInfo>
  close(): Promise<void>
}

interface AdminAnswer {
  readonly status: number
  readonly type: string
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

type AdminPage = (request: IncomingMessage) => Promise<AdminAnswer>

/** What operators may see and do here. */
export interface OperatorPages {
  readonly inspection: Inspection
  /** Null: not identified. */
  identify(request: IncomingMessage): Promise<Operator | null>
}

/** @property by as the log names who acts */
interface Operator {
  readonly by: string
  readonly mayRead: boolean
  readonly mayOperate: boolean
}

/** @param checks run on every /readyz; a check that throws counts as not ready */
export function createAdmin(deps: {
  readonly checks: Checks
  readonly metrics: Metrics
  readonly logger: Logger
  /** Longest time for the head of a request, milliseconds. */
  readonly headTimeoutMs: number
  readonly entry?: EntryOf
  /** Absent: no pages for operators. */
  readonly operator?: OperatorPages
}): Admin {
  const pages: Readonly<Record<string, AdminPage>> = {
    '/livez': () => Promise.resolve(jsonPage(200, { status: 'live' })),
    '/readyz': () => readiness(deps.checks, deps.logger),
    '/metrics': (request) => metricsPage(deps.metrics, request),
    ...(deps.operator !== undefined && operatorPages(deps.operator)),
  }
  const server = createHttpListener({ headTimeoutMs: deps.headTimeoutMs }, (request, response) => {
    void answerPage(pages, request, response, deps.logger)
  })
  const entry = (deps.entry ?? plainEntry)(server)
  return {
    listen: (host, port) => entry.listen(host, port),
    close: () => close(server, entry),
  }
}

async function answerPage(
  pages: Readonly<Record<string, AdminPage>>,
  request: IncomingMessage,
  response: ServerResponse,
  logger: Logger,
): Promise<void> {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  try {
    const { status, type, body, headers } =
      page === undefined
        ? jsonPage(404, { error: 'NOT_FOUND', message: `This listener serves ${Object.keys(pages).join(', ')}.` })
        : isRead || (request.method === 'PUT' && path === LOG_LEVEL)
          ? await page(request)
          : jsonPage(405, { error: 'METHOD_NOT_ALLOWED', message: 'Use GET.' })
    response.writeHead(status, {
      'content-type': type,
      'cache-control': 'no-store',
      'content-length': Buffer.byteLength(body),
      ...headers,
    })
    response.end(request.method === 'HEAD' ? undefined : body)
    discardRest(request)
  } catch (error) {
    logger.error({ event: 'admin.request_failed', err: error, path }, 'admin request failed')
    if (!response.headersSent) response.writeHead(500)
    response.end()
  }
}

const LOG_LEVEL = '/log_level'

function operatorPages(operator: OperatorPages): Readonly<Record<string, AdminPage>> {
  const { inspection } = operator
  const page = (show: () => Promise<object> | object): AdminPage =>
    guarded(operator, 'mayRead', async () => jsonPage(200, await show()))
  return {
    '/config_dump': page(() => inspection.config()),
    '/status': page(() => inspection.status()),
    '/debug': page(() => ({ pages: DEBUG_PAGES.map((name) => `/debug/${name}`) })),
    ...Object.fromEntries(DEBUG_PAGES.map((name) => [`/debug/${name}`, page(() => inspection.debug(name))])),
    [LOG_LEVEL]: logLevelPage(operator),
  }
}

/** GET shows the level. PUT with `?level=` changes it. */
function logLevelPage(operator: OperatorPages): AdminPage {
  const { inspection } = operator
  const shown = guarded(operator, 'mayRead', () => Promise.resolve(jsonPage(200, { level: inspection.logLevel() })))
  const changed = guarded(operator, 'mayOperate', (request, { by }) => {
    const wanted = new URLSearchParams((request.url ?? '').split('?')[1]).get('level')
    const level = LOG_LEVELS.find((known) => known === wanted)
    if (level === undefined)
      return Promise.resolve(
        jsonPage(400, { error: 'INVALID_INPUT', message: `level is one of ${LOG_LEVELS.join(', ')}.` }),
      )
    inspection.setLogLevel(level, by)
    return Promise.resolve(jsonPage(200, { level }))
  })
  return (request) => (request.method === 'PUT' ? changed(request) : shown(request))
}

function guarded(
  pages: OperatorPages,
  needed: 'mayRead' | 'mayOperate',
  show: (request: IncomingMessage, operator: Operator) => Promise<AdminAnswer>,
): AdminPage {
  return async (request) => {
    const operator = await pages.identify(request)
    if (operator === null)
      return {
        ...jsonPage(401, { error: 'UNAUTHENTICATED', message: 'Send an API key as Authorization: Bearer KEY.' }),
        headers: { 'www-authenticate': 'Bearer realm="preflight"' },
      }
    if (!operator[needed])
      return jsonPage(403, {
        error: 'FORBIDDEN',
        message: `This needs a key of the tenant local with the role ${rolesWith(needed === 'mayRead' ? 'read' : 'operate')}.`,
      })
    return show(request, operator)
  }
}

const compress = promisify(gzip)

/** In the form and coding that the scraper asks for (RFC 9110 §12.5): Prometheus prefers OpenMetrics, which has exemplars. */
async function metricsPage(metrics: Metrics, { headers }: IncomingMessage): Promise<AdminAnswer> {
  const form = /application\/openmetrics-text/.test(headers.accept ?? '') ? 'openmetrics' : 'prometheus'
  const text = await metrics.text(form)
  const shared = { status: 200, type: METRICS_TYPES[form] }
  const varies = { vary: 'Accept, Accept-Encoding' }
  if (!/\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(headers['accept-encoding'] ?? ''))
    return { ...shared, body: text, headers: varies }
  return { ...shared, body: await compress(text), headers: { ...varies, 'content-encoding': 'gzip' } }
}

/** @param onError called with what a check threw */
export async function resultsOf(
  checks: Checks,
  onError: (name: string, error: unknown) => void = () => {},
): Promise<Readonly<Record<string, ReadinessCheck>>> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        return [name, await check()] as const
      } catch (error) {
        onError(name, error)
        return [name, { ready: false, detail: 'the check failed; the log has the cause' }] as const
      }
    }),
  )
  return Object.fromEntries(results)
}

async function readiness(checks: Checks, logger: Logger): Promise<AdminAnswer> {
  const results = await resultsOf(checks, (check, error) =>
    logger.warn({ event: 'readiness.check_failed', err: error, check }, 'readiness check failed'),
  )
  const isReady = Object.values(results).every(({ ready }) => ready)
  return jsonPage(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not_ready', checks: results })
}

function jsonPage(status: number, value: unknown): AdminAnswer {
  return { status, type: 'application/json', body: JSON.stringify(value) }
}

function close(server: Server, entry: ListenerEntry): Promise<void> {
  const ended = entry.close()
  server.closeAllConnections()
  return ended
}
