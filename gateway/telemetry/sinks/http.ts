/**
 * The `http` sink: batches of CloudEvents, gzip, tried again until a 2xx acknowledges them. Events are spooled to disk first,
 * so an outage of the receiver is bridged until the spool is full; from then on the sink counts as unwired.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Agent, request } from '../../http-client.ts'
import type { SinkConfig } from '../../config/schema.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Sink } from './sink.ts'
import { openSpool, type Spool } from './spool.ts'

export type HttpSinkConfig = Extract<SinkConfig, { readonly type: 'http' }>

const compress = promisify(gzip)
const FIRST_BACKOFF_MS = 200
const LONGEST_BACKOFF_MS = 30_000

export interface HttpSinkDeps {
  readonly config: HttpSinkConfig
  readonly dataDir: string
  /** Events kept while the receiver is away. */
  readonly bound: number
  readonly metrics: Metrics
  readonly logger: Logger
}

/** The sink's name: stable across restarts and reordering of the configuration, since it names the spool file. */
export function httpSinkName(url: string): string {
  return `http-${createHash('sha256').update(url).digest('hex').slice(0, 8)}`
}

export function createHttpSink(deps: HttpSinkDeps): Sink {
  const name = httpSinkName(deps.config.url)
  const spool = openSpool(join(deps.dataDir, 'spool', `${name}.ndjson`), deps.bound)
  const delivery = startDelivery(name, spool, deps)
  const gauge = (): void => deps.metrics.set('preflight_sink_queue_events', { sink: name }, spool.length)
  gauge()
  return {
    state: () => ({
      name,
      isWired: spool.length < deps.bound,
      queued: spool.length,
      detail: delivery.lastFault() ?? 'delivering',
    }),
    accept(events) {
      const isKept = spool.append(events.map((event) => JSON.stringify(event)))
      if (isKept) delivery.wake()
      else deps.metrics.count('preflight_sink_events_total', { sink: name, result: 'refused' }, events.length)
      gauge()
      return isKept
    },
    close: () => delivery.close(),
  }
}

interface Delivery {
  wake(): void
  lastFault(): string | null
  close(): Promise<void>
}

function startDelivery(name: string, spool: Spool, deps: HttpSinkDeps): Delivery {
  const { config, metrics, logger } = deps
  const agent = new Agent({ connections: 1, headersTimeout: config.timeout * 1000, bodyTimeout: config.timeout * 1000 })
  const stop = new AbortController()
  let timer: NodeJS.Timeout | null = null
  let underWay: Promise<void> = Promise.resolve()
  let isSending = false
  let failures = 0
  let fault: string | null = null

  const schedule = (delayMs: number): void => {
    if (stop.signal.aborted || isSending || timer !== null || spool.length === 0) return
    timer = setTimeout(() => {
      timer = null
      isSending = true
      underWay = sendOnce().finally(() => {
        isSending = false
        schedule(nextDelay())
      })
    }, delayMs)
    timer.unref()
  }
  const nextDelay = (): number => {
    if (failures > 0) return backoff(failures, config.retries)
    return spool.length >= config.batch ? 0 : config.interval * 1000
  }
  const sendOnce = async (): Promise<void> => {
    const batch = spool.head(config.batch)
    const problem = await deliver(agent, config, batch, stop.signal)
    if (stop.signal.aborted && problem !== null) return
    if (problem === null) {
      spool.drop(batch.length)
      metrics.count('preflight_sink_events_total', { sink: name, result: 'acknowledged' }, batch.length)
      metrics.set('preflight_sink_queue_events', { sink: name }, spool.length)
      if (fault !== null) logger.info({ sink: name }, 'the telemetry sink takes events again')
      failures = 0
      fault = null
      return
    }
    failures += 1
    if (failures === 1 || failures === config.retries + 1) logger.warn({ sink: name, queued: spool.length }, problem)
    fault = problem
    metrics.count('preflight_sink_delivery_failures_total', { sink: name })
  }
  schedule(0)
  return {
    wake: () => schedule(nextDelay()),
    lastFault: () => fault,
    async close() {
      if (timer !== null) clearTimeout(timer)
      timer = null
      // What is queued gets one last try; the rest waits in the spool for the next start.
      await underWay
      if (spool.length > 0 && fault === null) await sendOnce()
      stop.abort()
      await agent.destroy()
    },
  }
}

/** Null when acknowledged, else what went wrong. */
async function deliver(
  agent: Agent,
  config: HttpSinkConfig,
  batch: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const body = await compress(`[${batch.join(',')}]`)
    const answer = await request(new URL(config.url), {
      dispatcher: agent,
      method: 'POST',
      headers: {
        'content-type': 'application/cloudevents-batch+json; charset=utf-8',
        'content-encoding': 'gzip',
        ...extraHeader(config.header),
      },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(config.timeout * 1000)]),
    })
    await answer.body.dump()
    if (answer.statusCode >= 200 && answer.statusCode < 300) return null
    return `the telemetry sink answered ${answer.statusCode}; events wait in the spool`
  } catch (error) {
    // Every fault of one delivery has the same answer: not acknowledged, so tried again.
    return `the telemetry sink was not reached (${error instanceof Error ? error.message : String(error)}); events wait in the spool`
  }
}

function extraHeader(header: string | undefined): Readonly<Record<string, string>> {
  if (header === undefined) return {}
  const colon = header.indexOf(':')
  return colon > 0 ? { [header.slice(0, colon).trim()]: header.slice(colon + 1).trim() } : {}
}

/** Doubling while `retries` last, then the longest pause: the batch is kept, the receiver is not hammered. */
function backoff(failures: number, retries: number): number {
  return failures > retries ? LONGEST_BACKOFF_MS : Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), LONGEST_BACKOFF_MS)
}
