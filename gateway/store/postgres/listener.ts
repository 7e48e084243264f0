/**
 * Changes that other gateways announce, over a connection of its own. Announcements arrive in the order of their commits, so a
 * heartbeat that comes back proves that every earlier one has arrived. Without a proof within the bound nothing cached is fresh.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from 'pg'
import { AnnouncedChanges, type OnLive, CHANGE_KINDS, type Change, type Changes } from '../changes.ts'
import type { Connections } from './connections.ts'

interface Listener extends Changes {
  close(): Promise<void>
}

interface NotificationOptions {
  readonly connections: Pick<Connections, 'dedicated'>
  /** Seconds. */
  readonly bound: number
  readonly onLive: OnLive
  /** Gets the time of the database with each heartbeat, milliseconds since the epoch. */
  readonly onTime: (time: number) => void
  /** Runs on the connection with each heartbeat. */
  readonly onBeat?: (connection: Client) => Promise<void>
}

/** Column of a statement: what the clock of the server shows. */
export const TIME = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS time'
/** Milliseconds. A time that was longer on its way says too little. */
const PROMPT_MS = 200

const CHANNEL = 'preflight'

export function startListener(options: NotificationOptions): Listener {
  return new NotifiedChanges(options)
}

class NotifiedChanges extends AnnouncedChanges implements Listener {
  readonly #options: NotificationOptions
  readonly #own = `preflight_${randomUUID().replaceAll('-', '')}`
  readonly #closing = new AbortController()
  readonly #running: Promise<void>

  constructor(options: NotificationOptions) {
    super(options.bound, options.onLive)
    this.#options = options
    this.#running = this.keepListening(() => this.#connect(), this.#closing.signal)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  async #connect(): Promise<void> {
    const client = await this.#options.connections.dedicated()
    try {
      await this.#listen(client)
    } finally {
      const ended = client.end().catch(() => {})
      // The end of a connection whose network swallows everything comes late: only the end of the listener waits for it.
      if (this.#closing.signal.aborted) await ended
    }
  }

  /** Ends when the listener is closed; rejects when the connection breaks. */
  async #listen(connection: Client): Promise<void> {
    const own = this.#own
    const broken = Promise.withResolvers<void>()
    let echo = Promise.withResolvers<void>()
    connection.on('error', broken.reject)
    connection.on('end', () => broken.reject(new Error('the connection was closed')))
    broken.promise.catch(() => {})
    connection.on('notification', ({ channel, payload = '' }) => {
      if (channel === own) echo.resolve()
      else this.announce(changeIn(payload))
    })
    // A lost heartbeat loses nothing.
    await connection.query(`SET synchronous_commit = off; LISTEN ${CHANNEL}; LISTEN ${own}`)
    while (!this.#closing.signal.aborted) {
      const heartbeat = Promise.withResolvers<void>()
      echo = heartbeat
      const sentAt = performance.now()
      const { rows } = await connection.query<{ readonly time: number }>(`SELECT pg_notify('${own}', ''), ${TIME}`)
      const taken = performance.now() - sentAt
      const [row] = rows
      if (row !== undefined && taken < PROMPT_MS) this.#options.onTime(row.time + taken / 2)
      // The timer goes on after an echo, so it may only end its own heartbeat, and must not reject what nobody awaits.
      const isEchoed = await Promise.race([
        heartbeat.promise.then(() => true),
        broken.promise.then(() => false),
        this.#pause(this.bound * 1000).then(() => false),
      ])
      if (!isEchoed) throw new Error('no echo')
      await this.#options.onBeat?.(connection)
      // What was read before this connection listened may have changed unheard.
      if (!this.isProven) this.gap()
      this.prove(sentAt)
      await Promise.race([broken.promise, this.#pause((this.bound * 1000) / 3)])
    }
  }

  /** Ends with the listener at the latest. */
  async #pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, undefined, { signal: this.#closing.signal }).catch(() => {})
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
