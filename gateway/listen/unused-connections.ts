/**
 * Connections without a request so far; clients open them in advance. Node.js counts them as busy (the head of a
 * request may be under way), so they survive `closeIdleConnections`. A draining server would wait for them for its
 * whole time limit.
 */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

export interface UnusedConnections {
  /** For requests that reach their handler by another event than `request`. */
  use(request: Pick<IncomingMessage, 'socket'>): void
  /** Closes them; no request is in flight on them. */
  close(): void
}

export function watchUnusedConnections(server: Server): UnusedConnections {
  const unused = new Set<Socket>()
  const use = ({ socket }: Pick<IncomingMessage, 'socket'>): void => {
    unused.delete(socket)
  }
  server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', use)
  return {
    use,
    close: () => {
      for (const socket of unused) socket.destroy()
    },
  }
}
