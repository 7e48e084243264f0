/**
 * The load generator: closed loop over keep-alive connections, or paced when a rate is given. Warms up by a number of requests,
 * since after a number of seconds a slow machine would still compile during the measurement. Then it reports that it is warm,
 * measures, and reports latency from a histogram. A response other than 200 is counted as an error.
 */
import { createHistogram, performance, type RecordableHistogram } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { childArgument, sendToParent } from '../child.ts'

export interface LoadOrder {
  readonly origin: string
  readonly path: string
  readonly body: string
  /** Further header fields; absent: none. */
  readonly headers?: Readonly<Record<string, string>>
  readonly connections: number
  /** Requests before the measurement. */
  readonly warmup: number
  readonly seconds: number
  /** Requests a second; null: as fast as the answers come. */
  readonly rate: number | null
}

export interface LoadResult {
  readonly requests: number
  readonly errors: number
  readonly seconds: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

function isOrder(value: unknown): value is LoadOrder {
  return (
    typeof value === 'object' && value !== null && 'origin' in value && 'connections' in value && 'seconds' in value
  )
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

async function callOnce(pool: Pool, { path, body, headers }: LoadOrder): Promise<boolean> {
  const { statusCode, body: answer } = await pool.request({
    path,
    method: 'POST',
    headers: { ...HEADERS, ...headers },
    body,
  })
  // A refusal of an MCP call comes as 200 with isError, so the text counts, not the status alone.
  const text = await answer.text()
  return statusCode === 200 && !text.includes('"isError":true')
}

async function loop(
  pool: Pool,
  order: LoadOrder,
  isOver: () => boolean,
  record: (milliseconds: number, good: boolean) => void,
): Promise<void> {
  const pause = order.rate === null ? 0 : (order.connections / order.rate) * 1000
  let due = performance.now() + Math.random() * pause
  while (!isOver()) {
    if (pause > 0) {
      const wait = due - performance.now()
      if (wait > 0) await sleep(wait)
      due += pause
    }
    const start = performance.now()
    const good = await callOnce(pool, order).catch(() => false)
    record(performance.now() - start, good)
  }
}

/** @param end what it ends by: a count of requests, or seconds */
async function phase(
  pool: Pool,
  order: LoadOrder,
  end: { readonly requests: number } | { readonly seconds: number },
  histogram: RecordableHistogram | null,
): Promise<LoadResult> {
  const start = performance.now()
  let requests = 0
  let errors = 0
  const isOver =
    'requests' in end ? () => requests >= end.requests : () => performance.now() >= start + end.seconds * 1000
  const record = (milliseconds: number, good: boolean): void => {
    requests += 1
    if (!good) errors += 1
    histogram?.record(Math.max(1, Math.round(milliseconds * 1000)))
  }
  await Promise.all(Array.from({ length: order.connections }, () => loop(pool, order, isOver, record)))
  const percentile = (share: number): number => (histogram?.percentile(share) ?? 0) / 1000
  return { requests, errors, seconds: (performance.now() - start) / 1000, p50: percentile(50), p99: percentile(99) }
}

const order = childArgument()
if (!isOrder(order)) throw new TypeError('the order is missing')
const pool = new Pool(order.origin, { connections: order.connections, pipelining: 1 })
await phase(pool, { ...order, rate: null }, { requests: order.warmup }, null)
sendToParent('measuring')
sendToParent(await phase(pool, order, { seconds: order.seconds }, createHistogram()))
await pool.close()
process.disconnect?.()
