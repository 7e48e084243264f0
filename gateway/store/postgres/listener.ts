/**
 * Changes that other gateways announce, over a connection of its own. Announcements arrive in the order of their commits, so a
 * heartbeat that comes back proves that every earlier one has arrived. Without a proof within the bound nothing cached is fresh.
 */
import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { CHANGE_KINDS, STALE, type Change, type Changes } from '../changes.ts'
import type { Connections } from './connections.ts'

export interface Listener extends Changes {
  close(): Promise<void>
}

interface NotificationOptions {
  readonly connections: Pick<Connections, 'dedicated'>
  /** Seconds. */
  readonly bound: number
  /** Called when announcements stop or begin to arrive. */
  readonly onLive: (isLive: boolean, error?: unknown) => void
  /** Gets the time of the database with each heartbeat, milliseconds since the epoch. */
  readonly onTime: (time: number) => void
}

/** Column of a statement: what the clock of the server shows. */
export const TIME = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS time'
/** Milliseconds. A time that was longer on its way says too little. */
const PROMPT_MS = 200

const CHANNEL = 'preflight'
/** Pauses between attempts to connect, milliseconds. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 2000

export function startListener({ connections, bound, onLive, onTime }: NotificationOptions): Listener {
  const own = `preflight_${randomUUID().replaceAll('-', '')}`
  const subscribers: ((change: Change) => void)[] = []
  let client: Client | null = null
  let epoch = 0
  /** Counts the announcements, and the times that listening began. */
  let revision = 0
  /** When the newest heartbeat that came back was sent. */
  let provenAt = Number.NEGATIVE_INFINITY
  const life = { isClosed: false }
  const closing = Promise.withResolvers<void>()
  const pause = (milliseconds: number): Promise<unknown> => {
    const timer = Promise.withResolvers<void>()
    const running = setTimeout(timer.resolve, milliseconds)
    return Promise.race([timer.promise, closing.promise]).finally(() => clearTimeout(running))
  }

  let wasLive: boolean | null = null
  const report = (isLiveNow: boolean, error?: unknown): void => {
    if (wasLive !== isLiveNow) onLive(isLiveNow, error)
    wasLive = isLiveNow
  }

  /** Ends when the connection does. */
  const listen = async (connection: Client): Promise<void> => {
    const broken = Promise.withResolvers<void>()
    let echo = Promise.withResolvers<void>()
    connection.on('error', broken.reject)
    connection.on('end', () => broken.reject(new Error('the connection was closed')))
    broken.promise.catch(() => {})
    connection.on('notification', ({ channel, payload = '' }) => {
      if (channel === own) return echo.resolve()
      revision += 1
      const change = changeIn(payload)
      if (change !== null) for (const subscriber of subscribers) subscriber(change)
    })
    // A lost heartbeat loses nothing.
    await connection.query(`SET synchronous_commit = off; LISTEN ${CHANNEL}; LISTEN ${own}`)
    let isProven = false
    while (!life.isClosed) {
      const heartbeat = Promise.withResolvers<void>()
      echo = heartbeat
      const sentAt = performance.now()
      const { rows } = await connection.query<{ readonly time: number }>(`SELECT pg_notify('${own}', ''), ${TIME}`)
      const taken = performance.now() - sentAt
      const [row] = rows
      if (row !== undefined && taken < PROMPT_MS) onTime(row.time + taken / 2)
      // The timer goes on after an echo, so it may only end its own heartbeat, and must not reject what nobody awaits.
      const isEchoed = await Promise.race([
        heartbeat.promise.then(() => true),
        broken.promise.then(() => false),
        pause(bound * 1000).then(() => false),
      ])
      if (!isEchoed) throw new Error('no echo')
      provenAt = sentAt
      // What was read before this connection listened may have changed unheard.
      if (!isProven) epoch += 1
      if (!isProven) revision += 1
      if (!isProven) report(true)
      isProven = true
      await Promise.race([broken.promise, pause((bound * 1000) / 3)])
    }
  }

  const run = async (): Promise<void> => {
    let rest = FIRST_PAUSE
    while (!life.isClosed) {
      const before = epoch
      try {
        client = await connections.dedicated()
        await listen(client)
      } catch (error) {
        provenAt = Number.NEGATIVE_INFINITY
        if (!life.isClosed) report(false, error)
      }
      await client?.end().catch(() => {})
      client = null
      rest = epoch > before ? FIRST_PAUSE : Math.min(rest * 2, LONGEST_PAUSE)
      if (!life.isClosed) await pause(rest)
    }
  }
  const running = run()
  const isLive = (): boolean => performance.now() - provenAt < bound * 1000
  return {
    bound,
    announces: true,
    begin: () => (isLive() ? revision : STALE),
    mark: (begin) => (begin === revision && isLive() ? epoch : STALE),
    isFresh: (mark) => mark === epoch && isLive(),
    lag: () => (isLive() ? performance.now() - provenAt : null),
    subscribe: (subscriber) => void subscribers.push(subscriber),
    close: async () => {
      life.isClosed = true
      closing.resolve()
      await running
    },
  }
}

/** `["approval",["apr_1"]]`; null for anything else, which is not ours. */
function changeIn(payload: string): Change | null {
  try {
    const value: unknown = JSON.parse(payload)
    if (!Array.isArray(value)) return null
    const kind = CHANGE_KINDS.find((known) => known === value[0])
    const key: unknown = value[1]
    if (kind === undefined || !Array.isArray(key)) return null
    return { kind, key: key.map(String) }
  } catch {
    // Cut at the limit of a payload, or from another program: the bound of a look-up holds nothing back.
    return null
  }
}
