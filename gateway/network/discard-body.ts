/** What is left of a request that has been answered before it was whole. */
import type { IncomingMessage } from 'node:http'

/** Longest that it is read for. */
const LINGER_MS = 5000

/**
 * Reads the rest of a body and drops it. A client that is still sending reads its answer only if its bytes are read, and
 * closing a connection with unread bytes discards the answer. A client that sends for longer is disconnected.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  request.on('error', () => request.destroy())
  const cut = setTimeout(() => request.destroy(), LINGER_MS)
  request.once('close', () => clearTimeout(cut))
  request.once('end', () => clearTimeout(cut))
  request.resume()
}
