/**
 * The upstream end of wrapped servers: Streamable HTTP on one side, the lines of a program on the other. The gateway sends
 * its calls and its own questions here, and the server's answers go back to the request that each belongs to.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from '../runtime/node-http.ts'
import { StreamableFace, type LineServer } from './streamable-face.ts'
import { isSameSecret } from '../runtime/hash.ts'
import { closed } from '../network/listen.ts'

/** Header field by which a request names the wrapped server that it is for. */
export const WRAPPER_FIELD = 'x-mcp-wrapper'
/** Header field of requests of the client itself, with their order; the gateway does not repeat it in its own questions. */
export const CLIENT_FIELD = 'mcp-param-wrapped-client'

export interface ServerBridge {
  /** Of all wrapped servers; holds a secret. */
  readonly address: string
  attach(id: string, server: LineServer): AttachedServer
  close(): Promise<void>
}

export interface AttachedServer {
  /** A line of the server. Resolves when more may come. */
  receive(line: Buffer): Promise<void> | undefined
  /** The server is gone: requests under way, and those that still come, get this as their error. */
  fail(message: string): void
  /** Its client is gone: nothing is answered any more. */
  detach(): void
}

export async function openServerBridge(): Promise<ServerBridge> {
  const secret = randomBytes(24).toString('hex')
  const attached = new Map<string, StreamableFace>()
  const server = createServer((request, response) => {
    const isOurs = isSameSecret(request.url ?? '', `/${secret}`)
    const wrapped = attached.get(String(request.headers[WRAPPER_FIELD] ?? ''))
    if (isOurs && wrapped !== undefined) void wrapped.serve(request, response)
    else response.writeHead(isOurs ? 502 : 404).end()
  })
  server.requestTimeout = 0
  server.keepAliveTimeout = 600_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const place = server.address()
  const port = typeof place === 'object' && place !== null ? place.port : 0
  return {
    address: `http://127.0.0.1:${port}/${secret}`,
    attach(id, wrapped) {
      const one = new StreamableFace(id, wrapped, clientOrder)
      attached.set(id, one)
      return {
        receive: (line) => one.receive(line),
        fail: (message) => one.fail(message),
        detach() {
          if (attached.get(id) === one) attached.delete(id)
        },
      }
    },
    close() {
      server.closeAllConnections()
      return closed(server)
    },
  }
}

function clientOrder({ headers }: IncomingMessage): number | null {
  const order = headers[CLIENT_FIELD]
  return order === undefined ? null : Number(order)
}
