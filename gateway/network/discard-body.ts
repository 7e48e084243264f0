/** What is left of a request that has been answered before it was whole. */
import type { IncomingMessage } from 'node:http'

/** Longest that it is read for. */
const LINGER_MS = 5000

/**
 * Reads it and throws it away: a client that is still sending reads its answer only if its bytes are taken, and a connection that
 * is closed on bytes nobody read takes the answer with it. One that sends for longer is cut off.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  request.on('error', () => request.destroy())
  const cut = setTimeout(() => request.destroy(), LINGER_MS)
  request.once('close', () => clearTimeout(cut))
  request.once('end', () => clearTimeout(cut))
  request.resume()
}
