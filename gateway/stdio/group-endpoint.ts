/** The one address of `preflight mcp serve`: Streamable HTTP on loopback, with a group of servers for each session. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { refuseForeignPages } from '../network/origin.ts'
import { GatewayError } from '../errors/errors.ts'
import { createServer, type ServerResponse } from '../runtime/node-http.ts'
import type { GroupServer } from './group-member.ts'
import { readSent } from './messages.ts'
import { ServerGroup } from './server-group.ts'
import { bodyOfPost, StreamableFace } from './streamable-face.ts'
import { isSameSecret } from '../runtime/hash.ts'

interface EndpointOptions {
  readonly port: number
  /** Who knows it may call the servers: as part of the path, or as bearer token. */
  readonly secret: string
  readonly version: string
  /** The servers of one session. */
  readonly servers: () => readonly GroupServer[]
  readonly note: (text: string) => void
  /** Milliseconds without a request or stream after which a session ends. */
  readonly idleMs: number
}

interface GroupEndpoint {
  readonly port: number
  /** Holds the secret. */
  readonly address: string
  close(): Promise<void>
}

interface EndpointSession {
  readonly face: StreamableFace
  readonly group: ServerGroup
  usedAt: number
}

/** Each session starts every server. */
const MOST_SESSIONS = 32
const SWEEP_MS = 30_000

/** Rejects when the port is taken. */
export async function openGroupEndpoint(options: EndpointOptions): Promise<GroupEndpoint> {
  const sessions = new GroupSessions(options)
  const server = createServer((request, response) => {
    sessions.handle(request, response).catch(() => response.destroy())
  })
  server.requestTimeout = 0
  server.listen(options.port, '127.0.0.1')
  await once(server, 'listening')
  const place = server.address()
  const port = typeof place === 'object' && place !== null ? place.port : options.port
  return {
    port,
    address: `http://127.0.0.1:${port}/${options.secret}/mcp`,
    close: () => sessions.close(server),
  }
}

class GroupSessions {
  readonly #options: EndpointOptions
  readonly #sessions = new Map<string, EndpointSession>()
  readonly #sweep: NodeJS.Timeout

  constructor(options: EndpointOptions) {
    this.#options = options
    this.#sweep = setInterval(() => this.#endIdle(), Math.min(SWEEP_MS, options.idleMs))
    this.#sweep.unref()
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = this.#refusalOf(request)
    if (refusal !== null) return refuseSession(response, ...refusal)
    const id = request.headers['mcp-session-id']
    if (id === undefined) return this.#begin(request, response)
    const session = this.#sessions.get(String(id))
    if (session === undefined) return refuseSession(response, 404, 'there is no such session; begin with initialize')
    session.usedAt = performance.now()
    if (request.method === 'DELETE') this.#end(String(id))
    await session.face.serve(request, response)
  }

  async close(server: Server): Promise<void> {
    clearInterval(this.#sweep)
    for (const id of this.#sessions.keys()) this.#end(id)
    server.closeAllConnections()
    await new Promise<void>((resolve) => void server.close(() => resolve()))
  }

  /** Null: it may be answered. */
  #refusalOf(request: IncomingMessage): readonly [status: number, reason: string] | null {
    try {
      refuseForeignPages(request, undefined)
    } catch (error) {
      return error instanceof GatewayError ? [error.status, error.message] : [400, 'the request cannot be read']
    }
    const [, inPath, isEndpoint] = /^(?:\/([^/?]+))?(\/mcp)\/?(?:\?.*)?$/.exec(request.url ?? '') ?? []
    if (isEndpoint === undefined) return [404, 'there is nothing at this address']
    const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
    return isSameSecret(inPath ?? bearer ?? '', this.#options.secret)
      ? null
      : [401, 'the secret of this endpoint is missing']
  }

  async #begin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return refuseSession(response, 405, 'begin a session with initialize')
    const body = await bodyOfPost(request)
    if (body === null) return void response.destroy()
    const [first] = readSent(body.toString('utf8')).requests
    if (first?.method !== 'initialize')
      return refuseSession(response, 400, 'there is no session yet; begin with initialize', first?.id)
    if (this.#sessions.size >= MOST_SESSIONS) this.#endIdle(0)
    if (this.#sessions.size >= MOST_SESSIONS)
      return refuseSession(response, 503, 'too many sessions are open', first.id)
    await this.#open().face.take(body, request, response)
  }

  #open(): EndpointSession {
    const { servers, version, note } = this.#options
    const id = randomUUID()
    const group = new ServerGroup({ servers: servers(), version, note, send: (line) => face.receive(line) })
    // Clients send in no order of their own.
    const face = new StreamableFace(id, group, () => 0)
    const session = { face, group, usedAt: performance.now() }
    this.#sessions.set(id, session)
    return session
  }

  #end(id: string): void {
    const session = this.#sessions.get(id)
    this.#sessions.delete(id)
    session?.group.close()
    session?.face.fail('the session has ended')
  }

  #endIdle(idleMs = this.#options.idleMs): void {
    const now = performance.now()
    for (const [id, { face, usedAt }] of this.#sessions) if (!face.isInUse() && now - usedAt >= idleMs) this.#end(id)
  }
}

function refuseSession(response: ServerResponse, status: number, reason: string, id = 'null'): void {
  const error = { code: -32_000, message: reason }
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`)
}
