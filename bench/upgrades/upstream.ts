/** The server behind every proxy of this section: switches immediately and echoes; on `/hang` it never answers. Reports how many sockets it has. */
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { sendToParent } from '../child.ts'

const sockets = new Set<Socket>()
const server = createServer({ keepAliveTimeout: 60_000 })
server.on('connection', (socket: Socket) => {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
})
server.on('upgrade', (request, socket) => {
  socket.on('error', () => socket.destroy())
  if (request.url === '/hang') socket.on('end', () => socket.end()).resume()
  else {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    socket.pipe(socket)
  }
})
process.on('message', () => sendToParent({ sockets: sockets.size }))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) sendToParent({ port: address.port })
})
