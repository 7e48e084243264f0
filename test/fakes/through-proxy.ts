/** A client of the proxy, byte by byte: CONNECT, TLS inside it, and requests in absolute form. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { Duplex } from 'node:stream'
import type { RequestListener } from 'node:http'
import type { TestAuthority } from './certificates.ts'

export interface Connected {
  readonly socket: Socket
  /** Head of the answer to CONNECT. */
  readonly head: string
}

/** Sends CONNECT and reads the head of the answer; what follows it stays in the socket. */
export async function openConnect(
  proxy: string,
  authority: string,
  fields: readonly string[] = [],
): Promise<Connected> {
  const socket = openTo(proxy)
  socket.write([`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`, ...fields, '', ''].join('\r\n'))
  return { socket, head: await readHead(socket) }
}

export function openTo(address: string): Socket {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => socket.destroy())
  return socket
}

/** Up to the empty line; all of it when the other side closes before. */
export async function readHead(socket: Socket): Promise<string> {
  let read = ''
  while (!read.includes('\r\n\r\n')) {
    const bytes: Buffer | null = socket.read()
    if (bytes !== null) read += bytes.toString('latin1')
    else if (socket.readableEnded || socket.destroyed) return read
    else await Promise.race([once(socket, 'readable'), once(socket, 'end'), once(socket, 'close')])
  }
  const end = read.indexOf('\r\n\r\n') + 4
  if (read.length > end) socket.unshift(Buffer.from(read.slice(end), 'latin1'))
  return read.slice(0, end)
}

/** Resolves once TLS stands; rejects with the reason why it does not. */
export function startTls(socket: Duplex, options: ConnectionOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secure = connectTls({ socket, ...options }, () => {
      secure.off('error', reject).off('close', broken)
      secure.on('error', () => secure.destroy())
      resolve(secure)
    })
    const broken = (): void => reject(new Error('the connection was closed'))
    secure.on('error', reject).on('close', broken)
  })
}

/** Sends a request with `Connection: close` and reads all of the answer. */
export async function ask(socket: Socket, head: string): Promise<string> {
  socket.write(`${head.trim().replaceAll('\n', '\r\n')}\r\nConnection: close\r\n\r\n`)
  let answer = ''
  for await (const bytes of socket) answer += String(bytes)
  return answer
}

export interface HttpsUpstream {
  readonly port: number
  readonly requests: {
    readonly url: string
    readonly headers: Readonly<Record<string, string | string[] | undefined>>
  }[]
  openSockets(): number
  close(): Promise<void>
}

/** A server with a certificate of the authority, on loopback. */
export async function startHttps(
  authority: TestAuthority,
  host: string,
  answer: RequestListener,
): Promise<HttpsUpstream> {
  const requests: HttpsUpstream['requests'] = []
  const server: Server = createServer(await authority.leaf(host), (request, response) => {
    requests.push({ url: request.url ?? '', headers: request.headers })
    answer(request, response)
  })
  let sockets = 0
  server.on('connection', (socket: Socket) => {
    sockets += 1
    socket.on('close', () => {
      sockets -= 1
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    requests,
    openSockets: () => sockets,
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

export function pem(file: string): string {
  return readFileSync(file, 'utf8')
}
