/** Sends one export to an OTLP receiver: gzip, a few attempts, then it counts as lost. Exports are samples, not records. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { createPost, type Post } from '../sinks/post.ts'
import { notReached } from '../../errors/startup-error.ts'
import type { OtlpTarget } from './terms.ts'

type OtlpSignal = 'traces' | 'metrics'

export interface OtlpTransport {
  /** False when the receiver did not take it. Never rejects. @param items spans or metrics in it */
  send(body: Uint8Array, items: number): Promise<boolean>
  close(): Promise<void>
}

interface TransportDeps {
  readonly metrics: Metrics
  readonly logger: Logger
}

const ATTEMPTS = 3
const FIRST_PAUSE_MS = 500
/** The specification of OTLP over HTTP names these as worth another attempt. */
const REPEATABLE: ReadonlySet<number> = new Set([429, 502, 503, 504])

export function createOtlpTransport(
  signal: OtlpSignal,
  { url, headers, timeout, form }: OtlpTarget,
  { metrics, logger }: TransportDeps,
): OtlpTransport {
  const contentType = form === 'json' ? 'application/json' : 'application/x-protobuf'
  const post = createPost({ url, contentType, headers }, timeout)
  const stop = new AbortController()
  let isFailing = false
  metrics.count('preflight_otlp_exports_total', { signal, result: 'failed' }, 0)
  return {
    async send(body, items) {
      const problem = await attempts(post, url, body, stop.signal)
      const result = problem === null ? 'sent' : 'failed'
      metrics.count('preflight_otlp_exports_total', { signal, result }, items)
      if (problem !== null && !isFailing) logger.warn({ event: 'otlp.failed', signal, url }, problem)
      if (problem === null && isFailing)
        logger.info({ event: 'otlp.recovered', signal, url }, 'OTLP receiver takes exports again')
      isFailing = problem !== null
      return problem === null
    },
    async close() {
      stop.abort()
      await post.close()
    },
  }
}

/** Null when it was taken, else why it was not. */
async function attempts(post: Post, url: string, body: Uint8Array, signal: AbortSignal): Promise<string | null> {
  let problem: string | null = null
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (attempt > 0) await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1), undefined, { signal, ref: false }).catch(() => {})
    if (signal.aborted) return problem ?? 'the gateway stops'
    try {
      const { status } = await post.send(body, signal)
      if (status >= 200 && status < 300) return null
      problem = `the OTLP receiver answered ${status}`
      if (!REPEATABLE.has(status)) return problem
    } catch (error) {
      problem = notReached('the OTLP receiver', url, error).message
    }
  }
  return problem
}
