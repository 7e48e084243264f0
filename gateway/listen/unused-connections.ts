/**
 * Connections on which no request has come yet. Node counts them as busy (the head of a request may be on its way), so they
 * survive `closeIdleConnections` and would hold a draining server up for its whole budget; clients open them in advance.
 */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

export interface UnusedConnections {
  /** For requests that reach their handler by another event than `request`. */
  use(request: Pick<IncomingMessage, 'socket'>): void
  /** Breaks them off; nothing is under way on them. */
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
