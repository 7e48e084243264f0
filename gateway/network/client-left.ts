/**
 * Whether the client of a request is gone. One that has ended its side of the connection counts: a client that closes its connection
 * looks the same, and nothing may be done for it that is not begun.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

export function hasLeft({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
  return socket.destroyed || socket.readableEnded
}

/** Calls back when the client leaves before it has its answer; returns a function that removes the listener. */
export function onLeaving(response: Pick<ServerResponse, 'req' | 'on' | 'off'>, listener: () => void): () => void {
  const { socket } = response.req
  response.on('close', listener)
  socket.on('end', listener)
  return () => {
    response.off('close', listener)
    socket.off('end', listener)
  }
}
