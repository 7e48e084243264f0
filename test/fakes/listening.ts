/** A server of a test, of HTTP or of bare connections, on a free port of loopback for as long as the test lasts. */
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** Resolves with its origin, `http://127.0.0.1:PORT`. Connections that are open when the test ends are broken off. */
export async function listening(t: TestContext, server: Server): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server has no TCP address')
  return `http://127.0.0.1:${address.port}`
}

/** Answers the first bytes of every connection with these, and closes; `\n` stands for CRLF. */
export function answeringBytes(bytes: string): (socket: Socket) => void {
  return (socket) => void socket.once('data', () => socket.end(Buffer.from(bytes.replaceAll('\n', '\r\n'), 'latin1')))
}

/** A port that is free now, for a configuration that must name it. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port')
  return address.port
}
