/**
 * Changes that the hub pushes, over one long answer (docs/reference/hub.md#changes). Proofs carry the moment of the hub until which
 * everything was sent. That moment is mapped to the local clock, and never to a later one: what was asked for here was received
 * there afterwards. Without a proof within the bound nothing cached is fresh.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { CHANGE_KINDS, STALE, type Change, type Changes } from '../changes.ts'
import type { HubConnection } from './connection.ts'

export interface HubChanges extends Changes {
  /** Since when every change was heard, and until when, as `performance.now()`; null: nothing was proven yet. */
  proven(): { readonly from: number; readonly to: number } | null
  /** Begins to listen. Call it once, when all subscribers are there. */
  start(): void
  close(): Promise<void>
}

interface HubChangesOptions {
  readonly connection: Pick<HubConnection, 'stream' | 'ask'>
  /** Seconds. */
  readonly bound: number
  /** Called when pushed changes stop or begin to arrive. */
  readonly onLive: (isLive: boolean, error?: unknown) => void
}

/** Pauses between attempts, milliseconds; many sidecars of one hub do not come back at one moment. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 2000
/** Minimum pause between two comparisons of clocks, milliseconds. */
const COMPARED_EVERY = 200
/** After a gap each kind may have changed; those with a state of their own read it again. */
const AFTER_A_GAP: readonly Change[] = [
  { kind: 'approval', key: [] },
  { kind: 'break_glass', key: [] },
  { kind: 'receipt_key', key: [] },
]

export function hubChanges({ connection, bound, onLive }: HubChangesOptions): HubChanges {
  const subscribers: ((change: Change) => void)[] = []
  const closing = new AbortController()
  let epoch = 0
  /** Counts the changes, and the gaps. */
  let revision = 0
  let lastEventId: string | null = null
  let isProven = false
  let provenFrom = Number.POSITIVE_INFINITY
  let provenAt = Number.NEGATIVE_INFINITY
  /** Local time minus the time of the hub process, at least: each exchange with it is a bound, and the largest is the best. */
  let offset = 0
  let process = ''
  let comparedAt = Number.NEGATIVE_INFINITY
  let running: Promise<void> = Promise.resolve()
  let wasLive: boolean | null = null

  const report = (isLiveNow: boolean, error?: unknown): void => {
    if (wasLive !== isLiveNow) onLive(isLiveNow, error)
    wasLive = isLiveNow
  }
  const publish = (change: Change): void => {
    revision += 1
    for (const subscriber of subscribers) subscriber(change)
  }
  /** A slow beginning of the stream would make every proof look old. */
  const compareClocks = async (): Promise<void> => {
    const askedAt = performance.now()
    if (askedAt - comparedAt < COMPARED_EVERY) return
    comparedAt = askedAt
    const answer = await connection.ask('GET', '/hub/v1/clock', null, true).catch(() => null)
    const { epoch: answering, at } = { epoch: null, at: null, ...(typeof answer === 'object' ? answer : null) }
    // Another hub behind the same address has another clock.
    if (answering === process && typeof at === 'number') offset = Math.max(offset, askedAt - at)
  }
  const forget = (askedAt: number): void => {
    epoch += 1
    provenFrom = askedAt
    for (const change of AFTER_A_GAP) publish(change)
  }
  const take = ({ id, event, data }: EventSourceMessage, askedAt: number): void => {
    const value: unknown = JSON.parse(data)
    if (typeof value !== 'object' || value === null) return
    const at = 'at' in value && typeof value.at === 'number' ? value.at : null
    if (event === 'start' && at !== null) {
      offset = askedAt - at
      process = 'epoch' in value ? String(value.epoch) : ''
      if (!('reset' in value && value.reset === false)) forget(askedAt)
    }
    if (event === 'proof' && at !== null) {
      provenAt = at + offset
      if (performance.now() - provenAt > (bound * 1000) / 4) void compareClocks()
      isProven = true
      report(true)
    }
    if (event === 'change') {
      const change = changeIn(value)
      // What cannot be read may be about anything that is in use.
      if (change === null || (change.key.length === 0 && change.kind !== 'receipt_key')) forget(askedAt)
      if (change !== null) publish(change)
    }
    if (id !== undefined) lastEventId = id
  }
  /** Ends when the stream does; rejects when it breaks. */
  const listen = async (): Promise<void> => {
    const askedAt = performance.now()
    const headers = lastEventId === null ? {} : { 'last-event-id': lastEventId }
    const body = await connection.stream('/hub/v1/changes', headers, closing.signal)
    const parser = createParser({ onEvent: (message) => take(message, askedAt) })
    const decoder = new TextDecoder()
    for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }))
  }
  const run = async (): Promise<void> => {
    let rest = FIRST_PAUSE
    while (!closing.signal.aborted) {
      isProven = false
      try {
        await listen()
      } catch (error) {
        provenAt = Number.NEGATIVE_INFINITY
        if (!closing.signal.aborted) report(false, error)
      }
      rest = hasBeen(isProven) ? FIRST_PAUSE : Math.min(rest * 2, LONGEST_PAUSE)
      if (!closing.signal.aborted)
        await pause(rest * (0.5 + Math.random() / 2), undefined, { signal: closing.signal }).catch(() => {})
    }
  }
  const isLive = (): boolean => performance.now() - provenAt < bound * 1000
  return {
    bound,
    announces: true,
    begin: () => (isLive() ? revision : STALE),
    mark: (begin) => (begin === revision && isLive() ? epoch : STALE),
    isFresh: (mark) => mark === epoch && isLive(),
    lag: () => (isLive() ? performance.now() - provenAt : null),
    proven: () => (provenAt < provenFrom ? null : { from: provenFrom, to: provenAt }),
    subscribe: (subscriber) => void subscribers.push(subscriber),
    start: () => {
      running = run()
    },
    close: async () => {
      closing.abort()
      await running
    },
  }
}

/** A closure set it meanwhile, which the compiler does not see. */
function hasBeen(flag: boolean): boolean {
  return flag
}

function changeIn(value: object): Change | null {
  const kind = CHANGE_KINDS.find((known) => 'kind' in value && known === value.kind)
  const key: unknown = 'key' in value ? value.key : null
  return kind === undefined || !Array.isArray(key) ? null : { kind, key: key.map(String) }
}
