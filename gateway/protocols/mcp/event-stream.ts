/** Streams of events of MCP: which answers are one, their events, and where a stream can be resumed. */
import { createParser } from 'eventsource-parser'
import { errors } from '../../network/undici.ts'

/** Before a stream is resumed, unless the server names another time. */
const RESUME_AFTER_MS = 1000
/** A timer of Node.js cannot wait for any time that a server may name, and nobody waits longer for an answer. */
const LONGEST_PAUSE_MS = 3_600_000

/** False: the answer is one body. */
export function isEventStream(headers: Readonly<Record<string, string | readonly string[] | undefined>>): boolean {
  return String(headers['content-type'] ?? '')
    .trimStart()
    .toLowerCase()
    .startsWith('text/event-stream')
}

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

/** What the events of a stream are for. */
interface StreamReading {
  readonly place: StreamPlace
  /** Called with the data of each event, in turn. */
  readonly take: (text: string) => void | Promise<void>
  /** Asked after the events of each part; true: the rest is not read. Absent: the stream is read to its end. */
  readonly isDone?: () => boolean
}

/**
 * Ends with the stream, also where it breaks off and can be resumed. Rejects where it cannot, with what `take` throws, and at
 * bytes that are not UTF-8.
 */
export async function readEvents(
  body: AsyncIterable<Buffer>,
  { place, take, isDone = () => false }: StreamReading,
): Promise<void> {
  let taken: Promise<void> = Promise.resolve()
  const parser = createParser({
    onEvent({ id, data }) {
      if (id !== undefined) place.lastEvent = id === '' ? null : id
      // MCP 2025-11-25, Streamable HTTP: a server may prime a stream with an event that has an id and no data.
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
      if (isDone()) return
    }
  } catch (error) {
    // The connection broke: what follows is asked for.
    if (!(error instanceof errors.UndiciError) || place.lastEvent === null) throw error
  }
}
