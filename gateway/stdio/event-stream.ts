/** Reads a stream of events of MCP, and where it can be resumed. */
import { createParser } from 'eventsource-parser'
import { errors } from '../network/undici.ts'

/** Before the stream of an answer is resumed, unless the server names another time. */
const RESUME_AFTER_MS = 1000
/** A timer of Node.js cannot wait for any time that a server may name. */
const LONGEST_PAUSE_MS = 3_600_000

/** Where a stream can be resumed. */
export interface StreamPlace {
  /** Id of the last event; null: it cannot be. */
  lastEvent: string | null
  /** Milliseconds before that, as the server wishes. */
  pauseMs: number
}

export function newPlace(): StreamPlace {
  return { lastEvent: null, pauseMs: RESUME_AFTER_MS }
}

/** Ends with the stream, also where it breaks off and can be resumed. */
export async function readEvents(
  body: AsyncIterable<Buffer>,
  take: (text: string) => Promise<void>,
  place: StreamPlace,
): Promise<void> {
  let taken: Promise<void> = Promise.resolve()
  const parser = createParser({
    onEvent({ id, data }) {
      if (id !== undefined) place.lastEvent = id === '' ? null : id
      if (data !== '') taken = taken.then(() => take(data))
    },
    onRetry(pauseMs) {
      place.pauseMs = Math.min(pauseMs, LONGEST_PAUSE_MS)
    },
  })
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of body) {
      parser.feed(decoder.decode(chunk, { stream: true }))
      await taken
    }
  } catch (error) {
    if (!(error instanceof errors.UndiciError) || place.lastEvent === null) throw error
  }
}
