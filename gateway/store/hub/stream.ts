/**
 * Changes that the hub pushes, over one long answer (docs/reference/hub.md#changes). Proofs carry the moment of the hub until which
 * everything was sent. That moment is mapped to the local clock, and never to a later one: the hub receives a request after
 * it was sent here. Without a proof within the bound nothing cached is fresh.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { AnnouncedChanges, type OnLive, CHANGE_KINDS, type Change, type Changes } from '../changes.ts'
import type { HubConnection, HubStream } from './connection.ts'

export interface HubChanges extends Changes {
  /** The period whose changes were all received, as `performance.now()`; null: nothing was proven yet. */
  proven(): { readonly from: number; readonly to: number } | null
  /** Begins to listen. Call it once, when all subscribers are there. */
  start(): void
  close(): Promise<void>
}

interface HubChangesOptions {
  readonly connection: Pick<HubConnection, 'stream'>
  /** Seconds. */
  readonly bound: number
  readonly onLive: OnLive
}

/** Minimum pause between two comparisons of clocks, milliseconds. */
const COMPARED_EVERY = 200
/** Milliseconds of proofs that are too old, until the stream is begun anew: behind one address, the clock may be of another hub. */
const LONGEST_STALE = 3000

export function hubChanges(options: HubChangesOptions): HubChanges {
  return new PushedChanges(options)
}

class PushedChanges extends AnnouncedChanges implements HubChanges {
  readonly #connection: HubChangesOptions['connection']
  readonly #closing = new AbortController()
  #lastEventId: string | null = null
  #provenFrom = Number.POSITIVE_INFINITY
  /** Local time minus the time of the hub process, at least: each exchange with it is a bound, and the largest is the best. */
  #offset = 0
  #process = ''
  #comparedAt = Number.NEGATIVE_INFINITY
  /** When the stream began, or its last proof within the bound arrived. */
  #timelyAt = Number.NEGATIVE_INFINITY
  #running: Promise<void> = Promise.resolve()

  constructor({ connection, bound, onLive }: HubChangesOptions) {
    super(bound, onLive)
    this.#connection = connection
  }

  proven(): ReturnType<HubChanges['proven']> {
    return this.provenAt < this.#provenFrom ? null : { from: this.#provenFrom, to: this.provenAt }
  }

  start(): void {
    this.#running = this.keepListening(() => this.#listen(), this.#closing.signal)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  /** Ends when the stream does; rejects when it breaks. */
  async #listen(): Promise<void> {
    const askedAt = performance.now()
    const headers = this.#lastEventId === null ? {} : { 'last-event-id': this.#lastEventId }
    const stream = await this.#connection.stream('/hub/v1/changes', headers, this.#closing.signal)
    this.#timelyAt = performance.now()
    const parser = createParser({ onEvent: (message) => this.#take(message, askedAt, stream) })
    const decoder = new TextDecoder()
    for await (const chunk of stream.body) parser.feed(decoder.decode(chunk, { stream: true }))
  }

  #take({ id, event, data }: EventSourceMessage, askedAt: number, stream: HubStream): void {
    const value: unknown = JSON.parse(data)
    if (typeof value !== 'object' || value === null) return
    const at = 'at' in value && typeof value.at === 'number' ? value.at : null
    if (event === 'start' && at !== null) {
      this.#offset = askedAt - at
      this.#process = 'epoch' in value ? String(value.epoch) : ''
      if (!('reset' in value && value.reset === false)) this.#forget(askedAt)
    }
    if (event === 'proof' && at !== null) {
      this.prove(at + this.#offset)
      this.#checkAge(stream)
    }
    if (event === 'change') {
      const change = changeInMessage(value)
      // What cannot be read may be about anything that is in use.
      if (change === null || (change.key.length === 0 && change.kind !== 'receipt_key')) this.#forget(performance.now())
      if (change !== null) this.announce(change)
    }
    if (id !== undefined) this.#lastEventId = id
  }

  /** @param from since when every change was received, as `performance.now()` */
  #forget(from: number): void {
    this.#provenFrom = from
    this.gap()
  }

  /** A slow beginning of the stream would make every proof look old. Throws when comparisons of the clocks do not help. */
  #checkAge(stream: HubStream): void {
    const now = performance.now()
    if (now - this.provenAt > (this.bound * 1000) / 4) void this.#compareClocks(stream)
    if (this.lag() !== null) this.#timelyAt = now
    else if (now - this.#timelyAt > LONGEST_STALE) throw new Error('every proof of the hub is older than the bound')
  }

  async #compareClocks(stream: HubStream): Promise<void> {
    const askedAt = performance.now()
    if (askedAt - this.#comparedAt < COMPARED_EVERY) return
    this.#comparedAt = askedAt
    const answer = await stream.ask('/hub/v1/clock').catch(() => null)
    const { epoch: answering, at } = { epoch: null, at: null, ...(typeof answer === 'object' ? answer : null) }
    // Another hub behind the same address has another clock.
    if (answering === this.#process && typeof at === 'number') this.#offset = Math.max(this.#offset, askedAt - at)
  }
}

function changeInMessage(value: object): Change | null {
  const kind = CHANGE_KINDS.find((known) => 'kind' in value && known === value.kind)
  const key: unknown = 'key' in value ? value.key : null
  return kind === undefined || !Array.isArray(key) ? null : { kind, key: key.map(String) }
}
