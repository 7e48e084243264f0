/** A way to a server of TLS on which a test holds new connections: they are accepted, and no handshake comes to its end. */
import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import type { TestContext } from 'node:test'

export interface ConnectionGate {
  readonly port: number
  /** Connections so far. */
  readonly connections: number
  /** Connections that are held now, and whose client has begun its handshake. */
  readonly held: number
  /** Holds the connections that come from now on. */
  close(): void
  /** Lets them through. */
  open(): void
}

/** @param port of the server on loopback */
export async function startGate(t: TestContext, port: number): Promise<ConnectionGate> {
  let isOpen = true
  let connections = 0
  const held = new Set<() => void>()
  const server = createServer((near) => {
    connections += 1
    near.on('error', () => near.destroy())
    near.once('readable', () => {
      const join = (): void => {
        const far = connect(port, '127.0.0.1')
        far.on('error', () => near.destroy())
        near.on('close', () => far.destroy())
        far.on('close', () => near.destroy())
        near.pipe(far).pipe(near)
      }
      if (isOpen) return join()
      held.add(join)
      near.on('close', () => held.delete(join))
    })
  })
  t.after(() => void server.close())
  const own = await boundPort(server)
  return {
    port: own,
    get connections() {
      return connections
    },
    get held() {
      return held.size
    },
    close() {
      isOpen = false
    },
    open() {
      isOpen = true
      for (const join of held) join()
      held.clear()
    },
  }
}

/** Listens on a free port of loopback. */
export async function boundPort(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
