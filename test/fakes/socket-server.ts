/** A WebSocket server of another implementation (ws), over TCP or TLS. Echoes, floods or closes on command, and counts open sockets. */
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { once } from 'node:events'
import { WebSocketServer, type WebSocket } from 'ws'

export interface SocketServer {
  readonly origin: string
  readonly port: number
  /** Paths and fields of the requests that asked for a switch. */
  readonly requests: { readonly url: string; readonly headers: Readonly<Record<string, unknown>> }[]
  readonly sockets: ReadonlySet<WebSocket>
  openConnections(): number
  close(): Promise<void>
}

/** @param leaf certificate and key: then it speaks TLS */
export async function startSocketServer(leaf?: { readonly cert: string; readonly key: string }): Promise<SocketServer> {
  const server: Server = leaf === undefined ? createServer() : createTlsServer(leaf)
  const requests: SocketServer['requests'] = []
  const sockets = new WebSocketServer({ server, perMessageDeflate: true })
  let connections = 0
  server.on('connection', (socket) => {
    connections += 1
    socket.on('close', () => {
      connections -= 1
    })
  })
  sockets.on('connection', (socket, request) => {
    requests.push({ url: request.url ?? '', headers: request.headers })
    socket.on('error', () => socket.terminate())
    socket.on('message', (bytes, isBinary) => {
      if (request.url?.endsWith('/closing') === true) socket.close(4001, 'as told')
      else socket.send(bytes, { binary: isBinary })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    origin: `${leaf === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    sockets: sockets.clients,
    openConnections: () => connections,
    async close() {
      for (const socket of sockets.clients) socket.terminate()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
