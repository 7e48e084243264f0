/** Tells open pages that something changed. One look at the store serves all of them; without open pages there is none. */
import type { ServerResponse } from 'node:http'
import type { ConsoleDeps } from '../visit.ts'

const LOOK_MS = 2000
/** Proxies close streams that are silent. */
const BEAT_MS = 25_000
const MOST_STREAMS = 200

interface PageStream {
  readonly response: ServerResponse
  readonly tenant: string
  stamp: string | null
}

interface LiveChanges {
  /** Answers with an event stream that stays open. */
  stream(response: ServerResponse, headers: Readonly<Record<string, string>>, tenant: string): void
  close(): void
}

export function createChanges(deps: Pick<ConsoleDeps, 'store' | 'logger' | 'now'>): LiveChanges {
  const streams = new Set<PageStream>()
  let timer: NodeJS.Timeout | null = null
  let beatAt = 0

  const look = async (): Promise<void> => {
    const stamps = new Map<string, string>()
    for (const tenant of new Set([...streams].map((stream) => stream.tenant)))
      stamps.set(tenant, await tenantStamp(tenant, deps))
    const isBeat = deps.now() - beatAt >= BEAT_MS
    if (isBeat) beatAt = deps.now()
    for (const stream of streams) {
      const stamp = stamps.get(stream.tenant) ?? null
      if (stream.stamp !== null && stamp !== stream.stamp) stream.response.write('event: change\ndata: \n\n')
      else if (isBeat) stream.response.write(': \n\n')
      stream.stamp = stamp
    }
  }
  const next = (): void => {
    timer = setTimeout(() => {
      look()
        .catch((error: unknown) =>
          deps.logger.warn({ event: 'console.look_failed', err: error }, 'changes could not be read'),
        )
        .finally(() => (streams.size === 0 ? (timer = null) : next()))
    }, LOOK_MS)
    timer.unref()
  }
  return {
    stream(response, headers, tenant) {
      if (streams.size >= MOST_STREAMS) {
        response.writeHead(503, { ...headers, 'Retry-After': '60', 'Content-Length': 0 }).end()
        return
      }
      response.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream' })
      response.write('retry: 5000\n\n')
      const stream: PageStream = { response, tenant, stamp: null }
      streams.add(stream)
      response.once('close', () => streams.delete(stream))
      if (timer === null) next()
    },
    close() {
      if (timer !== null) clearTimeout(timer)
      for (const { response } of streams) response.end()
      streams.clear()
    },
  }
}

/** Another text after each change that pages show. */
async function tenantStamp(tenant: string, { store, now }: Pick<ConsoleDeps, 'store' | 'now'>): Promise<string> {
  const [decisions, approvals, exceptions, candidates] = await Promise.all([
    store.decisions.list({ tenant, limit: 1 }),
    store.approvals.list({ tenant, limit: 20, now: now() }),
    store.breakGlass.list({ openAt: now(), limit: 20 }),
    store.baselines.candidates(),
  ])
  return JSON.stringify([
    decisions[0]?.sequence,
    approvals.map(({ approvalId, result, requesters }) => [approvalId, result?.at, requesters.length]),
    exceptions.map(({ id, calls }) => [id, calls]),
    candidates.map(({ digest }) => digest),
  ])
}
