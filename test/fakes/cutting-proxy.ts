/** A TCP proxy on loopback whose traffic can be swallowed, as a cut network does: no end of a connection is seen. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from './postgres-server.ts'

export interface CuttingProxy {
  readonly port: number
  /** `answers`: requests arrive, and their answers are lost. `all`: nothing arrives. */
  cut: 'none' | 'answers' | 'all'
  /** Ends connections that lost traffic, as the peers do in time. */
  heal(): void
  close(): Promise<void>
}

export async function startCuttingProxy(target: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (chunk) => proxy.cut !== 'all' && upstream.write(chunk))
    upstream.on('data', (chunk) => proxy.cut === 'none' && client.write(chunk))
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const end = (): void => sockets.forEach((socket) => socket.destroy())
  const proxy: CuttingProxy = {
    port,
    cut: 'none',
    heal: () => {
      proxy.cut = 'none'
      end()
    },
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      end()
      await closed
    },
  }
  return proxy
}
