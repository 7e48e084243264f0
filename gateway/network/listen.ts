/** Binds a server, of HTTP or of bare connections, and says where it is. */
import type { AddressInfo, Server } from 'node:net'

/** The socket that connections to a server come in by: the server's own, or one that ends TLS before it. */
export interface ListenerEntry {
  /** Resolves with the bound address. Rejects with the error of `listen` (EADDRINUSE …). */
  listen(host: string, port: number): Promise<AddressInfo>
  readonly isOpen: boolean
  /** Takes no new connection. Resolves when the last one has ended. */
  close(): Promise<void>
}

/** Gives a server its entry. */
export type EntryOf = (server: Server) => ListenerEntry

/** Connections in plaintext, or with a TLS of their own. */
export const plainEntry: EntryOf = (server) => ({
  listen: (host, port) => listenOn(server, host, port),
  get isOpen() {
    return server.listening
  },
  close: () => closed(server),
})

/** Rejects with the error of `listen` (EADDRINUSE …). */
export function listenOn(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      const address = server.address()
      if (address === null || typeof address === 'string') reject(new Error('the listener has no TCP address'))
      else resolve(address)
    })
  })
}

/** Resolves when no connection is left, and immediately for a server that does not listen. */
export function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}
