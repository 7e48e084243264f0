/** Binds a server, of HTTP or of bare connections, and says where it is. */
import type { AddressInfo, Server } from 'node:net'

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
